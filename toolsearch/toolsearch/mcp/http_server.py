"""The gateway over streamable HTTP: many clients at once, each with a session and a conversation of its own."""

from __future__ import annotations

import errno
import ipaddress
import json
import socket
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import anyio
import uvicorn
from anyio.abc import TaskGroup
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Message, Receive, Scope, Send

from toolsearch.errors import UsageError
from toolsearch.mcp.gateway import SESSION_HEADER, Gateway
from toolsearch.mcp.http_guard import NO_TOKEN, Guard, Refusal

PATH = "/mcp"
"""Where the gateway is found."""

IDLE_LIMIT = 1800.0
"""Seconds without any open request after which a session ends; its client then begins a new one."""

MOST_SESSIONS = 1000
"""Sessions at once; beyond that new ones are refused until others end."""

MAX_BODY = 16 * 1024 * 1024
"""Bytes of one request; arguments may hold a picture."""

GRACE = 2
"""Seconds that connections have to close at the end."""

_NOT_FOUND = Refusal(404, f"there is nothing here but {PATH}")
_ENDING = Refusal(503, "this server is ending")
_INVALID_REQUEST = -32600


@dataclass(frozen=True, slots=True)
class Listener:
    """A port that is ours.

    Attributes:
        socket: Bound, not yet listening.
        host: What the operator called the address.
        address: The address in numbers.
        port: The number of the port.
    """

    socket: socket.socket
    host: str
    address: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return ipaddress.ip_address(self.address).is_loopback

    @property
    def url(self) -> str:
        """Where a client on this machine finds the gateway."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{PATH}"


def listen(host: str, port: int, *, has_token: bool) -> Listener:
    """Take a port.

    Args:
        host: A name or an address of this machine; a name that has several takes the first, of version 4 if any is.
        port: 0 takes any free one.
        has_token: Whether clients will need a token.

    Raises:
        UsageError: There is no such address here, the port is taken or not allowed, or others than this machine reach
            the address and no token is asked for.
    """
    if not 0 <= port <= 65535:
        raise UsageError(f"port {port} does not exist; give one from 1 to 65535, or 0 for any free one.")
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise UsageError(f"{host!r} is no name or address of this machine; 127.0.0.1 is this machine alone.") from None
    family, _, _, _, where = min(found, key=lambda row: row[0] != socket.AF_INET)
    address = str(where[0]).partition("%")[0]
    if not has_token and not ipaddress.ip_address(address).is_loopback:
        raise UsageError(
            f"{host} is reached by other machines, which needs a token: give --token-env or --token-file, "
            "or serve this machine alone at 127.0.0.1."
        )
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":  # a port is free again as soon as its server is gone; there it would be shared
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen(socket.SOMAXCONN)  # only now is it known whether another program listens there
    except OSError as error:
        listening.close()
        raise UsageError(_bind_error(host, port, error)) from None
    return Listener(listening, host, address, listening.getsockname()[1])


def _bind_error(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is taken by another program; give another one, or 0 for any free one."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine; 127.0.0.1 is this machine alone."
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} of {host} may not be taken by this user; give one above 1023."
    return f"port {port} of {host} can't be taken: {error.strerror}."


class _WebServer(uvicorn.Server):
    """Leaves signals to the program."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class _Application:
    """What a request meets first: the guard, then the sessions."""

    def __init__(
        self, gateway: Gateway, sessions: StreamableHTTPSessionManager, guard: Guard, tasks: TaskGroup
    ) -> None:
        self._gateway = gateway
        self._sessions = sessions
        self._guard = guard
        self._tasks = tasks
        self.is_ending = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._guard.refusal(scope["headers"])
        if refusal is None and scope["path"] not in (PATH, PATH + "/"):
            refusal = _NOT_FOUND
        if refusal is None and self.is_ending:
            refusal = _ENDING
        if refusal is not None:
            await _refuse(refusal, send)
            return
        session_id = next((value.decode("latin-1") for key, value in scope["headers"] if key == _SESSION_KEY), "")
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            await send(message)
            if message["type"] == "http.response.start":
                status = message["status"]
                if scope["method"] == "GET" and status == 200:
                    # What has changed while nobody listened was told to nobody.
                    self._tasks.start_soon(self._gateway.tell_session, session_id)

        with self._gateway.sessions.attending(session_id):
            await self._sessions.handle_request(scope, receive, watched)
        if scope["method"] == "DELETE" and status == 200:
            self._gateway.sessions.drop(session_id)


_SESSION_KEY = SESSION_HEADER.encode("ascii")


async def _refuse(refusal: Refusal, send: Send) -> None:
    error = {"code": _INVALID_REQUEST, "message": refusal.reason}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode("utf-8")
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode("ascii"))]
    if refusal == NO_TOKEN:
        headers.append((b"www-authenticate", b"Bearer"))
    if refusal.status != 404:
        # What the client still wants to send is of no interest.
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def serve_http(gateway: Gateway, listener: Listener, guard: Guard, told_to_end: anyio.Event) -> None:
    """Serve clients until it is told to end; then calls that run are given up, and the port is free.

    Args:
        gateway: Running.
        listener: The port; closed in any case.
        guard: Who may ask.
        told_to_end: Set when it is enough.
    """
    sessions = StreamableHTTPSessionManager(
        gateway.many_clients(),
        session_idle_timeout=IDLE_LIMIT,
        max_sessions=MOST_SESSIONS,
        max_request_body_size=MAX_BODY,
    )
    with closing(listener.socket):
        async with anyio.create_task_group() as tasks:
            application = _Application(gateway, sessions, guard, tasks)
            server = _WebServer(
                uvicorn.Config(
                    application,
                    lifespan="off",
                    ws="none",
                    log_config=None,
                    access_log=False,
                    server_header=False,
                    # The address of a client decides nothing here, so nobody is believed about it.
                    proxy_headers=False,
                    timeout_graceful_shutdown=GRACE,
                )
            )
            async with sessions.run():
                tasks.start_soon(server.serve, [listener.socket])
                await told_to_end.wait()
                application.is_ending = True
                server.should_exit = True
            # Here every session has ended and with it every stream, so the connections can close.
