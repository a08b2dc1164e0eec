"""Keyword search, TF-IDF search and their merge, as observed; `ReferenceRanker` answers in the project's own values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from toolsearch.catalog.tool import Tool
from toolsearch.config import SearchConfig
from toolsearch.search.analysis.reference import is_han, split_blanks, terms, trim
from toolsearch.search.reference.index import (
    ReferenceIndex,
    build_reference,
    document_vectors,
    keyword_evidence,
    relative_counts,
)
from toolsearch.search.results import Explanation, Part, Result, SearchResponse

NAME_BOOST = 0.75
SERVER_EXTRA = 2.0
SERVER_SUBSTRING_EXTRA = 1.0
"""A server's tool gets 12 and 6 where a built-in gets 10 and 5."""


@dataclass(frozen=True, slots=True)
class Merged:
    """One tool of the merged list with both arms' shares."""

    tool: Tool
    keyword: float
    tfidf: float

    @property
    def score(self) -> float:
        """The merged score."""
        return self.keyword + self.tfidf


def keyword_search(
    index: ReferenceIndex, query: str, config: SearchConfig, limit: int | None
) -> list[tuple[Tool, float]]:
    """Tools with their points, best first, ties in catalog order; an exact name is answered alone with points 0."""
    wanted = trim(query.lower())
    for tool in (*(entry.tool for entry in index.entries), *index.all_tools):
        if tool.name.lower() == wanted:
            return [(tool, 0.0)]
    if wanted.startswith("mcp__") and len(wanted) > 5:
        hits = [(entry.tool, 0.0) for entry in index.entries if entry.tool.name.lower().startswith(wanted)]
        if hits:
            return hits[:limit]
    words = split_blanks(wanted)
    required = [word[1:] for word in words if word.startswith("+") and len(word) > 1]
    optional = [word for word in words if not (word.startswith("+") and len(word) > 1)]
    scored = _points(index, required + optional, config)
    if required:
        allowed = set.intersection(*(set(keyword_evidence(index, word)) for word in required))
        scored = {place: points for place, points in scored.items() if place in allowed}
    order = sorted((place for place in scored if scored[place] > 0), key=lambda place: (-scored[place], place))
    return [(index.entries[place].tool, scored[place]) for place in order[:limit]]


def _points(index: ReferenceIndex, words: Sequence[str], config: SearchConfig) -> dict[int, float]:
    points = config.keyword_points
    found: dict[int, float] = {}
    for word in words:
        for place, (in_name, in_hint, in_description) in keyword_evidence(index, word).items():
            of_server = index.entries[place].name.of_server
            value = 0.0
            if in_name == 2:
                value += points.name + (SERVER_EXTRA if of_server else 0.0)
            elif in_name == 1:
                value += config.keyword_substring_points + (SERVER_SUBSTRING_EXTRA if of_server else 0.0)
            # Observed too, but never reached: 3 points for a word of the full name while the total is still 0.
            value += points.hint * in_hint + points.description * in_description
            found[place] = found.get(place, 0.0) + value
    return found


def tfidf_search(
    index: ReferenceIndex, query: str, config: SearchConfig, limit: int | None
) -> list[tuple[Tool, float]]:
    """Tools with their cosine, at least the profile's bound, best first, ties in catalog order."""
    asked = terms(query)
    if not index.entries or not trim(query) or not asked:
        return []
    frequencies = {term: value * index.rarity.get(term, 0.0) for term, value in relative_counts(asked).items()}
    vectors = document_vectors(index, config)
    query_norm = math.sqrt(sum(value * value for value in frequencies.values()))
    han = [term for term in asked if is_han(term)]
    ascii_terms = {term for term in asked if not is_han(term)}
    spaced = query.lower().replace("-", " ").replace("_", " ")
    reached = {place for term in frequencies for place in index.postings.get(term, ())}
    found: list[tuple[float, int]] = []
    for place, entry in enumerate(index.entries):
        value = 0.0
        if place in reached and query_norm:
            vector = vectors[place]
            norm = math.sqrt(sum(weight * weight for weight in vector.values()))
            if norm:
                product = sum(weight * vector[term] for term, weight in frequencies.items() if term in vector)
                value = product / (query_norm * norm)
        if han and value > 0 and sum(term in entry.terms for term in han) < 2 and not ascii_terms & entry.terms:
            value = 0.0
        if entry.name.full in spaced:
            value = max(value, NAME_BOOST)
        if value >= config.confidence_bound:
            found.append((value, place))
    found.sort(key=lambda pair: (-pair[0], pair[1]))
    return [(index.entries[place].tool, value) for value, place in found[:limit]]


def hybrid_search(index: ReferenceIndex, query: str, config: SearchConfig, limit: int) -> list[Merged]:
    """Both lists, each cut to `limit`, merged: rank score × keyword weight + cosine × TF-IDF weight."""
    keyword = keyword_search(index, query, config, limit)
    cosines = tfidf_search(index, query, config, limit)
    count = len(keyword)
    merged: dict[str, tuple[Tool, float, float]] = {}
    for rank, (tool, _) in enumerate(keyword):
        merged[tool.name] = (tool, (count - rank) / count * config.weight_keyword, 0.0)
    for tool, value in cosines:
        _, share, _ = merged.get(tool.name, (tool, 0.0, 0.0))
        merged[tool.name] = (tool, share, value * config.weight_tfidf)
    answers = [Merged(*values) for values in merged.values()]
    answers.sort(key=lambda answer: -answer.score)
    return answers[:limit]


class ReferenceRanker:
    """The observed ranking over one snapshot."""

    def __init__(self, deferred: Sequence[Tool], all_tools: Sequence[Tool], config: SearchConfig) -> None:
        """Read the catalog; its order settles ties."""
        self._index = build_reference(deferred, all_tools)
        self._deferred = {tool.name for tool in deferred}
        self._config = config

    def answer(
        self, query: str, limit: int, server: str | None, explain: bool, *, clamped: bool = False
    ) -> SearchResponse:
        """The merged list; a server filter is applied before the cut to `limit`."""
        kept, loaded = self._merged(query, limit, server)
        total = len(self._matching(query))
        results = tuple(
            Result(
                name=item.tool.name,
                rank=rank,
                score=item.score,
                arms={"keyword": item.keyword, "tfidf": item.tfidf},
                parts=_parts(item) if explain else (),
            )
            for rank, item in enumerate(kept, start=1)
        )
        return SearchResponse(
            query=query,
            results=results,
            total_matches=max(total, len(results)),
            truncated=total > len(results),
            clamped=clamped,
            low_confidence=not results,
            already_loaded=loaded,
        )

    def explain(self, query: str, tool_name: str, max_results: int, server: str | None = None) -> Explanation:
        """Where a tool stands, and why not higher; lists are cut at `max_results` before the merge, as observed."""
        kept, _ = self._merged(query, max_results, server)
        for rank, item in enumerate(kept, start=1):
            if item.tool.name == tool_name:
                why = f"{tool_name} has rank {rank} by its score."
                return Explanation(
                    query=query,
                    tool=tool_name,
                    found=True,
                    rank=rank,
                    score=item.score,
                    why=why,
                    parts=_parts(item),
                )
        shares = tool_name in self._matching(query)
        why = (
            f"{tool_name} shares a term with the query, but stands below the cut after {max_results} of both lists."
            if shares
            else f"{tool_name} was not found: it shares no term with the query."
        )
        return Explanation(query=query, tool=tool_name, found=False, rank=None, score=0.0, why=why)

    def _merged(self, query: str, limit: int, server: str | None) -> tuple[list[Merged], tuple[str, ...]]:
        """The deferred tools that a search gives, and the loaded ones that it met on the way."""
        depth = limit if server is None else max(limit, len(self._index.entries))
        merged = hybrid_search(self._index, query, self._config, depth)
        loaded = tuple(item.tool.name for item in merged if item.tool.name not in self._deferred)
        kept = [
            item
            for item in merged
            if item.tool.name in self._deferred and (server is None or item.tool.server == server)
        ]
        return kept[:limit], loaded

    def _matching(self, query: str) -> set[str]:
        places = {place for term in set(terms(query)) for place in self._index.postings.get(term, ())}
        return {self._index.entries[place].tool.name for place in places}


def _parts(item: Merged) -> tuple[Part, ...]:
    arms = (("keyword", item.keyword), ("tfidf", item.tfidf))
    return tuple(Part(arm=arm, field="", term="", value=value) for arm, value in arms if value)
