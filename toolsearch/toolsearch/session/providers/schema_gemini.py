"""Schemas in the part of JSON Schema that Gemini supports.

`parameters_json_schema` takes JSON Schema, but the documentation names the keywords that count, a `$ref` may have no
neighbours, and cycles are refused where they are required. So references are written out, recursion is cut, and what a
keyword outside of the list said goes into the description, where the model can still read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsearch.session.providers.schema_repair import MAX_DEPTH, Faults, resolve
from toolsearch.tools.untrusted import safe_json

SUPPORTED = frozenset(
    {
        "additionalProperties",
        "anyOf",
        "default",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "pattern",
        "prefixItems",
        "properties",
        "propertyOrdering",
        "required",
        "title",
        "type",
        "uniqueItems",
    }
)
"""What the client's own type for JSON Schema holds, with `prefixItems` and `propertyOrdering` of the documentation."""

_SILENT = frozenset({"$anchor", "$comment", "$defs", "$id", "$schema", "$vocabulary", "definitions", "nullable"})
"""Say nothing about a value."""

_FORMATS = frozenset({"date", "date-time", "time"})
_MAX_WRITTEN_OUT = 2_000
"""Schemas after the references are written out; a few that name each other twice would grow without end."""

_TOLD_LIMIT = 300


def supported(schema: Mapping[str, Any], faults: Faults) -> dict[str, Any]:
    """A valid schema in the keywords that Gemini supports.

    Args:
        schema: Every `$ref` in it leads to a place inside of it.
        faults: Takes up what was changed.
    """
    return _Writer(schema, faults).write(schema, (), ())


class _Writer:
    def __init__(self, root: Mapping[str, Any], faults: Faults) -> None:
        self._root = root
        self._faults = faults
        self._written = 0

    def write(self, schema: Any, within: tuple[str, ...], path: tuple[str, ...]) -> dict[str, Any]:
        self._written += 1
        if not isinstance(schema, Mapping):
            return {}
        if self._written > _MAX_WRITTEN_OUT or len(path) > 2 * MAX_DEPTH:
            self._faults.add("what its references write out beyond the size was left out", path)
            return {}
        schema, within = self._followed(schema, within, path)
        written: dict[str, Any] = {}
        told: dict[str, Any] = {}
        for key, value in _plainer(schema).items():
            here = (*path, key)
            if key in _SILENT:
                continue
            if key == "properties":
                written[key] = {
                    name: self.write(inner, within, (*here, name))
                    for name, inner in value.items()
                    if inner is not False
                }
            elif key in ("items", "additionalProperties"):
                written[key] = value if isinstance(value, bool) else self.write(value, within, here)
            elif key in ("anyOf", "oneOf", "prefixItems"):
                name = "anyOf" if key == "oneOf" else key
                inner = [self.write(branch, within, (*here, str(place))) for place, branch in enumerate(value)]
                written[name] = [*written.get(name, []), *inner]
            elif key == "enum":
                _write_enum(value, written, told)
            elif key == "format" and value not in _FORMATS:
                told[key] = value
            elif key in SUPPORTED:
                written[key] = value
            else:
                told[key] = value
        return self._finished(written, told, path)

    def _followed(
        self, schema: Mapping[str, Any], within: tuple[str, ...], path: tuple[str, ...]
    ) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """The schema with its reference and the branches of `allOf` written into it."""
        merged = dict(schema)
        while "$ref" in merged or "allOf" in merged:
            if "$ref" in merged:
                reference = merged.pop("$ref")
                target = resolve(self._root, reference)
                if reference in within:
                    self._faults.add("recursion was cut", path)
                    cut = {"description": "The same form again, nested."}
                    if isinstance(target, Mapping) and isinstance(target.get("type"), str):
                        cut["type"] = target["type"]
                    return {**cut, **{key: merged[key] for key in ("description",) if key in merged}}, within
                within = (*within, reference)
                merged = {**target, **merged} if isinstance(target, Mapping) else merged
            else:
                for branch in merged.pop("allOf"):
                    if isinstance(branch, Mapping):
                        merged = _both(merged, branch)
            if len(within) > MAX_DEPTH:
                self._faults.add("a chain of references was cut", path)
                merged.pop("$ref", None)
                merged.pop("allOf", None)
        return merged, within

    def _finished(self, written: dict[str, Any], told: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        if "required" in written:
            known = written.get("properties", {})
            written["required"] = [name for name in written["required"] if name in known]
            if not written["required"]:
                del written["required"]
        if told:
            for key in told:
                self._faults.add(f"{key} is not supported and went into the description", path)
            text = safe_json(told)
            text = text if len(text) <= _TOLD_LIMIT else text[:_TOLD_LIMIT] + "…"
            description = str(written.get("description", "")).strip()
            written["description"] = f"{description} Also holds: {text}".strip()
        return written


def _plainer(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with what has another spelling among the supported keywords."""
    plainer = dict(schema)
    if "const" in plainer and "enum" not in plainer:
        plainer["enum"] = [plainer.pop("const")]
    whole = plainer.get("type") == "integer"
    for exclusive, plain, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
        bound = plainer.get(exclusive)
        if whole and isinstance(bound, int) and plain not in plainer:
            plainer[plain] = bound + step
            del plainer[exclusive]
    if plainer.get("nullable") is True and isinstance(plainer.get("type"), str) and plainer["type"] != "null":
        plainer["type"] = [plainer["type"], "null"]
    return plainer


def _write_enum(values: list[Any], written: dict[str, Any], told: dict[str, Any]) -> None:
    """Only strings and numbers may be listed; null is a type, the rest is told."""
    fit = [value for value in values if isinstance(value, (str, int, float)) and not isinstance(value, bool)]
    if len(fit) + values.count(None) < len(values) or not fit:
        told["enum"] = values
        return
    written["enum"] = fit


def _both(schema: Mapping[str, Any], branch: Mapping[str, Any]) -> dict[str, Any]:
    """Two schemas that both hold, as one; where they differ in a keyword that can't be joined, the first counts."""
    merged = {**branch, **schema}
    for key in ("properties", "$defs", "definitions"):
        if isinstance(schema.get(key), Mapping) and isinstance(branch.get(key), Mapping):
            merged[key] = {**branch[key], **schema[key]}
    if "required" in schema and "required" in branch:
        merged["required"] = list(dict.fromkeys([*schema["required"], *branch["required"]]))
    if "$ref" in schema and "$ref" in branch:
        merged["allOf"] = [*schema.get("allOf", []), {"$ref": branch["$ref"]}]
    elif "allOf" in schema and "allOf" in branch:
        merged["allOf"] = [*schema["allOf"], *branch["allOf"]]
    return merged
