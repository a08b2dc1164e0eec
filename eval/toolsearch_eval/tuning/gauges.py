"""What a trial is measured by beside its quality: must-pass queries that fell, tokens, latency, a second measure.

A gauge gives one number for a profile. As a constraint it has a bound that it must not exceed; as a second objective it
is made as good as can be beside the first one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.config import SearchConfig
from toolsearch.errors import UnknownNameError, UsageError
from toolsearch.search.searcher import Searcher
from toolsearch.tokens import token_counter
from toolsearch_eval.measures import Measure, parse_measure
from toolsearch_eval.token_costs import SHOWN, definition_text
from toolsearch_eval.tuning.macro import macro_mean
from toolsearch_eval.tuning.panel import LabelledSet

TOKENS = "tokens"
_TIMED = 100
"""Queries that are timed for a profile, evenly taken from all."""


class Gauge(Protocol):
    """One number about a profile."""

    @property
    def name(self) -> str:
        """How it is called in a study."""

    def read(self, sets: Sequence[LabelledSet], config: SearchConfig) -> float:
        """The number for a profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MustPass:
    """How many must-pass queries are worse than under the shipped profile.

    Attributes:
        queries: Places of the queries in each set.
        shipped: Their values there under the shipped profile.
    """

    queries: tuple[tuple[int, ...], ...]
    shipped: tuple[tuple[float, ...], ...]
    name: str = "must_pass"

    def read(self, sets: Sequence[LabelledSet], config: SearchConfig) -> float:
        """The number of those that fell; 0 for the shipped profile itself."""
        fallen = 0
        for each, places, before in zip(sets, self.queries, self.shipped, strict=True):
            if places:
                now = each.values(config)[list(places)]
                fallen += int(np.count_nonzero(now < np.array(before) - 1e-9))
        return float(fallen)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Mean tokens of the definitions of the first results, each set counting alike."""

    name: str = TOKENS
    _sizes: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def read(self, sets: Sequence[LabelledSet], config: SearchConfig) -> float:
        """The mean over the sets of the mean over their queries."""
        means = []
        for each in sets:
            key = (each.fingerprint, config.ranking)
            if key not in self._sizes:
                counter = token_counter()
                # One more at the end, of nothing: what stands past a query's last result.
                self._sizes[key] = [*(counter.count(definition_text(tool)) for tool in each.tools(config)), 0]
            sizes = np.array(self._sizes[key], dtype=np.float64)
            means.append(sizes[each.rankings(config)[:, :SHOWN]].sum(axis=1))
        return macro_mean(means)


@dataclass(frozen=True, slots=True)
class Latency:
    """The 95th percentile of the milliseconds of single searches; as any timing it differs from run to run."""

    name: str = "p95_ms"

    def read(self, sets: Sequence[LabelledSet], config: SearchConfig) -> float:
        """The largest of the sets' percentiles, over an even part of each set's queries, the first pass not counted."""
        highest = 0.0
        for each in sets:
            searcher = Searcher(ToolRegistry(each.data.tools), config)
            texts = [query.text for query in each.queries[:: max(1, len(each.queries) // _TIMED)]]
            times = []
            for text in texts:
                searcher.search(text, max_results=each.depth)
            for text in texts:
                start = time.perf_counter()
                searcher.search(text, max_results=each.depth)
                times.append((time.perf_counter() - start) * 1000)
            highest = max(highest, float(np.percentile(times, 95)))
        return highest


@dataclass(frozen=True, slots=True, kw_only=True)
class Second:
    """The mean of another measure."""

    measure: Measure

    @property
    def name(self) -> str:
        """The measure as it is written."""
        return str(self.measure)

    def read(self, sets: Sequence[LabelledSet], config: SearchConfig) -> float:
        """The mean over the sets of the mean over their groups."""
        return macro_mean([each.group_values(each.values(config, self.measure)) for each in sets])


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What is asked of a profile beside its quality.

    Attributes:
        must_pass: Ids of queries that must not become worse.
        max_tokens: The most mean tokens of the first results' definitions.
        max_p95_ms: The most milliseconds of a single search, 95th percentile.
        second: Another measure, or `tokens` (fewer are better), as a second objective.
    """

    must_pass: tuple[str, ...] = ()
    max_tokens: float | None = None
    max_p95_ms: float | None = None
    second: str | None = None

    @property
    def bounds(self) -> Mapping[str, float]:
        """What each constraint's gauge must not exceed."""
        asked = {"must_pass": 0.0 if self.must_pass else None, TOKENS: self.max_tokens, "p95_ms": self.max_p95_ms}
        return {name: bound for name, bound in asked.items() if bound is not None}


def gauges(demands: Demands, sets: Sequence[LabelledSet], shipped: SearchConfig) -> tuple[Gauge, ...]:
    """The gauges that some demands need.

    Raises:
        UnknownNameError: A must-pass query that is not among the measured ones, or an unknown measure.
        UsageError: A bound that is no number above 0, or a second measure that looks deeper than the rankings.
    """
    found: list[Gauge] = []
    for label, bound in (("tokens", demands.max_tokens), ("p95", demands.max_p95_ms)):
        if bound is not None and not 0 < bound < float("inf"):
            raise UsageError(f"the bound of {label} is {bound:g}; it must be a finite number above 0.")
    if demands.must_pass:
        found.append(_must_pass(demands.must_pass, sets, shipped))
    if demands.max_tokens is not None or demands.second == TOKENS:
        found.append(Tokens())
    if demands.max_p95_ms is not None:
        found.append(Latency())
    if demands.second is not None and demands.second != TOKENS:
        measure = parse_measure(demands.second)
        depth = min(each.depth for each in sets)
        if (measure.cutoff or 0) > depth:
            raise UsageError(f"{measure} looks deeper than the depth {depth}; use a higher depth.")
        if all(measure == each.measure for each in sets):
            raise UsageError(f"{measure} is the first objective already; give another one as the second.")
        found.append(Second(measure=measure))
    return tuple(found)


def _must_pass(wanted: Sequence[str], sets: Sequence[LabelledSet], shipped: SearchConfig) -> MustPass:
    known = {query.query_id for each in sets for query in each.queries}
    for query_id in wanted:
        if query_id not in known:
            raise UnknownNameError("must-pass query", query_id, known, "It must be among the dev queries measured.")
    places = tuple(
        tuple(place for place, query in enumerate(each.queries) if query.query_id in set(wanted)) for each in sets
    )
    values = tuple(
        tuple(float(value) for value in each.values(shipped)[list(own)]) if own else ()
        for each, own in zip(sets, places, strict=True)
    )
    return MustPass(queries=places, shipped=values)
