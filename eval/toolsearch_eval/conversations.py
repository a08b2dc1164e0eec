"""Scripted conversations: what a user asks, what the agent does and what happens to the servers meanwhile.

One file a conversation: a header, then a line for each event. `conversation_files` reads them, `conversation_check`
holds them against a catalog, and the session lab replays them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from toolsearch.catalog.rows import to_row
from toolsearch.catalog.tool import Tool
from toolsearch.tools.servers import ServerState


@dataclass(frozen=True, slots=True, kw_only=True)
class UserEvent:
    """The user says something; begins a turn.

    Attributes:
        text: What is said.
        needs: The tools that the turn needs beyond those that are always loaded; none for small talk.
        line: The 1-based line in the file; that of the outermost event for one inside of a sub-agent.
    """

    text: str
    needs: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool.

    Attributes:
        tool: Its name.
        params: The arguments.
        query: What the model searches for where it has not discovered the tool yet; "" where it never has to.
    """

    tool: str
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantEvent:
    """The model says something and calls tools.

    Attributes:
        text: What is said; may be empty.
        calls: Its calls, in order; each is answered by a `ToolResultEvent` before the next user or assistant event.
        line: The 1-based line in the file.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultEvent:
    """What a tool gave back.

    Attributes:
        tool: The tool that was called.
        text: What it gave; may be empty.
        line: The 1-based line in the file.
    """

    tool: str
    text: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """A server changes its state; holds for the whole conversation, sub-agents too.

    Attributes:
        server: Its name.
        state: How it stands from now on.
        line: The 1-based line in the file.
    """

    server: str
    state: ServerState
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsChangedEvent:
    """A server says that its tools are others now.

    Attributes:
        server: Its name.
        add: Tools that come: whole ones, or the names of tools of the catalog.
        remove: Names of tools that go.
        replace: Tools that stand for those of the same name from now on.
        line: The 1-based line in the file.
    """

    server: str
    add: tuple[Tool | str, ...] = ()
    remove: tuple[str, ...] = ()
    replace: tuple[Tool, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactEvent:
    """The history is shortened.

    Attributes:
        keep: How many of its last messages stay; the rest becomes a summary.
        line: The 1-based line in the file.
    """

    keep: int
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeEvent:
    """The session is stored and goes on in another process.

    Attributes:
        line: The 1-based line in the file.
    """

    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentEvent:
    """A sub-agent works in a conversation of its own.

    Attributes:
        tools: Names and shell-style patterns of the tools that it may use; empty: the same as its parent.
        events: What happens there.
        line: The 1-based line in the file.
    """

    tools: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    line: int = field(default=0, compare=False)


Event: TypeAlias = (
    "UserEvent | AssistantEvent | ToolResultEvent | ServerEvent | ToolsChangedEvent | CompactEvent | ResumeEvent "
    "| SubagentEvent"
)
"""What can happen."""

EVENT_TYPES: Mapping[str, type] = {
    "user": UserEvent,
    "assistant": AssistantEvent,
    "tool_result": ToolResultEvent,
    "server": ServerEvent,
    "tools_changed": ToolsChangedEvent,
    "compact": CompactEvent,
    "resume": ResumeEvent,
    "subagent": SubagentEvent,
}
"""The kinds of events by the `type` that a file gives them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One scripted conversation.

    Attributes:
        name: Unique in the data set; the file's name without its ending.
        catalog: The data set whose catalog it is about.
        split: `dev` or `test`.
        pins: Tools that the operator wants always loaded.
        servers: How each server stands at the start; the tools of a server that is not named are not there.
        events: What happens, in order.
        path: The file, or "".
    """

    name: str
    catalog: str
    split: Literal["dev", "test"] = "test"
    pins: tuple[str, ...] = ()
    servers: Mapping[str, ServerState] = field(default_factory=dict, hash=False)
    events: tuple[Event, ...] = ()
    path: str = field(default="", compare=False)


def all_events(events: Iterable[Event]) -> Iterator[Event]:
    """Every event in order, a sub-agent before the ones inside of it.

    >>> [type(event).__name__ for event in all_events([SubagentEvent(events=(ResumeEvent(),)), CompactEvent(keep=1)])]
    ['SubagentEvent', 'ResumeEvent', 'CompactEvent']
    """
    for event in events:
        yield event
        if isinstance(event, SubagentEvent):
            yield from all_events(event.events)


def starting_tools(conversation: Conversation, catalog: Iterable[Tool]) -> tuple[Tool, ...]:
    """The tools that the registry holds at the start, in the catalog's order.

    These are the tools without a server and those of the servers that the header names, whatever their state, but for
    the ones that a later event is the first to bring: a name under `add` that no earlier event has removed.
    """
    later: set[str] = set()
    seen: set[str] = set()
    for event in all_events(conversation.events):
        if isinstance(event, ToolsChangedEvent):
            later |= {entry for entry in event.add if isinstance(entry, str)} - seen
            seen.update(event.remove, (tool.name for tool in event.replace), later)
    servers = conversation.servers
    return tuple(tool for tool in catalog if tool.name not in later and (tool.server is None or tool.server in servers))


def conversation_rows(conversation: Conversation) -> list[dict[str, Any]]:
    """The lines of the file: the header and a row for each event.

    >>> conversation_rows(Conversation(name="a", catalog="tiny", events=(CompactEvent(keep=2),)))[1]
    {'type': 'compact', 'keep': 2}
    """
    header = {
        "conversation": conversation.name,
        "catalog": conversation.catalog,
        "split": conversation.split,
        "pins": list(conversation.pins),
        "servers": dict(conversation.servers),
    }
    return [header, *_event_rows(conversation.events)]


def _event_rows(events: Sequence[Event]) -> list[dict[str, Any]]:
    names = {kind: name for name, kind in EVENT_TYPES.items()}
    return [{"type": names[type(event)], **_event_fields(event)} for event in events]


def _event_fields(event: Event) -> dict[str, Any]:
    match event:
        case UserEvent():
            return {"text": event.text, "needs": list(event.needs)}
        case AssistantEvent():
            return {"text": event.text, "calls": [_call_row(call) for call in event.calls]}
        case ToolResultEvent():
            return {"tool": event.tool, "text": event.text}
        case ServerEvent():
            return {"server": event.server, "state": event.state}
        case ToolsChangedEvent():
            added = [entry if isinstance(entry, str) else to_row(entry) for entry in event.add]
            replaced = [to_row(tool) for tool in event.replace]
            return {"server": event.server, "add": added, "remove": list(event.remove), "replace": replaced}
        case CompactEvent():
            return {"keep": event.keep}
        case ResumeEvent():
            return {}
        case SubagentEvent():
            return {"tools": list(event.tools), "events": _event_rows(event.events)}


def _call_row(call: Call) -> dict[str, Any]:
    row: dict[str, Any] = {"tool": call.tool, "params": dict(call.params)}
    return row | ({"query": call.query} if call.query else {})
