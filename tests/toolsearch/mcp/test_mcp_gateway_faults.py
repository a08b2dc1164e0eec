"""Each fault of a server, before real processes: survived, told in answers, connected again, and nothing secret told."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import ClientSession, MCPError
from mcp.shared.memory import create_client_server_memory_streams
from mcp_types import CallToolResult, TextContent

from toolsearch.mcp.backoff import Backoff
from toolsearch.mcp.gateway import ANSWER_KEY, CODE_KEY, Gateway
from toolsearch.mcp.hub import Hub
from toolsearch.mcp.link import connector
from toolsearch.mcp.server_entry import ServerEntry
from toolsearch.mcp.stderr_tail import StderrTail
from toolsearch.mcp.upstream import Patience

SERVER = Path(__file__).parent / "servers" / "moody_server.py"
QUICK = Patience(ping=0.3, quiet=0.01, call=0.4, backoff=Backoff(first=0.02, longest=0.05))
KEY = "kk-90ab12cd34ef56gh"


class Stage:
    """A gateway before two servers, `moody` and `calm`, and one client of it."""

    def __init__(
        self, folder: Path, tools: Sequence[str], start: str, pins: Sequence[str], limit: float | None
    ) -> None:
        """Write the servers' files."""
        self.path = folder / "moody.json"
        calm = folder / "calm.json"
        self.told: list[str] = []
        self.tail = StderrTail()
        self.say(start, *tools)
        calm.write_text(json.dumps({"start": "ok", "tools": ["steady"]}), encoding="utf-8")
        servers = {}
        for name, path in (("moody", self.path), ("calm", calm)):
            entry = ServerEntry(
                name=name,
                command=sys.executable,
                args=(str(SERVER), str(path)),
                env={"API_KEY": KEY} if name == "moody" else {},
                timeout=limit if name == "moody" else None,
            )
            tail = StderrTail(entry.redactor(), lines=200)
            if name == "moody":
                self.tail = tail
            servers[name] = connector(entry, start_timeout=20, grace=0.2, tail=tail, max_message=50_000)
        self.hub = Hub(servers, pins=pins, patience=QUICK, report=self.told.append)
        self.gateway = Gateway(self.hub)
        self.session: ClientSession = cast(ClientSession, None)

    def say(self, start: str, *tools: str) -> None:
        """Tell the moody server how it starts, and which tools it has."""
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps({"start": start, "tools": tools}), encoding="utf-8")
        fresh.replace(self.path)

    async def run(self, leaf: str, **params: Any) -> CallToolResult:
        """Run one of the moody server's tools through the proxy."""
        arguments = {"tool_name": f"mcp__moody__{leaf}", "params": params}
        with anyio.fail_after(60):
            return await self.session.call_tool("ExecuteExtraTool", arguments)

    async def code(self, leaf: str) -> object:
        """The code with which a call fails; None for one that works."""
        return ((await self.run(leaf)).meta or {}).get(CODE_KEY)

    async def search(self, query: str = "moody tool") -> dict[str, Any]:
        """The answer of a search, as data."""
        found = await self.session.call_tool("SearchExtraTools", {"query": query})
        return dict((found.meta or {})[ANSWER_KEY], text=text(found))

    async def searched(self, good: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Search until the answer is good: how long a process takes to come or go is not a matter of the test."""
        with anyio.fail_after(60):
            while not good(answer := await self.search()):
                await anyio.sleep(0.02)
        return answer

    async def hears(self, line: str) -> None:
        """Wait until the operator was told this."""
        with anyio.fail_after(60):
            while not any(line in told for told in self.told):
                await anyio.sleep(0.02)

    async def works(self, leaf: str) -> None:
        """Call a tool until it says its name."""
        with anyio.fail_after(60):
            while text(await self.run(leaf)) != leaf:
                await anyio.sleep(0.02)

    async def others_work(self) -> None:
        """The other server answers as ever."""
        arguments = {"tool_name": "mcp__calm__steady", "params": {}}
        assert text(await self.session.call_tool("ExecuteExtraTool", arguments)) == "steady"


@asynccontextmanager
async def stage(
    folder: Path, *tools: str, start: str = "ok", pins: Sequence[str] = (), limit: float | None = None
) -> AsyncGenerator[Stage]:
    """The stage with everything running."""
    found = Stage(folder, tools, start, pins, limit)
    async with found.gateway.running(), create_client_server_memory_streams() as (ours, theirs):
        await found.hub.settled(0.2 if start == "wait" else 20)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(found.gateway.serve, *theirs)
            async with ClientSession(*ours) as found.session:
                await found.session.initialize()
                yield found
            tasks.cancel_scope.cancel()


def text(result: CallToolResult) -> str:
    """The words of a result."""
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


def is_away(answer: dict[str, Any]) -> bool:
    """Whether a search names the moody server as gone."""
    return bool(answer["failed_servers"] == ["moody"])


def is_back(answer: dict[str, Any]) -> bool:
    """Whether a search names no server as away and finds the moody one's tools."""
    names = {result["name"] for result in answer["results"]}
    return not answer["failed_servers"] and not answer["pending_servers"] and "mcp__moody__plain" in names


@pytest.mark.parametrize(
    ("fault", "code", "reason"),
    [
        ("crash", "tool_error", "ended with exit code 3"),
        ("hang", "timeout", "hangs: no sign of life within 0.3 seconds"),
        ("deaf", "tool_error", "closed its output"),
        ("endless", "tool_error", "sent a message of more than"),
    ],
)
def test_a_server_that_fails_costs_one_coded_call_is_told_and_comes_back(
    tmp_path: Path, fault: str, code: str, reason: str
) -> None:
    """The call ends in a code, searches name the server and why while it is away, others work on, and it comes back."""

    async def main() -> None:
        # A hang is found by the limit of a call; the others have to show themselves before any limit.
        async with stage(tmp_path, fault, "plain", limit=None if fault == "hang" else 60) as it:
            it.say("down", fault, "plain")
            assert await it.code(fault) == code
            await it.searched(is_away)
            await it.hears("server moody: failed: ended with exit code 7 before it answered")
            assert "Failed to connect: moody (ended with exit code 7" in (await it.search("unheard"))["text"]
            assert await it.code("plain") == "unavailable"
            await it.others_work()
            it.say("ok", fault, "plain")
            await it.searched(is_back)
            await it.works("plain")
            assert any(line.startswith(f"server moody: disconnected: {reason}") for line in it.told)

    anyio.run(main)


def test_a_slow_start_is_told_as_pending_and_ends_in_tools(tmp_path: Path) -> None:
    """While a server starts, searches name it as connecting and its tools as unknown; then its tools are there."""

    async def main() -> None:
        async with stage(tmp_path, "plain", start="wait") as it:
            await it.hears("server calm: connected")
            answer = await it.search()
            assert (answer["pending_servers"], answer["failed_servers"]) == (["moody"], [])
            assert "Still connecting: moody." in (await it.search("unheard"))["text"]
            assert await it.code("plain") == "unknown_tool"
            await it.others_work()
            it.say("ok", "plain")
            await it.searched(is_back)
            await it.works("plain")

    anyio.run(main)


@pytest.mark.parametrize("start", ["noise", "down"])
def test_a_bad_start_is_survived(tmp_path: Path, start: str) -> None:
    """Garbage before the handshake costs nothing; a start that fails is tried again until it works."""

    async def main() -> None:
        async with stage(tmp_path, "plain", start=start) as it:
            if start == "down":
                await it.searched(is_away)
                it.say("ok", "plain")
            await it.searched(is_back)
            await it.works("plain")
            assert it.tail.noise == (4 if start == "noise" else 0)

    anyio.run(main)


@pytest.mark.parametrize("start", ["refuse", "nonsense"])
def test_a_list_that_can_not_be_had_is_told(tmp_path: Path, start: str) -> None:
    """A server that refuses its list, or sends something else, is away with the reason, and comes back with a good one."""

    async def main() -> None:
        async with stage(tmp_path, "plain", start=start) as it:
            await it.searched(is_away)
            reason = "answered with an error: no list for [redacted] (-32000)"
            reason = reason if start == "refuse" else "the answer doesn't keep to the protocol: tools.0: "
            await it.hears(f"server moody: failed: {reason}")
            it.say("ok", "plain")
            await it.searched(is_back)

    anyio.run(main)


@pytest.mark.parametrize("how", ["told", "refused", "restarted"])
def test_renamed_tools_are_taken_over(tmp_path: Path, how: str) -> None:
    """After a rename that is told, or shows itself by a refused call, or comes with a restart, only the new name is known."""

    async def main() -> None:
        async with stage(tmp_path, "tell", "crash", "plain", "older_name") as it:
            await it.works("older_name")
            it.say("ok", "tell", "crash", "plain", "newer_name")
            await it.run({"told": "tell", "refused": "older_name", "restarted": "crash"}[how])
            await it.works("newer_name")
            assert await it.code("older_name") == "unknown_tool"
            names = {result["name"] for result in (await it.search("newer older name"))["results"]}
            assert "mcp__moody__newer_name" in names
            assert "mcp__moody__older_name" not in names

    anyio.run(main)


def test_a_new_list_that_can_not_be_read_leaves_the_old_one(tmp_path: Path) -> None:
    """A server that works and then sends a list that is none keeps its tools; the operator is told."""

    async def main() -> None:
        async with stage(tmp_path, "tell", "plain") as it:
            it.say("nonsense", "tell", "plain")
            await it.run("tell")
            await it.hears("server moody: connected: its new list of tools can't be read")
            await it.works("plain")

    anyio.run(main)


@pytest.mark.parametrize("limit", [None, 0.15])
def test_no_call_waits_for_ever(tmp_path: Path, limit: float | None) -> None:
    """A call that is never answered ends by the gateway's limit, or by the one of the server's entry; the server stays."""

    async def main() -> None:
        async with stage(tmp_path, "forget", "plain", limit=limit) as it:
            given_up = await it.run("forget")
            assert given_up.meta == {CODE_KEY: "timeout"}
            assert f"longer than {limit or QUICK.call:g} seconds" in text(given_up)
            await it.works("plain")
            assert it.told.count("server moody: connected") == 1

    anyio.run(main)


def test_progress_keeps_a_long_call_alive(tmp_path: Path) -> None:
    """A call that takes longer than the limit is answered as long as it tells a client that asked how far it is."""

    async def main() -> None:
        steps: list[float] = []

        async def progress(done: float, _total: float | None, _message: str | None) -> None:
            steps.append(done)

        async with stage(tmp_path, "count") as it:
            result = await cast(Any, it.session).call_tool(
                "ExecuteExtraTool",
                {"tool_name": "mcp__moody__count", "params": {"word": "0.1"}},
                progress_callback=progress,
            )
            assert text(result) == "count 0.1"
            assert sorted(steps) == [1, 2, 3, 4, 5]
            assert (await it.run("count", word="0.1")).meta == {CODE_KEY: "timeout"}

    anyio.run(main)


def test_no_secret_of_a_server_is_told(tmp_path: Path) -> None:
    """A server that repeats its key everywhere gets it into no list, answer, error, state, report or error stream."""

    async def main() -> None:
        pin = "mcp__moody__leak_pinned"
        tools = ("leak", "leak_pinned", "leak_result", "plain", "crash")
        async with stage(tmp_path, *tools, start="noise", pins=[pin]) as it:
            seen = {"list": (await it.session.list_tools()).model_dump_json()}
            found = await it.session.call_tool("SearchExtraTools", {"query": "select:mcp__moody__plain"})
            seen["search"] = found.model_dump_json()
            seen["error by the proxy"] = (await it.run("leak")).model_dump_json()
            seen["failed result"] = (await it.run("leak_result")).model_dump_json()
            with pytest.raises(MCPError) as caught:
                await it.session.call_tool(pin, {})
            seen["error of a pinned tool"] = f"{caught.value!r} {caught.value.error!r}"
            seen["data of that error"] = str(caught.value.error.data)
            seen["catalog"] = repr([(tool, tool.input_schema) for tool in it.hub.registry.snapshot().tools])
            it.say("refuse", "plain", "crash")
            await it.run("crash")
            await it.hears("server moody: failed: answered with an error")
            seen["states"] = str(it.hub.table.statuses([]))
            seen["report"] = "\n".join(it.told)
            seen["error stream"] = it.tail.text()
            assert [place for place, words in seen.items() if KEY in words] == []
            # The key was there to be told: each place has the mask.
            assert [place for place, words in seen.items() if "[redacted]" not in words] == []

    anyio.run(main)
