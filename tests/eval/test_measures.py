"""Measures against hand-worked rows and against ir-measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ir_measures
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.measures import DEFAULT_MEASURES, KINDS, parse_measure, relevant

RANKING = ["b", "a", "x", "d"]
GRADES = {"a": 2, "b": 1, "c": 2, "d": 0}
HAND_WORKED = [
    # Relevant are a and c, of which a stands at rank 2; b has a gain of 1 at rank 1.
    ("nDCG@1", 1 / 2),
    ("nDCG@3", (1 + 2 / math.log2(3)) / (2 + 2 / math.log2(3) + 1 / 2)),
    ("nDCG@10", (1 + 2 / math.log2(3)) / (2 + 2 / math.log2(3) + 1 / 2)),
    ("nDCG(gains=exp)@3", (1 + 3 / math.log2(3)) / (3 + 3 / math.log2(3) + 1 / 2)),
    ("Recall@1", 0 / 1),
    ("Recall@2", 1 / 2),
    ("Recall@5", 1 / 2),
    ("Success@1", 0.0),
    ("Success@2", 1.0),
    ("SuccessAll@4", 0.0),
    ("RR@1", 0.0),
    ("RR@10", 1 / 2),
    ("P@4", 1 / 4),
    ("P@10", 1 / 10),
    ("AP", (1 / 2) / 2),
    ("AP@1", 0.0),
    ("Judged@1", 1.0),
    ("Judged@4", 3 / 4),
    ("Judged@10", 3 / 4),
]


@pytest.mark.parametrize(("measure", "expected"), HAND_WORKED)
def test_hand_worked_values(measure: str, expected: float) -> None:
    """Each measure has the value worked out on paper."""
    assert parse_measure(measure).value(RANKING, GRADES) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("ranking", "grades", "expected"),
    [
        # found / min(k, relevant), k = 5
        (["a"], {"a": 1}, 1.0),
        (["x", "a"], {"a": 1, "b": 1}, 1 / 2),
        (["a", "b", "c", "d", "e"], dict.fromkeys("abcdefgh", 1), 5 / 5),
        (["x", "b", "y", "d", "z", "a"], dict.fromkeys("abcdefgh", 1), 2 / 5),
        # A grade of 2 makes those of 1 count no longer.
        (["b"], {"a": 2, "b": 1}, 0 / 1),
        (["a"], {"a": 2, "b": 1}, 1 / 1),
        (["a"], {"a": 3, "b": 2}, 1 / 2),
        ([], {"a": 1}, 0.0),
    ],
)
def test_recall_by_its_definition(ranking: list[str], grades: dict[str, int], expected: float) -> None:
    """Recall@5 is what was found of what five ranks could hold, over the best grade there is."""
    assert parse_measure("Recall@5").value(ranking, grades) == expected


@pytest.mark.parametrize(
    ("measure", "ranking", "grades", "expected"),
    [
        ("Success@1", ["a"], {"a": 1}, 1.0),
        ("Success@1", ["b"], {"a": 2, "b": 1}, 0.0),
        ("Success@2", ["b", "a"], {"a": 2, "b": 1}, 1.0),
        ("RR@3", ["x", "b", "a"], {"a": 2, "b": 1}, 1 / 3),
        ("RR@3", ["x", "b", "a"], {"a": 1, "b": 1}, 1 / 2),
        ("RR@2", ["x", "b", "a"], {"a": 2, "b": 1}, 0.0),
        ("P@2", ["a", "b"], {"a": 2, "b": 1}, 1 / 2),
        ("AP", ["a", "x", "b"], {"a": 1, "b": 1}, (1 + 2 / 3) / 2),
        ("AP@2", ["a", "x", "b"], {"a": 1, "b": 1}, 1 / 2),
    ],
)
def test_the_best_grade_decides_what_is_relevant(
    measure: str, ranking: list[str], grades: dict[str, int], expected: float
) -> None:
    """Where a tool has grade 2, one of grade 1 is no answer; where none has, it is."""
    assert parse_measure(measure).value(ranking, grades) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("cutoff", "ranking", "every", "one"),
    [
        (1, ["a", "b"], 0.0, 1.0),
        (2, ["a", "b"], 1.0, 1.0),
        (2, ["a", "x", "b"], 0.0, 1.0),
        (3, ["a", "x", "b"], 1.0, 1.0),
        (3, ["x", "y", "z"], 0.0, 0.0),
        (3, [], 0.0, 0.0),
    ],
)
def test_success_all_asks_for_every_needed_tool(cutoff: int, ranking: list[str], every: float, one: float) -> None:
    """With `need: all` each relevant tool must stand inside of k; where any one will do, one must."""
    measure = parse_measure(f"SuccessAll@{cutoff}")
    grades = {"a": 2, "b": 2, "x": 1}
    assert measure.value(ranking, grades, need="all") == every
    assert measure.value(ranking, grades, need="any") == one


@pytest.mark.parametrize(
    ("grades", "expected"),
    [({}, ""), ({"a": 0, "b": -1}, ""), ({"a": 1, "b": 0}, "a"), ({"a": 1, "b": 2, "c": 3}, "bc")],
)
def test_relevant_tools(grades: dict[str, int], expected: str) -> None:
    """Relevant are the tools of grade 2 and more, without such those of grade 1, and never those of 0 and below."""
    assert relevant(grades) == frozenset(expected)


@pytest.mark.parametrize("text", ["AP", *(f"{kind}@3" for kind in KINDS)])
def test_full_empty_and_repeated_rankings(text: str) -> None:
    """A perfect ranking is worth 1, an empty one 0 (all that it shows is judged), and a repeated name counts once."""
    measure = parse_measure(text)
    grades = {"a": 1, "b": 1, "c": 1}
    assert measure.value(["a", "b", "c"], grades) == 1.0
    assert measure.value([], grades) == (1.0 if measure.kind == "Judged" else 0.0)
    assert measure.value(["x", "x", "x", "a"], grades) == measure.value(["x", "a"], grades)
    for unanswerable in ({}, {"a": 0}):
        with pytest.raises(ValueError, match="no relevant tool"):
            measure.value(["a"], unanswerable)


def theirs(text: str, ranking: Sequence[str], grades: dict[str, int]) -> float:
    """What ir-measures says of one query; the order is given by scores that differ."""
    qrels = [ir_measures.Qrel("q", name, grade) for name, grade in grades.items()]
    run = [ir_measures.ScoredDoc("q", name, 1 / rank) for rank, name in enumerate(ranking, 1)]
    return float(
        ir_measures.calc_aggregate([ir_measures.parse_measure(text)], qrels, run)[ir_measures.parse_measure(text)]
    )


NAMES = [f"t{number:02}" for number in range(25)]
RUNS: Any = st.lists(st.sampled_from(NAMES), max_size=15, unique=True)
LABELS: Any = st.dictionaries(st.sampled_from(NAMES), st.integers(-1, 3), max_size=12)


@given(ranking=RUNS, grades=LABELS, cutoff=st.integers(1, 20))
@example(ranking=["t00"], grades={"t00": 3, "t01": 2, "t02": 1}, cutoff=2)
@example(ranking=["t02", "t01"], grades={"t01": 1, "t02": 0}, cutoff=1)
def test_values_equal_ir_measures_on_random_runs(ranking: list[str], grades: dict[str, int], cutoff: int) -> None:
    """With graded labels every measure that ir-measures knows too has its value, at the level that is relevant here."""
    assume(relevant(grades) and ranking)
    level = min(grades[name] for name in relevant(grades))
    bar = 2 if level >= 2 else 1
    pairs = {
        f"nDCG@{cutoff}": f"nDCG@{cutoff}",
        f"nDCG(gains=exp)@{cutoff}": f"nDCG(gains={{1:1,2:3,3:7}})@{cutoff}",
        f"RR@{cutoff}": f"RR(rel={bar})@{cutoff}",
        f"P@{cutoff}": f"P(rel={bar})@{cutoff}",
        f"Success@{cutoff}": f"Success(rel={bar})@{cutoff}",
        f"AP@{cutoff}": f"AP(rel={bar})@{cutoff}",
        "AP": f"AP(rel={bar})",
        f"Judged@{cutoff}": f"Judged@{cutoff}",
    }
    for ours, other in pairs.items():
        assert parse_measure(ours).value(ranking, grades) == pytest.approx(theirs(other, ranking, grades), abs=1e-9), (
            ours
        )
    recall = parse_measure(f"Recall@{cutoff}").value(ranking, grades)
    of_all = theirs(f"R(rel={bar})@{cutoff}", ranking, grades)
    assert recall == pytest.approx(of_all * len(relevant(grades)) / min(cutoff, len(relevant(grades))), abs=1e-9)


@given(ranking=RUNS, grades=LABELS, cutoff=st.integers(1, 20))
def test_every_value_lies_between_0_and_1(ranking: list[str], grades: dict[str, int], cutoff: int) -> None:
    """No measure leaves its range, and a longer ranking never lowers one that does not judge its precision."""
    assume(relevant(grades))
    for kind in KINDS:
        measure = parse_measure(f"{kind}@{cutoff}")
        value = measure.value(ranking, grades)
        assert 0.0 <= value <= 1.0
        if kind != "Judged":
            assert value >= measure.value(ranking[:-1], grades)


@pytest.mark.parametrize("text", ["nDCG@10", "nDCG(gains=exp)@5", "AP", "AP@3", "SuccessAll@1", "Judged@999999"])
def test_a_measure_prints_as_it_is_written(text: str) -> None:
    """Reading and printing are inverse."""
    assert str(parse_measure(text)) == text


def test_default_measures() -> None:
    """The measures without further word, the primary one first."""
    assert list(map(str, DEFAULT_MEASURES)) == ["nDCG@10", "Recall@5", "RR@10", "Success@1", "Judged@10"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown measure ''"),
        ("mesure@3", "unknown measure 'mesure'"),
        ("ndcg@10", "unknown measure 'ndcg'. Did you mean 'nDCG'"),
        ("recal@5", "Did you mean 'Recall'? Write it with its cutoff, as in nDCG@10."),
        ("nDCG", "measure 'nDCG' needs a cutoff, a whole number from 1 to 999999, as in nDCG@10."),
        ("nDCG@0", "needs a cutoff"),
        ("nDCG@x", "needs a cutoff"),
        ("nDCG@-1", "needs a cutoff"),
        ("nDCG@10@5", "needs a cutoff"),
        ("RR@1000000", "needs a cutoff"),
        ("RR@٣", "needs a cutoff"),
        (" nDCG@10", "Did you mean 'nDCG'"),
    ],
)
def test_wrong_measures_are_refused(text: str, message: str) -> None:
    """A measure that does not exist names near ones, and one without its cutoff says how to write it."""
    with pytest.raises((UnknownNameError, UsageError)) as caught:
        parse_measure(text)
    assert message in str(caught.value)
