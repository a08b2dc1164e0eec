"""What ran, with which arguments, and what was asked before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolsearch.catalog.names import name_fault
from toolsearch_eval.fieldtest.checks_found import suggestion
from toolsearch_eval.fieldtest.reading import CODES, Check, outcome_of
from toolsearch_eval.fieldtest.steps import Outcome
from toolsearch_eval.fieldtest.world import World


def _runs(world: World, check: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [run.params for run in world.runs if run.tool == check["tool"] and run.step == check["step"]]


def _called(world: World, _outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    ran = _runs(world, check)
    if not ran:
        return f"{check['tool']} did not run: {_outcomes[check['step']].text[:300]!r}"
    good = "params" not in check or any(dict(params) == check["params"] for params in ran)
    return "" if good else f"{check['tool']} ran with {ran}, not with {check['params']}"


def _not_called(world: World, _outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    return f"{check['tool']} ran" if _runs(world, check) else ""


def _never_called_with(world: World, _outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    bad = any(run.tool == check["tool"] and dict(run.params) == check["params"] for run in world.runs)
    return f"{check['tool']} ran with {check['params']}" if bad else ""


def _error(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    if not outcome.code:
        return f"no error: {outcome.text[:300]!r}"
    wanted = check.get("code")
    wanted = CODES.get(wanted, wanted) if wanted else None
    return "" if wanted in (None, outcome.code) else f"the error is {outcome.code}, not {wanted}"


def _called_or_error_with_schema(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    if not _called(world, outcomes, check):
        return ""
    outcome = outcome_of(outcomes, check)
    shown = outcome.execution is not None and outcome.execution.schema is not None
    return "" if outcome.code and shown else f"neither ran nor answered with its schema: {outcome.text[:300]!r}"


def _called_or_suggestion(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    return "" if not _called(world, outcomes, check) else suggestion(world, outcomes, check)


def _error_or_called(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    ran = [run for run in world.runs if run.step == check["step"] and check.get("tool", run.tool) == run.tool]
    if ran:
        return ""
    hint = check.get("hint")
    good = bool(outcome.code) and (not hint or hint.lower() in outcome.text.lower())
    return "" if good else f"neither ran nor failed with a word on {hint!r}: {outcome.text[:300]!r}"


def _error_or_repaired(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    ran = [dict(run.params) for run in world.runs if run.step == check["step"]]
    if ran and ran[0] and ("params" not in check or ran[0] == check["params"]):
        return ""
    return "" if outcome.code and not ran else f"neither refused nor repaired: {outcome.text[:300]!r}"


def _error_or_literal(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    return "" if outcome.code or outcome.answer is not None else "neither an error nor an answer"


def _error_or_clamped(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    if outcome.code:
        return ""
    count = len(outcome.names)
    said = outcome.answer is not None and outcome.answer.clamped
    return "" if 0 < count <= check["max"] and said else f"{count} results, said to be clamped: {said}"


def _error_or_namespaced(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    return _error_or_distinct_ids(_world, outcomes, check)


def _error_or_distinct_ids(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    if outcome.error is not None:
        wanted = check.get("code")
        return "" if wanted in (None, outcome.code) else f"the error is {outcome.code}, not {wanted}"
    names = [tool.name for tool in world.registry.snapshot().tools]
    return "" if len(set(names)) == len(names) else f"names stand more than once: {names}"


def _rejected_or_sanitized(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    shown = [name for name in (*outcome.added, *outcome.names) if name_fault(name)]
    said = any(check.get("server", "") in warning for warning in world.warnings)
    if shown:
        return f"a name that is not fit to be shown was: {shown!r}"
    return "" if said else f"nothing is said about {check.get('server')}: {world.warnings}"


def _result_contains(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    execution = outcome_of(outcomes, check).execution
    result = execution.result if execution else None
    wanted = check["value"]
    if isinstance(wanted, Mapping) and isinstance(result, Mapping):
        good = all(result.get(key) == value for key, value in wanted.items())
    else:
        good = wanted == result or (isinstance(wanted, str) and wanted in str(result))
    return "" if good else f"the result is {result!r}"


def _permission_prompt(world: World, _outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    return "" if (check["step"], check["tool"]) in world.prompts else f"asked was only {world.prompts}"


def _permission_subject(world: World, _outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    asked = [name for step, name in world.prompts if step == check["step"]]
    return "" if asked and set(asked) == {check["value"]} else f"asked was about {asked}"


CHECKS: dict[str, Check] = {
    "called": _called,
    "not_called": _not_called,
    "never_called_with": _never_called_with,
    "error": _error,
    "called_or_error_with_schema": _called_or_error_with_schema,
    "called_or_suggestion": _called_or_suggestion,
    "error_or_called": _error_or_called,
    "error_or_repaired": _error_or_repaired,
    "error_or_literal": _error_or_literal,
    "error_or_clamped": _error_or_clamped,
    "error_or_namespaced": _error_or_namespaced,
    "error_or_distinct_ids": _error_or_distinct_ids,
    "rejected_or_sanitized": _rejected_or_sanitized,
    "result_contains": _result_contains,
    "permission_prompt": _permission_prompt,
    "permission_subject": _permission_subject,
}
