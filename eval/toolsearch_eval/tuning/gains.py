"""A measure of many rankings at once: nDCG as one look-up and one product, any other by `Measure.value`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from toolsearch_eval.data import Query
from toolsearch_eval.measures import Measure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Gains:
    """What each query's tools are worth under one measure."""

    def __init__(
        self,
        queries: Sequence[Query],
        judgements: Mapping[str, Mapping[str, int]],
        names: Sequence[str],
        measure: Measure,
        depth: int,
    ) -> None:
        """Look the labels up once.

        Args:
            queries: Each with a relevant tool.
            judgements: Grade by query and tool.
            names: The tools' names by number.
            measure: What to measure.
            depth: The length of the rankings that will come, at least the measure's cutoff.
        """
        self._queries = queries
        self._grades = [judgements[query.query_id] for query in queries]
        self._names = names
        self._measure = measure
        self._by_product = measure.kind.startswith("nDCG")
        if self._by_product:
            self._prepare(min(measure.cutoff or depth, depth))

    def values(self, best: Integers) -> Floats:
        """The measure of each query, 0..1.

        Args:
            best: Tool numbers, a row for each query, best first, -1 past the last.
        """
        if self._by_product:
            return self._products(best)
        found = [
            self._measure.value([self._names[tool] for tool in row if tool >= 0], grades, need=query.need)
            for query, grades, row in zip(self._queries, self._grades, best.tolist(), strict=True)
        ]
        return np.array(found, dtype=np.float64)

    def _prepare(self, cutoff: int) -> None:
        numbers = {name: number for number, name in enumerate(self._names)}
        exponential = "exp" in self._measure.kind
        keys, gains, ideals = [], [], []
        self._discounts = 1.0 / np.log2(np.arange(cutoff) + 2.0)
        for place, grades in enumerate(self._grades):
            worth = {name: float(2**grade - 1 if exponential else grade) for name, grade in grades.items() if grade > 0}
            for name, gain in worth.items():
                if name in numbers:
                    keys.append(place * len(self._names) + numbers[name])
                    gains.append(gain)
            highest = sorted(worth.values(), reverse=True)[:cutoff]
            ideals.append(float(np.dot(highest, self._discounts[: len(highest)])))
        order = np.argsort(np.array(keys, dtype=np.int64))
        # One key above all others, so that every look-up ends at a key.
        self._keys = np.append(np.array(keys, dtype=np.int64)[order], np.iinfo(np.int64).max)
        self._gains = np.append(np.array(gains, dtype=np.float64)[order], 0.0)
        self._ideals = np.array(ideals)
        self._first_key = (np.arange(len(self._grades)) * len(self._names))[:, np.newaxis]

    def _products(self, best: Integers) -> Floats:
        shown = best[:, : len(self._discounts)]
        # Past the last result no tool stands: a key below all others.
        keys = np.where(shown >= 0, self._first_key + shown, -1)
        places = np.searchsorted(self._keys, keys)
        gains = np.where(self._keys[places] == keys, self._gains[places], 0.0)
        found: Floats = gains @ self._discounts / self._ideals
        return found
