"""`toolsearch serve` with a real client over stdio, before a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import TextContent

from toolsearch_eval.cli.main import main

SERVER = Path(__file__).parents[2] / "toolsearch" / "mcp" / "servers" / "fault_server.py"


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    """A file with one server that works and one that does not exist."""
    servers: dict[str, Any] = {
        "alpha": {"command": sys.executable, "args": [str(SERVER), "alpha", str(tmp_path / "state")]},
        "ghost": {"command": str(tmp_path / "no-such-program")},
    }
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path


def test_a_client_searches_and_runs_a_tool_through_it(configuration: Path) -> None:
    """The list holds search and proxy alone; what the server has is found, run, and gone when the client goes."""

    async def talk() -> None:
        arguments = ["-m", "toolsearch_eval.cli.main", "serve", "--mcp-config", str(configuration), "--yes"]
        parameters = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
        with open(os.devnull, "w") as silent:
            async with (
                stdio_client(parameters, errlog=silent) as (reading, writing),
                ClientSession(reading, writing) as session,
            ):
                await session.initialize()
                names = {tool.name for tool in (await session.list_tools()).tools}
                assert {"SearchExtraTools", "ExecuteExtraTool"} <= names
                assert not any("alpha" in name for name in names)
                found = ""
                with anyio.fail_after(30):
                    while "mcp__alpha__alpha_echo" not in found:
                        answer = await session.call_tool("SearchExtraTools", {"query": "alpha echo"})
                        found = "".join(block.text for block in answer.content if isinstance(block, TextContent))
                result = await session.call_tool(
                    "ExecuteExtraTool", {"tool_name": "mcp__alpha__alpha_echo", "params": {"word": "hello"}}
                )
                assert not result.is_error
                said = "".join(block.text for block in result.content if isinstance(block, TextContent))
                assert "hello" in said

    anyio.run(talk)
    mark = os.fsencode(configuration.parent / "state")
    for _ in range(100):  # it ends by itself when its input does
        if not _with_argument(mark):
            break
        time.sleep(0.1)
    assert _with_argument(mark) == []


def test_told_to_end_it_ends_though_its_client_stays(configuration: Path) -> None:
    """A signal while the client says nothing ends it with 0 and without a traceback, and what it has started with it."""
    arguments = ["-m", "toolsearch_eval.cli.main", "serve", "--mcp-config", str(configuration), "--yes"]
    mark = os.fsencode(configuration.parent / "state")
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        told = ""
        for line in process.stderr:
            told += line
            if "alpha: connected" in line:
                break
        assert len(_with_argument(mark)) == 1
        process.terminate()
        assert process.wait(60) == 0
        told += process.stderr.read()
    assert "Traceback" not in told
    assert _with_argument(mark) == []


def _with_argument(mark: bytes) -> list[str]:
    """The processes that were started with this argument."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it ended meanwhile
            if mark in path.read_bytes():
                found.append(path.parent.name)
    return found


def test_commands_are_shown_and_run_only_after_a_yes(configuration: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Over stdio nobody can be asked: without --yes nothing runs, and the standard output stays empty."""
    assert main(["serve", "--mcp-config", str(configuration)]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert str(SERVER) in streams.err
    assert "--yes" in streams.err


def test_a_configuration_that_can_not_be_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2 and the file."""
    path = tmp_path / "broken.json"
    path.write_text("{", encoding="utf-8")
    assert main(["serve", "--mcp-config", str(path), "--yes"]) == 2
    assert str(path) in capsys.readouterr().err
