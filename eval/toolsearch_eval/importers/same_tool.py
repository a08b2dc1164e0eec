"""When two tools of one name are one tool, and what they are together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolsearch.catalog.tool import Tool

SAME_TOOL = 0.2
"""Share of common words from which on two descriptions under one name are taken for one tool: sets that list the tools
of each query apart describe one and the same function in slightly different words."""

_WORD = re.compile(r"\w+")


def is_same(known: Tool, other: Tool) -> bool:
    """Whether two tools of one name describe the same; one without a description is the same as any."""
    mine, theirs = (set(_WORD.findall((tool.description or "").casefold())) for tool in (known, other))
    if not mine or not theirs:
        return True
    return len(mine & theirs) / len(mine | theirs) >= SAME_TOOL


def merged(known: Tool, other: Tool) -> Tool:
    """The known tool with the longer of the two descriptions and the schema that has more parameters."""
    described = max((known.description, other.description), key=lambda text: len(text or ""))
    larger = _size(other.input_schema) > _size(known.input_schema)
    return replace(known, description=described, input_schema=other.input_schema if larger else known.input_schema)


def _size(schema: Mapping[str, Any] | None) -> int:
    if schema is None:
        return -1
    properties = schema.get("properties")
    return len(properties) if isinstance(properties, Mapping) else 0
