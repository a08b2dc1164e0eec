"""A run of Chinese letters cut into words: of all ways to cut it the one whose words are the most usual."""

from __future__ import annotations

import math
from collections.abc import Mapping


class Cutter:
    """Cuts by the product of the words' shares of running text; a letter of no word stands alone."""

    def __init__(self, frequencies: Mapping[str, int]) -> None:
        """Take how often each word was counted; words that were never counted are not known."""
        total = math.log(max(1, sum(frequencies.values())))
        self._cost = {word: total - math.log(count) for word, count in frequencies.items() if count > 0}
        self._unknown = total
        self._longest = max(map(len, self._cost), default=1)

    def cut(self, run: str) -> list[str]:
        """The words of a run, in order; together they are the run.

        Of two ways that are equally usual the one with the longer first word is taken.

        >>> Cutter({"数据": 5, "数据库": 5, "库": 1, "备份": 3}).cut("备份数据库")
        ['备份', '数据库']
        """
        size = len(run)
        best: list[tuple[float, int]] = [(0.0, 0)] * (size + 1)
        for start in range(size - 1, -1, -1):
            ways = [(self._unknown + best[start + 1][0], -(start + 1))]
            for end in range(start + 1, min(size, start + self._longest) + 1):
                cost = self._cost.get(run[start:end])
                if cost is not None:
                    ways.append((cost + best[end][0], -end))
            best[start] = min(ways)
        found = []
        start = 0
        while start < size:
            end = -best[start][1]
            found.append(run[start:end])
            start = end
        return found
