"""Which of all trials to take: not the best, which is partly luck, but the one nearest to what ships among the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolsearch_eval.tuning.macro import macro_mean, standard_error

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One finished trial.

    Attributes:
        number: Of the trial.
        values: A value for each group of each data set.
        distance: How far it lies from the shipped profile, see `Space.distance`.
        feasible: It meets every constraint.
    """

    number: int
    values: tuple[Floats, ...]
    distance: float
    feasible: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What was chosen, and why.

    Attributes:
        best: The number of the trial with the best mean; of equal ones the first.
        chosen: The number of the one nearest to the shipped profile of those that are as good as the best.
        as_good: How many are: within one standard error of their paired difference to the best.
        loss: How much worse the chosen one's mean is than the best's.
        error: The standard error of that difference.
    """

    best: int
    chosen: int
    as_good: int
    loss: float
    error: float


def choose(trials: Sequence[Scored]) -> Choice | None:
    """The trial to take; None where no trial meets the constraints.

    Args:
        trials: Of one study, on the same groups.
    """
    feasible = [trial for trial in trials if trial.feasible]
    if not feasible:
        return None
    means = {trial.number: macro_mean(trial.values) for trial in feasible}
    best = max(feasible, key=lambda trial: (means[trial.number], -trial.number))
    as_good = []
    for trial in feasible:
        differences = [high - low for high, low in zip(best.values, trial.values, strict=True)]
        error = standard_error(differences)
        if means[best.number] - means[trial.number] <= error + 1e-12:
            as_good.append((trial.distance, trial.number, error))
    _, chosen, error = min(as_good)
    return Choice(
        best=best.number,
        chosen=chosen,
        as_good=len(as_good),
        loss=means[best.number] - means[chosen],
        error=error,
    )
