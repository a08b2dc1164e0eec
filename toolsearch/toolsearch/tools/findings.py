"""What a search found, before it is put into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from toolsearch.catalog.tool import Tool
from toolsearch.search.results import Reason
from toolsearch.tools.found import Missing
from toolsearch.tools.search_request import Request
from toolsearch.tools.servers import ServerStatus

Fault = Literal["arguments", "empty", "plus", "stop_words", "no_words", "select", "discover", "list", "disabled"]
"""Why nothing was searched: what the call lacks, or that search is switched off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One tool that was found; the fields as in `FoundTool`."""

    tool: Tool
    rank: int
    score: float = 1.0
    reason: Reason
    arms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All that an answer says; the fields that `SearchAnswer` has too mean the same.

    Attributes:
        request: What was asked.
        servers: How the servers stand.
        hits: The tools, in order.
        fault: Why nothing was searched, or None.
        near: Nothing was found: names that look like words of the query.
        away: Servers that are not there now and have tools that match.
        sizes: `list` without a known server: the servers with their numbers of tools.
        notes: Further lines.
    """

    request: Request
    servers: Mapping[str, ServerStatus]
    hits: tuple[Hit, ...] = ()
    total: int = 0
    total_deferred: int = 0
    low_confidence: bool = False
    missing: tuple[Missing, ...] = ()
    already_loaded: tuple[str, ...] = ()
    next_cursor: str | None = None
    fault: Fault | None = None
    near: tuple[str, ...] = ()
    away: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
