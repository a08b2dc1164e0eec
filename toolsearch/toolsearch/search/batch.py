"""Many queries against one catalog, prepared once and ranked under any number of configurations.

What a configuration can't change is found out once: which postings the queries meet, which tools match, which the
queries name or require. Ranking is then array work over all queries at once, with the scores of `fusion.score` and in
the order of `ranked.rank_one`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolsearch.catalog.registry import Snapshot
from toolsearch.catalog.tool import Tool
from toolsearch.config import SearchConfig
from toolsearch.search.arms import PostingValues
from toolsearch.search.evidence import Evidence, gather
from toolsearch.search.fusion import SCORE_DIGITS, matched, score
from toolsearch.search.guarantees import SCORE_TIER, SERVER_TIER, NameTable
from toolsearch.search.index import build
from toolsearch.search.query import read_query
from toolsearch.search.ranked import Compiled, rank_one

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_KEY_BITS = 63
"""Bits of a sorting key that keep it a number of at least 0."""
_UNITS = 10**SCORE_DIGITS
"""A score in whole units of its last digit; a rounded score is exactly one of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """What the queries may list, query by query, in each the tools by number.

    Attributes:
        pair: The candidate's pair of the evidence; the number of pairs where a query names a tool that shares no term.
        tool: Its tool number.
        tier: Its tier of `guarantees`; what the query does not name is in the last one.
        start: First candidate of each query, and after them the number of all.
    """

    pair: Integers
    tool: Integers
    tier: Integers
    start: Integers


class PreparedQueries:
    """A catalog and queries, ready to be ranked under one configuration after another."""

    def __init__(self, snapshot: Snapshot, queries: Sequence[str]) -> None:
        """Compile the catalog and find out all that does not depend on weights.

        Args:
            snapshot: The catalog.
            queries: The texts, read as `Searcher.search` reads them.
        """
        index = build(snapshot.deferred, snapshot.fingerprint)
        loaded = sorted(snapshot.loaded, key=lambda tool: tool.name)
        compiled = Compiled(index, NameTable(index.tools), NameTable(loaded), tuple(tool.name for tool in loaded))
        read = [read_query(query) for query in queries]
        self.index = index
        self.evidence: Evidence = gather(index, read)
        self._postings = self.evidence.postings()
        hit = matched(self.evidence)
        bounds = np.searchsorted(self.evidence.pair_query, np.arange(len(read) + 1))
        nothing = np.zeros(len(hit))
        pairs, tools, tiers, starts = [], [], [], [0]
        for number, query in enumerate(read):
            own = slice(int(bounds[number]), int(bounds[number + 1]))
            met = self.evidence.pair_tool[own]
            # Without scores and without a cut, the product's own ranking says which tools are listed and why.
            ranked = rank_one(compiled, query, met, hit[own], nothing[own], nothing[own], index.size, None)
            tool = np.sort(ranked.tools)
            place = np.searchsorted(met, tool)
            inside = place < len(met)
            inside[inside] = met[place[inside]] == tool[inside]
            tier = np.full(len(tool), SCORE_TIER, dtype=np.int64)
            for named, reason in ranked.reasons.items():
                tier[np.searchsorted(tool, named)] = reason.tier
            pairs.append(np.where(inside, place + own.start, len(hit)))
            tools.append(tool)
            tiers.append(tier)
            starts.append(starts[-1] + len(tool))
        self.listed = Listed(
            pair=_joined(pairs), tool=_joined(tools), tier=_joined(tiers), start=np.array(starts, dtype=np.int64)
        )
        self._order = _Order(self.listed, index.size)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The searchable tools by number."""
        return self.index.tools

    def scores(self, config: SearchConfig) -> Floats:
        """The score of every candidate, rounded as the search rounds it; 0 for a named tool that shares no term."""
        values = self.index.values(config)
        worth = PostingValues(values.keyword[self._postings], values.tfidf[self._postings])
        totals = np.append(score(self.evidence, config, worth).total, 0.0)
        found: Floats = totals[self.listed.pair]
        return found

    def ranked(self, config: SearchConfig, limit: int) -> tuple[Integers, Floats]:
        """Each query's ranking under a configuration.

        Args:
            config: A profile of the ranking `standard`.
            limit: Where the rankings are cut, at least 1.

        Returns:
            Tool numbers, a row for each query, best first, and their scores; -1 and 0 where a query lists fewer than
            `limit`.
        """
        scores = self.scores(config)
        places = self._order.best(scores, limit)
        # One more at the end, for what stands past a query's last.
        return np.append(self.listed.tool, -1)[places], np.append(scores, 0.0)[places]


class _Order:
    """The ranking order of all queries at once: one sort of whole numbers that hold query, tier, score and place."""

    def __init__(self, listed: Listed, size: int) -> None:
        self._listed = listed
        self._sizes = np.diff(listed.start)
        self._place_bits = max(1, int(size).bit_length())
        # A tier is worth more than any score; the tools of a server stand in the order of their names.
        span = (SCORE_TIER + 1) * 2 * _UNITS
        self._first = listed.tier * 2 * _UNITS
        self._by_name = listed.tier == SERVER_TIER
        self._block = max(1, 1 << max(0, _KEY_BITS - self._place_bits - int(span).bit_length()))
        query = np.repeat(np.arange(len(self._sizes)), self._sizes)
        self._place = np.arange(len(query)) - np.repeat(listed.start[:-1], self._sizes)
        self._query_key = (query % self._block) << (self._place_bits + int(span).bit_length())

    def best(self, scores: Floats, limit: int) -> Integers:
        """Places of candidates, a row for each query, best first; -1 past the last."""
        listed = self._listed
        units = np.rint(scores * _UNITS).astype(np.int64)
        units[self._by_name] = 0
        keys = self._query_key | ((self._first + _UNITS - units) << self._place_bits) | self._place
        queries = len(self._sizes)
        for begin in range(0, queries, self._block):
            end = min(begin + self._block, queries)
            keys[listed.start[begin] : listed.start[end]].sort()
        shown = np.arange(limit)
        inside = shown < self._sizes[:, np.newaxis]
        found = np.full((queries, limit), -1, dtype=np.int64)
        starts = np.broadcast_to(listed.start[:-1, np.newaxis], inside.shape)[inside]
        columns = np.broadcast_to(shown, inside.shape)[inside]
        found[inside] = starts + (keys[starts + columns] & ((1 << self._place_bits) - 1))
        return found


def _joined(parts: Sequence[Integers]) -> Integers:
    return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, dtype=np.int64)
