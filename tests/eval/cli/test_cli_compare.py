"""`toolsearch compare`: rankers and runs side by side, the queries that moved, and why."""

from __future__ import annotations

import json
import math
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from toolsearch_eval.cli.main import INTERRUPTED, main

TOOLS = (
    '{"name": "send_mail", "description": "Send a mail to a person."}\n'
    '{"name": "read_file", "description": "Read a file."}\n'
    '{"name": "other", "description": "Mail, file, person: anything at all about a mail."}\n'
)
QUERIES = "".join(
    json.dumps({"query_id": f"q{number}", "text": text, "slice": "<b>", "split": "dev"}) + "\n"
    for number, text in enumerate(("send a mail", "read a file", "mail person", "zebra\x1b quagga"))
)
QRELS = "query_id\ttool\tgrade\nq0\tsend_mail\t2\nq1\tread_file\t2\nq2\tsend_mail\t2\nq3\tother\t1\n"
OWN = """
class Backwards:
    def index(self, tools):
        self.names = sorted((tool.name for tool in tools), reverse=True)
    def rank(self, queries, depth):
        print("ranking")
        return [[(name, 1.0 / place) for place, name in enumerate(self.names, 1)] for _ in queries]

class Telling(Backwards):
    def explain(self, query, tool, depth):
        raise ValueError("no words")

def stopping(tools):
    def search(query, depth):
        raise KeyboardInterrupt
    return search

def broken(tools):
    def search(query, depth):
        raise RuntimeError("out of order")
    return search
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the data set `set` and a module with rankers."""
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "catalog.jsonl").write_text(TOOLS, encoding="utf-8")
    (tmp_path / "set" / "queries.jsonl").write_text(QUERIES, encoding="utf-8")
    (tmp_path / "set" / "qrels.tsv").write_text(QRELS, encoding="utf-8")
    (tmp_path / "compared_rankers_of_test.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "compared_rankers_of_test", raising=False)
    return tmp_path


BACKWARDS = "compared_rankers_of_test:Backwards"


def run_of(name: str, *rankers: str) -> str:
    """Write a run of some rankers on the set."""
    options = [option for ranker in rankers for option in ("--ranker", ranker)]
    assert main(["eval", "--data", "set", *options, "--out", name]) == 0
    return name


def compared(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The JSON form of a comparison."""
    capsys.readouterr()
    assert main(["compare", *arguments, "--json"]) == 0
    form: dict[str, Any] = json.loads(capsys.readouterr().out)
    return form


def reason(form: dict[str, Any], query_id: str) -> dict[str, Any]:
    """What is said about the first tool of a query."""
    found: dict[str, Any] = next(each for each in form["moved"] if each["query_id"] == query_id)["reasons"][0]
    return found


def test_the_published_form(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON object has the published fields, with numbers that a few queries give by hand."""
    form = compared(capsys, "--a", BACKWARDS, "--b", "default", "--data", "set", "--measure", "RR@10")
    assert list(form) == [
        "schema_version", "measure", "exploratory", "a", "b", "queries", "mean_a", "mean_b", "difference", "low", "high",
        "groups", "p", "wins", "ties", "losses", "effect_size", "detectable", "slices", "moved", "data", "split", "depth",
        "warnings",
    ]  # fmt: skip
    assert (form["a"], form["b"], form["measure"], form["split"], form["depth"]) == (
        BACKWARDS,
        "default",
        "RR@10",
        "dev",
        10,
    )
    # Backwards gives send_mail, read_file, other: reciprocal ranks 1, 1/2, 1, 1/3. Default: 1, 1, 1 and nothing.
    assert form["mean_a"] == pytest.approx((1 + 1 / 2 + 1 + 1 / 3) / 4)
    assert form["mean_b"] == pytest.approx(3 / 4)
    assert form["difference"] == pytest.approx((1 / 2 - 1 / 3) / 4)
    assert (form["wins"], form["ties"], form["losses"]) == (1, 2, 1)
    assert list(form["slices"]) == ["<b>"]
    assert [moved["query_id"] for moved in form["moved"]] == ["q1", "q3"]
    assert form["moved"][0]["ranking_a"] == ["send_mail", "read_file", "other"]
    assert form["warnings"] == ["slice '<b>' has 4 groups: too few to tell"]


def test_the_reason_is_the_parts_of_the_scores(capsys: pytest.CaptureFixture[str]) -> None:
    """A profile's parts add up to its score; another ranker says that it can't tell, and both ranks are given."""
    form = compared(capsys, "--a", BACKWARDS, "--b", "default", "--data", "set")
    found = reason(form, "q1")
    assert (found["tool"], found["grade"]) == ("read_file", 2)
    assert found["a"] == {
        "rank": 2,
        "score": None,
        "why": f"{BACKWARDS} can't say what a score is made of",
        "parts": None,
    }
    assert found["b"]["rank"] == 1
    assert {part["term"] for part in found["b"]["parts"]} >= {"read", "file"}
    assert math.fsum(part["value"] for part in found["b"]["parts"]) == found["b"]["score"] > 0


def test_a_ranker_that_fails_to_explain_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """One's own `explain` may fail in any way; the comparison is made all the same."""
    form = compared(capsys, "--a", "compared_rankers_of_test:Telling", "--b", "default", "--data", "set")
    why = form["moved"][0]["reasons"][0]["a"]["why"]
    assert why == "compared_rankers_of_test:Telling failed to explain it: ValueError: no words"


def test_two_runs_say_what_two_rankers_say(capsys: pytest.CaptureFixture[str]) -> None:
    """Rankers now, one of a run beside one now, and two runs have the same outcome to the last digit."""
    now = compared(capsys, "--a", "reference", "--b", "default", "--data", "set")
    both = run_of("both", "reference", "default")
    one = run_of("one", "default")
    for a, b in ((f"{both}:reference", f"{both}:default"), ("reference", one), (f"{both}:reference", one)):
        form = compared(capsys, "--a", a, "--b", b)
        assert form == now, (a, b)


def test_two_runs_of_one_ranker_bear_their_folders_names(capsys: pytest.CaptureFixture[str]) -> None:
    """Where both sides have one name they are called as they were written; equal runs differ nowhere."""
    form = compared(capsys, "--a", run_of("one", "default"), "--b", run_of("two", "default"))
    assert (form["a"], form["b"]) == ("one", "two")
    assert (form["difference"], form["p"], form["ties"], form["moved"]) == (0.0, 1.0, 4, [])


def test_a_run_of_another_profile_is_explained_by_that_profile(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The profile comes from the run, also when its file says something else now."""
    profile = 'ranking = "standard"\nweight_keyword = 0.0\n'
    (folder / "mine.toml").write_text(profile, encoding="utf-8")
    run_of("mine", "mine.toml")
    (folder / "mine.toml").write_text(profile.replace("0.0", "1.0"), encoding="utf-8")
    form = compared(capsys, "--a", BACKWARDS, "--b", "mine")
    parts = reason(form, "q1")["b"]["parts"]
    assert {part["arm"] for part in parts} == {"tfidf"}


def test_a_run_whose_code_changed_is_not_explained_by_other_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What stands in the run stays; the parts of a score would be another ranker's, so they are not given."""
    run_of("one", "default")
    monkeypatch.setattr("toolsearch_eval.rankers.identity.code_version", lambda: "other")
    form = compared(capsys, "--a", BACKWARDS, "--b", "one")
    side = reason(form, "q1")["b"]
    assert side["why"] == "default is not the same any more: profile, libraries or code changed"
    assert (side["rank"], side["parts"]) == (1, None)
    own = run_of("own", BACKWARDS)
    form = compared(capsys, "--a", own, "--b", "default")
    assert form["moved"][0]["reasons"][0]["a"]["why"].endswith("so the run can't be explained")


def test_the_text_for_readers(capsys: pytest.CaptureFixture[str]) -> None:
    """Headline, slices with a plot, then each query that moved with both rankings and the reason; safe for a terminal."""
    assert main(["compare", "--a", BACKWARDS, "--b", "default", "--data", "set"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"default less {BACKWARDS} in nDCG@10: ")
    assert lines[2].split()[:4] == ["slice", "queries", "groups", "difference"]
    assert lines[2].rstrip().endswith("worse | better")
    assert lines[4].startswith("overall  ")
    assert "too few to tell" in lines[5]
    assert "|" in lines[4]
    assert any(line.startswith("q3 (<b>): 0.500 to 0.000: zebra\\x1b quagga") for line in lines)
    assert any(line.split() == ["1", "send_mail", "read_file", "was", "2", "2"] for line in lines)
    assert any(line.startswith("  read_file (grade 2), default: rank 1, ") and " + " in line for line in lines)


def test_the_top_queries_are_as_many_as_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """None or one, and the report has more than are printed."""
    for count in (0, 1):
        arguments = ["--a", BACKWARDS, "--b", "default", "--data", "set", "--top", str(count)]
        assert len(compared(capsys, *arguments)["moved"]) == count


def test_the_report_is_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON, Markdown and a page with a picture of the slices and one of the queries; never written over."""
    arguments = ["--a", BACKWARDS, "--b", "default", "--data", "set", "--out", "report", "--top", "1"]
    form = compared(capsys, *arguments)
    assert json.loads((folder / "report" / "comparison.json").read_text(encoding="utf-8")) == form
    page = (folder / "report" / "report.html").read_text(encoding="utf-8")
    tags: list[str] = []

    class Tags(HTMLParser):
        """Notes elements."""

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            """Note it."""
            tags.append(tag)

    Tags().feed(page)
    assert (tags.count("svg"), tags.count("details"), tags.count("b")) == (2, 1, 0)
    assert "q1" in page
    assert "q3" in page
    assert "# default beside compared" in (folder / "report" / "report.md").read_text(encoding="utf-8")
    assert main(["compare", *arguments]) == 2
    assert "report is there already" in capsys.readouterr().err


def test_many_processes_and_a_cache_change_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Jobs and cache are accepted here too."""
    arguments = ["--a", "bm25f", "--b", "default", "--data", "set"]
    plain = compared(capsys, *arguments, "--no-cache")
    assert compared(capsys, *arguments, "--jobs", "2", "--cache", "kept") == plain
    assert compared(capsys, *arguments, "--cache", "kept") == plain
    assert list(Path("kept").rglob("*.json"))


def test_an_interrupt_says_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C gives 130, and a line on what is kept."""
    arguments = ["--a", "compared_rankers_of_test:stopping", "--b", "default", "--data", "set"]
    assert main(["compare", *arguments]) == INTERRUPTED
    assert "the same command goes on from there" in capsys.readouterr().err
    assert main(["compare", *arguments, "--no-cache"]) == INTERRUPTED
    assert capsys.readouterr().err == "interrupted; rankings were not kept, as --no-cache was given.\n"


WRONG = [
    (["--a", "bm25f"], "the following arguments are required: --b"),
    (["--a", "bm25f", "--b", "defualt"], "unknown ranker 'defualt'. Did you mean 'default'"),
    (["--a", "two", "--b", "default"], "two holds several rankers: reference, bm25f. Name one: two:reference"),
    (["--a", "two:bm25", "--b", "default"], "unknown ranker in two 'bm25'. Did you mean 'bm25f'?"),
    (["--a", "two:bm25f", "--b", "two:reference", "--split", "all"], "both sides are runs already."),
    (["--a", "two:bm25f", "--b", "default", "--depth", "3"], "looks deeper than the depth 3"),
    (["--a", "two:bm25f", "--b", "default", "--depth", "20"], "the two were judged to different depths (10 and 20)"),
    (["--a", "two:bm25f", "--b", "default", "--data", "tiny"], "the two were judged on different data"),
    (["--a", "bad", "--b", "default"], "bad/manifest.json:1: is not valid JSON"),
    (["--a", "bm25f", "--b", "default", "--data", "set", "--measure", "ndgc@10"], "unknown measure 'ndgc'"),
    (
        ["--a", "bm25f", "--b", "default", "--data", "set", "--top", "-1"],
        "--top is -1; it must be a whole number of at",
    ),
    (
        ["--a", "bm25f", "--b", "default", "--data", "set", "--jobs", "0"],
        "jobs is 0; it must be a whole number above 0",
    ),
    (["--a", "bm25f", "--b", "default", "--data", "set", "--split", "test"], "no query of split test of set can be"),
    (["--a", "bm25f", "--b", "default", "--data", "set", "--cache", "set/qrels.tsv"], "can't be written"),
    (["--a", "bm25f", "--b", "default", "--data", "set", "--out", "set"], "set is there already"),
    (["--a", "bm25f", "--b", "compared_rankers_of_test:broken", "--data", "set"], "failed: query 'q0': RuntimeError"),
]


@pytest.mark.parametrize(("arguments", "expected"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_wrong_use_and_bad_data(
    arguments: list[str], expected: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every mistake is told on stderr with what is accepted, gives 2 and prints nothing on stdout."""
    run_of("two", "reference", "bm25f")
    (folder / "bad").mkdir()
    (folder / "bad" / "manifest.json").write_text("{", encoding="utf-8")
    capsys.readouterr()
    assert main(["compare", *arguments]) == 2
    streams = capsys.readouterr()
    assert expected in streams.err
    assert "Traceback" not in streams.err
    assert streams.out == ""
