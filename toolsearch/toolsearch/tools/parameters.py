"""The parameters that a JSON Schema describes, whatever its owner wrote: bounded, never an error, nothing fetched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolsearch.tools.found import Parameter

_DEEPEST_REFERENCE = 8
"""References and combined schemas are followed this far; a schema may refer to itself."""

_MOST_PARTS = 64
"""Schemas that are combined to one object; what is beyond stands in the full schema alone."""

_LONGEST_TYPE_NAME = 40


@dataclass(slots=True)
class Described:
    """What a schema says about an object.

    Attributes:
        properties: The schemas of its properties by name, in order.
        required: The names that it must have.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)


def parameters_of(schema: Mapping[str, Any] | None) -> tuple[Parameter, ...]:
    """The parameters of a tool, in the order of its schema; empty for a missing or odd schema.

    Combined schemas (`allOf`, `anyOf`, `oneOf`, local references) give the parameters of all their parts; one that only
    some of the alternatives require is not required.

    >>> [(each.name, each.type, each.required) for each in parameters_of(
    ...     {"properties": {"to": {"type": "string"}, "urgent": {}}, "required": ["to"]})]
    [('to', 'string', True), ('urgent', 'any', False)]
    """
    if schema is None:
        return ()
    found = described(schema, schema)
    return tuple(
        Parameter(
            name=name,
            type=json_type(inner, schema),
            required=name in found.required,
            description=_description(inner),
        )
        for name, inner in found.properties.items()
    )


def described(schema: object, root: Mapping[str, Any]) -> Described:
    """What `schema`, a part of `root` or all of it, says about an object.

    A name that is required and not described is a property of any type, at the end.
    """
    found = Described()
    _collect(schema, root, found, [_MOST_PARTS], 0)
    for name in sorted(found.required - set(found.properties)):
        found.properties[name] = {}
    return found


def _collect(schema: object, root: Mapping[str, Any], found: Described, left: list[int], depth: int) -> None:
    if not isinstance(schema, Mapping) or depth > _DEEPEST_REFERENCE or left[0] <= 0:
        return
    left[0] -= 1
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        for name, inner in properties.items():
            found.properties.setdefault(str(name), inner)
    required = listed(schema.get("required"))
    found.required |= {name for name in required if isinstance(name, str)}
    if "$ref" in schema:
        _collect(_target(schema["$ref"], root), root, found, left, depth + 1)
    for part in listed(schema.get("allOf")):
        _collect(part, root, found, left, depth + 1)
    for keyword in ("anyOf", "oneOf"):
        branches = []
        for part in listed(schema.get(keyword)):
            branch = Described()
            _collect(part, root, branch, left, depth + 1)
            branches.append(branch)
        for branch in branches:
            for name, inner in branch.properties.items():
                found.properties.setdefault(name, inner)
        if branches:
            found.required |= set.intersection(*(branch.required for branch in branches))


def json_type(schema: object, root: Mapping[str, Any]) -> str:
    """The JSON types that a schema allows, joined by `|`; `any` where it says none.

    >>> json_type({"anyOf": [{"type": "string"}, {"type": "null"}]}, {}), json_type({"enum": [1, "a"]}, {})
    ('string|null', 'integer|string')
    """
    return "|".join(dict.fromkeys(_types(schema, root, [_MOST_PARTS], 0)))


def _types(schema: object, root: Mapping[str, Any], left: list[int], depth: int) -> list[str]:
    schema = resolved(schema, root)
    left[0] -= 1
    if not isinstance(schema, Mapping) or left[0] < 0 or depth > _DEEPEST_REFERENCE:
        return ["any"]
    named = type_names(schema)
    if named:
        return named
    parts = listed(schema.get("anyOf")) or listed(schema.get("oneOf"))
    if parts:
        # Bounded over the whole walk, not only in depth: alternatives of alternatives multiply.
        return [name for part in parts[: max(1, left[0])] for name in _types(part, root, left, depth + 1)]
    values = [schema["const"]] if "const" in schema else listed(schema.get("enum"))
    return [_value_type(value) for value in values] or ["any"]


def type_names(schema: Mapping[str, Any]) -> list[str]:
    """What stands under `type`, as a list; empty when nothing fit does."""
    kind = schema.get("type")
    kinds = [kind] if isinstance(kind, str) else listed(kind)[:8]
    return list(dict.fromkeys(one[:_LONGEST_TYPE_NAME] for one in kinds if isinstance(one, str)))


def resolved(schema: object, root: Mapping[str, Any]) -> object:
    """The schema behind local references, and behind an `allOf` of one, which some writers put around a reference."""
    for _ in range(_DEEPEST_REFERENCE):
        if not isinstance(schema, Mapping) or "type" in schema or "properties" in schema:
            return schema
        parts = listed(schema.get("allOf"))
        if "$ref" in schema:
            schema = _target(schema["$ref"], root)
        elif len(parts) == 1:
            schema = parts[0]
        else:
            return schema
    return None


def _target(reference: object, root: Mapping[str, Any]) -> object:
    """What a reference inside of the same schema points to; None for any other: nothing is ever fetched."""
    if not isinstance(reference, str) or not reference.startswith("#") or len(reference) > 1000:
        return None
    target: object = root
    for step in reference[1:].split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping):
            target = target.get(key)
        elif isinstance(target, list) and key.isdecimal() and len(key) < 6 and int(key) < len(target):
            target = target[int(key)]
        else:
            return None
    return target


def listed(value: object) -> list[Any]:
    """A JSON array as a list; empty for anything else."""
    return list(value) if isinstance(value, list | tuple) else []


def _value_type(value: object) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null", list: "array"}
    return names.get(type(value), "object")


def _description(schema: object) -> str | None:
    text = schema.get("description") if isinstance(schema, Mapping) else None
    return text if isinstance(text, str) else None
