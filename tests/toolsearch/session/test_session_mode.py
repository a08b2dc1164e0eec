"""The mode of a session: every golden value, warnings, the kill switch and the threshold."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.catalog.tool import Tool
from toolsearch.session.mode import (
    decide_mode,
    definition_text,
    definition_tokens,
    is_enabled,
    is_enabled_optimistic,
    read_switch,
    unavailable_reason,
)
from toolsearch.tokens import token_counter

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "golden" / "modes_env.json").read_text(encoding="utf-8")
)
WINDOW = 200_000
CLEAR = {
    None,
    "",
    "true",
    "TRUE",
    " True ",
    "1",
    "yes",
    "on",
    "YES",
    "false",
    "FALSE",
    " false ",
    "0",
    "no",
    "off",
    "Off",
}
CLEAR |= {"auto", "auto:0", "auto:1", "auto:10", "auto:15", "auto:50", "auto:99", "auto:100", "auto: 20", "auto:+7"}
"""The golden values that say what they mean; all others are warned about."""


@pytest.mark.parametrize("row", GOLDEN["enable_values"], ids=lambda row: repr(row["value"]))
def test_each_value_of_the_switch_gives_the_observed_mode(row: dict[str, Any]) -> None:
    """Every observed value of ENABLE_SEARCH_EXTRA_TOOLS gives its mode, its optimistic answer and its threshold."""
    switch = read_switch(row["value"])
    assert switch.mode == row["mode"]
    assert is_enabled_optimistic(row["value"]) == row["optimistic"]
    if switch.mode == "tst-auto":
        decision = decide_mode(row["value"], context_window=WINDOW)
        # The observed fallback counted 2.5 characters for a token of the threshold.
        assert decision.threshold_tokens is not None
        assert decision.threshold_tokens * 2.5 == row["char_threshold_200k"]


@pytest.mark.parametrize("row", GOLDEN["enable_values"], ids=lambda row: repr(row["value"]))
def test_a_value_that_is_none_of_the_accepted_ones_is_warned_about(row: dict[str, Any]) -> None:
    """A typo keeps its observed mode and is named in a warning; a value that says what it means is not."""
    warnings = decide_mode(row["value"], context_window=WINDOW).warnings
    if row["value"] in CLEAR:
        assert warnings == ()
    else:
        assert len(warnings) == 1
        assert repr(row["value"]) in warnings[0]


@pytest.mark.parametrize("row", GOLDEN["kill_switch"], ids=lambda row: f"{row['kill']!r}-{row['value']!r}")
def test_the_kill_switch_decides_over_every_mode(row: dict[str, Any]) -> None:
    """A true kill switch gives standard whatever else is set; any other value leaves the mode alone."""
    decision = decide_mode(row["value"], kill_switch=row["kill"], context_window=WINDOW)
    assert decision.mode == row["mode"]
    assert bool(decision.warnings) == (row["kill"] in ("2", "random"))


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("ture", "Did you mean true?"),
        ("standard", "write false"),
        ("tst", "write true"),
        ("AUTO", "auto or auto:N"),
        ("auto10", "auto or auto:N"),
        ("auto:abc", "10 percent"),
        ("auto:10.9", "read as 10 percent"),
        ("auto:1000", "read as 100 percent"),
        ("auto:-" + "9" * 5000, "read as 0 percent"),
    ],
)
def test_a_warning_says_what_was_probably_meant(value: str, hint: str) -> None:
    """The warning about a value names the accepted spelling that is nearest, or how the value was read."""
    [warning] = read_switch(value).warnings
    assert hint in warning
    assert len(warning) < 400


def test_blanks_alone_are_the_default() -> None:
    """A blank value, as shells leave it behind, is the default and nothing to warn about."""
    assert read_switch("   ") == read_switch(None)


@pytest.mark.parametrize(
    ("window", "tokens", "enabled", "reason"),
    [
        (WINDOW, 20_000, True, "above_threshold"),
        (WINDOW, 19_999, False, "below_threshold"),
        (WINDOW, 0, False, "below_threshold"),
        (1_000_000, 100_000, True, "above_threshold"),
        (1_000_000, 99_999, False, "below_threshold"),
        (5, 0, True, "above_threshold"),
    ],
)
def test_the_threshold_is_reached_at_its_very_number(window: int, tokens: int, enabled: bool, reason: str) -> None:
    """Tools are deferred when their tokens are at or above the percent of the window, nothing deducted."""
    decision = decide_mode("auto", context_window=window, deferred_tokens=lambda: tokens)
    assert (decision.enabled, decision.reason) == (enabled, reason)
    assert (decision.threshold_tokens, decision.deferred_tokens) == (window // 10, tokens)
    assert decision.mode == "tst-auto"
    assert is_enabled("auto", context_window=window, deferred_tokens=lambda: tokens) is enabled


@given(st.integers(1, 99), st.integers(1, 2_000_000), st.integers(0, 2_000_000))
def test_more_tokens_never_switch_the_deferring_off(percent: int, window: int, tokens: int) -> None:
    """The decision is monotone: what is deferred at some size is deferred at any larger one."""
    here, beyond = (
        decide_mode(f"auto:{percent}", context_window=window, deferred_tokens=lambda count=count: count)  # type: ignore[misc]
        for count in (tokens, tokens + 1)
    )
    assert beyond.enabled or not here.enabled
    assert here.enabled == (tokens >= window * percent // 100)


def test_tokens_are_counted_in_automatic_mode_alone() -> None:
    """Where the mode needs no count, none is made."""

    def count() -> int:
        raise AssertionError("counted without need")

    assert decide_mode("true", context_window=WINDOW, deferred_tokens=count).deferred_tokens is None
    assert decide_mode("false", context_window=WINDOW, deferred_tokens=count).enabled is False
    assert decide_mode("auto", context_window=WINDOW, deferred_tokens=count, unavailable="X is denied").enabled is False


def test_a_server_that_is_always_deferred_keeps_the_search_on_below_the_threshold() -> None:
    """Below the threshold, a server whose tools are deferred always still needs the search."""
    decision = decide_mode("auto", context_window=WINDOW, deferred_tokens=lambda: 5, always_deferred=("kit",))
    assert (decision.enabled, decision.reason) == (True, "server_always")


def test_a_server_that_is_always_deferred_is_loaded_when_the_search_is_off() -> None:
    """Switched off means off: the tools of such a server are loaded, and a warning names it."""
    decision = decide_mode("false", context_window=WINDOW, always_deferred=("kit",))
    assert (decision.enabled, decision.reason) == (False, "switched_off")
    assert "'kit'" in decision.warnings[0]


def test_an_unavailable_half_switches_both_off_with_a_warning() -> None:
    """Where search or proxy can't be used, the decision is standard, and its warning says that both are off."""
    decision = decide_mode("true", context_window=WINDOW, unavailable="ExecuteExtraTool is denied")
    assert (decision.mode, decision.reason, decision.enabled) == ("standard", "unavailable", False)
    assert "ExecuteExtraTool is denied" in decision.warnings[0]
    assert "both off" in decision.warnings[0]


@pytest.mark.parametrize("name", SYNTHETIC_TOOLS[:2])
@pytest.mark.parametrize("held", [True, False])
def test_a_deny_pattern_makes_a_half_unavailable(name: str, held: bool) -> None:
    """A pattern that denies search or proxy counts, whether the registry holds the synthetic tools or not."""
    tools = (*synthetic_tools(), Tool(name="a")) if held else (Tool(name="a"),)
    registry = ToolRegistry(tools, deny=[name])
    assert unavailable_reason(registry.snapshot(), lambda _: True) == f"{name} is denied"
    assert registry.warnings == ()


def test_a_synthetic_tool_that_says_that_it_is_disabled_is_unavailable() -> None:
    """A search or proxy whose own check says no, or fails, can't be used; one without a check can."""

    def broken() -> bool:
        raise OSError("no answer")

    search, execute, output = synthetic_tools()
    checks: list[tuple[Any, bool]] = [
        (lambda: False, True),
        (lambda: (False, "off"), True),
        (lambda: True, False),
        (broken, True),
    ]
    for check, answer in checks:
        tool = Tool(
            name=search.name, description=search.description, input_schema=search.input_schema, is_enabled=check
        )
        reason = unavailable_reason(ToolRegistry([tool, execute, output]).snapshot(), lambda _: True)
        assert (reason == "SearchExtraTools is disabled") is answer
    assert unavailable_reason(ToolRegistry().snapshot(), lambda _: True) == ""


def test_a_half_outside_of_an_agents_list_is_unavailable() -> None:
    """An agent whose tool list lacks a half can't use it; lacking both, both are named."""
    snapshot = ToolRegistry().snapshot()
    assert unavailable_reason(snapshot, lambda name: name != "SearchExtraTools") == (
        "SearchExtraTools is not in the agent's tool list"
    )
    assert unavailable_reason(snapshot, lambda name: False).count("is not in") == 2


def test_a_definition_is_its_name_description_and_schema() -> None:
    """What is counted is the compact JSON of name, description and schema, an absent schema as an empty object."""
    tool = Tool(name="a", description="B")
    assert definition_text(tool) == '{"name":"a","description":"B","input_schema":{"type":"object"}}'
    counter = token_counter("bpe")
    assert definition_tokens([tool, tool], counter) == 2 * counter.count(definition_text(tool))
    assert definition_tokens([], counter) == 0
