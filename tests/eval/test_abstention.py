"""How well rankers know that they do not know, worked out by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.abstention import Abstention, Sureness, judge_abstention, risk_coverage_area
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.rankers.run import run_ranker


@pytest.mark.parametrize(
    ("confidences", "wrong", "expected"),
    [
        ([], [], None),
        ([0.5], [False], 0.0),
        ([0.5], [True], 1.0),
        # right, right, wrong: the risks are 0, 0 and 1/3
        ([0.9, 0.8, 0.7], [False, False, True], (0 + 0 + 1 / 3) / 3),
        # the surest is wrong: 1, 1/2, 1/3
        ([0.7, 0.8, 0.9], [False, False, True], (1 + 1 / 2 + 1 / 3) / 3),
        # equally sure: one of two is wrong at every coverage
        ([0.5, 0.5], [True, False], 1 / 2),
        # a right one first, then two equal of which one is wrong: 0, (1/2)/2, 1/3
        ([0.9, 0.5, 0.5], [False, True, False], (0 + 1 / 4 + 1 / 3) / 3),
        # nothing given comes last, whatever the scores: 0, 1/2
        ([None, -5.0], [True, False], (0 + 1 / 2) / 2),
    ],
)
def test_the_area_by_hand(confidences: list[float | None], wrong: list[bool], expected: float | None) -> None:
    """The area is the mean risk over all coverages, with ties in no order."""
    assert risk_coverage_area(confidences, wrong) == (None if expected is None else pytest.approx(expected))


@given(rows=st.lists(st.tuples(st.sampled_from([None, 0.0, 0.5, 1.0]), st.booleans()), min_size=1, max_size=6))
def test_ties_stand_in_no_order(rows: list[tuple[float | None, bool]]) -> None:
    """The area is the mean of the areas of all orders of equally sure queries, so no order of queries matters."""

    def plain(order: Sequence[tuple[float | None, bool]]) -> float:
        ranked = sorted(order, key=lambda row: -math.inf if row[0] is None else row[0], reverse=True)
        return sum(sum(row[1] for row in ranked[:size]) / size for size in range(1, len(ranked) + 1)) / len(ranked)

    orders = list(itertools.permutations(rows))
    expected = sum(map(plain, orders)) / len(orders)
    assert risk_coverage_area(*zip(*rows, strict=True)) == pytest.approx(expected)


def test_flags_and_silence() -> None:
    """A flagged answer and none at all are no answer; for a query without one each of them is right."""
    sure, flagged, silent = Sureness(confidence=0.9), Sureness(confidence=0.2, flagged=True), Sureness(confidence=None)
    found = judge_abstention([sure, flagged, silent, sure], [True, True, False, False], [sure, flagged, silent, silent])
    assert (found.answerable, found.no_answer) == (4, 4)
    assert (found.false_answers, found.false_alarms) == (1 / 4, 2 / 4)
    # Surest are three at 0.9, two of them wrong; then two flagged, one wrong; then three silent, one wrong.
    risks = [2 / 3, 2 / 3, 2 / 3, (2 + 1 / 2) / 4, 3 / 5, (3 + 1 / 3) / 6, (3 + 2 / 3) / 7, 4 / 8]
    assert found.area == pytest.approx(sum(risks) / 8)


def test_nothing_to_judge() -> None:
    """Without a query of a kind its share is None, never 0 or NaN."""
    assert judge_abstention([], [], []) == Abstention(
        answerable=0, no_answer=0, area=None, false_answers=None, false_alarms=None
    )


TOOLS = (Tool(name="send_mail", description="Send a mail."), Tool(name="read_file", description="Read a file."))
DATA = DataSet(
    name="n",
    path="",
    tools=TOOLS,
    queries=(
        Query(query_id="a", text="send a mail"),
        Query(query_id="b", text="quite something else entirely", expect="none"),
        Query(query_id="c", text=" ", expect="none"),
        Query(query_id="d", text="send read", expect="none"),
    ),
    judgements={"a": {"send_mail": 2}},
    fingerprint="",
)


@pytest.mark.parametrize("name", ["reference", "default", "bm25f", "sklearn-words"])
def test_queries_without_an_answer_count_here_alone(name: str) -> None:
    """They change no ranking measure; one without text is left out of this as well."""
    result = evaluate(DATA, [resolve_ranker(name)])
    found = result.abstention(name)
    assert (found.answerable, found.no_answer) == (1, 2)
    assert found.false_answers in (0.0, 0.5)
    assert result.to_json()["rankers"][name]["measures"]["nDCG@10"] == {"mean": 1.0, "low": None, "high": None, "n": 1}
    assert result.excluded["no_answer"] == 3


def test_the_profiles_say_themselves_how_sure_they_are() -> None:
    """The search's own flag and confidence are taken: a wish that no tool meets is flagged, a name is not."""
    ranker = resolve_ranker("default")
    queries = [
        Query(query_id="1", text="send_mail"),
        Query(query_id="2", text="send the yearly tax balance of the planet"),
    ]
    ran = run_ranker(ranker, TOOLS, queries, 5)
    assert ran.sureness[0] == Sureness(confidence=1.0, flagged=False)
    assert ran.sureness[1].flagged is True
    assert ran.sureness[1].confidence is not None
    assert ran.sureness[1].confidence < 0.5


class Assessing:
    """A ranker that says how sure it is."""

    name = "theirs"

    def __init__(self, *answers: object) -> None:
        """Take what `assess` gives; an exception is raised."""
        self._answers = answers

    def index(self, tools: Sequence[Tool]) -> None:
        """Nothing to do."""

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """One tool for every query."""
        return [[("send_mail", 5.0)] for _ in queries]

    def assess(self, queries: Sequence[str]) -> Sequence[tuple[float, bool]]:
        """What was given to it."""
        for answer in self._answers:
            if isinstance(answer, Exception):
                raise answer
        return self._answers  # type: ignore[return-value]


def test_a_strangers_own_word_is_taken() -> None:
    """What `assess` gives counts in place of the score."""
    ran = run_ranker(Assessing((0.25, True)), TOOLS, [Query(query_id="q", text="x")], 5)
    assert ran.sureness == [Sureness(confidence=0.25, flagged=True)]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ((), "zip() argument 3 is shorter"),
        (((0.1, True), (0.2, False)), "zip() argument 3 is longer"),
        ((0.5,), "TypeError"),
        (((float("nan"), True),), "query 'q': the confidence nan is not a finite number"),
        ((("sure", True),), "TypeError"),
        ((RuntimeError("tired"),), "RuntimeError: tired"),
    ],
)
def test_a_wrong_word_is_told_with_the_rankers_name(answers: tuple[object, ...], message: str) -> None:
    """Whatever a stranger's `assess` gives or raises, the error is one line."""
    with pytest.raises(UsageError) as caught:
        run_ranker(Assessing(*answers), TOOLS, [Query(query_id="q", text="x")], 5)
    assert str(caught.value).startswith("ranker 'theirs' failed: assess must give (confidence, flag) for each query: ")
    assert message in str(caught.value)
