"""The gateway before real processes: what passes through it, what is kept apart, what is survived."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import ClientSession, MCPError
from mcp.shared.memory import create_client_server_memory_streams
from mcp_types import CallToolResult, TextContent, ToolListChangedNotification

from toolsearch.mcp.backoff import Backoff
from toolsearch.mcp.gateway import ANSWER_KEY, CODE_KEY, Gateway
from toolsearch.mcp.hub import Hub
from toolsearch.mcp.link import connector
from toolsearch.mcp.server_entry import ServerEntry
from toolsearch.mcp.upstream import Patience
from toolsearch.session.settings import SessionSettings

SERVER = Path(__file__).parent / "servers" / "fault_server.py"
QUICK = Patience(ping=0.3, quiet=0.01, backoff=Backoff(first=0.05, longest=0.2))


@asynccontextmanager
async def _gateway(
    *names: str,
    state: Path | None = None,
    pins: Sequence[str] = (),
    settings: SessionSettings | None = None,
    wait: bool = True,
) -> AsyncGenerator[Gateway]:
    entries = {
        name: ServerEntry(name=name, command=sys.executable, args=(str(SERVER), name, *([str(state)] if state else [])))
        for name in names
    }
    hub = Hub(
        {name: connector(entry, start_timeout=20, grace=0.3) for name, entry in entries.items()},
        pins=pins,
        patience=QUICK,
    )
    gateway = Gateway(hub, settings=settings)
    async with gateway.running():
        if wait:
            assert await hub.settled(20)
        yield gateway


@asynccontextmanager
async def _client(gateway: Gateway, heard: list[Any] | None = None) -> AsyncGenerator[ClientSession]:
    async def hear(message: Any) -> None:
        if heard is not None:
            heard.append(message)

    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as tasks:
        tasks.start_soon(gateway.serve, *theirs)
        async with ClientSession(*ours, message_handler=hear) as session:
            await session.initialize()
            yield session
        tasks.cancel_scope.cancel()


async def _run(session: ClientSession, name: str, **params: Any) -> CallToolResult:
    return await session.call_tool("ExecuteExtraTool", {"tool_name": name, "params": params})


def _text(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


async def _until(session: ClientSession, name: str, **params: Any) -> CallToolResult:
    """Call until it works: what a server needs to come back is not a matter of time here."""
    with anyio.fail_after(20):
        while (result := await _run(session, name, **params)).is_error:
            await anyio.sleep(0.02)
    return result


def test_a_tool_behind_the_gateway_is_found_and_run() -> None:
    """A client sees search and proxy alone, finds a server's tool with its parameters, and runs it."""

    async def main() -> None:
        async with _gateway("alpha") as gateway, _client(gateway) as session:
            listed = await session.list_tools()
            assert [tool.name for tool in listed.tools] == ["SearchExtraTools", "ExecuteExtraTool"]
            found = await session.call_tool("SearchExtraTools", {"query": "say a word back"})
            assert "mcp__alpha__alpha_echo" in _text(found)
            assert found.meta is not None
            assert found.meta[ANSWER_KEY]["results"][0]["name"] == "mcp__alpha__alpha_echo"
            assert _text(await _run(session, "mcp__alpha__alpha_echo", word="hello")) == "alpha: hello"

    anyio.run(main)


def test_results_of_every_kind_pass_unchanged() -> None:
    """Every content type, structured content with nulls, meta data and fields of no known kind arrive as they were sent."""

    async def main() -> None:
        async with _gateway("alpha") as gateway, _client(gateway) as session:
            result = await _run(session, "mcp__alpha__alpha_content")
            assert [block.type for block in result.content] == ["text", "image", "audio", "resource_link", "resource"]
            assert result.structured_content == {"n": 1, "nothing": None}
            assert result.meta == {"a": 1}
            failed = await _run(session, "mcp__alpha__alpha_fail")
            assert (failed.is_error, _text(failed)) == (True, "it did not work")

    anyio.run(main)


def test_an_error_of_a_server_passes_for_a_pinned_tool_and_is_coded_behind_the_proxy() -> None:
    """A protocol error reaches the caller of a pinned tool with code and data; through the proxy it is a coded answer."""

    async def main() -> None:
        pin = "mcp__alpha__alpha_refuse"
        async with _gateway("alpha", pins=[pin]) as gateway, _client(gateway) as session:
            assert pin in [tool.name for tool in (await session.list_tools()).tools]
            with pytest.raises(MCPError, match="not today") as caught:
                await session.call_tool(pin, {})
            assert (caught.value.error.code, caught.value.error.data) == (-32000, {"why": "rain"})
            nonsense = await _run(session, "mcp__alpha__alpha_nonsense")
            assert nonsense.is_error
            assert nonsense.meta == {CODE_KEY: "tool_error"}

    anyio.run(main)


def test_progress_and_meta_data_pass() -> None:
    """A server's progress reaches the client that asked for it, in order, and the client's meta data reaches the server."""

    async def main() -> None:
        steps: list[tuple[float, float | None]] = []

        async def progress(done: float, total: float | None, _message: str | None) -> None:
            steps.append((done, total))

        async with _gateway("alpha") as gateway, _client(gateway) as session:
            result = await cast(Any, session).call_tool(
                "ExecuteExtraTool",
                {"tool_name": "mcp__alpha__alpha_count", "params": {}},
                progress_callback=progress,
                meta={"trace": "t1"},
            )
            assert _text(result) == 'meta "t1"'
            assert sorted(steps) == [(1, 3), (2, 3), (3, 3)]

    anyio.run(main)


def test_cancellation_passes(tmp_path: Path) -> None:
    """A call that the client gives up is cancelled at the server."""

    async def main() -> None:
        state = tmp_path / "state"
        async with _gateway("alpha", state=state) as gateway, _client(gateway) as session:
            with anyio.move_on_after(0.3):
                await _run(session, "mcp__alpha__alpha_slow")
            with anyio.fail_after(20):
                while not state.exists() or state.read_text() != "cancelled_tool":
                    await anyio.sleep(0.02)

    anyio.run(main)


@pytest.mark.parametrize("fault", ["crash", "hang"])
def test_a_server_that_fails_is_survived(fault: str) -> None:
    """A crash or a hang costs its own call, with a code; another server answers meanwhile, and the server comes back."""

    async def main() -> None:
        settings = SessionSettings(call_timeout=0.4)
        async with _gateway("alpha", "beta", settings=settings) as gateway, _client(gateway) as session:
            lost = await _run(session, f"mcp__alpha__alpha_{fault}")
            assert lost.is_error
            assert lost.meta == {CODE_KEY: "timeout" if fault == "hang" else "tool_error"}
            assert _text(await _run(session, "mcp__beta__beta_echo", word="still")) == "beta: still"
            assert _text(await _until(session, "mcp__alpha__alpha_echo", word="again")) == "alpha: again"

    anyio.run(main)


def test_noise_on_the_output_is_survived() -> None:
    """Lines that are no messages cost nothing: the answer after them arrives."""

    async def main() -> None:
        async with _gateway("alpha") as gateway, _client(gateway) as session:
            assert _text(await _run(session, "mcp__alpha__alpha_noise")) == "after the noise"

    anyio.run(main)


def test_a_server_that_does_not_start_is_reported_and_comes_later(tmp_path: Path) -> None:
    """A search names the failed server; once it can start, its tools are there without anybody's doing."""

    async def main() -> None:
        state = tmp_path / "state"
        state.write_text("down")
        async with _gateway("alpha", state=state) as gateway, _client(gateway) as session:
            found = await session.call_tool("SearchExtraTools", {"query": "say a word back"})
            assert found.meta is not None
            assert found.meta[ANSWER_KEY]["failed_servers"] == ["alpha"]
            assert "alpha" in _text(found)
            state.write_text("")
            assert _text(await _until(session, "mcp__alpha__alpha_echo", word="late")) == "alpha: late"

    anyio.run(main)


def test_changed_tools_are_taken_over_and_a_pinned_one_is_told(tmp_path: Path) -> None:
    """After a server's list_changed its new tool is found; a client is told only since its own list has changed."""

    async def main() -> None:
        heard: list[Any] = []
        pin = "mcp__alpha__renamed_tool"
        async with (
            _gateway("alpha", state=tmp_path / "state", pins=[pin]) as gateway,
            _client(gateway, heard) as session,
        ):
            before = [tool.name for tool in (await session.list_tools()).tools]
            assert pin not in before
            await _run(session, "mcp__alpha__alpha_change")
            with anyio.fail_after(20):
                while not any(isinstance(message, ToolListChangedNotification) for message in heard):
                    await anyio.sleep(0.02)
            assert [tool.name for tool in (await session.list_tools()).tools] == [pin, *before]
            assert _text(await session.call_tool(pin, {})) == "called renamed_tool"

    anyio.run(main)


def test_fifty_clients_have_a_state_each() -> None:
    """What one of fifty clients has discovered counts for it alone: each other one is shown the parameters first."""

    async def main() -> None:
        settings = SessionSettings(require_discovery=True)
        codes: dict[int, tuple[bool, bool]] = {}

        async def one(gateway: Gateway, number: int) -> None:
            async with _client(gateway) as session:
                if number % 2:
                    await session.call_tool("SearchExtraTools", {"query": "select:mcp__alpha__alpha_echo"})
                first = await _run(session, "mcp__alpha__alpha_echo", word=str(number))
                second = await _run(session, "mcp__alpha__alpha_echo", word=str(number))
                assert _text(second) == f"alpha: {number}"
                codes[number] = (first.is_error, second.is_error)

        async with _gateway("alpha", settings=settings) as gateway:
            async with anyio.create_task_group() as tasks:
                for number in range(50):
                    tasks.start_soon(one, gateway, number)
            assert gateway.clients == 0
        assert codes == {number: (number % 2 == 0, False) for number in range(50)}

    anyio.run(main)
