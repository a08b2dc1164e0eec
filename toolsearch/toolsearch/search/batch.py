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
from toolsearch.search.fusion import SCORE_DIGITS, listed, score
from toolsearch.search.guarantees import SCORE_TIER, SERVER_TIER, NameTable
from toolsearch.search.index import build
from toolsearch.search.lexicon.relations import active
from toolsearch.search.query import Query, read_query
from toolsearch.search.ranked import Compiled, rank_one
from toolsearch.search.semantic.arm import MODELS, Models

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_KEY_BITS = 63
"""Bits of a sorting key that keep it a number of at least 0."""
_KEPT = 4
"""Sets of kinds of expansion for which the evidence is kept."""
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

    def __init__(self, snapshot: Snapshot, queries: Sequence[str], *, models: Models = MODELS) -> None:
        """Compile the catalog and find out all that does not depend on weights.

        Args:
            snapshot: The catalog.
            queries: The texts, read as `Searcher.search` reads them.
            models: Where semantic arms come from; the process's own by default.
        """
        index = build(snapshot.deferred, snapshot.fingerprint)
        loaded = sorted(snapshot.loaded, key=lambda tool: tool.name)
        compiled = Compiled(index, NameTable(index.tools), NameTable(loaded), tuple(tool.name for tool in loaded))
        self.index = index
        self._compiled = compiled
        self._read = [read_query(query) for query in queries]
        self._prepared: dict[tuple[frozenset[int], str, float], _Prepared] = {}
        self._models = models

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The searchable tools by number."""
        return self.index.tools

    def scores(self, config: SearchConfig) -> Floats:
        """The score of every candidate, rounded as the search rounds it; 0 for a named tool that shares no term."""
        prepared = self._ready(config)
        values = self.index.values(config)
        worth = PostingValues(values.keyword[prepared.postings], values.tfidf[prepared.postings])
        totals = np.append(score(prepared.evidence, config, worth).total, 0.0)
        found: Floats = totals[prepared.listed.pair]
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
        prepared = self._ready(config)
        scores = self.scores(config)
        places = prepared.order.best(scores, limit)
        # One more at the end, for what stands past a query's last.
        return np.append(prepared.listed.tool, -1)[places], np.append(scores, 0.0)[places]

    def _ready(self, config: SearchConfig) -> _Prepared:
        """What the queries meet and may list.

        A configuration that switches a kind of expansion off or on meets something else, and so does one with another
        model or another bound from which tools are found by meaning alone.
        """
        with_meaning = self._models.arm(config) is not None
        bound = config.semantic_floor + config.semantic_reach * (config.semantic_ceiling - config.semantic_floor)
        key = (active(config), config.semantic_model if with_meaning else "", bound if with_meaning else 0.0)
        known = self._prepared.get(key)
        if known is None:
            if len(self._prepared) >= _KEPT:
                self._prepared.clear()
            known = self._prepared[key] = _Prepared(self._compiled, self._read, config, self._models)
        return known


class _Prepared:
    """Evidence, candidates and their order, for all configurations that meet and list the same."""

    def __init__(self, compiled: Compiled, read: Sequence[Query], config: SearchConfig, models: Models) -> None:
        gathered = gather(compiled.index, read, active(config))
        self.evidence: Evidence = models.widened(compiled.index, read, gathered, config)
        self.postings = self.evidence.postings()
        size = compiled.index.size
        hit = listed(self.evidence, config)
        bounds = np.searchsorted(self.evidence.pair_query, np.arange(len(read) + 1))
        nothing = np.zeros(len(hit))
        pairs, tools, tiers, starts = [], [], [], [0]
        for number, query in enumerate(read):
            own = slice(int(bounds[number]), int(bounds[number + 1]))
            met = self.evidence.pair_tool[own]
            # Without scores and without a cut, the product's own ranking says which tools are listed and why.
            ranked = rank_one(compiled, query, met, hit[own], nothing[own], size, None)
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
        self.order = _Order(self.listed, size)


class _Order:
    """The ranking order of all queries at once: one sort of whole numbers that hold query, tier, score and place."""

    def __init__(self, listed: Listed, size: int) -> None:
        self._start = listed.start
        sizes = np.diff(listed.start)
        self._query = np.repeat(np.arange(len(sizes)), sizes)
        # A tier is worth more than any score; the tools of a server stand in the order of their names.
        self._first = listed.tier * 2 * _UNITS + _UNITS
        self._by_name = np.flatnonzero(listed.tier == SERVER_TIER)
        self._place_bits = max(1, int(size).bit_length())
        query_bits = _KEY_BITS - self._place_bits - ((SCORE_TIER + 1) * 2 * _UNITS).bit_length()
        self._block = 1 << max(0, query_bits)
        place = np.arange(len(self._query)) - np.repeat(listed.start[:-1], sizes)
        self._rest = ((self._query % self._block) << (_KEY_BITS - query_bits)) | place
        self._last: dict[int, Integers] = {}

    def best(self, scores: Floats, limit: int) -> Integers:
        """Places of candidates, a row for each query, best first; -1 past the last."""
        worth = self._first - np.rint(scores * _UNITS).astype(np.int64)
        worth[self._by_name] = self._first[self._by_name]
        kept = self._hopeful(worth, limit)
        query = self._query if kept is None else self._query[kept]
        keys = (
            (worth << self._place_bits) | self._rest
            if kept is None
            else ((worth[kept] << self._place_bits) | self._rest[kept])
        )
        queries = len(self._start) - 1
        start = np.searchsorted(query, np.arange(queries + 1))
        for begin in range(0, queries, self._block):
            keys[start[begin] : start[min(begin + self._block, queries)]].sort()
        inside = np.arange(limit) < np.diff(start)[:, np.newaxis]
        row, column = np.nonzero(inside)
        found = np.full((queries, limit), -1, dtype=np.int64)
        found[inside] = self._start[row] + (keys[start[row] + column] & ((1 << self._place_bits) - 1))
        self._last[limit] = found
        return found

    def _hopeful(self, worth: Integers, limit: int) -> Integers | None:
        """The candidates that can be among the first, None for all.

        Whatever is worse than all of the tools that stood first under the configuration before can't be: there are
        enough of those. Which ones they were changes no ranking, only how many candidates are sorted.
        """
        last = self._last.get(limit)
        if last is None or not len(worth):
            return None
        worst = np.where(last >= 0, worth[last], np.iinfo(np.int64).max).max(axis=1, initial=0)
        return np.flatnonzero(worth <= worst[self._query])


def _joined(parts: Sequence[Integers]) -> Integers:
    return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, dtype=np.int64)
