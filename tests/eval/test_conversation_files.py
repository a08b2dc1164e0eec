"""Reading scripted conversations: every field, every fault with its place, nothing lost in writing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, Problem
from toolsearch_eval.conversation_files import read_conversation
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
    all_events,
    conversation_rows,
    starting_tools,
)
from toolsearch_eval.data import load_data

HEADER: dict[str, Any] = {"conversation": "talk", "catalog": "set", "split": "dev", "pins": [], "servers": {}}


def write(folder: Path, rows: Sequence[Any], name: str = "talk.jsonl") -> Path:
    """A file with one JSON value a line."""
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path) -> tuple[Conversation | None, list[tuple[int, str, str]]]:
    """The conversation, and the faults as line, field and message."""
    problems: list[Problem] = []
    conversation = read_conversation(path, problems)
    assert all(each.path == str(path) for each in problems)
    return conversation, [(each.line, each.field, each.message) for each in problems]


def test_every_field_of_every_event_is_read(tmp_path: Path) -> None:
    """What stands in the file is what the values hold, each event with its line, blank lines counted."""
    header = HEADER | {"pins": ["a"], "servers": {"chat": "pending", "mail": "failed"}}
    rows = [
        {"type": "user", "text": "hello", "needs": ["a", "b"]},
        {"type": "assistant", "text": "", "calls": [{"tool": "a", "params": {"x": 1}, "query": "find a"}]},
        {"type": "tool_result", "tool": "a", "text": ""},
        {"type": "server", "server": "chat", "state": "disconnected"},
        {
            "type": "tools_changed",
            "server": "chat",
            "add": ["b", {"name": "c", "description": "new"}],
            "remove": ["d"],
            "replace": [{"name": "e"}],
        },
        {"type": "compact", "keep": 0},
        {"type": "resume"},
        {"type": "subagent", "tools": ["a*"], "events": [{"type": "user", "text": "do it", "needs": []}]},
    ]
    conversation, faults = read(write(tmp_path, [header, *rows]))
    assert faults == []
    events: tuple[Event, ...] = (
        UserEvent(text="hello", needs=("a", "b")),
        AssistantEvent(calls=(Call(tool="a", params={"x": 1}, query="find a"),)),
        ToolResultEvent(tool="a"),
        ServerEvent(server="chat", state="disconnected"),
        ToolsChangedEvent(
            server="chat",
            add=("b", Tool(name="c", description="new", server="chat")),
            remove=("d",),
            replace=(Tool(name="e", server="chat"),),
        ),
        CompactEvent(keep=0),
        ResumeEvent(),
        SubagentEvent(tools=("a*",), events=(UserEvent(text="do it"),)),
    )
    assert conversation == Conversation(
        name="talk",
        catalog="set",
        split="dev",
        pins=("a",),
        servers={"chat": "pending", "mail": "failed"},
        events=events,
    )
    assert [event.line for event in conversation.events] == [2, 3, 4, 5, 6, 7, 8, 9]
    assert [event.line for event in all_events(conversation.events)][-1] == 9
    assert conversation_rows(conversation)[1:5] == rows[:4]


USER = {"type": "user", "text": "hi", "needs": []}
ACCEPTED = "user, assistant, tool_result, server, tools_changed, compact, resume, subagent"

HEADERS: list[tuple[str, Any, list[tuple[str, str]]]] = [
    ("no header", USER, [("conversation", "is missing; the first line is the header and names the conversation")]),
    (
        "another name than the file's",
        HEADER | {"conversation": "other"},
        [("conversation", "is 'other' and the file is 'talk.jsonl'; give both one name")],
    ),
    ("a split of its own", HEADER | {"split": "train"}, [("split", "is 'train'; accepted: dev, test")]),
    (
        "a state that no server starts in",
        HEADER | {"servers": {"chat": "up", "": "pending", "mail": 5}},
        [
            ("servers.chat", "is 'up'; accepted: connected, pending, failed, disabled"),
            ("servers", "holds an empty name; name the server"),
            ("servers.mail", "is the number 5; accepted: connected, pending, failed, disabled"),
        ],
    ),
    (
        "fields missing and unknown",
        {"conversation": "talk", "pins": "a", "speed": 1},
        [
            ("catalog", "is missing; it must be a text"),
            ("split", "is missing; it must be a text"),
            ("pins", "is a text; it must be a list"),
            ("speed", "is no field of the header; accepted: catalog, conversation, pins, servers, split"),
        ],
    ),
]


@pytest.mark.parametrize(("row", "expected"), [row[1:] for row in HEADERS], ids=[row[0] for row in HEADERS])
def test_faults_of_the_header(tmp_path: Path, row: Any, expected: list[tuple[str, str]]) -> None:
    """Each fault of the header names its field and what to do, all at once, and gives no conversation."""
    assert read(write(tmp_path, [row, USER])) == (None, [(1, *fault) for fault in expected])


EVENTS: list[tuple[str, Any, list[tuple[str, str]]]] = [
    ("no type", {"text": "x"}, [("type", f"is missing; accepted: {ACCEPTED}")]),
    ("an unknown type", {"type": "usr"}, [("type", f"is 'usr'; did you mean 'user'? accepted: {ACCEPTED}")]),
    ("a type that is no text", {"type": 5}, [("type", f"is the number 5; accepted: {ACCEPTED}")]),
    (
        "a user without needs",
        {"type": "user", "text": " ", "need": []},
        [
            ("text", "is empty; it must be a text that is not empty"),
            ("needs", "is missing; it must be a list"),
            ("need", "is no field of an event of type 'user'; accepted: needs, text, type"),
        ],
    ),
    (
        "needs that are no names",
        {"type": "user", "text": "x", "needs": ["a", 5, "a", ""]},
        [
            ("needs[1]", "is the number 5; it must be a name"),
            ("needs[2]", "'a' stands there already; name it once"),
            ("needs[3]", "is empty; it must be a name"),
        ],
    ),
    (
        "calls that are none",
        {"type": "assistant", "text": "", "calls": [5, {"tool": "", "params": [], "query": "", "why": 1}]},
        [
            ("calls[0]", "is the number 5; it must be an object"),
            ("calls[1].tool", "is empty; it must be a text that is not empty"),
            ("calls[1].params", "is a list; it must be an object"),
            ("calls[1].query", "is empty; it must be a text that is not empty"),
            ("calls[1].why", "is no field of a call; accepted: params, query, tool"),
        ],
    ),
    ("a result of nothing", {"type": "tool_result", "text": ""}, [("tool", "is missing; it must be a text")]),
    (
        "a state that is none",
        {"type": "server", "server": "s", "state": "down"},
        [("state", "is 'down'; accepted: connected, pending, failed, disconnected, disabled")],
    ),
    (
        "a change of nothing",
        {"type": "tools_changed", "server": "s", "add": [], "remove": [], "replace": []},
        [("", "changes no tool; fill add, remove or replace, or leave the event out")],
    ),
    (
        "a change that holds no tools",
        {"type": "tools_changed", "server": "s", "add": [5, {"name": "a", "server": "t"}], "replace": ["b", {}]},
        [
            ("add[0]", "is the number 5; write the tool as a row of a catalog"),
            ("add[1].server", "is 't', and the event is about 's'; leave it out"),
            ("replace[0]", "is a text; write the tool as a row of a catalog"),
            ("replace[1].name", "the tool has no name; every tool needs one"),
        ],
    ),
    (
        "a compaction to less than nothing",
        {"type": "compact", "keep": -1},
        [("keep", "is the number -1; it must be a whole number of at least 0")],
    ),
    (
        "a compaction to yes",
        {"type": "compact", "keep": True},
        [("keep", "is true; it must be a whole number of at least 0")],
    ),
    (
        "faults deep inside of a sub-agent",
        {
            "type": "subagent",
            "tools": [],
            "events": [{"type": "subagent", "tools": [], "events": [{"type": "compact"}]}],
        },
        [("events[0].events[0].keep", "is missing; it must be a whole number of at least 0")],
    ),
]


@pytest.mark.parametrize(("row", "expected"), [row[1:] for row in EVENTS], ids=[row[0] for row in EVENTS])
def test_faults_of_events(tmp_path: Path, row: Any, expected: list[tuple[str, str]]) -> None:
    """Each fault of an event names its line, the field with its place inside and what to do, all at once."""
    assert read(write(tmp_path, [HEADER, USER, row])) == (None, [(3, *fault) for fault in expected])


def test_an_empty_file_says_what_belongs_there(tmp_path: Path) -> None:
    """A file without a line is a fault of the file."""
    assert read(write(tmp_path, [])) == (
        None,
        [(0, "", "is empty; the first line is the header, the others are events")],
    )


def test_a_data_set_gives_its_conversations_and_all_faults_at_once(write_folder: Any) -> None:
    """Conversations are loaded by name; a fault in one comes together with those of the other files."""
    folder = write_folder()
    assert load_data(folder).conversations == ()
    (folder / "conversations").mkdir()
    for name in ("b", "a"):
        write(folder / "conversations", [HEADER | {"conversation": name}, USER], f"{name}.jsonl")
    data = load_data(folder)
    assert [each.name for each in data.conversations] == ["a", "b"]
    assert data.fingerprint == load_data(write_folder()).fingerprint
    write(folder / "conversations", [HEADER, {"type": "resume", "now": 1}], "b.jsonl")
    (folder / "qrels.tsv").write_text("x")
    with pytest.raises(DataError) as caught:
        load_data(folder)
    assert [(Path(each.path).name, each.line) for each in caught.value.problems] == [
        ("qrels.tsv", 1),
        ("b.jsonl", 1),
        ("b.jsonl", 2),
    ]


NAMES = st.sampled_from(["a", "mcp__chat__send", "列表", "x y"])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
FILLED = TEXTS.filter(lambda text: bool(text.strip()))
UNIQUE = st.lists(NAMES, max_size=3, unique=True).map(tuple)
TOOLS = st.builds(Tool, name=NAMES, description=st.none() | TEXTS, server=st.just("chat"))
CALLS = st.builds(Call, tool=NAMES, params=st.dictionaries(TEXTS, st.integers()), query=st.just("") | FILLED)
STATES = st.sampled_from(["connected", "pending", "failed", "disabled"])
SIMPLE = (
    st.builds(UserEvent, text=FILLED, needs=UNIQUE)
    | st.builds(AssistantEvent, text=TEXTS, calls=st.lists(CALLS, max_size=2).map(tuple))
    | st.builds(ToolResultEvent, tool=NAMES, text=TEXTS)
    | st.builds(ServerEvent, server=FILLED, state=STATES)
    | st.builds(
        ToolsChangedEvent,
        server=st.just("chat"),
        add=st.lists(NAMES | TOOLS, min_size=1, max_size=2).map(tuple),
        remove=UNIQUE,
        replace=st.lists(TOOLS, max_size=2).map(tuple),
    )
    | st.builds(CompactEvent, keep=st.integers(0, 9))
    | st.builds(ResumeEvent)
)
ANY = st.recursive(
    SIMPLE, lambda inner: st.builds(SubagentEvent, tools=UNIQUE, events=st.lists(inner, max_size=3).map(tuple))
)


@given(events=st.lists(ANY, max_size=5).map(tuple), servers=st.dictionaries(FILLED, STATES, max_size=2), pins=UNIQUE)
def test_what_is_written_reads_back_equal(
    events: tuple[Event, ...], servers: Any, pins: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any conversation, written as rows and read, is the same one."""
    given = Conversation(name="talk", catalog="set", servers=servers, pins=pins, events=events)
    path = write(tmp_path_factory.mktemp("talk"), conversation_rows(given))
    assert read(path) == (given, [])


def test_the_tools_at_the_start_are_those_of_the_servers_without_what_comes_later() -> None:
    """A tool that is removed first and added again is there at the start; one that is only added is not."""
    catalog = [Tool(name=name, server=server) for name, server in (("x", None), ("a", "s"), ("b", "s"), ("c", "other"))]
    events = (
        ToolsChangedEvent(server="s", remove=("a",)),
        SubagentEvent(events=(ToolsChangedEvent(server="s", add=("a", "b")),)),
    )
    talk = Conversation(name="t", catalog="set", servers={"s": "pending"}, events=events)
    assert [tool.name for tool in starting_tools(talk, catalog)] == ["x", "a"]
    assert [tool.name for tool in starting_tools(replace(talk, servers={}), catalog)] == ["x"]
