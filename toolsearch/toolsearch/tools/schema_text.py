"""A tool's parameters as a model reads them: the whole JSON Schema, a trimmed one, or one line in brief."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolsearch.tools.parameters import Described, described, listed, resolved, type_names
from toolsearch.tools.untrusted import CUT_MARK, neutralise, safe_json, shown_name

_LONGEST_NAME = 100
_LONGEST_TYPE = 160
_LONGEST_CHOICE = 40
_MOST_CHOICES = 8
_DEEPEST_TYPE = 2
"""An object's own properties and those one level below are told; what is deeper stands in the full schema."""

_COMMENTS = frozenset({"title", "examples", "example", "$comment", "$schema", "$id"})
_OF_NAMES = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_OF_VALUES = frozenset({"enum", "const", "default"})
_SAYS_NO_PARAMETER = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "$schema"}
)


def full_text(schema: Mapping[str, Any]) -> str | None:
    """The whole schema as safe JSON on one line, or None if it is nested too deeply to be written."""
    try:
        return safe_json(schema)
    except (RecursionError, TypeError, ValueError):
        return None


def trimmed_text(schema: Mapping[str, Any], *, limit: int) -> str | None:
    """The schema with descriptions of at most `limit` characters, without titles, examples and comments.

    What decides whether a call is valid stays as it is.

    >>> trimmed_text({"properties": {"title": {"type": "string", "title": "Title", "description": "Of it"}}}, limit=16)
    '{"properties": {"title": {"type": "string", "description": "Of it"}}}'
    """
    try:
        return safe_json(_trimmed(schema, limit))
    except (RecursionError, TypeError, ValueError):
        return None


def _trimmed(schema: Any, limit: int) -> Any:
    if isinstance(schema, list):
        return [_trimmed(inner, limit) for inner in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "description" and isinstance(value, str):
            kept[key] = neutralise(value, limit=limit).text
        elif key in _OF_NAMES and isinstance(value, Mapping):
            # A property may be called `title` or `description`: names are no keywords.
            kept[key] = {name: _trimmed(inner, limit) for name, inner in value.items()}
        elif key not in _COMMENTS:
            kept[key] = value if key in _OF_VALUES else _trimmed(value, limit)
    return kept


@dataclass(frozen=True, slots=True)
class Brief:
    """The parameters of a tool on one line.

    Attributes:
        text: The line, neutralised; `?` marks an optional parameter.
        cut: Something was left out or shortened; the line says where.
        complete: Every required parameter is named, so the tool can be called.
    """

    text: str
    cut: bool = False
    complete: bool = True


def brief(schema: Mapping[str, Any] | None, *, limit: int) -> Brief:
    """The parameters on one line of about `limit` characters at most, required ones first.

    >>> brief({"properties": {"urgent": {"type": "boolean"}, "to": {"type": "string"}}, "required": ["to"]}, limit=80)
    Brief(text='to: string, urgent?: boolean', cut=False, complete=True)
    >>> brief(None, limit=80).text, brief({"type": "object", "properties": {}}, limit=80).text
    ('not described', 'none')
    """
    if schema is None:
        return Brief("not described")
    found = described(schema, schema)
    if not found.properties:
        return Brief(_without_properties(schema))
    ordered = _required_first(found)
    pieces: list[str] = []
    length, cut, complete = 0, False, True
    for position, name in enumerate(ordered):
        optional = name not in found.required
        short = name[:_LONGEST_NAME]
        kind = neutralise(_type_text(found.properties[name], schema, 0), limit=_LONGEST_TYPE)
        mark = CUT_MARK if short != name else ""
        piece = f"{shown_name(short)}{mark}{'?' if optional else ''}: {kind.text}"
        length += len(piece) + 2
        if length > limit and pieces:
            pieces.append(f"{len(ordered) - position} more{CUT_MARK}")
            # Required ones come first, so this one tells whether any of them is left out.
            return Brief(", ".join(pieces), cut=True, complete=complete and optional)
        pieces.append(piece)
        cut = cut or kind.cut or short != name
        complete = complete and (optional or short == name)
    return Brief(", ".join(pieces), cut=cut, complete=complete)


def _required_first(found: Described) -> list[str]:
    return sorted(found.properties, key=lambda name: name not in found.required)


def _without_properties(schema: Mapping[str, Any]) -> str:
    if schema.get("additionalProperties") not in (None, False) or "patternProperties" in schema:
        return "any names"
    plain = set(schema) <= _SAYS_NO_PARAMETER and isinstance(schema.get("properties", {}), Mapping)
    return "none" if plain else "not described"


def _type_text(schema: object, root: Mapping[str, Any], depth: int) -> str:
    """A type as TypeScript writes it, which says much in little space: `"a" | "b"`, `string[]`, `{id: string}`."""
    schema = resolved(schema, root)
    if not isinstance(schema, Mapping):
        return "any"
    values = [schema["const"]] if "const" in schema else listed(schema.get("enum"))
    if values:
        return " | ".join(_choices(values))
    named = type_names(schema) or (["object"] if "properties" in schema else [])
    if named:
        return " | ".join(_one_type_text(name, schema, root, depth) for name in named)
    parts = [*listed(schema.get("anyOf")), *listed(schema.get("oneOf"))][:_MOST_CHOICES]
    if parts and depth < _DEEPEST_TYPE:
        return " | ".join(dict.fromkeys(_type_text(part, root, depth + 1) for part in parts))
    return "any"


def _one_type_text(name: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    if name not in ("array", "object") or depth >= _DEEPEST_TYPE:
        return name
    if name == "array":
        inner = _type_text(schema.get("items"), root, depth + 1)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    found = described(schema, root)
    if not found.properties:
        return name
    inside = [
        f"{shown_name(key[:_LONGEST_NAME])}{'' if key in found.required else '?'}: "
        f"{_type_text(found.properties[key], root, depth + 1)}"
        for key in _required_first(found)[:_MOST_CHOICES]
    ]
    return f"{{{', '.join(inside)}{', …' if len(found.properties) > _MOST_CHOICES else ''}}}"


def _choices(values: list[Any]) -> Iterator[str]:
    for value in values[:_MOST_CHOICES]:
        text = safe_json(value) if isinstance(value, str | int | float | None) else "any"
        yield text if len(text) <= _LONGEST_CHOICE else text[:_LONGEST_CHOICE] + "…"
    if len(values) > _MOST_CHOICES:
        yield f"… {len(values) - _MOST_CHOICES} more"
