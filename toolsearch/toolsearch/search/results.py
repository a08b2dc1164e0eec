"""What a search answers: plain frozen values, the same for every profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Reason = Literal["exact_name", "leaf_name", "named", "server", "score"]
"""Why a result stands where it stands, strongest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one arm gave for one field and one term; the parts of a result add up to its score.

    Attributes:
        arm: `keyword`, `tfidf` (or `semantic`).
        field: The field where the term stands, or "" where the arm knows none.
        term: The searchable piece of text.
        value: The share of the score, weights included.
    """

    arm: str
    field: str
    term: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One ranked tool.

    Attributes:
        name: The tool's id.
        rank: 1-based.
        score: Rounded to 1e-9 (the `reference` profile: as computed); 0..1 in the `default` profile.
        reason: Why it stands here.
        arms: Each arm's share of the score, weights included; they add up to `score`.
        parts: The same in detail, empty unless an explanation was asked for.
    """

    name: str
    rank: int
    score: float
    reason: Reason = "score"
    arms: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResponse:
    """The answer to one query.

    Attributes:
        query: As it was given.
        results: Best first.
        total_matches: Tools that share a non-stop query term in any field, after the `+` filter.
        truncated: More matched than are listed.
        clamped: `max_results` was outside what is accepted and was moved to the nearest bound.
        low_confidence: The catalog probably has no answer; the results are the best there are.
        confidence: What the flag was decided by, 0..1; 1 where the query names a tool (`reference` works out none: 0).
        already_loaded: Core or pinned tools that the query names: loaded, so not search results.
        warnings: What else the caller should know.
    """

    query: str
    results: tuple[Result, ...]
    total_matches: int
    truncated: bool
    clamped: bool = False
    low_confidence: bool = False
    confidence: float = 0.0
    already_loaded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a tool stands where it stands for a query, or why it was not found.

    Attributes:
        query: As it was given.
        tool: The tool's id.
        found: Whether it is among the results.
        rank: 1-based rank over the whole catalog, or None where it has none.
        score: Its score, 0.0 without a rank.
        why: One sentence.
        parts: They add up to `score`.
    """

    query: str
    tool: str
    found: bool
    rank: int | None
    score: float
    why: str
    parts: tuple[Part, ...] = ()
