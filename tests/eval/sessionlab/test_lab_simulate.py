"""Conversations under strategies: numbers by hand, sums that add up, arrays that stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.tokens import token_counter
from toolsearch_eval.conversations import (
    AssistantEvent,
    Call,
    CompactEvent,
    Conversation,
    Event,
    ResumeEvent,
    ServerEvent,
    ToolResultEvent,
    ToolsChangedEvent,
    UserEvent,
)
from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.sessionlab.accounting import RequestRow, account
from toolsearch_eval.sessionlab.blocks import DEFINITIONS
from toolsearch_eval.sessionlab.lab import chosen_conversations, simulate, totals
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.providers import provider_profile
from toolsearch_eval.sessionlab.replay import replay
from toolsearch_eval.sessionlab.replayed import Pace
from toolsearch_eval.sessionlab.report import requests_csv
from toolsearch_eval.sessionlab.scripted_model import SYSTEM_PROMPT
from toolsearch_eval.sessionlab.shown import TABLE_HEADER, waterfall
from toolsearch_eval.sessionlab.strategies import STRATEGIES, strategy

STABLE = [name for name in STRATEGIES if name.startswith("stable+")]


def tool(name: str, server: str | None = "chat") -> Tool:
    """A tool with one parameter."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    return Tool(name=name, description=f"Do what {name} does.", server=server, input_schema=schema)


SEND, LIST, DRAW = tool("mcp__chat__send"), tool("mcp__chat__list"), tool("mcp__art__draw", "art")
CATALOG = (Tool(name="Bash", description="Run it."), SEND, LIST, DRAW)


class ByHand:
    """Gives each text of the three turns a size that is easy to add up."""

    name = "by hand"
    known: ClassVar[dict[str, int]] = {"one": 40, "two": 50, "three": 60, "A": 10, "B": 20, "C": 30}

    def count(self, text: str) -> int:
        """1,000 for a definition, 300 for the system prompt, 70 for the list of names; words as in `known`."""
        if text.startswith("{"):
            return 1000
        if text.startswith(SYSTEM_PROMPT):
            return 300
        return self.known.get(text, 70)


def talk(*events: Event, **fields: Any) -> Conversation:
    """A conversation with both servers connected."""
    servers = {"chat": "connected", "art": "connected"}
    return Conversation(**{"name": "t", "catalog": "c", "servers": servers, "events": events, **fields})


def call(name: str) -> list[Event]:
    """A reply that calls a tool, and the result."""
    return [
        AssistantEvent(calls=(Call(tool=name, params={"a": 1}, query=f"select:{name}"),)),
        ToolResultEvent(tool=name, text="done"),
    ]


THREE = talk(
    UserEvent(text="one"),
    AssistantEvent(text="A"),
    UserEvent(text="two"),
    AssistantEvent(text="B"),
    UserEvent(text="three"),
    AssistantEvent(text="C"),
    servers={},
)


def rows_of(
    conversation: Conversation, name: str, provider: str = "anthropic", counter: Any = None, **options: Any
) -> tuple[RequestRow, ...]:
    """The requests of a conversation under a strategy."""
    profile = provider_profile(provider)
    sizes = Sizes(counter or token_counter("estimate"))
    catalog = options.pop("catalog", CATALOG)
    replayed = replay(conversation, catalog, strategy(name), api=profile.api, counter=sizes.counter, **options)
    return account(replayed, profile, sizes)


# Two definitions (Bash and the final answer) of 1,000, a system prompt of 300, then 40; 10 + 50; 20 + 60.
# OpenAI reads 1,024 tokens and whole steps of 128 from there: of 2,340 and of 2,400 that is 2,304.
@pytest.mark.parametrize(
    ("provider", "used", "millionths"),
    [
        (
            "anthropic",
            [(0, 2340, 0), (2340, 60, 0), (2400, 80, 0)],
            [2340 * 6.25 + 10 * 25, 2340 * 0.5 + 60 * 6.25 + 20 * 25, 2400 * 0.5 + 80 * 6.25 + 30 * 25],
        ),
        (
            "openai",
            [(0, 0, 2340), (2304, 0, 96), (2304, 0, 176)],
            [2340 * 2.5 + 10 * 15, 2304 * 0.25 + 96 * 2.5 + 20 * 15, 2304 * 0.25 + 176 * 2.5 + 30 * 15],
        ),
        (
            "gemini",
            [(0, 0, 2340), (2340, 0, 60), (2400, 0, 80)],
            [2340 * 1.25 + 10 * 10, 2340 * 0.125 + 60 * 1.25 + 20 * 10, 2400 * 0.125 + 80 * 1.25 + 30 * 10],
        ),
    ],
)
def test_three_turns_by_hand(provider: str, used: list[tuple[int, int, int]], millionths: list[float]) -> None:
    """Each provider's rules and prices give the numbers that come out on paper."""
    rows = rows_of(THREE, "inline", provider, ByHand(), catalog=CATALOG[:1])
    assert [(row.use.cached, row.use.written, row.use.new) for row in rows] == used
    assert [row.sent for row in rows] == [2340, 2400, 2480]
    assert [row.cost * 1e6 for row in rows] == pytest.approx(millionths)
    assert [row.common_tokens for row in rows] == [0, 2340, 2400]
    assert dict(rows[2].parts) == {"core_tools": 1000, "own_tools": 1000, "system": 300, "user": 150, "assistant": 30}


def test_a_list_at_the_end_is_new_each_time_and_breaks_nothing() -> None:
    """Under stable+header the list of names costs full price in each request; everything before it is cached."""
    rows = rows_of(talk(*THREE.events), "stable+header", counter=ByHand())
    # Four definitions: Bash, search, proxy, final answer.
    assert [(row.use.cached, row.use.written, row.use.new) for row in rows] == [
        (0, 4340, 70),
        (4340, 60, 70),
        (4400, 80, 70),
    ]
    assert [row.broken_by for row in rows] == [None, None, None]


def test_a_pause_beyond_the_lifetime_empties_the_cache() -> None:
    """After more than five minutes everything is written again, and that is no break of the prefix."""
    pace = Pace(between_turns=301)
    rows = rows_of(THREE, "inline", counter=ByHand(), catalog=CATALOG[:1], pace=pace)
    assert [(row.use.cached, row.use.written) for row in rows] == [(0, 2340), (0, 2400), (0, 2480)]
    assert [row.broken_by for row in rows] == [None, None, None]


@pytest.fixture(scope="module")
def shipped() -> DataSet:
    """The shipped set."""
    return load_data("builtin")


def test_every_shipped_conversation_under_a_stable_array(shipped: DataSet) -> None:
    """One array an agent whatever happens, no call that fails, no break but by compaction, and sums to the token.

    With recommendations, where more happens; `tests/world` has the strategies without them too. Tokens are estimated,
    as none of this hangs on how they are counted and an encoding takes longer.
    """
    names = [name for name in STABLE if STRATEGIES[name].prefetch]
    profile, sizes = provider_profile("anthropic"), Sizes(token_counter("estimate"))
    compacted = 0
    for conversation in chosen_conversations(shipped, split="all"):
        for name in names:
            replayed = replay(conversation, shipped.tools, strategy(name), api=profile.api, counter=sizes.counter)
            arrays: dict[str, set[str]] = {}
            for row in account(replayed, profile, sizes):
                where = (conversation.name, name, row.agent, row.request)
                arrays.setdefault(row.agent, set()).add(row.array)
                assert sum(row.parts.values()) == row.use.cached + row.use.written + row.use.new, where
                assert row.failed == 0, where
                assert row.broken_by is None or row.broken_by.part not in DEFINITIONS, where
                assert (row.cause and row.cause.kind) == (row.broken_by and "compaction"), where
                compacted += row.cause is not None
            assert {agent: len(found) for agent, found in arrays.items()} == dict.fromkeys(arrays, 1)
    # Six conversations are compacted.
    assert compacted == 6 * len(names)


def test_every_strategy_on_conversations_with_all_kinds_of_events(shipped: DataSet) -> None:
    """Sums agree in totals, steps and table, deferring saves tokens about tools, and every break has a known cause."""
    only = ["evening-lights", "analyst-afternoon"]
    found = simulate(shipped, list(STRATEGIES), provider_profile("openai"), Sizes(token_counter()), only=only)
    for row in found.rows:
        assert row.failed == 0
        assert (row.cause is None) == (row.broken_by is None)
        assert row.cause is None or row.cause.kind != "unexplained", (row.conversation, row.request, row.broken_by)
    assert set(found.totals("inline").causes) == {"compaction", "server"}
    assert "discovery" in found.totals("inject").causes
    for name in STRATEGIES:
        whole = totals(found.of(name), found.turns[name])
        assert sum(whole.parts.values()) == whole.sent == sum(row.sent for row in found.of(name))
        assert sum(whole.causes.values()) == whole.prefix_breaks
        steps = waterfall(found, name)
        assert sum(step.tokens for step in steps[:-1]) == steps[-1].tokens == whole.sent
    form = found.to_json()["strategies"]
    assert set(form) == set(STRATEGIES)
    assert all(form[name]["tool_tokens_saved"] > 0 and form[name]["tools_array_variants"] == 1 for name in STABLE)
    header, *lines = requests_csv(found).splitlines()
    assert header.split(",") == list(TABLE_HEADER)
    assert len(lines) == len(found.rows)


NAMES = [SEND.name, LIST.name, DRAW.name]
CHURN = st.lists(
    st.one_of(
        st.builds(
            lambda server, state: [ServerEvent(server=server, state=state)],
            st.sampled_from(["chat", "art"]),
            st.sampled_from(["connected", "pending", "failed", "disconnected", "disabled"]),
        ),
        st.builds(lambda name: [UserEvent(text=f"use {name}", needs=(name,)), *call(name)], st.sampled_from(NAMES)),
        st.builds(lambda keep: [CompactEvent(keep=keep)], st.integers(0, 4)),
        st.just([ResumeEvent()]),
        st.builds(
            lambda number: [ToolsChangedEvent(server="art", add=(tool(f"mcp__art__new{number}", "art"),))],
            st.integers(0, 10**9),
        ),
        st.just([ToolsChangedEvent(server="chat", replace=(Tool(name=SEND.name, description="New.", server="chat"),))]),
    ),
    max_size=8,
)


@given(churn=CHURN, name=st.sampled_from(STABLE), api=st.sampled_from(["anthropic", "openai", "gemini"]))
@settings(max_examples=40, deadline=None)
def test_one_tools_array_under_any_churn(churn: Sequence[Sequence[Event]], name: str, api: str) -> None:
    """Servers and tools may come, go and change as they like: one array, no break but by compaction, and tokens that add up."""
    seen: set[str] = set()
    events: list[Event] = [UserEvent(text="hello"), AssistantEvent(text="Hi.")]
    for step in churn:
        for event in step:
            added = {entry.name for entry in getattr(event, "add", ())}
            if not added & seen:
                events.append(event)
            seen |= added
    rows = rows_of(talk(*events), name, api)
    assert len({row.array for row in rows}) == 1
    assert {row.cause.kind for row in rows if row.cause is not None} <= {"compaction"}
    assert all(sum(row.parts.values()) == row.use.cached + row.use.written + row.use.new for row in rows)


def test_what_is_injected_breaks_the_prefix_and_is_named() -> None:
    """Under inject the request after a search names the tool that joined the array, and its place in it."""
    rows = rows_of(talk(UserEvent(text="send it", needs=(SEND.name,)), *call(SEND.name)), "inject")
    broken = rows[1].broken_by
    assert broken is not None
    # Behind Bash; the search, which stood there, has moved on.
    assert (broken.part, broken.name, broken.change, broken.place) == ("deferred_tools", SEND.name, "added", 2)
    assert [row.searches for row in rows] == [1, 0]
    assert len({row.array for row in rows}) == 2


def test_the_counter_is_named(shipped: DataSet) -> None:
    """A report says whether tokens were counted by a real encoding or estimated."""
    for prefer, name in ("bpe", "o200k_base"), ("estimate", "estimate"):
        sizes = Sizes(token_counter(prefer))  # type: ignore[arg-type]
        found = simulate(shipped, ["stable+delta"], provider_profile("openai"), sizes, only=["small-talk"])
        assert found.to_json()["tokenizer"] == name
