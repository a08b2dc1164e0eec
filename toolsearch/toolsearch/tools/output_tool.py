"""`SyntheticOutput`: the tool by which a model hands over its final answer, as JSON of the shape that was asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.errors import UsageError
from toolsearch.tools.schema_text import brief, full_text, trimmed_text
from toolsearch.tools.untrusted import neutralise
from toolsearch.tools.validation import LIMITS, Limits, validate_params

_NAME = SYNTHETIC_TOOLS[2]
_LONGEST_SCHEMA = 8000
"""Characters of the schema in an error; a longer one is shown trimmed, or in brief."""
_LONGEST_LINE = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What came of one call of `SyntheticOutput`.

    Attributes:
        value: The final answer, a plain JSON object of its own; None where it was refused.
        faults: Why it was refused, a line each; empty when it was accepted.
        notes: What of the host's schema could not be checked, a line each; it refuses nothing.
        text: What the model reads.
    """

    value: Mapping[str, Any] | None
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    text: str

    @property
    def is_error(self) -> bool:
        """Whether the answer was refused, so that the model has to call again."""
        return self.value is None

    def to_json(self) -> dict[str, Any]:
        """`{"value"}` for an accepted answer, `{"code": "invalid_params", "message", "faults"}` for a refused one."""
        if self.value is not None:
            return {"value": self.value}
        return {"code": "invalid_params", "message": self.text, "faults": list(self.faults)}


class OutputTool:
    """Answers calls of `SyntheticOutput`."""

    def __init__(self, schema: Mapping[str, Any] | None = None, *, limits: Limits = LIMITS) -> None:
        """Take the shape of the final answer.

        Args:
            schema: A JSON Schema that an object can meet; None accepts any JSON object.
            limits: How much the check of one answer may cost.

        Raises:
            UsageError: The schema is not valid JSON Schema, or is one that no object can meet.
        """
        if schema is not None:
            _check_schema(schema)
        self._schema = schema
        self._limits = limits

    def call(self, arguments: Mapping[str, Any] | str | None) -> Output:
        """Take a final answer, or say why not; never raises.

        Args:
            arguments: The answer itself, as the model gave it; JSON text is read. Nothing is added to it, left out or
                repaired: a final answer is taken as it is or not at all.
        """
        value, fault = _as_object(arguments)
        if value is None:
            return self._refused((fault,))
        checked = validate_params(self._schema, value, limits=self._limits)
        if not checked.valid:
            return self._refused(tuple(str(each) for each in checked.faults), checked.notes)
        return Output(value=value, notes=checked.notes, text="The final answer was handed over.")

    def _refused(self, faults: tuple[str, ...], notes: tuple[str, ...] = ()) -> Output:
        lines = [f"The final answer was not accepted. Call {_NAME} again with the whole corrected answer."]
        lines += [f"- {neutralise(fault, limit=_LONGEST_LINE).text}" for fault in faults]
        if self._schema is not None:
            lines.append(_shape(self._schema))
        return Output(value=None, faults=faults, notes=notes, text="\n".join(lines))


def _shape(schema: Mapping[str, Any]) -> str:
    for text in (full_text(schema), trimmed_text(schema, limit=160)):
        if text is not None and len(text) <= _LONGEST_SCHEMA:
            return f"Its JSON Schema: {text}"
    return f"Its fields: {brief(schema, limit=_LONGEST_SCHEMA).text}"


def _as_object(arguments: object) -> tuple[dict[str, Any] | None, str]:
    """The answer as a plain JSON object of its own, or why it is none."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            reason = (
                f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else "too deep"
            )
            return None, f"the answer is a text that is not valid JSON ({reason}); give one JSON object"
    if not isinstance(arguments, Mapping):
        kind = {type(None): "nothing", list: "a list", str: "a text", bool: "true or false"}.get(
            type(arguments), "a number" if isinstance(arguments, int | float) else f"a {type(arguments).__name__}"
        )
        return None, f"the answer is {kind}; give one JSON object"
    try:
        value: dict[str, Any] = json.loads(json.dumps(arguments, allow_nan=False, default=_plain))
    except (TypeError, ValueError, RecursionError) as error:
        return None, f"the answer is not JSON: {error}"
    return value, ""


def _plain(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"it holds a {type(value).__name__}")


def _check_schema(schema: object) -> None:
    # Imported here: reading the meta-schemas takes longer than everything else that a small program does.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    if not isinstance(schema, Mapping):
        raise UsageError(
            f"the schema of {_NAME} is a {type(schema).__name__}; give a JSON Schema as a mapping, or None."
        )
    try:
        plain = json.loads(json.dumps(schema, allow_nan=False, default=_plain))
        validator_for(plain, default=Draft202012Validator).check_schema(plain)
    except SchemaError as error:
        place = ".".join(str(step) for step in error.absolute_path) or "its root"
        raise UsageError(
            f"the schema of {_NAME} is not valid JSON Schema at {place[:200]}: {error.message[:200]}"
        ) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the schema of {_NAME} is not JSON: {str(error)[:200]}") from None
    kinds = plain.get("type", "object")
    if "object" not in ([kinds] if isinstance(kinds, str) else kinds):
        raise UsageError(
            f"the schema of {_NAME} has the type {json.dumps(kinds)[:60]}; a final answer is an object. Put the value "
            "into a property of one."
        )
