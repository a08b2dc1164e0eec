"""What the gateway costs: a call through it beside a direct one, its start, its memory, its search.

The servers are processes of their own; client and gateway are in this process, joined by streams in memory. What a
second process between client and gateway would add is that of any server over stdio, and is not in the figures.

Between a direct call and one by the gateway lie one more connection of the protocol's library and the gateway's own
work. A bare relay, a server of the library that only passes the call on, has the first and not the second.
"""

from __future__ import annotations

import functools
import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from mcp import ClientSession
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_loop
from mcp.shared.memory import create_client_server_memory_streams
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

from toolsearch.catalog.tool import tool_id
from toolsearch.errors import ToolSearchError
from toolsearch.mcp.gateway import Gateway
from toolsearch.mcp.hub import Hub
from toolsearch.mcp.link import connector
from toolsearch.mcp.listing import list_all
from toolsearch.mcp.server_entry import ServerEntry
from toolsearch.mcp.transports import connect
from toolsearch_eval.bench.synthetic import synthetic_catalog, synthetic_queries
from toolsearch_eval.bench.timing import Case

START_LIMIT = 120.0
"""Seconds within which all servers must have started."""

WARM = 10
"""Calls of each kind before any is counted."""

_SCRIPT = Path(__file__).with_name("listed_server.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayBenchmark:
    """All measured lines, and the memory.

    Attributes:
        cases: In the order in which they were measured.
        megabytes: What the gateway holds more once all servers are connected and one search has run, by the
            interpreter's own count; the servers' processes aside.
    """

    cases: tuple[Case, ...]
    megabytes: float


def run_gateway_benchmark(servers: int = 20, tools: int = 1000, *, calls: int = 300, seed: int = 0) -> GatewayBenchmark:
    """Measure the gateway before servers that only hand back what they are given.

    Args:
        servers: How many, each >= 1.
        tools: How many of all servers together; at least as many as servers.
        calls: Counted calls of each kind, taken in turn; and searches.
        seed: Of the tools and queries.

    Raises:
        ToolSearchError: A server didn't start, or a call failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        entries, first, queries = _servers(Path(folder), servers, tools, calls, seed)
        plain = anyio.run(functools.partial(_measure, entries, first, queries, calls, tools))
        megabytes = anyio.run(functools.partial(_memory, entries, queries))
    return GatewayBenchmark(cases=tuple(plain), megabytes=megabytes)


def _servers(folder: Path, servers: int, tools: int, calls: int, seed: int) -> tuple[list[ServerEntry], str, list[str]]:
    """Entries of the servers with their tools in files, the first server's first tool, and queries."""
    catalog = synthetic_catalog(tools, seed=seed)
    entries = []
    rows: list[list[dict[str, Any]]] = [[] for _ in range(servers)]
    for number, tool in enumerate(catalog):
        # The number keeps names apart on one server: the synthetic ones are so only with their servers' names.
        schema = dict(tool.input_schema or {"type": "object"})
        # A call of the bench gives no arguments, so none may be required.
        schema.pop("required", None)
        row = {"name": f"{tool.leaf}_{number}", "description": tool.description, "inputSchema": schema}
        rows[number % servers].append(row)
    for number, listed in enumerate(rows):
        path = folder / f"{number}.json"
        path.write_text(json.dumps(listed, default=dict), encoding="utf-8")
        entries.append(ServerEntry(name=f"s{number:03}", command=sys.executable, args=(str(_SCRIPT), str(path))))
    return entries, str(rows[0][0]["name"]), list(synthetic_queries(catalog, calls, seed=seed))


@asynccontextmanager
async def _behind_gateway(entries: Sequence[ServerEntry]) -> AsyncGenerator[ClientSession]:
    """A client of a gateway before all servers, once each of them is connected."""
    hub = Hub({entry.name: connector(entry) for entry in entries})
    gateway = Gateway(hub)
    async with gateway.running():
        if not await hub.settled(START_LIMIT):
            raise ToolSearchError(f"the servers of the bench did not start within {START_LIMIT:g} seconds.")
        async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as tasks:
            tasks.start_soon(gateway.serve, *theirs)
            async with ClientSession(*ours) as session:
                await session.initialize()
                yield session
            tasks.cancel_scope.cancel()


async def _measure(
    entries: Sequence[ServerEntry], first: str, queries: Sequence[str], calls: int, tools: int
) -> list[Case]:
    started = time.perf_counter()
    async with _behind_gateway(entries) as session:
        start = (time.perf_counter() - started) * 1000
        started = time.perf_counter()
        async with AsyncExitStack() as stack:
            sessions = [await _opened(stack, entry) for entry in entries]
            direct_start = (time.perf_counter() - started) * 1000
            direct = sessions[0]
            params = {"tool_name": tool_id(entries[0].name, first), "params": {}}
            relay = await stack.enter_async_context(_bare_relay(direct))
            ours = functools.partial(_good_call, session, "ExecuteExtraTool", params)
            theirs = functools.partial(_good_call, direct, first, {})
            between = functools.partial(_good_call, relay, first, {})
            (mine, other, passed), used = await _in_turn(calls, ours, theirs, between)
        search = []
        for query in [*queries[:WARM], *queries]:
            ask = functools.partial(_good_call, session, "SearchExtraTools", {"query": query})
            search.append((await _taken(ask))[0])
    found = np.array(search[WARM:])
    lines = [
        Case(
            case=f"gateway start, {len(entries)} servers", tools=tools, ours_ms=start,
            other="connect and list, one by one", other_ms=direct_start,
        ),
    ]  # fmt: skip
    for beside, taken in (("direct", other), ("a bare relay", passed)):
        for percent in (50, 95):
            ours_ms, other_ms = (float(np.percentile(each, percent)) for each in (mine, taken))
            name = f"call by the gateway, p{percent}"
            lines.append(Case(case=name, tools=tools, ours_ms=ours_ms, other=beside, other_ms=other_ms))
    # Waiting for a processor that others use is no part of these: they say the same on a busy machine.
    work, *besides = (float(np.median(each)) for each in used)
    for beside, taken_ms in zip(("direct", "a bare relay"), besides, strict=True):
        name = "processor time of a call, p50"
        lines.append(Case(case=name, tools=tools, ours_ms=work, other=beside, other_ms=taken_ms))
    for percent in (50, 95):
        lines.append(Case(case=f"search, p{percent}", tools=tools, ours_ms=float(np.percentile(found, percent))))
    return lines


@asynccontextmanager
async def _bare_relay(behind: ClientSession) -> AsyncGenerator[ClientSession]:
    """A client of a server that passes every call on to another and does nothing else."""

    async def pass_on(_ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        request = CallToolRequest(params=params)
        return await behind.send_request(request, CallToolResult)

    async def list_tools(
        _ctx: ServerRequestContext[Any, Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return await behind.list_tools()

    server: Server[Any] = Server("relay", on_call_tool=pass_on, on_list_tools=list_tools)
    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as tasks:
        tasks.start_soon(functools.partial(serve_loop, server, *theirs, lifespan_state={}))
        async with ClientSession(*ours) as session:
            await session.initialize()
            yield session
        tasks.cancel_scope.cancel()


async def _opened(stack: AsyncExitStack, entry: ServerEntry) -> ClientSession:
    session = await stack.enter_async_context(connect(entry))
    await list_all(session, entry.name)
    return session


async def _memory(entries: Sequence[ServerEntry], queries: Sequence[str]) -> float:
    # A run of its own: counting allocations slows everything down.
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        async with _behind_gateway(entries) as session:
            await _good_call(session, "SearchExtraTools", {"query": queries[0]})
            return (tracemalloc.get_traced_memory()[0] - before) / 1e6
    finally:
        tracemalloc.stop()


async def _good_call(session: ClientSession, name: str, arguments: dict[str, Any]) -> None:
    result = await session.call_tool(name, arguments)
    if result.is_error:
        raise ToolSearchError(f"the bench's call of {name} failed: {str(result.content)[:300]}")


async def _taken(action: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """The milliseconds that passed, and those that this process has worked."""
    start, worked = time.perf_counter(), time.process_time()
    await action()
    return (time.perf_counter() - start) * 1000, (time.process_time() - worked) * 1000


async def _in_turn(rounds: int, *actions: Callable[[], Awaitable[None]]) -> tuple[list[list[float]], list[list[float]]]:
    """Of each action the milliseconds that passed and those that were worked, taken in turn so that all meet the same.

    Each round begins with the next one: on a busy machine whatever comes first after much work is made to wait.
    """
    times: list[list[float]] = [[] for _ in actions]
    used: list[list[float]] = [[] for _ in actions]
    for number in range(WARM + rounds):
        for place in range(len(actions)):
            turn = (number + place) % len(actions)
            milliseconds, worked = await _taken(actions[turn])
            if number >= WARM:
                times[turn].append(milliseconds)
                used[turn].append(worked)
    return times, used
