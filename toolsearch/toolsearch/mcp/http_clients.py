"""The clients over HTTP, each known by the session that the transport has given it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

from toolsearch.mcp.clients import Client


class ClientTable:
    """What is kept of each session, as long as it lasts."""

    def __init__(self, make: Callable[[], Client], *, forget: float, clock: Callable[[], float]) -> None:
        """Begin without any.

        Args:
            make: Gives a client that knows nothing yet.
            forget: Seconds after which a session is forgotten that has no request open. More than the transport's own
                limit: it is the one that ends sessions, and what it still serves must not lose its conversation.
            clock: Gives seconds.
        """
        self._make = make
        self._forget = forget
        self._clock = clock
        self._clients: dict[str, Client] = {}
        self._open: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Client]:
        """Every client that is known, as of now."""
        return iter(tuple(self._clients.values()))

    def __len__(self) -> int:
        return len(self._clients)

    def of(self, session_id: str) -> Client:
        """The client of a session, made at its first request; without a session one of which nothing is kept."""
        if not session_id:
            return self._make()
        client = self._clients.get(session_id)
        if client is None:
            self._forget_the_silent()
            client = self._clients[session_id] = self._make()
        client.last_used = self._clock()
        return client

    def known(self, session_id: str) -> Client | None:
        """The client of a session, or None before its first request and after its end."""
        return self._clients.get(session_id)

    @contextmanager
    def attending(self, session_id: str) -> Generator[None]:
        """A request of this session is open inside of the block, which may last: a stream of news is one too."""
        self._open[session_id] += 1
        try:
            yield
        finally:
            self._open[session_id] -= 1
            if not self._open[session_id]:
                del self._open[session_id]
            client = self._clients.get(session_id)
            if client is not None:
                client.last_used = self._clock()

    def drop(self, session_id: str) -> None:
        """Forget a session that has ended; an unknown one is fine."""
        self._clients.pop(session_id, None)

    def _forget_the_silent(self) -> None:
        now = self._clock()
        for session_id, client in tuple(self._clients.items()):
            if session_id not in self._open and now - client.last_used > self._forget:
                del self._clients[session_id]
