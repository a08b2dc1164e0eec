"""Clients of one gateway: what one does, another does not see."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
from mcp import ClientSession
from mcp.shared.memory import create_client_server_memory_streams
from mcp_types import CallToolResult, TextContent

from toolsearch.mcp.gateway import CODE_KEY, Gateway
from toolsearch.mcp.hub import Hub
from toolsearch.mcp.link import connector
from toolsearch.mcp.server_entry import ServerEntry
from toolsearch.mcp.upstream import Patience
from toolsearch.session.settings import SessionSettings

SERVER = Path(__file__).parent / "servers" / "moody_server.py"
TOOLS = ("plain", "other", "count", "forget")


@asynccontextmanager
async def _gateway(folder: Path) -> AsyncGenerator[Gateway]:
    state = folder / "state.json"
    state.write_text(json.dumps({"start": "ok", "tools": TOOLS}), encoding="utf-8")
    entry = ServerEntry(name="moody", command=sys.executable, args=(str(SERVER), str(state)))
    hub = Hub({"moody": connector(entry, start_timeout=20, grace=0.2)}, patience=Patience(call=1.0))
    gateway = Gateway(hub, settings=SessionSettings(require_discovery=True))
    async with gateway.running():
        assert await hub.settled(20)
        yield gateway


@asynccontextmanager
async def _client(gateway: Gateway, heard: list[Any]) -> AsyncGenerator[ClientSession]:
    async def hear(message: Any) -> None:
        heard.append(message)

    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as tasks:
        tasks.start_soon(gateway.serve, *theirs)
        async with ClientSession(*ours, message_handler=hear) as session:
            await session.initialize()
            yield session
        tasks.cancel_scope.cancel()


async def _run(session: ClientSession, leaf: str, **params: Any) -> CallToolResult:
    return await session.call_tool("ExecuteExtraTool", {"tool_name": f"mcp__moody__{leaf}", "params": params})


async def _knows(session: ClientSession, *leaves: str) -> None:
    await session.call_tool(
        "SearchExtraTools", {"query": "select:" + ",".join(f"mcp__moody__{leaf}" for leaf in leaves)}
    )


def _text(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


async def _script(session: ClientSession) -> list[str]:
    """A conversation of some turns, as it went on the wire."""
    said = [(await session.list_tools()).model_dump_json()]
    for query in ("moody tool", "plain", "select:mcp__moody__other", "nothing like this"):
        said.append((await session.call_tool("SearchExtraTools", {"query": query})).model_dump_json())
        said += [(await _run(session, leaf, word=query)).model_dump_json() for leaf in ("plain", "other", "gone")]
    said.append((await _run(session, "count")).model_dump_json())
    return said


def test_a_conversation_is_the_same_whatever_another_client_does(tmp_path: Path) -> None:
    """All answers to one client are equal to the last sign whether it is alone or another searches, runs and gives up."""

    async def main() -> None:
        async with _gateway(tmp_path) as gateway:
            heard: list[Any] = []
            async with _client(gateway, heard) as session:
                alone = await _script(session)
            others: list[Any] = []

            async def disturb() -> None:
                async with _client(gateway, others) as other:
                    await _knows(other, *TOOLS)
                    for number in range(1000):
                        with anyio.move_on_after(0.05):
                            await _run(other, ("plain", "other", "forget")[number % 3], word=f"secret {number}")
                        await other.call_tool("SearchExtraTools", {"query": f"secret {number}"})

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(disturb)
                await anyio.sleep(0.1)
                async with _client(gateway, heard) as session:
                    together = await _script(session)
                tasks.cancel_scope.cancel()
            assert together == alone
            assert heard == []

    anyio.run(main)


def test_requests_of_the_same_number_are_kept_apart(tmp_path: Path) -> None:
    """Two clients number their requests alike: progress and a cancellation reach the one whose request it is."""

    async def main() -> None:
        steps: dict[str, list[float]] = {"one": [], "two": []}
        ends: dict[str, object] = {}

        async def counting(name: str, session: ClientSession, leaf: str) -> None:
            async def progress(done: float, _total: float | None, _message: str | None) -> None:
                steps[name].append(done)

            arguments = {"tool_name": f"mcp__moody__{leaf}", "params": {}}
            result = await cast(Any, session).call_tool("ExecuteExtraTool", arguments, progress_callback=progress)
            ends[name] = (result.meta or {}).get(CODE_KEY) or _text(result)

        async with _gateway(tmp_path) as gateway, _client(gateway, []) as one, _client(gateway, []) as two:
            for session in (one, two):
                await _knows(session, *TOOLS)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(counting, "one", one, "count")
                tasks.start_soon(counting, "two", two, "plain")
            assert ends == {"one": "count", "two": "plain"}
            assert (sorted(steps["one"]), steps["two"]) == ([1, 2, 3, 4, 5], [])
            # Both wait now by requests of one number; the one gives up, the other's goes on to the gateway's limit.
            ends.clear()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(counting, "two", two, "forget")
                with anyio.move_on_after(0.2):
                    await _run(one, "forget")
                assert _text(await _run(one, "plain")) == "plain"
            assert ends == {"two": "timeout"}

    anyio.run(main)
