"""A server over HTTP behind the gateway that goes away and comes back."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any

import anyio
import anyio.to_thread
import uvicorn
from mcp import ClientSession
from mcp.server.mcpserver import MCPServer
from mcp.shared.memory import create_client_server_memory_streams
from mcp_types import CallToolResult, TextContent

from toolsearch.mcp.backoff import Backoff
from toolsearch.mcp.configuration import entry_from_address
from toolsearch.mcp.gateway import ANSWER_KEY, CODE_KEY, Gateway
from toolsearch.mcp.hub import Hub
from toolsearch.mcp.link import connector
from toolsearch.mcp.upstream import Patience

QUICK = Patience(ping=1.0, quiet=0.01, call=5.0, backoff=Backoff(first=0.05, longest=0.2))


@contextmanager
def _served(port: int = 0) -> Iterator[int]:
    """A server of the official library on loopback; its port."""
    server = MCPServer("far")

    @server.tool()
    def count_sheep(meadow: str) -> str:
        """Count the sheep of a meadow."""
        return f"sheep of {meadow}"

    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen()
        config = uvicorn.Config(server.streamable_http_app(), log_level="critical", timeout_graceful_shutdown=1)
        web = uvicorn.Server(config)
        thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]})
        thread.start()
        while not web.started:
            time.sleep(0.01)
        try:
            yield int(listening.getsockname()[1])
        finally:
            web.should_exit = True
            thread.join()


def test_a_server_over_http_that_goes_away_is_told_and_comes_back() -> None:
    """A call to a server that has gone ends in a code, searches name it as away, and it is connected again by itself."""

    async def main() -> None:
        with ExitStack() as first:
            port = first.enter_context(_served())
            entry = entry_from_address(f"http://127.0.0.1:{port}/mcp", name="far", headers={})
            hub = Hub({"far": connector(entry, start_timeout=10)}, patience=QUICK)
            gateway = Gateway(hub)
            async with gateway.running(), _client(gateway) as session:
                assert await hub.settled(20)
                assert _text(await _count(session)) == "sheep of here"
                await anyio.to_thread.run_sync(first.close)
                assert ((await _count(session)).meta or {}).get(CODE_KEY) in ("tool_error", "unavailable")
                with anyio.fail_after(60):
                    while await _away(session) != ["far"]:
                        await anyio.sleep(0.02)
                with _served(port), anyio.fail_after(60):
                    while _text(await _count(session)) != "sheep of here":
                        await anyio.sleep(0.02)
                    assert await _away(session) == []

    anyio.run(main)


@asynccontextmanager
async def _client(gateway: Gateway) -> AsyncGenerator[ClientSession]:
    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as tasks:
        tasks.start_soon(gateway.serve, *theirs)
        async with ClientSession(*ours) as session:
            await session.initialize()
            yield session
        tasks.cancel_scope.cancel()


async def _count(session: ClientSession) -> CallToolResult:
    arguments: dict[str, Any] = {"tool_name": "mcp__far__count_sheep", "params": {"meadow": "here"}}
    with anyio.fail_after(60):
        return await session.call_tool("ExecuteExtraTool", arguments)


async def _away(session: ClientSession) -> list[str]:
    found = await session.call_tool("SearchExtraTools", {"query": "count sheep"})
    return list((found.meta or {})[ANSWER_KEY]["failed_servers"])


def _text(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))
