"""What of an object or array a schema has looked at, which `unevaluatedProperties` and `unevaluatedItems` ask for.

The library has the same, but compares each name with every pattern and each place with a list, without an end. Drafts
2019-09 and 2020-12 know these keywords.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolsearch.tools.check_budget import CURRENT, size_of


def evaluated_names(validator: Any, instance: dict[str, Any], schema: Any, *, top: bool = True) -> set[str]:
    """The properties that the schema, or a part of it that fits, has looked at.

    Args:
        validator: The library's validator for the place of the schema.
        instance: An object that the schema's other keywords have been held against.
        schema: The schema.
        top: It is the one whose own `unevaluatedProperties` asks; what such a keyword looks at inside counts.
    """
    if not isinstance(schema, dict):
        return set()
    CURRENT.get().spend(1 + len(instance) / 5)
    if "additionalProperties" in schema or (not top and "unevaluatedProperties" in schema):
        return set(instance)
    names = {name for name in schema.get("properties", ()) if name in instance}
    for pattern in schema.get("patternProperties", ()):
        CURRENT.get().spend(len(instance))
        names |= {name for name in instance if CURRENT.get().matches(pattern, name) is not False}
    for inner, part in _parts(validator, instance, schema):
        names |= evaluated_names(inner, instance, part, top=False)
    return names


def evaluated_places(validator: Any, instance: list[Any], schema: Any, *, top: bool = True) -> set[int]:
    """The places of the items that the schema, or a part of it that fits, has looked at; see `evaluated_names`."""
    if not isinstance(schema, dict):
        return set()
    CURRENT.get().spend(1 + len(instance) / 5)
    items = schema.get("items")
    all_of_them = "items" in schema and not isinstance(items, list)
    if all_of_them or "additionalItems" in schema or (not top and "unevaluatedItems" in schema):
        return set(range(len(instance)))
    before = max(size_of(schema.get("prefixItems")), size_of(items) if isinstance(items, list) else 0)
    places = set(range(min(before, len(instance))))
    if "contains" in schema:
        CURRENT.get().spend(len(instance))
        places |= {place for place, item in enumerate(instance) if _fits(validator, item, schema["contains"])}
    for inner, part in _parts(validator, instance, schema):
        places |= evaluated_places(inner, instance, part, top=False)
    return places


def _parts(validator: Any, instance: Any, schema: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The schemas inside of this one that look at the same instance and fit it, each with a validator of its place."""
    for key in ("$ref", "$dynamicRef"):
        if key in schema:
            yield _at(validator, validator._resolver.lookup(schema[key]))
    if "$recursiveRef" in schema:
        from referencing.jsonschema import lookup_recursive_ref

        yield _at(validator, lookup_recursive_ref(validator._resolver))
    for key in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(key, ()):
            CURRENT.get().spend()
            if _fits(validator, instance, part):
                yield validator, part
    if "if" in schema:
        fits = _fits(validator, instance, schema["if"])
        if fits:
            yield validator, schema["if"]
        branch = "then" if fits else "else"
        if branch in schema:
            yield validator, schema[branch]
    if isinstance(instance, dict):
        for name, part in schema.get("dependentSchemas", {}).items():
            if name in instance:
                yield validator, part


def _fits(validator: Any, instance: Any, schema: Any) -> bool:
    return next(iter(validator.descend(instance, schema)), None) is None


def _at(validator: Any, resolved: Any) -> tuple[Any, Any]:
    CURRENT.get().spend()
    return validator.evolve(schema=resolved.contents, _resolver=resolved.resolver), resolved.contents
