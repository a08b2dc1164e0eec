"""Fifty clients at once before one gateway process over real HTTP, with servers over stdio behind it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, ToolListChangedNotification

SERVER = Path(__file__).parents[1] / "toolsearch" / "mcp" / "servers" / "fault_server.py"
NAMES = ("alpha", "beta", "gamma")
CLIENTS = 50
PIN = "mcp__alpha__renamed_tool"


@pytest.fixture
def url(tmp_path: Path) -> Generator[str]:
    """Where a gateway process serves three servers; it asks for discovery, and pins a tool that comes later."""
    servers = {name: {"command": sys.executable, "args": [str(SERVER), name, str(tmp_path / name)]} for name in NAMES}
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    command = [sys.executable, "-m", "toolsearch_eval.cli.main", "serve", "--mcp-config", str(path), "--yes"]
    command += ["--http", "--port", "0", "--require-discovery", "--pin", PIN]
    log = tmp_path / "log"
    with log.open("w") as file:
        process = subprocess.Popen(command, stderr=file, start_new_session=True)
    try:
        told = ""
        while sum(f"{name}: connected" in told for name in NAMES) < len(NAMES):
            assert process.poll() is None, told
            told = log.read_text(encoding="utf-8")
        yield next(line.split()[2] for line in told.splitlines() if line.startswith("serving at"))
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert "Traceback" not in log.read_text(encoding="utf-8")
    assert _with_argument(os.fsencode(tmp_path)) == []


def _with_argument(mark: bytes) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it ended meanwhile
            if mark in path.read_bytes():
                found.append(path.parent.name)
    return found


@dataclass(slots=True)
class _Seen:
    """What happened to one client."""

    refused: bool = False
    said: str = ""
    steps: list[float] = field(default_factory=list)
    trace: str = ""
    failed: str = ""
    lists: list[list[str]] = field(default_factory=list)
    heard: list[Any] = field(default_factory=list)


def _text(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


async def _run(session: ClientSession, name: str, **params: Any) -> CallToolResult:
    return await session.call_tool("ExecuteExtraTool", {"tool_name": name, "params": params})


@dataclass(slots=True)
class _Gate:
    """Lets all through once all have come, so that their requests are under way at once and with the same numbers."""

    waited_for: int
    opened: anyio.Event = field(default_factory=anyio.Event)

    async def all_here(self) -> None:
        """Wait for the others."""
        self.waited_for -= 1
        if not self.waited_for:
            self.opened.set()
        await self.opened.wait()


async def _talk(url: str, number: int, seen: _Seen, gates: list[_Gate]) -> None:
    server = NAMES[number % 3]

    async def progress(done: float, _total: float | None, _message: str | None) -> None:
        seen.steps.append(done)

    async def hear(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            seen.heard.append(message)

    async with (
        streamable_http_client(url) as (reading, writing),
        ClientSession(reading, writing, message_handler=hear) as session,
    ):
        await session.initialize()
        await gates[0].all_here()
        seen.lists.append([tool.name for tool in (await session.list_tools()).tools])
        if number % 2:
            await session.call_tool("SearchExtraTools", {"query": f"select:mcp__{server}__{server}_echo"})
        await gates[1].all_here()
        first = await _run(session, f"mcp__{server}__{server}_echo", word=str(number))
        seen.refused = first.is_error or False
        seen.said = _text(await _run(session, f"mcp__{server}__{server}_echo", word=str(number)))
        await session.call_tool("SearchExtraTools", {"query": f"list:{server}", "max_results": 20})
        await gates[2].all_here()
        if number % 5 == 4:
            # Given up, while others have a call with the same number at the same server.
            with anyio.move_on_after(0.5):
                await _run(session, f"mcp__{server}__{server}_slow")
        call = {"tool_name": f"mcp__{server}__{server}_count", "params": {}}
        counted = await cast(Any, session).call_tool(
            "ExecuteExtraTool", call, progress_callback=progress, meta={"trace": f"t{number}"}
        )
        seen.trace = _text(counted)
        if number % 7 == 0:
            with suppress(MCPError):
                seen.failed = _text(await _run(session, f"mcp__{server}__{server}_fail"))
        await gates[3].all_here()
        if number == 0:
            await session.call_tool("SearchExtraTools", {"query": "select:mcp__alpha__alpha_change"})
            assert _text(await _run(session, "mcp__alpha__alpha_change")) == "changed"
        with anyio.fail_after(60):
            while not seen.heard:
                await anyio.sleep(0.05)
        seen.lists.append([tool.name for tool in (await session.list_tools()).tools])


def test_fifty_clients_at_once_have_a_state_each(url: str) -> None:
    """Discovery, answers, progress, meta data, errors and news of each are its own, though all send the same numbers."""
    seen = [_Seen() for _ in range(CLIENTS)]

    async def main() -> None:
        gates = [_Gate(CLIENTS) for _ in range(4)]
        with anyio.fail_after(240):
            async with anyio.create_task_group() as tasks:
                for number in range(CLIENTS):
                    tasks.start_soon(_talk, url, number, seen[number], gates)

    anyio.run(main)
    own = ["SearchExtraTools", "ExecuteExtraTool"]
    for number, each in enumerate(seen):
        server = NAMES[number % 3]
        assert each.refused == (number % 2 == 0), number
        assert each.said == f"{server}: {number}"
        assert sorted(each.steps) == [1, 2, 3], number
        assert each.trace == f'meta "t{number}"'
        assert each.failed == ("it did not work" if number % 7 == 0 else "")
        assert each.lists == [own, [PIN, *own]], number


def test_clients_that_come_and_go_leave_nothing_behind(url: str) -> None:
    """A hundred clients one after another, ten at a time and some without a farewell, and the gateway still answers."""

    async def one(number: int) -> None:
        async with (
            streamable_http_client(url, terminate_on_close=bool(number % 3)) as (reading, writing),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            found = await session.call_tool("SearchExtraTools", {"query": "select:mcp__beta__beta_echo"})
            assert "mcp__beta__beta_echo" in _text(found)
            result = await _run(session, "mcp__beta__beta_echo", word=str(number))
            assert _text(result) == f"beta: {number}"

    async def main() -> None:
        with anyio.fail_after(240):
            for begin in range(0, 100, 10):
                async with anyio.create_task_group() as tasks:
                    for number in range(begin, begin + 10):
                        tasks.start_soon(one, number)

    anyio.run(main)
