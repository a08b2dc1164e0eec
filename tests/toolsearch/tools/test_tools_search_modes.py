from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from toolsearch.catalog.builtin import builtin_catalog
from toolsearch.catalog.core_tools import TEAM_TOOLS
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import REFERENCE
from toolsearch.errors import UsageError
from toolsearch.search.searcher import Searcher
from toolsearch.tools.found import SearchAnswer
from toolsearch.tools.search_tool import SearchTool
from toolsearch.tools.servers import ServerStatus
from toolsearch_eval.data import load_data

SEND_SCHEMA = {
    "type": "object",
    "properties": {"urgent": {"type": "boolean"}, "channel": {"type": "string", "description": "Where to."}},
    "required": ["channel"],
}
TOOLS = [
    Tool(name="Read", description="Reads a file."),
    Tool(name="Bash", description="Runs a shell command."),
    Tool(name="mcp__chat__send_message", server="chat", description="Send a message.", input_schema=SEND_SCHEMA),
    Tool(name="mcp__chat__list", server="chat", description="List the channels."),
    Tool(name="mcp__mail__list", server="mail", description="List the letters."),
    Tool(name="CronCreate", description="Schedule a cron job.", aliases=("AddCron",), input_schema={"type": "object"}),
    Tool(name="todo_add", description="Add a thing to do."),
    Tool(name="todo.add", description="Add a thing to do, too."),
]


def tool_of(
    tools: list[Tool] = TOOLS, *, servers: Mapping[str, ServerStatus] | None = None, **options: Any
) -> SearchTool:
    """A search tool over some tools."""
    states = servers or {}
    return SearchTool(Searcher(ToolRegistry(tools)), servers=lambda: states, **options)


def ask(query: str, tools: list[Tool] = TOOLS, **arguments: Any) -> SearchAnswer:
    """The answer to a query over some tools."""
    return tool_of(tools).call({"query": query, **arguments})


def names(answer: SearchAnswer) -> list[str]:
    """The names of the results, in order."""
    return [tool.name for tool in answer.results]


SELECTED: list[tuple[str, list[str], list[str]]] = [
    ("select:CronCreate", ["CronCreate"], []),
    (" SELECT: croncreate , 'mcp__chat__list',CronCreate", ["CronCreate", "mcp__chat__list"], []),
    ("select:AddCron", ["CronCreate"], []),
    ("select:send_message", ["mcp__chat__send_message"], []),
    ("select:chat.list", ["mcp__chat__list"], []),
    ("select:CronCreate send_message", ["CronCreate", "mcp__chat__send_message"], []),
    ("select:todo.add", ["todo.add"], []),
    ("select:todo_add", ["todo_add"], []),
    ("select:todoAdd", [], ["todoAdd"]),
    ("select:list,CronCreate", ["CronCreate"], ["list"]),
    ("select:nope,CronCreate", ["CronCreate"], ["nope"]),
    ("select:CronCreate nope", ["CronCreate"], ["nope"]),
    ("select:no such tool", [], ["no such tool"]),
    ("select:*", [], ["*"]),
]


@pytest.mark.parametrize(("query", "found", "missing"), SELECTED, ids=[row[0] for row in SELECTED])
def test_select_gives_exactly_the_tools_that_were_named(query: str, found: list[str], missing: list[str]) -> None:
    """Names are forgiven their spelling, aliases and unique leaf names count, and the rest is missing."""
    answer = ask(query)
    assert (names(answer), [each.name for each in answer.missing]) == (found, missing)
    assert (answer.mode, answer.is_error) == ("select", False)
    assert answer.discovered == tuple(found)
    for name in missing:
        assert json.dumps(name) in answer.text


def test_select_shows_the_description_and_the_whole_schema() -> None:
    """The text has the JSON Schema as it is; the structured result has it too, with the parameters in brief."""
    answer = ask("select:send_message")
    assert json.dumps(SEND_SCHEMA) in answer.text
    assert "Send a message." in answer.text
    [tool] = answer.results
    assert (tool.input_schema, tool.detail, tool.cut, tool.score, tool.reason) == (
        SEND_SCHEMA,
        "schema",
        False,
        1.0,
        "leaf_name",
    )
    assert [(each.name, each.type, each.required) for each in tool.parameters] == [
        ("urgent", "boolean", False),
        ("channel", "string", True),
    ]


def test_select_keeps_the_order_of_the_names_and_ignores_max_results() -> None:
    """All named tools come, in the order asked for, whatever the number of results is."""
    answer = ask("select:todo_add,CronCreate,send_message", max_results=1)
    assert names(answer) == ["todo_add", "CronCreate", "mcp__chat__send_message"]
    assert [tool.rank for tool in answer.results] == [1, 2, 3]
    assert (answer.total_matches, answer.truncated) == (3, False)


def test_a_missing_name_has_a_did_you_mean_of_its_own() -> None:
    """Each name that does not exist is listed with near names that can be selected."""
    answer = ask("select:CronCreat,send_mesage,zzzz")
    assert [(each.name, each.suggestions, each.reason) for each in answer.missing] == [
        ("CronCreat", ("CronCreate",), "unknown"),
        ("send_mesage", ("mcp__chat__send_message",), "unknown"),
        ("zzzz", (), "unknown"),
    ]
    assert 'There is no tool "CronCreat". Did you mean CronCreate?' in answer.text
    assert 'There is no tool "zzzz". No name is near; search with words instead.' in answer.text


def test_a_missing_name_that_looks_like_nothing_is_searched_by_its_words() -> None:
    """A guessed name suggests what its words find."""
    answer = ask("select:schedule_cron_job_at_night", [*TOOLS, Tool(name="x1", description="Unrelated.")])
    assert [each.suggestions[:1] for each in answer.missing] == [("CronCreate",)]


def test_an_ambiguous_leaf_name_gives_the_candidates() -> None:
    """A leaf name of two servers selects neither and names both."""
    answer = ask("select:list")
    assert [(each.reason, each.suggestions) for each in answer.missing] == [
        ("ambiguous", ("mcp__chat__list", "mcp__mail__list"))
    ]
    assert '"list" can mean several tools: mcp__chat__list, mcp__mail__list.' in answer.text


def test_a_star_is_no_wildcard_and_the_answer_says_so() -> None:
    """A pattern selects nothing, and the way to all tools of a server is named."""
    answer = ask("select:mcp__chat__*")
    assert (answer.results, [each.suggestions for each in answer.missing]) == ((), [()])
    assert "list:SERVER gives all tools of a server" in answer.text


def test_too_many_names_are_said() -> None:
    """Names beyond fifty are counted in the text, and the answer is truncated."""
    many = [Tool(name=f"tool_{number}") for number in range(60)]
    answer = ask("select:" + ",".join(tool.name for tool in many), many)
    assert (len(answer.results), answer.total_matches, answer.truncated) == (50, 60, True)
    assert "10 more names were not looked up" in answer.text


@pytest.mark.parametrize("query", ["select:Read", "select:read,Bash", "Read", "select:SearchExtraTools"])
def test_a_loaded_tool_alone_is_refused_and_nothing_else_is_said(query: str) -> None:
    """If only loaded tools match, the answer is one line: call them directly."""
    answer = ask(query, [tool for tool in builtin_catalog() if tool.name in ("Read", "Bash", "SearchExtraTools")])
    assert (answer.results, answer.is_error, answer.discovered) == ((), False, ())
    assert answer.already_loaded[0] in ("Read", "SearchExtraTools")
    assert answer.text.count("\n") == 0
    assert "already loaded: call" in answer.text
    assert "directly" in answer.text


def test_a_loaded_tool_among_others_is_said_beside_them() -> None:
    """Found tools are shown and the loaded one is named to be called directly."""
    answer = ask("select:Read,CronCreate")
    assert (names(answer), answer.already_loaded) == (["CronCreate"], ("Read",))
    assert answer.text.startswith("Read is already loaded: call it directly")


def test_a_loaded_tool_that_does_the_job_is_said_where_words_are_searched() -> None:
    """A query that a loaded tool answers best says so, although only deferred tools are results."""
    answer = SearchTool(Searcher(ToolRegistry(builtin_catalog()))).call({"query": "read a file"})
    assert answer.already_loaded == ("Read",)
    assert "Read" not in names(answer)
    other = SearchTool(Searcher(ToolRegistry(builtin_catalog()))).call({"query": "create cron job"})
    assert other.already_loaded == ()


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("run shell command", "Shell"),
        ("read a file", "Read"),
        ("edit text in file", "Edit"),
        ("search the web", "WebSearch"),
        ("fetch a url", "WebFetch"),
        ("list tasks", "TaskList"),
        ("ask the user a question", "AskUserQuestion"),
        ("find files by pattern", "Glob"),
        ("wait ten seconds", "Sleep"),
        ("make a todo list", "TodoWrite"),
    ],
)
def test_what_a_core_tool_does_is_not_searched_for_in_vain(query: str, name: str) -> None:
    """A request for the business of a core tool names that tool."""
    assert name in SearchTool(Searcher(ToolRegistry(builtin_catalog()))).call({"query": query}).already_loaded


def test_no_loaded_tool_is_put_before_the_deferred_one_that_is_wanted() -> None:
    """On development queries that deferred tools answer, a loaded tool is put forward for one in a hundred at most."""
    data = load_data("builtin")
    registry = ToolRegistry(data.tools)
    deferred = {tool.name for tool in registry.deferred()}
    tool = SearchTool(Searcher(registry))
    asked = [
        query
        for query in data.queries
        if query.split == "dev" and deferred & set(data.judgements.get(query.query_id, ()))
    ]
    assert len(asked) > 100
    wrong = [query.text for query in asked if tool.call({"query": query.text}).already_loaded]
    assert len(wrong) <= len(asked) / 100, wrong


def test_keyword_shows_parameters_in_brief_and_ranks() -> None:
    """Results are ranked; each has its description and a line of parameters, and thereby is discovered."""
    answer = ask("send a message to a channel")
    assert names(answer)[0] == "mcp__chat__send_message"
    assert [tool.rank for tool in answer.results] == list(range(1, len(answer.results) + 1))
    assert "parameters: channel: string, urgent?: boolean" in answer.text
    assert answer.results[0].input_schema is None
    assert answer.discovered == tuple(names(answer))
    assert sum(answer.results[0].arms.values()) == pytest.approx(answer.results[0].score)


def test_discover_ranks_like_keyword_and_shows_full_schemas() -> None:
    """The same tools in the same order, with the whole JSON Schema."""
    brief, full = ask("send a message"), ask("discover:send a message")
    assert names(brief) == names(full)
    assert (full.mode, full.results[0].detail) == ("discover", "schema")
    assert json.dumps(SEND_SCHEMA) in full.text


def test_required_words_are_met_by_every_result() -> None:
    """`+word` leaves only tools that have it, and the mode says so."""
    answer = ask("+list channels")
    assert (answer.mode, set(names(answer))) == ("required", {"mcp__chat__list", "mcp__mail__list"})
    nothing = ask("+zebra list")
    assert (nothing.results, nothing.mode) == ((), "required")
    assert "leave out a plus" in nothing.text


def test_a_pattern_is_plain_text() -> None:
    """`regex:` is a word like others, so a hostile pattern is never compiled."""
    answer = ask("regex:(a+)+$ cron")
    assert (answer.mode, names(answer)) == ("keyword", ["CronCreate"])


def test_the_server_filter_is_exact() -> None:
    """Only tools of the named server; an unknown one suggests near names and finds nothing."""
    assert names(ask("list", server="mail")) == ["mcp__mail__list"]
    answer = ask("list", server="mial")
    assert [(each.name, each.suggestions, each.reason) for each in answer.missing] == [
        ("mial", ("mail",), "unknown_server")
    ]
    assert 'There is no server "mial". Did you mean mail?' in answer.text
    assert "chat (2), mail (1)" in ask("list", server="zzz").text


def test_a_number_outside_of_the_bounds_is_moved_and_said() -> None:
    """More than fifty become fifty, less than one becomes one; field and text say so."""
    many = [Tool(name=f"item_{number}", description="handle item") for number in range(60)]
    for given, count in ((100, 50), (0, 1), (-1, 1)):
        answer = ask("handle item", many, max_results=given)
        assert (len(answer.results), answer.clamped, answer.total_matches, answer.truncated) == (count, True, 60, True)
        assert f"max_results {given} is outside of 1 to 50; {count} was used." in answer.text
        assert answer.warnings == (f"max_results {given} is outside of 1 to 50; {count} was used.",)


def test_more_matches_than_results_are_counted_and_said() -> None:
    """The total is of all matches, and the text says how to see more."""
    many = [Tool(name=f"item_{number}", description="handle item") for number in range(20)]
    answer = ask("handle item", many, max_results=8)
    assert (len(answer.results), answer.total_matches, answer.truncated) == (8, 20, True)
    assert "8 of 20 matching tools" in answer.text
    assert "12 more match" in answer.text


LISTED = [Tool(name=f"mcp__depot__op_{number:02}", server="depot", description="Move.") for number in range(30)]


def test_a_listing_gives_all_tools_of_a_server_by_name() -> None:
    """Without a number of results a listing is not cut at five; total, order and parameters are there."""
    answer = ask("list:depot", [*LISTED[::-1], *TOOLS])
    assert names(answer) == sorted(tool.name for tool in LISTED)
    assert (answer.mode, answer.total_matches, answer.truncated, answer.next_cursor) == ("list", 30, False, None)
    assert answer.discovered == tuple(names(answer))
    assert "Tools 1 to 30 of 30 of server depot" in answer.text


def test_a_listing_goes_on_after_its_cursor() -> None:
    """Pages of a listing give every tool once, whether the cursor is typed or passed, and the last one has none."""
    tool = tool_of(LISTED)
    first = tool.call({"query": "list:depot", "max_results": 12})
    assert (first.next_cursor, first.truncated) == ("mcp__depot__op_11", True)
    assert "list:depot after:mcp__depot__op_11 goes on" in first.text
    second = tool.call({"query": f"list:depot after:{first.next_cursor}", "max_results": 12})
    third = tool.call({"query": "list:depot", "cursor": second.next_cursor, "max_results": 12})
    assert names(first) + names(second) + names(third) == [each.name for each in LISTED]
    assert (third.results[0].rank, third.next_cursor, third.truncated) == (25, None, False)
    past = tool.call({"query": "list:depot after:zzz"})
    assert (past.results, past.text.splitlines()[0]) == ((), 'Server "depot" has 30 tools, none after "zzz".')


def test_a_listing_is_unharmed_by_a_cursor_whose_tool_went_away() -> None:
    """The page begins after the name, whether or not there still is such a tool."""
    tool = tool_of([each for each in LISTED if each.name != "mcp__depot__op_11"])
    assert names(tool.call({"query": "list:depot after:mcp__depot__op_11"}))[0] == "mcp__depot__op_12"


@pytest.mark.parametrize("query", ["list:DEPOT", 'list: "depot" ', "LIST:Depot"])
def test_a_listed_server_is_forgiven_its_spelling(query: str) -> None:
    """Quotes, blanks and letter case of a server's name don't matter where one server is meant."""
    assert len(ask(query, LISTED).results) == 30


def test_a_server_may_be_called_like_a_cursor() -> None:
    """A server whose own name holds `after:` is listed under its whole name."""
    tools = [Tool(name="a", server="hours"), Tool(name="b", server="hours after: six")]
    assert names(ask("list:hours after: six", tools)) == ["b"]
    assert names(ask("list:hours", tools)) == ["a"]


def test_a_listing_of_an_unknown_server_names_near_ones() -> None:
    """A misspelled server suggests the near one; one like nothing gets the servers with their sizes."""
    near = ask("list:depto", LISTED)
    assert [(each.name, each.suggestions) for each in near.missing] == [("depto", ("depot",))]
    assert "Servers and their numbers of tools: depot (30)." in ask("list:zzz", LISTED).text
    two = [Tool(name="a", server="My Server"), Tool(name="b", server="my_server")]
    both = ask("list:myserver", two)
    assert [(each.reason, each.suggestions) for each in both.missing] == [
        ("ambiguous_server", ("My Server", "my_server"))
    ]


def test_the_owner_of_a_tool_is_stored_and_never_guessed_from_its_name() -> None:
    """A tool whose name looks like another server's is listed with its own."""
    tools = [Tool(name="mcp__foo_bar", server="foo"), Tool(name="mcp__foo_bar_baz", server="foo_bar")]
    assert names(ask("list:foo", tools)) == ["mcp__foo_bar"]
    assert names(ask("list:foo_bar", tools)) == ["mcp__foo_bar_baz"]


def test_a_pinned_tool_of_a_server_is_listed_as_loaded() -> None:
    """A listing tells which tools of the server are in the request anyway."""
    registry = ToolRegistry(LISTED[:3], pins=["mcp__depot__op_01"])
    answer = SearchTool(Searcher(registry)).call({"query": "list:depot"})
    assert (names(answer), answer.already_loaded) == (
        ["mcp__depot__op_00", "mcp__depot__op_02"],
        ("mcp__depot__op_01",),
    )


@pytest.mark.parametrize("teams", [True, False])
def test_team_tools_are_as_the_registry_says(teams: bool) -> None:
    """With teams off all three are found; with teams on SendMessage is loaded."""
    registry = ToolRegistry(builtin_catalog(), teams=teams)
    answer = SearchTool(Searcher(registry)).call({"query": "select:" + ",".join(sorted(TEAM_TOOLS))})
    loaded = ("SendMessage",) if teams else ()
    assert answer.already_loaded == loaded
    assert set(names(answer)) == TEAM_TOOLS - set(loaded)


def test_the_reference_profile_answers_too() -> None:
    """The other ranking gives answers of the same form."""
    answer = SearchTool(Searcher(ToolRegistry(TOOLS), REFERENCE), display_min_score=0.5).call({"query": "cron job"})
    assert names(answer) == ["CronCreate"]
    assert "CronCreate" in answer.text


def test_the_bound_of_the_confidence_flag_can_be_moved() -> None:
    """At 0 nothing that was found is flagged; at 1 whatever was not named is; nothing is hidden by it."""
    query = "schedule a cron job at night"
    low, high = (tool_of(display_min_score=bound).call({"query": query}) for bound in (0.0, 1.0))
    assert (low.low_confidence, high.low_confidence) == (False, True)
    assert names(low) == names(high)
    assert "stop searching" in high.text
    assert not tool_of(display_min_score=1.0).call({"query": "CronCreate"}).low_confidence


@pytest.mark.parametrize("options", [{"token_budget": 999}, {"display_min_score": 1.5}, {"display_min_score": -0.1}])
def test_settings_out_of_range_are_refused(options: dict[str, Any]) -> None:
    """A budget too small to say anything and a bound outside of 0..1 are errors that name the setting."""
    with pytest.raises(UsageError, match=f"{next(iter(options))} is {next(iter(options.values()))}; it must be"):
        tool_of(**options)
