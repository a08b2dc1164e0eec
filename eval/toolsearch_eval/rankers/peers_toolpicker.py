"""toolpicker as it is installed: its `ToolPicker` without an embedder, which is a search by BM25 alone.

The vectors that it can add come from a paid service, or from a hash that it says itself is no use for searching. It
sees names, descriptions, the names of the outermost parameters, and the hint as its keywords. It gives an order and no
scores; ties stay in the order of the tools, here by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toolsearch.catalog.tool import Tool
from toolsearch_eval.rankers.peers_text import by_rank, texts_of, writable

if TYPE_CHECKING:
    from toolpicker import ToolPicker


class _Source:
    """The catalog as toolpicker's protocol for a source of tools wants it."""

    def __init__(self, tools: Sequence[Any]) -> None:
        self._tools = list(tools)

    def tools(self) -> list[Any]:
        """All of them."""
        return list(self._tools)


class ToolPickerRanker:
    """toolpicker's selection."""

    name = "toolpicker"

    def __init__(self) -> None:
        self._picker: ToolPicker | None = None

    def index(self, tools: Sequence[Tool]) -> None:
        """Make a picker of the tools."""
        from toolpicker import Tool as PickerTool
        from toolpicker import ToolPicker

        self._picker = ToolPicker(
            _Source(
                [
                    PickerTool(
                        id=text.original,
                        name=text.name,
                        description=text.description,
                        parameters_schema=text.schema,
                        keywords=text.hint.split(),
                    )
                    for text in texts_of(tools)
                ]
            )
        )

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Names in the picker's order, each with one divided by its rank for a score."""
        if self._picker is None:
            return [[] for _ in queries]
        return [by_rank([tool.id for tool in self._picker.select(writable(query), k=depth)]) for query in queries]
