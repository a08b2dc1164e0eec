"""What a search found, and what its answer says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolsearch_eval.fieldtest.reading import Check, field_of, has_flag, outcome_of, ranked
from toolsearch_eval.fieldtest.steps import Outcome, tokens_of
from toolsearch_eval.fieldtest.world import World


def _top1(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    names = outcome_of(outcomes, check).names
    return "" if names[:1] == (check["tool"],) else f"first is {ranked(names)}, not {check['tool']}"


def _in_top(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    names = outcome_of(outcomes, check).names[: check["k"]]
    missing = [name for name in check["tools"] if name not in names]
    return f"{ranked(missing)} not among the first {check['k']}: {ranked(names)}" if missing else ""


def _results_equal(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    names = outcome_of(outcomes, check).names
    return "" if sorted(names) == sorted(check["tools"]) else f"found {ranked(names)}, not {ranked(check['tools'])}"


def _results_equal_steps(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    lists = [outcomes[step].names for step in check["steps"]]
    return "" if all(names == lists[0] for names in lists) else f"the lists differ: {lists}"


def _results_differ(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    return "" if _results_equal_steps(world, outcomes, check) else "the lists are the same"


def _not_ranked_above(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    names = outcome_of(outcomes, check).names
    places = {name: place for place, name in enumerate(names)}
    worse, better = places.get(check["worse"], len(names)), places.get(check["better"], len(names))
    return f"{check['worse']} stands above {check['better']}" if worse < better else ""


def _servers(outcome: Outcome) -> set[str]:
    found = outcome.answer.results if outcome.answer else ()
    return {tool.server for tool in found if tool.server}


def _server_of_name(outcome: Outcome, server: str) -> bool:
    return server in _servers(outcome) or any(
        re.match(rf"(mcp__)?{re.escape(server)}_", name) for name in outcome.names
    )


def _servers_covered(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    missing = [server for server in check["servers"] if not _server_of_name(outcome, server)]
    return f"nothing of {ranked(missing)} in {ranked(outcome.names)}" if missing else ""


def _servers_equal(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    found = _servers(outcome_of(outcomes, check))
    return "" if found == set(check["servers"]) else f"from {ranked(sorted(found))}, not {ranked(check['servers'])}"


def _sorted_by(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    results = outcome.answer.results if outcome.answer else ()
    values = [getattr(tool, check["key"], None) for tool in results]
    falling = check["key"] == "score"
    good = all(value is not None for value in values) and values == sorted(values, reverse=falling)  # type: ignore[type-var]
    return "" if good else f"not sorted by {check['key']}: {values}"


def _scores_not_all_equal(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    scores = {tool.score for tool in outcome.answer.results} if outcome.answer else set()
    return "" if len(scores) > 1 else f"the scores are all the same: {scores}"


def _empty(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    names = outcome_of(outcomes, check).names
    return f"found {ranked(names)}" if names else ""


def _not_empty(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    return "" if outcome_of(outcomes, check).names else "nothing was found"


def _count(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    count = len(outcome_of(outcomes, check).names)
    return "" if count == check["value"] else f"{count} results, not {check['value']}"


def _absent(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    found = [name for name in check["tools"] if name in outcome_of(outcomes, check).names]
    return f"{ranked(found)} was found" if found else ""


def _empty_or_flag(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    if not outcome.names or has_flag(outcome, check["flag"]):
        return ""
    return f"found {ranked(outcome.names)} without the flag {check['flag']}"


def _field_equals(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    value = field_of(outcome_of(outcomes, check), check["path"])
    return "" if value == check["value"] else f"{check['path']} is {value!r}, not {check['value']!r}"


def _field_at_least(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    value = field_of(outcome_of(outcomes, check), check["path"])
    good = isinstance(value, int | float) and value >= check["value"]
    return "" if good else f"{check['path']} is {value!r}, below {check['value']}"


def _text_contains(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    text = outcome_of(outcomes, check).text
    return "" if check["text"].lower() in text.lower() else f"{check['text']!r} is not in: {text[:300]!r}"


def _text_contains_any(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    text = outcome_of(outcomes, check).text.lower()
    good = any(each.lower() in text for each in check["any"])
    return "" if good else f"none of {check['any']} is in: {text[:300]!r}"


def _text_not_contains(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    text = outcome_of(outcomes, check).text
    return f"{check['text']!r} is in: {text[:300]!r}" if check["text"].lower() in text.lower() else ""


def _text_contains_or_flag(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    return "" if has_flag(outcome_of(outcomes, check), check["flag"]) else _text_contains(world, outcomes, check)


def _miss_has_guidance(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    if check.get("any"):
        return _text_contains_any(world, outcomes, check)
    text = outcome_of(outcomes, check).text.lower()
    words = ("try", "search", "select:", "did you mean", "rephrase", "other words", "list:")
    return "" if any(word in text for word in words) else f"no word on what to do: {text[:300]!r}"


def suggestion(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    """Whether an answer suggests a tool."""
    outcome = outcome_of(outcomes, check)
    named = [name for miss in outcome.answer.missing for name in miss.suggestions] if outcome.answer else []
    named += outcome.execution.suggestions if outcome.execution else ()
    good = check["tool"] in named or check["tool"] in outcome.text
    return "" if good else f"{check['tool']} is not suggested: {outcome.text[:300]!r}"


def _max_names_in_text(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    text = outcome_of(outcomes, check).text
    known = [tool.name for tool in world.registry.snapshot().tools]
    count = sum(bool(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)) for name in known)
    return "" if count <= check["value"] else f"{count} names stand in the text, more than {check['value']}"


def _tokens_at_most(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    tokens = tokens_of(outcome_of(outcomes, check))
    return "" if tokens <= check["value"] else f"{tokens} tokens, more than {check['value']}"


def _description_truncated(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    return "" if has_flag(outcome_of(outcomes, check), "description_truncated") else "nothing is said to be cut"


def _ambiguity_reported(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    missing = [name for name in check["candidates"] if name not in outcome.text and name not in outcome.names]
    return f"{ranked(missing)} not named: {outcome.text[:300]!r}" if missing else ""


def _schema_present(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    text = outcome_of(outcomes, check).text
    missing = [name for name in (check["tool"], *check.get("required", ())) if name not in text]
    return f"{ranked(missing)} not in the text: {text[:300]!r}" if missing else ""


def _schema_properties(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    return _schema_present(world, outcomes, {**check, "required": check["props"]})


CHECKS: dict[str, Check] = {
    "top1": _top1,
    "in_top": _in_top,
    "results_equal": _results_equal,
    "results_equal_steps": _results_equal_steps,
    "results_differ": _results_differ,
    "not_ranked_above": _not_ranked_above,
    "servers_covered": _servers_covered,
    "servers_equal": _servers_equal,
    "sorted_by": _sorted_by,
    "scores_not_all_equal": _scores_not_all_equal,
    "empty": _empty,
    "not_empty": _not_empty,
    "count": _count,
    "absent": _absent,
    "empty_or_flag": _empty_or_flag,
    "field_equals": _field_equals,
    "field_at_least": _field_at_least,
    "text_contains": _text_contains,
    "text_contains_any": _text_contains_any,
    "text_not_contains": _text_not_contains,
    "text_contains_or_flag": _text_contains_or_flag,
    "miss_has_guidance": _miss_has_guidance,
    "suggestion": suggestion,
    "max_names_in_text": _max_names_in_text,
    "tokens_at_most": _tokens_at_most,
    "description_truncated": _description_truncated,
    "ambiguity_reported": _ambiguity_reported,
    "schema_present": _schema_present,
    "schema_properties": _schema_properties,
}
