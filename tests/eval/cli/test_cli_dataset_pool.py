"""`toolsearch dataset pool` and `toolsearch dataset judge`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolsearch_eval.cli.main import main
from toolsearch_eval.data import load_data
from toolsearch_eval.rankers import peers

QUERIES = [
    {"query_id": "d1", "text": "send a mail", "split": "dev"},
    {"query_id": "t1", "text": "read the files of a folder", "split": "test"},
    {"query_id": "t2", "text": "water the plants", "split": "test", "expect": "none"},
]


@pytest.fixture(autouse=True)
def folder(write_folder: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set in the current folder, with one label."""
    label = {"query_id": "d1", "tool": "send_mail", "grade": 2, "judge": "ann", "pass": 1}
    made: Path = write_folder(queries=QUERIES, judgements=[label], qrels="query_id\ttool\tgrade\nd1\tsend_mail\t2\n")
    monkeypatch.chdir(made.parent)
    return made


def fill(path: Path, grade: int) -> None:
    """Give every row of a sheet one grade."""
    rows = [json.loads(line) | {"grade": grade} for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_from_the_pool_to_labels_and_nothing_is_asked_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What every shipped ranker brings is written, judged and taken in; the second pool is empty."""
    assert main(["dataset", "pool", "set", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    sheet = Path("pool.jsonl")
    rows = [json.loads(line) for line in sheet.read_text(encoding="utf-8").splitlines()]
    assert form["rows"] == len(rows) > 0
    assert list(form) == ["schema_version", "data", "file", "rows", "rankers", "splits", "warnings"]
    assert {"reference", "default", "bm25f", "regex", "bm25s", "toolpicker"} <= set(form["rankers"])
    assert form["splits"]["dev"]["judged"] == 1
    assert all(list(row) == ["query_id", "text", "tool", "description", "parameters", "grade"] for row in rows)
    assert ("d1", "send_mail") not in {(row["query_id"], row["tool"]) for row in rows}
    fill(sheet, 0)
    judge = ["dataset", "judge", "pool.jsonl", "--data", "set", "--judge", "ben", "--pass", "1", "--pool", "pool.jsonl"]
    assert main([*judge, "--date", "2026-01-02"]) == 0
    assert f"{len(rows)} grades taken into set (grade 0: {len(rows)})" in capsys.readouterr().out
    label = load_data("set").labels[-1]
    assert (label.judge, label.turn, label.date) == ("ben", 1, "2026-01-02")
    assert main(["dataset", "pool", "set", "--force"]) == 0
    assert "0 rows written to pool.jsonl" in capsys.readouterr().out


def test_depth_split_and_rankers(capsys: pytest.CaptureFixture[str]) -> None:
    """One ranker, one split and one result make one row a query; who brings it is shown on demand."""
    arguments = ["--ranker", "default", "--split", "test", "--depth", "1", "--show-rankers", "--out", "one.jsonl"]
    assert main(["dataset", "pool", "set", *arguments]) == 0
    capsys.readouterr()
    rows = [json.loads(line) for line in Path("one.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["query_id"], row["rankers"]) for row in rows] == [("t1", ["default"])]


def test_a_spreadsheet_goes_the_same_way(capsys: pytest.CaptureFixture[str]) -> None:
    """The CSV form comes back with grades; rows without are left for later, and can follow by --resume."""
    assert main(["dataset", "pool", "set", "--ranker", "bm25f", "--split", "test", "--out", "p.csv"]) == 0
    path = Path("p.csv")
    lines = path.read_bytes().decode("utf-8-sig").splitlines()
    assert len(lines) == 3
    path.write_text("\n".join([lines[0], lines[1] + "1", lines[2]]), encoding="utf-8")
    judge = ["dataset", "judge", "p.csv", "--data", "set", "--judge", "ben", "--pass", "2", "--json"]
    capsys.readouterr()
    assert main(judge) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["taken"], form["empty"], form["grades"], form["written"]) == (1, 1, {"1": 1}, True)
    path.write_text("\n".join([lines[0], lines[1] + "1", lines[2] + "2"]), encoding="utf-8")
    assert main(judge) == 2
    assert "p.csv:2: tool: " in capsys.readouterr().err
    assert main([*judge, "--resume", "--dry-run"]) == 0
    assert len(load_data("set").labels) == 2
    assert main([*judge, "--resume"]) == 0
    assert len(load_data("set").labels) == 3


def test_an_answer_where_none_was_expected_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The label is taken in, and the contradiction is a warning that names the query."""
    Path("s.jsonl").write_text('{"query_id": "t2", "tool": "read_file", "grade": 1}\n')
    assert main(["dataset", "judge", "s.jsonl", "--data", "set", "--judge", "ben", "--pass", "1"]) == 0
    assert "warning: t2 expects no answer and has one now" in capsys.readouterr().err


def test_missing_extras_are_told_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without being named a ranker that is not installed is a line on stderr; named, the exit code says it too."""
    made = dict(peers.PEERS) | {"bm25s": ("no_such_library", peers.PEERS["bm25s"][1])}
    monkeypatch.setattr(peers, "PEERS", made)
    assert main(["dataset", "pool", "set"]) == 0
    streams = capsys.readouterr()
    assert "the ranker 'bm25s' needs no_such_library, which is not installed" in streams.err
    assert "from 14 rankers" in streams.out
    assert main(["dataset", "pool", "set", "--ranker", "bm25s", "--ranker", "bm25f", "--force"]) == 2
    assert "from 1 rankers" in capsys.readouterr().out


WRONG = [
    (["pool", "set", "--ranker", "defualt"], "unknown ranker 'defualt'. Did you mean 'default'"),
    (["pool", "set", "--depth", "0"], "--depth is 0; it must be a whole number above 0"),
    (["pool", "set", "--sample", "0"], "the sample is 0"),
    (["pool", "set", "--out", "p.xlsx"], "names that end in .jsonl or .csv"),
    (["pool", "set", "--out", "set/qrels.jsonl", "--ranker", "no:thing"], "no:thing"),
    (["judge"], "required: FILE, --judge, --pass"),
    (
        ["judge", "s.csv", "--data", "set", "--judge", "b", "--pass", "1"],
        "s.csv:0: is missing; name the sheet that was filled in",
    ),
    (["judge", "s", "--data", "set", "--judge", "b", "--pass", "1"], "names that end in .jsonl or .csv"),
    (["judge", "s.csv", "--data", "set", "--judge", "b", "--pass", "x"], "invalid int value: 'x'"),
    (["judge", "s.csv", "--data", "set", "--judge", "b", "--pass", "1", "--date", "20260101"], "written as YYYY-MM-DD"),
]


@pytest.mark.parametrize(("arguments", "expected"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_wrong_use(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake is told on stderr with what is accepted and gives 2; nothing is written."""
    assert main(["dataset", *arguments]) == 2
    assert expected in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["set"]
