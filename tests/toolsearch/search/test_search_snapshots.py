from __future__ import annotations

import threading

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import REFERENCE
from toolsearch.search.index import IndexStore
from toolsearch.search.searcher import Searcher

OLD = [Tool(name=f"old_{number}", server="chat", description="word") for number in range(20)]
NEW = [Tool(name=f"new_{number}", server="chat", description="word") for number in range(20)]


def test_a_search_during_a_reconnect_sees_one_catalog() -> None:
    """While a server's tools are replaced again and again, every answer is wholly the old or wholly the new list."""
    registry = ToolRegistry(OLD)
    searcher = Searcher(registry, store=IndexStore())
    done = threading.Event()
    seen: list[frozenset[str]] = []
    faults: list[BaseException] = []

    def search() -> None:
        try:
            while not done.is_set():
                response = searcher.search("word", max_results=50)
                seen.append(frozenset(result.name[:3] for result in response.results))
                assert response.total_matches == 20
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for turn in range(60):
        registry.replace(NEW if turn % 2 == 0 else OLD, server="chat")
        searcher.search("word")
    done.set()
    for thread in threads:
        thread.join()
    assert not faults
    assert set(seen) <= {frozenset({"old"}), frozenset({"new"})}


def test_a_searcher_follows_its_registry() -> None:
    """A tool that is added is found by the next search, one that is removed is not."""
    registry = ToolRegistry([])
    searcher = Searcher(registry)
    assert searcher.search("send").results == ()
    registry.add(Tool(name="send_message"))
    assert [result.name for result in searcher.search("send").results] == ["send_message"]
    registry.remove("send_message")
    assert searcher.search("send").results == ()


def test_a_searcher_over_a_snapshot_stays_as_it_is() -> None:
    """A later change of the registry never reaches a snapshot's searcher."""
    registry = ToolRegistry([Tool(name="send_message")])
    searcher = Searcher(registry.snapshot())
    registry.remove("send_message")
    assert [result.name for result in searcher.search("send").results] == ["send_message"]


def test_the_reference_ranking_follows_the_order_of_the_catalog() -> None:
    """Ties of the reference ranking stand in catalog order, also after only that order has changed."""
    registry = ToolRegistry([Tool(name="a_tool", description="word"), Tool(name="b_tool", description="word")])
    searcher = Searcher(registry, REFERENCE)
    assert [result.name for result in searcher.search("word").results] == ["a_tool", "b_tool"]
    registry.remove("a_tool")
    registry.add(Tool(name="a_tool", description="word"))
    assert [result.name for result in searcher.search("word").results] == ["b_tool", "a_tool"]


def test_many_threads_get_the_answers_of_one() -> None:
    """Searches that run at the same time don't disturb each other."""
    tools = [Tool(name=f"tool_{number}", description=f"creating files number{number}") for number in range(200)]
    searcher = Searcher(tools, store=IndexStore())
    asked = [f"create file number{number}" for number in range(200)]
    expected = [searcher.search(query) for query in asked]
    got: dict[int, list[object]] = {}

    def search(place: int) -> None:
        got[place] = [searcher.search(query) for query in asked]

    threads = [threading.Thread(target=search, args=(place,)) for place in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(got[place] == expected for place in range(6))
