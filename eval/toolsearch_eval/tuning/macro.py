"""Means, intervals and paired differences over several data sets: each set counts alike, whatever its size.

The unit within a set is the group. The mean is the mean of the sets' means, its error that of independent means, its
degrees of freedom after Welch and Satterthwaite. With one set all of this is what `statistics` says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from toolsearch_eval.statistics import Difference, Interval, mean_interval, paired_difference, t_quantile

Floats = NDArray[np.float64]
_LEVEL = 0.975
_POWER = 0.8
_ROUNDS = 10_000
_BLOCK = 500


def macro_mean(sets: Sequence[Floats]) -> float:
    """The mean of the sets' means.

    >>> macro_mean([np.array([1.0, 0.0]), np.array([1.0])])
    0.75
    """
    return math.fsum(float(values.mean()) for values in sets) / len(sets)


def standard_error(sets: Sequence[Floats]) -> float:
    """The error of `macro_mean`; infinite where a set has fewer than two groups."""
    return math.sqrt(math.fsum(_variances(sets)))


def macro_interval(sets: Sequence[Floats]) -> Interval:
    """The mean of the sets' means with its 95% interval; `n` is the number of groups of all sets.

    Args:
        sets: A value for each group of each set; no set is empty.
    """
    if len(sets) == 1:
        return mean_interval(sets[0].tolist(), list(map(str, range(len(sets[0])))))
    mean, groups = macro_mean(sets), sum(map(len, sets))
    error = standard_error(sets)
    if not math.isfinite(error):
        return Interval(mean, None, None, groups)
    half = t_quantile(_LEVEL, _freedom(sets)) * error
    return Interval(mean, mean - half, mean + half, groups)


def macro_difference(a: Sequence[Floats], b: Sequence[Floats], *, seed: int = 0) -> Difference:
    """How much b is better than a, group by group of each set.

    Args:
        a: A value for each group of each set.
        b: The other's, in the same order.
        seed: Of the sign flips.
    """
    if len(a) == 1:
        groups = list(map(str, range(len(a[0]))))
        return paired_difference(a[0].tolist(), b[0].tolist(), groups, seed=seed)
    sets = [second - first for first, second in zip(a, b, strict=True)]
    for values in sets:
        values[np.abs(values) < 1e-12] = 0.0
    together = np.concatenate(sets)
    interval = macro_interval(sets)
    error = standard_error(sets)
    known = math.isfinite(error)
    freedom = _freedom(sets) if known else 1
    factor = t_quantile(_LEVEL, freedom) + t_quantile(_POWER, freedom)
    spread = error * math.sqrt(len(together)) if known else 0.0
    return Difference(
        difference=interval,
        p=_sign_flips(sets, seed),
        wins=int(np.count_nonzero(together > 0)),
        ties=int(np.count_nonzero(together == 0)),
        losses=int(np.count_nonzero(together < 0)),
        detectable=factor * error if known else None,
        effect_size=macro_mean(sets) / spread if spread > 1e-12 else None,
    )


def _variances(sets: Sequence[Floats]) -> list[float]:
    """What each set gives to the square of the error."""
    return [
        float(values.var(ddof=1)) / len(values) / len(sets) ** 2 if len(values) > 1 else math.inf for values in sets
    ]


def _freedom(sets: Sequence[Floats]) -> int:
    parts = _variances(sets)
    below = math.fsum(part**2 / (len(values) - 1) for part, values in zip(parts, sets, strict=True))
    total = math.fsum(parts)
    # Without any spread every number of degrees gives the same interval.
    return max(1, int(total**2 / below)) if below > 0 else sum(map(len, sets)) - len(sets)


def _sign_flips(sets: Sequence[Floats], seed: int) -> float:
    # Each group's share of the mean: flipping its sign is what chance could have done.
    shares = np.concatenate([values / len(values) / len(sets) for values in sets])
    if not np.any(shares):
        return 1.0
    source = np.random.default_rng(seed)
    observed = abs(float(shares.sum()))
    hits = 0
    for start in range(0, _ROUNDS, _BLOCK):
        signs = source.integers(0, 2, size=(min(_BLOCK, _ROUNDS - start), len(shares))) * 2 - 1
        hits += int(np.count_nonzero(np.abs(signs @ shares) >= observed - 1e-12))
    return (hits + 1) / (_ROUNDS + 1)
