"""One server behind the gateway, with a connection, a clock and waiting times that the test makes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import pytest
from mcp import ClientSession
from mcp_types import ListToolsRequest

from toolsearch.errors import ServerError
from toolsearch.mcp.backoff import Backoff
from toolsearch.mcp.link import Heard, Link
from toolsearch.mcp.relay import RawResult
from toolsearch.mcp.server_tools import Listed
from toolsearch.mcp.upstream import Patience, Upstream
from toolsearch.mcp.upstream_call import Lost
from toolsearch.tools.servers import ServerState

STARTS = Backoff(first=1, factor=2, longest=8, spread=0, steady=30)


class Enough(BaseException):
    """Ends a run: the server has been waited for as often as the test wants."""


class Session:
    """Answers the list of tools, or nothing."""

    def __init__(self, answers: bool) -> None:
        """Say whether the list is answered."""
        self.answers = answers

    async def send_request(self, request: Any, _kind: Any, **_options: Any) -> RawResult:
        """The list, or nothing ever."""
        if isinstance(request, ListToolsRequest) and self.answers:
            return RawResult.model_validate({"tools": [{"name": "one", "inputSchema": {"type": "object"}}]})
        await anyio.sleep_forever()
        raise AssertionError("not reached")


class Scene:
    """The world of one upstream: each connection lasts as many seconds as the plan says, -1 for one that fails."""

    def __init__(self, *plan: float) -> None:
        """Take the plan; after it the run ends."""
        self.plan = list(plan)
        self.now = 0.0
        self.waits: list[float] = []
        self.states: list[tuple[ServerState, str]] = []
        self.lists: list[Listed] = []

    @asynccontextmanager
    async def connect(self, heard: Heard) -> AsyncGenerator[Link]:
        """A connection that ends as planned."""
        lasts = self.plan.pop(0)
        if lasts < 0:
            raise ServerError("it", "can't be started")
        link = Link(cast(ClientSession, Session(True)))
        async with anyio.create_task_group() as tasks:

            async def end() -> None:
                while not self.states or self.states[-1][0] != "connected":
                    await anyio.lowlevel.checkpoint()
                self.now += lasts
                link.reason = "ended"
                link.closed.set()

            tasks.start_soon(end)
            yield link

    async def sleep(self, seconds: float) -> None:
        """Wait without waiting."""
        self.waits.append(seconds)
        self.now += seconds
        if not self.plan:
            raise Enough

    def stands(self, _server: str, state: ServerState, reason: str) -> None:
        """Take a state."""
        self.states.append((state, reason))

    def has(self, _server: str, listed: Listed) -> None:
        """Take a list."""
        self.lists.append(listed)

    def run(self) -> None:
        """Run the upstream to the end of the plan."""
        upstream = Upstream(
            "it",
            self.connect,
            self,
            patience=Patience(backoff=STARTS),
            clock=lambda: self.now,
            chance=lambda: 0.0,
            sleep=self.sleep,
        )
        with pytest.raises(Enough):
            anyio.run(upstream.run)


def test_each_failure_in_a_row_is_waited_for_longer() -> None:
    """Waiting times double up to the longest, whether a server doesn't start or ends soon after it has."""
    scene = Scene(-1, -1, 5, -1, 29, -1)
    scene.run()
    assert scene.waits == [1, 2, 4, 8, 8, 8]


def test_a_connection_that_was_steady_begins_the_waiting_times_anew() -> None:
    """After a connection of thirty seconds the next failure is a first one."""
    scene = Scene(-1, -1, -1, 30, -1, 31)
    scene.run()
    assert scene.waits == [1, 2, 4, 1, 2, 1]


def test_what_happened_is_told_once_in_order() -> None:
    """States follow what happens, with the reason; the same one twice in a row is told once."""
    scene = Scene(-1, -1, 1)
    scene.run()
    assert scene.states == [
        ("pending", ""),
        ("failed", "can't be started"),
        ("connected", ""),
        ("disconnected", "ended"),
    ]
    assert [[tool.name for tool in listed.tools] for listed in scene.lists] == [["mcp__it__one"]]


def test_servers_that_died_together_come_back_apart() -> None:
    """Two upstreams without a source of chance of their own wait for different times after the same failures."""
    spread = Patience(backoff=Backoff(first=1, spread=0.5))
    waits = []
    for name in ("one", "two"):
        scene = Scene(-1, -1, -1)
        upstream = Upstream(name, scene.connect, scene, patience=spread, sleep=scene.sleep)
        with pytest.raises(Enough):
            anyio.run(upstream.run)
        assert all(low / 2 <= wait <= low for wait, low in zip(scene.waits, (1, 2, 4), strict=True))
        waits.append(scene.waits)
    assert waits[0] != waits[1]


def test_a_server_that_is_not_connected_is_not_waited_for() -> None:
    """A call while there is no connection ends at once and says so."""
    scene = Scene(-1)
    upstream = Upstream("it", scene.connect, scene)

    async def main() -> None:
        with anyio.fail_after(5), pytest.raises(Lost, match="is not connected now"):
            await upstream.call("one", {}, None)

    anyio.run(main)


def test_a_list_that_never_comes_is_a_failure() -> None:
    """A server that shakes hands and then never lists its tools is told as failed after the time for it."""
    states: list[tuple[ServerState, str]] = []

    class Watcher(Scene):
        def stands(self, _server: str, state: ServerState, reason: str) -> None:
            states.append((state, reason))

    @asynccontextmanager
    async def connect(heard: Heard) -> AsyncGenerator[Link]:
        yield Link(cast(ClientSession, Session(False)))

    scene = Watcher()
    upstream = Upstream("it", connect, scene, patience=Patience(listing=0.05), sleep=scene.sleep)
    with pytest.raises(Enough):
        anyio.run(upstream.run)
    assert states[-1] == ("failed", "gave no list of tools within 0.05 seconds")
