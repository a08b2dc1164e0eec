"""What the pictures and tables of a report show, as plain rows; whoever draws computes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolsearch_eval.compare import Comparison, Judged
from toolsearch_eval.measures import Measure
from toolsearch_eval.statistics import FEW_GROUPS, Difference, Interval, mean_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanRow:
    """One ranker's mean.

    Attributes:
        ranker: The ranker.
        interval: Mean over groups with its 95% interval.
    """

    ranker: str
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestRow:
    """One line of a forest plot.

    Attributes:
        label: `overall`, a slice, or a ranker.
        queries: How many.
        found: The difference; its `n` is the number of groups.
        few: Too few groups to tell anything; to be drawn grey and to be said.
    """

    label: str
    queries: int
    found: Difference
    few: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DumbbellRow:
    """One query that two rankers answer with different success.

    Attributes:
        query_id: The query.
        text: What it asks.
        slice: Its slice.
        a: The value of the first, 0..1.
        b: The value of the second.
    """

    query_id: str
    text: str
    slice: str
    a: float
    b: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow:
    """One slice with every ranker's mean.

    Attributes:
        name: The slice.
        queries: How many.
        groups: In how many groups.
        means: By ranker, the mean over groups with its 95% interval.
        few: Too few groups to tell anything.
    """

    name: str
    queries: int
    groups: int
    means: Mapping[str, Interval]
    few: bool


def mean_rows(judged: Judged, measure: Measure) -> tuple[MeanRow, ...]:
    """Every ranker's mean, in the order in which they were judged."""
    groups = [query.group for query in judged.queries]
    return tuple(
        MeanRow(ranker=name, interval=mean_interval(judged.values(name, measure), groups)) for name in judged.rankings
    )


def slice_rows(judged: Judged, measure: Measure) -> tuple[SliceRow, ...]:
    """Every slice with every ranker's mean, in the order of the slices' names; queries without a slice are in none."""
    values = {name: judged.values(name, measure) for name in judged.rankings}
    rows = []
    for part in sorted({query.slice for query in judged.queries if query.slice}):
        places = [place for place, query in enumerate(judged.queries) if query.slice == part]
        groups = [judged.queries[place].group for place in places]
        means = {name: mean_interval([column[place] for place in places], groups) for name, column in values.items()}
        count = len(set(groups))
        rows.append(SliceRow(name=part, queries=len(places), groups=count, means=means, few=count < FEW_GROUPS))
    return tuple(rows)


def forest_rows(comparison: Comparison) -> tuple[ForestRow, ...]:
    """The overall difference and that of each slice, in the order of their names."""
    overall = comparison.overall
    first = ForestRow(label="overall", queries=comparison.queries, found=overall, few=overall.difference.n < FEW_GROUPS)
    parts = (
        ForestRow(label=part.name, queries=part.queries, found=part.difference, few=part.few)
        for part in comparison.slices
    )
    return (first, *parts)


def challenger_rows(comparisons: tuple[Comparison, ...]) -> tuple[ForestRow, ...]:
    """The overall difference of each challenger of one baseline."""
    return tuple(
        ForestRow(label=each.b, queries=each.queries, found=each.overall, few=each.overall.difference.n < FEW_GROUPS)
        for each in comparisons
    )


def dumbbell_rows(comparison: Comparison, limit: int = 30) -> tuple[DumbbellRow, ...]:
    """The queries that moved most, largest gain first, then the losses with the largest last.

    Args:
        comparison: Which queries it has was said when it was made.
        limit: At most so many, those that moved most.
    """
    rows = [
        DumbbellRow(query_id=each.query.query_id, text=each.query.text, slice=each.query.slice, a=each.a, b=each.b)
        for each in comparison.moved[:limit]
    ]
    return tuple(sorted(rows, key=lambda row: (row.a - row.b, row.query_id)))
