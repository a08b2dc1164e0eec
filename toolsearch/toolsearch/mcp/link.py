"""A live connection to one server, with the moment at which it ends.

The protocol's own session says nothing when the other side goes away while nobody asks it anything; the transport does.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
from mcp import ClientSession

from toolsearch.mcp.redaction import Redactor
from toolsearch.mcp.server_entry import ServerEntry
from toolsearch.mcp.stderr_tail import StderrTail
from toolsearch.mcp.stdio import MAX_MESSAGE
from toolsearch.mcp.transports import START_TIMEOUT, connect

GRACE = 1.0
"""Seconds that a server behind the gateway has to end by itself, and again after it was told to: less than for one that
stands alone, since who started the gateway gives it about two such times before it is killed with servers left."""

Heard = Callable[[Any], Awaitable[None]]
"""Told every notification of a server."""


@dataclass(slots=True)
class Link:
    """One connection.

    Attributes:
        session: Initialised; requests may be sent from any task.
        closed: Set once the other side is gone; every request that waits then ends with an error.
        reason: Why it is closed, in words; "" while it is not, or where nobody said.
        redactor: Masks the secrets of the server's entry.
        limit: Seconds for one call, where the configuration sets them.
    """

    session: ClientSession
    closed: anyio.Event = field(default_factory=anyio.Event)
    reason: str = ""
    redactor: Redactor = field(default_factory=Redactor)
    limit: float | None = None


class Connect(Protocol):
    """Opens a connection, and closes it for sure at the end of the block; a process of its own is gone by then."""

    def __call__(self, heard: Heard) -> AbstractAsyncContextManager[Link]:
        """Give the context manager; `heard` is told what comes without having been asked for."""
        ...


def connector(
    entry: ServerEntry,
    *,
    start_timeout: float = START_TIMEOUT,
    tail: StderrTail | None = None,
    grace: float = GRACE,
    max_message: int = MAX_MESSAGE,
) -> Connect:
    """What connects to the server of an entry, as often as it is asked to.

    Args:
        entry: The server.
        start_timeout: Seconds from the start to the end of the handshake.
        tail: Takes in its error stream; made for the entry if None.
        grace: Seconds that its process has to end by itself, and again before it is killed.
        max_message: Bytes of one message over stdio; a larger one ends the connection.
    """
    kept = tail or StderrTail(entry.redactor())

    @asynccontextmanager
    async def open_link(heard: Heard) -> AsyncGenerator[Link]:
        ended: list[str] = []
        links: list[Link] = []

        def end(reason: str) -> None:
            ended.append(reason)
            for link in links:
                link.reason = reason
                link.closed.set()

        async with connect(
            entry,
            stderr=kept,
            start_timeout=start_timeout,
            grace=grace,
            max_message=max_message,
            on_end=end,
            message_handler=heard,
        ) as session:
            link = Link(session, redactor=kept.redactor, limit=entry.timeout)
            links.append(link)
            if ended:  # it went away between the handshake and now
                end(ended[0])
            yield link

    return open_link
