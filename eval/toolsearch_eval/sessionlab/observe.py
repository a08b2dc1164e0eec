"""Conversations walked through with everything deferred that can be: who calls what, and what has to be searched for.

The catalog, the servers, the searches and the arrays are those of a real session. Requests are counted, not built: what
stands in one is the sum of what was said, called and answered before.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.search.index import STORE, IndexStore
from toolsearch.session.session import Session
from toolsearch.session.settings import SessionSettings
from toolsearch.session.window import Scope
from toolsearch.tokens import TokenCounter
from toolsearch_eval.conversations import (
    AssistantEvent,
    Call,
    CompactEvent,
    Conversation,
    Event,
    ServerEvent,
    SubagentEvent,
    ToolResultEvent,
    ToolsChangedEvent,
    UserEvent,
    starting_tools,
)
from toolsearch_eval.sessionlab.blocks import call_text
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.scripted_model import SYSTEM_PROMPT
from toolsearch_eval.sessionlab.tool_use import Observed, ToolUse, together

EXECUTE = "ExecuteExtraTool"
SEARCH = "SearchExtraTools"
_GONE = ("failed", "disabled")


def observe(
    conversations: Iterable[Conversation],
    catalog: Sequence[Tool],
    *,
    api: str,
    counter: TokenCounter,
    config: SearchConfig = DEFAULT,
    store: IndexStore = STORE,
) -> tuple[Observed, ...]:
    """How each conversation uses its tools when none is pinned and nothing is recommended; `together` adds them up.

    The model is scripted, as in a replay: for a tool that it has not been shown it searches by the script's query, and
    by the tool's name where the answer does not show it; tools that are looked for at the same time share the round
    trip. After a compaction everything has to be found again.

    Args:
        conversations: Without faults; their pins are set aside.
        catalog: The tools that they are about; `always_load` is set aside too.
        api: The form of the requests.
        counter: Counts the tokens.
        config: The search profile.
        store: Where indexes are shared.
    """
    tools = [replace(tool, always_load=False) for tool in catalog]
    sizes = Sizes(counter)
    return tuple(_Walk(each, tools, api, sizes, config, store).observed() for each in conversations)


@dataclass(slots=True)
class _Resident:
    """Tokens that stay in the requests of an agent from one on."""

    tool: str
    measure: str
    tokens: float
    since: int


@dataclass(slots=True)
class _Agent:
    session: Session
    can_search: bool = False
    pinnable: frozenset[str] = frozenset()
    prefix: int = 0
    requests: int = 0
    messages: list[int] = field(default_factory=list)
    residents: list[_Resident] = field(default_factory=list)
    uses: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))


class _Walk:
    """One conversation."""

    def __init__(
        self,
        conversation: Conversation,
        catalog: Sequence[Tool],
        api: str,
        sizes: Sizes,
        config: SearchConfig,
        store: IndexStore,
    ) -> None:
        self._conversation = conversation
        self._catalog = {tool.name: tool for tool in catalog}
        self._registry = ToolRegistry(starting_tools(conversation, catalog))
        self._sizes = sizes
        self._session = Session(
            self._registry,
            provider=api,
            config=config,
            # The list of names is only looked at where a search sends it once more.
            settings=SessionSettings(prefetch=False, announcements="header", mode="true"),
            counter=sizes.counter,
            store=store,
        )
        for server, state in conversation.servers.items():
            self._session.set_server(server, state)
        self._seen: list[Observed] = []

    def observed(self) -> Observed:
        """Go through all of it."""
        self._run(self._conversation.events, self._session)
        return replace(together(self._seen), conversations=1)

    def _run(self, events: Sequence[Event], session: Session) -> None:
        agent = _Agent(session)
        for event in events:
            match event:
                case UserEvent():
                    agent.messages.append(self._sizes.tokens(event.text))
                case AssistantEvent():
                    self._assistant(event, agent)
                case ToolResultEvent():
                    agent.messages.append(self._sizes.tokens(event.text))
                case ServerEvent():
                    self._session.set_server(event.server, event.state)
                case ToolsChangedEvent():
                    self._tools_changed(event)
                case CompactEvent():
                    self._compact(event, agent)
                case SubagentEvent():
                    self._run(event.events, agent.session.subagent(event.tools or "inherit"))
                case _:
                    pass  # another process goes on with the same history
        self._settle(agent)
        self._end(agent)

    def _freeze(self, agent: _Agent) -> None:
        """Before the first request: the array is fixed, and with it what a pin could have put there."""
        session = agent.session
        texts = [json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in session.tools_array()]
        agent.prefix = sum(map(self._sizes.tokens, [*texts, SYSTEM_PROMPT, session.usage_guidance()]))
        agent.can_search = session.decision.enabled
        if agent.can_search:
            gone = {name for name, status in session.servers.items() if status.state in _GONE}
            scope = Scope(session.save().scope)
            held = (tool for tool in self._registry.deferred() if tool.server not in gone and scope.holds(tool))
            agent.pinnable = frozenset(tool.name for tool in held)

    def _assistant(self, event: AssistantEvent, agent: _Agent) -> None:
        if not agent.requests:
            self._freeze(agent)
        deferred = {tool.name for tool in self._registry.deferred()} if agent.can_search else set()
        wanted = {call.tool: call for call in event.calls if call.tool in deferred}
        for query in (_by_query, _by_name):
            known = {each.name for each in agent.session.save().discovered if each.in_context}
            unknown = [call for name, call in wanted.items() if name not in known]
            if not unknown:
                break
            self._search(unknown, query, agent)
        self._request(agent)
        for name in wanted:
            agent.uses[name]["users"] = 1.0
        said = self._sizes.tokens(event.text)
        for call in event.calls:
            written = self._sizes.tokens(call_text(call.tool, dict(call.params)))
            if call.tool in deferred:
                proxied = {"tool_name": call.tool, "params": dict(call.params)}
                more = self._sizes.tokens(call_text(EXECUTE, proxied)) - written
                use = agent.uses[call.tool]
                use["calls"] += 1
                use["wrapped"] += more
                agent.residents.append(_Resident(call.tool, "wrapped_kept", more, agent.requests + 1))
                written += more
            said += written
        agent.messages.append(said)

    def _search(self, unknown: Sequence[Call], query: Callable[[Call], str], agent: _Agent) -> None:
        """One round trip: a request whose reply searches for each of the tools."""
        share = 1 / len(unknown)
        sent = agent.prefix + sum(agent.messages)
        listed = self._sizes.tokens(agent.session.request([agent.session.user("x")], model="lab").header)
        self._request(agent)
        for call in unknown:
            text = query(call)
            asked = self._sizes.tokens(call_text(SEARCH, {"query": text}))
            answered = self._sizes.tokens(agent.session.search(text).text)
            use = agent.uses[call.tool]
            use["searches"] += share
            use["reread"] += share * sent
            use["listed"] += share * listed
            use["asked"] += asked
            use["answered"] += answered
            agent.residents.append(_Resident(call.tool, "kept", asked + answered, agent.requests + 1))
            agent.messages += [asked, answered]

    def _request(self, agent: _Agent) -> None:
        agent.requests += 1
        for name in agent.session.selectable:
            use = agent.uses[name]
            use["announced"] += 1
            use["first_announced"] = 1.0

    def _compact(self, event: CompactEvent, agent: _Agent) -> None:
        if event.keep >= len(agent.messages):
            return
        self._settle(agent)
        agent.messages = agent.messages[len(agent.messages) - event.keep :]
        agent.session.compact([agent.session.user("x")])

    def _settle(self, agent: _Agent) -> None:
        """Count how often what stays was sent again, up to here; the first time is not counted."""
        for each in agent.residents:
            agent.uses[each.tool][each.measure] += each.tokens * max(0, agent.requests - each.since)
        agent.residents = []

    def _tools_changed(self, event: ToolsChangedEvent) -> None:
        for name in event.remove:
            self._registry.remove(name, server=event.server)
        if event.replace:
            self._registry.replace([replace(tool, always_load=False) for tool in event.replace])
        added = [self._catalog[each] if isinstance(each, str) else each for each in event.add]
        self._registry.add([replace(tool, always_load=False) for tool in added])

    def _end(self, agent: _Agent) -> None:
        if not agent.can_search or not agent.requests:
            return
        uses = {}
        for name in sorted({*agent.pinnable, *agent.uses}):
            counted: Mapping[str, float] = agent.uses[name]
            if name not in agent.pinnable:
                # It comes later, so pinning it changes nothing here.
                counted = {each: counted[each] for each in ("calls", "users") if each in counted}
                uses[name] = ToolUse(**counted)
            else:
                requests = agent.requests - counted.get("searches", 0.0)
                uses[name] = ToolUse(agents=1.0, requests=requests, **counted)
        self._seen.append(Observed(conversations=0, agents=1, requests=agent.requests, uses=uses))


def _by_query(call: Call) -> str:
    return call.query or f"select:{call.tool}"


def _by_name(call: Call) -> str:
    return f"select:{call.tool}"
