"""What tuning is worth on unseen queries: the whole procedure on all folds but one, judged on the one left out."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolsearch_eval.statistics import Difference
from toolsearch_eval.tuning.choose import Scored, choose
from toolsearch_eval.tuning.evaluator import Evaluator, Measured, Values, forked
from toolsearch_eval.tuning.loop import Done, Notebook, Plan, search
from toolsearch_eval.tuning.macro import macro_difference, macro_mean
from toolsearch_eval.tuning.objective import Objective

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """One fold.

    Attributes:
        chosen: What tuning on the other folds chose.
        seen: The gain over the shipped profile on the folds that it was tuned on.
        unseen: The gain on the one left out.
    """

    chosen: dict[str, float]
    seen: float
    unseen: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    """What nested cross-validation says.

    Attributes:
        folds: Each fold.
        gain: The tuned profiles less the shipped one, each group judged by the profile that had not seen it.
        seen: The mean gain on the groups that were tuned on.
        trials: Of each fold's study.
    """

    folds: tuple[Fold, ...]
    gain: Difference
    seen: float
    trials: int

    @property
    def optimism(self) -> float:
        """How much of the gain on the tuned groups is not there on unseen ones."""
        return self.seen - float(self.gain.difference.mean or 0.0)


def nested(evaluator: Evaluator, plan: Plan, objective: Objective, *, folds: int, jobs: int = 1) -> Nested:
    """Tune on all folds but one and judge on that one, for each fold.

    Args:
        evaluator: The dev queries.
        plan: The study of each fold; its seed is the fold's own.
        objective: What is made as large as can be.
        folds: At least 2, at most the groups of the smallest set.
        jobs: How many processes work; changes nothing.
    """
    parts = [_parts(len(each.groups), folds, plan.seed) for each in evaluator.sets]
    shipped = evaluator.many([evaluator.space.shipped])[0].groups
    tasks = [(evaluator, plan, objective, parts, fold) for fold in range(folds)]
    if jobs > 1 and sys.platform == "linux":
        global _tasks
        _tasks = tasks
        with forked(jobs) as pool:
            results = list(pool.map(_inherited_fold, range(folds)))
    else:
        results = [_fold(*task) for task in tasks]
    unseen = [np.zeros(len(each.groups)) for each in evaluator.sets]
    found = []
    for fold, (chosen, groups) in enumerate(results):
        gains = [after - before for after, before in zip(groups, shipped, strict=True)]
        for place, part in enumerate(parts):
            unseen[place][part == fold] = groups[place][part == fold]
        found.append(
            Fold(
                chosen=chosen,
                seen=macro_mean([gain[part != fold] for gain, part in zip(gains, parts, strict=True)]),
                unseen=macro_mean([gain[part == fold] for gain, part in zip(gains, parts, strict=True)]),
            )
        )
    return Nested(
        folds=tuple(found),
        gain=macro_difference(shipped, unseen, seed=plan.seed),
        seen=math.fsum(each.seen for each in found) / folds,
        trials=plan.trials,
    )


_tasks: list[tuple[Evaluator, Plan, Objective, list[Integers], int]] = []
"""What a forked process works on: too large to be sent, and there already."""


def _inherited_fold(fold: int) -> tuple[dict[str, float], Values]:
    return _fold(*_tasks[fold])


@dataclass(frozen=True, slots=True)
class _Seen:
    """The objective on the groups that a fold's study sees; gauges are read on all queries."""

    seen: Callable[[Values], Values]
    whole: Objective

    @property
    def count(self) -> int:
        return self.whole.count

    def judge(self, measured: Measured) -> tuple[tuple[float, ...], dict[str, float]]:
        quality = macro_mean(self.seen(measured.groups))
        return self.whole.scores(quality, measured), self.whole.constraints(measured)


def _fold(
    evaluator: Evaluator, plan: Plan, objective: Objective, parts: Sequence[Integers], fold: int
) -> tuple[dict[str, float], Values]:
    """The choice of one fold, and its values for all groups."""
    own = Plan(sampler=plan.sampler, seed=plan.seed * 1000 + fold + 1, batch=plan.batch, trials=plan.trials)

    def seen(groups: Values) -> Values:
        return tuple(values[part != fold] for values, part in zip(groups, parts, strict=True))

    alone = Evaluator(evaluator.sets, evaluator.space, gauges=evaluator.gauges)
    trials: list[Done] = list(search(own, alone, _Seen(seen, objective), Notebook()))
    choice = choose(
        [
            Scored(
                number=each.number,
                values=seen(each.groups),
                distance=evaluator.space.distance(each.values),
                feasible=each.feasible,
            )
            for each in trials
        ]
    )
    taken = trials[choice.chosen if choice else 0]
    return dict(taken.values), taken.groups


def _parts(groups: int, folds: int, seed: int) -> Integers:
    """The fold of each group, as equal in size as can be."""
    order = np.random.default_rng([seed, groups]).permutation(groups)
    parts = np.empty(groups, dtype=np.int64)
    parts[order] = np.arange(groups) % folds
    return parts
