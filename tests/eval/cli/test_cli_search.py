from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolsearch.catalog.formats import load_catalog
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.folders import keep_caches, kept_caches
from toolsearch.search.searcher import Searcher
from toolsearch.tools.search_tool import SearchTool
from toolsearch_eval.cli.main import INTERRUPTED, VERBS, available_verbs, main
from toolsearch_eval.cli.output import neutralise, text_table

ROWS: list[dict[str, Any]] = [
    {
        "name": "send_message",
        "server": "chat",
        "description": "Send a message to a channel.",
        "input_schema": {
            "type": "object",
            "properties": {"channel": {"type": "string"}, "urgent": {"type": "boolean"}},
            "required": ["channel"],
        },
    },
    {"name": "create_issue", "server": "tracker", "description": "Open a new issue."},
    {"name": "evil", "server": "tracker", "description": "Paint \x1b[31mred\x07 with \u202ebidi."},
]


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A catalog file with three tools of two servers."""
    path = tmp_path / "tools.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The JSON object that a command prints, which must be all that stands on stdout."""
    assert main([*arguments, "--json"]) == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


WRONG = [
    (["serach", "x"], "unknown command 'serach'. Did you mean 'search'?"),
    ([], "usage: toolsearch"),
    (["search"], "required: TEXT"),
    (["search", "x", "--max-results", "many"], "invalid int value: 'many'"),
    (["search", "x", "--profil", "default"], "unrecognized arguments: --profil"),
    (["search", "   "], "the query is empty"),
    (["search", "+"], "the query is empty"),
    (["search", "the of and"], "holds only words that say nothing about a tool"),
    (["search", "select:"], "select: needs names after it"),
    (["search", "list:", "--catalog", "tools.jsonl"], "Servers and their numbers of tools: chat (1), tracker (2)."),
    (["search", "x", "--profile", "defualt"], "unknown profile 'defualt'. Did you mean 'default'?"),
    (["search", "x", "--profile", "missing.toml"], "missing.toml:0: can't be read"),
    (["search", "x", "--catalog", "missing.jsonl"], "missing.jsonl"),
    (["search", "x", "--catalog", "bad.jsonl"], "bad.jsonl:2:"),
    (["search", "x", "--catalog", "latin.jsonl"], "latin.jsonl:1:"),
    (["search", "x", "--catalog", "."], "."),
    (["search", "x", "--catalog", "tools.jsonl", "--server", "caht"], "unknown server 'caht'. Did you mean 'chat'?"),
    (["search", "x", "--catalog", "python:nothing"], "python:MODULE:NAME"),
    (["search", "x", "--catalog", "python:no_such_module:ALL"], "'no_such_module' can't be imported"),
    (
        ["search", "x", "--catalog", "python:json:dumpz"],
        "unknown name in module json 'dumpz'. Did you mean 'dump', 'dumps'?",
    ),
    (["search", "x", "--catalog", "python:json:__name__"], "holds str"),
    (["explain", "x", "--catalog", "tools.jsonl"], "required: --tool"),
    (["explain", "x", "--catalog", "tools.jsonl", "--tool", "send_mesage"], "'send_message'"),
    (["catalog"], "required: ACTION"),
    (["catalog", "check", "bad.jsonl"], "bad.jsonl:2:"),
    (["catalog", "stats", "missing.jsonl"], "missing.jsonl"),
    (["catalog", "convert", "tools.jsonl", "no/such/folder.jsonl"], "can't be written"),
    (["catalog", "convert", "tools.jsonl", "out.jsonl", "--format", "xml"], "xml"),
    (["bench", "--sizes", "ten"], "--sizes is 'ten'"),
    (["bench", "--sizes", "0"], "--sizes is '0'"),
    (["bench", "--rounds", "0"], "--rounds is 0"),
]


@pytest.mark.parametrize(("arguments", "expected"), WRONG, ids=[" ".join(row[0]) or "nothing" for row in WRONG])
def test_wrong_use_and_bad_data_are_one_text_on_stderr_and_exit_code_2(
    arguments: list[str],
    expected: str,
    catalog: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every mistake says what was wrong on stderr, gives 2, and shows no traceback."""
    monkeypatch.chdir(catalog.parent)
    (catalog.parent / "bad.jsonl").write_text('{"name": "fine"}\n{"name": \n', encoding="utf-8")
    (catalog.parent / "latin.jsonl").write_bytes('{"name": "café"}\n'.encode("latin-1"))
    assert main(arguments) == 2
    streams = capsys.readouterr()
    assert expected in streams.err
    assert "Traceback" not in streams.err


RIGHT = [
    (["--help"], "commands:"),
    (["search", "--help"], "--max-results"),
    (["--version"], "toolsearch "),
    (["search", "send", "a", "message", "--catalog", "tools.jsonl"], " 1. send_message"),
    (["search", "select:Send_Message", "--catalog", "tools.jsonl"], " 1. send_message  [exact_name]"),
    (
        ["search", "discover:send message", "--catalog", "tools.jsonl"],
        'schema: {"type": "object", "properties": {"channel"',
    ),
    (["search", "list:tracker", "--catalog", "tools.jsonl"], " 2. evil  [server]"),
    (
        ["search", "select:send_mesage", "--catalog", "tools.jsonl"],
        "not found: send_mesage; did you mean send_message?",
    ),
    (["search", "select:Read"], "already loaded, call directly: Read"),
    (
        ["search", "list:tracker", "--catalog", "tools.jsonl", "--max-results", "1"],
        "1 of 2 matching tools are shown; add after:create_issue",
    ),
    (["search", "zzzz", "--catalog", "tools.jsonl"], "nothing found among 3 searchable tools"),
    (["search", "x", "--catalog", "empty.jsonl"], "nothing found among 0 searchable tools"),
    (["search", "message " * 12_500, "--catalog", "tools.jsonl"], "send_message"),
    (["search", "a\x00b\x1b[2J\ud800", "--catalog", "tools.jsonl"], "searchable tools"),
    (["search", "message", "--catalog", "tools.jsonl", "--profile", "reference"], "send_message"),
    (["search", "schedule a job"], "CronCreate"),
    (["explain", "message", "--tool", "send_message", "--catalog", "tools.jsonl"], "rank 1, score"),
    (["explain", "issue", "--tool", "send_message", "--catalog", "tools.jsonl"], "without a rank"),
    (["catalog", "check", "tools.jsonl"], "3 tools, 0 errors"),
    (["catalog", "stats", "tools.jsonl"], "servers"),
    (["catalog", "convert", "tools.jsonl", "out.jsonl"], "3 tools written to out.jsonl"),
]


@pytest.mark.parametrize(("arguments", "expected"), RIGHT, ids=[" ".join(row[0])[:40] for row in RIGHT])
def test_right_use_prints_its_answer_and_gives_0(
    arguments: list[str],
    expected: str,
    catalog: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every right use prints its answer on stdout and gives 0, hostile queries too."""
    monkeypatch.chdir(catalog.parent)
    (catalog.parent / "empty.jsonl").write_text("", encoding="utf-8")
    assert main(arguments) == 0
    assert expected in capsys.readouterr().out


def test_a_search_has_the_published_json_form(catalog: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON of a search holds exactly the published fields."""
    value = answer(capsys, "search", "send message", "--catalog", str(catalog))
    assert list(value) == [
        "schema_version",
        "query",
        "mode",
        "results",
        "total_matches",
        "truncated",
        "clamped",
        "low_confidence",
        "missing",
        "already_loaded",
        "pending_servers",
        "failed_servers",
        "disabled_servers",
        "warnings",
    ]
    assert (value["schema_version"], value["query"], value["mode"]) == (1, "send message", "keyword")
    first = value["results"][0]
    assert list(first) == ["rank", "name", "score", "reason", "server", "description", "parameters", "arms"]
    assert (first["rank"], first["name"], first["server"]) == (1, "send_message", "chat")
    assert first["parameters"] == [
        {"name": "channel", "type": "string", "required": True},
        {"name": "urgent", "type": "boolean", "required": False},
    ]
    assert sum(first["arms"].values()) == pytest.approx(first["score"])


def test_the_command_and_the_tool_give_one_answer(catalog: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON of every mode is that of the tool that a model calls."""
    tool = SearchTool(Searcher(ToolRegistry(load_catalog(catalog))))
    for query in ("send message", "+issue message", "select:evil,evli", "discover:issue", "list:tracker", "zzzz"):
        assert answer(capsys, "search", query, "--catalog", str(catalog)) == tool.call({"query": query}).to_json()


def test_a_required_word_changes_the_mode(catalog: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A word with a plus makes the mode `required` and every result has it."""
    value = answer(capsys, "search", "+issue message", "--catalog", str(catalog))
    assert value["mode"] == "required"
    assert [result["name"] for result in value["results"]] == ["create_issue"]


def test_a_number_of_results_outside_of_the_bounds_is_moved_and_said(
    catalog: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 results become 1, and the answer says that the number was moved and that more matched."""
    value = answer(capsys, "search", "message issue", "--catalog", str(catalog), "--max-results", "0")
    assert (len(value["results"]), value["clamped"], value["truncated"], value["total_matches"]) == (1, True, True, 2)


def test_the_server_filter_is_exact(catalog: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only tools of the named server come back."""
    value = answer(capsys, "search", "message issue", "--catalog", str(catalog), "--server", "tracker")
    assert [result["server"] for result in value["results"]] == ["tracker"]


def test_the_parts_of_an_explanation_add_up_to_the_score(catalog: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The values of all parts sum to the score of the same search."""
    explained = answer(capsys, "explain", "send message", "--tool", "send_message", "--catalog", str(catalog))
    searched = answer(capsys, "search", "send message", "--catalog", str(catalog))
    assert set(explained) >= {"found", "rank", "score", "why", "parts"}
    assert (explained["found"], explained["rank"]) == (True, 1)
    assert sum(part["value"] for part in explained["parts"]) == pytest.approx(explained["score"], abs=1e-8)
    assert explained["score"] == searched["results"][0]["score"]
    assert set(explained["parts"][0]) == {"arm", "field", "term", "value"}


def test_settings_of_the_environment_apply_and_bad_ones_are_reported(
    catalog: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A weight of 0 for one arm silences it; a setting that is no number is named on stderr and in the JSON."""
    monkeypatch.setenv("SEARCH_EXTRA_TOOLS_WEIGHT_KEYWORD", "0")
    monkeypatch.setenv("SEARCH_EXTRA_TOOLS_WEIGHT_TFIDF", "much")
    assert main(["search", "message", "--catalog", str(catalog), "--json"]) == 0
    streams = capsys.readouterr()
    value = json.loads(streams.out)
    assert value["results"][0]["arms"]["keyword"] == 0
    assert len(value["warnings"]) == 1
    assert "SEARCH_EXTRA_TOOLS_WEIGHT_TFIDF is 'much'" in value["warnings"][0]
    assert "SEARCH_EXTRA_TOOLS_WEIGHT_TFIDF" in streams.err


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_text_from_data_cannot_steer_the_terminal(
    form: list[str], catalog: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Escape sequences, bells and marks that turn the writing direction are printed as escapes."""
    assert main(["search", "paint red", "--catalog", str(catalog), *form]) == 0
    out = capsys.readouterr().out
    assert "red" in out
    assert not set("\x1b\x07\u202e") & set(out)


def test_the_json_form_keeps_the_data_as_it_was(catalog: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is escaped for the terminal reads back as the same text."""
    value = answer(capsys, "search", "paint red", "--catalog", str(catalog))
    assert value["results"][0]["description"] == ROWS[2]["description"]


def test_a_checked_catalog_lists_every_fault_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Faults come all at once, with path, line, field and message, and the exit code is 2."""
    path = tmp_path / "bad.jsonl"
    path.write_text('{"name": "fine"}\nnonsense\n{"description": "no name"}\n', encoding="utf-8")
    assert main(["catalog", "check", str(path), "--json"]) == 2
    value = json.loads(capsys.readouterr().out)
    assert [error["line"] for error in value["errors"]] == [2, 3]
    assert set(value["errors"][0]) == {"path", "line", "field", "message"}


def test_a_converted_catalog_reads_back_the_same(
    catalog: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A list as an MCP server answers it becomes rows that hold the same tools."""
    source, target = tmp_path / "list.json", tmp_path / "rows.jsonl"
    listed = {"tools": [{"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}]}
    source.write_text(json.dumps(listed), encoding="utf-8")
    assert answer(capsys, "catalog", "convert", str(source), str(target))["tools"] == 1
    assert json.loads(target.read_text(encoding="utf-8"))["name"] == "add"


def test_tools_of_a_python_module_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A module in the present folder can be named; its function without arguments gives the tools."""
    (tmp_path / "agent_tools_of_test.py").write_text(
        "from toolsearch.catalog.tool import Tool\n\n\ndef all_tools():\n    return [Tool(name='water_plants')]\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    value = answer(capsys, "search", "water the plants", "--catalog", "python:agent_tools_of_test:all_tools")
    assert [result["name"] for result in value["results"]] == ["water_plants"]


def test_an_interrupt_gives_130_and_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C ends a command with 130 and a line, without a traceback."""

    def interrupted(source: str | None) -> tuple[Tool, ...]:
        raise KeyboardInterrupt

    monkeypatch.setattr("toolsearch_eval.cli.search_command.open_catalog", interrupted)
    assert main(["search", "x"]) == INTERRUPTED
    assert capsys.readouterr().err == "toolsearch: interrupted; what had been finished is kept.\n"


def _process(code: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=variables)


def test_help_loads_no_heavy_library() -> None:
    """The list of commands is shown without numpy, pandas or scipy, so that it comes at once."""
    code = (
        "import sys\nfrom toolsearch_eval.cli.main import main\nassert main(['--help']) == 0\n"
        "print(sorted({'numpy', 'pandas', 'scipy', 'matplotlib', 'sklearn'} & set(sys.modules)), file=sys.stderr)"
    )
    assert _process(code).stderr.decode().strip() == "[]"


def test_output_is_utf8_in_a_plain_locale() -> None:
    """Chinese text is printed in the C locale too."""
    code = r"from toolsearch_eval.cli.main import main; main(['search', '\u5b9a\u65f6\u4efb\u52a1', '--json'])"
    done = _process(code, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert json.loads(done.stdout.decode("utf-8"))["query"] == "定时任务"


def test_a_reader_that_goes_away_is_no_error() -> None:
    """When the reader of a pipe closes it early, nothing is written on stderr and the exit code is 0."""
    code = (
        "import os, sys\nreading, writing = os.pipe()\nos.close(reading)\nos.dup2(writing, 1)\n"
        "from toolsearch_eval.cli.main import main\nsys.exit(main(['search', 'schedule a job']))"
    )
    assert _process(code).stderr == b""


def test_only_commands_that_exist_are_offered() -> None:
    """The offered commands are a part of the known ones, in their order, and each has its module."""
    offered = available_verbs()
    assert [verb for verb in VERBS if verb in offered] == list(offered)
    assert {"search", "explain", "catalog", "bench"} <= set(offered)


def test_line_breaks_of_data_cannot_forge_a_line() -> None:
    """A line break inside of a value is escaped, in tables too."""
    assert neutralise("a\r\nb\u2028c\x9b") == "a\\r\\nb\\u2028c\\x9b"
    assert text_table(["x"], [["a\nb"]]).count("\n") == 2


def test_a_command_keeps_its_caches_in_the_folder_of_its_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What costs time stays for the next command; without a home nothing is kept, and the command works."""
    before = kept_caches()
    try:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert main(["search", "send a message", "--max-results", "1"]) == 0
        assert kept_caches() == tmp_path / "toolsearch"
        keep_caches(None)
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.delenv("HOME", raising=False)
        monkeypatch.setattr(Path, "home", _homeless)
        assert main(["search", "send a message", "--max-results", "1"]) == 0
        assert kept_caches() is None
    finally:
        keep_caches(before)


def _homeless() -> Path:
    raise RuntimeError("Could not determine home directory.")
