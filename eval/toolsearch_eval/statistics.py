"""Intervals and paired comparisons whose unit is the group: all wordings of one intent count once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

FEW_GROUPS = 10
"""With fewer groups a mean is too uncertain to tell anything."""
_LEVEL = 0.95
_POWER = 0.8
# From so many degrees of freedom on, the series in their inverse is right to ten digits and the finite one is slow.
_MANY = 200


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95% interval.

    Attributes:
        mean: Mean of the group means; None without a value.
        low: Lower bound; None with fewer than two groups.
        high: Upper bound; None with fewer than two groups.
        n: Number of groups.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A paired comparison, b less a.

    Attributes:
        difference: Mean difference and its interval.
        p: Two-sided sign-flip p value; 1.0 without a difference.
        wins: Groups where b is better.
        ties: Groups where both are equal.
        losses: Groups where a is better.
        detectable: The smallest true difference that so many groups show with 80% power; None below two.
        effect_size: Mean difference by the standard deviation of the differences; None where that is 0 or unknown.
    """

    difference: Interval
    p: float
    wins: int
    ties: int
    losses: int
    detectable: float | None
    effect_size: float | None


def mean_interval(values: Sequence[float], groups: Sequence[str]) -> Interval:
    """The mean over groups with its 95% Student t interval.

    Args:
        values: One value a query.
        groups: The group of each query, as many as values.
    """
    means = _group_means(values, groups)
    if not len(means):
        return Interval(None, None, None, 0)
    mean = float(means.mean())
    if len(means) == 1:
        return Interval(mean, None, None, 1)
    half = t_quantile((1 + _LEVEL) / 2, len(means) - 1) * _standard_error(means)
    return Interval(mean, mean - half, mean + half, len(means))


def paired_difference(
    a: Sequence[float], b: Sequence[float], groups: Sequence[str], *, seed: int = 0, rounds: int = 10_000
) -> Difference:
    """How much b is better than a on the same queries.

    Args:
        a: One value a query.
        b: The other's values, in the same order.
        groups: The group of each query.
        seed: Seed of the sign flips; the same seed gives the same p.
        rounds: Number of random sign patterns, above 0.
    """
    values = [second - first for first, second in zip(a, b, strict=True)]
    means = _group_means(values, groups)
    means[np.abs(means) < 1e-12] = 0.0
    p, detectable, effect_size = 1.0, None, None
    if np.any(means):
        source = np.random.default_rng(seed)
        observed = abs(float(means.sum()))
        hits = 0
        for start in range(0, rounds, 500):
            signs = source.integers(0, 2, size=(min(500, rounds - start), len(means))) * 2 - 1
            hits += int(np.count_nonzero(np.abs(signs @ means) >= observed - 1e-9))
        p = (hits + 1) / (rounds + 1)
    if len(means) > 1:
        freedom = len(means) - 1
        factor = t_quantile((1 + _LEVEL) / 2, freedom) + t_quantile(_POWER, freedom)
        detectable = factor * _standard_error(means)
        spread = float(means.std(ddof=1))
        effect_size = float(means.mean()) / spread if spread > 1e-12 else None
    return Difference(
        difference=mean_interval(values, groups),
        p=p,
        wins=int(np.count_nonzero(means > 0)),
        ties=int(np.count_nonzero(means == 0)),
        losses=int(np.count_nonzero(means < 0)),
        detectable=detectable,
        effect_size=effect_size,
    )


def _group_means(values: Sequence[float], groups: Sequence[str]) -> NDArray[np.float64]:
    collected: dict[str, list[float]] = {}
    for value, group in zip(values, groups, strict=True):
        collected.setdefault(group, []).append(value)
    # Sorted by name and summed exactly, so that the order of the queries changes no digit.
    return np.array([math.fsum(collected[group]) / len(collected[group]) for group in sorted(collected)], dtype=float)


def _standard_error(means: NDArray[np.float64]) -> float:
    return float(means.std(ddof=1)) / math.sqrt(len(means))


@lru_cache(maxsize=1024)
def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t distribution, right to about ten digits.

    Args:
        probability: Above 0, below 1.
        freedom: Degrees of freedom, a whole number >= 1.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 to 26.7.5.

    >>> round(t_quantile(0.975, 4), 6)
    2.776445
    """
    if probability < 0.5:
        return -t_quantile(1 - probability, freedom)
    if freedom >= _MANY:
        return _expanded_quantile(NormalDist().inv_cdf(probability), freedom)
    low, high = 0.0, 1.0
    while _t_between(high, freedom) < 2 * probability - 1:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        if _t_between(middle, freedom) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _expanded_quantile(z: float, freedom: int) -> float:
    """From the normal quantile by a series in 1 / freedom."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))


def _t_between(t: float, freedom: int) -> float:
    """The probability of a value between -t and t, by the finite series for whole degrees of freedom."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for step in range(2 + odd, freedom - 1, 2):
        term *= square * (step - 1) / step
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
