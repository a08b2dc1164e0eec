"""From which length of a session on one strategy costs less than another: where the curves of summed money cross."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from toolsearch_eval.sessionlab.accounting import RequestRow

Unit = Literal["turn", "request"]
"""A turn of the main agent with all requests that it takes, those of sub-agents too; or a single request."""

UNITS: tuple[Unit, ...] = get_args(Unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLength:
    """Conversations cut off after so many turns, or requests.

    Attributes:
        length: How many, 1-based.
        conversations: How many conversations are at least that long.
        first: What they have cost up to there under the one strategy, on average.
        other: The same under the other one.
        cheaper: In how many of them the first one has cost less.
    """

    length: int
    conversations: int
    first: float
    other: float
    cheaper: int


def by_length(first: Sequence[RequestRow], other: Sequence[RequestRow], *, unit: Unit = "turn") -> tuple[AtLength, ...]:
    """The money that was spent up to each length, over all conversations that are at least that long.

    Args:
        first: The requests of conversations under a strategy.
        other: Those of the same conversations under another one; lengths that only one of the two has don't count.
        unit: What the length is counted in.

    Returns:
        A line for each length from 1 on; none without a request.
    """
    curves = [
        (_spent(_of(first, name), unit), _spent(_of(other, name), unit))
        for name in dict.fromkeys(row.conversation for row in first)
    ]
    lengths = sorted({length for own, others in curves for length in own if length in others})
    lines = []
    for length in lengths:
        pairs = [(own[length], others[length]) for own, others in curves if length in own and length in others]
        lines.append(
            AtLength(
                length=length,
                conversations=len(pairs),
                first=math.fsum(own for own, _ in pairs) / len(pairs),
                other=math.fsum(others for _, others in pairs) / len(pairs),
                cheaper=sum(own < others for own, others in pairs),
            )
        )
    return tuple(lines)


def crossing(lines: Sequence[AtLength]) -> int | None:
    """From which length on the first strategy costs less on average, at every greater length too.

    Returns:
        A 1-based length; None where it does not cost less at the greatest one.
    """
    answer: int | None = None
    for line in lines:
        answer = (answer or line.length) if line.first < line.other else None
    return answer


def cheaper_from(first: Sequence[RequestRow], other: Sequence[RequestRow], *, unit: Unit = "turn") -> int | None:
    """From which length of one conversation on the first has cost less than the other, and stays below it to the end.

    Args:
        first: The requests of one conversation under a strategy.
        other: The same conversation under another one.
        unit: What the length is counted in.

    Returns:
        A 1-based length; None where the first does not end up cheaper.
    """
    return crossing(by_length(first, other, unit=unit))


def _of(rows: Sequence[RequestRow], conversation: str) -> list[RequestRow]:
    return [row for row in rows if row.conversation == conversation]


def _spent(rows: Sequence[RequestRow], unit: Unit) -> dict[int, float]:
    """Money that was spent up to the end of each turn or request."""
    spent: dict[int, float] = {}
    turn, total = 1, 0.0
    for place, row in enumerate(rows, start=1):
        turn = row.turn if "/" not in row.agent else turn
        total += row.cost
        spent[turn if unit == "turn" else place] = total
    return spent
