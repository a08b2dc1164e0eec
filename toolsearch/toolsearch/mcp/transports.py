"""Opens a connection to one server: a session of the official library that is ready for requests.

```python
tail = StderrTail(entry.redactor())
async with connect(entry, stderr=tail) as session:
    page = await session.list_tools()
```
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import anyio
import httpx2
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION, Implementation

from toolsearch.errors import ServerError
from toolsearch.mcp.failures import in_words, leaves
from toolsearch.mcp.server_entry import ServerEntry
from toolsearch.mcp.stderr_tail import StderrTail
from toolsearch.mcp.stdio import GRACE, MAX_MESSAGE, ServerProcess, open_process

START_TIMEOUT = 60.0
"""Seconds until a server must have answered the handshake: a first start may have to download the server itself."""

READ_TIMEOUT = 300.0
"""Seconds of silence after which an HTTP stream counts as dead."""


def client_info() -> Implementation:
    """Who we say that we are."""
    try:
        number = version("toolsearch")
    except PackageNotFoundError:
        number = "0"
    return Implementation(name="toolsearch", version=number)


@asynccontextmanager
async def connect(
    entry: ServerEntry,
    *,
    stderr: StderrTail | None = None,
    start_timeout: float = START_TIMEOUT,
    grace: float = GRACE,
    max_message: int = MAX_MESSAGE,
    on_end: Callable[[str], None] | None = None,
    on_process: Callable[[ServerProcess], None] | None = None,
    **session_options: Any,
) -> AsyncIterator[ClientSession]:
    """Connect to a server and shake hands; at the end the connection is closed and every process of it is gone.

    What the body raises comes out as it was raised, not in a group.

    Args:
        entry: The server.
        stderr: Takes in the server's error stream; make it with `entry.redactor()`.
        start_timeout: Seconds from the start to the end of the handshake.
        grace: Seconds that a process has to end by itself; see `open_process`.
        max_message: Bytes of one message over stdio.
        on_end: Called with a reason when a process ends, or closes its output, before the connection is closed.
        on_process: Called with the process, once it runs (stdio alone).
        session_options: Further arguments of the library's `ClientSession`, for instance `message_handler`.

    Raises:
        ServerError: The server can't be started or reached, or the handshake fails; with the end of its error stream.
    """
    tail = stderr or StderrTail(entry.redactor())
    options = {"client_info": client_info(), **session_options}
    ready = False
    failure: BaseException | None = None
    server: ServerProcess | None = None
    statuses: list[int] = []
    try:
        async with _transport(entry, tail, grace, max_message, on_end, statuses) as (incoming, outgoing, server):
            if server is not None and on_process is not None:
                on_process(server)
            async with ClientSession(incoming, outgoing, **options) as session:
                with anyio.fail_after(start_timeout):
                    await _shake_hands(session)
                ready = True
                try:
                    yield session
                except BaseException as error:
                    failure = error
                    raise
    except (Exception, BaseExceptionGroup) as error:
        found = leaves(error)
        if ready and failure is not None and not isinstance(failure, anyio.get_cancelled_exc_class()):
            raise failure from failure.__cause__
        fatal = next((leaf for leaf in found if not isinstance(leaf, Exception)), None)
        if fatal is not None:
            raise fatal from None
        reason = in_words(found[0], start_timeout=start_timeout, statuses=statuses, mask=tail.redactor)
        ended = server.ended or server.exit_words() if server is not None else ""
        if ended and not isinstance(found[0], TimeoutError):
            reason = f"{ended} before it answered" if not ready else ended
        raise ServerError(entry.name, tail.redactor(reason), tail.text()) from None


async def _shake_hands(session: ClientSession) -> None:
    """The handshake that every server knows; a server of the new kind alone says so and is asked the new way."""
    try:
        await session.initialize()
    except MCPError as error:
        if error.code != UNSUPPORTED_PROTOCOL_VERSION:
            raise
        await session.discover()


@asynccontextmanager
async def _transport(
    entry: ServerEntry,
    tail: StderrTail,
    grace: float,
    max_message: int,
    on_end: Callable[[str], None] | None,
    statuses: list[int],
) -> AsyncIterator[tuple[Any, Any, ServerProcess | None]]:
    if entry.transport == "stdio":
        async with open_process(entry, tail, grace=grace, max_message=max_message, on_end=on_end) as streams:
            yield streams
        return

    async def note(response: httpx2.Response) -> None:
        # The library turns a refusal into "an error response"; the number says what to do about it.
        if response.status_code >= 400:
            statuses.append(response.status_code)
            del statuses[:-4]

    async with (
        httpx2.AsyncClient(
            headers=dict(entry.headers),
            timeout=httpx2.Timeout(entry.timeout or 30.0, read=READ_TIMEOUT),
            event_hooks={"response": [note]},
        ) as client,
        streamable_http_client(entry.url, http_client=client) as (incoming, outgoing),
    ):
        yield incoming, outgoing, None
