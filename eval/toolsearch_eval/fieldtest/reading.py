"""What checks read from the outcome of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolsearch_eval.fieldtest.steps import Outcome
from toolsearch_eval.fieldtest.world import World

Check = Callable[[World, Sequence[Outcome], Mapping[str, Any]], str]
"""Gives why a check does not hold, or ""."""

CODES = {"not_found": "unknown_tool", "invalid_input": "invalid_params", "execution_error": "tool_error"}
"""How other systems call a failure that we call otherwise."""
FLAGS = {
    "no_confident_match": "low_confidence",
    "server_unavailable": "failed_servers",
    "server_pending": "pending_servers",
    "server_disabled": "disabled_servers",
    "description_truncated": "text_cut",
}
"""A flag as a report calls it, and the field of our answer."""


def outcome_of(outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> Outcome:
    """The outcome of the step that a check is about."""
    step: int = check["step"]
    return outcomes[step]


def ranked(names: Sequence[str]) -> str:
    """The first names, for a message."""
    return ", ".join(names[:8]) or "nothing"


def has_flag(outcome: Outcome, flag: str) -> bool:
    """Whether a search answer carries a flag, as the report calls it."""
    if outcome.answer is None:
        return False
    value = getattr(outcome.answer, FLAGS.get(flag, flag), None)
    if flag == "description_truncated":
        return bool(value) or any(tool.cut for tool in outcome.answer.results)
    return bool(value)


def field_of(outcome: Outcome, path: str) -> Any:
    """A field of the structured answer by its dotted path; None where there is none."""
    value: Any = (
        outcome.answer.to_json() if outcome.answer else outcome.execution.to_json() if outcome.execution else {}
    )
    for part in path.split("."):
        if isinstance(value, list):
            value = value[int(part)] if part.isdigit() and int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, Mapping) else None
    if path == "missing" and isinstance(value, list):
        return [each["name"] for each in value]
    return value
