"""`toolsearch catalog` and `toolsearch explain`: their forms, to the key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolsearch_eval.cli.main import main

GOOD = '{"name": "send_mail", "server": "mail", "description": "Send a mail to a person, now or later."}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder with a good catalog, a doubtful one and one that can't be read."""
    (tmp_path / "good.jsonl").write_text(GOOD, encoding="utf-8")
    (tmp_path / "doubtful.jsonl").write_text(GOOD + '{"name": "x\\u202e"}\n', encoding="utf-8")
    (tmp_path / "bad.jsonl").write_text(GOOD + '{"name": 5}\n{"description": "x"}\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "code", "errors"),
    [
        ("good.jsonl", 0, []),
        ("doubtful.jsonl", 0, []),
        ("bad.jsonl", 2, [("bad.jsonl", 2, "name"), ("bad.jsonl", 3, "name")]),
    ],
)
def test_check_has_the_published_form(
    name: str, code: int, errors: list[tuple[str, int, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors and warnings have path, line, field and message; the path is the one that was given."""
    assert main(["catalog", "check", name, "--json"]) == code
    form = json.loads(capsys.readouterr().out)
    assert list(form) == ["schema_version", "errors", "warnings"]
    assert [(each["path"], each["line"], each["field"]) for each in form["errors"]] == errors
    for each in [*form["errors"], *form["warnings"]]:
        assert list(each) == ["path", "line", "field", "message"]
        assert each["path"] == name
    assert bool(form["warnings"]) == (name == "doubtful.jsonl")


def test_check_for_readers(capsys: pytest.CaptureFixture[str]) -> None:
    """Every doubt is a line, errors stand on stderr, and the sum comes last."""
    assert main(["catalog", "check", "doubtful.jsonl"]) == 0
    streams = capsys.readouterr()
    assert streams.out.splitlines()[-1].startswith("2 tools, 0 errors, ")
    assert "warning: doubtful.jsonl:0: " in streams.out
    assert "\u202e" not in streams.out
    assert main(["catalog", "check", "bad.jsonl"]) == 2
    streams = capsys.readouterr()
    assert streams.out == "0 tools, 2 errors, 0 warnings\n"
    assert streams.err.splitlines() == [
        "error: bad.jsonl:2: name: is the number 5; a name must be a text",
        "error: bad.jsonl:3: name: the tool has no name; every tool needs one",
    ]


def test_stats_have_the_published_form(capsys: pytest.CaptureFixture[str]) -> None:
    """Counts come as one object; what is no single number is a spread or a count by server."""
    assert main(["catalog", "stats", "good.jsonl", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert list(form) == [
        "schema_version",
        "tools",
        "servers",
        "core",
        "deferred",
        "quarantined",
        "without_description",
        "with_search_hint",
        "without_schema",
        "description_characters",
        "parameters",
        "schema_bytes",
        "tools_by_server",
    ]
    assert (form["tools"], form["deferred"], form["without_schema"]) == (1, 1, 1)
    assert form["tools_by_server"] == {"mail": 1}
    assert form["description_characters"]["total"] == len("Send a mail to a person, now or later.")


def test_convert_says_what_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    """Source, target and the number of tools; what was written reads back."""
    assert main(["catalog", "convert", "good.jsonl", "out.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "schema_version": 1,
        "source": "good.jsonl",
        "target": "out.jsonl",
        "tools": 1,
    }
    assert json.loads(Path("out.jsonl").read_text(encoding="utf-8")) == json.loads(GOOD)


def test_a_catalog_can_be_converted_in_place(capsys: pytest.CaptureFixture[str]) -> None:
    """Source and target may be one file, which is read before it is replaced."""
    Path("one.json").write_text('{"tools": [{"name": "add", "inputSchema": {}}]}', encoding="utf-8")
    assert main(["catalog", "convert", "one.json", "one.json"]) == 0
    assert json.loads(Path("one.json").read_text(encoding="utf-8")) == {"name": "add", "input_schema": {}}


def test_explain_has_the_published_form(capsys: pytest.CaptureFixture[str]) -> None:
    """Found, rank, score, why and parts that add up, beside the query and the tool that were given."""
    assert main(["explain", "send", "mail", "--tool", "send_mail", "--catalog", "good.jsonl", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert list(form) == [
        "schema_version",
        "query",
        "tool",
        "found",
        "rank",
        "score",
        "why",
        "parts",
        "warnings",
    ]
    assert (form["query"], form["tool"], form["found"], form["rank"]) == ("send mail", "send_mail", True, 1)
    assert all(list(part) == ["arm", "field", "term", "value"] for part in form["parts"])
    assert sum(part["value"] for part in form["parts"]) == pytest.approx(form["score"], abs=1e-8)


def test_explain_of_a_tool_that_was_not_found(capsys: pytest.CaptureFixture[str]) -> None:
    """A tool that shares nothing with the query has no rank, no score and no parts, and a sentence says why."""
    assert main(["explain", "weather", "--tool", "send_mail", "--catalog", "good.jsonl", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["found"], form["rank"], form["score"], form["parts"]) == (False, None, 0.0, [])
    assert form["why"]
