"""The gateway over real HTTP before real processes: sessions apart, everything passed on, nothing left behind."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import pytest
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, ToolListChangedNotification

from toolsearch.errors import UsageError
from toolsearch.mcp import http_server
from toolsearch.mcp.backoff import Backoff
from toolsearch.mcp.gateway import Gateway
from toolsearch.mcp.http_guard import guard_of
from toolsearch.mcp.http_server import listen, serve_http
from toolsearch.mcp.http_token import Token
from toolsearch.mcp.hub import Hub
from toolsearch.mcp.link import connector
from toolsearch.mcp.server_entry import ServerEntry
from toolsearch.mcp.upstream import Patience
from toolsearch.session.settings import SessionSettings

SERVER = Path(__file__).parent / "servers" / "fault_server.py"
QUICK = Patience(ping=0.3, quiet=0.01, backoff=Backoff(first=0.05, longest=0.2))
SECRET = "a-token-of-some-length"
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
LISTENING = {"accept": "text/event-stream"}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "plain", "version": "1"}}


@dataclass(slots=True)
class _Served:
    url: str
    gateway: Gateway
    told: anyio.Event


@asynccontextmanager
async def _served(
    state: Path | None = None, *, pins: Sequence[str] = (), secret: str | None = None, discovery: bool = False
) -> AsyncGenerator[_Served]:
    arguments = (str(SERVER), "alpha", *([str(state)] if state else []))
    entry = ServerEntry(name="alpha", command=sys.executable, args=arguments)
    hub = Hub({"alpha": connector(entry, start_timeout=20, grace=0.3)}, pins=pins, patience=QUICK)
    gateway = Gateway(hub, settings=SessionSettings(require_discovery=discovery))
    listener = listen("127.0.0.1", 0, has_token=secret is not None)
    guard = guard_of(listener.host, listener.address, token=Token.of(secret) if secret else None)
    told = anyio.Event()
    async with gateway.running(), anyio.create_task_group() as tasks:
        assert await hub.settled(20)
        tasks.start_soon(serve_http, gateway, listener, guard, told)
        yield _Served(listener.url, gateway, told)
        told.set()


@asynccontextmanager
async def _client(url: str, heard: list[Any] | None = None) -> AsyncGenerator[ClientSession]:
    async def hear(message: Any) -> None:
        if heard is not None:
            heard.append(message)

    async with (
        streamable_http_client(url) as (reading, writing),
        ClientSession(reading, writing, message_handler=hear) as session,
    ):
        await session.initialize()
        yield session


async def _run(session: ClientSession, name: str, **params: Any) -> CallToolResult:
    return await session.call_tool("ExecuteExtraTool", {"tool_name": f"mcp__alpha__alpha_{name}", "params": params})


def _text(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


async def _ask(
    client: httpx2.AsyncClient, url: str, method: str, params: Any = None, **headers: str
) -> httpx2.Response:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    if method.startswith("notifications/"):
        del message["id"]
    return await client.post(url, headers={**ACCEPT, **headers}, content=json.dumps(message))


async def _begin(client: httpx2.AsyncClient, url: str, **headers: str) -> dict[str, str]:
    """The headers of a new session, with its handshake done."""
    answer = await _ask(client, url, "initialize", HELLO, **headers)
    session = {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25", **headers}
    assert (await _ask(client, url, "notifications/initialized", **session)).status_code == 202
    return session


def test_clients_at_once_have_a_state_each() -> None:
    """What one of five clients has discovered counts for it alone, and a client that has gone is forgotten."""
    seen: dict[int, tuple[bool, bool]] = {}

    async def one(url: str, number: int) -> None:
        async with _client(url) as session:
            if number % 2:
                await session.call_tool("SearchExtraTools", {"query": "select:mcp__alpha__alpha_echo"})
            first = await _run(session, "echo", word=str(number))
            second = await _run(session, "echo", word=str(number))
            assert _text(second) == f"alpha: {number}"
            seen[number] = (first.is_error, second.is_error)

    async def main() -> None:
        async with _served(discovery=True) as served:
            async with anyio.create_task_group() as tasks:
                for number in range(5):
                    tasks.start_soon(one, served.url, number)
            assert served.gateway.clients == 0

    anyio.run(main)
    assert seen == {number: (number % 2 == 0, False) for number in range(5)}


def test_one_client_asks_many_things_at_once() -> None:
    """Searches and calls of one client under way together are each answered with their own answer."""

    async def main() -> None:
        said: dict[int, str] = {}
        found: dict[int, str] = {}
        names = ("echo", "content", "fail", "count")

        async def ask(session: ClientSession, number: int) -> None:
            if number % 2:
                said[number] = _text(await _run(session, "echo", word=str(number)))
            else:
                query = f"select:mcp__alpha__alpha_{names[number % 4]}"
                found[number] = _text(await session.call_tool("SearchExtraTools", {"query": query}))

        async with _served() as served, _client(served.url) as session, anyio.create_task_group() as tasks:
            for number in range(40):
                tasks.start_soon(ask, session, number)
        assert said == {number: f"alpha: {number}" for number in range(1, 40, 2)}
        assert all(f"alpha_{names[number % 4]}" in text for number, text in found.items())
        assert len(found) == 20

    anyio.run(main)


def test_results_progress_and_cancellation_pass_over_http(tmp_path: Path) -> None:
    """Every kind of content, a server's progress in order of its steps, and the end of a call that is given up."""
    steps: list[float] = []

    async def progress(done: float, _total: float | None, _message: str | None) -> None:
        steps.append(done)

    async def main() -> None:
        state = tmp_path / "state"
        async with _served(state) as served, _client(served.url) as session:
            result = await _run(session, "content")
            assert [block.type for block in result.content] == ["text", "image", "audio", "resource_link", "resource"]
            assert (result.structured_content, result.meta) == ({"n": 1, "nothing": None}, {"a": 1})
            counted = await cast(Any, session).call_tool(
                "ExecuteExtraTool",
                {"tool_name": "mcp__alpha__alpha_count", "params": {}},
                progress_callback=progress,
                meta={"trace": "t1"},
            )
            assert _text(counted) == 'meta "t1"'
            assert sorted(steps) == [1, 2, 3]
            with anyio.move_on_after(0.3):
                await _run(session, "slow")
            with anyio.fail_after(20):
                while not state.exists() or state.read_text() != "cancelled_tool":
                    await anyio.sleep(0.02)

    anyio.run(main)


def test_a_result_passes_byte_for_byte() -> None:
    """What the server's message held is in the event as it was, fields of no known kind and nulls too."""

    async def main() -> None:
        async with _served() as served, httpx2.AsyncClient() as client:
            session = await _begin(client, served.url)
            call = {"name": "ExecuteExtraTool", "arguments": {"tool_name": "mcp__alpha__alpha_content", "params": {}}}
            answer = await _ask(client, served.url, "tools/call", call, **session)
            data = next(line for line in answer.text.splitlines() if line.startswith("data: "))
            result = json.loads(data.removeprefix("data: "))["result"]
            assert result["content"][3] == {"type": "resource_link", "uri": "file:///a", "name": "a", "novel": 1}
            assert result["structuredContent"] == {"n": 1, "nothing": None}
            assert set(result) == {"content", "structuredContent", "_meta"}

    anyio.run(main)


def test_a_change_is_told_to_those_whose_list_it_changes(tmp_path: Path) -> None:
    """A server's list_changed reaches the client that has the old list; one that has none yet is not told."""

    async def main() -> None:
        pin = "mcp__alpha__renamed_tool"
        heard: list[Any] = []
        other: list[Any] = []
        async with (
            _served(tmp_path / "state", pins=[pin]) as served,
            _client(served.url, heard) as session,
            _client(served.url, other) as idle,
        ):
            before = [tool.name for tool in (await session.list_tools()).tools]
            await idle.send_ping()
            await _run(session, "change")
            with anyio.fail_after(20):
                while not any(isinstance(message, ToolListChangedNotification) for message in heard):
                    await anyio.sleep(0.02)
            assert [tool.name for tool in (await session.list_tools()).tools] == [pin, *before]
            assert _text(await session.call_tool(pin, {})) == "called renamed_tool"
            assert not any(isinstance(message, ToolListChangedNotification) for message in other)

    anyio.run(main)


def test_a_change_while_nobody_listened_is_told_late(tmp_path: Path) -> None:
    """A client that opens its stream of news only after the change hears of it as the first thing."""

    async def main() -> None:
        pin = "mcp__alpha__renamed_tool"
        async with _served(tmp_path / "state", pins=[pin]) as served, httpx2.AsyncClient() as client:
            session = await _begin(client, served.url)
            await _ask(client, served.url, "tools/list", **session)
            call = {"name": "ExecuteExtraTool", "arguments": {"tool_name": "mcp__alpha__alpha_change", "params": {}}}
            await _ask(client, served.url, "tools/call", call, **session)
            with anyio.fail_after(20):
                while served.gateway.hub.registry.snapshot().get(pin) is None:
                    await anyio.sleep(0.02)
                async with client.stream("GET", served.url, headers={**LISTENING, **session}) as news:
                    data = [line async for line in _until_data(news)]
            assert json.loads(data[-1].removeprefix("data: "))["method"] == "notifications/tools/list_changed"

    anyio.run(main)


async def _until_data(response: httpx2.Response) -> AsyncGenerator[str]:
    async for line in response.aiter_lines():
        yield line
        if line.startswith("data: "):
            return


def test_an_unknown_session_and_an_ended_one_are_not_found() -> None:
    """A made-up session opens nothing; after a client's end its name is worth nothing and its state is gone."""

    async def main() -> None:
        async with _served() as served, httpx2.AsyncClient() as client:
            made_up = await _ask(client, served.url, "tools/list", **{"mcp-session-id": "0" * 32})
            assert made_up.status_code == 404
            session = await _begin(client, served.url)
            assert (await _ask(client, served.url, "tools/list", **session)).status_code == 200
            assert served.gateway.clients == 1
            assert (await client.delete(served.url, headers=session)).status_code == 200
            assert served.gateway.clients == 0
            assert (await _ask(client, served.url, "tools/list", **session)).status_code == 404
            assert (await client.get(served.url + "/more", headers=LISTENING)).status_code == 404

    anyio.run(main)


def test_what_is_too_much_is_refused_and_the_rest_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is too large and a client too many are told so; the clients that are there go on."""
    monkeypatch.setattr(http_server, "MOST_SESSIONS", 1)
    monkeypatch.setattr(http_server, "MAX_BODY", 1000)

    async def main() -> None:
        async with _served() as served, httpx2.AsyncClient() as client:
            session = await _begin(client, served.url)
            assert (await _ask(client, served.url, "initialize", HELLO)).status_code == 503
            assert (await _ask(client, served.url, "tools/list", {"long": "x" * 1000}, **session)).status_code == 413
            assert (await _ask(client, served.url, "tools/list", **session)).status_code == 200
            await client.delete(served.url, headers=session)
            assert (await _ask(client, served.url, "initialize", HELLO)).status_code == 200

    anyio.run(main)


def test_requests_without_the_token_are_refused_without_leaking() -> None:
    """No token and a wrong one get the same 401 that names nothing; wrong Host and foreign Origin are refused before."""

    async def main() -> None:
        async with _served(secret=SECRET) as served, httpx2.AsyncClient() as client:
            good = {"authorization": f"Bearer {SECRET}"}
            none = await _ask(client, served.url, "initialize", HELLO)
            wrong = await _ask(client, served.url, "initialize", HELLO, authorization=f"Bearer {SECRET}x")
            assert none.status_code == wrong.status_code == 401
            assert none.headers["www-authenticate"] == "Bearer"
            assert none.content == wrong.content
            for word in ("alpha", "toolsearch", SECRET):
                assert word not in none.text + str(none.headers)
            for method, url in (("GET", served.url), ("DELETE", served.url), ("GET", served.url + "/more")):
                assert (await client.request(method, url)).status_code == 401
            host = await _ask(client, served.url, "initialize", HELLO, host="pages.example", **good)
            assert host.status_code == 421
            origin = await _ask(client, served.url, "initialize", HELLO, origin="http://pages.example", **good)
            assert origin.status_code == 403
            session = await _begin(client, served.url, **good)
            assert "SearchExtraTools" in (await _ask(client, served.url, "tools/list", **session)).text
            del session["authorization"]
            assert (await _ask(client, served.url, "tools/list", **session)).status_code == 401

    anyio.run(main)


def test_the_end_is_orderly_while_clients_listen_and_call(tmp_path: Path) -> None:
    """Told to end, it ends though a client listens and a call runs: that call fails, and the port is free at once."""

    async def main() -> None:
        failed = anyio.Event()

        async def call(session: ClientSession) -> None:
            with suppress(MCPError):
                await _run(session, "slow")
            failed.set()

        async with (
            _served(tmp_path / "state") as served,
            _client(served.url) as session,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(call, session)
            await session.send_ping()
            port = int(served.url.rsplit(":", 1)[1].removesuffix("/mcp"))
            served.told.set()
            with anyio.fail_after(20):
                await failed.wait()
                while _is_taken(port):
                    await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()
        listen("127.0.0.1", port, has_token=False).socket.close()

    anyio.run(main)


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_port_is_taken_once() -> None:
    """The second one is told that another program has it; port 0 gave a free one, and the address says where it is."""
    first = listen("localhost", 0, has_token=False)
    try:
        assert first.is_loopback
        assert first.url == f"http://localhost:{first.port}/mcp"
        with pytest.raises(UsageError, match=f"port {first.port} of 127.0.0.1 is taken"):
            listen("127.0.0.1", first.port, has_token=False)
    finally:
        first.socket.close()


@pytest.mark.parametrize(
    ("host", "port", "has_token", "expected"),
    [
        ("0.0.0.0", 0, False, "0.0.0.0 is reached by other machines, which needs a token"),
        ("::", 0, False, "needs a token"),
        ("192.0.2.1", 0, False, "needs a token"),
        ("192.0.2.1", 0, True, "192.0.2.1 is no address of this machine"),
        ("a" * 300, 0, True, "is no name or address of this machine"),
        ("127.0.0.1", 70000, False, "port 70000 does not exist"),
        ("127.0.0.1", -1, False, "port -1 does not exist"),
    ],
)
def test_an_address_that_can_not_be_served_is_explained(host: str, port: int, has_token: bool, expected: str) -> None:
    """Each mistake says what is wrong and what to give."""
    with pytest.raises(UsageError, match=expected):
        listen(host, port, has_token=has_token)


def test_every_address_is_served_with_a_token() -> None:
    """With a token, all addresses of the machine may be named."""
    listener = listen("0.0.0.0", 0, has_token=True)
    listener.socket.close()
    assert not listener.is_loopback
