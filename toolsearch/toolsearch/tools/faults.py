"""What is wrong with arguments, in words: where, what stands there, what is accepted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolsearch.errors import near_names
from toolsearch.tools.untrusted import neutralise

_SHOWN_VALUE = 80
_SHOWN_NAME = 60
_SHOWN_PATH = 200
_SHOWN_TEXT = 300
_MOST_COMPARED = 200
"""Parameter names that an unknown one is compared with."""
_MOST_CHOICES = 12
_DEEPEST_CHOICE = 3
_TELLING = frozenset({"type", "const", "enum"})
"""Keywords that say which of several forms was not meant."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Where arguments don't fit.

    Attributes:
        path: The place, as `items[0].name`; "" for the arguments as a whole.
        value: What stands there, as shortened JSON; "" where nothing does.
        accepted: What is accepted, in words that are fit to be shown.
    """

    path: str
    value: str
    accepted: str

    def __str__(self) -> str:
        """One line."""
        place = f"{self.path}: " if self.path else ""
        return f"{place}{self.accepted}" + (f"; given: {self.value}" if self.value else "")


class Named(Exception):
    """The name that an error of jsonschema is about, carried as its cause: the library has no other place for one."""

    def __init__(self, name: str) -> None:
        """Take the name."""
        super().__init__(name)
        self.name = name


def fault_of(error: Any) -> Fault:
    """An error of the library jsonschema in our words."""
    return _fault(error, tuple(error.absolute_path), 0)


def path_text(parts: Iterable[Any]) -> str:
    """The steps of a path as `items[0].name`."""
    path = ""
    for part in parts:
        path = f"{path}[{part}]" if isinstance(part, int) else _joined(path, str(part))
    return neutralise(path, limit=_SHOWN_PATH).text


def _fault(error: Any, steps: tuple[Any, ...], depth: int) -> Fault:
    path, value = path_text(steps), json_text(error.instance)
    given = error.validator_value
    if isinstance(error.cause, Named):
        return _named(path, error.cause.name, error)
    match error.validator:
        case None:
            return Fault(path, value, "nothing is accepted here")
        case "required":  # in draft 3 it stands in the property itself
            return Fault(path, "", "is required and missing")
        case "type":
            return Fault(path, value, f"must be {_kinds(given)}")
        case "enum":
            return Fault(path, value, f"must be one of {_choices(given)}")
        case "const":
            return Fault(path, value, f"must be {json_text(given)}")
        case "pattern":
            return Fault(path, value, f"must match the pattern {neutralise(str(given), limit=_SHOWN_VALUE).text}")
        case "anyOf" | "oneOf":
            return _of_choices(error, steps, depth)
        case "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties":
            bound = "least" if error.validator.startswith("min") else "most"
            unit = {"Length": "characters", "Items": "items", "Properties": "properties"}[error.validator[3:]]
            return Fault(path, value, f"must have at {bound} {json_text(given)} {unit}")
    return Fault(path, value, _rule(error))


def _named(path: str, name: str, error: Any) -> Fault:
    place = _joined(path, name)
    if error.validator == "required":
        return Fault(place, "", "is required and missing")
    properties = error.schema.get("properties", {}) if isinstance(error.schema, Mapping) else {}
    known = sorted(str(each) for each in properties)
    near = near_names(name[:_SHOWN_NAME], known[:_MOST_COMPARED])
    hint = f" Did you mean {', '.join(near)}?" if near else ""
    listed = ", ".join(known[:20]) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
    text = f"is not accepted; accepted names: {listed or 'none'}.{hint}"
    return Fault(place, json_text(error.instance[name]), neutralise(text, limit=_SHOWN_TEXT).text.rstrip("."))


def _rule(error: Any) -> str:
    """What is accepted, for the keywords that are a rule of their own."""
    given = json_text(error.validator_value)
    exclusive = isinstance(error.schema, Mapping)
    match error.validator:
        case "minimum":
            above = exclusive and error.schema.get("exclusiveMinimum") is True  # as draft 4 has it
            return f"must be {'above' if above else 'at least'} {given}"
        case "maximum":
            below = exclusive and error.schema.get("exclusiveMaximum") is True
            return f"must be {'below' if below else 'at most'} {given}"
        case "exclusiveMinimum":
            return f"must be above {given}"
        case "exclusiveMaximum":
            return f"must be below {given}"
        case "multipleOf" | "divisibleBy":
            return f"must be a multiple of {given}"
        case "uniqueItems":
            return "must hold no item twice"
        case "contains" | "minContains" | "maxContains":
            schema = error.schema
            least, most = schema.get("minContains", 1), schema.get("maxContains", "any number")
            return f"must hold {json_text(least)} to {json_text(most)} items that fit {json_text(schema['contains'])}"
        case "not" | "disallow":
            return f"must not fit {given}"
        case "dependentRequired":
            return f"needs further properties: {given}"
        case "items" | "additionalItems" | "unevaluatedItems":
            return "has more items than are accepted"
    return neutralise(error.message, limit=_SHOWN_TEXT).text


def _of_choices(error: Any, steps: tuple[Any, ...], depth: int) -> Fault:
    """The fault in the one choice that was meant, where that can be told; else what all of them accept."""
    path, value = path_text(steps), json_text(error.instance)
    if not error.context:
        return Fault(path, value, "fits several of the schema's choices; must fit exactly one")
    branches: dict[Any, list[Any]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0] if inner.schema_path else None, []).append(inner)
    if all(_is_type(each) for inners in branches.values() for each in inners[:1]):
        kinds = [kind for inners in branches.values() for kind in _listed(inners[0].validator_value)]
        return Fault(path, value, f"must be {_kinds(list(dict.fromkeys(kinds)))}")
    meant = [inners for inners in branches.values() if not any(_is_telling(inner) for inner in inners)]
    meant = meant or [inners for inners in branches.values() if not any(map(_is_type, inners))]
    if len(meant) == 1 and depth < _DEEPEST_CHOICE:
        inner = meant[0][0]
        return _fault(inner, (*steps, *inner.relative_path), depth + 1)
    told = [
        str(_fault(inners[0], tuple(inners[0].relative_path), _DEEPEST_CHOICE)) if depth < _DEEPEST_CHOICE else "…"
        for inners in list(branches.values())[:4]
    ]
    return Fault(path, value, neutralise(f"fits none of the choices ({' | '.join(told)})", limit=_SHOWN_TEXT).text)


def _is_type(error: Any) -> bool:
    return error.validator == "type" and not error.relative_path


def _is_telling(error: Any) -> bool:
    """Whether the error says that another choice was meant: at the top, or in a property that tells which one it is."""
    return error.validator in _TELLING and len(error.relative_path) <= (
        1 if error.validator in ("const", "enum") else 0
    )


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def _kinds(value: Any) -> str:
    return " or ".join(map(_kind, _listed(value)[:_MOST_CHOICES]))


def _kind(name: Any) -> str:
    article = "an" if str(name)[:1] in "aeiou" else "a"
    return "null" if name == "null" else f"{article} {neutralise(str(name), limit=40).text}"


def _choices(values: Any) -> str:
    listed = _listed(values)
    text = ", ".join(json_text(choice) for choice in listed[:_MOST_CHOICES])
    more = f" and {len(listed) - _MOST_CHOICES} more" if len(listed) > _MOST_CHOICES else ""
    return neutralise(text, limit=_SHOWN_TEXT).text + more


def _joined(path: str, name: str) -> str:
    shown = neutralise(name, limit=_SHOWN_NAME).text
    return f"{path}.{shown}" if path else shown


def json_text(value: Any) -> str:
    """A value as short JSON that is fit to be shown."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    return neutralise(text, limit=_SHOWN_VALUE).text
