"""How the conversation stands: announcements, mode, warnings, work done."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from toolsearch_eval.fieldtest.checks_sent import array_names, tools_array_contains
from toolsearch_eval.fieldtest.reading import Check, outcome_of, ranked
from toolsearch_eval.fieldtest.steps import EXECUTE, SEARCH, Outcome
from toolsearch_eval.fieldtest.world import World


def _delta(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    for key, found in (("added", outcome.added), ("removed", outcome.removed)):
        if key in check and sorted(found) != sorted(check[key]):
            return f"{key}: {ranked(found)}, not {ranked(check[key])}"
    return ""


def _delta_added_count(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    count = len(outcome_of(outcomes, check).added)
    return "" if count == check["value"] else f"{count} were added, not {check['value']}"


def _delta_removed_is_exactly(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    return _delta(world, outcomes, {"step": check["step"], "removed": check["tools"]})


def _every_announced_name_selectable(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    outcome = outcome_of(outcomes, check)
    lost = [name for name in outcome.added if name not in outcome.selectable]
    return f"{ranked(lost)} announced and not selectable" if lost else ""


def _every_tool_reachable(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    names = array_names(outcome_of(outcomes, check))
    usable = SEARCH in names and EXECUTE in names
    reachable = {*names, *(world.session.selectable if usable else ())}
    lost = [tool.name for tool in world.registry.snapshot().tools if tool.name not in reachable]
    lost = [name for name in lost if name not in (SEARCH, EXECUTE, "SyntheticOutput")]
    half = (SEARCH in names) != (EXECUTE in names)
    return f"{ranked(lost)} can't be reached" if lost else "only one half of the search is there" if half else ""


def _always_load_kept(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    wanted = check.get("tools") or ([check["tool"]] if "tool" in check else world.case.config.get("always_load", []))
    known = {tool.name for tool in world.registry.snapshot().tools}
    return tools_array_contains(world, outcomes, {**check, "tools": [name for name in wanted if name in known]})


def _never_returns_after_removal(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    tools = check.get("tools") or [check["tool"]]
    for tool in tools:
        gone = False
        for step, outcome in zip(world.case.steps, outcomes, strict=True):
            if gone and (tool in outcome.names or tool in outcome.added):
                return f"{tool} came back"
            removed = step["op"] == "remove_tools" and tool in step["tools"]
            added = step["op"] in ("add_tools", "server_tools") and tool in {each.get("name") for each in step["tools"]}
            gone = (gone or removed or tool in outcome.removed) and not added
    return ""


def _mode(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    decision = outcome_of(outcomes, check).decision
    found = decision.mode if decision else None
    return "" if found == check["value"] else f"the mode is {found}, not {check['value']}"


def _mode_unchanged(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    decisions = [outcomes[step].decision for step in check["steps"]]
    modes = {(decision.mode, decision.enabled) for decision in decisions if decision}
    return "" if len(modes) == 1 else f"the modes are {sorted(modes)}"


def _warning_logged(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    about = check.get("about", "")
    warnings = [*world.warnings, *(warning for outcome in outcomes for warning in outcome.warnings)]
    return "" if any(about in warning for warning in warnings) else f"no warning names {about!r}: {warnings}"


def _weights_finite(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    config = outcome_of(outcomes, check).config
    weights = [config.weight_keyword, config.weight_tfidf] if config else [math.nan]
    return "" if all(math.isfinite(weight) for weight in weights) and sum(weights) > 0 else f"the weights are {weights}"


def _no_contradiction(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    """Either the search works and its tools are deferred, or it says that it is off and they are loaded."""
    outcome = outcome_of(outcomes, check)
    enabled = world.session.decision.enabled
    names = array_names(Outcome("tools_array", payload=world.session.tools_array()))
    loaded = any(tool.name in names for tool in world.registry.deferred())
    if enabled:
        return "" if not loaded and SEARCH in names and not outcome.code else "the search is on, and tools are loaded"
    says = any(word in outcome.text.lower() for word in ("disabled", "directly", "loaded"))
    return "" if loaded and says else f"the search is off, and the answer does not say so: {outcome.text[:200]!r}"


def _no_exception(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    steps = check.get("steps") or ([check["step"]] if "step" in check else range(len(outcomes)))
    errors = [str(outcomes[step].error) for step in steps if outcomes[step].error is not None]
    return f"raised: {errors}" if errors else ""


def _state_is_documented(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    state = outcome_of(outcomes, check).state
    form = state.to_json() if state is not None else {}
    undocumented = [key for key in form if key not in ("schema_version",) and key not in (type(state).__doc__ or "")]
    if not form or "schema_version" not in form:
        return f"the state has no schema version: {form}"
    return f"{undocumented} is not documented" if undocumented else ""


def _index_builds_at_most(_world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    builds = outcomes[check.get("step", -1)].builds
    return "" if builds <= check["value"] else f"{builds} builds"


def _finishes_within(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    seconds = world.seconds.get(check["step"], math.inf)
    return "" if seconds <= check["seconds"] else f"took {seconds:.1f} seconds"


CHECKS: dict[str, Check] = {
    "delta": _delta,
    "delta_added_count": _delta_added_count,
    "delta_removed_is_exactly": _delta_removed_is_exactly,
    "every_announced_name_selectable": _every_announced_name_selectable,
    "every_tool_reachable": _every_tool_reachable,
    "always_load_kept": _always_load_kept,
    "never_returns_after_removal": _never_returns_after_removal,
    "mode": _mode,
    "mode_unchanged": _mode_unchanged,
    "warning_logged": _warning_logged,
    "weights_finite": _weights_finite,
    "no_contradiction": _no_contradiction,
    "no_exception": _no_exception,
    "state_is_documented": _state_is_documented,
    "index_builds_at_most": _index_builds_at_most,
    "finishes_within": _finishes_within,
}
