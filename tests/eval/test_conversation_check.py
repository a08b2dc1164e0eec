"""Scripted conversations held against a catalog."""

from __future__ import annotations

from typing import Any

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch_datasets import names
from toolsearch_eval.conversation_check import check_conversation
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
from toolsearch_eval.data import load_data
from toolsearch_eval.data_check import check_data

SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
SEND = "mcp__chat__send"
CATALOG = (
    Tool(name="Bash"),
    Tool(name="Agent"),
    Tool(name="CronCreate"),
    Tool(name=SEND, server="chat", input_schema=SCHEMA),
    Tool(name="mcp__chat__list", server="chat"),
    Tool(name="mcp__mail__send", server="mail"),
)


def talk(*events: Event, **fields: Any) -> Conversation:
    """A conversation in which only `chat` is there, connected."""
    return Conversation(**{"name": "t", "catalog": "c", "servers": {"chat": "connected"}, "events": events, **fields})


def faults(conversation: Conversation) -> list[tuple[int, str, str]]:
    """The faults as line, field and message."""
    return [(each.line, each.field, each.message) for each in check_conversation(conversation, CATALOG)]


def called(tool: str, line: int = 0, query: str = "find it", **params: Any) -> tuple[Event, Event]:
    """A call and its result."""
    call = Call(tool=tool, params=params, query=query)
    return AssistantEvent(calls=(call,), line=line), ToolResultEvent(tool=tool, line=line + 1)


HI = UserEvent(text="hi", line=2)

CLEAN: list[tuple[str, Conversation]] = [
    (
        "tools, of a server and without one",
        talk(UserEvent(text="x", needs=(SEND, "CronCreate")), *called(SEND, to="a")),
    ),
    ("small talk with a core tool", talk(HI, *called("Bash", query=""))),
    (
        "a server that connects before the turn ends",
        talk(
            UserEvent(text="x", needs=(SEND,)),
            AssistantEvent(text="wait"),
            ServerEvent(server="chat", state="connected"),
            servers={"chat": "pending"},
        ),
    ),
    (
        "a tool that goes and comes back",
        talk(
            HI,
            ToolsChangedEvent(server="chat", remove=(SEND,)),
            HI,
            ToolsChangedEvent(server="chat", add=(SEND,)),
            UserEvent(text="x", needs=(SEND,)),
        ),
    ),
    (
        "a new tool, replaced, whose new schema counts",
        talk(
            UserEvent(text="x", needs=("new",)),
            ToolsChangedEvent(server="chat", add=(Tool(name="new", server="chat"),)),
            ToolsChangedEvent(server="chat", replace=(Tool(name="new", server="chat", input_schema=SCHEMA),)),
            *called("new", to="a"),
        ),
    ),
    ("a second call needs no query", talk(HI, *called(SEND, to="a"), *called(SEND, query="", to="b"))),
    ("a pinned tool needs no query", talk(HI, *called(SEND, query="", to="a"), pins=(SEND,))),
    (
        "a sub-agent inside of a call, by pattern",
        talk(
            HI,
            AssistantEvent(calls=(Call(tool="Agent"),)),
            SubagentEvent(
                tools=("mcp__chat__*", "SearchExtraTools"),
                events=(UserEvent(text="x", needs=(SEND,)), *called(SEND, to="a")),
            ),
            ToolResultEvent(tool="Agent"),
        ),
    ),
    (
        "a sub-agent within a sub-agent, with less than it, that uses what each session has",
        talk(
            HI,
            SubagentEvent(
                tools=("Agent", "mcp__chat__*"),
                events=(
                    HI,
                    SubagentEvent(
                        tools=(SEND, "mcp__*__list"),
                        events=(
                            UserEvent(text="x", needs=(SEND,)),
                            AssistantEvent(calls=(Call(tool="SearchExtraTools", params={"query": "send"}),)),
                            ToolResultEvent(tool="SearchExtraTools"),
                            *called(SEND, to="a"),
                        ),
                    ),
                ),
            ),
        ),
    ),
    (
        "a server that connects while a sub-agent works",
        talk(
            UserEvent(text="x", needs=(SEND,)),
            SubagentEvent(events=(HI, ServerEvent(server="chat", state="connected"))),
            servers={"chat": "pending"},
        ),
    ),
    ("compaction and resume between turns", talk(HI, AssistantEvent(text="yes"), CompactEvent(keep=1), ResumeEvent())),
]


@pytest.mark.parametrize("conversation", [row[1] for row in CLEAN], ids=[row[0] for row in CLEAN])
def test_what_can_happen_is_no_fault(conversation: Conversation) -> None:
    """What a session can live through is accepted."""
    assert faults(conversation) == []


FAULTS: list[tuple[str, Conversation, list[tuple[int, str, str]]]] = [
    ("nobody asks", talk(), [(0, "", "no event is of type 'user'; a conversation begins with what a user says")]),
    (
        "a server and a pin that do not exist",
        talk(HI, servers={"chta": "connected"}, pins=("mcp__chat__sned",)),
        [
            (1, "servers.chta", "'chta' is no server of the catalog; did you mean 'chat'?"),
            (
                1,
                "pins[0]",
                "'mcp__chat__sned' is no tool of the catalog; did you mean 'mcp__chat__send', 'mcp__chat__list', "
                "'mcp__mail__send'?",
            ),
        ],
    ),
    (
        "a need that does not exist",
        talk(UserEvent(text="x", needs=("zzz",), line=2)),
        [(2, "needs[0]", "'zzz' is no tool of the catalog")],
    ),
    (
        "a need of what is always loaded",
        talk(UserEvent(text="x", needs=("Bash",), line=2)),
        [(2, "needs[0]", "'Bash' is always loaded, so no turn has to find it; leave it out")],
    ),
    (
        "a need of a server that is not there",
        talk(UserEvent(text="x", needs=("mcp__mail__send",), line=2)),
        [
            (
                2,
                "needs[0]",
                "'mcp__mail__send' can't be had: its server 'mail' is not in the header; make it available or leave "
                "it out",
            )
        ],
    ),
    (
        "a need of a server that connects only in the next turn",
        talk(
            UserEvent(text="x", needs=("mcp__chat__list", SEND), line=2),
            UserEvent(text="y", line=3),
            ServerEvent(server="chat", state="connected", line=4),
            servers={"chat": "failed"},
        ),
        [
            (
                2,
                f"needs[{place}]",
                f"'{name}' can't be had: its server 'chat' is failed until the turn ends; make it available or leave "
                "it out",
            )
            for place, name in enumerate(("mcp__chat__list", SEND))
        ],
    ),
    (
        "a need of a tool that has gone",
        talk(
            ToolsChangedEvent(server="chat", remove=(SEND,), line=2),
            UserEvent(text="x", needs=(SEND,), line=3),
        ),
        [
            (
                3,
                "needs[0]",
                f"'{SEND}' can't be had: it is not there before the turn ends; make it available or leave it out",
            )
        ],
    ),
    (
        "a need of a tool that comes later",
        talk(
            UserEvent(text="x", needs=("new",), line=2),
            UserEvent(text="y", line=3),
            ToolsChangedEvent(server="chat", add=(Tool(name="new", server="chat"),), line=4),
        ),
        [
            (
                2,
                "needs[0]",
                "'new' can't be had: it is not there before the turn ends; make it available or leave it out",
            )
        ],
    ),
    (
        "needs and tools of a sub-agent",
        talk(
            HI,
            SubagentEvent(
                tools=("mcp__mail__*", "zzz"),
                events=(UserEvent(text="x", needs=(SEND,), line=3), SubagentEvent(tools=("Bash",), line=3)),
                line=3,
            ),
        ),
        [
            (3, "tools[1]", "'zzz' is no tool of the catalog"),
            (3, "events[0].needs[0]", f"'{SEND}' is not among the tools of the sub-agent; add it there"),
            (3, "events[1].tools[0]", "'Bash' is not among the tools of the agent above; add it there or leave it out"),
            (3, "events[1].events", "is empty; write what the sub-agent does"),
        ],
    ),
    (
        "calls that a sub-agent may not make, and one within it by what the agent above lacks",
        talk(
            HI,
            SubagentEvent(
                tools=("Agent", "mcp__chat__*"),
                events=(
                    HI,
                    *called("Bash", line=4, query=""),
                    SubagentEvent(
                        tools=("Bash", SEND),
                        events=(HI, *called("Bash", line=4, query=""), *called(SEND, line=4, to="a")),
                        line=4,
                    ),
                ),
                line=4,
            ),
        ),
        [
            (4, "events[1].calls[0].tool", "'Bash' is not among the tools of the sub-agent; add it there"),
            (4, "events[3].tools[0]", "'Bash' is not among the tools of the agent above; add it there or leave it out"),
            (4, "events[3].events[1].calls[0].tool", "'Bash' is not among the tools of the sub-agent; add it there"),
        ],
    ),
    (
        "a call of what does not exist, with its result",
        talk(HI, *called("zzz", line=3)),
        [(3, "calls[0].tool", "'zzz' is no tool of the catalog")],
    ),
    (
        "arguments that don't fit",
        talk(HI, *called(SEND, line=3, to=5)),
        [(3, "calls[0].params", f"don't fit the schema of '{SEND}': to: must be a string; given: 5")],
    ),
    (
        "a first call that nothing finds",
        talk(HI, *called(SEND, line=3, query="", to="a")),
        [(3, "calls[0].query", f"is missing; write what finds '{SEND}', as this is its first call")],
    ),
    (
        "calls without results and a result without a call",
        talk(
            HI,
            AssistantEvent(calls=(Call(tool="Bash"), Call(tool="Bash"), Call(tool="Agent")), line=3),
            ToolResultEvent(tool="Bash", line=4),
            ToolResultEvent(tool="Read", line=5),
            ResumeEvent(line=6),
            ToolResultEvent(tool="Bash", line=7),
        ),
        [
            (3, "calls", "'Agent' has no result; add a tool_result before the next user or assistant event"),
            (3, "calls", "'Bash' has no result; add a tool_result before the next user or assistant event"),
            (5, "tool", "'Read' was not called before; waiting: 'Agent', 'Bash'"),
            (7, "tool", "'Bash' was not called before; no call is waiting for a result"),
        ],
    ),
    (
        "changes of tools that can't be",
        talk(
            HI,
            ToolsChangedEvent(
                server="chat",
                add=("mcp__mail__send", Tool(name=SEND, server="chat")),
                remove=("mcp__mail__send",),
                replace=(Tool(name="zzz", server="chat"),),
                line=3,
            ),
            ToolsChangedEvent(server="mail", remove=("mcp__mail__send",), line=4),
            ServerEvent(server="chta", state="failed", line=5),
        ),
        [
            (
                3,
                "remove[0]",
                "'mcp__mail__send' is no tool that 'chat' has now; did you mean 'mcp__chat__send', 'mcp__chat__list'?",
            ),
            (3, "replace[0].name", "'zzz' is no tool that 'chat' has now"),
            (
                3,
                "add[0]",
                "'mcp__mail__send' is no tool of 'chat'; a new one is written as a whole row; did you mean "
                "'mcp__chat__send', 'mcp__chat__list'?",
            ),
            (3, "add[1]", f"'{SEND}' is there already; put it under replace"),
            (4, "server", "'mail' is no server of the header; name it there"),
            (5, "server", "'chta' is no server of the header; name it there; did you mean 'chat'?"),
        ],
    ),
]


@pytest.mark.parametrize(("conversation", "expected"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_faults(conversation: Conversation, expected: list[tuple[int, str, str]]) -> None:
    """Each fault comes once with its line, its field and what to do; all of them at once."""
    assert faults(conversation) == expected


def test_the_check_of_a_data_set_includes_its_conversations(write_folder: Any) -> None:
    """A fault of a conversation is an error of the data set, another catalog's name too."""
    folder = write_folder()
    (folder / "conversations").mkdir()
    (folder / "conversations" / "talk.jsonl").write_text(
        '{"conversation":"talk","catalog":"other","split":"dev"}\n{"type":"user","text":"hi","needs":["gone"]}\n'
    )
    errors, _ = check_data(load_data(folder))
    assert [(each.line, each.field, each.message) for each in errors] == [
        (1, "catalog", "is 'other', and the conversation lies in 'set'; name that"),
        (2, "needs[0]", "'gone' is no tool of the catalog"),
    ]


@pytest.mark.parametrize("name", names())
def test_the_shipped_conversations_are_clean(name: str) -> None:
    """No shipped conversation has a fault."""
    data = load_data(name)
    assert [str(fault) for talk in data.conversations for fault in check_conversation(talk, data.tools)] == []
