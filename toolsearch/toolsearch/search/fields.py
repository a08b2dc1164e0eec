"""The searchable texts of a tool, one for each field of `toolsearch.config.FIELDS`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from toolsearch.catalog.tool import MCP_PREFIX, Tool

_NESTED, _LIST, _MAP, _PROPERTIES, _DESCRIPTION, _ENUM = range(6)
_KEYWORDS = {
    **dict.fromkeys(
        ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"), _NESTED
    ),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), _LIST),
    **dict.fromkeys(("patternProperties", "$defs", "definitions", "dependentSchemas"), _MAP),
    "properties": _PROPERTIES,
    "description": _DESCRIPTION,
    "enum": _ENUM,
}
_MAPPINGS = (dict, MappingProxyType)


def field_texts(tool: Tool) -> tuple[str, str, str, str, str, str]:
    """Name (with aliases), server, hint, description, parameter names, parameter descriptions with enum values.

    The name is the leaf: the server has a field of its own. Absent texts are "".
    """
    name = tool.leaf
    if tool.server is None and name.startswith(MCP_PREFIX) and len(name) > len(MCP_PREFIX):
        name = name[len(MCP_PREFIX) :]
    names, descriptions = parameter_texts(tool.input_schema)
    return (
        " ".join((name, *tool.aliases)),
        tool.server or "",
        tool.search_hint or "",
        tool.description or "",
        " ".join(names),
        " ".join(descriptions),
    )


def parameter_texts(schema: Mapping[str, Any] | None) -> tuple[list[str], list[str]]:
    """Parameter names and their descriptions with enum values, nested ones too, in the order of the schema.

    Anything that isn't of JSON Schema's form is passed over; a structure that refers to itself ends.
    """
    names: list[str] = []
    descriptions: list[str] = []
    if not isinstance(schema, Mapping):
        return names, descriptions
    # A stack instead of recursion: a hostile schema may be nested deeper than Python's own stack.
    stack: list[Mapping[str, Any]] = [schema]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        children: list[Any] = []
        for keyword, value in node.items():
            meaning = _KEYWORDS.get(keyword)
            if meaning is None:
                continue
            if meaning == _DESCRIPTION:
                if node is not schema and isinstance(value, str):
                    descriptions.append(value)
            elif meaning == _ENUM:
                if isinstance(value, list | tuple):
                    descriptions += [item for item in value if isinstance(item, str)]
            elif meaning == _LIST:
                if isinstance(value, list | tuple):
                    children += value
            elif meaning == _NESTED and isinstance(value, list | tuple):
                # Drafts before 2020-12 write the items of a tuple this way.
                children += value
            elif isinstance(value, _MAPPINGS):
                if meaning == _PROPERTIES:
                    names += [name for name in value if isinstance(name, str)]
                children += (value,) if meaning == _NESTED else value.values()
        if children:
            children.reverse()
            stack += [child for child in children if isinstance(child, _MAPPINGS)]
    return names, descriptions
