"""A conversation under a strategy: every request is built by the real session and every call is run by it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.search.index import STORE, IndexStore
from toolsearch.session.attachments import DELTA, DISCOVERY, attachment_text
from toolsearch.session.providers.texts import reminder, sent_text
from toolsearch.session.settings import SessionSettings
from toolsearch.session.state import SessionState
from toolsearch.tokens import TokenCounter
from toolsearch.tools.servers import ServerState
from toolsearch_eval.conversations import (
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
    starting_tools,
)
from toolsearch_eval.sessionlab.blocks import Block, Known, Part, blocks_of, call_text
from toolsearch_eval.sessionlab.replayed import Pace, Replayed, Sent, Turn
from toolsearch_eval.sessionlab.replies import ScriptedCall, response
from toolsearch_eval.sessionlab.strategies import LabSession, Strategy, session_class

SYSTEM_PROMPT = "You are an agent that works for the user with the tools that you have."
"""Said to the model in every request, before the guidance about deferred tools where there are some."""

MAIN = "main"
"""The name of the agent that the user talks to; a sub-agent is called by its parent's name and its number."""

_SEARCH, _EXECUTE = SYNTHETIC_TOOLS[:2]
_MODEL = "lab"


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

    The model is scripted: it says and calls what the conversation holds. A tool that stands in the array is called by
    its name; a deferred one that it knows is run by the proxy; for one that it does not know it searches first with the
    query of the script, and if the answer does not show the tool, it selects it by name.

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
    world.run(conversation.events, world.begin(MAIN, None, None))
    return Replayed(
        conversation=conversation.name,
        strategy=strategy.name,
        requests=tuple(world.requests),
        turns=tuple(world.turns),
        called=tuple(world.called),
        warnings=tuple(dict.fromkeys(world.warnings)),
    )


@dataclass(slots=True)
class _Agent:
    """One agent at work."""

    name: str
    session: LabSession
    history: list[Any] = field(default_factory=list)
    turn: int = 0
    needs: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    recommended: list[str] = field(default_factory=list)
    texts: dict[str, Part] = field(default_factory=dict)
    searches: set[str] = field(default_factory=set)
    spoke_last: bool = False
    children: int = 0
    last_words: str = ""


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
        self._pace = pace or Pace()
        self._states: dict[str, ServerState] = dict(conversation.servers)
        self._agents: list[_Agent] = []
        self._answers: dict[str, list[str]] = {}
        self._now = 0.0
        self._calls = 0
        self._known_blocks: dict[Block, Block] = {}
        self.requests: list[Sent] = []
        self.turns: list[Turn] = []
        self.called: list[str] = []
        self.warnings: list[str] = []

    def begin(self, name: str, session: LabSession | None, parent: _Agent | None) -> _Agent:
        """A new agent; without a session, one is opened."""
        agent = _Agent(name, session or self._opened(None))
        if parent is not None:
            parent.children += 1
        return agent

    def run(self, events: Sequence[Event], agent: _Agent) -> None:
        """Go through the events of one agent."""
        self._agents.append(agent)
        for place, event in enumerate(events):
            match event:
                case UserEvent():
                    self._user(event, agent)
                case AssistantEvent():
                    self._assistant(event, _results(events[place + 1 :]), agent)
                case ServerEvent():
                    self._states[event.server] = event.state
                    for each in self._agents:
                        each.session.set_server(event.server, event.state)
                case ToolsChangedEvent():
                    self._tools_changed(event)
                case CompactEvent():
                    agent.history = agent.session.compact(agent.history, event.keep)
                case ResumeEvent():
                    self._resume(agent)
                case SubagentEvent():
                    self._subagent(event, agent)
        self._end_turn(agent)
        self._agents.pop()

    # What happens around the model

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

    def _resume(self, agent: _Agent) -> None:
        """Another process goes on with what was written down."""
        saved = json.loads(json.dumps(agent.session.save().to_json()))
        agent.session = self._opened(SessionState.from_json(saved))
        agent.history = json.loads(json.dumps(agent.history))

    def _tools_changed(self, event: ToolsChangedEvent) -> None:
        for name in event.remove:
            self._registry.remove(name, server=event.server)
        if event.replace:
            self._registry.replace([self._runnable(tool) for tool in event.replace])
        added = [self._catalog[entry] if isinstance(entry, str) else entry for entry in event.add]
        self._registry.add([self._runnable(tool) for tool in added])

    def _subagent(self, event: SubagentEvent, agent: _Agent) -> None:
        session = agent.session.subagent(event.tools or "inherit")
        child = self.begin(f"{agent.name}/{agent.children + 1}", session, agent)
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

    # The user and the model

    def _user(self, event: UserEvent, agent: _Agent) -> None:
        self._end_turn(agent)
        self._now += self._pace.between_turns if agent.turn else 0.0
        agent.turn += 1
        agent.needs = event.needs
        seen = _in_sight(agent.session) | agent.session.array_names()
        agent.unknown = tuple(name for name in event.needs if name not in seen)
        agent.history.append(agent.session.user(event.text))
        agent.spoke_last = False

    def _end_turn(self, agent: _Agent) -> None:
        if agent.turn:
            self.turns.append(
                Turn(
                    agent=agent.name,
                    number=agent.turn,
                    needs=agent.needs,
                    unknown=agent.unknown,
                    recommended=tuple(agent.recommended),
                )
            )
        agent.recommended = []

    def _assistant(self, event: AssistantEvent, results: Mapping[str, list[str]], agent: _Agent) -> None:
        self._answers = {name: list(texts) for name, texts in results.items()}
        self.called += [call.tool for call in event.calls]
        text = event.text
        for tries in (_by_query, _by_name):
            blocks, recommended = self._request(agent)
            unknown = {call.tool: call for call in event.calls if not self._can_call(agent.session, call.tool)}
            if not unknown:
                break
            searches = [self._call(agent, _SEARCH, {"query": tries(call)}) for call in unknown.values()]
            agent.searches.update(call.id for call in searches)
            self._reply(agent, text, searches, blocks, recommended, searches=len(searches))
            text = ""
        else:
            blocks, recommended = self._request(agent)
        calls = [self._scripted(agent, call) for call in event.calls]
        self._reply(agent, text, calls, blocks, recommended)
        agent.last_words = event.text or agent.last_words
        agent.spoke_last = not calls

    def _request(self, agent: _Agent) -> tuple[tuple[Block, ...], tuple[str, ...]]:
        guidance = agent.session.usage_guidance()
        system = f"{SYSTEM_PROMPT}\n\n{guidance}" if guidance else SYSTEM_PROMPT
        made = agent.session.request(agent.history, model=_MODEL, system=system, wait=True)
        agent.history = made.history
        self.warnings += made.warnings
        recommended: list[str] = []
        for entry in made.attachments:
            attachment = entry["attachment"]
            agent.texts[reminder(sent_text(attachment_text(attachment)))] = (
                "announcements" if attachment["type"] == DELTA else "recommendations"
            )
            if attachment["type"] == DISCOVERY:
                recommended += [row["name"] for row in attachment["tools"]]
        agent.recommended += recommended
        known = Known(
            groups=agent.session.array_groups(),
            texts=agent.texts,
            searches=frozenset(agent.searches),
            tail=reminder(sent_text(made.header)) if made.header else "",
        )
        blocks = blocks_of(self._api, made.payload, known)
        # The same piece in another request is the same object, which makes comparing them quick.
        return tuple(self._known_blocks.setdefault(block, block) for block in blocks), tuple(recommended)

    def _reply(
        self,
        agent: _Agent,
        text: str,
        calls: Sequence[ScriptedCall],
        blocks: tuple[Block, ...],
        recommended: tuple[str, ...],
        *,
        searches: int = 0,
    ) -> None:
        answer = response(self._api, text, calls)
        agent.history += agent.session.reply(answer)
        outcomes = [agent.session.handle(call) for call in agent.session.calls(answer)]
        agent.history += agent.session.results(outcomes)
        self.requests.append(
            Sent(
                agent=agent.name,
                turn=agent.turn,
                seconds=self._now,
                blocks=blocks,
                reply=(*([text] if text else []), *(call_text(call.name, dict(call.arguments)) for call in calls)),
                searches=searches,
                failed=sum(outcome.is_error for outcome in outcomes),
                recommended=recommended,
            )
        )
        self._now += self._pace.between_requests

    def _can_call(self, session: LabSession, name: str) -> bool:
        """Whether the model can call a tool without a search: it stands in the array, or it was shown."""
        if name in session.array_names() or not session.decision.enabled:
            return True
        return name in _in_sight(session)

    def _scripted(self, agent: _Agent, call: Call) -> ScriptedCall:
        session = agent.session
        if call.tool in session.array_names() or not session.decision.enabled:
            return self._call(agent, call.tool, call.params)
        return self._call(agent, _EXECUTE, {"tool_name": call.tool, "params": dict(call.params)})

    def _call(self, agent: _Agent, name: str, arguments: Mapping[str, Any]) -> ScriptedCall:
        self._calls += 1
        return ScriptedCall(f"call-{self._calls}", agent.session.sent_name(name), arguments)


def _by_query(call: Call) -> str:
    return call.query or f"select:{call.tool}"


def _by_name(call: Call) -> str:
    return f"select:{call.tool}"


def _in_sight(session: LabSession) -> set[str]:
    """The tools whose parameters stand in what the model still sees."""
    return {each.name for each in session.save().discovered if each.in_context}


def _results(events: Sequence[Event]) -> dict[str, list[str]]:
    """What the calls of a reply give, by tool: the results up to the next time that someone speaks."""
    results: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event, UserEvent | AssistantEvent | CompactEvent | ResumeEvent):
            break
        if isinstance(event, ToolResultEvent):
            results.setdefault(event.tool, []).append(event.text)
    return results
