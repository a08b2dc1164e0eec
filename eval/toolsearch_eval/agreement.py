"""How far labelling passes, or judges, agree: Krippendorff's alpha with an interval, and where they differ most.

Alpha is 1 − observed / expected disagreement (K. Krippendorff, Content Analysis, chapter on reliability): 1 is full
agreement, 0 what chance would give, below 0 worse than that. A unit is a query with a tool; it counts where at least
two raters have labelled it. Settled labels are no ratings and are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toolsearch_eval.judgements import Judgement

Matrix = NDArray[np.float64]
Level = Literal["nominal", "ordinal"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal")
"""`nominal`: grades are the same or not. `ordinal`: a difference weighs as much as there are labels in between."""

_BOUNDS = (2.5, 97.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alpha:
    """One alpha.

    Attributes:
        value: At most 1; None where it is not defined, see `why`.
        low: Lower bound of the 95% interval; None with fewer than two groups, or where no draw had a value.
        high: Upper bound.
        undefined: Draws that had no value, as all their labels were the same; they are left out of the interval.
        why: Why there is no value, or "".
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    undefined: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Two raters side by side.

    Attributes:
        a: The first rater.
        b: The second.
        counts: How many units have each pair of grades, a's first.
    """

    a: str
    b: str
    counts: Mapping[tuple[int, int], int]

    @property
    def units(self) -> int:
        """Units that both have labelled."""
        return sum(self.counts.values())

    @property
    def equal(self) -> int:
        """Units to which both gave one grade."""
        return sum(count for (one, other), count in self.counts.items() if one == other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """A unit whose raters differ.

    Attributes:
        query_id: The query.
        tool: The tool.
        grades: By rater.
    """

    query_id: str
    tool: str
    grades: Mapping[str, int]

    @property
    def spread(self) -> int:
        """The highest grade less the lowest."""
        return max(self.grades.values()) - min(self.grades.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What raters have in common.

    Attributes:
        raters: Their names, sorted.
        units: Units that at least two have labelled.
        groups: The query groups in which these lie.
        single: Units that only one has labelled; they tell nothing here.
        equal: Units whose raters all gave one grade.
        repeats: Labels that were left out, as the rater had labelled the unit on an earlier line.
        alphas: By level.
        confusions: For each two raters with a common unit.
        disputes: Every unit whose raters differ, the widest first, then by query and tool.
    """

    raters: tuple[str, ...]
    units: int
    groups: int
    single: int
    equal: int
    repeats: int
    alphas: Mapping[Level, Alpha]
    confusions: tuple[Confusion, ...]
    disputes: tuple[Dispute, ...]


def rater_by_pass(label: Judgement) -> str:
    """The labelling pass as a rater.

    >>> rater_by_pass(Judgement(query_id="q", tool="t", grade=1, turn=2))
    'pass 2'
    """
    return f"pass {label.turn}"


def rater_by_judge(label: Judgement) -> str:
    """The judge as a rater, whatever the pass."""
    return label.judge or "(no name)"


def agreement(
    labels: Iterable[Judgement],
    groups: Mapping[str, str],
    *,
    rater: Callable[[Judgement], str] = rater_by_pass,
    only: Sequence[str] | None = None,
    rounds: int = 10_000,
    seed: int = 0,
) -> Agreement:
    """Alpha on both levels with bootstrap intervals, whose unit is the query group, and the differences.

    Args:
        labels: Settled ones are left out.
        groups: The group of each query; a query that is not there is a group of its own.
        rater: Who a label is from; of several labels of one rater for a unit the first counts.
        only: The raters to look at; None takes all.
        rounds: Draws of groups for the interval, above 0.
        seed: Of the draws.
    """
    units: dict[tuple[str, str], dict[str, int]] = {}
    repeats = 0
    for label in labels:
        name = rater(label)
        if label.settled or (only is not None and name not in only):
            continue
        grades = units.setdefault((label.query_id, label.tool), {})
        repeats += name in grades
        grades.setdefault(name, label.grade)
    shared = {unit: grades for unit, grades in units.items() if len(grades) > 1}
    by_group: dict[str, list[tuple[int, ...]]] = {}
    for (query_id, _), grades in shared.items():
        by_group.setdefault(groups.get(query_id, query_id), []).append(tuple(grades.values()))
    disputes = [
        Dispute(query_id=query_id, tool=tool, grades=dict(sorted(grades.items())))
        for (query_id, tool), grades in shared.items()
        if len(set(grades.values())) > 1
    ]
    return Agreement(
        raters=tuple(sorted({name for grades in units.values() for name in grades})),
        units=len(shared),
        groups=len(by_group),
        single=len(units) - len(shared),
        equal=len(shared) - len(disputes),
        repeats=repeats,
        alphas=_alphas([sorted(by_group[name]) for name in sorted(by_group)], rounds, seed),
        confusions=_confusions(shared.values()),
        disputes=tuple(sorted(disputes, key=lambda each: (-each.spread, each.query_id, each.tool))),
    )


def krippendorff_alpha(units: Iterable[Sequence[int]], level: Level) -> float | None:
    """Alpha over units, each with the values that it was given.

    Units with fewer than two values count for nothing. None where no unit is left, or all values are the same: there
    is no disagreement that chance could give, so nothing to hold the observed one against.

    >>> krippendorff_alpha([(0, 0), (1, 1), (0, 1)], "nominal")
    0.4444444444444444
    >>> krippendorff_alpha([(1, 1), (1, 1)], "nominal")
    """
    shared = [tuple(unit) for unit in units if len(unit) > 1]
    values = sorted({value for unit in shared for value in unit})
    found = _alpha(_coincidences(shared, values)[None], level)[0] if shared else np.nan
    return None if np.isnan(found) else float(found)


def _coincidences(units: Iterable[Sequence[int]], values: Sequence[int]) -> Matrix:
    """How often two values meet in a unit; a unit with m values weighs m in all."""
    place = {value: number for number, value in enumerate(values)}
    matrix = np.zeros((len(values), len(values)))
    for unit in units:
        counts = np.zeros(len(values))
        for value in unit:
            counts[place[value]] += 1
        matrix += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    return matrix


def _alpha(matrices: Matrix, level: Level) -> Matrix:
    """Alpha of each matrix of coincidences; NaN where chance gives no disagreement."""
    totals = matrices.sum(axis=2)
    size = totals.sum(axis=1)
    if level == "ordinal":
        middle = np.cumsum(totals, axis=1) - totals / 2
        distance = (middle[:, :, None] - middle[:, None, :]) ** 2
    else:
        distance = np.broadcast_to(1 - np.eye(matrices.shape[1]), matrices.shape)
    observed = (matrices * distance).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - (size - 1) * observed / expected, np.nan)


def _alphas(groups: Sequence[Sequence[Sequence[int]]], rounds: int, seed: int) -> dict[Level, Alpha]:
    values = sorted({value for units in groups for unit in units for value in unit})
    if not groups:
        return {level: Alpha(value=None, why="no unit was labelled twice") for level in LEVELS}
    if len(values) == 1:
        why = f"every label is {values[0]}, so chance gives no disagreement either"
        return {level: Alpha(value=None, why=why) for level in LEVELS}
    parts = np.stack([_coincidences(units, values) for units in groups])
    whole = parts.sum(axis=0)[None]
    if len(groups) == 1:
        return {level: Alpha(value=float(_alpha(whole, level)[0])) for level in LEVELS}
    drawn = np.random.default_rng(seed).multinomial(len(groups), [1 / len(groups)] * len(groups), size=rounds)
    sums = (drawn @ parts.reshape(len(groups), -1)).reshape(rounds, len(values), len(values))
    found: dict[Level, Alpha] = {}
    for level in LEVELS:
        draws = _alpha(sums, level)
        defined = draws[~np.isnan(draws)]
        low, high = np.percentile(defined, _BOUNDS) if len(defined) else (None, None)
        found[level] = Alpha(
            value=float(_alpha(whole, level)[0]),
            low=None if low is None else float(low),
            high=None if high is None else float(high),
            undefined=rounds - len(defined),
        )
    return found


def _confusions(units: Iterable[Mapping[str, int]]) -> tuple[Confusion, ...]:
    tables: dict[tuple[str, str], Counter[tuple[int, int]]] = {}
    for grades in units:
        for a, b in combinations(sorted(grades), 2):
            tables.setdefault((a, b), Counter())[grades[a], grades[b]] += 1
    return tuple(Confusion(a=a, b=b, counts=dict(sorted(tables[a, b].items()))) for a, b in sorted(tables))
