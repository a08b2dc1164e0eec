from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.search.searcher import MAX_RESULTS
from toolsearch.tools.search_request import DEFAULT_RESULTS, MOST_NAMES, read_count, read_request, unquoted

MODES: list[tuple[str, str, str]] = [
    ("notebook jupyter", "keyword", "notebook jupyter"),
    ("  notebook  ", "keyword", "notebook"),
    ("+slack send", "required", "+slack send"),
    ("send +slack", "required", "send +slack"),
    ("a+b", "keyword", "a+b"),
    ("+", "keyword", "+"),
    ("select:A", "select", "A"),
    ("\n\t SELECT:A", "select", "A"),
    ("\ufeff\u200bSelect : A", "select", "A"),
    ("\x00select:A", "select", "A"),
    ("select：A", "select", "A"),
    ('"select:A"', "select", "A"),
    ("please select:A", "keyword", "please select:A"),
    ("selected:A", "keyword", "selected:A"),
    ("select", "keyword", "select"),
    ("Discover: schedule a job", "discover", "schedule a job"),
    ("discover:", "discover", ""),
    ("list:chat", "list", "chat"),
    ("LIST: web page ", "list", "web page"),
    ("regex:(a+)+$b", "keyword", "regex:(a+)+$b"),
    ("", "keyword", ""),
    ("   ", "keyword", ""),
]


@pytest.mark.parametrize(("query", "mode", "words"), MODES, ids=[repr(row[0]) for row in MODES])
def test_the_prefix_at_the_start_decides_the_mode(query: str, mode: str, words: str) -> None:
    """A prefix counts after blanks and invisible characters, in any case; anywhere else it is a word like others."""
    request = read_request({"query": query})
    assert (request.mode, request.words, request.query, request.fault) == (mode, words, query, None)


NAMES: list[tuple[str, tuple[str, ...]]] = [
    ("select:A,B", ("A", "B")),
    ("select: A , B ,", ("A", "B")),
    ("select:A,A, A", ("A",)),
    ("select:'A', \"B\", `C`, “D”", ("A", "B", "C", "D")),
    ("select:A，B、C；D;E\nF", ("A", "B", "C", "D", "E", "F")),
    ('select:["A", "B"]', ("A", "B")),
    ("select:[A, B]", ("A", "B")),
    ('select:"a,b",c', ("a,b", "c")),
    ('select:"\\u003ctool>"', ("<tool>",)),
    ("select:A,select:B,SELECT : C", ("A", "B", "C")),
    ("select:web page", ("web page",)),
    ("select:", ()),
    ("select: , ,", ()),
    ('select:"', ()),
    ('select:"a,b', ("a", "b")),
]


@pytest.mark.parametrize(("query", "names"), NAMES, ids=[repr(row[0]) for row in NAMES])
def test_a_selection_forgives_blanks_quotes_and_repeats(query: str, names: tuple[str, ...]) -> None:
    """Names come without blanks, quotes, brackets and a repeated prefix, each once and in order."""
    assert read_request({"query": query}).names == names


def test_a_selection_looks_up_a_bounded_number_of_names_and_counts_the_rest() -> None:
    """Of sixty different names fifty are looked up and ten are counted; a repeat is no further name."""
    sixty = ",".join(f"n{number}" for number in range(60))
    request = read_request({"query": f"select:{sixty},n0,n1"})
    assert (len(request.names), request.more_names) == (MOST_NAMES, 10)
    assert read_request({"query": "select:" + "a," * 50_000}).names == ("a",)


CURSORS: list[tuple[str, str, str]] = [
    ("list:chat", "chat", ""),
    ("list:chat after:send", "chat", "send"),
    ('list:"web page" AFTER : "a b"', "web page", "a b"),
    ("list:afterhours", "afterhours", ""),
]


@pytest.mark.parametrize(("query", "server", "cursor"), CURSORS)
def test_a_listing_has_a_server_and_perhaps_a_cursor(query: str, server: str, cursor: str) -> None:
    """What stands after `after:` is the cursor; the argument `cursor` is one too."""
    request = read_request({"query": query})
    assert (request.listed_server, request.cursor) == (server, cursor)
    assert read_request({"query": f"list:{server}", "cursor": "z"}).cursor == "z"


COUNTS: list[tuple[Any, int, bool, str | None]] = [
    (1, 1, False, None),
    (50, 50, False, None),
    (5.0, 5, False, None),
    (0, 1, True, "max_results 0 is outside of 1 to 50; 1 was used."),
    (-3, 1, True, "max_results -3 is outside of 1 to 50; 1 was used."),
    (51, 50, True, "max_results 51 is outside of 1 to 50; 50 was used."),
    (10**5000, 50, True, "max_results with very many digits is outside of 1 to 50; 50 was used."),
    (2.7, 2, False, "max_results 2.7 is not a whole number; 2 was used."),
    (0.5, 1, True, "max_results 0.5 is outside of 1 to 50; 1 was used."),
    (50.5, 50, True, "max_results 50.5 is outside of 1 to 50; 50 was used."),
    (float("inf"), 50, True, "max_results infinity is outside of 1 to 50; 50 was used."),
    (float("-inf"), 1, True, "max_results minus infinity is outside of 1 to 50; 1 was used."),
    (float("nan"), 5, False, "max_results NaN is not a number; the default 5 was used."),
    ("7", 7, False, 'max_results "7" is a text; it was read as the number 7.'),
    (" '7' ", 7, False, "max_results \" '7' \" is a text; it was read as the number 7."),
    ("1e999", 50, True, 'max_results "1e999" is outside of 1 to 50; 50 was used.'),
    ("ten", 5, False, 'max_results "ten" is not a number; the default 5 was used.'),
    ("", 5, False, 'max_results "" is not a number; the default 5 was used.'),
    (True, 5, False, "max_results true is not a number; the default 5 was used."),
    (None, 5, False, "max_results null is not a number; the default 5 was used."),
    ([3], 5, False, "max_results a list is not a number; the default 5 was used."),
    ({"n": 3}, 5, False, "max_results an object is not a number; the default 5 was used."),
    ("9" * 5000, 5, False, None),
]


@pytest.mark.parametrize(
    ("value", "count", "clamped", "note"), COUNTS, ids=[f"{number}" for number in range(len(COUNTS))]
)
def test_a_number_of_results_is_read_as_it_was_meant_and_said(
    value: Any, count: int, clamped: bool, note: str | None
) -> None:
    """Numbers outside go to the nearest bound, fractions are rounded down, texts are read, the rest is the default."""
    assert read_count(value)[:2] == (count, clamped)
    if note is not None:
        assert read_count(value)[2] == (note,)
    request = read_request({"query": "x", "max_results": value})
    assert (request.max_results, request.clamped) == (count, clamped)


def test_without_a_number_five_results_are_given_and_nothing_is_said() -> None:
    """An absent `max_results` is the default, silently."""
    request = read_request({"query": "x"})
    assert (request.max_results, request.count_given, request.notes) == (5, False, ())


FAULTS: list[tuple[object, str | None]] = [
    ({}, "`query` is missing"),
    (None, "`query` is missing"),
    ({"query": None}, "`query` is missing"),
    ({"query": 5}, "`query` is 5"),
    ({"query": ["a"]}, "`query` is a list"),
    ({"query": {"a": 1}}, "`query` is an object"),
    ("{'query': broken", "not valid JSON"),
    ("[" * 5000, None),
    ('{"a":' * 5000, "not valid JSON"),
    (["x"], "the arguments are a list"),
    (7, "the arguments are 7"),
    (b"x", "the arguments are a bytes"),
]


@pytest.mark.parametrize(("arguments", "fault"), FAULTS, ids=[f"{number}" for number in range(len(FAULTS))])
def test_arguments_that_can_not_be_read_say_what_to_give(arguments: object, fault: str | None) -> None:
    """A call without a text as query says what it is, and gives an example of a right call."""
    request = read_request(arguments)
    if fault is None:
        assert (request.fault, request.query) == (None, arguments)
    else:
        assert request.fault is not None
        assert fault in request.fault
        assert '{"query": "send a message"}' in request.fault


def test_json_text_and_plain_text_are_read_as_arguments() -> None:
    """Arguments as JSON text are the same as an object; any other text is the query."""
    assert read_request('{"query": "select:A", "max_results": 3}') == read_request(
        {"query": "select:A", "max_results": 3}
    )
    assert read_request("send message").words == "send message"


def test_a_server_is_taken_and_a_wrong_one_is_said() -> None:
    """`server` is a text; anything else is left out, with a line that says so; further keys mean nothing."""
    assert read_request({"query": "x", "server": "chat", "color": "red"}).server == "chat"
    request = read_request({"query": "x", "server": 5})
    assert (request.server, request.notes) == (None, ("server 5 is not a text; it was left out.",))
    assert read_request({"query": "x", "server": ""}).server is None


@pytest.mark.parametrize(
    "query",
    [
        " " * 100_000 + "x",
        "x" + " " * 100_000 + "x",
        "select:" + " " * 100_000 + ",",
        "select:" + "\n" * 100_000 + ",",
        'select:"' + '\\"' * 50_000,
        "list:" + " after" * 15_000,
        "list:a" + " " * 100_000 + "b",
        "'" + "\u200b" * 100_000 + "select",
        "select" + " " * 100_000,
    ],
    ids=range(9),
)
def test_endless_queries_are_read(query: str) -> None:
    """Long runs of one character, which make careless patterns try for ever, are read like any text."""
    assert read_request({"query": query}).query == query


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_value_is_read_without_an_error(value: Any) -> None:
    """Whatever stands for the arguments, the query, the number, the server or the cursor, the result is a request."""
    assert read_request(value).max_results == 5 or isinstance(value, dict)
    request = read_request({"query": "x", "max_results": value, "server": value, "cursor": value})
    assert 1 <= request.max_results <= 50
    assert read_request({"query": value}).mode in ("select", "discover", "keyword", "required", "list")


@given(st.text())
def test_a_name_is_unquoted_for_good(text: str) -> None:
    """What comes out has no outer blanks."""
    assert unquoted(text) == unquoted(text).strip()


def test_the_definition_of_the_tool_offers_what_is_read() -> None:
    """The schema that the model sees has the query, the server and the number with the bounds that hold."""
    definition = next(tool for tool in synthetic_tools() if tool.name == "SearchExtraTools")
    assert definition.input_schema is not None
    properties = definition.input_schema["properties"]
    assert set(properties) == {"query", "max_results", "server"}
    count = properties["max_results"]
    assert (count["minimum"], count["maximum"], count["default"]) == (1, MAX_RESULTS, DEFAULT_RESULTS)
    for part in ("+word", "select:", "discover:", "list:"):
        assert part in properties["query"]["description"]
