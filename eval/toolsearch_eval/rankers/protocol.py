"""What every ranker fulfils."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from toolsearch.catalog.tool import Tool
from toolsearch.search.results import Explanation


class Ranker(Protocol):
    """What can be judged.

    One whose order is not by score alone has a further attribute, `keeps_order`, that is true: its order is then left
    as it is. Any other's results are put in order by score, then by name. One that knows how sure it is has `assess`,
    see `AssessingRanker`; of any other the first score is taken for that. One that can say what a score is made of has
    `explain`, see `ExplainingRanker`. One of your own whose rankings may be kept from one evaluation to the next has a
    text `fingerprint` that changes with everything that changes its results; without it, it ranks anew each time.
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


@runtime_checkable
class ExplainingRanker(Protocol):
    """A ranker that says what a score is made of."""

    def explain(self, query: str, tool: str, depth: int) -> Explanation:
        """Why a tool has its score where `depth` results were asked for; the parts add up to it. After `index`."""
