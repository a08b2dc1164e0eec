"""A conversation under a strategy: every request is built by the real session and every call is run by it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.search.index import STORE, IndexStore
from toolsearch.session.providers.texts import reminder
from toolsearch.session.settings import SessionSettings
from toolsearch.session.state import SessionState
from toolsearch.tokens import TokenCounter
from toolsearch.tools.servers import ServerState
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
    starting_tools,
)
from toolsearch_eval.sessionlab.agent import Agent
from toolsearch_eval.sessionlab.happenings import Happening
from toolsearch_eval.sessionlab.replayed import Pace, Replayed, Turn
from toolsearch_eval.sessionlab.scripted_model import ScriptedModel
from toolsearch_eval.sessionlab.strategies import LabSession, Strategy, session_class

MAIN = "main"
"""The name of the agent that the user talks to; a sub-agent is called by its parent's name and its number."""


def replay(
    conversation: Conversation,
    catalog: Sequence[Tool],
    strategy: Strategy,
    *,
    api: str,
    counter: TokenCounter,
    config: SearchConfig = DEFAULT,
    settings: SessionSettings | None = None,
    pace: Pace | None = None,
    teams: bool = False,
    pins: Sequence[str] = (),
    store: IndexStore = STORE,
) -> Replayed:
    """Replay a conversation.

    The model is scripted: it says and calls what the conversation holds, see `ScriptedModel`.

    Args:
        conversation: Without faults, see `check_conversation`.
        catalog: The tools that the conversation is about.
        strategy: How tools reach the model.
        api: The form of the requests.
        counter: Counts tokens for the session's own budgets.
        config: The search profile.
        settings: What the strategy does not set; the defaults if None.
        pace: How much time passes; the defaults if None.
        teams: Agent teams are on.
        pins: Further pinned tools, beside those of the conversation.
        store: Where indexes are shared.
    """
    world = _World(conversation, catalog, strategy, api, counter, config, settings, pace, teams, pins, store)
    world.run(conversation.events, world.agent(MAIN))
    return Replayed(
        conversation=conversation.name,
        strategy=strategy.name,
        requests=tuple(world.model.requests),
        turns=tuple(world.turns),
        called=tuple(world.called),
        warnings=tuple(dict.fromkeys(world.model.warnings)),
    )


class _World:
    """The registry, the servers and the agents of one replay."""

    def __init__(
        self,
        conversation: Conversation,
        catalog: Sequence[Tool],
        strategy: Strategy,
        api: str,
        counter: TokenCounter,
        config: SearchConfig,
        settings: SessionSettings | None,
        pace: Pace | None,
        teams: bool,
        pins: Sequence[str],
        store: IndexStore,
    ) -> None:
        self._catalog = {tool.name: tool for tool in catalog}
        self._registry = ToolRegistry(
            map(self._runnable, starting_tools(conversation, catalog)),
            pins=tuple(dict.fromkeys((*conversation.pins, *pins))),
            teams=teams,
        )
        self._class = session_class(strategy)
        self._settings = strategy.settings(settings or SessionSettings())
        self._api, self._counter, self._config, self._store = api, counter, config, store
        self._states: dict[str, ServerState] = dict(conversation.servers)
        self._agents: list[Agent] = []
        self._answers: dict[str, list[str]] = {}
        self.model = ScriptedModel(api, pace or Pace())
        self.turns: list[Turn] = []
        self.called: list[str] = []

    def agent(self, name: str, session: LabSession | None = None) -> Agent:
        """A new agent; without a session, one is opened."""
        return Agent(name, session or self._opened(None))

    def run(self, events: Sequence[Event], agent: Agent) -> None:
        """Go through the events of one agent."""
        self._agents.append(agent)
        for place, event in enumerate(events):
            match event:
                case UserEvent():
                    self._user(event, agent)
                case AssistantEvent():
                    self._answers = _results(events[place + 1 :])
                    self.called += [call.tool for call in event.calls]
                    self.model.answer(event, agent)
                case ServerEvent():
                    self._server(event)
                case ToolsChangedEvent():
                    self._tools_changed(event)
                case CompactEvent():
                    agent.history = agent.session.compact(agent.history, event.keep)
                    words = f"the history was compacted, {event.keep} messages stayed"
                    agent.happened(Happening(kind="compaction", words=words))
                case ResumeEvent():
                    self._resume(agent)
                case SubagentEvent():
                    self._subagent(event, agent)
        self._end_turn(agent)
        self._agents.pop()

    def _user(self, event: UserEvent, agent: Agent) -> None:
        self._end_turn(agent)
        if agent.turn:
            self.model.wait()
        agent.hear(event)

    def _end_turn(self, agent: Agent) -> None:
        turn = agent.ended_turn()
        if turn is not None:
            self.turns.append(turn)

    def _opened(self, state: SessionState | None) -> LabSession:
        session = self._class(
            self._registry,
            provider=self._api,
            config=self._config,
            settings=self._settings,
            counter=self._counter,
            state=state,
            store=self._store,
        )
        for server, standing in self._states.items():
            session.set_server(server, standing)
        return session

    def _resume(self, agent: Agent) -> None:
        """Another process goes on with what was written down."""
        saved = json.loads(json.dumps(agent.session.save().to_json()))
        agent.session = self._opened(SessionState.from_json(saved))
        agent.history = json.loads(json.dumps(agent.history))
        agent.happened(Happening(kind="resume", words="the session was resumed"))

    def _server(self, event: ServerEvent) -> None:
        self._states[event.server] = event.state
        for each in self._agents:
            each.session.set_server(event.server, event.state)
        self._tell(Happening(kind="server", words=f"server {event.server} is {event.state}"), event.server)

    def _tools_changed(self, event: ToolsChangedEvent) -> None:
        had = self._tools_of(event.server)
        for name in event.remove:
            self._registry.remove(name, server=event.server)
        if event.replace:
            self._registry.replace([self._runnable(tool) for tool in event.replace])
        added = [self._catalog[entry] if isinstance(entry, str) else entry for entry in event.add]
        self._registry.add([self._runnable(tool) for tool in added])
        words = f"server {event.server} has changed its tools"
        self._tell(Happening(kind="tools changed", words=words, tools=had), event.server)

    def _tell(self, happening: Happening, server: str) -> None:
        """All agents live through it; it is about the tools that the server has now, and those that it names."""
        about = replace(happening, tools=happening.tools | self._tools_of(server))
        for each in self._agents:
            each.happened(about)

    def _tools_of(self, server: str) -> frozenset[str]:
        return frozenset(tool.name for tool in self._registry.snapshot().tools if tool.server == server)

    def _subagent(self, event: SubagentEvent, agent: Agent) -> None:
        agent.children += 1
        session = agent.session.subagent(event.tools or "inherit")
        child = self.agent(f"{agent.name}/{agent.children}", session)
        self.run(event.events, child)
        if agent.spoke_last:
            # No call of the parent is waiting for the answer, so it comes as a message.
            agent.history.append(agent.session.user(reminder(f"A sub-agent answered: {child.last_words}")))
            agent.spoke_last = False

    def _runnable(self, tool: Tool) -> Tool:
        """The tool, giving what the script says; a loaded one is run by the host, as it would be."""
        name = tool.name

        def call(_params: Mapping[str, Any]) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": self._answer(name)}]}

        return replace(tool, call=call)

    def _answer(self, name: str) -> str:
        waiting = self._answers.get(name)
        return waiting.pop(0) if waiting else ""


def _results(events: Sequence[Event]) -> dict[str, list[str]]:
    """What the calls of a reply give, by tool: the results up to the next time that someone speaks."""
    results: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event, UserEvent | AssistantEvent | CompactEvent | ResumeEvent):
            break
        if isinstance(event, ToolResultEvent):
            results.setdefault(event.tool, []).append(event.text)
    return results
