"""pydantic-ai's local tool search: how many different words of the query stand in a tool's name or description.

Its `ToolSearch` capability wraps a toolset whose tools are all deferred, and its `search_tools` is called as an agent's
run would call it. It sees names and descriptions, with the hint behind them, and no parameters: that is all that it
reads. It gives an order and no scores; ties stay in the order of the toolset, here by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from toolsearch.catalog.tool import Tool
from toolsearch_eval.rankers.peers_text import ToolText, awaited, by_rank, free_name, texts_of, writable

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset

_SEARCH_TOOL: Final = "search_tools"
"""Its name for the search; a tool of the catalog that bears it is refused, so it gets an underscore for the while."""
_USUAL_DEPTH: Final = 10


class PydanticAi:
    """pydantic-ai's keyword search."""

    name = "pydantic-ai"

    def __init__(self) -> None:
        self._texts: list[ToolText] = []
        self._originals: dict[str, str] = {}
        self._toolset: AbstractToolset[None] | None = None
        self._depth = 0

    def index(self, tools: Sequence[Tool]) -> None:
        """Make a toolset of the tools, and let it build what it builds at the first search."""
        self._texts = texts_of(tools)
        self._wrap(_USUAL_DEPTH)
        self.rank(["tool"], _USUAL_DEPTH)

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Names in the toolset's order, each with one divided by its rank for a score."""
        if depth != self._depth:
            self._wrap(depth)
        return [by_rank(names) for names in awaited(lambda: self._search_all(queries))]

    def _wrap(self, depth: int) -> None:
        """A toolset whose search gives so many results; how many is fixed when it is made."""
        from pydantic_ai import ToolDefinition
        from pydantic_ai.capabilities import ToolSearch
        from pydantic_ai.toolsets import ExternalToolset

        taken = frozenset({_SEARCH_TOOL, *(text.name for text in self._texts)})
        self._originals = {}
        definitions: list[ToolDefinition] = []
        for text in self._texts:
            name = free_name(text.name, taken) if text.name == _SEARCH_TOOL else text.name
            self._originals[name] = text.original
            definitions.append(
                ToolDefinition(
                    name=name,
                    description=text.description_with_hint or None,
                    parameters_json_schema=text.schema,
                    defer_loading=True,
                )
            )
        search: ToolSearch[None] = ToolSearch(max_results=depth)
        deferred: ExternalToolset[None] = ExternalToolset(definitions)
        self._toolset, self._depth = search.get_wrapper_toolset(deferred), depth

    async def _search_all(self, queries: Sequence[str]) -> list[list[str]]:
        from pydantic_ai import ModelRetry, RunContext
        from pydantic_ai.models.test import TestModel
        from pydantic_ai.usage import RunUsage

        if self._toolset is None or not self._texts:
            return [[] for _ in queries]
        # A run's context needs a model; the local search asks none.
        context: RunContext[None] = RunContext(deps=None, model=TestModel(), usage=RunUsage())
        search = (await self._toolset.get_tools(context))[_SEARCH_TOOL]
        answers: list[list[str]] = []
        for query in queries:
            arguments = {"queries": [writable(query)]}
            try:
                answer: dict[str, Any] = await self._toolset.call_tool(_SEARCH_TOOL, arguments, context, search)
            except ModelRetry:  # its answer to a query without words
                answers.append([])
                continue
            answers.append([self._originals[each["name"]] for each in answer["discovered_tools"]])
        return answers
