from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.compare import compare, compare_all, holm
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.evaluate import Evaluation, evaluate
from toolsearch_eval.measures import parse_measure

TOOLS = tuple(Tool(name=name) for name in "abcd")


class Fixed:
    """A ranker that gives the same names for every query."""

    def __init__(self, name: str, order: str) -> None:
        """Take the name and the tools, best first."""
        self.name = name
        self._order = order

    def index(self, tools: Sequence[Tool]) -> None:
        """Nothing to read."""

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """The fixed names."""
        return [[(name, float(-place)) for place, name in enumerate(self._order[:depth])] for _ in queries]


def data_of(answers: dict[str, str], groups: dict[str, str] | None = None) -> DataSet:
    """A data set whose queries each have one right tool."""
    queries = tuple(
        Query(query_id=name, text=name, slice="left" if name < "q3" else "right", group=(groups or {}).get(name, name))
        for name in answers
    )
    return DataSet(
        name="made",
        path="",
        tools=TOOLS,
        queries=queries,
        judgements={name: {tool: 2} for name, tool in answers.items()},
        fingerprint="f" * 64,
    )


def judged(data: DataSet, *rankers: Fixed) -> Evaluation:
    """The rankers judged on all queries."""
    return evaluate(data, rankers, split="all", measures=[parse_measure("RR@10"), parse_measure("nDCG@10")], depth=10)


FIRST = Fixed("first", "abcd")
SECOND = Fixed("second", "bacd")
DATA = data_of({"q1": "a", "q2": "b", "q3": "b", "q4": "c"})


def test_the_difference_is_the_second_less_the_first() -> None:
    """Reciprocal ranks 1, 1/2, 1/2, 1/3 against 1/2, 1, 1, 1/3 differ by -1/2, 1/2, 1/2, 0."""
    both = judged(DATA, FIRST, SECOND)
    found = compare(both, "first", both, "second", measure=parse_measure("RR@10"))
    assert found.mean_a == pytest.approx((1 + 0.5 + 0.5 + 1 / 3) / 4)
    assert found.mean_b == pytest.approx((0.5 + 1 + 1 + 1 / 3) / 4)
    assert found.overall.difference.mean == pytest.approx(0.125)
    assert (found.overall.wins, found.overall.ties, found.overall.losses) == (2, 1, 1)


def test_slices_are_compared_apart_and_small_ones_say_so() -> None:
    """Each slice has its own difference; under ten groups it is marked as too few to tell."""
    both = judged(DATA, FIRST, SECOND)
    found = compare(both, "first", both, "second", measure=parse_measure("RR@10"))
    assert [(part.name, part.queries, part.few) for part in found.slices] == [("left", 2, True), ("right", 2, True)]
    assert [part.difference.difference.mean for part in found.slices] == pytest.approx([0.0, 0.25])


def test_the_queries_that_moved_most_come_with_both_rankings() -> None:
    """Largest change first, ties by query id, unmoved ones left out, no more than asked for."""
    both = judged(DATA, FIRST, SECOND)
    found = compare(both, "first", both, "second", measure=parse_measure("RR@10"), moved=2)
    assert [(each.query.query_id, each.a, each.b) for each in found.moved] == [("q1", 1.0, 0.5), ("q2", 0.5, 1.0)]
    assert found.moved[0].ranking_a == tuple("abcd")
    assert found.moved[0].ranking_b == tuple("bacd")
    assert found.moved[0].grades == {"a": 2}
    everything = compare(both, "first", both, "second", measure=parse_measure("RR@10"), moved=99)
    assert [each.query.query_id for each in everything.moved] == ["q1", "q2", "q3"]


def test_wordings_of_one_intent_count_once() -> None:
    """Groups are the unit: the three queries of one group weigh as one."""
    data = data_of({"q1": "a", "q2": "b", "q3": "b", "q4": "b"}, dict.fromkeys(("q2", "q3", "q4"), "one"))
    both = judged(data, FIRST, SECOND)
    found = compare(both, "first", both, "second", measure=parse_measure("RR@10"))
    assert found.overall.difference.n == 2
    assert found.overall.difference.mean == pytest.approx(0.0)


def test_only_the_primary_measure_decides() -> None:
    """Any other measure is marked as exploratory."""
    both = judged(DATA, FIRST, SECOND)
    assert compare(both, "first", both, "second").exploratory is False
    assert compare(both, "first", both, "second", measure=parse_measure("RR@10")).exploratory is True


def test_a_ranker_beside_itself_differs_in_nothing() -> None:
    """No difference, p 1, no query that moved."""
    both = judged(DATA, FIRST)
    found = compare(both, "first", both, "first")
    assert (found.overall.difference.mean, found.overall.p, found.moved) == (0.0, 1.0, ())


def test_two_evaluations_are_compared_when_they_were_made_alike() -> None:
    """The same data judged twice gives what one evaluation of both gives."""
    apart = compare(judged(DATA, FIRST), "first", judged(DATA, SECOND), "second")
    both = judged(DATA, FIRST, SECOND)
    assert apart == compare(both, "first", both, "second")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (replace(judged(DATA, SECOND), data=replace(DATA, fingerprint="0" * 64)), "on different data (made ffff"),
        (replace(judged(DATA, SECOND), split="dev"), "on different splits (all and dev)"),
        (replace(judged(DATA, SECOND), depth=5), "to different depths (10 and 5)"),
        (replace(judged(DATA, SECOND), queries=DATA.queries[:3]), "on different queries (q1,q2,q3,q4 and q1,q2,q3)"),
    ],
)
def test_what_was_not_judged_alike_is_refused(other: Evaluation, expected: str) -> None:
    """The message says what differs."""
    with pytest.raises(UsageError) as error:
        compare(judged(DATA, FIRST), "first", other, "second")
    assert expected in str(error.value)


def test_a_ranker_that_was_not_judged_is_an_unknown_name() -> None:
    """Near names are given."""
    both = judged(DATA, FIRST, SECOND)
    with pytest.raises(UnknownNameError, match="Did you mean 'second'"):
        compare(both, "first", both, "secnd")


def test_several_challengers_share_the_level() -> None:
    """Holm's procedure, worked by hand: the smallest p times their number, and never below one before."""
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == {"a": 0.03, "b": 0.06, "c": 0.06}
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_all_rankers_beside_one_have_adjusted_p_values() -> None:
    """Each challenger once, the baseline not, and no p below that of the single comparison."""
    third = Fixed("third", "cabd")
    all_three = judged(DATA, FIRST, SECOND, third)
    found = compare_all(all_three, "first")
    assert [each.b for each in found] == ["second", "third"]
    for each in found:
        assert each.overall.p >= compare(all_three, "first", all_three, each.b).overall.p
