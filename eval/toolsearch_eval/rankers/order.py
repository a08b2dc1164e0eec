"""The order of results where scores tie, and what a ranking must fulfil before it is judged: once, for all rankers."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from toolsearch.errors import UsageError

SCORE_DIGITS = 9
"""Scores are rounded to so many digits before they are compared, so that the last bits of a sum decide no rank."""


def best_first(results: Iterable[tuple[str, float]], depth: int) -> list[tuple[str, float]]:
    """At most `depth` results: rounded score descending, then name.

    >>> best_first([("b", 0.5), ("a", 0.5 + 1e-12), ("c", 0.7)], 2)
    [('c', 0.7), ('a', 0.5)]
    """
    rounded = [(name, round(float(score), SCORE_DIGITS)) for name, score in results]
    return sorted(rounded, key=lambda result: (-result[1], result[0]))[:depth]


def settled(
    results: Sequence[tuple[str, float]], depth: int, *, known: Collection[str], query_id: str, keeps_order: bool
) -> list[str]:
    """The names of one ranking as they are judged, at most `depth`.

    Args:
        results: What the ranker gave.
        depth: How many it was asked for.
        known: The names of the tools that it was given.
        query_id: For the message.
        keeps_order: Leave the order as it is; otherwise it is that of `best_first`.

    Raises:
        UsageError: A name comes twice or is not one of the tools, or a score is not a finite number.
    """
    seen: set[str] = set()
    for name, score in results:
        if name not in known:
            raise UsageError(f"query {query_id!r}: gave {name!r}, which is none of the {len(known)} tools")
        if name in seen:
            raise UsageError(f"query {query_id!r}: gave {name!r} twice; each tool may come once")
        if not math.isfinite(score):
            raise UsageError(f"query {query_id!r}: gave {name!r} the score {score!r}; it must be a finite number")
        seen.add(name)
    return [name for name, _ in (results[:depth] if keeps_order else best_first(results, depth))]
