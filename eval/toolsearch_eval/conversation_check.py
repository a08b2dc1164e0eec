"""What is wrong with a scripted conversation, held against the catalog that it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.names import shown
from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.catalog.tool import Tool, tool_id
from toolsearch.errors import Problem, near_names
from toolsearch.tools.validation import validate_params
from toolsearch_eval.conversations import (
    AssistantEvent,
    CompactEvent,
    Conversation,
    Event,
    ResumeEvent,
    ServerEvent,
    SubagentEvent,
    ToolResultEvent,
    ToolsChangedEvent,
    UserEvent,
    all_events,
    starting_tools,
)


def check_conversation(conversation: Conversation, catalog: Sequence[Tool]) -> list[Problem]:
    """Every fault of a conversation that could be read, in file order; empty when there is none.

    A fault is: a tool, server or pin that does not exist (tools that the conversation itself brings exist from then
    on); a need that nobody can meet before the turn ends, as the tool is not there, its server is not connected or a
    sub-agent may not use it; a need of a tool that is always loaded; arguments that don't fit the tool's schema; the
    first call of a deferred tool without the query that finds it; a call by a sub-agent of a tool that it may not use,
    which is one that it was not given, or that the agent above it has not; a result without a call and a call without
    a result; tools that are added twice or removed without being there; a conversation without a user.

    Args:
        conversation: As `read_conversation` gives it.
        catalog: The tools that `conversation.catalog` stands for.
    """
    return _Walk(conversation, catalog).problems()


@dataclass(slots=True)
class _Need:
    """A need that has not been possible yet: the place where it stands, and why it was not."""

    tool: str
    line: int
    place: str


@dataclass(slots=True)
class _Agent:
    """One agent at work: what it may use, what it has called, and what waits."""

    scope: tuple[tuple[str, ...], ...]
    called: set[str] = field(default_factory=set)
    open_calls: Counter[str] = field(default_factory=Counter)
    calls_line: int = 0
    calls_place: str = ""
    waiting: list[_Need] = field(default_factory=list)

    def may_use(self, tool: Tool) -> bool:
        names = {tool.name} | ({tool_id(tool.server, tool.leaf)} if tool.server else set())
        return all(any(fnmatchcase(name, pattern) for name in names for pattern in level) for level in self.scope)


class _Walk:
    """Goes through the events in order and remembers how tools and servers stand."""

    def __init__(self, conversation: Conversation, catalog: Sequence[Tool]) -> None:
        self._conversation = conversation
        self._catalog = {tool.name: tool for tool in catalog}
        self._loaded = {tool.name: tool for tool in synthetic_tools()}
        self._there = {tool.name: tool for tool in starting_tools(conversation, catalog)}
        self._servers: dict[str, str] = dict(conversation.servers)
        self._owners = sorted({tool.server for tool in catalog if tool.server})
        self._ever = self._everything()
        self._agents: list[_Agent] = []
        self._problems: list[Problem] = []

    def problems(self) -> list[Problem]:
        """Every fault in file order."""
        if self._problems:
            return self._problems
        self._header()
        if not any(isinstance(event, UserEvent) for event in self._conversation.events):
            self._note(0, "", "no event is of type 'user'; a conversation begins with what a user says")
        self._run(self._conversation.events, _Agent(scope=()), None)
        self._problems.sort(key=lambda problem: problem.line)
        return self._problems

    def _everything(self) -> Mapping[str, Tool]:
        known = {**self._loaded, **self._catalog}
        for event in all_events(self._conversation.events):
            if isinstance(event, ToolsChangedEvent):
                known |= {tool.name: tool for tool in event.add if isinstance(tool, Tool) and tool.name not in known}
        return known

    def _note(self, line: int, place: str, message: str) -> None:
        self._problems.append(Problem(self._conversation.path, line, place, message))

    def _header(self) -> None:
        for name in self._conversation.servers:
            if name not in self._owners:
                self._note(1, f"servers.{name}", _unknown("server", name, self._owners, "of the catalog"))
        for place, name in enumerate(self._conversation.pins):
            if name not in self._catalog:
                self._note(1, f"pins[{place}]", _unknown("tool", name, self._catalog, "of the catalog"))

    def _run(self, events: Sequence[Event], agent: _Agent, within: str | None) -> None:
        self._agents.append(agent)
        for number, event in enumerate(events):
            place = "" if within is None else f"{within}events[{number}]."
            if isinstance(event, UserEvent | AssistantEvent | CompactEvent | ResumeEvent):
                self._close_calls(agent)
            match event:
                case UserEvent():
                    self._end_turn(agent)
                    self._user(event, agent, place)
                case AssistantEvent():
                    self._assistant(event, agent, place)
                case ToolResultEvent():
                    self._result(event, agent, place)
                case ServerEvent():
                    self._server(event.server, event.line, place)
                    self._servers[event.server] = event.state
                case ToolsChangedEvent():
                    self._tools_changed(event, place)
                case SubagentEvent():
                    self._subagent(event, agent, place)
            self._meet_needs()
        self._close_calls(agent)
        self._end_turn(agent)
        self._agents.pop()

    def _user(self, event: UserEvent, agent: _Agent, inside: str) -> None:
        for number, name in enumerate(event.needs):
            place = f"{inside}needs[{number}]"
            tool = self._ever.get(name)
            if tool is None:
                self._note(event.line, place, _unknown("tool", name, self._ever, "of the catalog"))
            elif not is_deferred(tool):
                self._note(
                    event.line, place, f"{shown(name)} is always loaded, so no turn has to find it; leave it out"
                )
            elif not agent.may_use(tool):
                self._note(event.line, place, f"{shown(name)} is not among the tools of the sub-agent; add it there")
            else:
                agent.waiting.append(_Need(name, event.line, place))

    def _assistant(self, event: AssistantEvent, agent: _Agent, inside: str) -> None:
        agent.calls_line, agent.calls_place = event.line, f"{inside}calls"
        for number, call in enumerate(event.calls):
            place = f"{inside}calls[{number}]"
            agent.open_calls[call.tool] += 1
            tool = self._loaded.get(call.tool) or self._there.get(call.tool) or self._ever.get(call.tool)
            if tool is None:
                self._note(event.line, f"{place}.tool", _unknown("tool", call.tool, self._ever, "of the catalog"))
                continue
            for fault in validate_params(tool.input_schema, call.params).faults:
                self._note(event.line, f"{place}.params", f"don't fit the schema of {shown(call.tool)}: {fault}")
            hidden = is_deferred(tool, pins=self._conversation.pins)
            if hidden and not call.query and call.tool not in agent.called:
                message = f"is missing; write what finds {shown(call.tool)}, as this is its first call"
                self._note(event.line, f"{place}.query", message)
            if call.tool not in self._loaded and not agent.may_use(tool):
                message = f"{shown(call.tool)} is not among the tools of the sub-agent; add it there"
                self._note(event.line, f"{place}.tool", message)
            agent.called.add(call.tool)

    def _result(self, event: ToolResultEvent, agent: _Agent, inside: str) -> None:
        if agent.open_calls[event.tool] > 0:
            agent.open_calls[event.tool] -= 1
            return
        waiting = sorted(name for name, count in agent.open_calls.items() if count > 0)
        hint = f"waiting: {', '.join(map(shown, waiting))}" if waiting else "no call is waiting for a result"
        self._note(event.line, f"{inside}tool", f"{shown(event.tool)} was not called before; {hint}")

    def _close_calls(self, agent: _Agent) -> None:
        for name, count in sorted(agent.open_calls.items()):
            if count > 0:
                message = f"{shown(name)} has no result; add a tool_result before the next user or assistant event"
                self._note(agent.calls_line, agent.calls_place, message)
        agent.open_calls.clear()

    def _server(self, name: str, line: int, inside: str) -> bool:
        if name not in self._conversation.servers:
            known = self._conversation.servers
            self._note(line, f"{inside}server", _unknown("server", name, known, "of the header; name it there"))
        return name in self._conversation.servers

    def _tools_changed(self, event: ToolsChangedEvent, inside: str) -> None:
        if not self._server(event.server, event.line, inside):
            return
        for number, name in enumerate(event.remove):
            if self._owned(name, event, f"{inside}remove[{number}]"):
                del self._there[name]
        for number, tool in enumerate(event.replace):
            if self._owned(tool.name, event, f"{inside}replace[{number}].name"):
                self._there[tool.name] = tool
        for number, entry in enumerate(event.add):
            self._added(entry, event, f"{inside}add[{number}]")

    def _owned(self, name: str, event: ToolsChangedEvent, place: str) -> bool:
        """Whether the server has a tool of this name now; noted where it has none."""
        tool = self._there.get(name)
        if tool is not None and tool.server == event.server:
            return True
        owned = [each.name for each in self._there.values() if each.server == event.server]
        self._note(event.line, place, _unknown("tool", name, owned, f"that {shown(event.server)} has now"))
        return False

    def _added(self, entry: Tool | str, event: ToolsChangedEvent, place: str) -> None:
        name = entry if isinstance(entry, str) else entry.name
        tool = self._catalog.get(entry) if isinstance(entry, str) else entry
        if tool is None or tool.server != event.server:
            owned = [each.name for each in self._catalog.values() if each.server == event.server]
            message = _unknown("tool", name, owned, f"of {shown(event.server)}; a new one is written as a whole row")
            self._note(event.line, place, message)
        elif name in self._there:
            self._note(event.line, place, f"{shown(name)} is there already; put it under replace")
        else:
            self._there[name] = tool

    def _subagent(self, event: SubagentEvent, agent: _Agent, place: str) -> None:
        for index, pattern in enumerate(event.tools):
            meant = [tool for tool in self._ever.values() if _Agent(scope=((pattern,),)).may_use(tool)]
            if not meant:
                message = _unknown("tool", pattern, self._ever, "of the catalog")
                self._note(event.line, f"{place}tools[{index}]", message)
            elif not any(agent.may_use(tool) for tool in meant):
                message = f"{shown(pattern)} is not among the tools of the agent above; add it there or leave it out"
                self._note(event.line, f"{place}tools[{index}]", message)
        if not event.events:
            self._note(event.line, f"{place}events", "is empty; write what the sub-agent does")
        scope = (*agent.scope, event.tools) if event.tools else agent.scope
        self._run(event.events, _Agent(scope=scope), place)

    def _meet_needs(self) -> None:
        for agent in self._agents:
            agent.waiting = [need for need in agent.waiting if self._why_not(need.tool)]

    def _why_not(self, name: str) -> str:
        """Why a tool can't be used at this moment, or "" where it can."""
        tool = self._there.get(name)
        if tool is None:
            owner = self._ever[name].server
            if owner is not None and owner not in self._servers:
                return f"its server {shown(owner)} is not in the header"
            return "it is not there before the turn ends"
        state = "connected" if tool.server is None else self._servers.get(tool.server, "connected")
        return "" if state == "connected" else f"its server {shown(tool.server or '')} is {state} until the turn ends"

    def _end_turn(self, agent: _Agent) -> None:
        for need in agent.waiting:
            message = f"{shown(need.tool)} can't be had: {self._why_not(need.tool)}; make it available or leave it out"
            self._note(need.line, need.place, message)
        agent.waiting = []


def _unknown(kind: str, name: str, known: Iterable[str], which: str) -> str:
    near = near_names(name, known)
    hint = f"; did you mean {', '.join(map(shown, near))}?" if near else ""
    return f"{shown(name)} is no {kind} {which}{hint}"
