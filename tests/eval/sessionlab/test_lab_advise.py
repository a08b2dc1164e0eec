"""The arithmetic of pinning and deferring, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch_eval.conversations import (
    AssistantEvent,
    Call,
    CompactEvent,
    Conversation,
    Event,
    ToolResultEvent,
    UserEvent,
)
from toolsearch_eval.sessionlab.advise import Bill, advise, definition_text
from toolsearch_eval.sessionlab.observe import observe
from toolsearch_eval.sessionlab.pin_effect import pin_effects
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.providers import CacheRules, Prices, ProviderProfile
from toolsearch_eval.sessionlab.strategies import strategy
from toolsearch_eval.sessionlab.tool_use import Observed, ToolUse, together, typical

SEND = Tool(name="mcp__chat__send", description="Send a message.", server="chat", input_schema={"type": "object"})
LIST = Tool(name="mcp__chat__list", description="List channels.", server="chat", input_schema={"type": "object"})
CATALOG = (Tool(name="Bash", description="Run it."), SEND, LIST)


class Characters:
    """Counts characters, so that every number can be worked out by looking."""

    name = "characters"

    def count(self, text: str) -> int:
        """The characters of a text."""
        return len(text)


def profile(kind: Any = "marks", **changes: Any) -> ProviderProfile:
    """A provider that charges 10 for input, 1 for cached, 12 for written and 50 for output."""
    return ProviderProfile(
        name="mine",
        api="anthropic",
        model="m",
        currency="EUR",
        prices_as_of="2026-01-01",
        cache=CacheRules(kind=kind, minimum_tokens=0, lookback_blocks=20, lifetime_seconds=1e6),
        prices=Prices(**{"input": 10.0, "cached": 1.0, "written": 12.0, "output": 50.0, **changes}),
    )


def talk(*events: Event, **fields: Any) -> Conversation:
    """A conversation in which `chat` is connected."""
    return Conversation(**{"name": "t", "catalog": "c", "servers": {"chat": "connected"}, "events": events, **fields})


def called(*tools: str, text: str = "") -> list[Event]:
    """A reply that calls tools, and their results."""
    calls = tuple(Call(tool=tool, params={"a": 1}, query=f"select:{tool}") for tool in tools)
    return [AssistantEvent(text=text, calls=calls), *(ToolResultEvent(tool=tool, text="done") for tool in tools)]


def seen(*events: Event, **fields: Any) -> Observed:
    """What one conversation shows."""
    return together(observe([talk(*events, **fields)], CATALOG, api="anthropic", counter=Characters()))


USE = ToolUse(
    calls=3,
    users=2,
    agents=4,
    requests=40,
    announced=42,
    first_announced=4,
    searches=2,
    reread=1000,
    listed=60,
    asked=20,
    answered=300,
    kept=900,
    wrapped=45,
    wrapped_kept=100,
)


@pytest.mark.parametrize(
    ("kind", "announcements", "announced", "searching", "calling"),
    [
        # The name with its line end has 16 characters; first sendings are written at 12 or, without that, new at 10.
        ("marks", "header", 16 * 42 * 10, 320 * 12 + 1900 * 1 + 60 * 10 + 20 * 50, 45 * 12 + 100 + 45 * 50),
        ("marks", "delta", 16 * 4 * 12 + 16 * 38, 320 * 12 + 1900 * 1 + 20 * 50, 45 * 12 + 100 + 45 * 50),
        ("automatic", "header", 16 * 42 * 10, 320 * 10 + 1900 * 1 + 60 * 10 + 20 * 50, 45 * 10 + 100 + 45 * 50),
    ],
)
def test_both_ways_cost_what_they_cost_by_hand(
    kind: str, announcements: Any, announced: int, searching: int, calling: int
) -> None:
    """Tokens times prices, for the definition in each request and for name, round trips and proxy."""
    mine = profile(kind)
    found = advise([SEND], {SEND.name: USE}, mine, Sizes(Characters()), announcements=announcements, round_trip=0.001)
    only = found[0]
    assert definition_text(SEND, "anthropic") in (
        '{"name":"mcp__chat__send","description":"Send a message.","input_schema":{"type":"object"}}',
        '{"name":"mcp__chat__send","description":"Send a message.","input_schema":{"type":"object","properties":{}}}',
    )
    size = only.definition_tokens
    assert size == len(definition_text(SEND, "anthropic"))
    first = 12 if kind == "marks" else 10
    assert only.cost_pinned == pytest.approx((size * 4 * first + size * 36 * 1) / 1e6)
    deferred = (announced + searching + calling) / 1e6 + 2 * 0.001
    assert only.cost_deferred == pytest.approx(deferred)
    assert only.saves == pytest.approx(deferred - only.cost_pinned)
    used = (searching + calling) / 1e6 + 2 * 0.001
    assert only.pays_from == pytest.approx(max(0.0, (only.cost_pinned - announced / 1e6) / (used / 2)))
    assert only.advice == ("pin" if deferred > only.cost_pinned else "defer")


def test_a_dearer_round_trip_turns_the_advice() -> None:
    """A tool that is hardly used stays deferred until waiting for it is worth more; core tools are not judged."""
    once = ToolUse(calls=1, users=1, agents=50, requests=500, searches=1, reread=100, asked=5, answered=50)
    for round_trip, advice in (0.0, "defer"), (1.0, "pin"):
        found = advise(CATALOG, {SEND.name: once}, profile(), Sizes(Characters()), round_trip=round_trip)
        assert {each.tool: each.advice for each in found} == {SEND.name: advice, LIST.name: "defer"}


def test_a_tool_that_nobody_used_stays_deferred() -> None:
    """Also where its name in every request costs more than its definition from the cache."""
    idle = ToolUse(agents=1, requests=100, announced=1000, first_announced=1)
    found = advise([SEND], {SEND.name: idle}, profile(), Sizes(Characters()), pinned=[SEND.name])
    assert found[0].saves > 0
    assert (found[0].advice, found[0].now, found[0].pays_from) == ("defer", "pinned", None)


def test_the_order_of_the_catalog_changes_nothing() -> None:
    """What is saved decides the order, then the name."""
    args = ({SEND.name: USE}, profile(), Sizes(Characters()))
    assert advise(CATALOG, *args) == advise(CATALOG[::-1], *args)


def test_a_conversation_is_counted_by_hand() -> None:
    """One round trip for a tool that is new, none for one that is known, and everything anew after a compaction."""
    events: Sequence[Event] = [
        UserEvent(text="hello"),
        *called(SEND.name, text="ok"),  # request 1 searches, request 2 calls
        UserEvent(text="again"),
        *called(SEND.name),  # request 3 calls
        CompactEvent(keep=0),
        UserEvent(text="both"),
        *called(SEND.name, LIST.name),  # request 4 searches for both, request 5 calls
    ]
    found = seen(*events, pins=(SEND.name,))
    assert (found.conversations, found.agents, found.requests) == (1, 1, 5)
    send, other = found.uses[SEND.name], found.uses[LIST.name]
    assert (send.calls, send.users, send.searches, send.requests) == (3, 1, 1.5, 3.5)
    assert (other.calls, other.users, other.searches, other.requests) == (1, 1, 0.5, 4.5)
    assert (send.announced, send.first_announced) == (5, 1)
    # {"name":…,"arguments":{"tool_name":"mcp__chat__send","params":{"a":1}}} against {"name":…,"arguments":{"a":1}}.
    more = len('ExecuteExtraTool{"tool_name":"mcp__chat__send","params":{"a":1}}') - len('mcp__chat__send{"a":1}')
    assert send.wrapped == 3 * more
    # Request 3 sends the first call once more after it was first sent in it: never again before the compaction.
    assert send.wrapped_kept == 0
    asked = len('{"name":"SearchExtraTools","arguments":{"query":"select:mcp__chat__send"}}')
    assert send.asked == 2 * asked
    first = seen(*events[:3])
    # The first round trip's tokens come with request 2 and, once more, with request 3.
    assert send.kept == asked + first.uses[SEND.name].answered
    # Both round trips send the array and the prompts; the first one "hello", the second "both" for two tools.
    assert send.reread - other.reread == first.uses[SEND.name].reread
    assert other.reread == (first.uses[SEND.name].reread - len("hello") + len("both")) / 2


def test_averages_are_over_what_was_seen() -> None:
    """A mean search and a mean call; None where nothing was searched for."""
    usual = typical(Observed(conversations=1, agents=2, requests=30, uses={"a": USE, "b": ToolUse()}))
    assert usual is not None
    assert (usual.requests, usual.reread, usual.answered, usual.wrapped) == (15, 500, 150, 15)
    assert typical(together([])) is None


@pytest.mark.parametrize("announcements", ["header", "delta"])
def test_what_is_predicted_for_one_tool_is_what_the_replay_saves(announcements: str) -> None:
    """With a provider that has no least size, the arithmetic and the replayed conversation agree but for 3 %."""
    events = [UserEvent(text="hello there"), *called(SEND.name), UserEvent(text="and now?"), *called(SEND.name)]
    words = Sizes(Characters())
    mine = profile()
    found = advise(CATALOG, seen(*events).uses, mine, words, announcements=announcements)  # type: ignore[arg-type]
    predicted = next(each.saves for each in found if each.tool == SEND.name)
    how = strategy(f"stable+{announcements}")
    effect = pin_effects([talk(*events)], CATALOG, {"send": lambda _: [SEND.name]}, how, mine, words)["send"]
    assert (effect.before.requests, effect.after.requests) == (3, 2)
    assert (effect.before.searches, effect.after.searches) == (1, 0)
    assert effect.saved == pytest.approx(predicted, rel=0.03)


def test_a_bill_is_priced_and_listed() -> None:
    """Only kinds that have tokens are listed."""
    bill = Bill(cached=1_000_000, output=2_000_000)
    assert bill.cost(profile()) == pytest.approx(101)
    assert bill.lines(profile()) == (("cached", 1_000_000, 1.0), ("output", 2_000_000, 50.0))
