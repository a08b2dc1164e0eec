"""From which length of a session on one strategy is cheaper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from toolsearch_eval.sessionlab.accounting import RequestRow, kept_share
from toolsearch_eval.sessionlab.cache import CacheUse
from toolsearch_eval.sessionlab.session_length import AtLength, by_length, cheaper_from, crossing


def requests(conversation: str, *spent: tuple[str, int, float]) -> list[RequestRow]:
    """Requests of a conversation by agent, turn and money."""
    return [
        RequestRow(
            conversation=conversation,
            strategy="s",
            agent=agent,
            turn=turn,
            request=number,
            seconds=0.0,
            parts={},
            use=CacheUse(0, 0, 0),
            output=0,
            cost=cost,
            prefix="",
            array="",
            prefix_tokens=0,
            common_tokens=0,
            common_bytes=0,
            broken_by=None,
            is_first=False,
            searches=0,
            failed=0,
            recommended=(),
        )
        for number, (agent, turn, cost) in enumerate(spent, start=1)
    ]


# Two conversations, of three turns and of one; the sub-agent's request is a part of the second turn of "long".
OWN = [
    *requests("long", ("main", 1, 5.0), ("main", 2, 1.0), ("main/1", 1, 1.0), ("main", 3, 1.0)),
    *requests("short", ("main", 1, 2.0)),
]
OTHER = [
    *requests("long", ("main", 1, 3.0), ("main", 2, 3.0), ("main/1", 1, 2.0), ("main", 3, 2.0)),
    *requests("short", ("main", 1, 3.0)),
]


def test_money_by_turn_over_conversations() -> None:
    """Each line is the mean over the conversations that are that long, sums from the beginning."""
    assert by_length(OWN, OTHER) == (
        AtLength(length=1, conversations=2, first=3.5, other=3.0, cheaper=1),
        AtLength(length=2, conversations=1, first=7.0, other=8.0, cheaper=1),
        AtLength(length=3, conversations=1, first=8.0, other=10.0, cheaper=1),
    )


def test_money_by_request() -> None:
    """Counted in requests, a sub-agent's request is a step of its own."""
    lines = by_length(OWN, OTHER, unit="request")
    assert [(line.first, line.other) for line in lines] == [(3.5, 3.0), (6.0, 6.0), (7.0, 8.0), (8.0, 10.0)]
    assert crossing(lines) == 3


def test_the_length_from_which_it_stays_cheaper() -> None:
    """Cheaper from the second turn on; the other one never ends up cheaper, and one conversation can differ from all."""
    assert crossing(by_length(OWN, OTHER)) == 2
    assert crossing(by_length(OTHER, OWN)) is None
    assert cheaper_from(OWN[:4], OTHER[:4]) == 2
    assert cheaper_from(OWN[:4], OTHER[:4], unit="request") == 3
    assert cheaper_from(OWN[4:], OTHER[4:]) == 1


@pytest.mark.parametrize("gaps", [[1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [], [0.0]])
def test_what_is_cheaper_for_a_while_does_not_count(gaps: Sequence[float]) -> None:
    """Where the curves cross twice, only what holds to the end counts; equal is not cheaper."""
    lines = [
        AtLength(length=place, conversations=1, first=5.0 - gap, other=5.0, cheaper=0)
        for place, gap in enumerate(gaps, start=1)
    ]
    assert crossing(lines) == (3 if gaps == [1.0, -1.0, 1.0] else None)


def test_the_share_of_the_prefix_that_is_kept() -> None:
    """Of 100 tokens 90 are kept, of a sub-agent's 50 all, as more in common than the prefix holds is no more kept."""
    rows = requests("long", ("main", 1, 0.0), ("main/1", 1, 0.0), ("main", 1, 0.0), ("main/1", 1, 0.0))
    tokens = [(100, 0), (50, 0), (120, 90), (70, 60)]
    rows = [
        replace(row, prefix_tokens=prefix, common_tokens=common)
        for row, (prefix, common) in zip(rows, tokens, strict=True)
    ]
    assert kept_share(rows) == pytest.approx(140 / 150)
    assert kept_share(rows[:2]) is None
    assert kept_share([rows[0], replace(rows[2], conversation="other")]) is None
