from __future__ import annotations

import io
import json
import shlex
import sys
from pathlib import Path

import pytest

from toolsearch.catalog.formats import load_catalog
from toolsearch_eval.cli.main import main

SERVER = Path(__file__).parents[2] / "toolsearch" / "mcp" / "servers" / "small_server.py"
KEY = "sk-live-55aa66bb77cc88dd"


def configured(folder: Path, **servers: list[str]) -> str:
    """A configuration of small servers, each with its options."""
    path = folder / ".mcp.json"
    rows = {name: {"command": sys.executable, "args": [str(SERVER), *options]} for name, options in servers.items()}
    path.write_text(json.dumps({"mcpServers": rows}), encoding="utf-8")
    return str(path)


def test_all_pages_of_all_servers_are_written_with_their_owners(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lists are followed to the end, in the servers' order, and what a server says beyond the schema is kept."""
    target = tmp_path / "out.jsonl"
    config = configured(tmp_path, meadow=["--tools", "7", "--page", "3"], hill=["--tools", "2"])
    assert main(["catalog", "pull", "--mcp-config", config, "-o", str(target), "--yes"]) == 0
    tools = load_catalog(target)
    assert [(tool.server, tool.leaf) for tool in tools] == [
        *(("meadow", f"count_{number:03}") for number in range(7)),
        ("hill", "count_000"),
        ("hill", "count_001"),
    ]
    assert tools[6].meta["_meta"] == {"n": 6}
    streams = capsys.readouterr()
    assert streams.out == f"9 tools of 2 of 2 servers written to {target}\n"
    assert "[2/2]" in streams.err


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--loop", "--page", "1"], "its list of tools has no end: a cursor came again after 2 tools"),
        (["--endless"], "its list of tools has no end: 1000 pages were read and there are more"),
        (["--list-silent"], "did not list its tools within 2 seconds"),
        (["--die-on-list", "--say", "out of wool"], "asked for its tools, it closed the connection"),
        (["--exit", "4", "--say", "out of wool"], "ended with exit code 4 before it answered"),
        (["--bad"], "the answer doesn't keep to the protocol: tools.2.inputSchema"),
        (["--twice"], "its list can't be used: name: duplicate_tool_name"),
    ],
)
def test_one_failure_is_named_and_the_rest_goes_on(
    options: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server that fails is told with its reason and the end of its error stream; the others are written."""
    target = tmp_path / "out.jsonl"
    config = configured(tmp_path, good=["--tools", "1"], ill=options)
    # A short limit only where it is what the test is of: reading a thousand pages takes its time on a busy machine.
    limit = "2" if "--list-silent" in options else "60"
    arguments = ["catalog", "pull", "--mcp-config", config, "-o", str(target), "--yes", "--timeout", limit, "--json"]
    assert main(arguments) == 1
    assert [tool.server for tool in load_catalog(target)] == ["good"]
    streams = capsys.readouterr()
    ill = json.loads(streams.out)["servers"][1]
    assert ill["error"].startswith(reason)
    assert ill["stderr"] == ("out of wool" if "--say" in options else "")
    assert "error: server ill: " in streams.err


def test_secrets_stand_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key from the environment reaches the server, and neither the catalog, the screen nor an error."""
    monkeypatch.setenv("MEADOW", KEY)
    target = tmp_path / "out.jsonl"
    leaking = ["--key", "${MEADOW}", "--describe", f"Uses the key {KEY} for sheep."]
    config = configured(tmp_path, leaky=leaking, dying=["--key", "${MEADOW}", "--exit", "1", "--say", f"bad {KEY}!"])
    assert main(["catalog", "pull", "--mcp-config", config, "-o", str(target), "--yes"]) == 1
    streams = capsys.readouterr()
    assert load_catalog(target)[0].description == "Uses the key [redacted] for sheep."
    assert "bad [redacted]!" in streams.err
    assert "${MEADOW}" in streams.err
    assert KEY not in streams.out + streams.err + target.read_text(encoding="utf-8")


def test_nothing_runs_without_a_yes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands are shown, and where nobody can be asked they don't run."""
    target = tmp_path / "out.jsonl"
    assert main(["catalog", "pull", "--stdio", f"touch {tmp_path}/ran", "-o", str(target)]) == 2
    assert f"touch {tmp_path}/ran" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


class Terminal(io.StringIO):
    """A reader at a terminal who types one line."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("YES\n", 0), ("n\n", 2), ("\n", 2), ("", 2)])
def test_a_reader_is_asked(typed: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a yes runs the commands; no answer is a no."""
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    target = tmp_path / "out.jsonl"
    config = configured(tmp_path, meadow=["--tools", "1"])
    assert main(["catalog", "pull", "--mcp-config", config, "-o", str(target)]) == code
    assert target.exists() == (code == 0)


def test_one_command_is_enough(tmp_path: Path) -> None:
    """A single server needs no file; its name is given, or `server`."""
    target = tmp_path / "out.jsonl"
    command = shlex.join([sys.executable, str(SERVER), "--tools", "1"])
    assert main(["catalog", "pull", "--stdio", command, "--name", "meadow", "-o", str(target), "--yes"]) == 0
    assert [tool.server for tool in load_catalog(target)] == ["meadow"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--http", "ftp://x"], "must start with http:// or https://"),
        (["--stdio", ""], "the command is empty"),
        (["--stdio", "x 'y"], "can't be split"),
        (["--stdio", "x", "--timeout", "0"], "--timeout 0: give the seconds"),
        (["--mcp-config", "nowhere.json"], "the file can't be read"),
    ],
)
def test_wrong_use_is_said(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong use ends with 2 and says what to give."""
    assert main(["catalog", "pull", *arguments, "-o", "out.jsonl"]) == 2
    assert message in capsys.readouterr().err
