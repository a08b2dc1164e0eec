"""Arguments held against a stranger's JSON Schema: nothing is fetched, and nothing runs without an end.

The library jsonschema decides. What it would leave open is closed around it: references are looked up in the schema
alone, patterns are matched by `toolsearch.tools.patterns`, every keyword that is looked at costs a step of a budget
(`toolsearch.tools.keywords`), and keywords that are not valid are left out (`toolsearch.tools.schema_check`).
"""

from __future__ import annotations

import contextvars
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolsearch.tools.check_budget import CURRENT, Budget, OverBudget
from toolsearch.tools.faults import Fault, fault_of
from toolsearch.tools.keywords import bounded_class
from toolsearch.tools.quiet import quiet
from toolsearch.tools.schema_check import usable_schema
from toolsearch.tools.untrusted import neutralise

_MOST_COLLECTED = 100
"""Faults that are looked at before the ones nearest to the root are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a check may cost.

    Attributes:
        depth: How deep arguments and schema may be nested.
        size: Characters of the arguments as JSON.
        schema_size: Characters of the schema as JSON.
        keywords: Keywords of the schema that may be looked at in all, for each place of the arguments; a recursive
            schema comes to the same ones again, and work that grows with a size counts as several.
        pattern_steps: Steps that all patterns together may take; about one for each character.
        faults: How many faults are told.
    """

    depth: int = 64
    size: int = 2_000_000
    schema_size: int = 2_000_000
    keywords: int = 300_000
    pattern_steps: int = 2_500_000
    faults: int = 5


LIMITS = Limits()
"""What is allowed unless told otherwise; the worst of it takes a few seconds, a usual call about a millisecond."""


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


def validate_params(
    schema: Mapping[str, Any] | None, params: Mapping[str, Any], *, limits: Limits = LIMITS
) -> Validation:
    """Hold arguments against a schema; nothing is added to them.

    Args:
        schema: The tool's schema; None accepts any arguments. Draft 2020-12 unless its `$schema` names another draft.
        params: The arguments.
        limits: How much the check may cost; to need more is a fault, as it can't be told whether they fit.

    Returns:
        The faults, first those nearest to the root. What is no JSON Schema, a reference that leads out of it and a
        pattern that can't be matched are notes: they are its owner's mistake, and the tool may still know what to do.

    >>> schema = {"properties": {"to": {"type": "string"}}, "required": ["to"]}
    >>> print(*validate_params(schema, {"to": 5}).faults)
    to: must be a string; given: 5
    """
    over = _too_large(params, limits.depth, limits.size) or _not_json(params)
    if over:
        return Validation((Fault("", "", f"the arguments are {over}"),))
    if schema is None:
        return Validation()
    over = _too_large(schema, limits.depth, limits.schema_size)
    if over:
        return Validation((Fault("", "", f"the arguments can't be checked, as the tool's schema is {over}"),))
    broken = _not_json(schema)
    if broken:
        return Validation(notes=(f"the tool's schema is {broken}, so the arguments were not checked.",))
    try:
        return _with_room(lambda: _checked(schema, params, limits))
    except RecursionError:
        return Validation((_unchecked("the schema leads back to itself without an end"),))


def _checked(schema: Mapping[str, Any], params: Mapping[str, Any], limits: Limits) -> Validation:
    from jsonschema_specifications import REGISTRY

    usable = usable_schema(schema)
    if usable.over:
        return Validation((_unchecked(usable.over),))
    if usable.schema is None:
        return Validation(notes=usable.notes)
    budget = Budget(limits.keywords, limits.pattern_steps)
    token = CURRENT.set(budget)
    errors: list[Any] = []
    over: tuple[Fault, ...] = ()
    try:
        # The registry holds the drafts themselves: any other reference out of the schema finds nothing, and nothing is
        # fetched.
        validator = bounded_class(usable.draft)(usable.schema, registry=REGISTRY)
        for error in validator.iter_errors(quiet(params)):
            errors.append(error)
            if len(errors) >= _MOST_COLLECTED:
                break
    except OverBudget as why:
        over = (_unchecked(str(why)),)
    except RecursionError:
        raise
    except Exception as failure:
        budget.pass_over(f"the tool's schema could not be checked to its end ({type(failure).__name__}).")
    finally:
        CURRENT.reset(token)
    errors.sort(key=lambda each: len(each.absolute_path))
    told: dict[Fault, None] = {}
    for error in errors:
        if len(told) < limits.faults:
            told[fault_of(error)] = None
    return Validation(tuple(told) or over, (*usable.notes, *budget.notes))


def _unchecked(why: str) -> Fault:
    return Fault("", "", f"the arguments can't be checked: {why}")


def _with_room(function: Callable[[], Validation]) -> Validation:
    """Run it here, or where the stack has no room left, in a thread with a stack of its own.

    A schema may be nested as deeply as is allowed whatever the host was doing when it called.
    """
    try:
        return function()
    except RecursionError:
        outcome: list[Validation | RecursionError] = []

        def work() -> None:
            try:
                outcome.append(function())
            except RecursionError as error:
                outcome.append(error)

        thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), name="schema check")
        thread.start()
        thread.join()
        if isinstance(outcome[0], RecursionError):
            raise outcome[0] from None
        return outcome[0]


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
            elif isinstance(each, str) and len(each) > size:
                return _too_long(size)
            if len(following) > size:
                return _too_long(size)
        level = following
        if not level:
            break
    else:
        return f"nested too deeply; at most {depth} levels are accepted"
    try:
        length = len(json.dumps(value, default=dict))
    except (TypeError, ValueError, RecursionError):
        return ""  # see `_not_json`
    return _too_long(size) if length > size else ""


def _too_long(size: int) -> str:
    return f"too long; at most {size:,} characters of JSON are accepted"


def _not_json(value: Any) -> str:
    """Why a value is no JSON, or ""."""
    try:
        json.dumps(value, default=_plain_mapping, allow_nan=False)
    except ValueError:
        return "not JSON: a number is infinite, none at all, or too long"
    except TypeError as error:
        return f"not JSON: {neutralise(str(error), limit=80).text}"
    except RecursionError:
        return "not JSON: they lead back to themselves"
    return "" if _has_plain_keys(value) else "not JSON: a key is no text"


def _plain_mapping(value: object) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"there is a {type(value).__name__}")


def _has_plain_keys(value: Any) -> bool:
    waiting = [value]  # a list and no recursion: the stack of the host may be nearly full
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            if not all(isinstance(key, str) for key in each):
                return False
            waiting.extend(each.values())
        elif isinstance(each, list | tuple):
            waiting.extend(each)
    return True
