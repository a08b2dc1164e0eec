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
class Led:
    """The pairs that gain by another one.

    Attributes:
        pair: The pairs, ascending.
        leader: The pair that each of them gains by; no leader is led.
        gain: What each of them gains, >= 0.
        part: The gain as a share of the leader's own score, >= 0: of each arm the leader gives so much.
    """

    pair: Integers
    leader: Integers
    gain: Floats
    part: Floats


def led_by_best(group: Integers, own: Floats, share: float) -> Led:
    """Who leads whom, and what is gained: the best pair of each group leads all others of it that have a score.

    Args:
        group: The number of each pair's group, at least 0.
        own: The score of each pair, >= 0. Of equal best ones the first leads, so the one first by name.
        share: Weight of the leader's score in the harmonic mean, 0..1.

    >>> led = led_by_best(np.array([0, 1, 0, 0]), np.array([0.25, 0.9, 0.75, 0.0]), 0.5)
    >>> led.pair.tolist(), led.leader.tolist(), led.gain.tolist()
    ([0], [2], [0.125])
    """
    held = np.flatnonzero(own)
    if not len(held):
        return Led(held, held, own[held], own[held])
    groups, scores = group[held], own[held]
    best = np.zeros(int(groups.max()) + 1)
    np.maximum.at(best, groups, scores)
    leading = np.flatnonzero(scores == best[groups])
    # Written last is what stays, so the first of equal ones goes last.
    first = np.zeros(len(best), dtype=np.int64)
    first[groups[leading[::-1]]] = held[leading[::-1]]
    leader = first[groups]
    moved = leader != held
    pair, leader = held[moved], leader[moved]
    of_leader = own[leader]
    mean = own[pair] * of_leader / ((1.0 - share) * of_leader + share * own[pair])
    # Equal scores can give a mean that is smaller in its last bit.
    gain = np.maximum(mean - own[pair], 0.0)
    return Led(pair, leader, gain, gain / of_leader)
