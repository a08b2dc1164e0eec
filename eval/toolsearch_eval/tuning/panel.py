"""The labelled queries that a search for better weights may see, and what a profile is worth on them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool, tool_id
from toolsearch.config import SearchConfig
from toolsearch.errors import UsageError
from toolsearch.search.batch import PreparedQueries
from toolsearch.search.reference.batch import PreparedReference
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.measures import Measure
from toolsearch_eval.selection import measured, refuse_twins
from toolsearch_eval.tuning.gains import Gains

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """The measured queries of one data set, ready to be ranked under any profile of one kind.

    Attributes:
        data: The data set.
        split: `dev`, `test` or `all`.
        queries: Those that are measured, in the order of the file.
        measure: What a ranking is judged by.
        depth: Where rankings are cut.
    """

    data: DataSet
    split: str
    queries: tuple[Query, ...]
    measure: Measure
    depth: int
    _prepared: dict[str, PreparedQueries | PreparedReference] = field(default_factory=dict, init=False)
    _gains: dict[tuple[str, Measure], Gains] = field(default_factory=dict, init=False)
    _last: dict[SearchConfig, Integers] = field(default_factory=dict, init=False)

    @property
    def name(self) -> str:
        """The data set's name."""
        return self.data.name

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups' names, sorted: the unit of every mean and interval."""
        return tuple(sorted({query.group for query in self.queries}))

    @cached_property
    def group_of(self) -> Integers:
        """The number of each query's group in `groups`."""
        numbers = {name: number for number, name in enumerate(self.groups)}
        return np.array([numbers[query.group] for query in self.queries], dtype=np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hexadecimal) over what is measured and how."""
        text = json.dumps([self.data.fingerprint, self.split, str(self.measure), self.depth])
        return hashlib.sha256(text.encode()).hexdigest()

    def rankings(self, config: SearchConfig) -> Integers:
        """Numbers of tools in `tools(config)`, a row for each query, best first, -1 past the last."""
        # Several gauges ask for the same profile one after another.
        known = self._last.get(config)
        if known is None:
            known = self._ready(config).ranked(config, self.depth)[0]
            self._last.clear()
            self._last[config] = known
        return known

    def tools(self, config: SearchConfig) -> tuple[Tool, ...]:
        """The tools by the numbers of `rankings`."""
        return self._ready(config).tools

    def names(self, config: SearchConfig) -> list[str]:
        """The names of `tools` as the labels know them."""
        # The registry gives a server's tool its full id where its own name is reserved; labels know the name given.
        given = {tool_id(tool.server, tool.leaf): tool.name for tool in self._searched if tool.server}
        given |= {tool.name: tool.name for tool in self._searched}
        return [given.get(tool.name, tool.name) for tool in self.tools(config)]

    def values(self, config: SearchConfig, measure: Measure | None = None) -> Floats:
        """The set's measure, or another one, of each query under a profile, 0..1, as `evaluate` gives it."""
        wanted = measure or self.measure
        gains = self._gains.get((config.ranking, wanted))
        if gains is None:
            gains = Gains(self.queries, self.data.judgements, self.names(config), wanted, self.depth)
            self._gains[config.ranking, wanted] = gains
        return gains.values(self.rankings(config))

    def group_values(self, values: Floats) -> Floats:
        """The mean of each group's queries, in the order of `groups`."""
        counted = np.bincount(self.group_of, minlength=len(self.groups))
        summed: Floats = np.bincount(self.group_of, weights=values, minlength=len(self.groups)) / counted
        return summed

    @cached_property
    def _searched(self) -> tuple[Tool, ...]:
        return tuple(tool for tool in self.data.tools if is_deferred(tool))

    def _ready(self, config: SearchConfig) -> PreparedQueries | PreparedReference:
        known = self._prepared.get(config.ranking)
        if known is None:
            snapshot = ToolRegistry(self._searched).snapshot()
            prepare = PreparedReference if config.ranking == "reference" else PreparedQueries
            known = prepare(snapshot, [query.text for query in self.queries])
            self._prepared[config.ranking] = known
        return known


def label(data: DataSet, split: str, measure: Measure, *, depth: int = 10) -> LabelledSet:
    """The measured queries of a data set.

    Args:
        data: The data set.
        split: `dev`, `test` or `all`.
        measure: What decides.
        depth: Where rankings are cut, at least the measure's cutoff.

    Raises:
        DataError: Two tools have one name.
        UsageError: No query of the split can be measured, or the measure looks deeper than the depth.
    """
    if (measure.cutoff or 0) > depth:
        raise UsageError(f"{measure} looks deeper than the depth {depth}; use a higher depth.")
    refuse_twins(data)
    queries, excluded, size = measured(data, split)
    if not queries:
        left_out = ", ".join(f"{count} {reason}" for reason, count in excluded.items() if count) or "none"
        raise UsageError(
            f"{data.name}: no query of split {split} can be measured; {size} in all, left out: {left_out}."
        )
    return LabelledSet(data, split, queries, measure, depth)
