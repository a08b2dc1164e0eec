"""The reference ranking as a plain loop: what a straightforward reading of it costs."""

from __future__ import annotations

from collections.abc import Sequence

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.tool import Tool
from toolsearch.config import REFERENCE
from toolsearch.search.reference.plain import PlainReference


class PlainLoop:
    """Visits every tool for every query; what it keeps between queries is said in `PlainReference`."""

    def __init__(self, tools: Sequence[Tool], *, limit: int = 10) -> None:
        """Read the tools once.

        Args:
            tools: The catalog; loaded tools are not searched.
            limit: How many names a search gives, at least 1.
        """
        self._plain = PlainReference([tool for tool in tools if is_deferred(tool)], tools, REFERENCE)
        self._limit = limit

    def search(self, query: str) -> list[str]:
        """Names, best first: the reference ranking's, to the letter."""
        return [tool.name for tool, _ in self._plain.hybrid(query, self._limit)]
