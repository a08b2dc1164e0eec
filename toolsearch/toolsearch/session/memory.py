"""What a running conversation remembers; its saved form is `SessionState`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.search.recommended import RecommendedNames
from toolsearch.session.announcements import Announced
from toolsearch.session.discovered import DiscoveredTools
from toolsearch.session.mode import ModeDecision
from toolsearch.session.state import SessionState
from toolsearch.session.window import Frozen, Scope, key_of


@dataclass(slots=True)
class Memory:
    """The mutable side of a session.

    Attributes:
        decision: Decided with the first request, then never again.
        tools: What the tools array was frozen with; None before the first request and where nothing is deferred.
        discovered: Tools that the model was shown.
        announced: What the model was told last.
        prefetched: Tools that were recommended.
        scope: What an agent is limited to.
        last_input: Marks the user's text for which tools were recommended last, so that none is searched twice.
        last_attachment: What was recommended for it; attached again if a request has to be made anew. Not saved.
    """

    decision: ModeDecision | None = None
    tools: tuple[Tool, ...] | None = None
    discovered: DiscoveredTools = field(default_factory=DiscoveredTools)
    announced: Announced = field(default_factory=Announced)
    prefetched: RecommendedNames = field(default_factory=RecommendedNames)
    scope: Scope = field(default_factory=Scope)
    last_input: str = ""
    last_attachment: dict[str, Any] | None = None

    @classmethod
    def of(cls, state: SessionState) -> Memory:
        """The memory that a saved state describes."""
        return cls(
            decision=state.decision,
            tools=state.tools,
            discovered=DiscoveredTools(state.discovered),
            announced=Announced(dict(state.announced)),
            prefetched=RecommendedNames(state.prefetched),
            scope=Scope(state.scope),
            last_input=state.last_input,
        )

    def saved(self) -> SessionState:
        """The state to save."""
        return SessionState(
            decision=self.decision,
            tools=self.tools,
            discovered=tuple(self.discovered),
            announced=tuple(sorted(self.announced.owners.items())),
            prefetched=tuple(self.prefetched),
            scope=self.scope.levels,
            last_input=self.last_input,
        )

    @property
    def frozen(self) -> Frozen | None:
        """Key and name of the tools in the array; None while it is not frozen."""
        return None if self.tools is None else frozenset((key_of(tool), tool.name) for tool in self.tools)


def mark_of(text: str) -> str:
    """A short mark by which a text is known again."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
