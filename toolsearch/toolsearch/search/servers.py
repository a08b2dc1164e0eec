"""What the tools of one server say for each other: the best of them vouches for the others.

A request is mostly answered by one server, and its words are spread over that server's tools: one says `invoice`, the
next one `customer`. So a tool's score is the weighted harmonic mean of its own and of the score of the tool of its
server that fits the query best. Within a server this changes no order; the best tool keeps its score; and a tool with
next to nothing of its own gets next to nothing, which a share of the best score would not ensure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolsearch.catalog.tool import Tool

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def server_numbers(tools: tuple[Tool, ...]) -> Integers:
    """A number for each tool, the same for the tools of one server; a tool without a server stands alone.

    >>> server_numbers((Tool(name="a", server="x"), Tool(name="b"), Tool(name="c", server="x"))).tolist()
    [0, 1, 0]
    """
    known: dict[str | int, int] = {}
    return np.array(
        [known.setdefault(tool.server or place, len(known)) for place, tool in enumerate(tools)], dtype=np.int64
    )


@dataclass(frozen=True, slots=True)
class Groups:
    """Which pairs belong together: the tools of one server for one query.

    Attributes:
        number: The group of each pair, 0..groups - 1.
        order: The pairs, group by group, those of a group ascending.
        start: Where each group begins in that order.
        size: How many pairs each has, at least 1.
    """

    number: Integers
    order: Integers
    start: Integers
    size: Integers


def groups_of(number: Integers) -> Groups:
    """The groups of pairs with equal numbers.

    Args:
        number: Of each pair, at least 0; they need not follow one another without a gap.

    >>> groups = groups_of(np.array([7, 2, 7]))
    >>> groups.number.tolist(), groups.order.tolist(), groups.start.tolist(), groups.size.tolist()
    ([1, 0, 1], [1, 0, 2], [0, 1], [1, 2])
    """
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    begins = np.ones(len(number), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    start = np.flatnonzero(begins)
    group = np.empty(len(number), dtype=np.int64)
    group[order] = np.cumsum(begins) - 1
    return Groups(group, order, start, np.diff(np.append(start, len(number))))


@dataclass(frozen=True, slots=True)
class Led:
    """What pairs gain by the best pair of their group.

    Attributes:
        groups: Which pairs belong together.
        own: The score of each pair by itself, >= 0.
        total: The score of each with what it gains, at least its own.
    """

    groups: Groups
    own: Floats
    total: Floats

    def leader(self, pair: int) -> tuple[int, float] | None:
        """Who leads a pair, and which share of the leader's own score the pair gains; None where it gains nothing.

        Of equal best pairs the first leads, so the one first by name.
        """
        group = int(self.groups.number[pair])
        start = int(self.groups.start[group])
        members = self.groups.order[start : start + int(self.groups.size[group])]
        leader = int(members[np.argmax(self.own[members])])
        gain = float(self.total[pair] - self.own[pair])
        return (leader, gain / float(self.own[leader])) if leader != pair and gain > 0.0 else None


def led_by_best(groups: Groups, own: Floats, share: float) -> Led:
    """Scores with what the best pair of each group adds to all others of it that have a score.

    Args:
        groups: Which pairs belong together; at least one pair.
        own: The score of each pair, >= 0.
        share: Weight of the best pair's score in the harmonic mean, 0..1.

    >>> led = led_by_best(groups_of(np.array([0, 1, 0, 0])), np.array([0.25, 0.9, 0.75, 0.0]), 0.5)
    >>> led.total.tolist(), led.leader(0), led.leader(2), led.leader(3)
    ([0.375, 0.9, 0.75, 0.0], (2, 0.16666666666666666), None, None)
    """
    ordered = own[groups.order]
    best = np.repeat(np.maximum.reduceat(ordered, groups.start), groups.size)
    weighed = (1.0 - share) * best
    weighed += share * ordered
    # Where nothing is weighed the pair has no score of its own, and stays without one.
    weighed[weighed == 0.0] = 1.0
    best *= ordered
    best /= weighed
    total = np.empty_like(own)
    # Equal scores can give a mean that is smaller in its last bit.
    total[groups.order] = np.maximum(best, ordered)
    return Led(groups, own, total)
