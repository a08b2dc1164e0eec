"""How the servers of a session stand, as far as the tools that the model calls have to say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ServerState = Literal["connected", "pending", "failed", "disconnected", "disabled"]
"""`pending`: still connecting; `failed`: gave up; `disconnected`: was there, may be back; `disabled`: switched off."""

SERVER_STATES: tuple[ServerState, ...] = ("connected", "pending", "failed", "disconnected", "disabled")
"""Every state, best first."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How one server stands.

    Attributes:
        state: See `ServerState`.
        reason: Why it stands so, in the server's or the operator's words (untrusted text); "" when nothing is known.
    """

    state: ServerState
    reason: str = ""


def servers_in(servers: Mapping[str, ServerStatus], *states: ServerState) -> tuple[str, ...]:
    """The names of the servers that are in one of these states, sorted.

    >>> servers_in({"b": ServerStatus("failed"), "a": ServerStatus("pending")}, "pending", "failed")
    ('a', 'b')
    """
    return tuple(sorted(name for name, status in servers.items() if status.state in states))


def is_reachable(server: str | None, servers: Mapping[str, ServerStatus]) -> bool:
    """Whether tools of this owner can be used now: it has no server, or one that is connected or was never reported.

    >>> is_reachable(None, {}), is_reachable("a", {}), is_reachable("a", {"a": ServerStatus("pending")})
    (True, True, False)
    """
    return server is None or server not in servers or servers[server].state == "connected"
