"""The reference ranking as a plain loop: what a straightforward reading of it costs.

Tools are read once and inverse document frequencies are kept, which is more than the observed system does; vectors,
norms and keyword points are worked out for every tool at every query. Only speed is measured with it: the ranking that
the product uses is `toolsearch.search.reference`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolsearch.catalog.tool import Tool
from toolsearch.config import REFERENCE
from toolsearch.search.analysis.reference import terms
from toolsearch.search.reference.index import (
    build_reference,
    cosine,
    relative_counts,
    weighted_frequencies,
)


class PlainLoop:
    """Visits every tool for every query."""

    def __init__(self, tools: Sequence[Tool], *, limit: int = 10) -> None:
        """Read the tools once.

        Args:
            tools: The catalog.
            limit: How many names a search gives.
        """
        self._index = build_reference(tools, tools)
        self._limit = limit

    def search(self, query: str) -> list[str]:
        """Names, best first; both arms are cut before the merge as in the reference ranking."""
        keyword = self._best(self._keyword_points(query.lower().split()))
        cosines = {place: value for place, value in self._cosines(query).items() if value >= REFERENCE.confidence_bound}
        merged: dict[int, float] = {}
        for rank, (place, _) in enumerate(keyword):
            merged[place] = (len(keyword) - rank) / len(keyword) * REFERENCE.weight_keyword
        for place, value in self._best(cosines):
            merged[place] = merged.get(place, 0.0) + value * REFERENCE.weight_tfidf
        return [self._index.entries[place].tool.name for place, _ in self._best(merged)]

    def _best(self, values: dict[int, float]) -> list[tuple[int, float]]:
        ordered = sorted(values.items(), key=lambda item: (-item[1], item[0]))
        return [item for item in ordered if item[1] > 0][: self._limit]

    def _keyword_points(self, words: Sequence[str]) -> dict[int, float]:
        points = REFERENCE.keyword_points
        patterns = [(word, re.compile(rf"\b{re.escape(word)}\b")) for word in words]
        found: dict[int, float] = {}
        for place, entry in enumerate(self._index.entries):
            hint, description = (entry.tool.search_hint or "").lower(), (entry.tool.description or "").lower()
            total = 0.0
            for word, pattern in patterns:
                if word in entry.name.parts:
                    total += points.name
                elif any(word in part for part in entry.name.parts):
                    total += REFERENCE.keyword_substring_points
                total += points.hint * bool(pattern.search(hint)) + points.description * bool(
                    pattern.search(description)
                )
            found[place] = total
        return found

    def _cosines(self, query: str) -> dict[int, float]:
        rarity = self._index.rarity
        asked = {term: value * rarity.get(term, 0.0) for term, value in relative_counts(terms(query)).items()}
        weights = (
            REFERENCE.field_weights.name,
            REFERENCE.field_weights.hint,
            REFERENCE.field_weights.description,
        )
        found: dict[int, float] = {}
        for place, entry in enumerate(self._index.entries):
            frequencies = weighted_frequencies(list(zip(entry.frequencies, weights, strict=True)))
            found[place] = cosine(asked, {term: value * rarity[term] for term, value in frequencies.items()})
        return found
