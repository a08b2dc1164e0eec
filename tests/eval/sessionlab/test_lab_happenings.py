"""What broke a prefix is named: compaction, a server, other tools, a discovery."""

from __future__ import annotations

from typing import Any

import pytest

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
    SubagentEvent,
    ToolResultEvent,
    ToolsChangedEvent,
    UserEvent,
)
from toolsearch_eval.sessionlab.accounting import RequestRow, account
from toolsearch_eval.sessionlab.happenings import Happening, cause_of
from toolsearch_eval.sessionlab.lab import totals
from toolsearch_eval.sessionlab.prefix import PrefixBreak, Sizes
from toolsearch_eval.sessionlab.providers import provider_profile
from toolsearch_eval.sessionlab.replay import replay
from toolsearch_eval.sessionlab.strategies import strategy

# Its own name is no name that a provider takes, so it is sent under another one.
SEND, LIST = "mcp__chat__send", "mcp__chat__list.all"
DRAW = "mcp__art__draw"


def tool(name: str, description: str = "") -> Tool:
    """A tool of the server that its name speaks of."""
    return Tool(name=name, description=description or f"Do what {name} does.", server=name.split("__")[1])


CATALOG = (Tool(name="Bash", description="Run it."), tool(SEND), tool(LIST), tool(DRAW))


def says(*events: Event) -> list[Event]:
    """Events between two rounds of small talk."""
    return [
        UserEvent(text="one"),
        AssistantEvent(text="A"),
        UserEvent(text="two"),
        AssistantEvent(text="B"),
        *events,
        UserEvent(text="three"),
        AssistantEvent(text="C"),
    ]


def rows_of(events: list[Event], name: str, provider: str = "anthropic", **fields: Any) -> tuple[RequestRow, ...]:
    """The requests of a conversation under a strategy."""
    servers = {"chat": "connected", "art": "connected"}
    talk = Conversation(**{"name": "t", "catalog": "c", "servers": servers, "events": tuple(events), **fields})
    sizes = Sizes(token_counter("estimate"))
    profile = provider_profile(provider)
    return account(replay(talk, CATALOG, strategy(name), api=profile.api, counter=sizes.counter), profile, sizes)


def found(rows: tuple[RequestRow, ...]) -> list[tuple[int, str, str]]:
    """Which requests break the prefix, by what kind of cause and in which words."""
    return [(row.request, row.cause.kind, row.cause.words) for row in rows if row.cause is not None]


CAUSES: list[tuple[str, list[Event], tuple[str, str]]] = [
    ("a server fails", [ServerEvent(server="chat", state="failed")], ("server", "server chat is failed")),
    (
        "a tool goes whose name is sent as another one",
        [ToolsChangedEvent(server="chat", remove=(LIST,))],
        ("tools changed", "server chat has changed its tools"),
    ),
    (
        "a tool is described anew while another server goes",
        [
            ToolsChangedEvent(server="art", replace=(tool(DRAW, "Paint."),)),
            ServerEvent(server="chat", state="connected"),
        ],
        ("tools changed", "server art has changed its tools"),
    ),
    ("old messages go", [CompactEvent(keep=1)], ("compaction", "the history was compacted, 1 messages stayed")),
    (
        "a tool goes and old messages too: the tool stands before them",
        [ServerEvent(server="art", state="failed"), CompactEvent(keep=1)],
        ("server", "server art is failed"),
    ),
]


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
@pytest.mark.parametrize(("events", "cause"), [row[1:] for row in CAUSES], ids=[row[0] for row in CAUSES])
def test_the_cause_of_a_break_under_inline(provider: str, events: list[Event], cause: tuple[str, str]) -> None:
    """With every tool in the array, each thing that changes it breaks the prefix once, and is what the row says."""
    rows = rows_of(says(*events), "inline", provider)
    assert found(rows) == [(3, *cause)]
    assert rows[2].broken_by is not None
    assert totals(rows, ()).causes == {cause[0]: 1}


@pytest.mark.parametrize("name", ["stable+header", "stable+delta"])
@pytest.mark.parametrize(("events", "cause"), [row[1:] for row in CAUSES], ids=[row[0] for row in CAUSES])
def test_under_a_stable_array_only_compaction_breaks(name: str, events: list[Event], cause: tuple[str, str]) -> None:
    """Whatever servers do breaks nothing; a shortened history does, as it must."""
    compacted = any(isinstance(event, CompactEvent) for event in events)
    said = [(3, "compaction", "the history was compacted, 1 messages stayed")]
    assert found(rows_of(says(*events), name)) == (said if compacted else [])


@pytest.mark.parametrize("name", ["inline", "inject", "stable+header", "stable+delta"])
def test_a_resumed_session_breaks_nothing(name: str) -> None:
    """Another process goes on with the same bytes."""
    assert found(rows_of(says(ResumeEvent()), name)) == []


def test_a_discovery_is_the_cause_under_inject() -> None:
    """The tool that the search showed joins the array in the request after it, in a sub-agent too."""
    call: list[Event] = [
        AssistantEvent(calls=(Call(tool=SEND, query=f"select:{SEND}"),)),
        ToolResultEvent(tool=SEND, text="done"),
    ]
    events: list[Event] = [UserEvent(text="send"), *call, SubagentEvent(events=(UserEvent(text="you too"), *call))]
    cause = ("discovery", f"the model was shown {SEND}")
    assert found(rows_of(events, "inject")) == [(2, *cause), (4, *cause)]


def test_what_a_request_recommends_is_the_cause_of_the_next_break() -> None:
    """Under inject with prefetch a recommended tool stands in the array of the following request."""
    events: list[Event] = []
    for text in (f"please use {DRAW} to draw", "thanks", "bye"):
        events += [UserEvent(text=text), AssistantEvent(text="Well.")]
    rows = rows_of(events, "inject+prefetch")
    recommending = [row.request for row in rows if row.recommended]
    assert recommending == [1]
    assert [(request, kind) for request, kind, _ in found(rows)] == [(2, "discovery")]


def test_a_break_that_nothing_explains_is_said_to_be_one() -> None:
    """A definition is not blamed on another tool's server; without anything that tells, the kind is `unexplained`."""
    broken = PrefixBreak(
        part="core_tools", name="Bash", change="changed", place=1, byte=0, request_byte=0, lost_tokens=9
    )
    other = Happening(kind="server", words="server chat is failed", tools=frozenset({SEND}))
    assert cause_of(broken, [other]).kind == "unexplained"
    assert cause_of(broken, []).kind == "unexplained"
    resumed = Happening(kind="resume", words="the session was resumed")
    assert cause_of(broken, [other, resumed]) == resumed
