"""The gate on the shipped data, by its command: what it has to catch, what it must not, and our own baselines."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import toolsearch_datasets
from toolsearch.config import DEFAULT, PROFILES, REFERENCE, to_toml
from toolsearch_eval.cli.main import main
from toolsearch_eval.data import load_data
from toolsearch_eval.gate.baseline_file import read_baseline

ROOT = Path(__file__).resolve().parents[3]
BASELINES = ROOT / "eval" / "baselines"
CONFIGS = {"default": DEFAULT, "reference": REFERENCE}


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the shipped data, and a baseline of each profile beside it."""
    folder = tmp_path_factory.mktemp("shipped")
    shutil.copytree(toolsearch_datasets.folder("builtin"), folder / "data")
    for name in CONFIGS:
        arguments = ["bless", "--data", str(folder / "data"), "--ranker", name, "--must-pass", "best"]
        assert main([*arguments, "--baseline", str(folder / f"{name}.json")]) == 0
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the small shipped data, and a baseline of `default` beside it."""
    folder = tmp_path_factory.mktemp("small")
    shutil.copytree(toolsearch_datasets.folder("tiny"), folder / "data")
    arguments = ["bless", "--data", str(folder / "data"), "--ranker", "default", "--must-pass", "best"]
    assert main([*arguments, "--baseline", str(folder / "default.json")]) == 0
    return folder


def _gate(capsys: pytest.CaptureFixture[str], baseline: Path, *more: str) -> tuple[int, str]:
    """Exit code, and what is said on both streams."""
    capsys.readouterr()
    code = main(["gate", "--baseline", str(baseline), *more])
    streams = capsys.readouterr()
    return code, streams.out + streams.err


@pytest.mark.parametrize(("data", "reruns"), [("shipped", 2), ("tiny", 50)])
@pytest.mark.parametrize("name", CONFIGS)
def test_reruns_without_a_change_never_fire(
    shipped: Path, tmp_path: Path, name: str, data: str, reruns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """With no margin at all the command says the same each time, and that it passed: nothing in it is left to chance."""
    baseline = shipped / f"{name}.json"
    if data == "tiny":
        baseline = tmp_path / "tiny.json"
        assert (
            main(["bless", "--data", "tiny", "--ranker", name, "--must-pass", "best", "--baseline", str(baseline)]) == 0
        )
    said = {_gate(capsys, baseline, "--margin", "0") for _ in range(reruns)}
    assert len(said) == 1
    code, text = said.pop()
    assert code == 0
    assert f"gate passed: {name} on " in text
    assert "because of" not in text
    assert "that fell" not in text


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize(("field", "times"), [("name", 0.1), ("description", 0.0)])
def test_a_weight_that_is_cut_is_caught_and_queries_are_named(
    shipped: Path, tmp_path: Path, name: str, field: str, times: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that counts a tenth, and a description that is dropped, in a profile's file: exit code 1."""
    config = CONFIGS[name]
    weights, points = config.field_weights, config.keyword_points
    planted = config.replace(
        field_weights=replace(weights, **{field: getattr(weights, field) * times}),
        keyword_points=replace(points, **{field: getattr(points, field) * times}),
    )
    (tmp_path / "planted.toml").write_text(to_toml(planted), encoding="utf-8")
    code, said = _gate(capsys, shipped / f"{name}.json", "--ranker", str(tmp_path / "planted.toml"))
    assert code == 1
    assert "because of must-pass queries that fell: " in said
    fallen = re.findall(r"^  (\S+) \(.*, must pass\) 1\.000 -> ", said, re.MULTILINE)
    known = {query.query_id for query in load_data("builtin").queries}
    assert fallen
    assert set(fallen) <= known
    assert " was rank 1 and is " in said


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _answered(folder: Path) -> tuple[str, str]:
    """A dev query with a label that makes a tool its answer, and the tool."""
    data = load_data(folder)
    for query in data.queries:
        if query.split == "dev" and query.expect == "answer":
            for tool, grade in data.judgements.get(query.query_id, {}).items():
                if grade == 2:
                    return query.query_id, tool
    raise AssertionError("the shipped data has no answered query")


def _change_grades(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Change the label rows of the data, in whichever file they are."""
    path = folder / "judgements.jsonl"
    if path.is_file():
        _write(path, [row for row in map(change, _rows(path)) if row is not None])
    header, *lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()
    rows = [dict(zip(("query_id", "tool", "grade"), line.split("\t"), strict=True)) for line in lines]
    kept = [row for row in map(change, rows) if row is not None]
    text = "\n".join([header, *("\t".join(map(str, row.values())) for row in kept), ""])
    (folder / "qrels.tsv").write_text(text, encoding="utf-8")


def _plant(folder: Path, what: str, query_id: str, tool: str) -> None:
    queries = _rows(folder / "queries.jsonl")
    if what == "tool renamed":
        tools = _rows(folder / "catalog.jsonl")
        _write(
            folder / "catalog.jsonl", [row | {"name": "renamed_tool"} if row["name"] == tool else row for row in tools]
        )
    elif what == "relabelled":
        _change_grades(
            folder, lambda row: row | {"grade": 1} if (row["query_id"], row["tool"]) == (query_id, tool) else row
        )
    elif what == "removed":
        _write(folder / "queries.jsonl", [row for row in queries if row["query_id"] != query_id])
        _change_grades(folder, lambda row: None if row["query_id"] == query_id else row)
    elif what == "added":
        _write(folder / "queries.jsonl", [*queries, {"query_id": "planted", "text": "planted", "split": "dev"}])
        with (folder / "judgements.jsonl" if (folder / "judgements.jsonl").is_file() else folder / "qrels.tsv").open(
            "a", encoding="utf-8"
        ) as file:
            row = {"query_id": "planted", "tool": tool, "grade": 2}
            file.write(json.dumps(row) + "\n" if file.name.endswith(".jsonl") else f"planted\t{tool}\t2\n")
    elif what == "doubled":
        _write(folder / "queries.jsonl", [*queries, next(row for row in queries if row["query_id"] == query_id)])


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (
            "tool renamed",
            ["tools that are gone: TOOL.", "new tools: renamed_tool.", "queries that need a tool that is gone: QUERY"],
        ),
        ("relabelled", ["queries with another text, field or label: QUERY."]),
        ("removed", ["queries that are missing: QUERY."]),
        ("added", ["new queries: planted."]),
        ("doubled", ["'QUERY' stands on line "]),
    ],
)
def test_other_data_is_refused_and_queries_are_named(
    small: Path, tmp_path: Path, what: str, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, whatever was done to the files; nothing is measured."""
    folder = tmp_path / "data"
    shutil.copytree(small / "data", folder)
    query_id, tool = _answered(folder)
    _plant(folder, what, query_id, tool)
    code, said = _gate(capsys, small / "default.json", "--data", str(folder))
    assert code == 2
    for each in expected:
        assert each.replace("QUERY", query_id).replace("TOOL", tool) in said
    assert "gate passed" not in said


@pytest.mark.parametrize("name", PROFILES)
def test_our_own_baseline_is_that_of_the_shipped_data(name: str) -> None:
    """A change of the shipped data has to be blessed, by `make bless`."""
    baseline = read_baseline(BASELINES / f"{name}.json")
    assert baseline.fingerprint == load_data("builtin").fingerprint, "the data changed: make bless"
    assert (baseline.data, baseline.ranker, baseline.split) == ("builtin", name, "dev")
    best = {query_id for query_id, query in baseline.queries.items() if query.value >= 1 - 1e-9}
    assert best <= set(baseline.must_pass)


def test_make_check_gates_every_profile() -> None:
    """The step is a part of `make check`, and blessing anew is one command."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipes = dict(re.findall(r"^([a-z-]+): \$\(READY\)\n((?:\t.*\n)+)", makefile, re.MULTILINE))
    assert "$(MAKE) --no-print-directory gate" in recipes["check"]
    for name in PROFILES:
        assert f"toolsearch gate --baseline eval/baselines/{name}.json" in recipes["gate"]
        assert f"--baseline eval/baselines/{name}.json --ranker {name}" in recipes["bless"]
    assert recipes["bless"].count("--must-pass best") == len(PROFILES)
