from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.search import index as index_module
from toolsearch.search.arms import posting_values
from toolsearch.search.fields import field_texts
from toolsearch.search.index import Index, IndexStore, build
from toolsearch.search.searcher import Searcher

Strategy = st.SearchStrategy


def content(index: Index) -> list[tuple[str, str, int, float]]:
    """What an index holds, without the numbers of its terms: term, tool, field, count."""
    terms = {number: term for term, number in index.vocabulary.numbers.items()}
    return sorted(
        (terms[int(key) >> 32], index.tools[(int(key) >> 3) & (2**29 - 1)].name, int(key) & 7, float(count))
        for key, count in zip(index.keys, index.counts, strict=True)
    )


@given(data=st.data())
def test_a_refreshed_index_equals_a_fresh_one(
    data: st.DataObject,
    configs: Strategy[SearchConfig],
    catalogs: Strategy[list[Tool]],
    tools: Strategy[Tool],
    queries: Strategy[str],
) -> None:
    """After any sequence of additions, removals and replacements results and scores are those of a new searcher."""
    config = data.draw(configs)
    registry = ToolRegistry(data.draw(catalogs))
    searcher = Searcher(registry, config, store=IndexStore())
    for _ in range(data.draw(st.integers(1, 5))):
        present = registry.deferred()
        action = data.draw(st.sampled_from(["add", "remove", "replace", "server"]))
        fresh = data.draw(tools)
        held = {(tool.server, tool.leaf) for tool in present}
        if action == "add" and (fresh.server, fresh.leaf) not in held:
            registry.add(fresh)
        elif action == "remove" and present:
            registry.remove(data.draw(st.sampled_from(present)).name)
        elif action == "replace" and present:
            old = data.draw(st.sampled_from(present))
            registry.replace(replace(old, name=old.leaf, description=fresh.description, search_hint=fresh.search_hint))
        elif action == "server" and fresh.server:
            registry.replace([fresh], server=fresh.server)
        query = data.draw(queries)
        new = Searcher(registry.snapshot(), config, store=IndexStore())
        assert searcher.search(query, max_results=50, explain=True) == new.search(query, max_results=50, explain=True)


@given(data=st.data())
def test_a_refreshed_index_holds_the_same_entries(data: st.DataObject, catalogs: Strategy[list[Tool]]) -> None:
    """Terms, tools, fields, counts, lengths and the worth of postings are those of a build from nothing."""
    before = Searcher(data.draw(catalogs)).snapshot().deferred
    after = Searcher(data.draw(catalogs)).snapshot().deferred
    old = build(before, "before")
    held = content(old)
    refreshed, fresh = build(after, "after", previous=old), build(after, "after")
    assert content(refreshed) == content(fresh)
    assert refreshed.lengths.tolist() == fresh.lengths.tolist()
    assert sorted(posting_values(refreshed, DEFAULT).tfidf) == sorted(posting_values(fresh, DEFAULT).tfidf)
    assert content(old) == held


def test_a_refresh_reads_the_changed_tools_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """When one of a hundred tools changes, the texts of that one alone are read."""
    registry = ToolRegistry(Tool(name=f"tool_{number}", description="words") for number in range(100))
    searcher = Searcher(registry, store=IndexStore())
    searcher.search("words")
    read: list[str] = []

    def counted(tool: Tool) -> tuple[str, str, str, str, str, str]:
        read.append(tool.name)
        return field_texts(tool)

    monkeypatch.setattr(index_module, "field_texts", counted)
    registry.replace(Tool(name="tool_7", description="other"))
    assert [result.name for result in searcher.search("other").results] == ["tool_7"]
    assert read == ["tool_7"]
    registry.remove("tool_8")
    assert searcher.search("words", max_results=50).total_matches == 98
    assert read == ["tool_7"]


def test_concurrent_cold_searches_build_once() -> None:
    """Sixteen threads that search a new catalog at once share one build."""
    store = IndexStore()
    catalog = ToolRegistry(Tool(name=f"tool_{number}", description="some words") for number in range(300)).snapshot()
    gate = threading.Barrier(16)
    answers = []

    def search() -> None:
        searcher = Searcher(catalog, store=store)
        gate.wait()
        answers.append(searcher.search("tool 7"))

    threads = [threading.Thread(target=search) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 16
    assert all(answer == answers[0] for answer in answers)
    assert store.builds == {catalog.fingerprint: 1}


def test_sessions_of_one_catalog_share_one_index() -> None:
    """Two searchers over equal catalogs, in any order, build one index between them."""
    store = IndexStore()
    tools = [Tool(name="a_b", description="one"), Tool(name="c_d", description="two")]
    first, second = Searcher(tools, store=store), Searcher(tools[::-1], store=store)
    assert first.search("one").results == second.search("one").results
    assert sum(store.builds.values()) == 1


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt, MemoryError])
def test_a_build_that_fails_or_is_cancelled_leaves_the_old_index(
    fault: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old catalog can still be searched, and the next search of the new one builds again."""
    store = IndexStore()
    registry = ToolRegistry([Tool(name="old_tool", description="words")])
    searcher = Searcher(registry, store=store)
    old = registry.snapshot()
    before = searcher.search("words")

    def failing(tool: Tool) -> tuple[str, str, str, str, str, str]:
        raise fault("no")

    registry.add([Tool(name="new_tool", description="words"), Tool(name="other", description="harbour cranes")])
    with monkeypatch.context() as patch:
        patch.setattr(index_module, "field_texts", failing)
        with pytest.raises(fault):
            searcher.search("words")
        assert Searcher(old, store=store).search("words") == before
    after = searcher.search("words")
    assert [result.name for result in after.results] == ["new_tool", "old_tool"]
    assert after == Searcher(registry.snapshot(), store=IndexStore()).search("words")


def test_an_index_is_not_changed_by_its_successor() -> None:
    """A search over an old snapshot stays as it was after a newer one was built on top of it."""
    store = IndexStore()
    registry = ToolRegistry([Tool(name="a_tool", description="words")])
    searcher = Searcher(registry, store=store)
    old = registry.snapshot()
    before = searcher.search("words", explain=True)
    registry.add(Tool(name="b_tool", description="words and more words zebra"))
    assert searcher.search("zebra").results[0].name == "b_tool"
    again = Searcher(old, store=store)
    assert again.search("words", explain=True) == before
    assert again.search("zebra").results == ()


def test_a_store_keeps_the_last_indexes_only() -> None:
    """Old fingerprints fall out of a full store, the least recently used first."""
    store = IndexStore(capacity=2)
    built: list[str] = []

    def make(fingerprint: str) -> Index:
        built.append(fingerprint)
        return build([], fingerprint)

    for fingerprint in ("a", "b", "a", "c", "a", "b"):
        store.get(fingerprint, lambda fingerprint=fingerprint: make(fingerprint))  # type: ignore[misc]
    assert built == ["a", "b", "c", "b"]


def test_there_is_no_size_cap() -> None:
    """The last of twenty thousand tools is found like the first."""
    tools = [Tool(name=f"tool_{number}", description=f"unique{number}x words") for number in range(20_000)]
    searcher = Searcher(tools, store=IndexStore())
    for number in (0, 19_999):
        assert searcher.search(f"unique{number}x").results[0].name == f"tool_{number}"
    assert searcher.search("words").total_matches == 20_000
