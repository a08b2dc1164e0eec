"""The observed ranking as one reads it: a loop over all tools for every query, and nothing clever.

It is the yardstick of the indexed ranking beside it: tests hold the two equal on any catalog, query and weights, and
`toolsearch bench` measures how much the index saves. What belongs to a tool (its parsed name, terms and TF-IDF vector)
is worked out once, as in the observed system. Inverse document frequencies are kept too, where the observed system
counts them anew for every query: the loop is faster than what it stands for, so no comparison with it flatters.
Everything else is done again for every tool at every query: lower-casing, word matching, norms, cosines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from toolsearch.catalog.tool import Tool
from toolsearch.config import SearchConfig
from toolsearch.search.analysis.reference import ParsedName, is_han, parse_name, split_blanks, terms, trim
from toolsearch.search.reference.formulas import (
    LEAST_HAN_PAIRS,
    NAME_BOOST,
    cosine,
    field_weights,
    inverse_frequencies,
    name_points,
    relative_counts,
    spaced,
    substring_points,
    weighted_frequencies,
)


@dataclass(frozen=True, slots=True)
class _Entry:
    tool: Tool
    name: ParsedName
    terms: frozenset[str]
    vector: dict[str, float]


class PlainReference:
    """Visits every tool for every query."""

    def __init__(self, deferred: Sequence[Tool], all_tools: Sequence[Tool], config: SearchConfig) -> None:
        """Read the tools once.

        Args:
            deferred: What is searched; the order settles ties. Names are unique.
            all_tools: The whole catalog: a query that is a loaded tool's name finds it here.
            config: Weights, points and the bound of the cosine.
        """
        self._config = config
        self._deferred = tuple(deferred)
        self._all = tuple(all_tools)
        read = [(tool, parse_name(tool.name)) for tool in deferred]
        found = [
            [terms(text) for text in (" ".join(name.parts), tool.search_hint or "", tool.description or "")]
            for tool, name in read
        ]
        held = [frozenset(term for field in fields for term in field) for fields in found]
        self._rarity = inverse_frequencies(held)
        self._entries = [
            _Entry(tool, name, own, self._vector(fields))
            for (tool, name), fields, own in zip(read, found, held, strict=True)
        ]

    def keyword(self, query: str, limit: int | None, server: str | None = None) -> list[tuple[Tool, float]]:
        """Tools with their keyword points, best first; points are 0 where the query is a name or begins names.

        Args:
            query: What is wanted.
            limit: Where the list is cut, None for nowhere; a negative number cuts that many from the end.
            server: Only tools of this server.
        """
        wanted = trim(query.lower())
        for tool in (*self._deferred, *self._all):
            if tool.name.lower() == wanted and _allowed(tool, server):
                return [(tool, 0.0)]
        if wanted.startswith("mcp__") and len(wanted) > 5:
            begun = [
                (tool, 0.0)
                for tool in self._deferred
                if tool.name.lower().startswith(wanted) and _allowed(tool, server)
            ]
            if begun:
                return begun[:limit]
        required, optional = [], []
        for word in split_blanks(wanted):
            if word.startswith("+") and len(word) > 1:
                required.append(word[1:])
            else:
                optional.append(word)
        scored: list[tuple[Tool, float]] = []
        for entry in self._entries:
            if _allowed(entry.tool, server) and all(any(_evidence(entry, word)) for word in required):
                points = 0.0
                for word in (*required, *optional):
                    points = self._add_points(points, entry, word)
                if points > 0:
                    scored.append((entry.tool, points))
        scored.sort(key=lambda pair: -pair[1])
        return scored[:limit]

    def tfidf(self, query: str, limit: int | None, server: str | None = None) -> list[tuple[Tool, float]]:
        """Tools with a cosine of at least the profile's bound, best first; the arguments as in `keyword`."""
        asked = terms(query)
        if not asked:
            return []
        wanted = {term: count * self._rarity.get(term, 0.0) for term, count in relative_counts(asked).items()}
        scored: list[tuple[Tool, float]] = []
        for entry in self._entries:
            value = cosine(wanted, entry.vector)
            if value > 0 and any(is_han(term) for term in asked):
                pairs = sum(term in entry.terms for term in asked if is_han(term))
                other = any(term in entry.terms for term in asked if not is_han(term))
                if pairs < LEAST_HAN_PAIRS and not other:
                    value = 0.0
            if entry.name.full in spaced(query):
                value = max(value, NAME_BOOST)
            if value >= self._config.confidence_bound and _allowed(entry.tool, server):
                scored.append((entry.tool, value))
        scored.sort(key=lambda pair: -pair[1])
        return scored[:limit]

    def hybrid(self, query: str, limit: int, server: str | None = None) -> list[tuple[Tool, float]]:
        """Both lists, each cut to `limit`, merged: tools with their scores, best first."""
        merged: dict[str, tuple[Tool, float]] = {}
        keyword = self.keyword(query, limit, server)
        for rank, (tool, _) in enumerate(keyword):
            merged[tool.name] = (tool, (len(keyword) - rank) / len(keyword) * self._config.weight_keyword)
        for tool, value in self.tfidf(query, limit, server):
            _, so_far = merged.get(tool.name, (tool, 0.0))
            merged[tool.name] = (tool, so_far + value * self._config.weight_tfidf)
        return sorted(merged.values(), key=lambda pair: -pair[1])[:limit]

    def _vector(self, fields: Sequence[Sequence[str]]) -> dict[str, float]:
        weighted = weighted_frequencies(
            [
                (relative_counts(words), weight)
                for words, weight in zip(fields, field_weights(self._config), strict=True)
            ]
        )
        return {term: value * self._rarity[term] for term, value in weighted.items()}

    def _add_points(self, points: float, entry: _Entry, word: str) -> float:
        equal, inside, in_hint, in_description = _evidence(entry, word)
        if equal:
            points += name_points(self._config, of_server=entry.name.of_server)
        elif inside:
            points += substring_points(self._config, of_server=entry.name.of_server)
        # Observed too, and left out because it can't happen: 3 points for a word of the full name while the total is
        # still 0. A word holds no blank, so where the full name holds it, a part of the name does.
        if in_hint:
            points += self._config.keyword_points.hint
        if in_description:
            points += self._config.keyword_points.description
        return points


def _allowed(tool: Tool, server: str | None) -> bool:
    return server is None or tool.server == server


def _evidence(entry: _Entry, word: str) -> tuple[bool, bool, bool, bool]:
    """Whether a word equals a name part, stands inside one, in the hint, in the description."""
    pattern = re.compile(rf"\b{re.escape(word)}\b", re.ASCII)
    return (
        word in entry.name.parts,
        any(word in part for part in entry.name.parts),
        pattern.search((entry.tool.search_hint or "").lower()) is not None,
        pattern.search((entry.tool.description or "").lower()) is not None,
    )
