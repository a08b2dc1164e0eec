"""A forest plot in plain characters, for a terminal or a code block."""

from __future__ import annotations

from collections.abc import Sequence

from toolsearch_eval.statistics import Interval

WIDTH = 33
"""Characters of a line; odd, so that zero has a place of its own in the middle."""


def forest_lines(intervals: Sequence[Interval], width: int = WIDTH) -> list[str]:
    r"""A line for each difference on one common scale with zero in the middle.

    `o` is the difference, `[` and `]` the ends of its interval, `|` zero. A difference without an interval is an `o`
    alone, and none at all is a line with zero alone.

    Args:
        intervals: Differences with their intervals.
        width: Characters of each line, odd and at least 3.

    >>> print("\n".join(forest_lines([Interval(0.2, 0.1, 0.4, 20), Interval(-0.1, -0.3, 0.1, 20)], 17)))
            | [-o---]
      [---o-|-]
    """
    middle = width // 2
    bounds = [
        abs(bound)
        for interval in intervals
        for bound in (interval.mean, interval.low, interval.high)
        if bound is not None
    ]
    scale = max(bounds, default=0.0) or 1.0

    def place(value: float) -> int:
        return middle + round(value / scale * middle)

    lines = []
    for interval in intervals:
        cells = [" "] * width
        if interval.low is not None and interval.high is not None:
            low, high = place(interval.low), place(interval.high)
            cells[low : high + 1] = "-" * (high - low + 1)
            cells[low], cells[high] = "[", "]"
        cells[middle] = "|"
        if interval.mean is not None:
            cells[place(interval.mean)] = "o"
        lines.append("".join(cells).rstrip())
    return lines
