"""Measuring: interleaved rounds in one process, and medians."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One measured line.

    Attributes:
        case: What was done.
        tools: The size of the catalog, 0 where there is none.
        ours_ms: Milliseconds, the median of the rounds.
        other: What it was measured beside, "" for nothing.
        other_ms: Its milliseconds, or None.
        target: The largest ratio (or, without `other`, the most milliseconds) that we aim at; None for no target.
        at_least: The target is a factor by which `other` must be slower.
    """

    case: str
    tools: int
    ours_ms: float
    other: str = ""
    other_ms: float | None = None
    target: float | None = None
    at_least: bool = False

    @property
    def ratio(self) -> float | None:
        """Our time by the other's; below 1 is faster. None where there is nothing beside it."""
        return None if not self.other_ms else self.ours_ms / self.other_ms

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none or nothing to compare with."""
        if self.target is None or (self.other and self.ratio is None):
            return None
        value = self.ours_ms if self.ratio is None else self.ratio
        return value <= (1 / self.target if self.at_least else self.target)

    def to_json(self) -> dict[str, Any]:
        """The line as plain data."""
        return {
            "case": self.case,
            "tools": self.tools,
            "ours_ms": self.ours_ms,
            "other": self.other or None,
            "other_ms": self.other_ms,
            "ratio": self.ratio,
            "target": self.target_text() or None,
            "met": self.met,
        }

    def target_text(self) -> str:
        """The target as it is written in tables."""
        if self.target is None:
            return ""
        if not self.other:
            return f"< {self.target:g} ms"
        return f">= {self.target:g}x faster" if self.at_least else f"<= {self.target:g}x"


def interleaved(rounds: int, *actions: Callable[[], object]) -> list[float]:
    """Run the actions in turn, `rounds` times; the median milliseconds of each.

    Taking turns lets a slow moment of the machine fall on all of them alike.
    """
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(rounds):
        for action, taken in zip(actions, times, strict=True):
            taken.append(milliseconds(action))
    return [statistics.median(taken) for taken in times]


def interleaved_queries(rounds: int, queries: Sequence[str], *searches: Callable[[str], object]) -> list[float]:
    """The median over queries (p50) of each search, taken in turn per query; then the median of the rounds.

    A first pass over all queries warms every search up and is not counted.
    """
    medians: list[list[float]] = [[] for _ in searches]
    for search in searches:
        for query in queries:
            search(query)
    for _ in range(rounds):
        times: list[list[float]] = [[] for _ in searches]
        for query in queries:
            for search, taken in zip(searches, times, strict=True):
                start = time.perf_counter()
                search(query)
                taken.append((time.perf_counter() - start) * 1000)
        for taken, all_rounds in zip(times, medians, strict=True):
            all_rounds.append(statistics.median(taken))
    return [statistics.median(taken) for taken in medians]


def milliseconds(action: Callable[[], object]) -> float:
    """How long one call took."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def startup_cases(rounds: int) -> list[Case]:
    """The time of `import toolsearch` and of `toolsearch --help`, each the best of several new processes.

    The best, not the median: a start is work of a fixed size, and all that is added comes from the machine.
    """
    timed = "import time; start = time.perf_counter(); import toolsearch; print(time.perf_counter() - start)"
    imports = []
    helps = []
    for _ in range(max(3, rounds)):
        imports.append(float(_process(timed)) * 1000)
        helps.append(milliseconds(lambda: _process("from toolsearch_eval.cli.main import main; main(['--help'])")))
    return [
        Case(case="import toolsearch", tools=0, ours_ms=min(imports), target=120.0),
        Case(case="toolsearch --help", tools=0, ours_ms=min(helps), target=400.0),
    ]


def _process(code: str) -> str:
    # The new process finds the packages where this one does, installed or not.
    found = f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}; "
    return subprocess.run([sys.executable, "-c", found + code], capture_output=True, text=True, check=True).stdout
