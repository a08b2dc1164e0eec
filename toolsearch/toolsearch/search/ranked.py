"""One query's order: filter first, then what the query names, then the score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from toolsearch.search.fusion import Floats, Integers, best
from toolsearch.search.guarantees import SERVER_TIER, Named, NameTable, required_tools
from toolsearch.search.index import Index
from toolsearch.search.query import Query


@dataclass(frozen=True, slots=True)
class Ranked:
    """One query's complete order before it is cut.

    Attributes:
        tools: Tool numbers, best first, up to the number asked for.
        scores: Scores by tool number place, in the same order.
        reasons: Named tools by number.
        total: How many tools matched in all.
        best_score: The best score of all that matched, 0.0 without a match.
    """

    tools: Integers
    scores: Floats
    reasons: dict[int, Named]
    total: int
    best_score: float


@dataclass(frozen=True, slots=True)
class Compiled:
    """A catalog ready to be searched.

    Attributes:
        index: Its searchable tools.
        names: Their names.
        loaded_names: The names of the loaded tools, numbered as in `loaded`.
        loaded: The names of the loaded tools, sorted.
    """

    index: Index
    names: NameTable
    loaded_names: NameTable
    loaded: tuple[str, ...]


def rank_one(
    compiled: Compiled,
    query: Query,
    pair_tool: Integers,
    hit: np.ndarray[tuple[int], np.dtype[np.bool_]],
    totals: Floats,
    limit: int,
    server: str | None,
) -> Ranked:
    """Filter, put what the query names first, and order the rest by score."""
    index = compiled.index
    named = compiled.names.find(query, compiled.loaded_names)
    allowed = required_tools(index, query)
    if server is not None:
        of_server = np.array([tool.server == server for tool in index.tools], dtype=bool)
        allowed = of_server if allowed is None else allowed & of_server
    if allowed is not None:
        named = {number: reason for number, reason in named.items() if allowed[number]}
        if query.required:
            # Every tool that passes is a result, also one that only a stop word brought in.
            totals = _spread(index.size, pair_tool, totals)
            pair_tool, hit = np.arange(index.size, dtype=np.int64), allowed
        else:
            hit = hit & allowed[pair_tool]
    if named:
        missing = np.array(sorted(set(named) - set(pair_tool[hit].tolist())), dtype=np.int64)
        if len(missing):
            totals = _spread(index.size, pair_tool, totals)
            everything = np.zeros(index.size, dtype=bool)
            everything[pair_tool[hit]] = True
            everything[missing] = True
            pair_tool, hit = np.arange(index.size, dtype=np.int64), everything
    found = np.flatnonzero(hit)
    scores = totals[found]
    order = best(scores, limit + len(named))
    if named:
        numbers = pair_tool[found]
        places = np.searchsorted(numbers, np.array(sorted(named), dtype=np.int64)).tolist()
        by_tier = sorted(places, key=lambda place: _named_order(named, int(numbers[place]), float(scores[place])))
        taken = set(by_tier)
        rest = [place for place in order.tolist() if place not in taken]
        order = np.array(by_tier + rest, dtype=np.int64)
    order = order[:limit]
    return Ranked(
        tools=pair_tool[found[order]],
        scores=scores[order],
        reasons=named,
        total=len(found),
        best_score=float(scores.max()) if len(scores) else 0.0,
    )


def _named_order(named: dict[int, Named], number: int, score: float) -> tuple[int, float, int]:
    tier = named[number].tier
    # The tools of a server stand in the order of their names, all others by score.
    return tier, 0.0 if tier == SERVER_TIER else -score, number


def _spread(size: int, pair_tool: Integers, values: Floats) -> Floats:
    spread = np.zeros(size)
    spread[pair_tool] = values
    return spread
