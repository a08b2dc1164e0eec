"""Python functions with type hints as tools; needs pydantic, which is loaded only when it is used.

Importing a module runs its code. That happens in `load_python_catalog` alone, which a user has to ask for by
name; no catalog file leads here.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolsearch.catalog.registry import Snapshot, ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.errors import UnknownNameError, UsageError

PYTHON_PREFIX = "python:"
"""Begins the name of a catalog that is made by importing a module: `python:module:name`."""


def tool_from_function(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    search_hint: str | None = None,
    server: str | None = None,
    aliases: Iterable[str] = (),
    always_load: bool = False,
    read_only: bool = False,
) -> Tool:
    """A tool that calls a function, sync or async; its schema comes from the type hints.

    Args:
        function: Every parameter has a type hint and can be given by name. `Annotated[...,
            Field(description=...)]` describes one.
        name: Instead of the function's own name.
        description: Instead of the docstring; without either the tool has none.
        search_hint: A few words for the search.
        server: The owner.
        aliases: Further names.
        always_load: Never deferred.
        read_only: The function changes nothing.

    Returns:
        A tool whose `call(params)` checks and converts the arguments, then gives what the function gives: for
        an async function something to await. Arguments that don't fit raise a UsageError.

    Raises:
        UsageError: pydantic is not installed, a parameter has no type hint or can't be given by name, or a
            hint is no type that a schema can describe.
    """
    label = name or getattr(function, "__name__", None)
    if not label or label == "<lambda>":
        raise UsageError(f"{function!r} has no name of its own; give a function, or a callable with name=.")
    try:
        import pydantic
        from pydantic_core import ArgsKwargs
    except ImportError:
        raise UsageError(
            "tools from functions need pydantic, which is not installed: pip install pydantic "
            "(the extra toolsearch[mcp] brings it too)."
        ) from None
    _check_signature(function, label)
    try:
        described: Any = function  # pydantic describes functions as it does types; its own hints leave that out
        adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(described)
        schema = adapter.json_schema()
    except (pydantic.errors.PydanticUserError, NameError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"function {label!r} can't be described by a schema: {reason}") from None

    def call(params: Mapping[str, Any]) -> Any:
        try:
            return adapter.validate_python(ArgsKwargs((), dict(params)))
        except pydantic.ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(str(step) for step in fault['loc'])}: {fault['msg']}" for fault in error.errors()
            )
            raise UsageError(f"arguments of {label!r} don't fit: {faults}") from error

    return Tool(
        name=label,
        description=description if description is not None else inspect.getdoc(function),
        search_hint=search_hint,
        input_schema=_without_titles(schema),
        server=server,
        aliases=tuple(aliases),
        always_load=always_load,
        read_only=read_only,
        call=call,
    )


def load_python_catalog(spec: str) -> tuple[Tool, ...]:
    """Import a module and take the tools that it names; for an explicit request of the user only.

    Args:
        spec: `python:module:name`, where the name is a list of tools or functions, a registry, a snapshot, or
            a function without parameters that gives one of these.

    Raises:
        UsageError: The form is another, the module can't be imported, or what it names are no tools.
        UnknownNameError: The module has no such name.
    """
    parts = spec.removeprefix(PYTHON_PREFIX).split(":")
    if not spec.startswith(PYTHON_PREFIX) or len(parts) != 2 or not all(parts):
        raise UsageError(f"{spec!r} is not of the form python:module:name, for instance python:my_agent.tools:TOOLS.")
    module_name, attribute = parts
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # the module is the user's own and may raise anything
        raise UsageError(
            f"{spec}: module {module_name!r} can't be imported: {type(error).__name__}: {error}"
        ) from error
    if not hasattr(module, attribute):
        public = [known for known in vars(module) if not known.startswith("_")]
        raise UnknownNameError(f"name in module {module_name}", attribute, public)
    value = getattr(module, attribute)
    if callable(value) and not isinstance(value, ToolRegistry):
        try:
            value = value()
        except Exception as error:  # likewise
            raise UsageError(f"{spec}: calling it failed: {type(error).__name__}: {error}") from error
    return _tools_of(value, spec)


def _tools_of(value: object, spec: str) -> tuple[Tool, ...]:
    if isinstance(value, ToolRegistry):
        value = value.snapshot()
    if isinstance(value, Snapshot):
        return value.tools
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise UsageError(f"{spec} gives a {type(value).__name__}; it must give tools, functions or a registry.")
    tools = []
    for item in value:
        if isinstance(item, Tool):
            tools.append(item)
        elif callable(item):
            tools.append(tool_from_function(item))
        else:
            raise UsageError(f"{spec} holds a {type(item).__name__}; each item must be a Tool or a function.")
    return tuple(tools)


def _check_signature(function: Callable[..., Any], label: str) -> None:
    faults = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            faults.append(f"{parameter} can't be given by name")
        elif parameter.annotation is parameter.empty:
            faults.append(f"{parameter.name} has no type hint")
    if faults:
        raise UsageError(f"function {label!r} can't be a tool: {'; '.join(faults)}.")


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without the titles that pydantic makes from names: they say nothing and cost tokens."""
    properties = {}
    for name, given in schema.get("properties", {}).items():
        own = given.get("title") != name.replace("_", " ").strip().title()
        properties[name] = given if own else {key: value for key, value in given.items() if key != "title"}
    return {**schema, "type": "object", "properties": properties}
