from __future__ import annotations

import pytest

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.tools.name_lookup import NameLookup

TOOLS = [
    Tool(name="Read"),
    Tool(name="CronCreate", aliases=("AddCron",)),
    Tool(name="mcp__chat__send_message", server="chat"),
    Tool(name="mcp__chat__list", server="chat"),
    Tool(name="mcp__mail__list", server="mail"),
    Tool(name="todo_add"),
    Tool(name="todo.add"),
    Tool(name="plain", server="web page"),
    Tool(name="bad\nname", server="chat"),
]


def lookup(tools: list[Tool] = TOOLS, deny: list[str] | None = None) -> NameLookup:
    """The names of some tools."""
    return NameLookup(ToolRegistry(tools, deny=deny or []).snapshot())


FOUND: list[tuple[str, list[str]]] = [
    ("CronCreate", ["CronCreate"]),
    (" croncreate ", ["CronCreate"]),
    ("CRON_CREATE", ["CronCreate"]),
    ("AddCron", ["CronCreate"]),
    ("addcron", ["CronCreate"]),
    ("send_message", ["mcp__chat__send_message"]),
    ("SendMessage", ["mcp__chat__send_message"]),
    ("mcp__chat__send_message", ["mcp__chat__send_message"]),
    ("mcp__CHAT__SEND_MESSAGE", ["mcp__chat__send_message"]),
    ("chat.send_message", ["mcp__chat__send_message"]),
    ("chat/send_message", ["mcp__chat__send_message"]),
    ("list", ["mcp__chat__list", "mcp__mail__list"]),
    ("mail.list", ["mcp__mail__list"]),
    ("todo_add", ["todo_add"]),
    ("todo.add", ["todo.add"]),
    ("todoAdd", ["todo.add", "todo_add"]),
    ("TODO_ADD", ["todo_add"]),
    ("mcp__web page__plain", ["plain"]),
    ("bad\nname", []),
    ("nothing", []),
    ("", []),
    ("___", []),
    ("x" * 100_000, []),
]


@pytest.mark.parametrize(("spelling", "names"), FOUND, ids=[repr(row[0][:30]) for row in FOUND])
def test_a_name_is_found_however_it_is_spelled(spelling: str, names: list[str]) -> None:
    """The exact spelling first, then leaf names, letter case and separators; several tools when several are meant."""
    assert [tool.name for tool in lookup().find(spelling)] == names


def test_the_order_of_the_catalog_changes_nothing() -> None:
    """Candidates and near names come in the same order from a reversed catalog."""
    forward, backward = lookup(), lookup(TOOLS[::-1])
    for spelling in ("list", "todoAdd", "lst", "cron"):
        assert [each.name for each in forward.find(spelling)] == [each.name for each in backward.find(spelling)]
        assert forward.near(spelling) == backward.near(spelling)


@pytest.mark.parametrize(
    ("spelling", "names"),
    [
        ("CronCreat", ("CronCreate",)),
        ("adcron", ("CronCreate",)),
        ("send_mesage", ("mcp__chat__send_message",)),
        ("lists", ("mcp__chat__list", "mcp__mail__list")),
        ("zzzz", ()),
        ("", ()),
    ],
)
def test_near_names_are_names_that_can_be_selected(spelling: str, names: tuple[str, ...]) -> None:
    """A misspelled name, leaf or alias suggests the full name of its tool; nothing near suggests nothing."""
    assert lookup().near(spelling) == names
    assert all(len(lookup().find(name)) == 1 for name in names)


def test_hidden_and_quarantined_tools_are_neither_found_nor_suggested() -> None:
    """A tool that a deny pattern hides, and one with an unfit name, is as if it weren't there."""
    names = lookup(deny=["Cron*"])
    assert names.find("CronCreate") == ()
    assert names.near("CronCreat") == ()
    assert names.near("bad name") == ()


def test_an_alias_belongs_to_the_tool_that_the_catalog_gives_it_to() -> None:
    """An alias of two tools selects the one whose name comes first, in any letter case."""
    names = lookup([Tool(name="b", aliases=("go",)), Tool(name="a", aliases=("go",))])
    assert [tool.name for tool in names.find("go")] == ["a"]
    assert [tool.name for tool in names.find("GO")] == ["a"]


def test_an_exact_name_wins_over_the_leaf_name_of_a_server() -> None:
    """A server's tool that is called like another one hides it from nobody."""
    names = lookup([Tool(name="Read"), Tool(name="mcp__disk__Read", server="disk")])
    assert [tool.name for tool in names.find("Read")] == ["Read"]
    assert [tool.name for tool in names.find("disk.Read")] == ["mcp__disk__Read"]


def test_an_exact_leaf_name_wins_over_a_name_in_another_letter_case() -> None:
    """The spelling decides first, then whole names before leaf names."""
    names = lookup([Tool(name="Send"), Tool(name="mcp__chat__send", server="chat")])
    assert [tool.name for tool in names.find("send")] == ["mcp__chat__send"]
    assert [tool.name for tool in names.find("Send")] == ["Send"]
    assert [tool.name for tool in names.find("SEND")] == ["Send"]
