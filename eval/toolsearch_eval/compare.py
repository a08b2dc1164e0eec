"""Two rankers on the same queries: overall, slice by slice, and the queries that moved most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.measures import DEFAULT_MEASURES, Measure
from toolsearch_eval.statistics import FEW_GROUPS, Difference, mean_interval, paired_difference

PRIMARY = DEFAULT_MEASURES[0]
"""The one measure that decides; every other is exploratory."""


class Judged(Protocol):
    """Rankings that were judged: an evaluation just made, or a run that was read back."""

    @property
    def data(self) -> DataSet:
        """The data set."""

    @property
    def split(self) -> str:
        """Which queries were judged."""

    @property
    def depth(self) -> int:
        """Results asked for."""

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries that were measured."""

    @property
    def rankings(self) -> Mapping[str, Sequence[Sequence[str]]]:
        """By ranker, the names for each query."""

    def values(self, ranker: str, measure: Measure) -> list[float]:
        """One value a query, in the order of `queries`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceDifference:
    """One slice.

    Attributes:
        name: The slice.
        queries: How many.
        difference: b less a; its `n` is the number of groups.
        few: Too few groups to tell anything.
    """

    name: str
    queries: int
    difference: Difference
    few: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A query that the two rankers answer with different success.

    Attributes:
        query: The query.
        a: The value of the first.
        b: The value of the second.
        ranking_a: Its names, best first.
        ranking_b: The other's.
        grades: The judged tools.
    """

    query: Query
    a: float
    b: float
    ranking_a: tuple[str, ...]
    ranking_b: tuple[str, ...]
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How much b is better than a.

    Attributes:
        measure: What was measured.
        a: The first ranker.
        b: The second.
        queries: How many were compared.
        mean_a: The first one's mean over groups; None without a query.
        mean_b: The other's.
        overall: Over all queries.
        slices: By slice, in the order of their names.
        moved: The queries that moved most: largest difference first, ties by query id.
        exploratory: The measure is not the primary one, so its p value decides nothing.
    """

    measure: Measure
    a: str
    b: str
    queries: int
    mean_a: float | None
    mean_b: float | None
    overall: Difference
    slices: tuple[SliceDifference, ...]
    moved: tuple[Moved, ...]
    exploratory: bool

    def to_json(self) -> dict[str, Any]:
        """The machine-readable form."""
        return {
            "schema_version": 1,
            "measure": str(self.measure),
            "exploratory": self.exploratory,
            "a": self.a,
            "b": self.b,
            "queries": self.queries,
            "mean_a": self.mean_a,
            "mean_b": self.mean_b,
            **difference_json(self.overall),
            "slices": {
                part.name: {"queries": part.queries, "few": part.few, **difference_json(part.difference)}
                for part in self.slices
            },
            "moved": [
                {
                    "query_id": each.query.query_id,
                    "text": each.query.text,
                    "slice": each.query.slice,
                    "a": each.a,
                    "b": each.b,
                    "ranking_a": list(each.ranking_a),
                    "ranking_b": list(each.ranking_b),
                    "grades": dict(each.grades),
                }
                for each in self.moved
            ],
        }


def compare(
    first: Judged,
    a: str,
    second: Judged,
    b: str,
    *,
    measure: Measure = PRIMARY,
    seed: int = 0,
    moved: int = 10,
) -> Comparison:
    """Compare two rankers query by query.

    Args:
        first: Where the first ranker was judged.
        a: Its name there.
        second: Where the other one was judged; the same for two rankers of one evaluation.
        b: Its name there.
        measure: What to measure; anything but `nDCG@10` is marked exploratory.
        seed: Of the sign flips.
        moved: How many of the queries that moved most are given, at least 0.

    Raises:
        UnknownNameError: A ranker that was not judged there.
        UsageError: The two were not judged on the same queries and labels, or not to the same depth.
    """
    for judged, name in ((first, a), (second, b)):
        if name not in judged.rankings:
            raise UnknownNameError("ranker", name, judged.rankings, "Only what was judged can be compared.")
    _check_same(first, second)
    queries = first.queries
    values_a, values_b = first.values(a, measure), second.values(b, measure)
    groups = [query.group for query in queries]
    slices = []
    for name in sorted({query.slice for query in queries if query.slice}):
        places = [place for place, query in enumerate(queries) if query.slice == name]
        difference = paired_difference(
            [values_a[place] for place in places],
            [values_b[place] for place in places],
            [groups[place] for place in places],
            seed=seed,
        )
        slices.append(
            SliceDifference(
                name=name,
                queries=len(places),
                difference=difference,
                few=difference.difference.n < FEW_GROUPS,
            )
        )
    order = sorted(
        (place for place in range(len(queries)) if abs(values_b[place] - values_a[place]) > 1e-9),
        key=lambda place: (-abs(values_b[place] - values_a[place]), queries[place].query_id),
    )
    return Comparison(
        measure=measure,
        a=a,
        b=b,
        queries=len(queries),
        mean_a=mean_interval(values_a, groups).mean,
        mean_b=mean_interval(values_b, groups).mean,
        overall=paired_difference(values_a, values_b, groups, seed=seed),
        slices=tuple(slices),
        moved=tuple(
            Moved(
                query=queries[place],
                a=values_a[place],
                b=values_b[place],
                ranking_a=tuple(first.rankings[a][place]),
                ranking_b=tuple(second.rankings[b][place]),
                grades=dict(first.data.judgements.get(queries[place].query_id, {})),
            )
            for place in order[:moved]
        ),
        exploratory=measure != PRIMARY,
    )


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """The p values of several challengers of one baseline, adjusted so that all of them hold together.

    Source: Holm, "A simple sequentially rejective multiple test procedure" (1979).

    >>> holm({"x": 0.01, "y": 0.04, "z": 0.03})
    {'x': 0.03, 'y': 0.06, 'z': 0.06}
    """
    adjusted: dict[str, float] = {}
    highest = 0.0
    ordered = sorted(p_values, key=lambda name: (p_values[name], name))
    for place, name in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - place) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def compare_all(judged: Judged, baseline: str, *, measure: Measure = PRIMARY, seed: int = 0) -> tuple[Comparison, ...]:
    """Every other ranker beside one; p values are adjusted by Holm's procedure, as there are several."""
    found = [compare(judged, baseline, judged, name, measure=measure, seed=seed) for name in judged.rankings]
    others = [each for each in found if each.b != baseline]
    adjusted = holm({each.b: each.overall.p for each in others})
    return tuple(replace(each, overall=replace(each.overall, p=adjusted[each.b])) for each in others)


def _check_same(first: Judged, second: Judged) -> None:
    """Refuse what was not judged alike.

    Raises:
        UsageError: Says what differs.
    """
    checks = (
        ("on different data", *(f"{each.data.name} {each.data.fingerprint[:12]}" for each in (first, second))),
        ("on different splits", first.split, second.split),
        ("to different depths", str(first.depth), str(second.depth)),
        ("on different queries", *(",".join(query.query_id for query in each.queries) for each in (first, second))),
    )
    for what, one, other in checks:
        if one != other:
            detail = "" if len(one) + len(other) > 200 else f" ({one} and {other})"
            raise UsageError(f"the two were judged {what}{detail}; judge both alike first.")


def difference_json(found: Difference) -> dict[str, Any]:
    """The machine-readable form of a difference: flat, intervals as low and high."""
    return {
        "difference": found.difference.mean,
        "low": found.difference.low,
        "high": found.difference.high,
        "groups": found.difference.n,
        "p": found.p,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "effect_size": found.effect_size,
        "detectable": found.detectable,
    }
