"""What is sent: tools array and payload."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolsearch_eval.fieldtest.reading import Check, outcome_of, ranked
from toolsearch_eval.fieldtest.steps import EXECUTE, Outcome
from toolsearch_eval.fieldtest.world import World


def _bytes_equal(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    texts = [json.dumps(outcomes[step].payload, ensure_ascii=False) for step in check["steps"]]
    return "" if all(text == texts[0] for text in texts) else "the bytes differ"


def array_names(outcome: Outcome) -> list[str]:
    """The names in a tools array, or in the one of a request."""
    array = outcome.payload.get("tools", []) if isinstance(outcome.payload, Mapping) else outcome.payload or []
    names = []
    for each in array:
        inner = each.get("function", each)
        declared = inner.get("function_declarations") or inner.get("functionDeclarations")
        names += [one["name"] for one in declared] if declared else [inner.get("name", "")]
    return names


def tools_array_contains(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    """Whether tools stand in the array."""
    names = array_names(outcome_of(outcomes, check))
    missing = [name for name in check["tools"] if name not in names]
    return f"{ranked(missing)} not in the array: {ranked(names)}" if missing else ""


def _tools_array_contains_all(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    wanted = [tool.name for tool in world.registry.snapshot().tools if tool.name.startswith(check["prefix"])]
    if not wanted:
        return f"the catalog has no tool that begins with {check['prefix']}"
    return tools_array_contains(world, outcomes, {**check, "tools": wanted})


def _tools_array_contains_none(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    found = [name for name in array_names(outcome_of(outcomes, check)) if name.startswith(check["prefix"])]
    return f"{ranked(found)} in the array" if found else ""


def _at_least_one_non_deferred(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    tools = outcome_of(outcomes, check).payload.get("tools", [])
    return "" if any(not tool.get("defer_loading") for tool in tools) else "every tool of the request is deferred"


def _no_tool_has_both(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    tools = outcome_of(outcomes, check).payload.get("tools", [])
    bad = [tool.get("name") for tool in tools if all(key in tool for key in check["keys"])]
    return f"{bad} have all of {check['keys']}" if bad else ""


def _payload_valid(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    payload = outcome_of(outcomes, check).payload
    names = array_names(outcome_of(outcomes, check))
    if len(set(names)) < len(names):
        return f"a name stands twice in the tools array: {names}"
    text = json.dumps(payload)
    stale = [word for word in ("tool_reference", "defer_loading") if f'"{word}"' in text]
    if stale:
        return f"the payload holds {stale}"
    messages = payload.get("messages", [])
    asked = {block["id"] for message in messages for block in _blocks(message) if block.get("type") == "tool_use"}
    answered = [
        block["tool_use_id"] for each in messages for block in _blocks(each) if block.get("type") == "tool_result"
    ]
    if sorted(asked) != sorted(answered):
        return f"calls {sorted(asked)} and results {sorted(answered)} don't pair"
    roles = [message["role"] for message in messages]
    twice = any(first == second for first, second in itertools.pairwise(roles))
    return f"roles don't alternate: {roles}" if twice else "" if roles[:1] == ["user"] else f"begins with {roles[:1]}"


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


def _tag_balanced(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    text = outcome_of(outcomes, check).text
    tags = [check["tag"]] if "tag" in check else ["system-reminder", "available-deferred-tools", "tool"]
    bad = [tag for tag in tags if len(re.findall(rf"<{tag}(?=[\s>])", text)) != len(re.findall(rf"</{tag}>", text))]
    return f"{bad} don't close as often as they open" if bad else ""


def _proxy(outcome: Outcome) -> Mapping[str, Any]:
    for tool in outcome.payload:
        if tool.get("name") == EXECUTE:
            properties: Mapping[str, Any] = tool["input_schema"]["properties"]["params"]
            return properties
    return {}


def _proxy_params_type(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    kind = _proxy(outcome_of(outcomes, check)).get("type")
    return "" if kind == check["value"] else f"params is of type {kind!r}"


def _proxy_params_allow_additional(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    allowed = _proxy(outcome_of(outcomes, check)).get("additionalProperties", True) is not False
    return "" if allowed is check.get("value", True) else f"additional properties are allowed: {allowed}"


CHECKS: dict[str, Check] = {
    "bytes_equal": _bytes_equal,
    "tools_array_contains": tools_array_contains,
    "tools_array_contains_all": _tools_array_contains_all,
    "tools_array_contains_none": _tools_array_contains_none,
    "at_least_one_non_deferred": _at_least_one_non_deferred,
    "no_tool_has_both": _no_tool_has_both,
    "payload_valid": _payload_valid,
    "tag_balanced": _tag_balanced,
    "proxy_params_type": _proxy_params_type,
    "proxy_params_allow_additional": _proxy_params_allow_additional,
}
