"""The scripted conversations that ship with `builtin`."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from toolsearch.catalog.tool import Tool
from toolsearch_eval.conversation_check import check_conversation
from toolsearch_eval.conversations import (
    EVENT_TYPES,
    AssistantEvent,
    Conversation,
    ToolResultEvent,
    ToolsChangedEvent,
    UserEvent,
    all_events,
    starting_tools,
)
from toolsearch_eval.data import load_data

DATA = load_data("builtin")
ALL = DATA.conversations


def turns(conversation: Conversation) -> int:
    """What user and assistant say, sub-agents left out."""
    return sum(isinstance(event, UserEvent | AssistantEvent) for event in conversation.events)


def test_there_are_enough_of_them_short_and_long_in_both_splits() -> None:
    """Fifteen conversations or more, four of at most 15 turns and four of 40 or more, dev and test both with long ones."""
    assert len(ALL) >= 15
    assert sum(turns(one) <= 15 for one in ALL) >= 4
    long = [one for one in ALL if turns(one) >= 40]
    assert len(long) >= 4
    assert {one.split for one in long} == {"dev", "test"}
    assert min(sum(one.split == split for one in ALL) for split in ("dev", "test")) >= 7


def test_every_kind_of_event_occurs() -> None:
    """Each kind of event that a conversation can hold stands in two conversations at least, and in both splits together."""
    for kind in EVENT_TYPES.values():
        assert sum(any(isinstance(event, kind) for event in all_events(one.events)) for one in ALL) >= 2, kind


def test_needs_cover_many_tools_and_some_turns_need_none() -> None:
    """Over a hundred different tools are needed somewhere, and between a tenth and a third of what users say needs none."""
    asked = [event for one in ALL for event in all_events(one.events) if isinstance(event, UserEvent)]
    assert len({name for event in asked for name in event.needs}) > 100
    idle = sum(not event.needs for event in asked)
    assert len(asked) / 10 < idle < len(asked) / 3


@pytest.mark.parametrize("conversation", ALL, ids=lambda one: one.name)
def test_a_conversation_has_no_fault(conversation: Conversation) -> None:
    """The check that strangers' files pass through finds nothing to say."""
    assert check_conversation(conversation, DATA.tools) == []


@pytest.mark.parametrize("conversation", ALL, ids=lambda one: one.name)
def test_arguments_are_those_that_the_tool_takes(conversation: Conversation) -> None:
    """The arguments of every call fit the schema of the tool that it names."""
    known = {tool.name: tool for tool in starting_tools(conversation, DATA.tools)}
    for event in all_events(conversation.events):
        if isinstance(event, ToolsChangedEvent):
            known.update({tool.name: tool for tool in (*event.add, *event.replace) if isinstance(tool, Tool)})
        elif isinstance(event, AssistantEvent):
            for call in event.calls:
                faults = list(Draft202012Validator(known[call.tool].input_schema or {}).iter_errors(dict(call.params)))
                assert not faults, (call.tool, faults[0].message)


def test_every_call_has_its_result() -> None:
    """There are as many results as calls, tool by tool."""
    for one in ALL:
        events = list(all_events(one.events))
        called = sorted(call.tool for event in events if isinstance(event, AssistantEvent) for call in event.calls)
        assert called == sorted(event.tool for event in events if isinstance(event, ToolResultEvent)), one.name
