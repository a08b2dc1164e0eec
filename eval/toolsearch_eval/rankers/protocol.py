"""What every ranker fulfils."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from toolsearch.catalog.tool import Tool


class Ranker(Protocol):
    """What can be judged.

    One whose order is not by score alone has a further attribute, `keeps_order`, that is true: its order is then left
    as it is. Any other's results are put in order by score, then by name. One that knows how sure it is has `assess`,
    see `AssessingRanker`; of any other the first score is taken for that.
    """

    name: str

    def index(self, tools: Sequence[Tool]) -> None:
        """Take the tools that may be found; called once before `rank`."""

    def rank(self, queries: Sequence[str], depth: int) -> Sequence[Sequence[tuple[str, float]]]:
        """For each query at most `depth` names with scores, each name once, best first."""


@runtime_checkable
class AssessingRanker(Protocol):
    """A ranker that says how sure it is."""

    def assess(self, queries: Sequence[str]) -> Sequence[tuple[float, bool]]:
        """For each query how sure its first result is (higher is surer), and whether there is probably no answer."""
