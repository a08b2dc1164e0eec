"""FastMCP's two search transforms, in a real FastMCP server with the catalog's tools, called inside this process.

A search is a call of the server's search tool, as a client's would be after its transport; results are told by name.
FastMCP gives an order and no scores. Its server sees names, descriptions with the hint behind them, and the names and
descriptions of the outermost parameters, which is all that its transforms index.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from toolsearch.catalog.tool import Tool
from toolsearch_eval.rankers.peers_regex import words_of
from toolsearch_eval.rankers.peers_text import ToolText, awaited, by_rank, free_name, texts_of, writable

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from fastmcp.server.transforms.search.base import BaseSearchTransform

_USUAL_DEPTH: Final = 10
_NAME_WARNINGS: Final = "mcp.shared.tool_name_validation"
"""The logger that says five lines about every name outside the protocol's recommendation; data sets have many."""


class _FastMcp(ABC):
    """One of the transforms."""

    name: str

    def __init__(self) -> None:
        self._texts: list[ToolText] = []
        self._server: FastMCP[Any] | None = None
        self._depth = 0
        self._search_tool = ""

    def index(self, tools: Sequence[Tool]) -> None:
        """Put the tools into a new server, and let it build what it builds at the first search."""
        self._texts = texts_of(tools)
        self._serve(_USUAL_DEPTH)
        self.rank(["tool"], _USUAL_DEPTH)

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Names in the server's order, each with one divided by its rank for a score."""
        if depth != self._depth:
            self._serve(depth)
        return [by_rank(names) for names in awaited(lambda: self._search_all(queries))]

    def _serve(self, depth: int) -> None:
        """A server whose search gives so many results; how many is fixed when it is made."""
        from fastmcp import FastMCP
        from fastmcp.tools import Tool as FastMcpTool

        server: FastMCP[Any] = FastMCP("catalog")
        with _no_word_about_names():
            for text in self._texts:
                server.add_tool(
                    FastMcpTool(name=text.name, description=text.description_with_hint or None, parameters=text.schema)
                )
        taken = frozenset(text.name for text in self._texts)
        # The server's own two tools must not take the place of tools of the catalog.
        self._search_tool = free_name("search_tools", taken)
        server.add_transform(self._transform(depth, self._search_tool, free_name("call_tool", taken)))
        self._server, self._depth = server, depth

    @abstractmethod
    def _transform(self, depth: int, search_tool: str, call_tool: str) -> BaseSearchTransform:
        """The transform, with these names for its own two tools."""

    @abstractmethod
    def _arguments(self, query: str) -> dict[str, str] | None:
        """What the search tool is called with; None where nobody would call it."""

    async def _search_all(self, queries: Sequence[str]) -> list[list[str]]:
        if self._server is None or not self._texts:
            return [[] for _ in queries]
        originals = {text.name: text.original for text in self._texts}
        answers: list[list[str]] = []
        for query in queries:
            arguments = self._arguments(query)
            found: list[dict[str, str]] = []
            if arguments is not None:
                answer = await self._server.call_tool(self._search_tool, arguments)
                found = (answer.structured_content or {}).get("result", [])
            answers.append([originals[each["name"]] for each in found])
        return answers


class FastMcpBm25(_FastMcp):
    """FastMCP's `BM25SearchTransform`."""

    name = "fastmcp-bm25"

    def _transform(self, depth: int, search_tool: str, call_tool: str) -> BaseSearchTransform:
        from fastmcp.server.transforms.search import BM25SearchTransform

        return BM25SearchTransform(
            max_results=depth,
            search_tool_name=search_tool,
            call_tool_name=call_tool,
            search_result_serializer=_names,
        )

    def _arguments(self, query: str) -> dict[str, str] | None:
        return {"query": writable(query)}


class FastMcpRegex(_FastMcp):
    """FastMCP's `RegexSearchTransform`, with the pattern that `peers_regex` writes for a query.

    It ignores case by itself. It does not rank: what matches comes in the order of the catalog, here by name, and is
    cut at the depth. After about a second it gives what it has so far.
    """

    name = "fastmcp-regex"

    def _transform(self, depth: int, search_tool: str, call_tool: str) -> BaseSearchTransform:
        from fastmcp.server.transforms.search import RegexSearchTransform

        return RegexSearchTransform(
            max_results=depth,
            search_tool_name=search_tool,
            call_tool_name=call_tool,
            search_result_serializer=_names,
        )

    def _arguments(self, query: str) -> dict[str, str] | None:
        words = words_of(query)
        # An empty pattern would match every tool; nobody sends one.
        return {"pattern": "|".join(words)} if words else None


def _names(tools: Sequence[Any]) -> list[dict[str, str]]:
    """The results by name: the whole definitions would be written as JSON and read again for nothing."""
    return [{"name": tool.name} for tool in tools]


@contextmanager
def _no_word_about_names() -> Iterator[None]:
    logger = logging.getLogger(_NAME_WARNINGS)
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
