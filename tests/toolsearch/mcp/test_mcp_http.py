from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import anyio
import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from toolsearch.mcp.configuration import entry_from_address
from toolsearch.mcp.pull import Pulled, pull

KEY = "kk-77aa88bb"


class Guard:
    """Lets nobody through without the key."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before an application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, or pass on."""
        if scope["type"] == "http" and dict(scope["headers"]).get(b"authorization") != f"Bearer {KEY}".encode():
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await self.app(scope, receive, send)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server of the official library over streamable HTTP on loopback, behind a key."""
    served = MCPServer("small")

    @served.tool()
    def count_sheep(meadow: str) -> int:
        """Count the sheep of a meadow."""
        return len(meadow)

    app = served.streamable_http_app()
    app.user_middleware.append(Middleware(Guard))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        server.should_exit = True
        thread.join()


def pulled(address: str, **headers: str) -> Pulled:
    """What comes of one address."""

    async def ask() -> Pulled:
        return (await pull([entry_from_address(address, name="small", headers=headers)], timeout=10))[0]

    return anyio.run(ask)


def test_a_server_over_http_is_pulled(address: str) -> None:
    """The headers of the entry go with every request, and the tools come with their owner."""
    outcome = pulled(address, Authorization=f"Bearer {KEY}")
    assert outcome.failure is None
    assert [(tool.server, tool.leaf, tool.description) for tool in outcome.tools] == [
        ("small", "count_sheep", "Count the sheep of a meadow.")
    ]


@pytest.mark.parametrize(
    ("path", "key", "reason"),
    [
        ("", "Bearer wrong-key-1", "answered with HTTP status 401; check the headers, for instance Authorization"),
        ("/nowhere", f"Bearer {KEY}", "answered with HTTP status 404; check the address"),
    ],
)
def test_a_refusal_says_what_to_check(address: str, path: str, key: str, reason: str) -> None:
    """A wrong key and a wrong address are told apart, and the key is not repeated."""
    outcome = pulled(address + path, Authorization=key)
    assert outcome.tools == ()
    assert outcome.failure is not None
    assert outcome.failure.reason == reason
    assert key.split()[-1] not in str(outcome.failure)
