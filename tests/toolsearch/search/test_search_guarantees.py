from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.search.analysis.standard import fold, split_identifier, stem
from toolsearch.search.query import written_as_identifier
from toolsearch.search.searcher import Searcher

Strategy = st.SearchStrategy


def letters(text: str) -> str:
    """What is left of a name when only its letters and digits count."""
    return "".join(character for character in fold(text) if character.isalnum())


def terms_of(tool: Tool) -> set[str]:
    """The stemmed words of a tool's name, server, hint, description and parameter names."""
    schema = tool.input_schema or {}
    texts = [
        tool.leaf,
        tool.server or "",
        tool.search_hint or "",
        tool.description or "",
        *schema.get("properties", {}),
    ]
    found: set[str] = set()
    for text in texts:
        for chunk in text.replace(".", " ").split():
            found |= {stem(piece) for piece in split_identifier(chunk)}
    return found | {piece for text in texts for piece in ("发送", "消息") if piece in text}


def first_names(query: str, catalog: list[Tool], config: SearchConfig, limit: int) -> list[tuple[str, str]]:
    """Names and reasons of the results."""
    response = Searcher(catalog, config).search(query, max_results=limit)
    return [(result.name, result.reason) for result in response.results]


@given(data=st.data())
def test_a_required_word_is_in_every_result_whatever_the_weights(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], queries: Strategy[str]
) -> None:
    """Every result has all parts of every required word, and every tool that has them is counted."""
    catalog, config = data.draw(catalogs), data.draw(configs)
    word = data.draw(st.sampled_from(["send", "messages", "list_file", "the", "webpage", "发送", "do"]))
    query = f"{data.draw(queries)} +{word}"
    response = Searcher(catalog, config).search(query, max_results=50)
    required = [piece[1:] for piece in query.split() if piece.startswith("+")]
    parts = {stem(part) for text in required for part in split_identifier(text)} - {stem("发送消息"), "发送消息"}
    having = {tool.name for tool in ToolRegistry(catalog).deferred() if parts <= terms_of(tool)}
    names = {result.name for result in response.results}
    if "+发送消息" in query:
        assert names <= having
    elif "webpage" not in required:
        assert names == having
        assert response.total_matches == len(having)
    else:
        # A tool may also hold the closed form of two neighbouring words.
        rest = parts - {stem("webpage")}
        assert all(rest <= terms_of(tool) for tool in ToolRegistry(catalog).deferred() if tool.name in names)


@given(data=st.data(), limit=st.integers(1, 8))
def test_a_whole_name_comes_first_whatever_the_weights(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], limit: int
) -> None:
    """A query that is a tool's name, alias or leaf name has all such tools first, in any spelling."""
    catalog = data.draw(catalogs.filter(bool))
    chosen = data.draw(st.sampled_from(catalog))
    if data.draw(st.booleans()):
        catalog.append(Tool(name="zz_alias", aliases=(chosen.leaf,)))
    spelling = data.draw(st.sampled_from(["{}", " {} ", '"{}"', "'{}'", "“{}”"])).format(chosen.leaf)
    spelling = data.draw(st.sampled_from([spelling, spelling.upper(), spelling.title()]))
    snapshot = ToolRegistry(catalog).snapshot()
    wanted = letters(chosen.leaf)
    having = {
        tool.name
        for tool in snapshot.deferred
        if wanted in {letters(name) for name in (tool.name, tool.leaf, *tool.aliases)}
    }
    results = first_names(spelling, catalog, data.draw(configs), limit)
    expected = min(limit, len(having))
    assert {name for name, _ in results[:expected]} <= having
    assert {reason for _, reason in results[:expected]} <= {"exact_name", "leaf_name"}
    assert not having & {name for name, _ in results[expected:]}


@given(data=st.data(), limit=st.integers(1, 8))
def test_several_names_are_all_in_the_result_whatever_the_weights(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], limit: int
) -> None:
    """A query of names alone gives exactly those tools first."""
    catalog = data.draw(catalogs.filter(lambda tools: len(tools) > 1))
    snapshot = ToolRegistry(catalog).snapshot()
    chosen = data.draw(st.lists(st.sampled_from(snapshot.deferred), min_size=2, max_size=4, unique_by=lambda t: t.name))
    separator = data.draw(st.sampled_from([",", ", ", " ", "\n", "，", " ; "]))
    query = separator.join(tool.leaf for tool in chosen)
    results = first_names(query, catalog, data.draw(configs), limit)
    wanted = {letters(tool.leaf) for tool in chosen}
    having = {tool.name for tool in snapshot.deferred if wanted & {letters(tool.name), letters(tool.leaf)}}
    whole = {
        tool.name
        for tool in snapshot.deferred
        if letters(query) in {letters(tool.name), letters(tool.leaf)} and tool.name not in having
    }
    first = len(having | whole)
    assert {name for name, _ in results[:first]} <= having | whole
    assert len(results) >= min(limit, first)


@given(data=st.data())
def test_names_written_as_identifiers_are_in_the_result_of_a_longer_query(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]]
) -> None:
    """A piece with `_`, `.`, `-` or an inner capital that is a name is in the result, before what only scores."""
    catalog = data.draw(catalogs.filter(bool))
    chosen = data.draw(st.sampled_from(catalog))
    query = f"please zzz {chosen.leaf}, file qqq"
    results = first_names(query, catalog, data.draw(configs), 50)
    named = {name for name, reason in results if reason == "named"}
    snapshot = ToolRegistry(catalog).snapshot()
    having = {
        tool.name for tool in snapshot.deferred if letters(chosen.leaf) in {letters(tool.name), letters(tool.leaf)}
    }
    assert named == (having if written_as_identifier(chosen.leaf) else set())
    assert [reason for _, reason in results] == sorted(reason for _, reason in results)


@given(data=st.data(), limit=st.integers(1, 8))
def test_a_servers_name_gives_its_tools_sorted_whatever_the_weights(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], limit: int
) -> None:
    """A query that is a server's name has that server's tools first, in the order of their names."""
    catalog = data.draw(catalogs)
    snapshot = ToolRegistry(catalog).snapshot()
    for query, server in (("chat", "chat"), (" MAIL ", "mail"), ("web_page", "web page"), ("webpage", "web page")):
        names = sorted(
            tool.name
            for tool in snapshot.deferred
            if tool.server == server and letters(query) not in {letters(tool.name), letters(tool.leaf)}
        )
        whole = {tool.name for tool in snapshot.deferred if letters(query) in {letters(tool.name), letters(tool.leaf)}}
        results = first_names(query, catalog, data.draw(configs), limit)
        assert [name for name, reason in results if reason == "server"] == names[: max(0, limit - len(whole))]
        assert {name for name, _ in results[: len(whole)]} <= whole


@given(data=st.data(), seed=st.integers(0, 9))
def test_catalog_order_changes_nothing(
    data: st.DataObject,
    configs: Strategy[SearchConfig],
    catalogs: Strategy[list[Tool]],
    queries: Strategy[str],
    seed: int,
) -> None:
    """A shuffled catalog gives the same response, to the last bit."""
    catalog, config, query = data.draw(catalogs), data.draw(configs), data.draw(queries)
    shuffled = random.Random(seed).sample(catalog, len(catalog))
    once, again = Searcher(catalog, config), Searcher(shuffled, config)
    assert once.search(query, explain=True) == again.search(query, explain=True)


@given(data=st.data())
def test_results_stand_by_reason_then_score_then_name(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], queries: Strategy[str]
) -> None:
    """Scored results fall by score and ties stand by name; ranks count from 1; scores lie in 0..1, rounded to 1e-9."""
    searcher = Searcher(data.draw(catalogs), data.draw(configs))
    results = searcher.search(data.draw(queries), max_results=50).results
    scored = [(-result.score, result.name) for result in results if result.reason == "score"]
    assert scored == sorted(scored)
    order = ["exact_name", "leaf_name", "named", "server", "score"]
    assert [order.index(result.reason) for result in results] == sorted(order.index(r.reason) for r in results)
    assert [result.rank for result in results] == list(range(1, len(results) + 1))
    assert all(0.0 <= result.score <= 1.0 and result.score == round(result.score, 9) for result in results)


_SCRIPT = """
import json
from toolsearch.catalog.tool import Tool
from toolsearch.search.searcher import Searcher
names = ["send_message", "sendFile", "message_list", "list-files", "web.page", "webpage", "fileServer", "pageServer"]
tools = [Tool(name=name, server=server, description=f"{name} of {server} sends a web page")
         for server in ("chat", "mail", "files") for name in names]
searcher = Searcher(tools)
answers = [searcher.search(query, max_results=20, explain=True)
           for query in ("send message", "webpage", "chat", "send_message, sendFile", "+server page", "the files")]
print(json.dumps([[(r.name, r.score, r.reason, [(p.arm, p.field, p.term, p.value) for p in r.parts])
                   for r in answer.results] for answer in answers]))
"""


def test_the_hash_seed_changes_nothing() -> None:
    """Processes with different hash seeds give the same names, scores and parts."""
    answers = []
    for seed in ("0", "1", "4711"):
        run = subprocess.run(
            [sys.executable, "-c", _SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        answers.append(json.loads(run.stdout))
    assert answers[0] == answers[1] == answers[2]
    assert all(answers[0])


def test_the_guarantees_stand_in_their_order() -> None:
    """The filter goes before a name, a whole name before several names, those before a server's name."""
    catalog = [
        Tool(name="chat", description="talk"),
        Tool(name="send", server="chat", description="message"),
        Tool(name="list", server="chat", description="message"),
        Tool(name="chat_send", description="both at once"),
    ]
    assert first_names("chat", catalog, DEFAULT, 5) == [
        ("chat", "exact_name"),
        ("list", "server"),
        ("send", "server"),
        ("chat_send", "score"),
    ]
    whole, *several = first_names("chat send", catalog, DEFAULT, 5)
    assert whole == ("chat_send", "exact_name")
    assert {pair for pair in several if pair[1] == "named"} == {("chat", "named"), ("send", "named")}
    assert first_names("+message chat", catalog, DEFAULT, 5) == [("list", "score"), ("send", "score")]
    assert first_names("+talk chat", catalog, DEFAULT, 5) == [("chat", "score")]
    assert first_names("+chat", catalog, DEFAULT, 5)[0] == ("chat", "exact_name")


def test_every_server_that_has_the_leaf_is_listed_and_the_rest_counted() -> None:
    """Six servers with one leaf name fill a list of five, and the sixth is counted."""
    catalog = [Tool(name="send", server=f"server{number}") for number in range(6)] + [Tool(name="sender_tool")]
    response = Searcher(catalog).search("send", max_results=5)
    assert {result.reason for result in response.results} == {"leaf_name"}
    assert len(response.results) == 5
    assert response.total_matches >= 6
    assert response.truncated


def test_the_exact_spelling_stands_before_a_spelling_that_only_splits_alike() -> None:
    """`todo.add` finds `todo.add` before `todo_add`, and the other way round."""
    catalog = [Tool(name="todo_add"), Tool(name="todo.add"), Tool(name="todoAdd")]
    for tool in catalog:
        assert first_names(tool.name, catalog, DEFAULT, 5)[0] == (tool.name, "exact_name")
        assert len(first_names(tool.name, catalog, DEFAULT, 5)) == 3


@pytest.mark.parametrize("name", ["++", "+add", "c++", "🎉", "$", "發", "กิ"])
def test_a_name_of_any_characters_is_found_by_its_spelling(name: str) -> None:
    """A name without letters, or with a plus sign, is found to the letter."""
    catalog = [Tool(name=name), Tool(name="c"), Tool(name="add"), Tool(name="ก")]
    assert first_names(name, catalog, DEFAULT, 5)[0] == (name, "exact_name")


def test_a_plain_word_inside_a_longer_query_is_no_name() -> None:
    """A tool called `search` is not put first by every query that says search."""
    catalog = [Tool(name="search"), Tool(name="find_flight", description="search flights to a city")]
    results = first_names("search flights to Rome", catalog, DEFAULT, 5)
    assert results[0] == ("find_flight", "score")
    assert all(reason == "score" for _, reason in results)


def test_loaded_tools_are_names_of_the_catalog_too() -> None:
    """A list of names that mixes loaded and deferred tools names the deferred ones and reports the loaded ones."""
    catalog = [Tool(name="Read"), Tool(name="snip"), Tool(name="other", description="read snip")]
    response = Searcher(catalog).search("Read, snip")
    assert (response.results[0].name, response.results[0].reason) == ("snip", "named")
    assert response.already_loaded == ("Read",)


def test_loaded_tools_keep_their_names_when_the_order_of_the_catalog_changes() -> None:
    """Two catalogs of one content and another order report the same loaded tool."""
    registry = ToolRegistry([Tool(name="Read"), Tool(name="Edit"), Tool(name="snip")])
    searcher = Searcher(registry)
    assert searcher.search("Read").already_loaded == ("Read",)
    registry.remove("Read")
    registry.add(Tool(name="Read"))
    assert searcher.search("Read").already_loaded == ("Read",)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("+srv1", ["srv1"]),
        ("+srv10", ["srv10"]),
        ("+srv", ["srv1", "srv10"]),
        ("+files", ["by_name"]),
        ("+file +delete", ["by_name"]),
        ("+delete_file", ["by_name"]),
        ("+deleteFiles", ["by_name"]),
        ("+channel", ["by_parameter"]),
        ("+hidden", ["by_hint"]),
        ("+telegram", ["by_server"]),
        ("+the", ["by_text"]),
        ("+send_to", ["by_text"]),
        ("+secret", []),
        ("+nowhere", []),
        ("+発", []),
        ("+发送", ["han"]),
        ("+发", ["han"]),
        ("＋发送", ["han"]),
    ],
)
def test_a_required_word_is_held_against_the_fields_that_count(query: str, expected: list[str]) -> None:
    """Name, server, hint, description and parameter names count as whole stemmed terms; parameter texts don't."""
    schema = {"type": "object", "properties": {"channel": {"type": "string", "description": "the secret"}}}
    catalog = [
        Tool(name="srv1"),
        Tool(name="srv10"),
        Tool(name="by_name", aliases=("deleteFile",)),
        Tool(name="by_hint", search_hint="hidden words"),
        Tool(name="by_server", server="telegram"),
        Tool(name="by_text", description="We send it to the user"),
        Tool(name="by_parameter", input_schema=schema),
        Tool(name="han", description="发送消息"),
    ]
    assert sorted(name for name, _ in first_names(query, catalog, DEFAULT, 10)) == expected


def test_a_plus_sign_alone_requires_nothing() -> None:
    """`+` without a word behind it, or before signs alone, is no filter."""
    catalog = [Tool(name="send_message")]
    for query in ("+ send", "send +", "+!!! send", "+- send"):
        assert [name for name, _ in first_names(query, catalog, DEFAULT, 5)] == ["send_message"]


def test_a_regex_query_is_plain_text() -> None:
    """A query that begins `regex:` is words like any other; a pattern is never compiled."""
    catalog = [Tool(name="regex_test"), Tool(name="send_message")]
    assert [name for name, _ in first_names("regex:^send.*(", catalog, DEFAULT, 5)] == ["regex_test", "send_message"]
    assert first_names("regex:(a+)+$", catalog, DEFAULT, 5)[0][0] == "regex_test"


@pytest.mark.parametrize(
    ("server", "expected"), [("chat", ["a"]), ("chat2", ["b"]), ("Chat", []), ("", []), ("cha", [])]
)
def test_the_server_filter_is_exact(server: str, expected: list[str]) -> None:
    """Only tools of the very server are results, whatever the query names; the count follows the filter."""
    catalog = [Tool(name="a", server="chat"), Tool(name="b", server="chat2"), Tool(name="c")]
    for query in ("a, b, c", "a b c chat"):
        response = Searcher(catalog).search(query, server=server)
        assert [result.name for result in response.results] == expected
        assert response.total_matches == len(expected)
        assert bool(response.warnings) == (server not in ("chat", "chat2"))
