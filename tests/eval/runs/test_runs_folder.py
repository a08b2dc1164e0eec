"""A run as a folder: everything comes back, equal evaluations give equal bytes, and damage is told line by line."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolsearch.errors import DataError, UnknownNameError, UsageError
from toolsearch_eval.compare import Judged, compare
from toolsearch_eval.data import DataSet, Query, load_data
from toolsearch_eval.evaluate import Evaluation, evaluate
from toolsearch_eval.measures import parse_measure
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.runs.folder import check_free, write_run
from toolsearch_eval.runs.reading import list_runs, open_run, read_run

CREATED = "2026-01-02T03:04:05+00:00"


@pytest.fixture
def evaluation(many: DataSet, rankers: ModuleType) -> Evaluation:
    """Two rankers on the set `many`."""
    return evaluate(many, [rankers.Counting(), resolve_ranker("bm25f")])


_written: dict[str, Path] = {}


@pytest.fixture
def run_folder(many: DataSet, rankers: ModuleType, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its run; made once, as each test gets a copy."""
    if "one" not in _written:
        evaluation = evaluate(many, [rankers.Counting(), resolve_ranker("bm25f")])
        folder = tmp_path_factory.mktemp("written") / "one"
        _written["one"] = write_run(evaluation, folder, created=CREATED, against="bm25f")
    shutil.copytree(_written["one"], tmp_path / "runs" / "one")
    return tmp_path / "runs" / "one"


def content(folder: Path) -> dict[str, bytes]:
    """The bytes of each file, but for the times."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in sorted(files.items()) if name != "times.json"}


def test_everything_comes_back(evaluation: Evaluation, tmp_path: Path) -> None:
    """Rankings, scores, confidences, values, tables, times and the published form are what they were."""
    run = read_run(write_run(evaluation, tmp_path / "one", created=CREATED, against="bm25f"))
    judged: Judged = run
    assert (judged.split, judged.depth, judged.queries) == ("dev", 10, evaluation.queries)
    assert {name: list(each) for name, each in run.rankings.items()} == dict(evaluation.rankings)
    assert run.scores == evaluation.scores
    for name, ran in evaluation.runs.items():
        back = run.evaluation.runs[name]
        assert (list(back.answers), list(back.silent), back.times) == (list(ran.answers), list(ran.silent), ran.times)
        for measure in (*evaluation.measures, parse_measure("P@3")):
            assert run.values(name, measure) == evaluation.values(name, measure)
    assert run.per_query().equals(evaluation.per_query())
    assert run.table().equals(evaluation.table())
    assert json.dumps(run.to_json()) == json.dumps(evaluation.to_json())
    assert run.run_id == "one"
    assert run.data.fingerprint == evaluation.data.fingerprint
    assert run.data.tools == evaluation.data.tools


def test_values_are_read_and_not_worked_out_again(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The measures of a run come from its table; nothing is ranked and no measure of it is computed."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("computed")

    monkeypatch.setattr("toolsearch_eval.measures.Measure.value", never)
    run = read_run(run_folder)
    values = run.values("counting", parse_measure("Success@1"))
    # Of query n the right tool is n mod 5, but for every third, whose label is moved on by one; the ranker finds n mod 5.
    assert values[:6] == [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    assert compare(run, "counting", run, "bm25f").queries == 230


def test_equal_evaluations_give_equal_bytes(
    many: DataSet, evaluation: Evaluation, run_folder: Path, rankers: ModuleType, tmp_path: Path
) -> None:
    """Written again, and ranked by several processes, every file but the times is the same."""
    again = evaluate(many, [rankers.Counting(), resolve_ranker("bm25f")], jobs=3)
    other = write_run(again, tmp_path / "other", created=CREATED, against="bm25f")
    assert content(other) == content(run_folder)


def test_the_manifest_says_what_the_run_hangs_on(evaluation: Evaluation, run_folder: Path) -> None:
    """Versions, code, seed, settings and fingerprints are all there, and one's own ranker is told from ours."""
    manifest = json.loads((run_folder / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["schema_version"], manifest["created"], manifest["seed"]) == (1, CREATED, 0)
    assert (manifest["split"], manifest["depth"], manifest["against"]) == ("dev", 10, "bm25f")
    assert manifest["measures"] == ["nDCG@10", "Recall@5", "RR@10", "Success@1", "Judged@10"]
    assert manifest["data"]["fingerprint"] == evaluation.data.fingerprint
    assert manifest["versions"].keys() >= {"python", "toolsearch", "numpy", "snowballstemmer"}
    assert len(manifest["code"]) == 64
    assert manifest["rankers"]["counting"]["settings"]["fingerprint"] == "counting 1"
    identity = evaluation.identities["bm25f"]
    assert identity is not None
    assert manifest["rankers"]["bm25f"]["fingerprint"] == identity.fingerprint
    assert set(manifest["files"]) == set(content(run_folder)) - {"manifest.json"}


def test_only_what_was_used_is_written(tmp_path: Path, rankers: ModuleType) -> None:
    """A run on dev holds no query and no label of test, and its data is a data set like any other."""
    tiny = load_data("tiny")
    folder = write_run(evaluate(tiny, [resolve_ranker("bm25f")], split="dev"), tmp_path / "run", created=CREATED)
    data = load_data(folder / "data")
    assert {query.split for query in data.queries} == {"dev"}
    assert set(data.judgements) <= {query.query_id for query in data.queries}
    assert data.tools == tiny.tools
    assert read_run(folder).data.fingerprint == tiny.fingerprint


def test_formulas_are_escaped_in_the_table_and_come_back(rankers: ModuleType, many: DataSet, tmp_path: Path) -> None:
    """A spreadsheet takes no slice, group, id or name for a formula, and reading gives what was there."""
    queries = list(many.queries)
    queries[0] = replace(queries[0], query_id="=1+1", slice="@SUM(A1)", group='-2"+3')
    data = replace(many, queries=tuple(queries), judgements={**many.judgements, "=1+1": {"tool_0": 2}})
    ranker = rankers.Counting("+cmd|' /C calc'!A0")
    folder = write_run(evaluate(data, [ranker]), tmp_path / "run", created=CREATED)
    with (folder / "per_query.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[1][:4] == ["'+cmd|' /C calc'!A0", "'=1+1", "'@SUM(A1)", "'-2\"+3"]
    assert read_run(folder).queries[0] == queries[0]


def test_rankers_whose_names_no_file_can_bear_have_files_of_their_own(
    many: DataSet, rankers: ModuleType, tmp_path: Path
) -> None:
    """Slashes, dots and letters that a system may not tell apart lead nowhere and never to one file."""
    names = ["../../etc/passwd", "a/b", "A_b", "a:b", "..", "名"]
    folder = write_run(evaluate(many, [rankers.Counting(name) for name in names]), tmp_path / "run", created=CREATED)
    files = [each["trec"] for each in json.loads((folder / "manifest.json").read_text())["rankers"].values()]
    assert files == [
        "trec/etc_passwd.run",
        "trec/a_b.run",
        "trec/a_b-2.run",
        "trec/a_b-3.run",
        "trec/ranker.run",
        "trec/ranker-2.run",
    ]
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} <= {"__pycache__", "run"}
    assert list(read_run(folder).rankings) == names


def test_a_run_is_never_written_over(evaluation: Evaluation, run_folder: Path, tmp_path: Path) -> None:
    """A folder with anything in it is refused before the work, and stays as it is; an empty one is taken."""
    before = content(run_folder)
    with pytest.raises(UsageError, match="one holds a run, and a run is never written over; name a new folder"):
        write_run(evaluation, run_folder, created=CREATED)
    assert content(run_folder) == before
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="is there already"):
        check_free(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    write_run(evaluation, tmp_path / "empty", created=CREATED)
    assert read_run(tmp_path / "empty").run_id == "empty"


def test_a_run_appears_whole_or_not_at_all(
    evaluation: Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault at the last file leaves no folder, not even a part of one."""

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("toolsearch_eval.runs.folder.file_digests", full)
    with pytest.raises(UsageError, match="can't be written: no space left"):
        write_run(evaluation, tmp_path / "runs" / "one", created=CREATED)
    assert list((tmp_path / "runs").iterdir()) == []


def test_against_one_that_was_not_judged_is_refused(evaluation: Evaluation, tmp_path: Path) -> None:
    """The baseline must be among the rankers."""
    with pytest.raises(UnknownNameError, match=r"unknown ranker 'bm25'\. Did you mean 'bm25f'"):
        write_run(evaluation, tmp_path / "run", created=CREATED, against="bm25")
    assert not (tmp_path / "run").exists()


Damage = Callable[[Path], object]


def _line(name: str, number: int, change: Callable[[str], str]) -> Damage:
    def damage(folder: Path) -> None:
        lines = (folder / name).read_text(encoding="utf-8").split("\n")
        lines[number - 1] = change(lines[number - 1])
        (folder / name).write_text("\n".join(lines), encoding="utf-8")

    return damage


def _json(name: str, change: Callable[[dict[str, Any]], object]) -> Damage:
    def damage(folder: Path) -> None:
        form = json.loads((folder / name).read_text(encoding="utf-8"))
        change(form)
        (folder / name).write_text(json.dumps(form), encoding="utf-8")

    return damage


def _cut(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")


def _row(**changes: Any) -> Callable[[str], str]:
    return lambda line: json.dumps({**json.loads(line), **changes})


DAMAGES: list[tuple[str, Damage, str]] = [
    ("manifest gone bad", _line("manifest.json", 3, lambda line: "{"), "manifest.json:"),
    ("another form", _json("manifest.json", lambda form: form.update(schema_version=2)), "schema_version: must be 1"),
    ("a manifest that is a list", lambda folder: (folder / "manifest.json").write_text("[]"), "must be 1"),
    ("no split", _json("manifest.json", lambda form: form.update(split="train")), "split: must be dev, test or all"),
    ("no depth", _json("manifest.json", lambda form: form.update(depth=0)), "depth: must be a whole number above 0"),
    ("no measure", _json("manifest.json", lambda form: form.update(measures=["nDCG"])), "needs a cutoff"),
    ("no ranker", _json("manifest.json", lambda form: form.update(rankers={"x": {}})), "rankers: must give each"),
    (
        "no data",
        _json("manifest.json", lambda form: form.update(data={})),
        "data: must hold name, fingerprint and used",
    ),
    ("no digests", _json("manifest.json", lambda form: form.update(files=[])), "files: must give each file its digest"),
    ("a query gone", _line("data/queries.jsonl", 1, lambda line: ""), "data:0: is not the data that was used"),
    ("no catalog", lambda folder: (folder / "data/catalog.jsonl").unlink(), "data/catalog.jsonl:0:"),
    ("a bad label", _line("data/qrels.tsv", 2, lambda line: "q0\ttool_0\tx"), "data/qrels.tsv:2: grade: is 'x'"),
    ("no data folder", lambda folder: shutil.rmtree(folder / "data"), "data:0: is missing"),
    ("no JSON", _line("rankings.jsonl", 3, lambda line: line[:-2]), "rankings.jsonl:3:"),
    ("another ranker", _line("rankings.jsonl", 3, _row(ranker="x")), "rankings.jsonl:3: ranker: 'x' is none of"),
    ("another query", _line("rankings.jsonl", 3, _row(query_id="x")), "rankings.jsonl:3: query_id: 'x' is none of"),
    ("a query twice", _line("rankings.jsonl", 3, _row(query_id="q0")), "rankings.jsonl:3: query_id: 'q0' stands twice"),
    (
        "a query lost",
        _line("rankings.jsonl", 3, lambda line: ""),
        "rankings.jsonl:0: lacks 1 of 250 queries of counting",
    ),
    (
        "another tool",
        _line("rankings.jsonl", 3, _row(results=[["x", 1.0]])),
        ":3: results: holds 'x', which is no tool",
    ),
    (
        "a tool twice",
        _line("rankings.jsonl", 3, _row(results=[["tool_0", 1.0], ["tool_0", 0.5]])),
        ":3: results: holds 'tool_0', twice",
    ),
    ("no score", _line("rankings.jsonl", 3, _row(results=[["tool_0", "1"]])), ":3: results: holds ['tool_0', '1']; a"),
    ("no results", _line("rankings.jsonl", 3, _row(results=None)), ":3: results: must be a list of at most 10"),
    ("not sure", _line("rankings.jsonl", 3, _row(confidence="very")), ":3: confidence: needs a confidence"),
    ("no rankings", lambda folder: (folder / "rankings.jsonl").unlink(), "rankings.jsonl:0: is missing"),
    ("another value", _line("per_query.csv", 5, lambda line: line[:-3] + "0.5"), "per_query.csv:0: was changed"),
    ("no value", _line("per_query.csv", 5, lambda line: line[:-3] + "nan"), ":5: Judged@10: is 'nan'; it must be a"),
    ("another row", _line("per_query.csv", 5, lambda line: "x" + line), ":5: must be the row of counting and 'q3'"),
    ("another header", _line("per_query.csv", 1, lambda line: "x"), ":1: must begin with ranker,query_id,slice,group"),
    ("a row more", _line("per_query.csv", 461, lambda line: line + "\n" + line), ":462: holds more than 460 rows"),
    ("a row less", lambda folder: _cut(folder / "per_query.csv"), "per_query.csv:0: holds 459 of 460 rows"),
    ("no table", lambda folder: (folder / "per_query.csv").unlink(), "per_query.csv:0: is missing"),
    ("no summary", lambda folder: (folder / "summary.json").unlink(), "summary.json:0: is missing"),
    ("a summary of others", _json("summary.json", lambda form: form["rankers"].pop("bm25f")), "must be those of the"),
    (
        "a mean that is none",
        _json("summary.json", lambda form: form["rankers"]["bm25f"]["measures"]["RR@10"].update(mean="1")),
        "summary.json:0: rankers.bm25f: must give each measure mean, low, high and n",
    ),
    ("no warnings", _json("summary.json", lambda form: form.pop("warnings")), "warnings: must be a list of texts"),
    ("no times", lambda folder: (folder / "times.json").write_text("{}"), "times.json:0: rankers: must give each"),
    ("a page that was changed", _line("report.html", 1, lambda line: "<script>"), "report.html:0: was changed since"),
    (
        "a page gone",
        lambda folder: (folder / "report.md").unlink(),
        "report.md:0: is missing since the run was written",
    ),
    ("a file too many", lambda folder: (folder / "more.txt").write_text("x"), "more.txt:0: does not belong to the run"),
    ("not UTF-8", lambda folder: (folder / "rankings.jsonl").write_bytes(b"\xff\n"), "rankings.jsonl:1: not UTF-8"),
]


@pytest.mark.parametrize(("damage", "expected"), [row[1:] for row in DAMAGES], ids=[row[0] for row in DAMAGES])
def test_damage_is_told_with_its_place(damage: Damage, expected: str, run_folder: Path) -> None:
    """A changed, cut or missing file is bad data: the file and line, what is wrong, and what to do."""
    damage(run_folder)
    with pytest.raises(DataError) as caught:
        read_run(run_folder)
    assert expected in str(caught.value)
    assert all(str(problem.path).startswith(str(run_folder)) for problem in caught.value.problems)


def test_all_damage_is_told_at_once(run_folder: Path) -> None:
    """Faults of several files, and several of one file, come together, each file's digest not as another fault."""
    _line("rankings.jsonl", 3, _row(ranker="x"))(run_folder)
    _line("rankings.jsonl", 9, _row(query_id="x"))(run_folder)
    _line("per_query.csv", 5, lambda line: "x" + line)(run_folder)
    (run_folder / "summary.json").unlink()
    with pytest.raises(DataError) as caught:
        read_run(run_folder)
    places = [(Path(problem.path).name, problem.line) for problem in caught.value.problems]
    assert places == [("summary.json", 0), ("rankings.jsonl", 3), ("rankings.jsonl", 9), ("per_query.csv", 5)]


def test_what_is_no_run_is_wrong_use(tmp_path: Path) -> None:
    """A folder without a manifest, and one that is not there, are no runs."""
    for folder in (tmp_path, tmp_path / "none", "a\0b"):
        with pytest.raises(UsageError, match=r"is no run: it has no manifest\.json\. `toolsearch eval --out DIR`"):
            read_run(folder)


def test_runs_are_listed_newest_first(evaluation: Evaluation, run_folder: Path, tmp_path: Path) -> None:
    """A list has ids, dates and means; a damaged run says why, and other folders are passed over."""
    root = run_folder.parent
    write_run(evaluation, root / "two", created="2026-01-03T00:00:00+00:00")
    write_run(evaluation, root / "bad", created=CREATED)
    (root / "bad" / "summary.json").write_text("{", encoding="utf-8")
    (root / "notes").mkdir()
    entries = list_runs(root)
    assert [entry.run_id for entry in entries] == ["two", "one", "bad"]
    assert entries[0].means == {name: evaluation.table().loc[name, "nDCG@10"] for name in ("counting", "bm25f")}
    assert (entries[1].created, entries[1].data, entries[1].split, entries[1].measure) == (
        CREATED,
        "many",
        "dev",
        "nDCG@10",
    )
    assert "summary.json:1: is not valid JSON" in entries[2].problem
    assert list_runs(tmp_path / "none") == ()


@pytest.mark.parametrize("run_id", ["..", "../runs/one", "/etc", "one/", "", "on"])
def test_a_run_is_opened_by_its_id_and_never_by_a_path(run_id: str, run_folder: Path) -> None:
    """What is not in the list is unknown, whatever it would lead to."""
    assert open_run(run_folder.parent, "one").run_id == "one"
    with pytest.raises(UnknownNameError, match="unknown run"):
        open_run(run_folder.parent, run_id)


def test_nothing_measured_is_a_run_too(tmp_path: Path, rankers: ModuleType) -> None:
    """A run without a measured query has means of none and comes back the same."""
    data = DataSet(
        name="n",
        path="",
        tools=(),
        queries=(Query(query_id="q", text="x", expect="none"),),
        judgements={},
        fingerprint="f",
    )
    evaluation = evaluate(data, [rankers.Counting()])
    run = read_run(write_run(evaluation, tmp_path / "run", created=CREATED))
    assert run.to_json() == evaluation.to_json()
