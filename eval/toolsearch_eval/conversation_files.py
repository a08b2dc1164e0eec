"""Read scripted conversations from a data set's folder; every fault of every file with its line, field and remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.names import shown
from toolsearch.catalog.rows import detect_format, read_row
from toolsearch.catalog.tool import Tool
from toolsearch.errors import Problem, near_names
from toolsearch.tools.servers import SERVER_STATES
from toolsearch_eval.conversations import (
    EVENT_TYPES,
    AssistantEvent,
    Call,
    CompactEvent,
    Conversation,
    Event,
    ResumeEvent,
    ServerEvent,
    SubagentEvent,
    ToolResultEvent,
    ToolsChangedEvent,
    UserEvent,
)
from toolsearch_eval.data_files import kind_of, read_rows

HEADER_STATES = ("connected", "pending", "failed", "disabled")
"""How a server can stand at the start."""

_SPLITS = ("dev", "test")
_Note = Callable[[str, str], None]
"""Takes a field and what is wrong with it."""


def read_conversations(folder: Path, problems: list[Problem]) -> tuple[Conversation, ...]:
    """The conversations of a data set's folder (`conversations/*.jsonl`) by name; faults are added to `problems`.

    A file with a fault gives no conversation. A folder without any gives none and is no fault.
    """
    found = (read_conversation(path, problems) for path in sorted(folder.glob("conversations/*.jsonl")))
    return tuple(conversation for conversation in found if conversation is not None)


def read_conversation(path: Path, problems: list[Problem]) -> Conversation | None:
    """One conversation, or None where the file has a fault; all its faults are added to `problems`."""
    before = len(problems)
    rows = read_rows(path, problems)

    def note_at(line: int) -> _Note:
        return lambda name, message: problems.append(Problem(str(path), line, name, message))

    if not rows:
        if len(problems) == before:
            note_at(0)("", "is empty; the first line is the header, the others are events")
        return None
    (first, header), *rest = rows
    values = _header(header, path.stem, note_at(first))
    events = [_event(row, line, note_at(line)) for line, row in rest]
    if len(problems) > before:
        return None
    return Conversation(**values, events=tuple(event for event in events if event is not None), path=str(path))


def _header(row: Mapping[str, Any], stem: str, note: _Note) -> dict[str, Any]:
    if "conversation" not in row:
        note("conversation", "is missing; the first line is the header and names the conversation")
        return {}
    fields = _Fields(row, note, "of the header")
    name = fields.text("conversation")
    if name and name != stem:
        note("conversation", f"is {shown(name)} and the file is {shown(stem + '.jsonl')}; give both one name")
    values = {
        "name": name,
        "catalog": fields.text("catalog"),
        "split": fields.one_of("split", _SPLITS),
        "pins": fields.names("pins", default=()),
        "servers": _servers(fields, note),
    }
    fields.end()
    return values


def _servers(fields: _Fields, note: _Note) -> dict[str, Any]:
    servers = fields.mapping("servers", default={})
    for name, state in servers.items():
        if not name.strip():
            note("servers", "holds an empty name; name the server")
        elif state not in HEADER_STATES:
            given = shown(state) if isinstance(state, str) else kind_of(state)
            note(f"servers.{name}", f"is {given}; accepted: {', '.join(HEADER_STATES)}")
    return dict(servers)


def _event(row: Mapping[str, Any], line: int, note: _Note) -> Event | None:
    kind = row.get("type")
    if not isinstance(kind, str) or kind not in EVENT_TYPES:
        known = ", ".join(EVENT_TYPES)
        near = near_names(kind, EVENT_TYPES) if isinstance(kind, str) else ()
        given = "missing" if "type" not in row else shown(kind) if isinstance(kind, str) else kind_of(kind)
        hint = f"did you mean {near[0]!r}? " if near else ""
        note("type", f"is {given}; {hint}accepted: {known}")
        return None
    fields = _Fields(row, note, f"of an event of type {kind!r}", known={"type"})
    event = _READERS[kind](fields, line, note)
    fields.end()
    return event


def _user(fields: _Fields, line: int, note: _Note) -> Event:
    text = fields.text("text")
    return UserEvent(text=text, needs=fields.names("needs"), line=line)


def _assistant(fields: _Fields, line: int, note: _Note) -> Event:
    text = fields.text("text", empty=True)
    calls = []
    for place, row in fields.objects("calls", default=()):
        inner = _Fields(row, _inside(note, f"calls[{place}]"), "of a call")
        tool, params = inner.text("tool"), inner.mapping("params", default={})
        query = inner.text("query") if "query" in row else ""
        inner.end()
        calls.append(Call(tool=tool, params=dict(params), query=query))
    return AssistantEvent(text=text, calls=tuple(calls), line=line)


def _tool_result(fields: _Fields, line: int, note: _Note) -> Event:
    return ToolResultEvent(tool=fields.text("tool"), text=fields.text("text", empty=True), line=line)


def _server(fields: _Fields, line: int, note: _Note) -> Event:
    state: Any = fields.one_of("state", SERVER_STATES)
    return ServerEvent(server=fields.text("server"), state=state, line=line)


def _tools_changed(fields: _Fields, line: int, note: _Note) -> Event:
    server = fields.text("server")
    added, replaced = fields.items("add"), fields.items("replace")
    add = [
        entry if isinstance(entry, str) and entry else _tool(entry, server, _inside(note, f"add[{place}]"))
        for place, entry in enumerate(added)
    ]
    replace = [_tool(entry, server, _inside(note, f"replace[{place}]")) for place, entry in enumerate(replaced)]
    remove = fields.names("remove", default=())
    if not (added or replaced or remove):
        note("", "changes no tool; fill add, remove or replace, or leave the event out")
    return ToolsChangedEvent(
        server=server,
        add=tuple(entry for entry in add if entry is not None),
        remove=remove,
        replace=tuple(tool for tool in replace if tool is not None),
        line=line,
    )


def _tool(row: object, server: str, note: _Note) -> Tool | None:
    if not isinstance(row, dict):
        note("", f"is {kind_of(row)}; write the tool as a row of a catalog")
        return None
    tool = read_row(row, detect_format(row), server, note)
    if tool is not None and tool.server != server:
        note("server", f"is {shown(tool.server or '')}, and the event is about {shown(server)}; leave it out")
    return tool


def _compact(fields: _Fields, line: int, note: _Note) -> Event:
    return CompactEvent(keep=fields.whole("keep"), line=line)


def _resume(fields: _Fields, line: int, note: _Note) -> Event:
    return ResumeEvent(line=line)


def _subagent(fields: _Fields, line: int, note: _Note) -> Event:
    tools = fields.names("tools")
    events = [_event(row, line, _inside(note, f"events[{place}]")) for place, row in fields.objects("events")]
    return SubagentEvent(tools=tools, events=tuple(event for event in events if event is not None), line=line)


_READERS: Mapping[str, Callable[[_Fields, int, _Note], Event]] = {
    "user": _user,
    "assistant": _assistant,
    "tool_result": _tool_result,
    "server": _server,
    "tools_changed": _tools_changed,
    "compact": _compact,
    "resume": _resume,
    "subagent": _subagent,
}


def _inside(note: _Note, place: str) -> _Note:
    return lambda name, message: note(f"{place}.{name}" if name else place, message)


class _Fields:
    """The fields of one object; what is wrong with one is noted and a value of the right kind is given all the same."""

    def __init__(self, row: Mapping[str, Any], note: _Note, what: str, known: set[str] | None = None) -> None:
        self._row = row
        self._note = note
        self._what = what
        self._known = set(known or ())

    def text(self, name: str, *, empty: bool = False) -> str:
        value = self._value(name, str, "a text", None)
        if isinstance(value, str) and not value.strip() and not empty:
            self._note(name, "is empty; it must be a text that is not empty")
        return value if isinstance(value, str) else ""

    def one_of(self, name: str, accepted: Sequence[str]) -> str:
        value = self.text(name)
        if value.strip() and value not in accepted:
            self._note(name, f"is {shown(value)}; accepted: {', '.join(accepted)}")
        return value if value in accepted else accepted[0]

    def whole(self, name: str) -> int:
        value = self._value(name, int, "a whole number of at least 0", None)
        if isinstance(value, bool) or (isinstance(value, int) and value < 0):
            self._note(name, f"is {kind_of(value)}; it must be a whole number of at least 0")
        return value if isinstance(value, int) else 0

    def mapping(self, name: str, *, default: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        value = self._value(name, dict, "an object", default)
        return value if isinstance(value, dict) else {}

    def items(self, name: str) -> Sequence[Any]:
        value = self._value(name, list, "a list", ())
        return value if isinstance(value, list) else ()

    def objects(self, name: str, *, default: Sequence[Any] | None = None) -> list[tuple[int, Mapping[str, Any]]]:
        values = self._list(name, dict, "an object", default)
        return [(place, value) for place, value in enumerate(values) if isinstance(value, dict)]

    def names(self, name: str, *, default: Sequence[Any] | None = None) -> tuple[str, ...]:
        values = self._list(name, str, "a name", default)
        for place, value in enumerate(values):
            if isinstance(value, str) and not value.strip():
                self._note(f"{name}[{place}]", "is empty; it must be a name")
            elif isinstance(value, str) and value in values[:place]:
                self._note(f"{name}[{place}]", f"{shown(value)} stands there already; name it once")
        return tuple(value for value in values if isinstance(value, str))

    def end(self) -> None:
        """Note the fields that nobody has asked for."""
        for name in sorted(set(self._row) - self._known):
            accepted = ", ".join(sorted(self._known)) or "none"
            self._note(name, f"is no field {self._what}; accepted: {accepted}")

    def _list(self, name: str, kind: type, words: str, default: Sequence[Any] | None) -> Sequence[Any]:
        values = self._value(name, list, "a list", default)
        for place, value in enumerate(values if isinstance(values, list) else ()):
            if not isinstance(value, kind):
                self._note(f"{name}[{place}]", f"is {kind_of(value)}; it must be {words}")
        return values if isinstance(values, list) else ()

    def _value(self, name: str, kind: type, words: str, default: object) -> object:
        self._known.add(name)
        if name not in self._row and default is not None:
            return default
        value = self._row.get(name)
        if not isinstance(value, kind):
            given = "missing" if name not in self._row else kind_of(value)
            self._note(name, f"is {given}; it must be {words}")
        return value
