"""Intervals and paired comparisons against scipy and against counting by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from toolsearch_eval.statistics import Interval, mean_interval, paired_difference, t_quantile

VALUE = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.63, 1.0])
GROUPED = st.lists(st.tuples(VALUE, VALUE, st.sampled_from("abcdefghij")), max_size=30)


def group_means(values: Sequence[float], groups: Sequence[str]) -> list[float]:
    """The mean of each group, in the order of the groups' names."""
    return [
        float(np.mean([value for value, group in zip(values, groups, strict=True) if group == name]))
        for name in sorted(set(groups))
    ]


@given(rows=GROUPED)
def test_the_interval_is_scipys_t_interval_on_group_means(rows: list[tuple[float, float, str]]) -> None:
    """However values fall into groups, mean and bounds are those of scipy on the means of the groups."""
    values, groups = [row[0] for row in rows], [row[2] for row in rows]
    found = mean_interval(values, groups)
    means = group_means(values, groups)
    assert found.n == len(means)
    if not means:
        assert found == Interval(None, None, None, 0)
        return
    assert found.mean == pytest.approx(np.mean(means), abs=1e-12)
    if len(means) == 1:
        assert (found.low, found.high) == (None, None)
        return
    half = scipy.stats.t.ppf(0.975, len(means) - 1) * scipy.stats.sem(means)
    assert (found.low, found.high) == pytest.approx((np.mean(means) - half, np.mean(means) + half), abs=1e-9)


def test_two_wordings_of_one_intent_count_once() -> None:
    """Of three queries in two groups the mean is that of the two groups' means: (1 + 0) / 2."""
    found = mean_interval([1.0, 1.0, 0.0], ["a", "a", "b"])
    assert (found.mean, found.n) == (0.5, 2)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], Interval(None, None, None, 0)),
        ([0.25], Interval(0.25, None, None, 1)),
        ([0.5, 0.5], Interval(0.5, 0.5, 0.5, 2)),
        ([0.0] * 40, Interval(0.0, 0.0, 0.0, 40)),
        ([1 / 3] * 3, Interval(1 / 3, 1 / 3, 1 / 3, 3)),
    ],
)
def test_degenerate_means(values: list[float], expected: Interval) -> None:
    """No value has no mean, one group no interval, and equal values an interval without width; never NaN."""
    assert mean_interval(values, [f"g{place}" for place in range(len(values))]) == expected


@given(rows=GROUPED, shuffle=st.randoms(use_true_random=False))
def test_the_order_of_the_queries_changes_no_digit(rows: list[tuple[float, float, str]], shuffle: object) -> None:
    """The same queries in another order give exactly the same numbers."""
    mixed = list(rows)
    shuffle.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = [
        paired_difference([row[0] for row in each], [row[1] for row in each], [row[2] for row in each], rounds=200)
        for each in (rows, mixed)
    ]
    assert one == other


@given(rows=GROUPED)
def test_the_paired_difference_against_scipy(rows: list[tuple[float, float, str]]) -> None:
    """Difference and interval are those of scipy's paired t test on group means, and counts add up."""
    a, b, groups = [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    found = paired_difference(a, b, groups, rounds=100)
    means = [second - first for first, second in zip(group_means(a, groups), group_means(b, groups), strict=True)]
    assert found.wins + found.ties + found.losses == len(means) == found.difference.n
    assert found.wins == sum(mean > 1e-9 for mean in means)
    assert found.losses == sum(mean < -1e-9 for mean in means)
    if len(means) < 2:
        assert (found.detectable, found.effect_size) == (None, None)
        return
    spread = float(np.std(means, ddof=1))
    if spread > 1e-9:
        result = scipy.stats.ttest_rel(group_means(b, groups), group_means(a, groups))
        interval = result.confidence_interval(0.95)
        assert (found.difference.low, found.difference.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
        assert found.effect_size == pytest.approx(np.mean(means) / spread, abs=1e-9)


@pytest.mark.parametrize(
    "differences",
    [
        [0.5, 0.25, -0.125, 1.0, 0.0625],
        [0.1, -0.2, 0.3, -0.05, 0.7, 0.7, -0.6],
        [1.0] * 8,
        [0.0, 0.0, 0.3, 0.0, -0.1, 0.2],
    ],
)
def test_the_p_value_is_near_the_exact_one(differences: list[float]) -> None:
    """The sign-flip p is within sampling error of the share of all sign patterns that are as extreme."""
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, differences, strict=True)))
        for signs in itertools.product([1, -1], repeat=len(differences))
    ]
    exact = sum(value >= abs(sum(differences)) - 1e-12 for value in sums) / len(sums)
    groups = [f"g{place}" for place in range(len(differences))]
    found = paired_difference([0.0] * len(differences), differences, groups)
    assert found.p == pytest.approx(exact, abs=5 * math.sqrt(0.25 / 10_000))


def test_the_same_seed_gives_the_same_p_and_another_seed_another() -> None:
    """The p value is random only through its seed."""
    a, b = [0.0] * 6, [0.5, 0.25, -0.125, 1.0, 0.0625, -0.3]
    results = [paired_difference(a, b, list("abcdef"), seed=seed).p for seed in (0, 0, 1)]
    assert results[0] == results[1] != results[2]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([], [], (1.0, 0, 0, 0, None, None)),
        ([0.5], [0.75], (1.0, 1, 0, 0, None, None)),
        ([0.5], [0.5], (1.0, 0, 1, 0, None, None)),
        ([0.5] * 8, [0.5] * 8, (1.0, 0, 8, 0, 0.0, None)),
        ([0.1 + 0.2] * 3, [0.3] * 3, (1.0, 0, 3, 0, 0.0, None)),
    ],
)
def test_degenerate_comparisons(a: list[float], b: list[float], expected: tuple[object, ...]) -> None:
    """Nothing, one group, equal rankers, and differences of the last bit alone: p is 1 and nothing is NaN."""
    found = paired_difference(a, b, [f"g{place}" for place in range(len(a))])
    assert (found.p, found.wins, found.ties, found.losses, found.detectable, found.effect_size) == expected


def test_one_constant_gain_is_sure_and_has_no_effect_size() -> None:
    """Where every query gains the same, the interval has no width and the spread is 0."""
    found = paired_difference([0.0] * 8, [0.5] * 8, list("abcdefgh"))
    assert found.difference == Interval(0.5, 0.5, 0.5, 8)
    assert (found.detectable, found.effect_size) == (0.0, None)
    assert found.p == pytest.approx(2 / 2**8, abs=0.004)


def test_the_detectable_difference_is_shown_in_80_of_100_samples() -> None:
    """In simulated samples whose true difference is the one that is said, four of five are significant."""
    source = np.random.default_rng(3)
    size, spread = 40, 0.25
    true = (scipy.stats.t.ppf(0.975, size - 1) + scipy.stats.t.ppf(0.8, size - 1)) * spread / math.sqrt(size)
    said = []
    shown = 0
    for _ in range(400):
        sample = source.normal(true, spread, size)
        found = paired_difference([0.0] * size, sample.tolist(), [str(place) for place in range(size)], rounds=1)
        said.append(found.detectable)
        shown += found.difference.low is not None and found.difference.low > 0
    assert np.mean(np.array(said, dtype=float)) == pytest.approx(true, rel=0.02)
    assert shown / 400 == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 10, 29, 30, 199, 200, 201, 1000, 10**6])
@pytest.mark.parametrize("probability", [0.5, 0.8, 0.9, 0.975, 0.995, 0.025, 0.2])
def test_quantiles_equal_scipy(probability: float, freedom: int) -> None:
    """The quantile of Student's t is scipy's to nine digits, on both sides and at every size."""
    assert t_quantile(probability, freedom) == pytest.approx(
        scipy.stats.t.ppf(probability, freedom), rel=1e-9, abs=1e-9
    )


@pytest.mark.parametrize("length", [0, 2])
def test_values_and_groups_must_be_as_many(length: int) -> None:
    """A list that is too short or too long is refused, never cut."""
    with pytest.raises(ValueError, match="zip"):
        mean_interval([1.0], ["g"] * length)
    with pytest.raises(ValueError, match="zip"):
        paired_difference([1.0], [1.0] * length, ["g"])
