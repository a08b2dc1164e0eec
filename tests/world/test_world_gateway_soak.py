"""The gateway's endurance: two thousand calls over ten real servers that are killed, hang, change and start badly."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.memory import create_client_server_memory_streams
from mcp_types import CallToolResult, TextContent

from toolsearch.mcp.backoff import Backoff
from toolsearch.mcp.gateway import ANSWER_KEY, CODE_KEY, Gateway
from toolsearch.mcp.hub import Hub
from toolsearch.mcp.link import connector
from toolsearch.mcp.server_entry import ServerEntry
from toolsearch.mcp.upstream import Patience
from toolsearch.session.settings import SessionSettings

SERVER = Path(__file__).parent / "servers" / "soak_server.py"
MARK = "SOAK_FOLDER"
"""The variable by which every process that came of the test is known, also those that servers have started."""

SERVERS = tuple(f"s{number}" for number in range(10))
CLIENTS, CALLS = 10, 200
KILL_EVERY = 70
"""Calls from one kill to the next."""

SEARCH_EVERY = 20
LIMIT = 1.0
"""Seconds that the gateway gives a call."""

PATIENCE = 60.0
"""Seconds after which a client counts a call as never answered: far above what the gateway needs on a busy machine."""

CODES = {"tool_error", "timeout", "unavailable", "unknown_tool"}
MIX = {"echo": 70, "wait": 6, "noise": 8, "task": 8, "hang": 1, "forget": 2, "die": 1, "change": 2, "rename": 2}
"""How often each kind of call comes up."""


@dataclass(slots=True)
class Tally:
    """What came of the calls.

    Attributes:
        outcomes: How often each kind of call ended in each way: `ok` or a code.
        wrong: What must not happen, a line each.
        reported: Servers that a search named as failed, pending or disconnected.
        killed: Servers that were killed, in order.
        lines: What the operator was told, with the time.
    """

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    reported: set[str] = field(default_factory=set)
    killed: list[str] = field(default_factory=list)
    lines: list[tuple[float, str]] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """How many have ended."""
        return sum(self.outcomes.values())


def processes(mark: str) -> dict[int, list[str]]:
    """The command line of every living process that carries the mark in its environment, by number."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile, or is another user's
            if f"\0{MARK}={mark}\0".encode() in b"\0" + (folder / "environ").read_bytes() + b"\0":
                found[int(folder.name)] = (folder / "cmdline").read_text(encoding="utf-8").split("\0")
    return found


def handles() -> int:
    """How many files this process holds open."""
    return len(os.listdir("/proc/self/fd"))


def kill(name: str, mark: str) -> bool:
    """Kill a server as nothing can be prepared for; whether there was one."""
    victims = [pid for pid, words in processes(mark).items() if str(SERVER) in words and name in words]
    for pid in victims:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return bool(victims)


@asynccontextmanager
async def client(gateway: Gateway) -> AsyncGenerator[ClientSession]:
    """A client of its own."""
    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as tasks:
        tasks.start_soon(gateway.serve, *theirs)
        async with ClientSession(*ours) as session:
            await session.initialize()
            yield session
        tasks.cancel_scope.cancel()


def text(result: CallToolResult) -> str:
    """The words of a result."""
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


class Soak:
    """One run."""

    def __init__(self, folder: Path, seed: int, *, calls: int = CALLS) -> None:
        """Prepare servers in a folder."""
        self.mark, self.seed, self.calls = str(folder), seed, calls
        self.tally = Tally()
        self.states = {name: folder / f"{name}.json" for name in SERVERS}
        for path in self.states.values():
            path.write_text('{"starts": 0, "generation": 1}', encoding="utf-8")
        patience = Patience(listing=10, ping=1.0, quiet=0.05, backoff=Backoff(first=0.1, longest=1.0, steady=2.0))
        entries = [
            ServerEntry(
                name=name,
                command=sys.executable,
                args=(str(SERVER), name, str(path)),
                env={MARK: self.mark},
                surroundings=dict(os.environ),
            )
            for name, path in self.states.items()
        ]
        self.hub = Hub(
            {entry.name: connector(entry, start_timeout=20, grace=0.5) for entry in entries},
            patience=patience,
            report=lambda line: self.tally.lines.append((time.monotonic(), line)),
        )
        self.gateway = Gateway(self.hub, settings=SessionSettings(call_timeout=LIMIT))

    async def run(self) -> None:
        """All calls, then every server once more."""
        async with self.gateway.running():
            assert await self.hub.settled(60)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._kill)
                async with anyio.create_task_group() as clients:
                    for number in range(CLIENTS):
                        clients.start_soon(self._client, number)
                tasks.cancel_scope.cancel()
            await self._all_are_back()

    async def _kill(self) -> None:
        source = random.Random(self.seed)
        due = KILL_EVERY
        while True:
            await anyio.sleep(0.02)
            if self.tally.calls >= due:
                name = source.choice(SERVERS)
                if kill(name, self.mark):
                    self.tally.killed.append(name)
                due += KILL_EVERY

    async def _client(self, number: int) -> None:
        source = random.Random(f"{self.seed} {number}")
        async with client(self.gateway) as session:
            for turn in range(self.calls):
                await anyio.sleep(source.uniform(0, 0.3))
                if turn % SEARCH_EVERY == 0:
                    await self._search(session)
                kind = source.choices(list(MIX), list(MIX.values()))[0]
                await self._call(session, kind, source.choice(SERVERS), f"{number}/{turn}")

    async def _call(self, session: ClientSession, kind: str, server: str, word: str) -> None:
        """One call: ends in what the tool says, or in a code; everything else is wrong."""
        leaf, params, expected = f"{server}_{kind}", dict[str, Any](), "done"
        if kind in ("echo", "noise"):
            params, expected = {"word": word}, word
        elif kind == "wait":
            params = {"seconds": 0.3}
        elif kind == "task":
            expected = f"task_v{self._generation(server)}"
            leaf = f"{server}_{expected}"
        arguments = {"tool_name": f"mcp__{server}__{leaf}", "params": params}
        try:
            with anyio.fail_after(PATIENCE):
                result = await session.call_tool("ExecuteExtraTool", arguments)
        except Exception as error:
            self.tally.wrong.append(f"{word} {kind} of {server}: {type(error).__name__}: {error}")
            self.tally.outcomes[kind, "lost"] += 1
            return
        code = (result.meta or {}).get(CODE_KEY) if result.is_error else "ok"
        self.tally.outcomes[kind, str(code)] += 1
        if result.is_error and code not in CODES:
            self.tally.wrong.append(f"{word} {kind} of {server}: code {code}: {text(result)}")
        if not result.is_error and text(result) != expected:
            self.tally.wrong.append(f"{word} {kind} of {server}: {text(result)!r} in place of {expected!r}")

    async def _search(self, session: ClientSession) -> None:
        try:
            with anyio.fail_after(PATIENCE):
                found = await session.call_tool("SearchExtraTools", {"query": "say a word back"})
        except Exception as error:
            self.tally.wrong.append(f"search: {type(error).__name__}: {error}")
            return
        answer = (found.meta or {})[ANSWER_KEY]
        for key in ("failed_servers", "pending_servers"):
            self.tally.reported.update(answer[key])
        if found.is_error or not {*answer["failed_servers"], *answer["pending_servers"]} <= set(SERVERS):
            self.tally.wrong.append(f"search: {text(found)}")

    async def _all_are_back(self) -> None:
        """Each server answers again, with the tools that it has now, and a search names none as away."""
        async with client(self.gateway) as session:
            for name in SERVERS:
                with anyio.fail_after(60):
                    # A rename of which nothing was said is found when a call of the old name is refused.
                    while await self._renamed_tool(session, name) != f"task_v{self._generation(name)}":
                        await anyio.sleep(0.05)
            found = await session.call_tool("SearchExtraTools", {"query": "say a word back"})
            answer = (found.meta or {})[ANSWER_KEY]
            assert (answer["failed_servers"], answer["pending_servers"]) == ([], [])

    async def _renamed_tool(self, session: ClientSession, server: str) -> str:
        """Call the tool of a server that changes its name by the name that the catalog has for it; its answer."""
        snapshot = self.hub.registry.snapshot()
        [name] = [tool.name for tool in snapshot.deferred if tool.server == server and "_task_v" in tool.leaf]
        return text(await session.call_tool("ExecuteExtraTool", {"tool_name": name, "params": {}}))

    def _generation(self, server: str) -> int:
        return int(json.loads(self.states[server].read_text(encoding="utf-8"))["generation"])


def test_two_thousand_calls_over_servers_that_live_badly(tmp_path: Path) -> None:
    """Every call ends in a right result or a code; each server comes back; no process and no file handle is left."""
    before = handles()
    soak = Soak(tmp_path, seed=1)
    anyio.run(soak.run)
    tally = soak.tally
    assert tally.wrong == []
    assert tally.calls == CLIENTS * CALLS
    assert processes(soak.mark) == {}
    assert handles() == before
    # The run was as bad as it was meant to be, and the gateway of use all the same.
    assert len(tally.killed) >= 20
    assert tally.reported
    assert {code for _, code in tally.outcomes} == {"ok", *CODES}
    assert sum(count for (_, code), count in tally.outcomes.items() if code == "ok") > tally.calls * 0.4


@pytest.mark.parametrize("end", ["closed", signal.SIGTERM, signal.SIGINT])
def test_the_command_leaves_no_server_behind(tmp_path: Path, end: str | signal.Signals) -> None:
    """`serve` ends with its client's input, or by a signal, and every process that came of it is gone, hung ones too."""
    names = SERVERS[:3]
    for name in names:
        (tmp_path / f"{name}.json").write_text('{"starts": 0, "generation": 1}', encoding="utf-8")
    servers = {
        name: {"command": sys.executable, "args": [str(SERVER), name, str(tmp_path / f"{name}.json")]} for name in names
    }
    configuration = tmp_path / "servers.json"
    configuration.write_text(
        json.dumps({"mcpServers": {name: {**row, "env": {MARK: str(tmp_path)}} for name, row in servers.items()}}),
        encoding="utf-8",
    )

    async def talk() -> None:
        arguments = ["-m", "toolsearch_eval.cli.main", "serve", "--mcp-config", str(configuration), "--yes"]
        environ = {**os.environ, MARK: str(tmp_path)}
        parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environ)
        with open(os.devnull, "w") as silent:
            async with (
                stdio_client(parameters, errlog=silent) as (reading, writing),
                ClientSession(reading, writing) as one,
            ):
                await one.initialize()
                with anyio.fail_after(60):
                    while not all([await _answers(one, name) for name in names]):
                        await anyio.sleep(0.1)
                # A server each and the process that it leaves behind, and the command.
                assert len(processes(str(tmp_path))) == 2 * len(names) + 1
                with anyio.move_on_after(0.5):
                    await one.call_tool("ExecuteExtraTool", {"tool_name": "mcp__s0__s0_hang", "params": {}})
                if isinstance(end, signal.Signals):
                    [command] = [pid for pid, words in processes(str(tmp_path)).items() if "serve" in words]
                    os.kill(command, end)
                    with anyio.fail_after(20):
                        while processes(str(tmp_path)):
                            await anyio.sleep(0.05)

    anyio.run(talk)
    deadline = time.monotonic() + 10
    while processes(str(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes(str(tmp_path)) == {}


async def _answers(session: ClientSession, name: str) -> bool:
    arguments = {"tool_name": f"mcp__{name}__{name}_echo", "params": {"word": "here"}}
    return text(await session.call_tool("ExecuteExtraTool", arguments)) == "here"
