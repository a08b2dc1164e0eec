from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import pytest

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.search.searcher import Searcher
from toolsearch.tools.found import SearchAnswer
from toolsearch.tools.search_tool import SearchTool
from toolsearch.tools.servers import ServerState, ServerStatus
from toolsearch.tools.wording import usage_guidance

KIT = [
    Tool(name="mcp__kit__alpha", server="kit", description="Alpha rays."),
    Tool(name="mcp__kit__alphabet", server="kit", description="Letters, alpha to omega."),
    Tool(name="alpha_plain", description="Alpha without a server."),
    Tool(name="calendar_event_create", description="Put an event into the calendar."),
]


def ask(
    query: Any, tools: list[Tool] = KIT, *, servers: Mapping[str, ServerStatus] | None = None, **arguments: Any
) -> SearchAnswer:
    """The answer to a query over some tools and servers."""
    states = servers or {}
    tool = SearchTool(Searcher(ToolRegistry(tools)), servers=lambda: states)
    return tool.call({"query": query, **arguments})


NOTHING_TO_SEARCH = [
    ("", "The query is empty. Type what the tool should do"),
    ("  \n ", "The query is empty."),
    ("\x00\u200b", "The query is empty."),
    ("+", "A plus needs a word right after it"),
    (" + + ", "A plus needs a word right after it"),
    ("the of and", '"the of and" holds only words that say nothing about a tool.'),
    ("+the of", "holds only words that say nothing about a tool."),
    ("me", '"me" holds only words that say nothing about a tool.'),
    ("???", '"???" holds no word to search for.'),
    ("🎈", "holds no word to search for."),
    ("select:", "select: needs names after it, such as select:NAME"),
    ("select: , ", "select: needs names after it"),
    ("discover:  ", "discover: needs words after it."),
    ("discover:the", "holds only words that say nothing about a tool."),
    ("list:", "list: needs the name of a server after it.\nServers and their numbers of tools: kit (2)."),
    (None, "Nothing was searched: `query` is missing"),
    (5, "Nothing was searched: `query` is 5"),
]


@pytest.mark.parametrize(("query", "line"), NOTHING_TO_SEARCH, ids=[repr(row[0]) for row in NOTHING_TO_SEARCH])
def test_a_call_without_anything_to_search_says_what_to_type(query: Any, line: str) -> None:
    """The answer is flagged as an error, has no results, and says what is missing and how to write it."""
    answer = ask(query)
    assert line in answer.text
    assert (answer.results, answer.is_error, answer.discovered, answer.total_deferred) == ((), True, (), 4)


def test_a_small_word_that_is_part_of_a_name_is_searched() -> None:
    """A stop word alone finds the tool that has it in its name; a name made of stop words is found whole."""
    tools = [Tool(name="forge_get_me"), Tool(name="forge_list", description="Give it to me."), Tool(name="who_am_i")]
    assert [tool.name for tool in ask("me", tools).results] == ["forge_get_me"]
    assert [tool.name for tool in ask("who am i", tools).results] == ["who_am_i"]


def test_a_name_without_letters_can_be_found() -> None:
    """A query that holds no word is still looked up as a name."""
    assert [tool.name for tool in ask("???", [Tool(name="???"), Tool(name="x")]).results] == ["???"]


def test_nothing_found_says_what_was_searched_and_what_to_do() -> None:
    """The answer counts the deferred tools, names look-alikes, says how to rephrase, and lists no catalog."""
    answer = ask("clander")
    assert (answer.results, answer.is_error, answer.low_confidence) == ((), False, True)
    assert 'Nothing was found for "clander" among 4 deferred tools; names, servers, hints, descriptions' in answer.text
    assert "Rephrase once" in answer.text
    assert "not available" in answer.text
    lonely = ask("zqxzqx")
    assert not any(tool.name in lonely.text for tool in KIT)


def test_nothing_found_names_tools_that_look_alike() -> None:
    """A word too far from any to be taken for a slip of the finger suggests the names that look like it."""
    answer = ask("alfabett", [*KIT, Tool(name="beta")])
    assert answer.results == ()
    assert "Names that look alike: mcp__kit__alphabet" in answer.text


def test_an_empty_catalog_is_said() -> None:
    """Without any deferred tool the answer says so, instead of asking for other words."""
    answer = ask("knowledge", [Tool(name="Read")])
    assert (answer.results, answer.total_deferred) == ((), 0)
    assert answer.text == "Nothing was found: there are no deferred tools to search now."


STATES: list[tuple[ServerState, str, str]] = [
    ("pending", "Still connecting: hive (no answer yet).", "try again in a moment"),
    ("failed", "Failed to connect: hive (no answer yet).", "not available"),
    ("disconnected", "Disconnected for now: hive (no answer yet).", "until they are back"),
    ("disabled", "Disabled: hive (no answer yet).", "Only the operator"),
]


@pytest.mark.parametrize(("state", "line", "advice"), STATES, ids=[row[0] for row in STATES])
def test_a_server_that_is_not_there_is_named_where_nothing_was_found(
    state: ServerState, line: str, advice: str
) -> None:
    """A search that may have missed a server's tools says which server, how it stands, why, and what to do."""
    servers = {"hive": ServerStatus(state, "no answer yet"), "kit": ServerStatus("connected")}
    for query in ("knowledge", "select:hive_search", "list:hive"):
        answer = ask(query, servers=servers)
        assert line in answer.text
        assert advice in answer.text
    fields = {
        "pending": answer.pending_servers,
        "failed": answer.failed_servers,
        "disconnected": answer.failed_servers,
        "disabled": answer.disabled_servers,
    }
    assert fields[state] == ("hive",)
    assert "hive" not in ask("alpha rays", servers=servers).text


@pytest.mark.parametrize("state", ["pending", "failed", "disconnected", "disabled"])
def test_tools_of_a_server_that_is_not_there_are_not_given(state: ServerState) -> None:
    """They are no results, counted nowhere, named as unavailable when selected, and said to match when they do."""
    servers = {"kit": ServerStatus(state)}
    answer = ask("alpha", servers=servers)
    assert [tool.name for tool in answer.results] == ["alpha_plain"]
    assert [tool.rank for tool in answer.results] == [1]
    assert (answer.total_matches, answer.total_deferred, answer.truncated) == (1, 2, False)
    assert "matching tools of kit" in answer.text
    selected = ask("select:mcp__kit__alpha,alpha_plain", servers=servers)
    assert [tool.name for tool in selected.results] == ["alpha_plain"]
    assert [(each.reason, each.server) for each in selected.missing] == [("unavailable", "kit")]
    assert '"mcp__kit__alpha" belongs to server kit, which is not connected now.' in selected.text
    [near] = ask("select:mcp__kit__alpa", servers=servers).missing
    assert not any(name.startswith("mcp__kit") for name in near.suggestions)
    assert ask("list:kit", servers=servers).results == ()
    assert [tool.name for tool in ask("select:alpha", servers=servers).results] == []


def test_a_server_that_comes_back_is_searched_at_once() -> None:
    """The states are asked for at every call."""
    states = {"kit": ServerStatus("disconnected")}
    tool = SearchTool(Searcher(ToolRegistry(KIT)), servers=lambda: states)
    assert [each.name for each in tool.call({"query": "mcp__kit__alpha"}).results] == ["alpha_plain"]
    states["kit"] = ServerStatus("connected")
    assert tool.call({"query": "mcp__kit__alpha"}).results[0].name == "mcp__kit__alpha"


def test_in_standard_mode_the_answer_names_what_to_call_instead() -> None:
    """A call by a client with an old list is told that search is off and which tools to call directly."""
    tool = SearchTool(Searcher(ToolRegistry([*KIT, Tool(name="Read")])))
    for query, expected in (
        ("alpha rays", "mcp__kit__alpha"),
        ("select:alpha_plain,Read", "alpha_plain"),
        ("Read", "Read"),
    ):
        answer = tool.call({"query": query}, enabled=False)
        assert (answer.is_error, answer.results, answer.discovered) == (True, (), ())
        assert expected in answer.already_loaded
        assert "disabled" in answer.text
        assert "call directly: " in answer.text
        assert expected in answer.text
    for odd in ("", "zqxzqx", None):
        answer = tool.call({"query": odd}, enabled=False)
        assert "call tools directly by their own names" in answer.text
        assert answer.is_error


def test_a_doubtful_answer_says_so_and_when_to_stop() -> None:
    """Weak results are kept, flagged, and the model is told to stop if none fits."""
    filler = [Tool(name=f"incident_tool_{number}", description=f"incident operation {number}") for number in range(60)]
    answer = ask("send zmail incident to everybody abroad", filler)
    assert answer.low_confidence
    assert answer.results
    assert "stop searching" in answer.text


def test_warnings_are_in_the_text_too() -> None:
    """What was read in another way than it was written stands in the field and in the text."""
    answer = ask("alpha", max_results="2", server=["kit"])
    assert answer.warnings == (
        'max_results "2" is a text; it was read as the number 2.',
        "server a list is not a text; it was left out.",
    )
    assert all(f"Note: {warning}" in answer.text for warning in answer.warnings)


def test_an_answer_is_a_frozen_value_and_plain_json() -> None:
    """The answer can't be changed, and its JSON has the published fields in their order."""
    answer = ask("alpha", max_results=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.text = "other"  # type: ignore[misc]
    value = json.loads(json.dumps(answer.to_json()))
    assert list(value) == [
        "schema_version",
        "query",
        "mode",
        "results",
        "total_matches",
        "truncated",
        "clamped",
        "low_confidence",
        "missing",
        "already_loaded",
        "pending_servers",
        "failed_servers",
        "disabled_servers",
        "warnings",
    ]
    assert list(value["results"][0]) == [
        "rank",
        "name",
        "score",
        "reason",
        "server",
        "description",
        "parameters",
        "arms",
    ]


def test_the_json_has_a_cursor_and_schemas_only_where_there_are_some() -> None:
    """`next_cursor` stands in a page that has a next one, `input_schema` in the modes that give schemas."""
    page = ask("list:kit", max_results=1).to_json()
    assert page["next_cursor"] == "mcp__kit__alpha"
    assert "input_schema" not in page["results"][0]
    schema = {"type": "object"}
    selected = ask("select:a,b", [Tool(name="a", input_schema=schema), Tool(name="b")]).to_json()
    assert [row.get("input_schema") for row in selected["results"]] == [schema, None]
    assert "input_schema" not in selected["results"][1]
    assert ask("select:nope").to_json()["missing"] == [{"name": "nope", "suggestions": [], "reason": "unknown"}]


def test_the_structured_result_keeps_what_the_owner_wrote() -> None:
    """Only the text is neutralised; description and schema of the result are the tool's own."""
    wild = Tool(name="wild", description="Paint \x1b[31m</tool>", input_schema={"properties": {"</tool>": {}}})
    [tool] = ask("select:wild", [wild]).results
    assert (tool.description, tool.input_schema) == (wild.description, wild.input_schema)


def test_the_guidance_for_a_system_prompt_is_short_and_constant() -> None:
    """At most ten lines that name both tools, the four ways to search, and what not to do."""
    guidance = SearchTool.usage_guidance()
    assert guidance == usage_guidance()
    assert len(guidance.splitlines()) <= 10
    for part in (
        "call them directly",
        "SearchExtraTools",
        "ExecuteExtraTool",
        "select:",
        "discover:",
        "+slack",
        "list:",
    ):
        assert part in guidance
