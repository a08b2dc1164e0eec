from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.config import REFERENCE, SearchConfig
from toolsearch.search.reference.plain import PlainReference
from toolsearch.search.reference.ranker import ReferenceRanker
from toolsearch.search.searcher import Searcher

Strategy = st.SearchStrategy
Catalog = tuple[list[Tool], list[Tool]]

TOOLS = [
    Tool(name="mcp__chat__send_message", server="chat", description="Send a message to a channel."),
    Tool(name="mcp__chat__list_channels", server="chat", description="List the channels."),
    Tool(name="mcp__mail__send_message", server="mail", description="Send a message to a person."),
    Tool(name="mcp__mail__read_inbox", server="mail", description="Read what came in."),
    Tool(name="SendReport", description="Send a report to the team."),
    Tool(name="Read", description="Read a file."),
]


@pytest.fixture(scope="module")
def searcher() -> Searcher:
    """Two servers with a tool of one name, a built-in and a loaded tool."""
    return Searcher(TOOLS, REFERENCE)


@given(data=st.data())
def test_the_results_are_the_merged_list_without_loaded_tools(
    data: st.DataObject, searches: Strategy[tuple[Catalog, str]], configs: Strategy[SearchConfig]
) -> None:
    """Names and scores are those of the plain loop; what is not listed but matches is counted and told as cut."""
    (deferred, tools), query = data.draw(searches)
    config, limit = data.draw(configs), data.draw(st.integers(1, 6))
    server = data.draw(st.sampled_from([None, "chat", "read"]))
    answer = ReferenceRanker(deferred, tools, config).answer(query, limit, server, False)
    merged = PlainReference(deferred, tools, config).hybrid(query, limit, server)
    expected = [(tool.name, score) for tool, score in merged if tool in deferred]
    assert [(result.name, result.score) for result in answer.results] == expected
    assert [result.rank for result in answer.results] == list(range(1, len(expected) + 1))
    assert answer.total_matches >= len(expected)
    assert answer.truncated == (answer.total_matches > len(expected))
    assert answer.low_confidence == (not expected)
    assert answer.total_matches <= sum(server is None or tool.server == server for tool in deferred)


@given(data=st.data())
def test_a_filter_gives_that_servers_tools_alone_and_all_of_those_that_match(
    data: st.DataObject, searches: Strategy[tuple[Catalog, str]]
) -> None:
    """Without a cut, a filtered search lists exactly the tools of the server that an unfiltered search lists.

    Only where the query is a name or begins names the two differ: the arm answers with other servers' names alone.
    """
    (deferred, tools), query = data.draw(searches)
    server = data.draw(st.sampled_from(["chat", "mail-box", "read"]))
    made = ReferenceRanker(deferred, tools, REFERENCE)
    every, filtered = made.answer(query, 50, None, False), made.answer(query, 50, server, False)
    assert all(tool.server == server for tool in deferred if tool.name in {found.name for found in filtered.results})
    lowered = query.strip().lower()
    if lowered.startswith("mcp__") or any(tool.name.lower() == lowered.strip("\ufeff ") for tool in tools):
        return
    own = {tool.name for tool in deferred if tool.server == server}
    assert {found.name for found in filtered.results} == {found.name for found in every.results} & own


@pytest.mark.parametrize(
    ("query", "server", "names", "total"),
    [
        ("send message", None, ["mcp__chat__send_message", "mcp__mail__send_message", "SendReport"], 3),
        ("send message", "chat", ["mcp__chat__send_message"], 1),
        ("send message", "mail", ["mcp__mail__send_message"], 1),
        ("channels", "chat", ["mcp__chat__list_channels", "mcp__chat__send_message"], 2),
        ("channels", "mail", [], 0),
        ("send message", "cha", [], 0),
        ("send message", "CHAT", [], 0),
        ("send message", "", [], 0),
        ("mcp__", "mail", [], 0),
        ("mcp__mail__", None, ["mcp__mail__send_message", "mcp__mail__read_inbox"], 2),
        ("mcp__mail__", "mail", ["mcp__mail__send_message", "mcp__mail__read_inbox"], 2),
        ("mcp__mail__", "chat", [], 0),
        ("mcp__mail__read_inbox", None, ["mcp__mail__read_inbox"], 1),
        ("mcp__mail__read_inbox", "mail", ["mcp__mail__read_inbox"], 1),
        ("mcp__mail__read_inbox", "chat", [], 0),
    ],
)
def test_a_filter_is_exact(searcher: Searcher, query: str, server: str | None, names: list[str], total: int) -> None:
    """Only tools of that very server are results, and only they are counted; names and their beginnings obey too."""
    answer = searcher.search(query, server=server)
    assert sorted(result.name for result in answer.results) == sorted(names)
    assert (answer.total_matches, answer.truncated) == (total, False)


@pytest.mark.parametrize(
    ("query", "options", "total"),
    [
        ("send", {"max_results": 1}, 3),
        ("send", {"max_results": 1, "server": "mail"}, 1),
        ("+message send", {"max_results": 1}, 2),
        ("+message +person send", {"max_results": 1}, 1),
        ("mcp__chat__", {"max_results": 1}, 2),
        ("inbox channels report", {"max_results": 2}, 4),
        ("read", {"max_results": 2}, 1),
        ("to the", {"max_results": 1}, 4),
        ("+to send", {"max_results": 1}, 3),
        ("zebra", {}, 0),
        ("", {}, 0),
        ("the inbox", {"max_results": 1}, 1),
        ("the inbox", {}, 3),
    ],
)
def test_all_that_match_are_counted_after_both_filters(
    searcher: Searcher, query: str, options: dict[str, object], total: int
) -> None:
    """Tools with a word of the query that is no stop word, or with all `+` words; a query of stop words counts by them.

    `to the`: both `send_message` say "to a", `SendReport` "to the", `list_channels` "the". `channels`: a channel of
    `send_message` is the same term. `the inbox`: uncut, the keyword arm lists two tools for "the", so they count.
    """
    answer = searcher.search(query, **options)  # type: ignore[arg-type]
    assert answer.total_matches == total
    assert answer.truncated == (total > len(answer.results))


def test_listed_tools_that_lack_a_required_word_are_counted_too(searcher: Searcher) -> None:
    """The TF-IDF arm knows no `+`, as observed: what it lists counts, so the count is never below the list."""
    answer = searcher.search("+zebra inbox")
    assert [result.name for result in answer.results] == ["mcp__mail__read_inbox"]
    assert (answer.total_matches, answer.truncated) == (1, False)


@pytest.mark.parametrize("server", [None, "mail"])
def test_a_loaded_tool_that_is_named_is_told_whatever_the_filter(searcher: Searcher, server: str | None) -> None:
    """`Read` is loaded: it is no result, the answer says that it is loaded, and the inbox keeps rank 1."""
    answer = searcher.search("READ", server=server)
    assert answer.already_loaded == ("Read",)
    assert [(result.name, result.rank) for result in answer.results] == [("mcp__mail__read_inbox", 1)]


def test_a_filter_leaves_the_keyword_arm_to_the_servers_tools(searcher: Searcher) -> None:
    """Without a filter the loaded `Read` is the whole keyword list; with one, the server's own tools are its list."""
    [everywhere] = searcher.search("read").results
    [filtered] = searcher.search("read", server="mail").results
    assert everywhere.arms["keyword"] == 0.0
    assert filtered.arms["keyword"] == 0.4
    assert filtered.arms["tfidf"] == everywhere.arms["tfidf"]


def test_an_unknown_server_is_told_with_near_names(searcher: Searcher) -> None:
    """A filter that no server of the catalog meets is said to be unknown."""
    answer = searcher.search("send", server="chta")
    assert answer.results == ()
    [warning] = answer.warnings
    assert "chta" in warning
    assert "chat" in warning


def test_an_empty_catalog_answers_with_nothing() -> None:
    """No tools, no results, no error."""
    answer = ReferenceRanker([], [], REFERENCE).answer("send +message", 5, None, True)
    assert (answer.results, answer.total_matches, answer.truncated) == ((), 0, False)
