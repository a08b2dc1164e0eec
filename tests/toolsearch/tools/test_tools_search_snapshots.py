from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.search.index import STORE
from toolsearch.search.results import SearchResponse
from toolsearch.search.searcher import Searcher
from toolsearch.tools.search_tool import SearchTool


def offered(version: str) -> list[Tool]:
    """The tools that a server offers in one version."""
    return [
        Tool(name=f"mcp__kit__{version}_{number}", server="kit", description=f"handle item, version {version}")
        for number in range(6)
    ]


class Disturbed(Searcher):
    """A searcher under which something happens at each search."""

    def __init__(self, registry: ToolRegistry, happening: Callable[[], None]) -> None:
        """Take the catalog and what happens."""
        super().__init__(registry)
        self._happening = happening

    def search(self, query: str, **options: Any) -> SearchResponse:
        """Search, then let it happen."""
        response = super().search(query, **options)
        self._happening()
        return response


def test_a_changed_catalog_is_searched_at_the_next_call() -> None:
    """A tool that was added is found, one that was removed is missing, under the same search tool."""
    registry = ToolRegistry([Tool(name="mcp__kit__base", server="kit")])
    tool = SearchTool(Searcher(registry))
    assert [each.name for each in tool.call({"query": "select:template"}).missing] == ["template"]
    registry.add(Tool(name="mcp__kit__template", server="kit"))
    assert [each.name for each in tool.call({"query": "select:template"}).results] == ["mcp__kit__template"]
    registry.remove("mcp__kit__template")
    answer = tool.call({"query": "select:template"})
    assert (answer.results, [each.name for each in answer.missing]) == ((), ["template"])


def test_a_search_starts_again_when_the_catalog_changes_under_it() -> None:
    """The answer is about the catalog after the change, not a mixture of both."""
    registry = ToolRegistry(offered("old"))
    changes = iter([offered("new")])

    def reconnect() -> None:
        for tools in changes:
            registry.replace(tools, server="kit")

    answer = SearchTool(Disturbed(registry, reconnect)).call({"query": "handle item"})
    assert len(answer.results) == 5
    assert all("new" in tool.name for tool in answer.results)


def test_a_catalog_that_never_rests_is_answered_from_one_moment() -> None:
    """When the catalog changes during every search, the answer still comes, out of one snapshot."""
    registry = ToolRegistry(offered("v0"))
    versions = iter(range(1, 1000))

    def reconnect() -> None:
        registry.replace(offered(f"v{next(versions)}"), server="kit")

    answer = SearchTool(Disturbed(registry, reconnect)).call({"query": "handle item"})
    assert len(answer.results) == 5
    assert len({tool.name.rsplit("_", 1)[0] for tool in answer.results}) == 1


def test_searches_of_several_threads_each_see_one_catalog() -> None:
    """While a server reconnects again and again, no answer mixes tools of two versions or fails."""
    registry = ToolRegistry(offered("a"))
    tool = SearchTool(Searcher(registry))
    failures: list[object] = []
    done = threading.Event()

    def ask() -> None:
        for query in (
            "handle item",
            "list:kit",
            "discover:item version",
            "select:" + ",".join(t.name for t in offered("a")),
        ) * 8:
            try:
                answer = tool.call({"query": query})
            except Exception as error:
                failures.append(error)
                return
            if len({each.name.rsplit("_", 1)[0] for each in answer.results}) > 1:
                failures.append(answer.results)

    def reconnect() -> None:
        while not done.is_set():
            for version in "ba":
                registry.replace(offered(version), server="kit")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    disturbing = threading.Thread(target=reconnect)
    for thread in (disturbing, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    disturbing.join()
    assert failures == []


def test_the_order_of_the_catalog_changes_no_answer() -> None:
    """A reversed catalog gives the same answers, text and all."""
    tools = [*offered("a"), Tool(name="Read"), Tool(name="todo_add"), Tool(name="todo.add")]
    forward, backward = (SearchTool(Searcher(ToolRegistry(order))) for order in (tools, tools[::-1]))
    for query in ("handle item", "select:todoAdd,a_1,a_9", "list:kit", "read file", "zzz", "discover:version"):
        assert forward.call({"query": query}) == backward.call({"query": query})


def test_a_catalog_is_indexed_once_for_all_search_tools() -> None:
    """Two search tools over equal catalogs without loaded tools build one index between them."""
    tools = [Tool(name=f"mcp__once__{number}", server="once", description="indexed one time") for number in range(3)]
    before = STORE.builds.total()
    for _ in range(2):
        assert len(SearchTool(Searcher(ToolRegistry(tools))).call({"query": "indexed one time"}).results) == 3
    assert STORE.builds.total() - before == 1
