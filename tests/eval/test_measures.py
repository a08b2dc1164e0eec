"""Measures against hand-worked rows and against ir-measures."""

import math
import random

import ir_measures
import pytest

from toolsearch.errors import ToolSearchError
from toolsearch_eval.measures import parse_measure

GRADES = {"a": 2, "b": 1, "c": 2, "d": 0}


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("nDCG@3", (1 + 2 / math.log2(3)) / (2 + 2 / math.log2(3) + 1 / 2)),
        ("nDCG(gains=exp)@3", (1 + 3 / math.log2(3)) / (3 + 3 / math.log2(3) + 1 / 2)),
        ("Recall@1", 0.0),
        ("Recall@5", 0.5),
        ("Success@1", 0.0),
        ("Success@2", 1.0),
        ("SuccessAll@4", 0.0),
        ("RR@10", 0.5),
        ("P@4", 0.25),
        ("AP", 0.25),
        ("Judged@4", 0.75),
    ],
)
def test_hand_worked_values(measure: str, expected: float) -> None:
    """Each measure has the value worked out on paper."""
    assert parse_measure(measure).value(["b", "a", "x", "d"], GRADES) == pytest.approx(expected, abs=1e-12)
    assert str(parse_measure(measure)) == measure


def test_values_equal_ir_measures_on_random_runs() -> None:
    """The shared measures equal those of ir-measures on random rankings with binary labels."""
    source = random.Random(7)
    names = [f"t{number:02}" for number in range(30)]
    for _ in range(100):
        grades = {name: source.randint(0, 1) for name in source.sample(names, 12)} | {"t00": 1}
        ranking = source.sample(names, 15)
        qrels = [ir_measures.Qrel("q", name, grade) for name, grade in grades.items()]
        run = [ir_measures.ScoredDoc("q", name, 1 / rank) for rank, name in enumerate(ranking, 1)]
        for text in ("nDCG@10", "RR@10", "Success@5", "P@5", "AP@10", "Judged@10"):
            theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(text)], qrels, run)
            assert parse_measure(text).value(ranking, grades) == pytest.approx(next(iter(theirs.values())), abs=1e-9)


@pytest.mark.parametrize("text", ["", "nDCG", "nDCG@0", "nDCG@x", "mesure@3", "nDCG@-1"])
def test_wrong_measures_are_refused(text: str) -> None:
    """A measure that does not exist or lacks its cutoff is a user's error."""
    with pytest.raises(ToolSearchError):
        parse_measure(text)
