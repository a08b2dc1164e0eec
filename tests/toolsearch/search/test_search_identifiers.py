from __future__ import annotations

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.search.analysis.standard import split_identifier, stem, words
from toolsearch.search.searcher import Searcher

CHAT = Tool(name="mcp__chat__sendMessage", server="chat", description="Posts.")


def found(query: str, *tools: Tool) -> list[str]:
    """The names of the results."""
    return [result.name for result in Searcher(tools).search(query).results]


@pytest.mark.parametrize(
    "query",
    ["send message", "send_message", "send-message", "sendMessage", "SENDMESSAGE", "message send", "send.message"],
)
def test_every_spelling_of_an_identifier_finds_the_tool(query: str) -> None:
    """However the words of a name are put together, the tool comes first."""
    others = [Tool(name="sendFile"), Tool(name="message_list"), Tool(name="create_issue", description="send message")]
    assert found(query, *others, CHAT)[0] == CHAT.name


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("sendMessage", ["send", "message"]),
        ("SendMessage", ["send", "message"]),
        ("HTTPServer", ["http", "server"]),
        ("parseHTTPResponse", ["parse", "http", "response"]),
        ("JSON2CSV", ["json", "2", "csv"]),
        ("send_message", ["send", "message"]),
        ("__send__message__", ["send", "message"]),
        ("send-message", ["send", "message"]),
        ("v2", ["v", "2"]),
        ("отправитьПисьмо", ["отправить", "письмо"]),
        ("ÉtatCivil", ["etat", "civil"]),
        ("", []),
        ("___", []),
    ],
)
def test_identifiers_split_at_case_separator_and_digit_borders(text: str, pieces: list[str]) -> None:
    """Camel case, acronym borders, separators and digits part the words of an identifier."""
    assert split_identifier(text) == pieces


@pytest.mark.parametrize("text", ["a.b", "a/b", "a::b", "a:b"])
def test_dots_and_slashes_part_words(text: str) -> None:
    """A dot, slash or colon stands between words."""
    assert [word.parts for word in words(text)] == [("a",), ("b",)]


def test_the_joined_form_is_kept_beside_the_parts() -> None:
    """A word of several parts is also searchable in its closed form."""
    [word] = words("sendMessage")
    assert (word.parts, word.joined) == (("send", "messag"), "sendmessag")


@pytest.mark.parametrize(("query", "text"), [("webpage", "web page"), ("web page", "webpage"), ("web-page", "webpage")])
@pytest.mark.parametrize("field", ["name", "search_hint", "description"])
def test_closed_and_open_compounds_meet(query: str, text: str, field: str) -> None:
    """A compound is found however tool and query write it, in a name as in a running text."""
    sentence = f"reads one {text} now"
    tool = {
        "name": Tool(name=text.replace(" ", "_") + "_1"),
        "search_hint": Tool(name="tool_1", search_hint=sentence),
        "description": Tool(name="tool_1", description=sentence),
    }[field]
    assert found(query, tool, Tool(name="other", description="nothing of it")) == [tool.name]


def test_a_closed_compound_meets_the_open_one_also_where_another_tool_has_it_closed() -> None:
    """A tool that says `webpage` does not keep those that say `web page` from being found."""
    names = found(
        "webpage",
        Tool(name="webpage_reader"),
        Tool(name="open_form", description="reads a web page"),
        Tool(name="apart", description="a page about the web"),
    )
    assert names == ["webpage_reader", "open_form"]


@pytest.mark.parametrize(
    "family",
    [
        ("file", "files", "File's"),
        ("issue", "issues", "Issues"),
        ("create", "creating", "creates", "created"),
        ("server", "servers"),
        ("message", "messages", "messaging"),
        ("query", "queries", "querying"),
        ("PR", "PRs", "prs"),
        ("VM", "VMs"),
    ],
)
def test_a_word_family_meets_in_one_term(family: tuple[str, ...]) -> None:
    """Every form of a word finds a tool that has any other form, in its name or in its text."""
    for form in family:
        for query in family:
            name = "x_" + form.removesuffix("'s")
            assert found(query, Tool(name=name), Tool(name="zzz")) == [name]
            assert found(query, Tool(name="tool", description=f"about {form} here"), Tool(name="zzz")) == ["tool"]


def test_stems_leave_other_scripts_and_short_words_alone() -> None:
    """Only English words of three letters and more are stemmed."""
    assert [stem(word) for word in ("is", "файлы", "css", "2")] == ["is", "файлы", "css", "2"]


@pytest.mark.parametrize("name", ["what_is_new", "TodoDo", "do", "who_am_i", "the"])
def test_a_stop_word_that_is_part_of_a_name_still_finds_it(name: str) -> None:
    """Stop words never take a word out of a tool's name."""
    tool = Tool(name=name)
    for query in (name, *(piece for piece in split_identifier(name) if piece)):
        assert found(query, tool, Tool(name="zzz", description="what is the do")) == [name]


def test_a_stop_word_of_a_running_text_finds_nothing() -> None:
    """A stop word is no reason to find a tool that merely says it."""
    assert found("the", Tool(name="zzz", description="the one")) == []


def test_a_stop_word_tells_two_names_apart() -> None:
    """Of two names that differ by a stop word, the one that has it comes first."""
    assert found("list to do", Tool(name="list_abc"), Tool(name="list_to_do"))[0] == "list_to_do"
