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

from toolsearch.mcp.server_entry import ServerEntry
from toolsearch.mcp.stderr_tail import StderrTail
from toolsearch.mcp.transports import START_TIMEOUT, connect

Heard = Callable[[Any], Awaitable[None]]
"""Told every notification of a server."""


@dataclass(slots=True)
class Link:
    """One connection.

    Attributes:
        session: Initialised; requests may be sent from any task.
        closed: Set once the other side is gone; every request that waits then ends with an error.
        reason: Why it is closed, in words; "" while it is not, or where nobody said.
    """

    session: ClientSession
    closed: anyio.Event = field(default_factory=anyio.Event)
    reason: str = ""


class Connect(Protocol):
    """Opens a connection, and closes it for sure at the end of the block; a process of its own is gone by then."""

    def __call__(self, heard: Heard) -> AbstractAsyncContextManager[Link]:
        """Give the context manager; `heard` is told what comes without having been asked for."""
        ...


def connector(
    entry: ServerEntry, *, start_timeout: float = START_TIMEOUT, tail: StderrTail | None = None, grace: float = 2.0
) -> Connect:
    """What connects to the server of an entry, as often as it is asked to.

    Args:
        entry: The server.
        start_timeout: Seconds from the start to the end of the handshake.
        tail: Takes in its error stream; made for the entry if None.
        grace: Seconds that its process has to end by itself, and again before it is killed.
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
            entry, stderr=kept, start_timeout=start_timeout, grace=grace, on_end=end, message_handler=heard
        ) as session:
            link = Link(session)
            links.append(link)
            if ended:  # it went away between the handshake and now
                end(ended[0])
            yield link

    return open_link
