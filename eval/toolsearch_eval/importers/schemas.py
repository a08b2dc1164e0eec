"""Parameters as benchmarks write them down, as JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_TYPES = {
    "any": None,
    "arraylist": "array",
    "bool": "boolean",
    "boolean": "boolean",
    "array": "array",
    "char": "string",
    "dict": "object",
    "date": "string",
    "double": "number",
    "enum": "string",
    "float": "number",
    "hashmap": "object",
    "int": "integer",
    "integer": "integer",
    "list": "array",
    "long": "integer",
    "null": "null",
    "number": "number",
    "object": "object",
    "str": "string",
    "string": "string",
    "tuple": "array",
}
SOURCE_TYPE = "x-source-type"
"""Where a source's own type is kept that JSON Schema has no word for."""


def json_schema(schema: Any) -> Any:
    """A schema with other words for types, as JSON Schema; all else stays as it is.

    >>> json_schema({"type": "dict", "properties": {"size": {"type": "float"}}, "required": ["size"]})
    {'type': 'object', 'properties': {'size': {'type': 'number'}}, 'required': ['size']}
    >>> json_schema({"type": "Geo point"})
    {'x-source-type': 'Geo point'}
    """
    if isinstance(schema, list):
        return [json_schema(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str):
            found |= type_of(value)
        elif key == "properties" and isinstance(value, Mapping):
            found[key] = {name: json_schema(inner) for name, inner in value.items()}
        elif key in ("items", "additionalProperties", "anyOf", "oneOf", "allOf"):
            found[key] = json_schema(value)
        else:
            found[key] = value
    return found


def type_of(word: str) -> dict[str, str]:
    """The type for a source's word; what JSON Schema has no word for is kept beside.

    >>> type_of("str"), type_of("ENUM"), type_of("Any"), type_of("geo")
    ({'type': 'string'}, {'type': 'string'}, {}, {'x-source-type': 'geo'})
    """
    plain = word.split(",")[0].strip().casefold()
    known = _TYPES.get(plain, word)
    if known is None:
        return {}
    return {"type": known} if plain in _TYPES else {SOURCE_TYPE: word}


def object_schema(parameters: Mapping[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    """The schema of an object whose fields are given by name, each with type, description and what else there is.

    Args:
        parameters: By name, a mapping, or anything else, which then becomes the description.
        required: Names; those that are no field are left out.
    """
    properties = {
        name: json_schema(value) if isinstance(value, Mapping) else {"description": str(value)}
        for name, value in parameters.items()
    }
    needed = [name for name in dict.fromkeys(required) if name in properties]
    return {"type": "object", "properties": properties, **({"required": needed} if needed else {})}
