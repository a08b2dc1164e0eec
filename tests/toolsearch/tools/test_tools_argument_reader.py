"""How the arguments of the proxy are read where a model wrote them out of shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.tools.argument_reader import ReadCall, Unreadable, read_call
from toolsearch.tools.execute_tool import ExecuteTool
from toolsearch.tools.execution import Execution

RUN: dict[str, Any] = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "options": {"type": "object"}, "count": {"type": "integer"}},
    "required": ["command"],
}


def execute(arguments: Any, schema: Mapping[str, Any] | None = RUN) -> tuple[Execution, list[Any]]:
    """What the proxy answers, and what its only tool was called with."""
    calls: list[Any] = []
    tool = Tool(name="run", input_schema=schema, call=calls.append)
    return ExecuteTool(ToolRegistry([tool])).call(arguments), calls


@pytest.mark.parametrize(
    ("written", "params"),
    [
        ({"tool_name": " run ", "params": {"command": "ls"}}, {"command": "ls"}),
        ({"tool_name": "run", "params": '{"command": "ls"}'}, {"command": "ls"}),
        ({"tool_name": "run", "params": '"{\\"command\\": \\"ls\\"}"'}, {"command": "ls"}),
        ({"tool_name": "run", "command": "ls"}, {"command": "ls"}),
        ({"tool_name": "run", "params": {}, "command": "ls"}, {"command": "ls"}),
        ({"tool_name": "run", "params": "", "command": "ls"}, {"command": "ls"}),
        ({"tool_name": "run", "params": None, "command": "ls"}, {"command": "ls"}),
        ({"tool_name": "run", "params": {"count": 2}, "command": "ls"}, {"command": "ls", "count": 2}),
        ({"tool_name": "run", "params.command": "ls"}, {"command": "ls"}),
        (
            {"tool_name": "run", "params.command": "ls", "params.options.all": True},
            {"command": "ls", "options": {"all": True}},
        ),
        (
            {"tool_name": "run", "params": {"command": "ls", "options.all": True}},
            {"command": "ls", "options": {"all": True}},
        ),
        ({"tool_name": "run", "arguments": {"command": "ls"}}, {"command": "ls"}),
        ({"name": "run", "arguments": '{"command": "ls"}'}, {"command": "ls"}),
        ({"tool_name": "run", "params": {"params": {"command": "ls"}}}, {"command": "ls"}),
        ({"tool_name": {"tool_name": "run", "params": {"command": "ls"}}}, {"command": "ls"}),
        ({"tool_name": '{"tool_name": "run", "params": {"command": "ls"}}'}, {"command": "ls"}),
        ({"params": {"tool_name": "run", "params": {"command": "ls"}}}, {"command": "ls"}),
        ({"tool_name": "run", "params": {"tool_name": "run", "params": {"command": "ls"}}}, {"command": "ls"}),
        ('{"tool_name": "run", "params": {"command": "ls"}}', {"command": "ls"}),
    ],
)
def test_a_call_with_one_reading_runs_with_it(written: Any, params: dict[str, Any]) -> None:
    """Whatever the model nested or flattened, the target gets exactly the arguments that were meant."""
    answer, calls = execute(written)
    assert calls == [params], answer.text


@pytest.mark.parametrize(
    "written",
    [
        {"tool_name": "run", "params": '{"command": "a\\q"}'},
        {"tool_name": "run", "params": "ls -l"},
        {"tool_name": "run", "params": ["ls"]},
        {"tool_name": "run", "params": 0},
        {"tool_name": "run", "params": False},
        {"tool_name": "run", "params": {"command": "ls"}, "command": "rm"},
    ],
)
@pytest.mark.parametrize("schema", [RUN, {"type": "object", "properties": {}}, None])
def test_a_call_that_cannot_be_read_does_not_run(written: Any, schema: Any) -> None:
    """Such a call is refused with the target's schema; it never runs with less than was written."""
    answer, calls = execute(written, schema)
    assert (answer.code, calls) == ("unreadable_arguments", [])
    assert "Parameters of run" in answer.text
    assert answer.discovered


@pytest.mark.parametrize("written", [{"tool_name": "run"}, {"tool_name": "run", "params": ""}])
def test_absent_arguments_are_none_only_where_none_are_needed(written: Any) -> None:
    """A tool without required parameters runs with `{}`; one with them is refused."""
    assert execute(written, {"type": "object", "properties": {}})[1] == [{}]
    answer, calls = execute(written)
    assert (answer.code, calls) == ("invalid_params", [])
    assert "command: is required and missing" in answer.text


@pytest.mark.parametrize("written", [None, 5, [], "", "run", '["run"]', {}, {"tool_name": 5}, {5: "run"}, {"a": 1}])
def test_a_call_that_names_no_tool_is_told_what_to_write(written: Any) -> None:
    """The answer says in which form a call is to be written."""
    answer, calls = execute(written)
    assert (answer.code, calls) == ("unreadable_arguments", [])
    assert "tool_name" in answer.text


def test_several_readings_are_told_apart_by_what_is_declared() -> None:
    """Of two readings that a loose schema accepts, the one is taken whose names the schema knows; without any, none."""
    loose = {"type": "object", "properties": {"q": {"type": "string"}}}
    assert execute({"tool_name": "run", "arguments": {"q": "x"}}, loose)[1] == [{"q": "x"}]
    assert execute({"tool_name": "run", "params": {"params": {"q": "x"}}}, loose)[1] == [{"q": "x"}]
    answer, calls = execute({"tool_name": "run", "arguments": {"q": "x"}}, None)
    assert (answer.code, calls) == ("unreadable_arguments", [])


def test_a_parameter_may_be_called_as_the_place_for_arguments_is() -> None:
    """A declared `arguments`, `params` or dotted name is an argument like any other."""
    schema = {"type": "object", "properties": {"arguments": {"type": "object"}, "user.name": {"type": "string"}}}
    for params in ({"arguments": {"a": 1}}, {"user.name": "x"}):
        assert execute({"tool_name": "run", "params": params}, schema)[1] == [params]
        assert execute({"tool_name": "run", **params}, schema)[1] == [params]


def test_a_call_in_shape_is_not_reported_as_repaired() -> None:
    """Neither an object nor its JSON text counts as repaired; what was moved does."""
    call = {"tool_name": "run", "params": {"a.b": 1}}
    assert read_call(call) == read_call(json.dumps(call)) == ReadCall("run", {"a.b": 1})
    moved = read_call({"tool_name": "run", "a": 1})
    assert isinstance(moved, ReadCall)
    assert moved.repaired


def test_reading_changes_nothing_of_what_was_written() -> None:
    """A dotted key that joins an object leaves the model's own object as it was, in any order of keys."""
    for written in (
        {"tool_name": "run", "a": {"b": 1}, "a.c": 2},
        {"tool_name": "run", "a.c": 2, "a": {"b": 1}},
    ):
        before = json.dumps(written)
        read = read_call(written, fits=lambda _name, params: "a.c" not in params)
        assert read == ReadCall("run", {"a": {"b": 1, "c": 2}}, repaired=True)
        assert json.dumps(written) == before


SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.text('ab{}" .', max_size=6)
KEYS = st.sampled_from(
    ["command", "count", "options", "params", "tool_name", "arguments", "a.b", "params.x", "name", ""]
)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))


def leaves(value: Any) -> list[str]:
    """The scalars of a JSON value, each as JSON; a text that holds an object counts as what it holds."""
    if isinstance(value, str):
        try:
            inner = json.loads(value)
        except ValueError:
            inner = None
        return leaves(inner) if isinstance(inner, dict | str) else [json.dumps(value)]
    if isinstance(value, dict | list):
        return [leaf for inner in (value.values() if isinstance(value, dict) else value) for leaf in leaves(inner)]
    return [json.dumps(value)]


@given(written=JSON, schema=st.sampled_from([None, RUN, {"type": "object", "properties": {}}]))
def test_any_arguments_are_answered_and_never_emptied(written: Any, schema: Any) -> None:
    """Nothing is raised for any JSON; what runs has every value that was written beside the name."""
    if isinstance(written, dict):
        written = {"tool_name": "run", **written} if "name" not in written else written
    _, calls = execute(written, schema)
    if not calls:
        return
    left = leaves(written)
    for leaf in leaves(calls[0]):
        left.remove(leaf)  # nothing is invented
    # All that is missing is the name, and a place for arguments that held none.
    assert {leaf for leaf in left if json.loads(leaf) not in (None, "run") and json.loads(leaf).strip()} == set()


@given(
    params=st.fixed_dictionaries({"command": st.text(max_size=5)}, optional={"count": st.integers(0, 9)}),
    shape=st.sampled_from(["in shape", "text", "beside", "dotted", "twice", "arguments", "whole text"]),
)
def test_a_strict_tool_runs_with_what_was_meant(params: dict[str, Any], shape: str) -> None:
    """Whatever the shape, arguments that fit a strict schema arrive unchanged."""
    written: Any = {
        "in shape": {"tool_name": "run", "params": params},
        "text": {"tool_name": "run", "params": json.dumps(params)},
        "beside": {"tool_name": "run", **params},
        "dotted": {"tool_name": "run"} | {f"params.{key}": value for key, value in params.items()},
        "twice": {"tool_name": "run", "params": {"tool_name": "run", "params": params}},
        "arguments": {"tool_name": "run", "arguments": params},
        "whole text": json.dumps({"tool_name": "run", "params": params}),
    }[shape]
    assert execute(written, {**RUN, "additionalProperties": False})[1] == [params]


def test_an_unreadable_call_keeps_the_name_that_can_be_told() -> None:
    """The reading that failed still names the target, so that its schema can be shown."""
    read = read_call({"tool_name": "run", "params": 3})
    assert isinstance(read, Unreadable)
    assert read.tool_name == "run"
