"""Schemas of strangers made valid: one broken schema among the tools makes a provider refuse the whole request.

Providers check against JSON Schema draft 2020-12. Servers write older drafts, types of their own language and
references that lead nowhere. What has a meaning today is rewritten, the rest is left out, and each step is told.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from toolsearch.session.providers.reading import sendable
from toolsearch.tools.untrusted import shown_name

MAX_DEPTH = 40
"""Schemas inside one another; deeper ones become "anything". Honest ones stay below ten."""

MAX_NODES = 20_000
"""Schemas within one tool; the rest become "anything"."""

ONE = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords whose value is a schema."""

MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""

NAMED = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose value is an object of schemas."""

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_OTHER_TYPES = {
    "bool": "boolean",
    "dict": "object",
    "double": "number",
    "float": "number",
    "int": "integer",
    "list": "array",
    "long": "integer",
    "map": "object",
    "none": "null",
    "str": "string",
    "text": "string",
}


class Faults:
    """What had to be changed in one schema; each kind once, with the first place."""

    def __init__(self) -> None:
        """Start without faults."""
        self._found: dict[str, str] = {}
        self.nodes = 0

    def add(self, what: str, path: tuple[str, ...] = ()) -> None:
        """Note a fault; `path` leads to it through the schema."""
        self._found.setdefault(what, ".".join(shown_name(step[:40]) for step in path[:8]))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """What was changed and its first place ("" for the whole schema), in the order of their finding."""
        return iter(self._found.items())


def repaired(schema: Mapping[str, Any] | None, faults: Faults) -> dict[str, Any]:
    """A schema of draft 2020-12 for whatever a server gave; equal to what was given when that is valid.

    Args:
        schema: None, or no object, means: no parameters.
        faults: Takes up what was changed.

    Returns:
        A new value. Every `$ref` in it leads to a place inside of it.
    """
    if schema is None:
        return {"type": "object", "properties": {}}
    if not isinstance(schema, Mapping):
        faults.add("the schema is no object")
        return {"type": "object", "properties": {}}
    fixed = _schema(schema, (), faults)
    assert isinstance(fixed, dict)
    _drop_dangling(fixed, fixed, (), faults)
    return _valid(fixed, faults)


def resolve(root: Mapping[str, Any], reference: Any) -> Mapping[str, Any] | bool | None:
    """The schema that a local reference leads to; None when it leads nowhere or out of the schema.

    >>> resolve({"$defs": {"a/b": {"type": "string"}}}, "#/$defs/a~1b")
    {'type': 'string'}
    """
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    value: Any = root
    pointer = unquote(reference[1:])
    if pointer and not pointer.startswith("/"):
        return None
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value if isinstance(value, (Mapping, bool)) else None


def _schema(schema: Any, path: tuple[str, ...], faults: Faults) -> dict[str, Any] | bool:
    if isinstance(schema, bool):
        return schema
    faults.nodes += 1
    if not isinstance(schema, Mapping):
        faults.add("a value that is no schema was left out", path)
        return {}
    if len(path) > 2 * MAX_DEPTH or faults.nodes > MAX_NODES:
        faults.add("what is nested too deeply or beyond the size was left out", path)
        return {}
    fixed: dict[str, Any] = {}
    for key, value in _today(schema, path, faults).items():
        here = (*path, key)
        if key in ONE:
            fixed[key] = _schema(value, here, faults)
        elif key in MANY:
            if isinstance(value, list) and value:
                fixed[key] = [_schema(inner, (*here, str(place)), faults) for place, inner in enumerate(value)]
            else:
                faults.add(f"{key} is no list of schemas and was left out", path)
        elif key in NAMED:
            if isinstance(value, Mapping):
                fixed[key] = {
                    sendable(str(name)): _schema(inner, (*here, str(name)), faults) for name, inner in value.items()
                }
            else:
                faults.add(f"{key} is no object and was left out", path)
        else:
            fixed[sendable(str(key))] = _data(value, 0)
    return fixed


def _today(schema: Mapping[str, Any], path: tuple[str, ...], faults: Faults) -> dict[str, Any]:
    """One schema with what older drafts wrote differently."""
    fixed = dict(schema)
    if isinstance(fixed.get("items"), list):
        faults.add("items as a list became prefixItems", path)
        fixed["prefixItems"] = fixed.pop("items")
        if "additionalItems" in fixed:
            fixed["items"] = fixed.pop("additionalItems")
    for exclusive, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(fixed.get(exclusive), bool):
            faults.add(f"{exclusive} became a number", path)
            if fixed.pop(exclusive) and plain in fixed:
                fixed[exclusive] = fixed.pop(plain)
    inner = fixed.get("properties")
    if isinstance(inner, Mapping) and any(_says_required(value) for value in inner.values()):
        faults.add("required of a single property became a list", path)
        listed = fixed["required"] if isinstance(fixed.get("required"), list) else []
        wanted = [name for name, value in inner.items() if _says_required(value) and value["required"]]
        fixed["required"] = list(dict.fromkeys([*listed, *wanted]))
    if "required" in fixed and not isinstance(fixed["required"], list):
        del fixed["required"]
    if "type" in fixed:
        kind = _type(fixed["type"])
        if kind != fixed["type"]:
            faults.add("a type that JSON Schema doesn't know was rewritten", path)
            fixed.pop("type")
            if kind is not None:
                fixed["type"] = kind
    if fixed.get("enum") == [] or ("enum" in fixed and not isinstance(fixed["enum"], list)):
        faults.add("an enum without values was left out", path)
        del fixed["enum"]
    if fixed.get("type") == "array" and "items" not in fixed and "prefixItems" not in fixed:
        # Refused by OpenAI and Gemini; "anything" is what its absence means.
        fixed["items"] = {}
    for key in ("$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor"):
        if fixed.pop(key, None) is not None:
            faults.add(f"{key} was left out", path)
    return fixed


def _says_required(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("required"), bool)


def _type(value: Any) -> Any:
    if isinstance(value, str):
        lower = value.lower()
        return lower if lower in _TYPES else _OTHER_TYPES.get(lower)
    if isinstance(value, list):
        kinds = [kind for kind in dict.fromkeys(_type(inner) for inner in value) if isinstance(kind, str)]
        return kinds or None
    return None


def _data(value: Any, depth: int) -> Any:
    """A keyword's value that is no schema, as JSON."""
    if isinstance(value, str):
        return sendable(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, Mapping):
        return {sendable(str(key)): _data(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_data(inner, depth + 1) for inner in value]
    return sendable(str(value))


def _drop_dangling(schema: Any, root: Mapping[str, Any], path: tuple[str, ...], faults: Faults) -> None:
    """Take out references that lead nowhere or out of the schema: nothing is ever fetched."""
    if not isinstance(schema, dict):
        return
    if "$ref" in schema and resolve(root, schema["$ref"]) is None:
        faults.add("a $ref that leads nowhere was left out", path)
        del schema["$ref"]
    for key, value in schema.items():
        if key in ONE:
            _drop_dangling(value, root, (*path, key), faults)
        elif key in MANY:
            for place, inner in enumerate(value):
                _drop_dangling(inner, root, (*path, key, str(place)), faults)
        elif key in NAMED:
            for name, inner in value.items():
                _drop_dangling(inner, root, (*path, key, name), faults)


@functools.cache
def _checker() -> Any:
    # Loaded when it is needed: a session without inlined tools of strangers may never be.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(Draft202012Validator.META_SCHEMA)


@functools.lru_cache(maxsize=2048)
def _passes(text: str) -> bool:
    # Where nothing is deferred, every request checks every schema anew, milliseconds for each; they hardly ever change.
    return next(iter(_checker().iter_errors(json.loads(text))), None) is None


def _valid(schema: dict[str, Any], faults: Faults) -> dict[str, Any]:
    """The schema without what the meta-schema refuses."""
    if _passes(json.dumps(schema)):
        return schema
    checker = _checker()
    for _ in range(50):
        error = next(iter(checker.iter_errors(schema)), None)
        if error is None:
            return schema
        steps = list(error.absolute_path)
        if not steps:
            break
        holder: Any = schema
        for step in steps[:-1]:
            holder = holder[step]
        faults.add(f"{shown_name(str(steps[-1])[:40])} is not valid and was left out", tuple(map(str, steps[:-1])))
        del holder[steps[-1]]
    faults.add("the schema is not valid and was left out")
    return {"type": "object", "properties": {}}
