"""Whether the tools array of a conversation stays the same, byte for byte, while servers come and go.

Model providers cache a request from its beginning, and the tools stand there first: one byte that changes in the array
makes the whole conversation be read, and paid, anew. So a session's array has one variant, whatever happens to servers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.catalog.tool import Tool
from toolsearch.session.providers import ToolCall
from toolsearch.session.session import Session
from toolsearch.session.state import SessionState
from toolsearch.tokens import ESTIMATE

_SEARCH = synthetic_tools()[0].name
_NEW = "toolsearch_gate_new_tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayVariants:
    """What a scripted conversation did to the tools array.

    Attributes:
        variants: How many different arrays were sent; 1 is stable.
        requests: How many requests were built.
        broken_by: What happened before the first request whose array was another one than that of the first request,
            and from which tool and byte on they differ; "" where none was.
    """

    variants: int
    requests: int
    broken_by: str


MakeSession = Callable[[ToolRegistry, SessionState | None], Session]
"""Gives a session of the provider `anthropic`: a new one, or one that goes on from a saved state."""


def plain_session(registry: ToolRegistry, state: SessionState | None) -> Session:
    """The session that is watched unless another one is given: our own, with the usual settings."""
    return Session(registry, counter=ESTIMATE, state=state)


def watch_tools_array(tools: Sequence[Tool], *, make_session: MakeSession = plain_session) -> ArrayVariants | None:
    """Play a conversation over a catalog, with servers that come and go, and compare the arrays of its requests.

    Args:
        tools: The catalog.
        make_session: Gives the session; `plain_session` unless told otherwise.

    Returns:
        None where the catalog has no tool to defer, so that there is nothing that could be stable.

    Raises:
        UsageError: The registry can't hold the catalog.
    """
    deferred = [tool for tool in tools if is_deferred(tool)]
    if not deferred:
        return None
    first: list[Any] = []
    seen: set[bytes] = set()
    requests, broken_by = 0, ""
    for event, array in _arrays(tools, deferred, make_session):
        requests += 1
        encoded = _bytes(array)
        if requests == 1:
            first = array
        elif encoded not in seen and not broken_by:
            broken_by = f"{event}: {_first_difference(first, array)}"
        seen.add(encoded)
    return ArrayVariants(variants=len(seen), requests=requests, broken_by=broken_by)


def _arrays(
    tools: Sequence[Tool], deferred: Sequence[Tool], make_session: MakeSession
) -> Iterator[tuple[str, list[Any]]]:
    """What happened, and the tools array of the next request: the script."""
    servers = sorted({tool.server for tool in tools if tool.server})
    late = servers[1::2]
    registry = ToolRegistry(tool for tool in tools if tool.server not in late)
    session = make_session(registry, None)
    history: list[Any] = [session.user("Let us begin.")]

    def sent(event: str) -> tuple[str, list[Any]]:
        request = session.request(history, model="gate", wait=True)
        history[:] = request.history
        return event, request.payload["tools"]

    for server in servers:
        session.set_server(server, "pending" if server in late else "connected")
    yield sent("the first request")
    for server in late:
        registry.replace([tool for tool in tools if tool.server == server], server=server)
        session.set_server(server, "connected")
    yield sent("servers finished connecting")
    found = deferred[0]
    history.append(session.user(f"{found.name} {found.description or ''}"[:200]))
    yield sent("a user asked for something")
    session.handle(ToolCall("gate-1", _SEARCH, {"query": f"select:{found.name}"}))
    session.handle(ToolCall("gate-2", _SEARCH, {"query": found.description or found.name}))
    yield sent("the model found tools")
    for server in servers[:2]:
        session.set_server(server, "failed")
    yield sent("servers failed")
    for server in servers[:2]:
        registry.replace([], server=server)
    yield sent("their tools went")
    for server in servers[:2]:
        registry.replace([tool for tool in reversed(tools) if tool.server == server], server=server)
        session.set_server(server, "connected")
    yield sent("servers came back, with their tools in another order")
    owner = servers[0] if servers else None
    registry.add(Tool(name=_NEW, description="Does something new", server=owner))
    yield sent("a tool was added")
    registry.replace(Tool(name=_NEW, description="Does something else", server=owner, always_load=True))
    yield sent("a tool changed, and wants to be loaded now")
    registry.remove(_NEW, server=owner)
    yield sent("a tool was removed")
    for server in servers[-1:]:
        session.set_server(server, "disabled")
    yield sent("a server was disabled")
    history[:] = session.compact(history, keep=1)
    yield sent("the conversation was compacted")
    # Another process goes on, which knows nothing but what was saved and sees the tools in another order.
    registry = ToolRegistry(replace(tool) for tool in reversed(tools))
    session = make_session(registry, SessionState.from_json(session.save().to_json()))
    yield sent("the conversation was resumed")


def _bytes(array: Sequence[Any]) -> bytes:
    """The array as a client sends it: in the order that its keys have."""
    return json.dumps(array, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _first_difference(before: Sequence[Any], after: Sequence[Any]) -> str:
    """Where two different arrays part: the byte, and the tool that stands there."""
    old, new = _bytes(before), _bytes(after)
    byte = next((place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    place = next(
        (
            number
            for number, pair in enumerate(zip(before, after, strict=False))
            if _bytes(pair[:1]) != _bytes(pair[1:])
        ),
        min(len(before), len(after)),
    )
    held = after if place < len(after) else before
    name = held[place].get("name", "") if isinstance(held[place], dict) else ""
    counts = "" if len(before) == len(after) else f", {len(before)} tools before and {len(after)} now"
    return f"tool {place + 1} ({name}) from byte {min(len(old), len(new)) if byte is None else byte} on{counts}"
