"""`toolsearch dataset check|stats`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolsearch_eval.cli.main import main

TOOL = '{"name": "send_mail", "description": "Send a mail."}\n'
QUERY = '{"query_id": "m", "text": "send a mail", "slice": "s\\u202e"}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder with a good set, one with wrong labels, and one that can't be read."""
    for name, qrels in (("good", "m 0 send_mail 2\n"), ("wrong", "m 0 g\u202eone 2\n"), ("bad", "m 0 x y\nz\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "catalog.jsonl").write_text(TOOL, encoding="utf-8")
        (tmp_path / name / "queries.jsonl").write_text(QUERY, encoding="utf-8")
        (tmp_path / name / "qrels.tsv").write_text(qrels, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


CHECKS: list[tuple[str, int, list[tuple[str, int, str, str]], int]] = [
    ("good", 0, [], 1),
    ("wrong", 1, [("wrong/queries.jsonl", 1, "tool", "'g\\u202eone' of query 'm' is not in the catalog")], 1),
    (
        "bad",
        2,
        [
            ("bad/qrels.tsv", 1, "grade", "is 'y'; a grade is a whole number from -100 to 100"),
            (
                "bad/qrels.tsv",
                2,
                "",
                "must be query_id, tool and grade between tabs, or a TREC line (query 0 tool grade)",
            ),
        ],
        0,
    ),
]


@pytest.mark.parametrize(("name", "code", "errors", "warnings"), CHECKS, ids=[row[0] for row in CHECKS])
def test_check_has_the_published_form(
    name: str, code: int, errors: list[Any], warnings: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors and warnings come with path, line, field and message; 0 is clean, 1 found errors, 2 can't be read."""
    assert main(["dataset", "check", "--data", name, "--json"]) == code
    form = json.loads(capsys.readouterr().out)
    assert list(form) == ["schema_version", "errors", "warnings"]
    assert form["errors"] == [dict(zip(("path", "line", "field", "message"), error, strict=True)) for error in errors]
    assert len(form["warnings"]) == warnings
    assert all(list(warning) == ["path", "line", "field", "message"] for warning in form["warnings"])


def test_check_for_readers(capsys: pytest.CaptureFixture[str]) -> None:
    """Each fault is a line on stderr that an editor can jump to, the sum stands on stdout, and marks are escaped."""
    assert main(["dataset", "check", "--data", "wrong"]) == 1
    streams = capsys.readouterr()
    assert streams.out == "wrong: 1 errors, 1 warnings\n"
    assert streams.err.splitlines() == [
        "wrong/queries.jsonl:1: tool: 'g\\u202eone' of query 'm' is not in the catalog",
        "warning: wrong/queries.jsonl:0: slice: 's\\u202e' has 1 groups: too few to tell",
    ]


def test_data_that_cannot_be_read_for_readers(capsys: pytest.CaptureFixture[str]) -> None:
    """All faults are told at once on stderr and nothing on stdout."""
    for action in ("check", "stats"):
        assert main(["dataset", action, "--data", "bad"]) == 2
        streams = capsys.readouterr()
        assert [line.split(" ")[0] for line in streams.err.splitlines()] == ["bad/qrels.tsv:1:", "bad/qrels.tsv:2:"]
        assert streams.out == ""


def test_stats(capsys: pytest.CaptureFixture[str]) -> None:
    """Counts come as one object, or as a line for each."""
    assert main(["dataset", "stats", "--data", "good", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["tools"], form["queries"], form["labels"], form["splits"]) == (1, 1, 1, {"test": 1})
    assert main(["dataset", "stats", "--data", "good"]) == 0
    out = capsys.readouterr().out
    assert "queries: 1\n" in out
    assert "grades: 2: 1\n" in out
    assert "conversations: 0\n" in out
    assert "slices_by_split  test\n---------------  ----\ns\\u202e             1\n" in out
    assert "\u202e" not in out


@pytest.mark.parametrize("name", ["builtin", "tiny"])
def test_the_shipped_sets_are_clean(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`toolsearch dataset check` finds no error in what ships."""
    assert main(["dataset", "check", "--data", name, "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert form["errors"] == []
    assert [warning for warning in form["warnings"] if name != "tiny" or warning["field"] != "slice"] == []


def test_the_data_set_is_named_by_position_or_by_option(capsys: pytest.CaptureFixture[str]) -> None:
    """Both ways name the same set; without either it is the shipped one."""
    for arguments in (["good"], ["--data", "good"], ["good", "--data", "good"]):
        assert main(["dataset", "stats", *arguments, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["name"] == "good"
    assert main(["dataset", "stats", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "builtin"


WRONG = [
    (["dataset", "check", "good", "--data", "bad"], "two data sets are named, 'good' and 'bad'; name one"),
    (["dataset"], "required: ACTION"),
    (["dataset", "chekc"], "invalid choice: 'chekc'"),
    (["dataset", "check", "--data", "bultin"], "unknown data set 'bultin'. Did you mean 'builtin'"),
    (["dataset", "stats", "--data", ""], "unknown data set ''"),
]


@pytest.mark.parametrize(("arguments", "expected"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_wrong_use(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake is told on stderr with what is accepted and gives 2."""
    assert main(arguments) == 2
    assert expected in capsys.readouterr().err
