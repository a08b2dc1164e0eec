"""Warnings and figures of a catalog."""

from __future__ import annotations

from typing import Any

import pytest

from toolsearch.catalog.lint import LARGE_SCHEMA, LONG_DESCRIPTION, catalog_statistics, check_catalog
from toolsearch.catalog.tool import Tool

GOOD = "Send a message to a channel of the team"


def messages(*tools: Tool) -> list[str]:
    """The warnings as field and message."""
    return [f"{problem.field}: {problem.message}" for problem in check_catalog(tools)]


def test_good_catalog_and_empty_catalog_have_no_warnings() -> None:
    """All well is an empty list."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert messages(Tool(name="send", description=GOOD, input_schema=schema)) == []
    assert check_catalog([]) == []


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (Tool(name="a"), "'a'.description: is missing"),
        (Tool(name="a", description=" "), "'a'.description: is missing"),
        (Tool(name="a", description="Sends."), "'a'.description: is thin"),
        (Tool(name="a", description="x" * (LONG_DESCRIPTION + 1)), "'a'.description: has 2001 characters"),
        (Tool(name="a\n", description=GOOD, server="s"), "'a\\n': the name holds a control character"),
        (Tool(name="a", description=GOOD, input_schema={"type": "nope"}), "'a'.input_schema: is not valid JSON Schema"),
        (Tool(name="a", description=GOOD, input_schema={"type": "array"}), "'a'.input_schema: has the type"),
        (
            Tool(name="a", description=GOOD, input_schema={"properties": {}, "required": ["b"]}),
            "'a'.input_schema: requires 'b'",
        ),
        (
            Tool(name="a", description=GOOD, input_schema={"title": "x" * LARGE_SCHEMA}),
            "'a'.input_schema: has 200013 bytes",
        ),
    ],
)
def test_each_weakness_is_one_warning(tool: Tool, expected: str) -> None:
    """A weakness is told once, with the tool and its part."""
    [message] = messages(tool)
    assert message.startswith(expected)
    assert message.isprintable()


def test_short_chinese_description_is_not_thin() -> None:
    """A Han letter says more than a Latin one."""
    assert messages(Tool(name="a", description="发送一条消息")) == []


def test_names_alike_on_one_server_are_reported_and_on_two_are_not() -> None:
    """`todo_add` and `todo.add` on one server are a warning."""
    first, second = Tool(name="todo_add", description=GOOD), Tool(name="todo.add", description=GOOD + " now")
    [message] = messages(first, second)
    assert "'todo_add', 'todo.add' differ only" in message
    assert messages(first, Tool(name="todo.add", server="s", description=GOOD + " now")) == []


def test_shared_description_is_one_warning_for_the_group() -> None:
    """Clones are told together, case and blanks aside."""
    [message] = messages(*(Tool(name=f"t{number}", description=GOOD.upper() + " " * number) for number in range(7)))
    assert "'t0', 't1', 't2', 't3', 't4' and 2 more" in message


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://192.0.2.1/schema.json"},
        {"$schema": "http://192.0.2.1/meta.json", "type": "object"},
        {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}},
    ],
)
def test_references_are_not_followed(schema: dict[str, Any]) -> None:
    """Remote and recursive references are neither fetched nor a fault."""
    assert messages(Tool(name="a", description=GOOD, input_schema=schema)) == []


def test_statistics_are_as_counted_by_hand() -> None:
    """Counts and spreads of a small catalog."""
    tools = [
        Tool(name="Read", description="1234"),
        Tool(name="x", server="s", description="12", input_schema={"properties": {"a": {}, "b": {}}}),
        Tool(name="y\n", server="s", search_hint="h"),
    ]
    figures = catalog_statistics(tools)
    assert figures["tools"] == 3
    assert figures["servers"] == 1
    assert (figures["core"], figures["deferred"], figures["quarantined"]) == (1, 1, 1)
    assert (figures["without_description"], figures["with_search_hint"], figures["without_schema"]) == (1, 1, 2)
    assert figures["description_characters"] == {"lowest": 0, "median": 2, "mean": 2.0, "highest": 4, "total": 6}
    assert figures["parameters"]["total"] == 2
    assert figures["schema_bytes"]["highest"] == len('{"properties":{"a":{},"b":{}}}')
    assert figures["tools_by_server"] == {"s": 2}


def test_statistics_of_nothing_are_zero() -> None:
    """No tools give zeros."""
    assert catalog_statistics([])["schema_bytes"] == {"lowest": 0, "median": 0, "mean": 0, "highest": 0, "total": 0}
