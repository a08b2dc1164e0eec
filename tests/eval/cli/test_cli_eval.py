"""`toolsearch eval`: its form, its exit codes, and what goes to which stream."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from toolsearch_eval.cli.main import INTERRUPTED, main
from toolsearch_eval.rankers.resolve import EVERY
from toolsearch_eval.runs.reading import list_runs, read_run

CATALOG = '{"name": "send_mail", "description": "Send a mail."}\n{"name": "read_file", "description": "Read a file."}\n'
QUERIES = (
    '{"query_id": "m", "text": "send a mail", "slice": "a\\u001b[31m", "split": "dev"}\n'
    '{"query_id": "f", "text": "read a file", "split": "dev"}\n'
    '{"query_id": "t", "text": "file", "split": "test"}\n'
    '{"query_id": "n", "text": "fly away", "split": "dev", "expect": "none"}\n'
)
QRELS = "query_id\ttool\tgrade\nm\tsend_mail\t2\nf\tread_file\t1\nt\tread_file\t2\n"
OWN = """
class Loud:
    name = "loud"
    def index(self, tools):
        print("indexing")
    def rank(self, queries, depth):
        print("ranking")
        return [[("send_mail", 1.0)] for _ in queries]

def fails_later(tools):
    if len(tools) > 2:
        raise ValueError("too many tools")
    return lambda query, depth: []

def stops_later(tools):
    if len(tools) > 2:
        raise KeyboardInterrupt
    return lambda query, depth: []

def stopping(tools):
    def search(query, depth):
        raise KeyboardInterrupt
    return search

def broken(tools):
    def search(query, depth):
        raise RuntimeError("out of\\x1b[31m order")
    return search
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a data set `set`, sets that lack something, and a module with rankers."""
    for name in ("set", "silent", "bad", "twins"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "catalog.jsonl").write_text(CATALOG, encoding="utf-8")
        (tmp_path / name / "queries.jsonl").write_text(QUERIES, encoding="utf-8")
        (tmp_path / name / "qrels.tsv").write_text(QRELS, encoding="utf-8")
    (tmp_path / "silent" / "queries.jsonl").write_text('{"query_id": "n", "text": "x", "expect": "none"}\n')
    (tmp_path / "bad" / "queries.jsonl").write_text('{"query_id": "n"}\n{"text": "x"}\n')
    (tmp_path / "twins" / "catalog.jsonl").write_text('{"name": "a"}\n{"name": "a", "server": "s"}\n')
    (tmp_path / "own_rankers_of_test.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "mine.toml").write_text('ranking = "standard"\nweight_keyword = 0.9\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_rankers_of_test", raising=False)
    return tmp_path


def test_the_published_form(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON object has exactly the published fields, in every ranker, measure and slice."""
    assert main(["eval", "--data", "set", "--ranker", "default", "--ranker", "bm25f", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert list(form) == ["schema_version", "data", "split", "depth", "excluded", "rankers", "warnings"]
    assert form["schema_version"] == 1
    assert list(form["data"]) == ["name", "fingerprint", "queries", "tools"]
    assert (form["data"]["name"], form["data"]["queries"], form["data"]["tools"]) == ("set", 3, 2)
    assert (form["split"], form["depth"]) == ("dev", 10)
    assert form["excluded"] == {"no_answer": 1, "empty": 0, "missing": 0, "duplicate": 0, "unjudged": 0}
    assert list(form["rankers"]) == ["default", "bm25f"]
    for values in form["rankers"].values():
        assert list(values) == ["measures", "slices", "latency_ms", "build_ms", "abstention", "tokens"]
        assert list(values["measures"]) == ["nDCG@10", "Recall@5", "RR@10", "Success@1", "Judged@10"]
        assert list(values["slices"]) == ["a\x1b[31m"]
        assert list(values["latency_ms"]) == ["p50", "p95"]
        for cell in [*values["measures"].values(), *values["slices"]["a\x1b[31m"].values()]:
            assert list(cell) == ["mean", "low", "high", "n"]
        assert values["measures"]["nDCG@10"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "n": 2}
    assert form["warnings"] == ["slice 'a\\x1b[31m' has 1 groups: too few to tell"]


RIGHT: list[tuple[list[str], dict[str, Any]]] = [
    ([], {"split": "dev", "depth": 10}),
    (["--split", "test"], {"split": "test"}),
    (["--split", "all", "--depth", "50"], {"split": "all", "depth": 50}),
    (["--measure", "P@3", "--measure", "AP", "--measure", "P@3"], {"split": "dev"}),
    (["--depth", "1000000000", "--measure", "Recall@1000"], {"depth": 1_000_000_000}),
]


@pytest.mark.parametrize(("arguments", "expected"), RIGHT, ids=[" ".join(row[0]) or "nothing" for row in RIGHT])
def test_settings_are_taken_and_recorded(
    arguments: list[str], expected: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Split, depth and measures are what was asked for, and stand in the answer."""
    assert main(["eval", "--data", "set", *arguments, "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert {key: form[key] for key in expected} == expected
    assert list(form["rankers"]) == ["reference", "default", "bm25f"]
    if "AP" in arguments:
        assert list(form["rankers"]["default"]["measures"]) == ["P@3", "AP"]


@pytest.mark.parametrize(
    "ranker",
    ["reference", "default", "default:keyword", "bm25f", "bm25s", "sklearn-words", "sklearn-characters", "mine.toml"],
)
def test_every_kind_of_ranker_is_judged_under_its_name(ranker: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Names, arms, peers and profiles in files work alike."""
    assert main(["eval", "--data", "set", "--ranker", ranker, "--json"]) == 0
    form = json.loads(capsys.readouterr().out)["rankers"]
    assert list(form) == [ranker]
    assert form[ranker]["measures"]["Success@1"]["mean"] == 1.0


def test_the_table_for_readers(capsys: pytest.CaptureFixture[str]) -> None:
    """Without --json there is a line on what was measured and a row for each ranker, safe for a terminal."""
    assert main(["eval", "--data", "set", "--ranker", "bm25f", "--measure", "RR@3"]) == 0
    streams = capsys.readouterr()
    lines = streams.out.splitlines()
    assert lines[0] == (
        "set: 2 of 3 queries (split dev), left out: 1 no_answer, 0 empty, 0 missing, 0 duplicate, 0 unjudged"
    )
    assert lines[1].split() == ["ranker", "RR@3", "p50", "ms"]
    assert lines[3].split()[:4] == ["bm25f", "1.000", "[1.000,", "1.000]"]
    assert lines[5].startswith(
        "ranker  risk-coverage  false answers  false alarms  tokens an answer  Recall@5 per 1,000"
    )
    # `fly away` shares no word with any tool, so nothing is given for it.
    assert lines[7].split()[:4] == ["bm25f", "0.000", "0.000", "0.000"]
    assert lines[8].startswith("Tokens are those of the search tool's answer with five results, counted by: ")
    assert lines[8].endswith(("o200k_base.", "estimate."))
    assert streams.err == "warning: slice 'a\\x1b[31m' has 1 groups: too few to tell\n"


def test_what_a_ranker_prints_stands_not_among_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    """The output of a stranger's ranker goes to stderr, so that stdout stays one JSON object."""
    assert main(["eval", "--data", "set", "--ranker", "own_rankers_of_test:Loud", "--json"]) == 0
    streams = capsys.readouterr()
    assert list(json.loads(streams.out)["rankers"]) == ["own_rankers_of_test:Loud"]
    assert "indexing\nranking\n" in streams.err


def test_a_broken_ranker_is_a_line_and_the_others_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """The broken one is named with the query on stderr and in the JSON, the others are judged, and the code is 2."""
    arguments = ["eval", "--data", "set", "--ranker", "own_rankers_of_test:broken", "--ranker", "bm25f", "--json"]
    assert main(arguments) == 2
    streams = capsys.readouterr()
    form = json.loads(streams.out)
    assert list(form["rankers"]) == ["bm25f"]
    line = "ranker 'own_rankers_of_test:broken' failed: query 'm': RuntimeError: out of\\x1b[31m order"
    assert form["warnings"][0] == line.replace("\\x1b", "\x1b")
    assert streams.err.splitlines()[0] == f"warning: {line}"
    assert "Traceback" not in streams.err


def test_a_missing_library_is_a_line_and_the_others_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A peer whose extra is missing says what to install; the rest goes on, and the code is 2."""
    monkeypatch.setitem(sys.modules, "bm25s", None)
    assert main(["eval", "--data", "set", "--ranker", "bm25s", "--ranker", "bm25f", "--json"]) == 2
    streams = capsys.readouterr()
    line = "the ranker 'bm25s' needs bm25s, which is not installed; install toolsearch[peers]."
    assert json.loads(streams.out)["warnings"][0] == line
    assert list(json.loads(streams.out)["rankers"]) == ["bm25f"]
    assert f"warning: {line}\n" in streams.err


def test_an_interrupt_prints_what_was_finished(capsys: pytest.CaptureFixture[str]) -> None:
    """After Ctrl-C the rankers that were done are printed, the others are named, and the code is 130."""
    arguments = ["--ranker", "bm25f", "--ranker", "own_rankers_of_test:stopping", "--ranker", "default"]
    assert main(["eval", "--data", "set", *arguments, "--json"]) == INTERRUPTED
    streams = capsys.readouterr()
    assert list(json.loads(streams.out)["rankers"]) == ["bm25f"]
    assert "warning: interrupted; not judged: own_rankers_of_test:stopping, default\n" in streams.err
    assert main(["eval", "--data", "set", "--ranker", "own_rankers_of_test:stopping"]) == INTERRUPTED
    told = capsys.readouterr().err
    assert told.startswith("interrupted; what was ranked is kept in ")
    assert "and the same command goes on from there" in told


def test_stability_is_measured_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Each ranker gets what the three changes of the catalog did, in JSON and as a table."""
    assert main(["eval", "--data", "set", "--ranker", "bm25f", "--stability", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)["rankers"]["bm25f"]
    assert list(form)[-1] == "stability"
    assert list(form["stability"]) == ["shuffled", "renamed", "distractors"]
    assert form["stability"]["shuffled"] == {"difference": 0.0, "low": 0.0, "high": 0.0, "same": 1.0, "overlap": 1.0}
    assert main(["eval", "--data", "set", "--ranker", "bm25f", "--stability"]) == 0
    assert "bm25f      shuffled    0.000  0.000  0.000         1.000    1.000\n" in capsys.readouterr().out


def test_a_fault_or_an_interrupt_in_stability_keeps_what_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """The evaluation is printed all the same; the fault gives 2, the interrupt 130."""
    for factory, code, line in (
        ("fails_later", 2, "ranker 'own_rankers_of_test:fails_later' failed: ValueError: too many tools"),
        ("stops_later", INTERRUPTED, "interrupted; stability is measured for: bm25f"),
    ):
        arguments = ["--ranker", "bm25f", "--ranker", f"own_rankers_of_test:{factory}", "--stability", "--json"]
        assert main(["eval", "--data", "set", *arguments]) == code
        form = json.loads(capsys.readouterr().out)
        assert list(form["rankers"]) == ["bm25f", f"own_rankers_of_test:{factory}"]
        assert "stability" in form["rankers"]["bm25f"]
        assert "stability" not in form["rankers"][f"own_rankers_of_test:{factory}"]
        assert form["warnings"][0] == line


def stable(form: dict[str, Any]) -> dict[str, Any]:
    """A form without its times."""
    for values in form["rankers"].values():
        del values["latency_ms"], values["build_ms"]
    return form


def test_the_outcome_is_the_same_with_many_processes_and_with_a_cache(capsys: pytest.CaptureFixture[str]) -> None:
    """But for times every byte of the JSON object is the same, warm or cold, with one process or three."""
    arguments = ["eval", "--data", "tiny", "--split", "all", "--ranker", "all", "--against", "default", "--json"]
    outputs = []
    for more in (["--no-cache"], ["--cache", "kept"], ["--cache", "kept"], ["--no-cache", "--jobs", "3"]):
        assert main([*arguments, *more]) == 0
        outputs.append(json.dumps(stable(json.loads(capsys.readouterr().out))))
    assert len(set(outputs)) == 1


def test_kept_rankings_are_said_and_none_are_kept_without_a_cache(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The user's own folder for caches serves where no other is named; a note says what was taken from it."""
    arguments = ["eval", "--data", "set", "--ranker", "bm25f"]
    assert main([*arguments, "--no-cache"]) == 0
    caches = Path(os.environ["XDG_CACHE_HOME"])
    assert list(caches.iterdir()) == []
    assert main(arguments) == 0
    assert "note:" not in capsys.readouterr().err
    assert list(caches.glob("toolsearch/rankings/*/*.json"))
    assert main(arguments) == 0
    # Two measured queries and one without an answer.
    assert (
        f"note: 3 of 3 rankings were kept from before in {caches / 'toolsearch' / 'rankings'}"
        in capsys.readouterr().err
    )


def test_a_cache_that_cannot_be_written_is_a_warning_unless_it_was_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The evaluation goes on without it; a folder that was asked for is wrong use."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "mine.toml"))
    assert main(["eval", "--data", "set", "--ranker", "bm25f"]) == 0
    assert "can't be written" in capsys.readouterr().err
    assert main(["eval", "--data", "set", "--ranker", "bm25f", "--cache", "mine.toml"]) == 2


def test_every_ranker_beside_one(capsys: pytest.CaptureFixture[str]) -> None:
    """`all` is every ranker; each has its difference to the baseline, and p is adjusted for all of them by Holm."""
    arguments = [
        "eval",
        "--data",
        "tiny",
        "--split",
        "all",
        "--ranker",
        "all",
        "--ranker",
        "default",
        "--measure",
        "RR@10",
    ]
    assert main([*arguments, "--against", "default", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert list(form["rankers"]) == list(EVERY)
    against = form["against"]
    assert (against["ranker"], against["measure"], against["adjusted"]) == ("default", "RR@10", "holm")
    assert list(against["rankers"]) == [name for name in EVERY if name != "default"]
    assert (
        main(
            [
                "compare",
                "--a",
                "default",
                "--b",
                "regex",
                "--data",
                "tiny",
                "--split",
                "all",
                "--measure",
                "RR@10",
                "--json",
            ]
        )
        == 0
    )
    alone = json.loads(capsys.readouterr().out)
    found = against["rankers"]["regex"]
    assert {key: found[key] for key in found if key != "p"} == {key: alone[key] for key in found if key != "p"}
    assert alone["p"] <= found["p"] <= min(1.0, alone["p"] * 10)
    assert main([*arguments, "--against", "default"]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("RR@10 less that of default; p by sign flips, adjusted by Holm's procedure:")
    assert lines[start + 1].split() == ["ranker", "difference", "p", "better", "equal", "worse", "detectable"]
    assert [line.split()[0] for line in lines[start + 3 :]] == [name for name in EVERY if name != "default"]


def test_a_baseline_that_failed_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Where the baseline itself breaks, the others are shown and the code is 2."""
    broken = "own_rankers_of_test:broken"
    assert main(["eval", "--data", "set", "--ranker", broken, "--ranker", "bm25f", "--against", broken, "--json"]) == 2
    form = json.loads(capsys.readouterr().out)
    assert f"nothing stands beside {broken!r}, which was not judged" in form["warnings"]
    assert "against" not in form


def test_several_data_sets_in_one_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has its own tables, in JSON a list; each run goes to a folder that bears the set's name."""
    arguments = ["eval", "--data", "set", "tiny", "--ranker", "bm25f"]
    assert main([*arguments, "--json", "--out", "both"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert list(form) == ["schema_version", "sets"]
    assert [each["data"]["name"] for each in form["sets"]] == ["set", "tiny"]
    assert {entry.run_id: entry.data for entry in list_runs("both")} == {"set": "set", "tiny": "tiny"}
    assert main(["eval", "--data", "set", "--data", "tiny", "--ranker", "bm25f"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines if "left out" in line] == ["set", "tiny"]
    assert main(["eval", "--data", "silent", "set", "--ranker", "bm25f", "--json"]) == 2
    streams = capsys.readouterr()
    assert [each["data"]["name"] for each in json.loads(streams.out)["sets"]] == ["set"]
    assert "silent: no query of split all can be measured" in streams.err
    assert main(["eval", "--data", "set", "set", "--out", "twice"]) == 2
    assert "--out needs data sets whose names differ; given: set, set." in capsys.readouterr().err


def test_a_run_is_written_and_read_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--out` writes the run that was printed; a second time the folder is refused before any work."""
    arguments = ["eval", "--data", "set", "--against", "default", "--out", "runs/first"]
    assert main([*arguments, "--json"]) == 0
    streams = capsys.readouterr()
    form = json.loads(streams.out)
    assert "the run is in runs/first\n" in streams.err
    run = read_run("runs/first")
    assert run.to_json() == {key: value for key, value in form.items() if key != "against"}
    assert run.summary["against"] == form["against"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", run.manifest["created"])
    assert main([*arguments, "--ranker", "default", "--ranker", "own_rankers_of_test:Loud"]) == 2
    streams = capsys.readouterr()
    assert "runs/first holds a run, and a run is never written over" in streams.err
    assert "ranking" not in streams.err.replace("rankings", "")


def test_an_interrupted_evaluation_writes_no_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is not whole is no run; the rankings are kept, and the same command goes on."""
    arguments = ["--ranker", "bm25f", "--ranker", "own_rankers_of_test:stopping"]
    assert main(["eval", "--data", "set", *arguments, "--out", "run"]) == INTERRUPTED
    assert not Path("run").exists()
    assert "the same command goes on from there" in capsys.readouterr().err


WRONG = [
    (["--data", "tinny"], "unknown data set 'tinny'. Did you mean 'tiny'? A path must be a data set's folder."),
    (["--data", "bad"], "bad/queries.jsonl:1: text: the query has no text; write what is asked\nbad/queries.jsonl:2:"),
    (["--data", "twins"], "twins/catalog.jsonl:0: name: 'a' is the name of several tools; give each its full id"),
    (
        ["--data", "silent"],
        "silent: no query of split all can be measured: of 1 queries left out: 1 no_answer, 3 missing.",
    ),
    (["--ranker", "defualt"], "unknown ranker 'defualt'. Did you mean 'default'"),
    (["--ranker", "bm25f", "--ranker", "bm25f"], "each ranker may be named once; given: bm25f, bm25f."),
    (["--ranker", "missing.toml"], "missing.toml:0: can't be read as a profile"),
    (["--ranker", "no_such_module_at_all:make"], "There is no module 'no_such_module_at_all' in this folder either."),
    (
        ["--ranker", "own_rankers_of_test:Lod"],
        "unknown ranker in module own_rankers_of_test 'Lod'. Did you mean 'Loud'?",
    ),
    (["--ranker", "own_rankers_of_test:broken"], "failed: query 'm': RuntimeError: out of\\x1b[31m order"),
    (["--measure", "ndgc@10"], "unknown measure 'ndgc'. Did you mean 'nDCG'"),
    (["--measure", "nDCG"], "measure 'nDCG' needs a cutoff"),
    (["--measure", "nDCG@20"], "nDCG@20 looks deeper than the depth 10; use a higher --depth."),
    (["--depth", "0"], "depth is 0; it must be a whole number above 0."),
    (["--depth", "ten"], "invalid int value: 'ten'"),
    (["--split", "train"], "invalid choice: 'train'"),
    (["--jobs", "0"], "jobs is 0; it must be a whole number above 0."),
    (["--cache", "x", "--no-cache"], "not allowed with argument"),
    (
        ["--against", "bm25"],
        "--against is 'bm25', which is none of the rankers: reference, default, bm25f. Add it with --ranker.",
    ),
    (["--out", "set"], "set is there already, and a run is never written over; name a new folder, or remove this one."),
    (["--rankers", "bm25f"], "unrecognized arguments: --rankers"),
]


@pytest.mark.parametrize(("arguments", "expected"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_wrong_use_and_bad_data(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every mistake is told on stderr with what is accepted, gives 2 and prints nothing on stdout."""
    data = [] if "--data" in arguments else ["--data", "set"]
    assert main(["eval", *data, *arguments]) == 2
    streams = capsys.readouterr()
    assert expected in streams.err
    assert "Traceback" not in streams.err
    assert streams.out == ""


def test_a_split_that_is_not_there_names_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Asking for dev where all is test measures nothing, which is wrong use."""
    assert main(["eval", "--data", "silent", "--split", "dev"]) == 2
    assert (
        "no query of split dev can be measured: of 0 queries left out: 3 missing. The data has the splits: test."
        in (capsys.readouterr().err)
    )


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        """It says so."""
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_the_bar_goes_to_stderr_on_a_terminal_alone(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stdout stays one JSON object; the bar is drawn on stderr where someone looks."""
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    assert main(["eval", "--data", "set", "--ranker", "bm25f", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["split"] == "dev"
    assert ("3/3" in stream.getvalue()) == terminal


def test_the_same_call_gives_the_same_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """But for times, two runs print the same bytes."""
    outputs = []
    for _ in range(2):
        assert main(["eval", "--data", "tiny", "--split", "all", "--json"]) == 0
        form = json.loads(capsys.readouterr().out)
        for values in form["rankers"].values():
            del values["latency_ms"], values["build_ms"]
        outputs.append(json.dumps(form))
    assert outputs[0] == outputs[1]
