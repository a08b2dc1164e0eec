"""How slow a ranker is beside another one that runs in the same process: a ratio, since seconds hang on the machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.rankers import Ranker
from toolsearch_eval.rankers.own import described

YARDSTICK = "bm25f"
"""The ranker that others are timed beside: plain, part of this package, and never tuned."""

_QUERIES = 100
_ROUNDS = 7


def p95_ratio(
    ranker: Ranker,
    yardstick: Ranker,
    tools: Sequence[Tool],
    queries: Sequence[str],
    *,
    depth: int = 10,
    clock: Callable[[], float] = time.perf_counter,
) -> float | None:
    """The p95 of single queries, as a multiple of the yardstick's; the median of seven rounds.

    Both answer the same first hundred queries, one after the other within a round, so that a machine that is busy for a
    while slows both.

    Args:
        ranker: What is timed; it has taken in the tools.
        yardstick: What it is timed beside; it takes them in here.
        tools: The tools that may be found.
        queries: None gives None.
        depth: Results asked for.
        clock: Gives seconds.

    Raises:
        UsageError: One of them fails.
    """
    if not queries:
        return None
    asked = queries[:_QUERIES]
    timed = ranker
    try:
        ratios: list[float] = []
        for _ in range(_ROUNDS):
            timed = ranker
            ours = _p95(ranker, asked, depth, clock)
            timed = yardstick
            if not ratios:
                yardstick.index(tools)
            # A clock that is too coarse to see the yardstick makes no ranker infinitely slow.
            ratios.append(ours / max(_p95(yardstick, asked, depth, clock), 1e-9))
    except (Exception, SystemExit) as error:  # anyone's ranker may fail in any way
        raise UsageError(f"ranker {timed.name!r} failed while it was timed: {described(error)}") from error
    return float(np.median(ratios))


def _p95(ranker: Ranker, queries: Sequence[str], depth: int, clock: Callable[[], float]) -> float:
    times = []
    for query in queries:
        start = clock()
        ranker.rank([query], depth)
        times.append(clock() - start)
    return float(np.percentile(times, 95))
