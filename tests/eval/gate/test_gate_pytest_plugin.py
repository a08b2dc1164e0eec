from __future__ import annotations

import subprocess
import sys

import pytest

from toolsearch_eval.cli.main import main
from toolsearch_eval.gate.verdict import gate
from toolsearch_eval.rankers import resolve_ranker

LOADED = (gate, resolve_ranker)
"""A run within a run forgets what it has imported, and numpy can't be loaded twice: so it is loaded by now."""

pytest_plugins = ["pytester"]

CATALOG = """
{"name": "mail_send", "description": "Send a mail"}
{"name": "mail_search", "description": "Search mails"}
{"name": "calendar_add", "description": "Add an event to the calendar"}
"""
QUERIES = """
{"query_id": "a", "text": "send a mail to Ann", "split": "dev"}
{"query_id": "b", "text": "add a meeting to my calendar", "split": "dev"}
"""
QRELS = "query_id\ttool\tgrade\na\tmail_send\t2\nb\tcalendar_add\t2\n"
OURS = """
def best_first(query, depth):
    order = {"send": ["mail_send", "mail_search"], "add": ["calendar_add", "mail_send"]}
    return order[query.split()[0]][:depth]

def make(tools):
    return best_first
"""
TEST = """
def test_search_keeps_its_quality(toolsearch_gate):
    toolsearch_gate(data="data", baseline="baseline.json"%s)
"""


@pytest.fixture
def team(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A team's folder: own catalog, own queries, own search function, and a blessed baseline."""
    folder = pytester.mkdir("data")
    for name, text in (("catalog.jsonl", CATALOG), ("queries.jsonl", QUERIES), ("qrels.tsv", QRELS)):
        (folder / name).write_text(text, encoding="utf-8")
    pytester.makepyfile(our_search=OURS)
    monkeypatch.chdir(pytester.path)
    monkeypatch.syspath_prepend(pytester.path)
    monkeypatch.delitem(sys.modules, "our_search", raising=False)
    blessed = ["bless", "--data", "data", "--ranker", "our_search:make", "--baseline", "baseline.json"]
    assert main([*blessed, "--must-pass", "best"]) == 0
    return pytester


def test_a_test_passes_while_quality_holds(team: pytest.Pytester) -> None:
    """Data, ranker and baseline are named; nothing else is needed."""
    team.makepyfile(test_ours=TEST % ', ranker="our_search:make"')
    team.runpytest_inprocess().assert_outcomes(passed=1)


def test_a_search_function_of_ones_own_can_be_given(team: pytest.Pytester) -> None:
    """A function that gives names is enough; a worse one fails the test and the query is named."""
    team.makepyfile(
        test_ours="from our_search import best_first\n"
        + TEST % ", search=best_first"
        + "\ndef test_worse(toolsearch_gate):\n"
        "    toolsearch_gate(data='data', baseline='baseline.json', search=lambda query, depth: ['mail_search'])\n"
    )
    result = team.runpytest_inprocess()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["gate FAILED: our_search:make on data (dev)", "*a (no slice, must pass) 1.000 -> 0.000*"]
    )


def test_data_that_was_not_blessed_fails_with_a_list(team: pytest.Pytester) -> None:
    """A new query is named, and so is the way on."""
    with (team.path / "data" / "queries.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"query_id": "c", "text": "send it", "split": "dev"}\n')
    with (team.path / "data" / "qrels.tsv").open("a", encoding="utf-8") as file:
        file.write("c\tmail_send\t2\n")
    team.makepyfile(test_ours=TEST % ', ranker="our_search:make"')
    result = team.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*new queries: c. If that is meant, bless anew*"])


def test_without_a_baseline_the_test_says_how_to_make_one(team: pytest.Pytester) -> None:
    """There is no traceback, only the message."""
    (team.path / "baseline.json").unlink()
    team.makepyfile(test_ours=TEST % "")
    result = team.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "toolsearch gate: there is no baseline *; `toolsearch bless` makes a baseline, such as: toolsearch bless "
            "--data DIR --ranker NAME --baseline baseline.json --must-pass best"
        ]
    )
    result.stdout.no_fnmatch_line("*During handling*")


def test_a_test_finds_everything_wherever_it_is_started(team: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a folder inside of the project the module of the ranker is found, as the data and the baseline are."""
    team.makepyfile(**{"deep/test_ours": TEST % ""})
    team.makeini("[pytest]\naddopts = --import-mode=importlib")
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each not in ("", str(team.path))])
    monkeypatch.delitem(sys.modules, "our_search", raising=False)
    monkeypatch.chdir(team.path / "deep")
    team.runpytest_inprocess(str(team.path / "deep")).assert_outcomes(passed=1)


def test_data_that_is_not_where_it_was_is_asked_for(team: pytest.Pytester) -> None:
    """The baseline knows the name of its data set and not where it lies."""
    (team.path / "data").rename(team.path / "elsewhere")
    team.makepyfile(test_ours=TEST.replace('data="data", ', "") % "")
    result = team.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["toolsearch gate: the data set 'data' that was blessed *: --data DIR, or data= in pytest."]
    )


def test_the_plugin_imports_nothing_until_it_is_used() -> None:
    """A test run of anyone who has the package installed starts as quickly as before."""
    code = "import sys, toolsearch_eval.pytest_plugin; print('numpy' in sys.modules, 'toolsearch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]
