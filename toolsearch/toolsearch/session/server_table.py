"""How the servers of a process stand, as its conversations see it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch.tools.servers import SERVER_STATES, ServerState, ServerStatus

_CONNECTED = ServerStatus("connected")
_NOT_YET = ServerStatus("pending")


class ServerTable:
    """The state of each server; one table is shared by a session, its forks and its sub-agents.

    What the host says counts. A server of which it says nothing is connected once the catalog has had tools of it, and
    still pending if it is known only from what was announced before this process: a resumed conversation must not take
    a server that is slow to start for one that is gone.
    """

    def __init__(self) -> None:
        """No server is known."""
        self._told: dict[str, ServerStatus] = {}
        self._seen: set[str] = set()
        self._remembered: set[str] = set()
        self._lock = threading.Lock()

    def set(self, name: str, state: ServerState, reason: str = "") -> None:
        """Say how a server stands.

        Raises:
            UsageError: The name is not a text, or empty.
            UnknownNameError: A state that does not exist.
        """
        given: object = name
        if not isinstance(given, str) or not given:
            raise UsageError(f"a server's name is {given!r}; it must be a text that is not empty.")
        if state not in SERVER_STATES:
            raise UnknownNameError("server state", str(state), SERVER_STATES)
        with self._lock:
            self._told[name] = ServerStatus(state, reason)

    def statuses(self, present: Iterable[str], remembered: Iterable[str] = ()) -> Mapping[str, ServerStatus]:
        """How every known server stands, by sorted name.

        Args:
            present: Servers of which the catalog has tools now.
            remembered: Servers that are known from what was announced.
        """
        with self._lock:
            self._seen.update(present)
            self._remembered.update(remembered)
            known = self._seen | self._remembered | set(self._told)
            told, seen = dict(self._told), set(self._seen)
        return {name: told.get(name, _CONNECTED if name in seen else _NOT_YET) for name in sorted(known)}
