"""The keywords of JSON Schema as the library jsonschema checks them, each at a price.

What the library would do without an end is done here: matching patterns, comparing every item with every other one,
following what was evaluated. What can't be told, as with a pattern that looks ahead, never counts as a fault, and no
fault is made of it elsewhere: not by `not`, and not as the second match of a `oneOf`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolsearch.tools.check_budget import CURRENT, OverBudget, size_of
from toolsearch.tools.faults import Named
from toolsearch.tools.unevaluated import evaluated_names, evaluated_places
from toolsearch.tools.untrusted import neutralise

LATEST = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE_PRICE = 8
"""To follow a reference takes as long as some eight plain keywords."""
_CHARACTERS_A_STEP = 50
"""Characters of JSON that are compared in the time of one keyword."""
_MEMBERS_A_STEP = 20

Check = Callable[[Any, Any, Any, Any], Iterator[Any]]

_FOR_EACH_SCHEMA = frozenset(
    {"allOf", "anyOf", "oneOf", "extends", "disallow", "type", "dependentSchemas", "dependencies"}
)
_FOR_EACH_MEMBER = frozenset(
    {"properties", "items", "additionalItems", "prefixItems", "propertyNames", "contains", "unevaluatedItems"}
)
_UNCERTAIN = frozenset({"not", "if", "oneOf", "disallow", "contains"})
"""Keywords that can make a fault of it that something inside of them fits."""


def bounded_class(draft: str) -> Any:
    """The library's class for the `$schema` of a draft, with keywords that have a price; an unknown one is the latest.

    >>> bounded_class("https://json-schema.org/draft-07/schema").META_SCHEMA["$id"]
    'http://json-schema.org/draft-07/schema#'
    """
    return _bounded(_known(draft) if _is_draft(draft) else LATEST)


@functools.lru_cache(maxsize=8)
def _bounded(draft: str) -> Any:
    from jsonschema import validators

    original = validators.validator_for({"$schema": draft}, default=validators.Draft202012Validator)
    checks = {name: _priced(name, check) for name, check in original.VALIDATORS.items()}
    own = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
        "required": _required,
        "unevaluatedProperties": _unevaluated_properties,
        "unevaluatedItems": _unevaluated_items,
    }
    checks |= {name: _priced(name, check) for name, check in own.items() if name in checks}
    if "required" in checks:  # draft 3 has it inside of `properties`
        checks["properties"] = _priced("properties", _properties)
    bounded = validators.extend(original, checks)  # type: ignore[no-untyped-call]
    bounded.evolve = _evolve
    return bounded


def _known(draft: str) -> str:
    """How the library writes the draft; often it is written with the other scheme, or without the sign at the end."""
    draft = draft.strip()
    old = draft.removeprefix("https").removeprefix("http").rstrip("#")
    return f"http{old}#" if old.startswith("://json-schema.org/draft-0") else draft.rstrip("#")


def _is_draft(named: str) -> bool:
    from jsonschema import validators

    return validators.validator_for({"$schema": _known(named)}, default=None) is not None  # type: ignore[arg-type]


def _evolve(validator: Any, **changes: Any) -> Any:
    """The validator for a part of the schema.

    The library's own way takes its plain class, without any bound, where that part names a draft.
    """
    schema = changes.setdefault("schema", validator.schema)
    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    kind = bounded_class(str(named)) if isinstance(named, str) and _is_draft(named) else type(validator)
    for field in type(validator).__attrs_attrs__:
        if field.init and field.alias not in changes:
            changes[field.alias] = getattr(validator, field.name)
    return kind(**changes)


def _priced(name: str, check: Any) -> Check:
    """The keyword's check; it takes its steps, and what it can't make sense of is passed over."""
    reference = name in ("$ref", "$dynamicRef", "$recursiveRef")

    def priced(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        import referencing.exceptions

        budget = CURRENT.get()
        budget.spend(_price(name, value, instance))
        before = budget.unchecked
        try:
            for error in check(validator, value, instance, schema) or ():
                if name in _UNCERTAIN and budget.unchecked > before and not error.context:
                    return
                yield error
        except (OverBudget, RecursionError):
            raise
        except ArithmeticError:
            # A number that is too large to be reckoned with: whether it fits can't be told, so it does not.
            yield _error(f"{name} can't be checked with this number")
        except referencing.exceptions.Unresolvable:
            shown = neutralise(str(value), limit=60).text
            budget.pass_over(f"the schema's reference {shown} leads nowhere and was not checked.")
        except Exception as failure:
            # A schema may be valid by its letter and still be more than the library can make sense of.
            what = "a reference" if reference else name
            budget.pass_over(f"{what} of the schema could not be checked ({type(failure).__name__}).")

    return priced


def _price(name: str, value: Any, instance: Any) -> float:
    if name in ("enum", "const"):
        return 1 + len(json.dumps(value)) / _CHARACTERS_A_STEP
    if name in ("$ref", "$dynamicRef", "$recursiveRef"):
        return _REFERENCE_PRICE
    schemas = size_of(value) if name in _FOR_EACH_SCHEMA else size_of(value) / _MEMBERS_A_STEP
    members = size_of(instance) if name in _FOR_EACH_MEMBER else size_of(instance) / _MEMBERS_A_STEP
    return 1 + schemas + members


def _error(message: str, **more: Any) -> Any:
    from jsonschema import ValidationError

    return ValidationError(message, **more)


def _pattern(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and CURRENT.get().matches(value, instance) is False:
        yield _error("does not match")


def _properties(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    for name, inner in value.items():
        if name in instance and inner is False:
            # The library forgets the place of what is never accepted.
            yield _error("nothing is accepted", path=[name], instance=instance[name], validator=None)
        elif name in instance:
            yield from validator.descend(instance[name], inner, path=name, schema_path=name)


def _pattern_properties(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    for pattern, inner in value.items():
        for name, item in instance.items():
            CURRENT.get().spend()
            if CURRENT.get().matches(pattern, name):
                yield from validator.descend(item, inner, path=name, schema_path=pattern)


def _additional_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for name in instance:
        CURRENT.get().spend()
        # A pattern that can't be matched may be the one that allows the name.
        if name in known or any(CURRENT.get().matches(pattern, name) is not False for pattern in patterns):
            continue
        if value is False:
            yield _error("is no parameter", validator_value=False, cause=Named(name))
        else:
            yield from validator.descend(instance[name], value, path=name)


def _required(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, dict) and isinstance(value, list):
        for name in value:
            if name not in instance:
                yield _error("is required", cause=Named(name))


def _unique_items(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if value and isinstance(instance, list):
        # As text, each item once: the library compares every item with every other one.
        CURRENT.get().spend(len(json.dumps(instance)) / 10)
        texts = [json.dumps(_even(item), sort_keys=True) for item in instance]
        if len(set(texts)) < len(texts):
            yield _error("must hold no item twice")


def _unevaluated_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    before = CURRENT.get().unchecked
    evaluated = evaluated_names(validator, instance, schema)
    if CURRENT.get().unchecked > before:
        return  # what could not be told inside may be what allows a name
    for name in instance:
        if name in evaluated:
            continue
        if value is False:
            yield _error("is no parameter", validator_value=False, cause=Named(name))
        else:
            yield from validator.descend(instance[name], value, path=name)


def _unevaluated_items(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, list):
        return
    before = CURRENT.get().unchecked
    evaluated = evaluated_places(validator, instance, schema)
    if CURRENT.get().unchecked > before:
        return
    for place, item in enumerate(instance):
        if place not in evaluated:
            yield from validator.descend(item, value, path=place)


def _even(value: Any) -> Any:
    """The value with 1.0 as 1: both are one number in a schema."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _even(inner) for key, inner in value.items()}
    return [_even(inner) for inner in value] if isinstance(value, list | tuple) else value
