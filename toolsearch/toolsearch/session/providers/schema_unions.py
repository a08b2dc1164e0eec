"""Parameters as one object: what providers refuse at the top of a schema is folded into its properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsearch.session.providers.schema_repair import Faults, resolve
from toolsearch.tools.untrusted import safe_json, shown_name

_MAX_REFERENCES = 16
_NOTE_LIMIT = 400


def one_object(
    schema: Mapping[str, Any], refused: frozenset[str], faults: Faults
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A schema whose top is a plain object.

    Every branch of a union gives its parameters; required is what all branches require. What the branches said about
    parameters that belong together goes into sentences for the description, so that the model can still know it.

    Args:
        schema: A valid schema.
        refused: The keywords that may not stand at the top.
        faults: Takes up what was changed.

    Returns:
        The schema, and sentences for the tool's description.
    """
    fixed, notes = _object(schema, schema, refused, faults, 0)
    for key in ("$defs", "definitions"):
        if key in schema:
            fixed.setdefault(key, schema[key])
    return fixed, tuple(dict.fromkeys(notes))


def _object(
    schema: Mapping[str, Any], root: Mapping[str, Any], refused: frozenset[str], faults: Faults, depth: int
) -> tuple[dict[str, Any], list[str]]:
    fixed = dict(schema)
    notes: list[str] = []
    for _ in range(_MAX_REFERENCES):
        if "$ref" not in fixed:
            break
        target = resolve(root, fixed.pop("$ref"))
        fixed = {**target, **fixed} if isinstance(target, Mapping) else fixed
    fixed.pop("$ref", None)
    kind = fixed.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        faults.add("the top-level type is not object")
    fixed["type"] = "object"
    fixed.setdefault("properties", {})
    folded = [key for key in ("allOf", "anyOf", "oneOf") if key in refused and key in fixed]
    for key in folded:
        faults.add(f"top-level {key} is refused: its branches became one set of parameters")
        branches = [branch for branch in fixed.pop(key) if isinstance(branch, Mapping)]
        if depth < _MAX_REFERENCES:
            inner = [_object(branch, root, refused, faults, depth + 1) for branch in branches]
            notes.extend(note for _, told in inner for note in told)
            fixed, told = _folded(fixed, [branch for branch, _ in inner], key)
            notes.extend(told)
    for left in sorted(refused & fixed.keys()):
        faults.add(f"top-level {left} is refused and was left out")
        notes.append(f"{left.capitalize()}: {_shortened(fixed.pop(left))}.")
    return fixed, notes


def _folded(fixed: dict[str, Any], branches: list[dict[str, Any]], key: str) -> tuple[dict[str, Any], list[str]]:
    properties = dict(fixed["properties"])
    required = list(fixed.get("required", []))
    for branch in branches:
        for name, value in branch["properties"].items():
            properties.setdefault(name, value)
    wanted = [[name for name in branch.get("required", []) if name not in required] for branch in branches]
    told = []
    if key == "allOf":
        required += [name for names in wanted for name in names]
    elif wanted:
        common = [name for name in wanted[0] if all(name in names for names in wanted)]
        required += common
        sets = [[name for name in names if name not in common] for names in wanted]
        if any(sets):
            shown = " or ".join(" and ".join(map(shown_name, names)) if names else "none of these" for names in sets)
            told.append(f"Required besides: {'at least' if key == 'anyOf' else 'exactly'} one of: {shown}.")
    merged = {**fixed, "properties": properties}
    if required:
        merged["required"] = list(dict.fromkeys(required))
    return merged, told


def _shortened(value: Any) -> str:
    text = safe_json(value)
    return text if len(text) <= _NOTE_LIMIT else text[:_NOTE_LIMIT] + "…"
