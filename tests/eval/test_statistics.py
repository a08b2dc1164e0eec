"""Intervals and paired comparisons against scipy."""

import numpy as np
import pytest
import scipy.stats

from toolsearch_eval.statistics import Interval, mean_interval, paired_difference


def test_interval_equals_scipy() -> None:
    """With one query a group the interval is scipy's t interval."""
    values = [0.0, 0.5, 1.0, 0.25, 0.75]
    found = mean_interval(values, list("abcde"))
    low, high = scipy.stats.t.interval(0.95, 4, loc=np.mean(values), scale=scipy.stats.sem(values))
    assert (found.mean, found.low, found.high, found.n) == pytest.approx((0.5, low, high, 5))


def test_groups_are_the_unit() -> None:
    """Two wordings of one intent count once, and small inputs have no interval."""
    assert mean_interval([1.0, 0.0, 0.5], ["a", "a", "a"]) == Interval(0.5, None, None, 1)
    assert mean_interval([], []) == Interval(None, None, None, 0)
    assert mean_interval([1.0, 1.0, 0.0], ["a", "a", "b"]).mean == 0.5


def test_paired_difference() -> None:
    """Equal rankers give p 1; eight wins in a row give a p near 2 / 2**8."""
    groups = list("abcdefgh")
    same = paired_difference([0.5] * 8, [0.5] * 8, groups)
    assert (same.p, same.wins, same.ties, same.losses, same.detectable) == (1.0, 0, 8, 0, 0.0)
    better = paired_difference([0.0] * 8, [1.0] * 8, groups)
    assert better.wins == 8
    assert better.p == pytest.approx(2 / 256, abs=0.004)
    assert paired_difference([], [], []).p == 1.0
