"""What a search for tools answers: plain frozen values beside the text that the model reads.

Everything that a program needs is a field here; nothing is ever read back out of the text. Names, descriptions and
schemas stand here as their owners wrote them (untrusted); only the text is neutralised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolsearch.search.results import Reason

SCHEMA_VERSION = 1
"""Of `SearchAnswer.to_json`; grows when a field changes its meaning or goes away."""

Mode = Literal["select", "discover", "keyword", "required", "list"]
"""How the query was read: by names, by words with full schemas, by words, with required words, a server's tools."""

Detail = Literal["schema", "brief", "nothing"]
"""What the text shows of a tool's parameters: the JSON Schema, a line with name, type and `?`, or nothing at all."""

MissReason = Literal["unknown", "ambiguous", "unavailable", "unknown_server", "ambiguous_server"]
"""Why a name gave nothing: no such tool, several have it, its server is not there now; or the same of a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a tool, in brief.

    Attributes:
        name: As the schema spells it.
        type: JSON types joined by `|`; `any` where the schema says none.
        required: The tool can't be called without it.
        description: What the schema says about it, or None.
    """

    name: str
    type: str
    required: bool
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTool:
    """One tool of an answer.

    Attributes:
        name: The tool's id, which selects and executes it.
        rank: 1-based; for `list` the place in the server's whole list.
        score: 0..1 from the search; 1.0 where nothing was scored (`select`, `list`).
        reason: Why it stands here.
        server: Its owner, or None.
        description: As its owner wrote it, whole, or None.
        parameters: In the order of the schema.
        input_schema: The whole schema where the mode gives schemas (`select`, `discover`) and the tool has one.
        arms: Each arm's share of the score; empty where nothing was scored.
        detail: What the text shows of the parameters.
        cut: The text shows less of the tool than the mode promises: a description or schema was too long.
    """

    name: str
    rank: int
    score: float
    reason: Reason
    server: str | None
    description: str | None
    parameters: tuple[Parameter, ...]
    input_schema: Mapping[str, Any] | None = None
    arms: Mapping[str, float] = field(default_factory=dict)
    detail: Detail = "nothing"
    cut: bool = False

    def to_json(self) -> dict[str, Any]:
        """The tool as plain JSON; `input_schema` is there only where the mode gives schemas."""
        value: dict[str, Any] = {
            "rank": self.rank,
            "name": self.name,
            "score": self.score,
            "reason": self.reason,
            "server": self.server,
            "description": self.description,
            "parameters": [
                {"name": parameter.name, "type": parameter.type, "required": parameter.required}
                for parameter in self.parameters
            ],
            "arms": dict(self.arms),
        }
        if self.input_schema is not None:
            value["input_schema"] = self.input_schema
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A name that gave nothing.

    Attributes:
        name: As it was given.
        suggestions: Names that give something now: near ones, or all candidates of an ambiguous name.
        reason: Why it gave nothing.
        server: `unavailable`: the server that is not there; else None.
    """

    name: str
    suggestions: tuple[str, ...] = ()
    reason: MissReason = "unknown"
    server: str | None = None

    def to_json(self) -> dict[str, Any]:
        """`{"name", "suggestions", "reason"}`."""
        return {"name": self.name, "suggestions": list(self.suggestions), "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """The answer to one call of `SearchExtraTools`.

    Attributes:
        query: As it was given; "" when there was none that is a text.
        mode: How it was read.
        results: Best first, or for `select` in the order asked for, or for `list` in the order of names.
        total_matches: How many tools match in all; for `list` how many the server has.
        total_deferred: How many deferred tools could have been found.
        truncated: More match than are in `results`.
        clamped: `max_results` was outside of 1..50 and was moved to the nearest bound.
        low_confidence: The catalog probably has no tool for this; the results are the best there are.
        missing: Names that gave no tool.
        already_loaded: Tools that match and need no search: they are called directly.
        pending_servers: Still connecting, sorted.
        failed_servers: Failed, or disconnected for now; sorted.
        disabled_servers: Switched off by the operator, sorted.
        next_cursor: `list`: the name after which the next page begins, or None at the end.
        text: What the model reads; within the token budget, without control characters other than line breaks.
        text_cut: The text leaves out something that belongs there; it says so itself.
        is_error: The call could not be carried out: unreadable arguments, nothing to search, search switched off.
        warnings: What else the caller should know, a line each; in the text as well, unless it has no room for them or
            is the refusal of a loaded tool alone.
    """

    query: str
    mode: Mode
    results: tuple[FoundTool, ...] = ()
    total_matches: int = 0
    total_deferred: int = 0
    truncated: bool = False
    clamped: bool = False
    low_confidence: bool = False
    missing: tuple[Missing, ...] = ()
    already_loaded: tuple[str, ...] = ()
    pending_servers: tuple[str, ...] = ()
    failed_servers: tuple[str, ...] = ()
    disabled_servers: tuple[str, ...] = ()
    next_cursor: str | None = None
    text: str = ""
    text_cut: bool = False
    is_error: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def discovered(self) -> tuple[str, ...]:
        """The tools whose parameters the text shows: from now on the model knows how to call them."""
        return tuple(tool.name for tool in self.results if tool.detail != "nothing")

    def to_json(self) -> dict[str, Any]:
        """The findings as plain JSON, the published form of a search; `next_cursor` is there only when there is one."""
        value: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "query": self.query,
            "mode": self.mode,
            "results": [tool.to_json() for tool in self.results],
            "total_matches": self.total_matches,
            "truncated": self.truncated,
            "clamped": self.clamped,
            "low_confidence": self.low_confidence,
            "missing": [missing.to_json() for missing in self.missing],
            "already_loaded": list(self.already_loaded),
            "pending_servers": list(self.pending_servers),
            "failed_servers": list(self.failed_servers),
            "disabled_servers": list(self.disabled_servers),
            "warnings": list(self.warnings),
        }
        if self.next_cursor is not None:
            value["next_cursor"] = self.next_cursor
        return value
