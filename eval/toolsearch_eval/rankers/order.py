"""The order of results where scores tie, and what a ranking must fulfil before it is judged: once, for all rankers."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

from toolsearch.catalog.names import shown
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
    answer: Any, depth: int, *, known: Collection[str], query_id: str, keeps_order: bool
) -> list[tuple[str, float]]:
    """The names of one ranking as they are judged, with their scores, at most `depth`.

    Args:
        answer: What the ranker gave for a query; anything, as it may be a stranger's.
        depth: How many it was asked for.
        known: The names of the tools that it was given.
        query_id: For the message.
        keeps_order: Leave the order as it is; otherwise it is that of `best_first`.

    Raises:
        UsageError: It is not a list of names with scores, is longer than asked for, names a tool twice or one that is
            not there, or a score is not a finite number.
    """
    if isinstance(answer, str | bytes | dict) or not isinstance(answer, Iterable):
        raise UsageError(f"query {shown(query_id)}: gave {_brief(answer)}; a list of (name, score) is needed")
    checked: dict[str, float] = {}
    for place, result in enumerate(answer):
        if place == depth:  # counted while they come, as they may never end
            raise UsageError(f"query {shown(query_id)}: gave more than the {depth} results that were asked for")
        if isinstance(result, str) or not isinstance(result, Iterable) or len(pair := list(result)) != 2:
            raise UsageError(f"query {shown(query_id)}: gave {_brief(result)} as a result; (name, score) is needed")
        name, score = pair
        if not isinstance(name, str) or name not in known:
            raise UsageError(f"query {shown(query_id)}: gave {_brief(name)}, which is none of the {len(known)} tools")
        if name in checked:
            raise UsageError(f"query {shown(query_id)}: gave {name!r} twice; each tool may come once")
        checked[name] = _number(score)
        if not math.isfinite(checked[name]):
            raise UsageError(
                f"query {shown(query_id)}: gave {name!r} the score {_brief(score)}; it must be a finite number"
            )
    return list(checked.items()) if keeps_order else best_first(checked.items(), depth)


def _number(score: Any) -> float:
    """NaN for what is no number; texts are none, also if they look like one."""
    if isinstance(score, str | bytes):
        return math.nan
    try:
        return float(score)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _brief(value: object) -> str:
    """A stranger's value in a few characters, even where it can't say what it is."""
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:79]}…"
