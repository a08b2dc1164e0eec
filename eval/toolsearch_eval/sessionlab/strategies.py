"""How tools reach the model: all of them, those that were discovered, or none beyond the core and a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.errors import UnknownNameError
from toolsearch.session.array import inlined_tools
from toolsearch.session.providers import ProviderTools
from toolsearch.session.session import Session
from toolsearch.session.settings import Announcements, SessionSettings

Loading = Literal["inline", "inject", "stable"]
"""`inline`: every tool is in every request. `inject`: a discovered tool joins the array. `stable`: the array stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """One way to let the model have tools.

    Attributes:
        name: As it is asked for.
        loading: See `Loading`.
        announcements: How the model learns which deferred tools there are.
        prefetch: Tools are recommended before the model asks.
    """

    name: str
    loading: Loading
    announcements: Announcements = "header"
    prefetch: bool = False

    def settings(self, base: SessionSettings) -> SessionSettings:
        """The settings of a session under this strategy; everything else is as in `base`."""
        return base.replace(
            mode="false" if self.loading == "inline" else "true",
            kill_switch=None,
            announcements=self.announcements,
            prefetch=self.prefetch,
        )


STRATEGIES: Mapping[str, Strategy] = {
    each.name: each
    for each in (
        Strategy(name="inline", loading="inline"),
        Strategy(name="inject", loading="inject"),
        Strategy(name="inject+prefetch", loading="inject", prefetch=True),
        Strategy(name="stable+header", loading="stable"),
        Strategy(name="stable+header+prefetch", loading="stable", prefetch=True),
        Strategy(name="stable+delta", loading="stable", announcements="delta"),
        Strategy(name="stable+delta+prefetch", loading="stable", announcements="delta", prefetch=True),
    )
}
"""Every strategy by name. `inline` has no prefetch: there is nothing that the model does not see already."""

BASELINE = "inline"
"""What savings are counted against."""


def strategy(name: str) -> Strategy:
    """A strategy by name.

    Raises:
        UnknownNameError: There is none of this name.
    """
    if name not in STRATEGIES:
        raise UnknownNameError("strategy", name, STRATEGIES)
    return STRATEGIES[name]


class LabSession(Session):
    """A session as any host has it; the lab may look at what the tools array holds."""

    def __init__(self, *given: Any, **options: Any) -> None:
        """As `Session`."""
        super().__init__(*given, **options)
        self._made: tuple[tuple[Any, ...], ProviderTools] | None = None

    def _tools(self) -> ProviderTools:
        """The same as of any session; an array of which nothing has changed is not worked out again."""
        if self._made is None or self._made[0] != self._stand() or self._sent is None:
            sent = self._array()
            # With the first request the decision is made, which is a part of how things stand.
            self._made = (self._stand(), sent)
        return self._made[1]

    def _stand(self) -> tuple[Any, ...]:
        view = self._look()
        return (view.snapshot, view.servers, self._memory.decision, self._memory.discovered.names)

    def _array(self) -> ProviderTools:
        return super()._tools()

    def array_names(self) -> frozenset[str]:
        """The tools of the array under their own names; fixes it as a request does."""
        return frozenset(self._tools().names.sent)

    def array_groups(self) -> Mapping[str, str]:
        """For each tool of the array, under the name that is sent: `core`, `deferred` or `own` (the synthetic ones).

        `deferred` are those that only stand there because they were inlined or injected.
        """
        loaded = {tool.name for tool in self._registry.snapshot().loaded}
        return {
            sent: "own" if name in SYNTHETIC_TOOLS else "core" if name in loaded else "deferred"
            for name, sent in self._tools().names.sent.items()
        }

    def sent_names(self) -> Mapping[str, str]:
        """The tools of the array by their own names, as they are sent."""
        return self._tools().names.sent

    def discovered_names(self) -> frozenset[str]:
        """Every tool that the model has been shown in this session."""
        return frozenset(self._memory.discovered.names)

    def sent_name(self, name: str) -> str:
        """What the provider calls a tool."""
        return self._names().to_sent(name)


class InjectingSession(LabSession):
    """The guide's first version: a discovered tool joins the array, in the place that the array's order has for it.

    All else is the session of the product. The array is the order of its own `inlined` array without the tools that are
    deferred and unknown, which is what that version did: it filtered the list of all tools. So an array changes with
    each discovery, and shrinks when a server of a discovered tool goes.
    """

    def _array(self) -> ProviderTools:
        sent = super()._array()
        if not self.decision.enabled or self._memory.tools is None:
            return sent
        frozen = {tool.name: tool for tool in self._memory.tools}
        known = set(self._memory.discovered.names) - set(frozen)
        found = [
            tool
            for tool in inlined_tools(self._look(), self._memory.scope, self.settings)
            if tool.name in known and tool.name not in SYNTHETIC_TOOLS
        ]
        if not found:
            return sent
        own = [tool for tool in self._memory.tools if tool.name in SYNTHETIC_TOOLS]
        core = [tool for tool in self._memory.tools if tool.name not in SYNTHETIC_TOOLS]
        self._sent = self._provider.tools([*core, *found, *own])
        return self._sent


def session_class(chosen: Strategy) -> type[LabSession]:
    """The session that a strategy runs on."""
    return InjectingSession if chosen.loading == "inject" else LabSession
