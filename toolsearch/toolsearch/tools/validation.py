"""Arguments held against a stranger's JSON Schema: nothing is fetched, and nothing runs without an end.

The library jsonschema decides. What it would leave open is closed here: references are looked up in the schema alone,
patterns are matched by `toolsearch.tools.patterns`, and every keyword that is looked at costs a step of a budget.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from toolsearch.tools.faults import Fault, fault_of, path_text
from toolsearch.tools.patterns import TooCostly, Unsupported, compile_pattern
from toolsearch.tools.untrusted import neutralise

_DEFAULT_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE_PRICE = 10
"""To follow a reference takes as long as some ten plain keywords."""
_SHOWN_TEXT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a check may cost.

    Attributes:
        depth: How deep arguments and schema may be nested.
        size: Characters of the arguments as JSON.
        schema_size: Characters of the schema as JSON.
        keywords: Keywords of the schema that may be looked at in all; a recursive schema comes to the same ones again.
        pattern_steps: Steps that all patterns together may take.
        faults: How many faults are told.
    """

    depth: int = 64
    size: int = 2_000_000
    schema_size: int = 2_000_000
    keywords: int = 100_000
    pattern_steps: int = 1_000_000
    faults: int = 5


LIMITS = Limits()
"""What is allowed unless told otherwise; the worst of it takes about a second."""


@dataclass(frozen=True, slots=True)
class Validation:
    """What came out.

    Attributes:
        faults: Where the arguments don't fit; empty when they do.
        notes: What of the schema could not be checked, and why; it keeps no call from running.
    """

    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether nothing speaks against the arguments."""
        return not self.faults


class _OverBudget(Exception):
    """The text says which limit was met."""


@dataclass(slots=True)
class _Budget:
    """What is left for one check, and what it could not look at."""

    keywords: int
    pattern_steps: int
    notes: dict[str, None] = field(default_factory=dict)

    def spend(self, keywords: int = 1) -> None:
        self.keywords -= keywords
        if self.keywords < 0:
            raise _OverBudget("checking them against the schema takes too many steps")

    def matches(self, pattern: str, text: str) -> bool:
        try:
            found, self.pattern_steps = compile_pattern(pattern).search(text, steps=self.pattern_steps)
        except TooCostly:
            raise _OverBudget("checking a text against the schema's pattern takes too many steps") from None
        except Unsupported as reason:
            shown = neutralise(pattern, limit=60).text
            self.notes[f"the schema's pattern {shown} was not checked: {reason}."] = None
            return True
        return found


_budget: ContextVar[_Budget] = ContextVar("budget of a validation")


def validate_params(
    schema: Mapping[str, Any] | None, params: Mapping[str, Any], *, limits: Limits = LIMITS
) -> Validation:
    """Hold arguments against a schema; nothing is added to them.

    Args:
        schema: The tool's schema; None accepts any arguments. Draft 2020-12 unless its `$schema` names another draft.
        params: The arguments.
        limits: How much the check may cost; to need more is a fault, as it can't be told whether they fit.

    Returns:
        The faults, first those nearest to the root. A schema that is none, a reference that leads out of it and a
        pattern that can't be matched are notes: they are its owner's mistake, and the tool may still know what to do.
    """
    over = _too_large(params, limits.depth, limits.size)
    if over:
        return Validation((Fault("", "", f"the arguments are {over}"),))
    if schema is None:
        return Validation()
    over = _too_large(schema, limits.depth, limits.schema_size)
    if over:
        return Validation((Fault("", "", f"can't be checked, as the tool's schema is {over}"),))
    budget = _Budget(limits.keywords, limits.pattern_steps)
    token = _budget.set(budget)
    try:
        return _checked(schema, params, limits, budget)
    except (_OverBudget, RecursionError) as error:
        why = str(error) if isinstance(error, _OverBudget) else "the schema leads back to itself without an end"
        return Validation((Fault("", "", f"the arguments can't be checked: {why}"),), tuple(budget.notes))
    finally:
        _budget.reset(token)


def _checked(schema: Mapping[str, Any], params: Mapping[str, Any], limits: Limits, budget: _Budget) -> Validation:
    from jsonschema_specifications import REGISTRY

    draft = schema.get("$schema", _DEFAULT_DRAFT)
    draft = draft if isinstance(draft, str) else _DEFAULT_DRAFT
    fault = _schema_fault(draft, json.dumps(schema, default=dict, sort_keys=True))
    if fault:
        return Validation(notes=(f"the tool's schema is not valid, so nothing was checked: {fault}.",))
    # The registry holds the drafts themselves: any other reference out of the schema finds nothing, and nothing is
    # fetched.
    validator = _bounded_class(draft)(schema, registry=REGISTRY)
    faults: list[tuple[int, int, Fault]] = []
    try:
        for number, error in enumerate(validator.iter_errors(params)):
            faults.append((len(error.absolute_path), number, fault_of(error)))
            if len(faults) >= 20 * limits.faults:
                break
    except (TypeError, ValueError, AttributeError, KeyError) as failure:
        # A schema may be valid by its letter and still be more than the library can make sense of.
        budget.notes[f"the tool's schema could not be checked to its end: {type(failure).__name__}."] = None
    faults.sort(key=lambda each: each[:2])
    told = list(dict.fromkeys(fault for _, _, fault in faults))[: limits.faults]
    return Validation(tuple(told), tuple(budget.notes))


@functools.lru_cache(maxsize=256)
def _schema_fault(draft: str, schema: str) -> str:
    """Why a schema, as JSON, is none, or ""; checked as any value is, against the draft's own schema."""
    from jsonschema_specifications import REGISTRY

    bounded = _bounded_class(draft)
    meta = bounded(bounded.META_SCHEMA, registry=REGISTRY)
    error = next(meta.iter_errors(json.loads(schema)), None)
    return neutralise(f"{path_text(error.absolute_path)}: {error.message}", limit=_SHOWN_TEXT).text if error else ""


@functools.lru_cache(maxsize=16)
def _bounded_class(draft: str) -> Any:
    """The library's class for a draft, within the budget; an unknown draft is the latest."""
    from jsonschema import validators

    original = validators.validator_for({"$schema": draft}, default=validators.Draft202012Validator)
    bounded = {name: _counted(check) for name, check in original.VALIDATORS.items()}
    bounded |= {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
        "enum": _counted(original.VALIDATORS["enum"], for_each=0.02),
    }
    for name in ("$ref", "$dynamicRef", "$recursiveRef"):
        if name in bounded:
            bounded[name] = _reference(bounded[name])
    if "unevaluatedProperties" in bounded:
        bounded["unevaluatedProperties"] = _unevaluated_properties(bounded["unevaluatedProperties"])
    return validators.extend(original, bounded)  # type: ignore[no-untyped-call]


_Check = Callable[[Any, Any, Any, Any], Iterator[Any]]


def _counted(check: Any, *, for_each: float = 0.0) -> _Check:
    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        _budget.get().spend(1 + int(for_each * len(value)) if for_each else 1)
        yield from check(validator, value, instance, schema) or ()

    return counted


def _reference(check: _Check) -> _Check:
    def resolved(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        import referencing.exceptions

        _budget.get().spend(_REFERENCE_PRICE)
        try:
            yield from check(validator, value, instance, schema)
        except referencing.exceptions.Unresolvable:
            shown = neutralise(str(value), limit=60).text
            _budget.get().notes[f"the schema's reference {shown} leads nowhere and was not checked."] = None

    return resolved


def _pattern(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    budget = _budget.get()
    budget.spend()
    if isinstance(instance, str) and not budget.matches(value, instance):
        yield ValidationError("does not match")


def _pattern_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    budget = _budget.get()
    budget.spend()
    if validator.is_type(instance, "object"):
        for pattern, inner in value.items():
            for name, item in instance.items():
                if budget.matches(pattern, name):
                    yield from validator.descend(item, inner, path=name, schema_path=pattern)


def _additional_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    budget = _budget.get()
    budget.spend()
    if not validator.is_type(instance, "object"):
        return
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    extras = [
        name
        for name in instance
        if name not in known and not any(budget.matches(pattern, name) for pattern in patterns)
    ]
    if validator.is_type(value, "object"):
        for name in extras:
            yield from validator.descend(instance[name], value, path=name)
    elif value is False and extras:
        yield ValidationError(extras[0])


def _unique_items(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    _budget.get().spend()
    if value and validator.is_type(instance, "array"):
        # As text, each item once: the library compares every item with every other one.
        texts = [json.dumps(_even(item), sort_keys=True) for item in instance]
        if len(set(texts)) < len(texts):
            yield ValidationError("must hold no item twice")


def _even(value: Any) -> Any:
    """The value with 1.0 as 1: both are one number in a schema."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _even(inner) for key, inner in value.items()}
    return [_even(inner) for inner in value] if isinstance(value, list | tuple) else value


def _unevaluated_properties(check: _Check) -> _Check:
    def without_patterns(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        # The library would match the names against every pattern of the schema by itself, without an end.
        if '"patternProperties"' in json.dumps(validator.schema, default=str):
            _budget.get().notes["unevaluatedProperties beside patternProperties was not checked."] = None
            return
        yield from check(validator, value, instance, schema)

    return without_patterns


def _too_large(value: Any, depth: int, size: int) -> str:
    """What is too much about a JSON value, or ""."""
    level: list[Any] = [value]
    for _ in range(depth + 1):
        following: list[Any] = []
        for each in level:
            if isinstance(each, Mapping):
                following.extend(each.values())
            elif isinstance(each, list | tuple):
                following.extend(each)
        level = following
        if not level:
            break
    else:
        return f"nested too deeply; at most {depth} levels are accepted"
    try:
        length = len(json.dumps(value, default=dict))
    except (TypeError, ValueError, RecursionError) as error:
        return f"not JSON ({type(error).__name__})"
    return f"too long; at most {size:,} characters of JSON are accepted" if length > size else ""
