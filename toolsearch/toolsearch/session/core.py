"""What a session is made of, and how its parts look at the catalog, announce and recommend."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.snapshot import Snapshot
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.errors import UsageError
from toolsearch.search.index import STORE, IndexStore
from toolsearch.session.announcements import NO_SERVER, Announced, Announcer, header_text, rebuild
from toolsearch.session.array import decide, frozen_tools, inlined_tools
from toolsearch.session.attachments import entry
from toolsearch.session.calls import CallRunner, Situation
from toolsearch.session.memory import Memory
from toolsearch.session.mode import ModeDecision
from toolsearch.session.prefetch import Prefetcher
from toolsearch.session.providers import NameMap, ProviderTools, provider_for
from toolsearch.session.recommendations import Recommendations
from toolsearch.session.server_table import ServerTable
from toolsearch.session.settings import SessionSettings
from toolsearch.session.state import SessionState
from toolsearch.session.window import View, Window, WindowSearcher
from toolsearch.tokens import TokenCounter, token_counter
from toolsearch.tools.execute_tool import Ask, ExecuteTool
from toolsearch.tools.output_tool import OutputTool
from toolsearch.tools.search_tool import SearchTool


class SessionCore:
    """The parts of a session; `Session` is what a host uses."""

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        provider: str = "anthropic",
        config: SearchConfig = DEFAULT,
        settings: SessionSettings | None = None,
        ask: Ask | None = None,
        clock: Callable[[], float] = time.monotonic,
        counter: TokenCounter | None = None,
        state: SessionState | None = None,
        servers: ServerTable | None = None,
        store: IndexStore = STORE,
    ) -> None:
        """Begin a conversation, or go on with a saved one.

        Args:
            registry: The tools; they may change at any time.
            provider: Whose requests are built: one of `toolsearch.session.providers.PROVIDERS`.
            config: The search profile.
            settings: The operator's settings; None for the defaults.
            ask: Asked where a tool's permission check says so, with the real tool's name and input; without it such
                calls are denied.
            clock: Gives seconds; only the deadline of recommendations looks at it.
            counter: Counts tokens; None takes the project's own.
            state: A saved conversation, from `save`.
            servers: How the servers of this process stand, where several sessions share it.
            store: Where indexes are shared.

        Raises:
            UnknownNameError: There is no such provider.
        """
        self.settings = settings or SessionSettings()
        self._registry = registry
        self._provider = provider_for(provider)
        self._config = config
        self._ask = ask
        self._clock = clock
        self._counter = counter or token_counter()
        self._table = servers or ServerTable()
        self._store = store
        self._memory = Memory.of(state or SessionState())
        self._window = Window(registry, self._memory.scope, self._table)
        self._sent: ProviderTools | None = None
        self._undecided: tuple[Snapshot, ModeDecision] | None = None
        self._user_text = ""
        self._output: Mapping[str, Any] | None = None
        self._lock = threading.RLock()
        searcher = WindowSearcher(lambda: self._window.snapshot(self._memory.frozen), config, store=store)
        self._announcer = Announcer(self._counter, self.settings.announcement_tokens)
        self._recommendations = Recommendations(
            Prefetcher(
                searcher,
                self._counter,
                limit=self.settings.prefetch_limit if self.settings.prefetch else 0,
                confidence=self.settings.prefetch_confidence,
                token_budget=self.settings.prefetch_tokens,
            ),
            self._memory,
            limit=self.settings.prefetch_limit if self.settings.prefetch else 0,
            deadline=self.settings.prefetch_deadline,
            clock=clock,
        )
        self._runner = CallRunner(
            search=SearchTool(
                searcher,
                servers=lambda: self._look().servers,
                counter=self._counter,
                token_budget=self.settings.answer_tokens,
            ),
            output=OutputTool(self.settings.output_schema),
            proxy=self._proxy,
            discovered=lambda names: self._memory.discovered.add(names, "search"),
            finished=self._take_output,
        )

    @property
    def decision(self) -> ModeDecision:
        """Whether tools are deferred, and why; as it would be decided now, or as it was with the first request."""
        decided = self._memory.decision
        return decided if decided is not None else self._decide(self._look())

    def _look(self) -> View:
        return self._window.look(self._memory.frozen, self._memory.announced.servers)

    def _decide(self, view: View) -> ModeDecision:
        known = self._undecided
        if known is None or known[0] is not view.snapshot:
            known = self._undecided = (view.snapshot, decide(view, self._memory.scope, self.settings, self._counter))
        return known[1]

    def _tools(self) -> ProviderTools:
        """The tools of a request; with the first one, the decision and the array are fixed."""
        with self._lock:
            memory = self._memory
            if memory.decision is None:
                view = self._look()
                memory.decision = decide(view, memory.scope, self.settings, self._counter)
                if memory.decision.enabled:
                    memory.tools = frozen_tools(view, memory.decision, memory.scope, self.settings)
            if memory.tools is None:
                self._sent = self._provider.tools(inlined_tools(self._look(), memory.scope, self.settings))
            elif self._sent is None:
                self._sent = self._provider.tools(memory.tools)
            return self._sent

    def _names(self) -> NameMap:
        if self._sent is None and self._memory.decision is not None:
            self._tools()
        return self._sent.names if self._sent is not None else NameMap()

    def _announced_changes(self, entries: Sequence[Any]) -> list[dict[str, Any]]:
        memory = self._memory
        memory.announced = rebuild(entries)
        view = self._look()
        delta = self._announcer.delta(
            memory.announced,
            view.selectable,
            held={tool.name: tool.server for tool in view.snapshot.deferred},
            loaded={tool.name for tool in view.snapshot.loaded},
            servers=view.servers,
        )
        if delta is None:
            return []
        memory.announced = rebuild([*entries, entry(delta)])
        return [entry(delta)]

    def _header(self) -> str:
        view = self._look()
        listing = self._announcer.header(view.selectable)
        owners = {tool.name: tool.server or NO_SERVER for tool in view.selectable}
        self._memory.announced = Announced({name: owners[name] for name in listing.names}, listing.beyond)
        return header_text(listing)

    def _recommended(self, entries: Sequence[Any], wait: bool) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
        view = self._look()
        attachments, warnings = self._recommendations.next(
            entries,
            self._user_text,
            {tool.name: tool for tool in view.selectable},
            view.away,
            wait=wait,
        )
        return [entry(attachment) for attachment in attachments], warnings

    def _spoken(self, entries: Iterable[Any], role: Literal["user", "assistant"]) -> Iterator[str]:
        """What one side said in entries."""
        for each in entries:
            try:
                speech = self._provider.speech(each)
            except UsageError:
                # Building the payload says what is wrong with it, and where.
                continue
            if speech is not None and speech[0] == role:
                yield speech[1]

    def _situation(self) -> Situation:
        array = {tool.name: tool for tool in self._memory.tools or ()}
        return Situation(self._look(), self.decision.enabled, array)

    def _proxy(self, snapshot: Snapshot) -> ExecuteTool:
        return ExecuteTool(
            snapshot,
            servers=lambda: self._look().servers,
            require_discovery=self.settings.require_discovery,
            is_discovered=self._is_known,
            mark_discovered=lambda name: self._memory.discovered.add([name], "refusal"),
            ask=self._ask,
            default_permission=self.settings.default_permission,
            timeout=self.settings.call_timeout,
        )

    def _take_output(self, value: Mapping[str, Any]) -> None:
        self._output = value

    def _is_known(self, name: str) -> bool:
        """Whether the model has the parameters of a tool: it was discovered, or it is loaded."""
        if name in self._memory.discovered or not self.decision.enabled:
            return True
        return any(tool.name == name for tool in self._look().snapshot.loaded)
