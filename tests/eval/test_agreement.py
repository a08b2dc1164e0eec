"""Krippendorff's alpha and what stands around it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch_eval.agreement import LEVELS, Alpha, Level, agreement, krippendorff_alpha, rater_by_judge
from toolsearch_eval.judgements import Judgement

# Krippendorff's own example: four observers, twelve units, some values missing; the last unit has one value alone.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
EXAMPLE = [[value for value in unit if value is not None] for unit in zip(*OBSERVERS, strict=True)]


@pytest.mark.parametrize(("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_the_example_of_the_literature(level: Level, expected: float) -> None:
    """The published alphas of the published data come out to the published digits."""
    assert krippendorff_alpha(EXAMPLE, level) == pytest.approx(expected, abs=0.0005)


def test_a_table_worked_by_hand() -> None:
    """Two raters, ten units of grades 0 and 1: eight agree (six 0, two 1), two differ.

    Coincidences: o00 = 12, o11 = 4, o01 = o10 = 2; n0 = 14, n1 = 6, n = 20.
    alpha = 1 - (20 - 1) * (2 + 2) / (14 * 6 + 6 * 14) = 1 - 76 / 168 = 92 / 168.
    """
    units = [(0, 0)] * 6 + [(1, 1)] * 2 + [(0, 1), (1, 0)]
    assert krippendorff_alpha(units, "nominal") == pytest.approx(92 / 168)
    # With two values the one step between them is all the order there is, so both levels are the same.
    assert krippendorff_alpha(units, "ordinal") == pytest.approx(92 / 168)


def test_the_ordinal_level_weighs_by_the_labels_in_between() -> None:
    """Units (0, 0), (1, 1), (2, 2), (0, 2), worked by hand.

    n0 = 3, n1 = 2, n2 = 3, n = 8. Distances squared: 0-1: (3/2 + 2/2)^2 = 6.25; 1-2 the same; 0-2: (3/2 + 2 + 3/2)^2
    = 25. Observed: 2 * 25 = 50. Expected: 2 * (3*2*6.25 + 3*3*25 + 2*3*6.25) = 600. alpha = 1 - 7 * 50 / 600 = 5 / 12.
    """
    units = [(0, 0), (1, 1), (2, 2), (0, 2)]
    assert krippendorff_alpha(units, "ordinal") == pytest.approx(5 / 12)
    assert krippendorff_alpha([(0, 0), (1, 1), (2, 2), (0, 1)], "ordinal") > 5 / 12  # type: ignore[operator]


def by_definition(units: Sequence[Sequence[int]], level: Level) -> float | None:
    """Alpha from its definition over all pairs of values, without any table."""
    shared = [unit for unit in units if len(unit) > 1]
    values = [value for unit in shared for value in unit]
    size = len(values)

    def distance(a: int, b: int) -> float:
        if level == "nominal":
            return float(a != b)
        low, high = min(a, b), max(a, b)
        between = sum(low <= value <= high for value in values)
        return (between - (values.count(low) + values.count(high)) / 2) ** 2 if a != b else 0.0

    expected = sum(distance(a, b) for a, b in permutations(values, 2)) / (size * (size - 1)) if size else 0
    if not expected:
        return None
    observed = sum(sum(distance(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in shared) / size
    return 1 - observed / expected


@given(st.lists(st.lists(st.integers(-1, 3), max_size=4), max_size=8), st.sampled_from(LEVELS))
def test_alpha_is_what_its_definition_gives(units: list[list[int]], level: Level) -> None:
    """On any units, with values missing, the table's way and the pairs' way come to the same, also where it is none."""
    expected = by_definition(units, level)
    found = krippendorff_alpha(units, level)
    assert (found is None) == (expected is None)
    assert found is None or found == pytest.approx(expected)


@pytest.mark.parametrize("level", LEVELS)
def test_full_agreement_is_one_and_no_variation_is_nothing(level: Level) -> None:
    """1 where all agree and grades vary; None without a shared unit or where there is one grade alone."""
    assert krippendorff_alpha([(0, 0), (2, 2, 2)], level) == 1.0
    assert krippendorff_alpha([(1, 1), (1, 1)], level) is None
    assert krippendorff_alpha([(1,), (2,)], level) is None
    assert krippendorff_alpha([], level) is None


def label(query_id: str, tool: str, grade: int, turn: int = 1, judge: str = "ann", settled: bool = False) -> Judgement:
    """One label."""
    return Judgement(query_id=query_id, tool=tool, grade=grade, turn=turn, judge=judge, settled=settled)


LABELS = [
    label("q1", "a", 2),
    label("q1", "a", 2, 2),
    label("q1", "b", 0),
    label("q1", "b", 2, 2),
    label("q2", "a", 1),
    label("q2", "a", 0, 2),
    label("q2", "c", 0),
    label("q3", "a", 0),
    label("q3", "a", 0, 2),
    label("q3", "a", 2, 3, settled=True),
]


def test_units_tables_and_differences_between_passes() -> None:
    """Shared units count, single and settled ones don't; differences come widest first."""
    found = agreement(LABELS, {"q1": "g", "q2": "g"})
    assert found.raters == ("pass 1", "pass 2")
    assert (found.units, found.groups, found.single, found.equal, found.repeats) == (4, 2, 1, 2, 0)
    (table,) = found.confusions
    assert (table.a, table.b, table.units, table.equal) == ("pass 1", "pass 2", 4, 2)
    assert table.counts == {(0, 0): 1, (0, 2): 1, (1, 0): 1, (2, 2): 1}
    assert [(each.query_id, each.tool, dict(each.grades), each.spread) for each in found.disputes] == [
        ("q1", "b", {"pass 1": 0, "pass 2": 2}, 2),
        ("q2", "a", {"pass 1": 1, "pass 2": 0}, 1),
    ]
    for level in LEVELS:
        assert found.alphas[level].value == krippendorff_alpha([(2, 2), (0, 2), (1, 0), (0, 0)], level)


def test_raters_can_be_chosen_and_can_be_judges() -> None:
    """Of several labels of one rater for a unit the first counts, and the others are counted as repeats."""
    labels = [
        label("q", "a", 0),
        label("q", "a", 2, 2),
        label("q", "a", 1, judge="ben"),
        label("q", "a", 1, judge="cy"),
    ]
    found = agreement(labels, {}, rater=rater_by_judge)
    assert (found.raters, found.repeats) == (("ann", "ben", "cy"), 1)
    assert [(each.a, each.b, each.counts) for each in found.confusions] == [
        ("ann", "ben", {(0, 1): 1}),
        ("ann", "cy", {(0, 1): 1}),
        ("ben", "cy", {(1, 1): 1}),
    ]
    assert agreement(labels, {}, rater=rater_by_judge, only=["ben", "cy"]).equal == 1


def test_what_has_no_alpha_says_why() -> None:
    """No shared unit, one grade alone, and one group: each is stated."""
    assert agreement([], {}).alphas["ordinal"] == Alpha(value=None, why="no unit was labelled twice")
    same = [label("q", tool, 1, turn) for tool, turn in product("ab", (1, 2))]
    assert agreement(same, {}).alphas["nominal"].why == "every label is 1, so chance gives no disagreement either"
    one = agreement(LABELS, dict.fromkeys(("q1", "q2", "q3"), "g")).alphas["ordinal"]
    assert (one.value is None, one.low, one.high) == (False, None, None)


def test_the_interval_draws_whole_groups() -> None:
    """The draws are over groups: with all units in two groups there are three outcomes, which the bounds are among.

    Group g: units (0, 0), (1, 1), group h: (0, 1), (1, 0). Draws gg: alpha 1; gh: 0 0 0 1 1 1 0 1 -> o01 + o10 = 4,
    n0 = n1 = 4: 1 - 7 * 4 / 32 = 1/8; hh: four units that differ: n0 = n1 = 4, 1 - 7 * 8 / 32 = -3/4.
    """
    labels = [label(f"q{number}", "t", grade) for number, grade in enumerate((0, 1, 0, 1))]
    labels += [label(f"q{number}", "t", grade, 2) for number, grade in enumerate((0, 1, 1, 0))]
    found = agreement(labels, {"q0": "g", "q1": "g", "q2": "h", "q3": "h"}).alphas["nominal"]
    assert found.value == pytest.approx(1 / 8)
    assert [found.low, found.high] == pytest.approx([-3 / 4, 1])
    assert found.undefined == 0


def test_draws_without_a_value_are_left_out_and_counted() -> None:
    """Draws in which all labels are the same have no alpha; there are about as many as chance says."""
    labels = [label("q0", "t", 0), label("q0", "t", 0, 2), label("q1", "t", 1), label("q1", "t", 1, 2)]
    found = agreement(labels, {}, rounds=1000).alphas["nominal"]
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
    assert 400 < found.undefined < 600


def test_the_same_seed_gives_the_same_interval_whatever_the_order() -> None:
    """Order of labels changes nothing; another seed may."""
    labels = [label(f"q{n}", "t", n * turn % 3, turn) for n in range(30) for turn in (1, 2)]
    assert agreement(labels, {}, rounds=200).alphas == agreement(labels[::-1], {}, rounds=200).alphas
    seeds = {agreement(labels, {}, rounds=200, seed=seed).alphas["ordinal"].low for seed in range(4)}
    assert len(seeds) > 1
