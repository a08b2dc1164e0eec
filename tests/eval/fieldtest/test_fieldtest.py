from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import toolsearch_datasets
from toolsearch.errors import DataError
from toolsearch_eval.cli.main import main
from toolsearch_eval.fieldtest.cases import read_cases
from toolsearch_eval.fieldtest.checks import CHECKS
from toolsearch_eval.fieldtest.run import run_case
from toolsearch_eval.fieldtest.steps import STEPS
from toolsearch_eval.fieldtest.vocabulary import CHECKS as CHECK_WORDS
from toolsearch_eval.fieldtest.vocabulary import STEPS as STEP_WORDS

SHIPPED = read_cases(toolsearch_datasets.field_reports())


@pytest.mark.parametrize("case", SHIPPED, ids=lambda case: f"{case.id}-{case.kind}")
def test_every_shipped_field_report_holds(case: Any) -> None:
    """What users met elsewhere does not happen here."""
    assert run_case(case).why == ()


def test_every_word_of_the_vocabulary_does_something() -> None:
    """There is a function for each step and each check, and no other."""
    assert set(STEPS) == set(STEP_WORDS)
    assert set(CHECKS) == set(CHECK_WORDS)


def row(**changes: Any) -> dict[str, Any]:
    """A case that holds, with some keys changed."""
    case: dict[str, Any] = {
        "id": "X-1",
        "kind": "rank.test",
        "symptom": "none",
        "setup": {"catalog": [{"name": "timer_create", "description": "Create a timer"}, {"name": "other"}]},
        "action": [
            {"op": "search", "query": "create a timer"},
            {"op": "execute", "tool_name": "timer_create", "params": {}},
        ],
        "expected": [{"check": "top1", "step": 0, "tool": "timer_create"}],
    }
    return {**case, **changes}


def written(tmp_path: Path, *rows: Any) -> Path:
    """A file of cases."""
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "check",
    [
        {"check": "top1", "step": 0, "tool": "other"},
        {"check": "results_equal", "step": 0, "tools": ["other"]},
        {"check": "empty", "step": 0},
        {"check": "count", "step": 0, "value": 7},
        {"check": "absent", "step": 0, "tools": ["timer_create"]},
        {"check": "empty_or_flag", "step": 0, "flag": "no_confident_match"},
        {"check": "field_equals", "step": 0, "path": "total_matches", "value": 9},
        {"check": "text_contains", "step": 0, "text": "banana"},
        {"check": "text_not_contains", "step": 0, "text": "timer"},
        {"check": "tokens_at_most", "step": 0, "value": 1},
        {"check": "error", "step": 1},
        {"check": "not_called", "step": 1, "tool": "timer_create"},
        {"check": "called", "step": 1, "tool": "timer_create", "params": {"a": 1}},
        {"check": "never_called_with", "tool": "timer_create", "params": {}},
        {"check": "permission_prompt", "step": 1, "tool": "timer_create"},
        {"check": "warning_logged", "about": "banana"},
        {"check": "index_builds_at_most", "value": 0},
        {"check": "results_differ", "steps": [0, 0]},
        {"check": "suggestion", "step": 0, "tool": "banana"},
        {"check": "result_contains", "step": 1, "value": "banana"},
    ],
    ids=lambda check: str(check["check"]),
)
def test_a_check_that_does_not_hold_says_why(tmp_path: Path, check: dict[str, Any]) -> None:
    """Each kind of check can fall, and names what it found."""
    [case] = read_cases(written(tmp_path, row(expected=[check])))
    verdict = run_case(case)
    assert not verdict.passed
    assert verdict.why[0].startswith(f"{check['check']}: ")


def test_a_stretch_check_that_falls_skips_the_case(tmp_path: Path) -> None:
    """Only where nothing else falls; then the case fails."""
    stretch = {"check": "top1", "step": 0, "tool": "other", "tier": "stretch"}
    must = {"check": "empty", "step": 0}
    [first, second] = read_cases(written(tmp_path, row(expected=[stretch]), row(id="X-2", expected=[stretch, must])))
    assert run_case(first).skipped
    assert not run_case(second).skipped
    assert not run_case(second).passed


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("{", ":1: is no JSON"),
        (row(id=""), ":1: id: must be a text that is not empty"),
        (row(extra=1), ":1: extra: is no key of a case"),
        (row(action=[{"op": "serach", "query": "x"}]), ":1: action[0].op: 'serach' is no step; did you mean 'search'"),
        (row(action=[{"op": "search"}]), ":1: action[0].query: is missing"),
        (row(action=[{"op": "search", "query": 1}]), ":1: action[0].query: must be a text"),
        (row(action=[{"op": "search", "query": "a", "quary": "b"}]), "action[0].quary: is not in the vocabulary"),
        (
            row(action=[{"op": "concurrent", "threads": 1, "steps": [{"op": "x"}]}]),
            "action[0].steps[0].op: 'x' is no step",
        ),
        (
            row(expected=[{"check": "top2", "step": 0, "tool": "a"}]),
            "expected[0].check: 'top2' is no check; did you mean 'top1'",
        ),
        (
            row(expected=[{"check": "top1", "step": 5, "tool": "a"}]),
            "expected[0].step: is 5; the case has the steps 0 to 1",
        ),
        (row(expected=[]), "expected: is empty; a case that checks nothing can't fail"),
        (
            row(setup={"catalog": [{"name": "a", "permission": "maybe"}]}),
            "setup.catalog[0].permission: must be one of allow",
        ),
        (row(setup={"catalog": [], "config": {"colour": 1}}), "setup.config.colour: is not in the vocabulary"),
        (row(setup={"catalog": [], "servers": {"a": "odd"}}), "setup.servers: must give each server one of connected"),
    ],
)
def test_words_outside_of_the_vocabulary_are_bad_data(tmp_path: Path, case: Any, expected: str) -> None:
    """Place, what was given and what is accepted; all faults at once."""
    with pytest.raises(DataError) as error:
        read_cases(written(tmp_path, case))
    assert expected in str(error.value)


def test_two_cases_of_one_name_are_refused(tmp_path: Path) -> None:
    """The first one's line is named."""
    with pytest.raises(DataError, match="stands in line 1 already"):
        read_cases(written(tmp_path, row(), row()))


def test_the_command_gives_the_published_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Totals, and for each case that falls why; exit code 1."""
    falls = row(id="X-2", expected=[{"check": "empty", "step": 0}])
    assert main(["fieldtest", str(written(tmp_path, row(), falls)), "--json"]) == 1
    form = json.loads(capsys.readouterr().out)
    assert (form["total"], form["passed"], form["skipped"]) == (2, ["X-1"], [])
    assert [(each["id"], each["why"]) for each in form["failed"]] == [("X-2", "empty: found timer_create")]


def test_the_command_exits_with_0_when_all_hold_and_2_on_bad_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file with a fault runs nothing."""
    assert main(["fieldtest", str(written(tmp_path, row()))]) == 0
    assert "1 of 1 hold, 0 fall" in capsys.readouterr().out
    assert main(["fieldtest", str(written(tmp_path, row(), "{"))]) == 2
    assert "cases.jsonl:2: is no JSON" in capsys.readouterr().err
