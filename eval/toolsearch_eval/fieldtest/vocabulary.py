"""The words that a field report may use: keys of a set-up, steps and checks, each with the keys that it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TEXT, WHOLE, NUMBER, FLAG, LIST, MAPPING, TEXT_OR_LIST, STEP, ANY = (
    "a text",
    "a whole number",
    "a number",
    "true or false",
    "a list",
    "an object",
    "a text or a list",
    "a step",
    "anything",
)
"""Kinds of value, as messages name them."""


@dataclass(frozen=True, slots=True)
class Form:
    """The keys that a step or a check takes, each with the kind of its value.

    Attributes:
        needed: Keys that must be there.
        optional: Keys that may be there.
    """

    needed: Mapping[str, str] = field(default_factory=dict)
    optional: Mapping[str, str] = field(default_factory=dict)


SERVER_STATES = ("connected", "pending", "failed", "disconnected", "disabled")
PERMISSIONS = ("allow", "ask", "deny")

TOOL = Form(
    {"name": TEXT},
    {
        "description": TEXT,
        "hint": TEXT,
        "schema": MAPPING,
        "server": TEXT,
        "group": TEXT,
        "origin": TEXT,
        "source": TEXT,
        "aliases": LIST,
        "core": FLAG,
        "defer": FLAG,
        "permission": TEXT,
        "updated_input": MAPPING,
        "raises": TEXT,
        "echo_context": FLAG,
        "transient": FLAG,
        "enabled": FLAG,
    },
)
FILLER = Form(
    {"filler": WHOLE, "name_pattern": TEXT},
    {"description_pattern": TEXT, "server": TEXT, "schema": MAPPING, "core": FLAG, "defer": FLAG, "group": TEXT},
)
SETUP = Form({"catalog": LIST}, {"config": MAPPING, "servers": MAPPING})
CONFIG = Form(
    {},
    {
        "mode": TEXT,
        "allowed": LIST,
        "deny": LIST,
        "always_load": LIST,
        "core": LIST,
        "context_window": WHOLE,
        "servers": MAPPING,
        "servers_typo": MAPPING,
        "require_discovery": FLAG,
        "regex_mode": FLAG,
        "adapter": TEXT,
        "preset": TEXT,
        "loaded_groups": LIST,
        "session": TEXT,
        "announcements": TEXT,
        "teams": FLAG,
        "max_results": WHOLE,
        "env": MAPPING,
    },
)

STEPS: dict[str, Form] = {
    "search": Form({"query": TEXT}, {"max_results": ANY, "server": TEXT, "timeout_s": NUMBER}),
    "search_each": Form({"queries": LIST}, {"max_results": ANY}),
    "list_server": Form({"server": TEXT}, {"limit": WHOLE}),
    "execute": Form({"tool_name": ANY, "params": ANY}, {"context": ANY}),
    "execute_raw": Form({"input": ANY}, {"context": ANY}),
    "direct_call": Form({"tool_name": TEXT, "params": ANY}, {"context": ANY}),
    "same_turn": Form({"steps": LIST}),
    "add_tools": Form({"tools": LIST}, {"server": TEXT, "notify": TEXT}),
    "remove_tools": Form({"tools": LIST}, {"server": TEXT, "notify": TEXT}),
    "replace_tool": Form({"tool": ANY}, {"server": TEXT, "notify": TEXT, "name": TEXT}),
    "server_tools": Form({"server": TEXT, "tools": LIST}, {"notify": TEXT}),
    "server_state": Form({"server": TEXT, "state": TEXT}),
    "announce": Form(),
    "prefetch": Form({"text": TEXT}),
    "compact": Form({}, {"keep": WHOLE, "servers": MAPPING}),
    "resume": Form({}, {"servers": MAPPING}),
    "new_session": Form({}, {"servers": MAPPING}),
    "serialize_restore": Form({}, {"servers": MAPPING}),
    "spawn_subagent": Form({"tools": TEXT_OR_LIST}),
    "subagent": Form({"step": STEP}),
    "tools_array": Form(),
    "system_prompt": Form(),
    "provider_payload": Form(),
    "context_size": Form(),
    "resolve_mode": Form({"env": MAPPING}),
    "concurrent": Form({"threads": WHOLE, "steps": LIST}),
    "cancelled": Form({"step": STEP}),
    "shuffle_catalog": Form({"seed": WHOLE}),
    "build_index": Form(),
    "snapshot_known": Form(),
    "advance_clock": Form({"hours": NUMBER}),
}
"""What can be done, by the name of the step."""

_STEP = {"step": WHOLE}
_STEPS = {"steps": LIST}
_TOOL = {"tool": TEXT}

CHECKS: dict[str, Form] = {
    "top1": Form({**_STEP, **_TOOL}),
    "in_top": Form({**_STEP, "tools": LIST, "k": WHOLE}),
    "results_equal": Form({**_STEP, "tools": LIST}),
    "results_equal_steps": Form(_STEPS),
    "results_differ": Form(_STEPS),
    "not_ranked_above": Form({**_STEP, "better": TEXT, "worse": TEXT}),
    "servers_covered": Form({**_STEP, "servers": LIST}),
    "servers_equal": Form({**_STEP, "servers": LIST}),
    "sorted_by": Form({**_STEP, "key": TEXT}),
    "scores_not_all_equal": Form(_STEP),
    "empty": Form(_STEP),
    "not_empty": Form(_STEP),
    "count": Form({**_STEP, "value": WHOLE}),
    "absent": Form({**_STEP, "tools": LIST}),
    "empty_or_flag": Form({**_STEP, "flag": TEXT}),
    "field_equals": Form({**_STEP, "path": TEXT, "value": ANY}),
    "field_at_least": Form({**_STEP, "path": TEXT, "value": NUMBER}),
    "text_contains": Form({**_STEP, "text": TEXT}),
    "text_contains_any": Form({**_STEP, "any": LIST}),
    "text_not_contains": Form({**_STEP, "text": TEXT}),
    "text_contains_or_flag": Form({**_STEP, "text": TEXT, "flag": TEXT}),
    "miss_has_guidance": Form(_STEP, {"any": LIST}),
    "suggestion": Form({**_STEP, **_TOOL}),
    "max_names_in_text": Form({**_STEP, "value": WHOLE}),
    "tokens_at_most": Form({**_STEP, "value": WHOLE}),
    "description_truncated": Form(_STEP, _TOOL),
    "ambiguity_reported": Form({**_STEP, "candidates": LIST}),
    "schema_present": Form({**_STEP, **_TOOL}, {"required": LIST}),
    "schema_properties": Form({**_STEP, **_TOOL, "props": LIST}),
    "called": Form({**_STEP, **_TOOL}, {"params": MAPPING}),
    "not_called": Form({**_STEP, **_TOOL}),
    "never_called_with": Form({**_TOOL, "params": MAPPING}, _STEP),
    "called_or_error_with_schema": Form({**_STEP, **_TOOL}, {"params": MAPPING}),
    "called_or_suggestion": Form({**_STEP, **_TOOL}, {"params": MAPPING}),
    "error_or_called": Form(_STEP, {**_TOOL, "hint": TEXT, "code": TEXT}),
    "error_or_repaired": Form(_STEP, {**_TOOL, "params": MAPPING, "code": TEXT}),
    "error_or_literal": Form(_STEP, {"code": TEXT}),
    "error_or_clamped": Form({**_STEP, "max": WHOLE}, {"code": TEXT}),
    "error_or_namespaced": Form(_STEP, {"code": TEXT}),
    "error_or_distinct_ids": Form(_STEP, {"code": TEXT}),
    "rejected_or_sanitized": Form(_STEP, {"server": TEXT, **_TOOL}),
    "error": Form(_STEP, {"code": TEXT}),
    "result_contains": Form({**_STEP, "value": ANY}),
    "permission_prompt": Form({**_STEP, **_TOOL}),
    "permission_subject": Form({**_STEP, "value": TEXT}),
    "bytes_equal": Form(_STEPS),
    "tools_array_contains": Form({**_STEP, "tools": LIST}),
    "tools_array_contains_all": Form({**_STEP, "prefix": TEXT}),
    "tools_array_contains_none": Form({**_STEP, "prefix": TEXT}),
    "at_least_one_non_deferred": Form(_STEP),
    "no_tool_has_both": Form({**_STEP, "keys": LIST}),
    "payload_valid": Form(_STEP),
    "tag_balanced": Form(_STEP, {"tag": TEXT}),
    "no_contradiction": Form(_STEP),
    "weights_finite": Form(_STEP),
    "no_exception": Form({}, {**_STEP, **_STEPS}),
    "state_is_documented": Form(_STEP),
    "delta": Form(_STEP, {"added": LIST, "removed": LIST}),
    "delta_added_count": Form({**_STEP, "value": WHOLE}),
    "delta_removed_is_exactly": Form({**_STEP, "tools": LIST}),
    "every_announced_name_selectable": Form(_STEP),
    "every_tool_reachable": Form(_STEP),
    "always_load_kept": Form({**_STEP}, {"tools": LIST, **_TOOL}),
    "never_returns_after_removal": Form({}, {**_STEP, **_TOOL, "tools": LIST}),
    "mode": Form({**_STEP, "value": TEXT}),
    "mode_unchanged": Form(_STEPS),
    "warning_logged": Form({}, {**_STEP, "about": TEXT}),
    "index_builds_at_most": Form({"value": WHOLE}, _STEP),
    "finishes_within": Form({**_STEP, "seconds": NUMBER}),
    "proxy_params_type": Form({**_STEP, "value": TEXT}),
    "proxy_params_allow_additional": Form(_STEP, {"value": FLAG}),
}
"""What can be asked of a step, by the name of the check."""

TIERS = ("must", "stretch")
"""`stretch`: what a search by words alone is not expected to solve."""


def fits(kind: str, value: Any) -> bool:
    """Whether a value is of a kind."""
    if kind == TEXT:
        return isinstance(value, str)
    if kind == WHOLE:
        return type(value) is int
    if kind == NUMBER:
        return type(value) in (int, float)
    if kind == FLAG:
        return type(value) is bool
    if kind == LIST:
        return isinstance(value, list)
    if kind in (MAPPING, STEP):
        return isinstance(value, dict)
    return isinstance(value, str | list) if kind == TEXT_OR_LIST else True
