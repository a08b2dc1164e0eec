"""The system itself as a ranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool, tool_id
from toolsearch.config import SearchConfig
from toolsearch.errors import UnknownNameError
from toolsearch.search.index import IndexStore
from toolsearch.search.results import Explanation
from toolsearch.search.searcher import Searcher


class ProfileRanker:
    """The search with one profile."""

    # Tools that a query names stand before those with a higher score, and the reference settles ties its own way.
    keeps_order = True

    def __init__(self, name: str, config: SearchConfig) -> None:
        """Take the ranker's name in reports and the profile."""
        self.name = name
        self.config = config

    def index(self, tools: Sequence[Tool]) -> None:
        """Put the tools into a registry and build the search's index."""
        # The registry gives a server's tool its full id where its own name is reserved; labels know the name given.
        self._given = {tool_id(tool.server, tool.leaf): tool.name for tool in tools if tool.server}
        self._given |= {tool.name: tool.name for tool in tools}
        self._ids = {tool.name: (tool.name, tool_id(tool.server or "", tool.leaf)) for tool in tools}
        # A store of its own, so that the time to build is that of this ranker and not of one that was there before.
        self._searcher = Searcher(ToolRegistry(tools), self.config, store=IndexStore())
        self._searcher.search_batch(("",), max_results=1)

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """The search's own order, unchanged, under the names that `index` was given."""
        answers = self._searcher.search_batch(queries, max_results=depth)
        return [
            [(self._given.get(result.name, result.name), result.score) for result in each.results] for each in answers
        ]

    def assess(self, queries: Sequence[str]) -> list[tuple[float, bool]]:
        """The search's own confidence and flag; the reference works out no confidence, so there it is the score."""
        answers = self._searcher.search_batch(queries, max_results=1)
        if self.config.ranking == "reference":
            return [(each.results[0].score if each.results else 0.0, each.low_confidence) for each in answers]
        return [(each.confidence, each.low_confidence) for each in answers]

    def explain(self, query: str, tool: str, depth: int = 10) -> Explanation:
        """Why a tool has its score for a query, or why it has none; the parts add up to the score.

        Args:
            query: As it was ranked.
            tool: Its name as `index` was given it.
            depth: Results that were asked for, above 0; the reference's scores hang on it.

        Raises:
            UnknownNameError: `index` was given no such tool.
        """
        if tool not in self._ids:
            raise UnknownNameError("tool", tool, self._ids)
        known = {each.name for each in self._searcher.snapshot().tools}
        name = next(name for name in self._ids[tool] if name in known)
        found = self._searcher.explain(query, name, max_results=depth)
        return replace(found, tool=tool)
