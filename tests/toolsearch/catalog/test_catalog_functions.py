"""Tools from Python functions."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any

import pydantic
import pytest

from toolsearch.catalog.functions import load_python_catalog, tool_from_function
from toolsearch.errors import UnknownNameError, UsageError


def add(left: int, right: Annotated[int, pydantic.Field(description="the other")] = 2) -> int:
    """Add two numbers."""
    return left + right


async def later(schema: str, _json: int = 1) -> str:
    """Answer later."""
    return schema * _json


def test_schema_and_description_come_from_the_function() -> None:
    """Hints, defaults and described parameters make the schema; made-up titles are left out."""
    tool = tool_from_function(add, server="maths", aliases=["plus"], read_only=True)
    assert (tool.name, tool.description, tool.server) == ("add", "Add two numbers.", "maths")
    assert (tool.aliases, tool.read_only) == (("plus",), True)
    assert tool.input_schema == {
        "type": "object",
        "properties": {
            "left": {"type": "integer"},
            "right": {"type": "integer", "default": 2, "description": "the other"},
        },
        "required": ["left"],
        "additionalProperties": False,
    }


def test_call_checks_converts_and_runs_sync_and_async() -> None:
    """A sync function gives its answer, an async one something to await; odd parameter names are fine."""
    call, awaited = tool_from_function(add).call, tool_from_function(later).call
    assert call is not None
    assert awaited is not None
    assert call({"left": "3"}) == 5
    result: Any = awaited({"schema": "x", "_json": 3})
    assert asyncio.run(result) == "xxx"
    with pytest.raises(UsageError, match=r"left.*right"):
        call({"right": "x"})
    with pytest.raises(UsageError, match="other"):
        call({"left": 1, "other": 2})


def test_functions_that_cannot_be_described_are_usage_errors() -> None:
    """No name, no hint, positional-only, or a hint that is no schema type."""

    def bare(a, b, /, *rest):  # type: ignore[no-untyped-def]
        return a, b, rest

    def odd(value: object, lock: asyncio.Lock) -> None:
        del value, lock

    with pytest.raises(UsageError, match="no name"):
        tool_from_function(lambda: 1)
    with pytest.raises(UsageError, match=r"a can't.*b can't.*\*rest can't"):
        tool_from_function(bare)
    with pytest.raises(UsageError, match="no type hint"):
        tool_from_function(lambda value: value, name="named")
    with pytest.raises(UsageError, match="can't be described"):
        tool_from_function(odd)


def test_missing_pydantic_is_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pydantic the error says what to install."""
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(UsageError, match="pip install pydantic"):
        tool_from_function(add)


def test_python_catalog_takes_lists_registries_and_makers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A named list, registry or function without parameters gives its tools; all else is a usage error."""
    (tmp_path / "catalog_for_test.py").write_text(
        "from toolsearch.catalog.registry import ToolRegistry\n"
        "from toolsearch.catalog.tool import Tool\n"
        "def ping(host: str) -> str:\n    return host\n"
        "TOOLS = [Tool(name='a'), ping]\n"
        "REGISTRY = ToolRegistry([Tool(name='b')])\n"
        "def make():\n    return TOOLS[:1]\n"
        "def broken():\n    raise RuntimeError('boom')\n"
        "NUMBER = 3\nMIXED = [3]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    prefix = "python:catalog_for_test:"
    assert [tool.name for tool in load_python_catalog(prefix + "TOOLS")] == ["a", "ping"]
    assert [tool.name for tool in load_python_catalog(prefix + "REGISTRY")] == ["b"]
    assert [tool.name for tool in load_python_catalog(prefix + "make")] == ["a"]
    with pytest.raises(UnknownNameError, match="TOOLS"):
        load_python_catalog(prefix + "TOOL")
    for spec, message in (
        (prefix + "broken", "boom"),
        (prefix + "NUMBER", "gives a int"),
        (prefix + "MIXED", "holds a int"),
        ("python:no_such_module_here:x", "can't be imported"),
        ("python:only", "form python:module:name"),
        ("os:sep", "form python:module:name"),
    ):
        with pytest.raises(UsageError, match=message):
            load_python_catalog(spec)
