"""A stranger's JSON Schema made fit to check with: what is no JSON Schema in it is left out, and said.

Servers write `"type": "any"` or `"required": true`. Such a keyword says nothing that could be checked; the rest of the
schema still does, and a call must not fail for it.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolsearch.tools.check_budget import CURRENT, Budget, OverBudget
from toolsearch.tools.faults import path_text
from toolsearch.tools.keywords import LATEST, bounded_class
from toolsearch.tools.quiet import quiet

_ROUNDS = 4
"""To leave out one keyword may show what is wrong with another one."""
_MOST_LEFT_OUT = 50
_MOST_NOTES = 5
_SMALL = 20_000
_LONGEST_REMEMBERED = 500_000
"""Characters of a schema that is kept for the next call: many small ones, a few large ones, and none beyond."""
_MOST_STEPS = 600_000
"""What looking through one schema may cost: about two seconds, or a schema of some five thousand properties."""


@dataclass(frozen=True, slots=True)
class Usable:
    """What of a schema can be checked with.

    Attributes:
        schema: Without what is not valid; None where nothing is left, or where it is too much to be looked through.
        draft: The `$schema` that it follows.
        notes: What was left out, a line each.
        over: Why it can't be looked through, or "".
    """

    schema: Any
    draft: str = LATEST
    notes: tuple[str, ...] = ()
    over: str = ""


def usable_schema(schema: Mapping[str, Any]) -> Usable:
    """The part of a schema that is valid under its own draft.

    Args:
        schema: Any JSON object; its size is bounded by whoever asks.

    >>> usable_schema({"type": "object", "properties": {"a": {"type": "any"}, "b": {"type": "string"}}}).schema == {
    ...     "type": "object", "properties": {"a": {}, "b": {"type": "string"}}}
    True
    """
    text = json.dumps(schema, default=dict, sort_keys=True)
    if len(text) <= _SMALL:
        return _small(text)
    return _large(text) if len(text) <= _LONGEST_REMEMBERED else _usable(text)


def _usable(text: str) -> Usable:
    schema = json.loads(text)
    named = schema.get("$schema")
    draft = named if isinstance(named, str) else LATEST
    schema.pop("$schema", None)  # `draft` says it; a draft that is not known must not be looked for
    token = CURRENT.set(Budget(_MOST_STEPS, _MOST_STEPS))
    try:
        return _without_faults(schema, draft)
    except OverBudget:
        return Usable(None, draft, over="looking through the tool's schema takes too many steps")
    finally:
        CURRENT.reset(token)


_small = functools.lru_cache(maxsize=512)(_usable)
_large = functools.lru_cache(maxsize=16)(_usable)


def _without_faults(schema: Any, draft: str) -> Usable:
    from jsonschema_specifications import REGISTRY

    bounded = bounded_class(draft)
    meta = bounded(quiet(bounded.META_SCHEMA), registry=REGISTRY)
    left_out: dict[str, None] = {}
    for _ in range(_ROUNDS):
        paths = {tuple(error.absolute_path) for error in meta.iter_errors(quiet(schema))}
        if not paths:
            return Usable(quiet(schema), draft, _notes(left_out))
        if () in paths or len(left_out) + len(paths) > _MOST_LEFT_OUT:
            break
        schema = copy.deepcopy(schema)
        # The deepest first, and the last item of a list before the ones before it: the other paths stay right.
        for path in sorted(paths, key=lambda each: (len(each), [str(step).zfill(9) for step in each]), reverse=True):
            left_out[path_text(path)] = None
            _leave_out(schema, path)
    return Usable(None, draft, ("the tool's schema is not valid, so the arguments were not checked.",))


def _leave_out(schema: Any, path: tuple[Any, ...]) -> None:
    place = schema
    for step in path[:-1]:
        try:
            place = place[step]
        except (LookupError, TypeError):
            return  # left out already, together with what it stood in
    if isinstance(place, dict):
        place.pop(path[-1], None)
    elif isinstance(place, list) and isinstance(path[-1], int) and path[-1] < len(place):
        del place[path[-1]]


def _notes(left_out: Mapping[str, None]) -> tuple[str, ...]:
    told = [f"{path} of the tool's schema is not valid and was not checked." for path in list(left_out)[:_MOST_NOTES]]
    more = len(left_out) - len(told)
    return (*told, f"{more} more of its parts are not valid and were not checked.") if more > 0 else tuple(told)
