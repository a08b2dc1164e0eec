"""One conversation with tool search, from top to bottom as one turn: request, reply, calls, results."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.errors import UsageError
from toolsearch.session.attachments import attachment_text, entry
from toolsearch.session.core import SessionCore
from toolsearch.session.providers import ToolCall, ToolOutcome
from toolsearch.session.providers.texts import reminder
from toolsearch.session.raw_calls import read_call
from toolsearch.session.settings import SessionSettings
from toolsearch.session.state import SessionState
from toolsearch.tools.found import SearchAnswer
from toolsearch.tools.search_tool import SearchTool
from toolsearch.tools.servers import ServerState, ServerStatus

COMPACTED = "Earlier parts of this conversation were left out to make room."
"""Stands for what compaction left out, where the host gives no summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, ready to be sent.

    Attributes:
        payload: The keyword arguments of one call of the provider's client.
        history: The history with what this request added to it; the next request goes on from here.
        attachments: What was added: the entries, in order.
        header: The list of deferred tools at the end of the payload, which is in no history; "" without one.
        warnings: What the operator should know, each once.
    """

    payload: dict[str, Any]
    history: list[Any]
    attachments: tuple[dict[str, Any], ...]
    header: str
    warnings: tuple[str, ...]


class Session(SessionCore):
    """A conversation: what is sent, what the model calls, and what is remembered between the two.

    The host keeps the history, a list of messages in the provider's own form and of attachments. Its loop is:
    `request`, the provider's client, `reply`, `calls`, `handle`, `results`. Any number of sessions may share a
    registry, and with it one index; a session itself may be used by several threads.
    """

    # What there is, and how it stands

    @property
    def servers(self) -> Mapping[str, ServerStatus]:
        """How every known server stands, by name."""
        return self._look().servers

    def set_server(self, name: str, state: ServerState, reason: str = "") -> None:
        """Say how a server stands: `connected`, `pending`, `failed`, `disconnected` or `disabled`.

        Raises:
            UnknownNameError: There is no such state.
        """
        self._table.set(name, state, reason)

    @property
    def discovered(self) -> tuple[str, ...]:
        """The tools that the model was shown with their parameters, oldest first."""
        return self._memory.discovered.names

    @property
    def announced(self) -> tuple[str, ...]:
        """The names that the last request announced, or had announced before; sorted."""
        return tuple(sorted(self._memory.announced.owners))

    @property
    def selectable(self) -> tuple[str, ...]:
        """The names of the deferred tools that can be used now, sorted."""
        return tuple(sorted(tool.name for tool in self._look().selectable))

    @property
    def output(self) -> Mapping[str, Any] | None:
        """The last final answer that the model handed over through `SyntheticOutput`; None before."""
        return self._output

    def usage_guidance(self) -> str:
        """What a system prompt may say about deferred tools, always the same; "" where nothing is deferred."""
        return SearchTool.usage_guidance() if self.decision.enabled else ""

    def tools_array(self) -> list[dict[str, Any]]:
        """The tools as the provider takes them; taken for the first request, so it is fixed from now on."""
        return copy.deepcopy(self._tools().array)

    # One turn

    def user(self, text: str) -> dict[str, Any]:
        """The history entry of a user's text."""
        return self._provider.user(text)

    def request(
        self, history: Sequence[Any], *, model: str, system: str | None = None, wait: bool = False, **options: Any
    ) -> Request:
        """Build the next request.

        Args:
            history: All entries so far, with those that earlier requests added. It is not changed.
            model: As the provider calls it.
            system: The system prompt.
            wait: Wait for recommendations from the background however long they take, as a replay does.
            options: Further arguments for the provider's client.

        Raises:
            UsageError: A history that can't be sent, or an option that is the session's to set.
        """
        tools = self._tools()
        entries = list(history)
        self._user_text = next(self._spoken(reversed(entries), "user"), "")
        added: list[dict[str, Any]] = []
        header = ""
        trouble: tuple[str, ...] = ()
        if self.decision.enabled:
            if self.settings.announcements == "delta":
                added += self._announced_changes(entries)
            else:
                header = self._header()
            recommended, trouble = self._recommended(entries, wait)
            added += recommended
        payload = self._provider.payload(
            model=model,
            system=system,
            tools=tools,
            history=[*entries, *added],
            render=attachment_text,
            tail=header or None,
            options=options,
        )
        warnings = (*self.decision.warnings, *self._look().warnings, *tools.warnings, *trouble)
        return Request(
            payload=payload,
            history=[*entries, *added],
            attachments=tuple(added),
            header=header,
            warnings=tuple(dict.fromkeys(warnings)),
        )

    def reply(self, response: Any) -> list[dict[str, Any]]:
        """The entries that a response adds to the history; what it says is searched for tools in the background."""
        entries = self._provider.reply(response)
        if self.decision.enabled:
            told = " ".join(self._spoken(entries, "assistant"))
            self._recommendations.start(self._user_text, told, self._look().away)
        return entries

    def calls(self, response: Any) -> tuple[ToolCall, ...]:
        """The calls of a response, in order, under the tools' own names."""
        return self._provider.calls(response, self._names())

    def runs(self, call: Any) -> bool:
        """Whether `handle` can run a call; False for a loaded tool that the host runs itself.

        Raises:
            UsageError: It is no tool call.
        """
        snapshot = self._look().snapshot
        tool = snapshot.get(read_call(self._provider, self._names(), call).name)
        if tool is None or tool.name in SYNTHETIC_TOOLS or tool.call is not None:
            return True
        return self.decision.enabled and tool not in snapshot.loaded

    def handle(self, call: Any, *, context: Any = None) -> ToolOutcome:
        """Answer a call: search, proxy, final answer, or a tool called by its own name; never raises for what it holds.

        Args:
            call: An item of `calls`, or one tool call as the provider's client gives it.
            context: Passed on to the tool that runs.

        Raises:
            UsageError: It is no tool call at all.
        """
        return self._runner.run(read_call(self._provider, self._names(), call), self._situation(), context)

    async def handle_async(self, call: Any, *, context: Any = None) -> ToolOutcome:
        """As `handle`, for tools that are awaited; several calls of a turn may run at once."""
        return await self._runner.run_async(read_call(self._provider, self._names(), call), self._situation(), context)

    def search(self, arguments: Mapping[str, Any] | str, *, server: str | None = None) -> SearchAnswer:
        """Search as the model does by calling `SearchExtraTools`, for a host that asks itself.

        Args:
            arguments: The arguments of such a call, or a query.
            server: Only tools of this server, exactly.

        Returns:
            The answer. What it shows counts as discovered, since its text is made for the model.
        """
        if server is not None:
            given = dict(arguments) if isinstance(arguments, Mapping) else {"query": arguments}
            arguments = {**given, "server": server}
        return self._runner.search(arguments, enabled=self.decision.enabled)

    def results(self, outcomes: Sequence[ToolOutcome]) -> list[dict[str, Any]]:
        """The entries that answer the calls of one turn."""
        return self._provider.results(outcomes)

    # Around the turns

    def prefetch(self, text: str) -> dict[str, Any] | None:
        """Recommend tools for a text of the user now: the entry to add to the history, or None.

        `request` does this for each new text by itself.
        """
        if not self.decision.enabled:
            return None
        view = self._look()
        attachment = self._recommendations.now(text, {tool.name: tool for tool in view.selectable}, view.away)
        return None if attachment is None else entry(attachment)

    def compact(self, history: Sequence[Any], keep: int = 0, *, summary: str | None = None) -> list[Any]:
        """Shorten a history to its newest entries.

        What was discovered stays known; what was announced or recommended in the part that goes is announced, and can
        be recommended, again. The tools array stays as it is.

        Args:
            history: All entries.
            keep: How many of the newest entries stay, at least 0.
            summary: What is said instead of the others; a plain note without it.

        Raises:
            UsageError: `keep` is not a whole number of at least 0.
        """
        given: object = keep
        if not isinstance(given, int) or isinstance(given, bool) or given < 0:
            raise UsageError(f"keep is {given!r}; it must be a whole number of at least 0.")
        if keep >= len(history):
            return list(history)
        kept = list(history)[len(history) - keep :] if keep else []
        self._recommendations.compacted(kept)
        return [self._provider.user(reminder(summary or COMPACTED)), *kept]

    def subagent(
        self, tools: Literal["inherit"] | Iterable[str] = "inherit", *, settings: SessionSettings | None = None
    ) -> Self:
        """A session of its own for a sub-agent: same catalog, nothing announced or discovered yet.

        Args:
            tools: The names and patterns that it may use, always within what this session may use. Without search or
                proxy in the list, all its tools are loaded. `inherit`: the same as this session.
            settings: Its settings; None for those of this session.

        Raises:
            UsageError: `tools` is another text.
        """
        scope = self._memory.scope
        if isinstance(tools, str):
            if tools != "inherit":
                raise UsageError(f"tools is the text {tools!r}; give a list of names and patterns, or 'inherit'.")
        else:
            scope = scope.within(tools)
        return self._sibling(SessionState(scope=scope.levels), settings or self.settings)

    def fork(self) -> Self:
        """A second session that goes on from the same point; from now on each remembers for itself."""
        return self._sibling(self.save(), self.settings)

    def save(self) -> SessionState:
        """What the conversation needs to go on elsewhere, beside its history."""
        return self._memory.saved()

    @classmethod
    def restore(cls, registry: ToolRegistry, saved: SessionState | Mapping[str, Any], **options: Any) -> Self:
        """Go on with a saved conversation; `options` are those of `Session`.

        Servers that had tools and of which nothing is known yet count as still connecting: nothing of theirs is taken
        for gone until the host says how they stand, or their tools are there.

        Raises:
            DataError: `saved` is no state.
        """
        state = saved if isinstance(saved, SessionState) else SessionState.from_json(saved)
        return cls(registry, state=state, **options)

    # Inside

    def _sibling(self, state: SessionState, settings: SessionSettings) -> Self:
        return type(self)(
            self._registry,
            provider=self._provider.name,
            config=self._config,
            settings=settings,
            ask=self._ask,
            clock=self._clock,
            counter=self._counter,
            state=state,
            servers=self._table,
            store=self._store,
        )
