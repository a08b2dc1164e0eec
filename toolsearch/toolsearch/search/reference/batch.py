"""The observed ranking of many queries, prepared once and ranked under any number of configurations.

What a configuration can't change is what `arms` finds for a query: the tools in which its words stand, its terms, the
tools that it names. The rest is the formulas of `arms` and `ranking` over all queries at once, every sum in their
order, so that not one bit of a score differs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from toolsearch.catalog.registry import Snapshot
from toolsearch.catalog.tool import Tool
from toolsearch.config import REFERENCE, SearchConfig
from toolsearch.search.analysis.reference import terms
from toolsearch.search.reference.arms import KeywordHits, cosines, keyword_hits, struck_out
from toolsearch.search.reference.evidence import Floats, Integers, Marks
from toolsearch.search.reference.formulas import NAME_BOOST, name_points, substring_points
from toolsearch.search.reference.index import ReferenceIndex, build_reference

_NAME, _SERVER_NAME, _INSIDE, _SERVER_INSIDE, _HINT, _DESCRIPTION = range(6)
"""Kinds of keyword evidence, each worth its own points."""


class PreparedReference:
    """A catalog and queries, ready for the observed ranking under one configuration after another."""

    def __init__(self, snapshot: Snapshot, queries: Sequence[str]) -> None:
        """Read the catalog and find out all that does not depend on weights.

        Args:
            snapshot: The catalog; its order settles ties.
            queries: The texts.
        """
        self.index = build_reference(snapshot.deferred, snapshot.tools)
        hits = [keyword_hits(self.index, query, REFERENCE) for query in queries]
        self._keyword = _KeywordArm(self.index, hits)
        self._tfidf = _TfidfArm(self.index, queries)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The searchable tools by number: their places in the catalog's order."""
        return self.index.tools

    def ranked(self, config: SearchConfig, limit: int) -> tuple[Integers, Floats]:
        """Each query's ranking under a configuration.

        Args:
            config: A profile of the ranking `reference`.
            limit: Where both arms' lists and the merged one are cut, at least 1.

        Returns:
            Tool numbers, a row for each query, best first, and their scores; -1 and 0 where a query lists fewer than
            `limit`.
        """
        words, ranks = self._keyword.best(config, limit)
        near, near_scores = self._tfidf.best(config, limit)
        shared = (words[:, :, np.newaxis] == near[:, np.newaxis, :]) & (words >= 0)[:, :, np.newaxis]
        weighted = near_scores * config.weight_tfidf
        # A tool stands once in each list, so that each sum has one summand at most.
        totals = np.concatenate(
            [
                ranks * config.weight_keyword + np.where(shared, weighted[:, np.newaxis, :], 0.0).sum(axis=2),
                weighted,
            ],
            axis=1,
        )
        listed = np.concatenate([words, np.where(shared.any(axis=1), -1, near)], axis=1)
        totals[listed < 0] = -np.inf
        order = np.argsort(-totals, axis=1, kind="stable")[:, :limit]
        merged = np.take_along_axis(listed, order, axis=1)
        scores = np.where(merged >= 0, np.take_along_axis(totals, order, axis=1), 0.0)
        # A loaded tool that the query names has taken its place, and is no result.
        loaded = merged == len(self.index.tools)
        for row in np.flatnonzero(loaded.any(axis=1)).tolist():
            merged[row] = np.append(merged[row][~loaded[row]], -1)
            scores[row] = np.append(scores[row][~loaded[row]], 0.0)
        return merged, scores


class _KeywordArm:
    def __init__(self, index: ReferenceIndex, hits: Sequence[KeywordHits]) -> None:
        size = len(index.tools)
        pairs, kinds = [], []
        self._queries = len(hits)
        self._fixed: dict[int, Integers] = {}
        for query, found in enumerate(hits):
            if found.named is not None:
                # A loaded tool has no place of its own: it gets the one after the last.
                self._fixed[query] = np.array([index.numbers.get(found.named.name, size)])
            elif found.begun:
                self._fixed[query] = found.places
            else:
                for places, kind in _entries(index, found):
                    pairs.append(query * size + places)
                    kinds.append(kind)
        keys: Integers = np.concatenate([np.empty(0, dtype=np.int64), *pairs])
        all_kinds: Integers = np.concatenate([np.empty(0, dtype=np.int64), *kinds])
        found_pairs, pair = np.unique(keys, return_inverse=True)
        self._query, self._place = np.divmod(found_pairs, max(1, size))
        self._sums = _Sums(pair, all_kinds, self._query)
        self._kept: dict[int, Integers] = {}

    def best(self, config: SearchConfig, limit: int) -> tuple[Integers, Floats]:
        """The arm's lists, -1 past their ends, and the rank scores."""
        points = config.keyword_points
        worth = np.empty(6)
        worth[_NAME], worth[_SERVER_NAME] = points.name, name_points(config, of_server=True)
        worth[_INSIDE] = config.keyword_substring_points
        worth[_SERVER_INSIDE] = substring_points(config, of_server=True)
        worth[_HINT], worth[_DESCRIPTION] = points.hint, points.description
        ranks, counted = self._sums.ranks(worth)
        kept = self._kept.get(limit)
        if kept is None:
            # Tools with the same evidence for a query tie, so only the first of them can be listed.
            kept = self._kept[limit] = np.flatnonzero(self._sums.place_among_equals < limit)
        sums = self._sums.of_pair[kept]
        kept, sums = kept[counted[sums]], sums[counted[sums]]
        listed = _first(self._query[kept], self._place[kept], ranks[sums], self._queries, limit)[0]
        for query, places in self._fixed.items():
            listed[query, : min(limit, len(places))] = places[:limit]
        sizes = (listed >= 0).sum(axis=1)[:, np.newaxis]
        shares = np.where(listed >= 0, (sizes - np.arange(limit)) / np.maximum(sizes, 1), 0.0)
        return listed, shares


class _Sums:
    """The different sums of points that occur: the same kinds of evidence in the same order are the same sum.

    Attributes:
        of_pair: The number of each pair's sum.
        place_among_equals: How many pairs of the same query and the same sum stand before each pair.
    """

    def __init__(self, pair: Integers, kind: Integers, query: Integers) -> None:
        order = np.argsort(pair, kind="stable")
        kinds = kind[order].astype(np.uint8).tobytes()
        ends = np.cumsum(np.bincount(pair, minlength=len(query))).tolist()
        numbers: dict[bytes, int] = {}
        begin = 0
        of_pair = np.empty(len(query), dtype=np.int64)
        for place, end in enumerate(ends):
            of_pair[place] = numbers.setdefault(kinds[begin:end], len(numbers))
            begin = end
        self.of_pair: Integers = of_pair
        self._count = len(numbers)
        self._sum: Integers = np.repeat(np.arange(self._count), [len(each) for each in numbers])
        self._kind: Integers = np.array([each for one in numbers for each in one], dtype=np.int64)
        classes = query * max(1, self._count) + of_pair
        by_class = np.argsort(classes, kind="stable")
        sorted_classes = classes[by_class]
        first = np.searchsorted(sorted_classes, sorted_classes)
        self.place_among_equals: Integers = np.empty(len(query), dtype=np.int64)
        self.place_among_equals[by_class] = np.arange(len(query)) - first

    def ranks(self, worth: Floats) -> tuple[Integers, Marks]:
        """Of each sum its rank among all, the largest 0 and equal ones the same; and which are above 0."""
        # bincount adds in the order of the entries, which is that in which the arm gives its points.
        totals = np.bincount(self._sum, weights=worth[self._kind], minlength=self._count)
        _, ascending = np.unique(-totals, return_inverse=True)
        return ascending, totals > 0


def _entries(index: ReferenceIndex, found: KeywordHits) -> list[tuple[Integers, Integers]]:
    """Places and kinds for each word and field, in the order in which the arm counts them."""
    passing: Marks = np.ones(len(index.tools), dtype=bool)
    for _, evidence in found.words[: found.required]:
        has_it = np.zeros(len(passing), dtype=bool)
        evidence.mark(has_it)
        passing &= has_it
    entries = []
    for _, evidence in found.words:
        for places, plain, of_server in (
            (evidence.equal, _NAME, _SERVER_NAME),
            (evidence.inside, _INSIDE, _SERVER_INSIDE),
            (evidence.hint, _HINT, _HINT),
            (evidence.description, _DESCRIPTION, _DESCRIPTION),
        ):
            kept = places[passing[places]]
            entries.append((kept, np.where(index.of_server_form[kept], of_server, plain)))
    return entries


class _TfidfArm:
    def __init__(self, index: ReferenceIndex, queries: Sequence[str]) -> None:
        size = len(index.tools)
        self._index = index
        self._queries = len(queries)
        vectors = index.weighted(REFERENCE)
        pairs, postings, weights, struck, named = [], [], [], [], []
        lengths = np.zeros(len(queries))
        self._asks = np.zeros(len(queries), dtype=bool)
        for query, text in enumerate(queries):
            found = cosines(index, vectors, text)
            lengths[query] = found.length
            self._asks[query] = bool(found.wanted)
            for term, weight in found.wanted.items():
                of_term = index.postings(term)
                pairs.append(query * size + index.places[of_term])
                postings.append(np.arange(of_term.start, of_term.stop))
                weights.append(np.full(of_term.stop - of_term.start, weight))
            struck.append(query * size + struck_out(index, terms(text)))
            named.append(query * size + np.array(found.named, dtype=np.int64))
        nothing: Integers = np.empty(0, dtype=np.int64)
        keys: Integers = np.concatenate([nothing, *pairs])
        named_keys: Integers = np.concatenate([nothing, *named])
        self._posting: Integers = np.concatenate([nothing, *postings])
        self._weight: Floats = np.concatenate([np.empty(0), *weights])
        known = np.unique(np.concatenate([keys, named_keys]))
        self._pair = np.searchsorted(known, keys)
        self._named = np.searchsorted(known, named_keys)
        self._struck = np.isin(known, np.concatenate([nothing, *struck]))
        self._query, self._place = np.divmod(known, max(1, size))
        self._length = lengths[self._query]

    def scores(self, config: SearchConfig) -> Floats:
        """The score of each pair (query, tool)."""
        vectors = self._index.weighted(config)
        # bincount adds in the order of the entries: a query's terms in theirs.
        products = np.bincount(
            self._pair, weights=self._weight * vectors.values[self._posting], minlength=len(self._query)
        ).astype(np.float64, copy=False)
        norms = self._length * vectors.norms[self._place]
        found = np.divide(products, norms, out=np.zeros(len(products)), where=(norms > 0) & (products != 0))
        found[self._struck] = 0.0
        found[self._named] = np.maximum(found[self._named], NAME_BOOST)
        return found

    def best(self, config: SearchConfig, limit: int) -> tuple[Integers, Floats]:
        """The arm's lists, -1 past their ends, and their scores."""
        scores = self.scores(config)
        bound = config.confidence_bound
        # A pair of score 0 is like any tool that shares no term: below every bound but 0.
        kept = np.flatnonzero((scores >= bound) & (scores > 0))
        order = np.argsort(-scores[kept], kind="stable")
        rank = np.empty(len(kept), dtype=np.int64)
        rank[order] = np.arange(len(kept))
        listed, chosen = _first(self._query[kept], self._place[kept], rank, self._queries, limit)
        found = np.where(chosen >= 0, np.append(scores[kept], 0.0)[chosen], 0.0)
        if bound <= 0:
            self._fill(listed)
        return listed, found

    def _fill(self, listed: Integers) -> None:
        """Without a bound every tool is listed: after those with a score the others, in catalog order."""
        everything = np.arange(len(self._index.tools))
        for query in np.flatnonzero(self._asks & (listed[:, -1] < 0)).tolist():
            row = listed[query]
            count = int((row >= 0).sum())
            others = everything[~np.isin(everything, row)][: len(row) - count]
            row[count : count + len(others)] = others


def _first(query: Integers, place: Integers, rank: Integers, queries: int, limit: int) -> tuple[Integers, Integers]:
    """Of each query the places with the smallest ranks, ties in catalog order, and their numbers in the arguments.

    The pairs come sorted by query, then by place. Past a query's last both are -1.
    """
    by_rank = np.argsort(_narrow(rank), kind="stable")
    order = by_rank[np.argsort(_narrow(query[by_rank]), kind="stable")]
    starts = np.searchsorted(query, np.arange(queries))
    column = np.arange(len(order)) - starts[query[order]]
    inside = column < limit
    shown, column = order[inside], column[inside]
    listed = np.full((queries, limit), -1, dtype=np.int64)
    chosen = np.full((queries, limit), -1, dtype=np.int64)
    listed[query[shown], column] = place[shown]
    chosen[query[shown], column] = shown
    return listed, chosen


def _narrow(numbers: Integers) -> Integers | NDArray[np.uint16]:
    """The numbers in 16 bits where they fit: those are sorted digit by digit, which is many times faster."""
    return numbers.astype(np.uint16) if len(numbers) and int(numbers.max()) < 1 << 16 else numbers
