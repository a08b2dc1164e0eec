"""What is wrong with arguments, in words: where, what stands there, what is accepted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolsearch.errors import near_names
from toolsearch.tools.untrusted import neutralise

_SHOWN_VALUE = 80
_SHOWN_TEXT = 300


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
        place = self.path or "params"
        return f"{place}: {self.accepted}" + (f"; given: {self.value}" if self.value else "")


def fault_of(error: Any) -> Fault:
    """An error of the library jsonschema in our words."""
    path = path_text(error.absolute_path)
    names = error.schema if isinstance(error.schema, Mapping) else {}
    value = _json(error.instance)
    match error.validator:
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            inner = error.message.split("'")[1] if "'" in error.message else ""
            name = inner if inner in missing else (missing or [inner])[0]
            return Fault(_joined(path, str(name)), "", "is required and missing")
        case "additionalProperties" if error.validator_value is False:
            return _unknown_name(path, error.message, names)
        case "type":
            wanted = error.validator_value
            kinds = wanted if isinstance(wanted, list) else [wanted]
            return Fault(path, value, f"must be {' or '.join(map(_kind, kinds))}")
        case "enum":
            choices = ", ".join(_json(choice) for choice in error.validator_value[:12])
            more = f" and {len(error.validator_value) - 12} more" if len(error.validator_value) > 12 else ""
            return Fault(path, value, f"must be one of {neutralise(choices, limit=_SHOWN_TEXT).text}{more}")
        case "const":
            return Fault(path, value, f"must be {_json(error.validator_value)}")
        case "pattern":
            return Fault(path, value, f"must match the pattern {neutralise(error.validator_value, limit=80).text}")
        case "anyOf" | "oneOf":
            return Fault(
                path, value, f"must fit {'one' if error.validator == 'oneOf' else 'any'} of the schema's choices"
            )
        case "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties":
            bound = "least" if error.validator.startswith("min") else "most"
            unit = {"Length": "characters", "Items": "items", "Properties": "properties"}[error.validator[3:]]
            return Fault(path, value, f"must have at {bound} {error.validator_value} {unit}")
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
            signs = {"minimum": ">=", "maximum": "<=", "exclusiveMinimum": "above", "exclusiveMaximum": "below"}
            return Fault(path, value, f"must be {signs[error.validator]} {_json(error.validator_value)}")
    return Fault(path, value, neutralise(error.message, limit=_SHOWN_TEXT).text)


def _unknown_name(path: str, name: str, schema: Mapping[str, Any]) -> Fault:
    known = [str(each) for each in schema.get("properties", {})]
    near = near_names(name, known)
    hint = f" Did you mean {', '.join(near)}?" if near else ""
    accepted = ", ".join(sorted(known)[:20]) or "none"
    text = neutralise(f"is no parameter; accepted: {accepted}.{hint}", limit=_SHOWN_TEXT).text
    return Fault(_joined(path, name), "", text)


def _kind(name: Any) -> str:
    article = "an" if str(name)[:1] in "aeiou" else "a"
    return "null" if name == "null" else f"{article} {neutralise(str(name), limit=40).text}"


def path_text(parts: Any) -> str:
    """The steps of a path as `items[0].name`."""
    path = ""
    for part in parts:
        path = f"{path}[{part}]" if isinstance(part, int) else _joined(path, str(part))
    return path


def _joined(path: str, name: str) -> str:
    shown = neutralise(name, limit=60).text
    return f"{path}.{shown}" if path else shown


def _json(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = repr(type(value))
    return neutralise(text, limit=_SHOWN_VALUE).text
