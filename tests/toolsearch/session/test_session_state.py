"""Saved state, discovered tools and the servers of a process."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, UnknownNameError, UsageError
from toolsearch.session.discovered import SOURCES, DiscoveredTools, Discovery
from toolsearch.session.mode import REASONS, ModeDecision
from toolsearch.session.server_table import ServerTable
from toolsearch.session.state import SessionState
from toolsearch.tools.servers import ServerStatus

texts = st.text(max_size=8)
numbers = st.one_of(st.none(), st.integers(0, 10**9))
decisions = st.builds(
    ModeDecision,
    mode=st.sampled_from(["tst", "tst-auto", "standard"]),
    reason=st.sampled_from(REASONS),
    warnings=st.lists(texts, max_size=2).map(tuple),
    threshold_tokens=numbers,
    deferred_tokens=numbers,
)
tools = st.builds(
    Tool,
    name=st.text(min_size=1, max_size=8),
    description=st.one_of(st.none(), texts),
    input_schema=st.one_of(
        st.none(), st.dictionaries(texts, st.recursive(numbers, st.lists, max_leaves=3), max_size=2)
    ),
    server=st.one_of(st.none(), st.text(min_size=1, max_size=4)),
    leaf=st.text(min_size=1, max_size=8),
)
states = st.builds(
    SessionState,
    discovered=st.lists(st.builds(Discovery, texts, st.sampled_from(SOURCES), st.booleans()), max_size=3).map(tuple),
    announced=st.lists(st.tuples(texts, st.one_of(st.none(), texts)), max_size=3).map(tuple),
    prefetched=st.lists(texts, max_size=3).map(tuple),
    scope=st.lists(st.lists(texts, max_size=2).map(tuple), max_size=2).map(tuple),
    last_input=texts,
)


@given(states, st.one_of(st.none(), decisions), st.lists(tools, max_size=3).map(tuple))
def test_a_state_comes_back_equal(state: SessionState, decision: ModeDecision | None, frozen: tuple[Tool, ...]) -> None:
    """A state written as JSON text and read again is the same value."""
    deferring = decision is not None and decision.enabled
    state = dataclasses.replace(state, decision=decision, tools=frozen if deferring else None)
    assert SessionState.from_json(json.loads(json.dumps(state.to_json()))) == state


FULL: dict[str, Any] = SessionState(
    decision=ModeDecision(mode="tst", reason="deferred"),
    tools=(Tool(name="Read", input_schema={"type": "object"}),),
    discovered=(Discovery("send", "search"),),
    announced=(("send", "chat"),),
    prefetched=("send",),
    scope=(("mcp__*",),),
    last_input="0123",
).to_json()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"schema_version": 2}, "schema_version"),
        ({"schema_version": None}, "schema_version"),
        ({"schema_version": True}, "schema_version"),
        ({"decision": "tst"}, "decision"),
        ({"decision": {"mode": "tst"}}, "decision"),
        ({"decision": FULL["decision"] | {"mode": "AUTO"}}, "decision.mode"),
        ({"decision": FULL["decision"] | {"reason": "because"}}, "decision.reason"),
        ({"decision": FULL["decision"] | {"threshold_tokens": True}}, "decision.threshold_tokens"),
        ({"decision": FULL["decision"] | {"warnings": [1]}}, "decision.warnings"),
        ({"tools": {}}, "tools"),
        ({"tools": [FULL["tools"][0] | {"name": 1}]}, "tools.name"),
        ({"tools": [FULL["tools"][0] | {"input_schema": []}]}, "tools.input_schema"),
        ({"tools": ["Read"]}, "tools"),
        ({"tools": None}, "tools"),
        ({"decision": None}, "tools"),
        ({"decision": FULL["decision"] | {"reason": "switched_off"}}, "tools"),
        ({"discovered": ["send"]}, "discovered"),
        ({"discovered": [FULL["discovered"][0] | {"source": "guess"}]}, "discovered.source"),
        ({"discovered": [FULL["discovered"][0] | {"in_context": 1}]}, "discovered.in_context"),
        ({"announced": {"send": "chat"}}, "announced"),
        ({"announced": [{"name": "send", "server": 3}]}, "announced.server"),
        ({"prefetched": "send"}, "prefetched"),
        ({"scope": [None]}, "scope"),
        ({"scope": [[1]]}, "scope"),
        ({"last_input": 5}, "last_input"),
        ({"more": 1}, "more"),
    ],
)
def test_bad_state_is_refused_with_the_field(change: dict[str, Any], field: str) -> None:
    """A damaged state is a data error that names source, field, what stands there and what is accepted."""
    with pytest.raises(DataError) as caught:
        SessionState.from_json(FULL | change, source="saved.json")
    assert any(problem.field == field for problem in caught.value.problems)
    assert str(caught.value).startswith("saved.json:0: ")


@pytest.mark.parametrize("key", sorted(FULL))
def test_a_state_that_lacks_a_field_is_refused(key: str) -> None:
    """Nothing is made up for a field that is not there."""
    with pytest.raises(DataError):
        SessionState.from_json({name: value for name, value in FULL.items() if name != key})


@pytest.mark.parametrize("value", [None, [], "state", 1])
def test_a_value_that_is_no_state_is_refused(value: Any) -> None:
    """Whatever is not an object is a data error."""
    with pytest.raises(DataError, match="object"):
        SessionState.from_json(value)


def test_all_faults_of_a_state_come_at_once() -> None:
    """Two damaged fields make two problems of one error."""
    with pytest.raises(DataError) as caught:
        SessionState.from_json(FULL | {"prefetched": 1, "scope": 2})
    assert {problem.field for problem in caught.value.problems} == {"prefetched", "scope"}


def test_the_first_source_of_a_discovery_stays() -> None:
    """A tool that was recommended and then searched is discovered once, by the recommendation, in order."""
    known = DiscoveredTools()
    known.add(["b", "a"], "prefetch")
    known.add(["a", "c"], "search")
    assert [(each.name, each.source) for each in known] == [("b", "prefetch"), ("a", "prefetch"), ("c", "search")]
    assert len(known) == 3


def test_compaction_keeps_discoveries_and_takes_their_parameters_out_of_sight() -> None:
    """After compaction a tool is still discovered; it is in sight again only once it is shown again, or was kept."""
    known = DiscoveredTools()
    known.add(["a", "b"], "search")
    known.compacted(kept=["b"])
    assert known.names == ("a", "b")
    assert (known.in_context("a"), known.in_context("b")) == (False, True)
    known.add(["a"], "prefetch")
    assert known.in_context("a")
    assert not known.in_context("never")


def test_a_server_of_which_nothing_is_said_is_connected_once_its_tools_are_there() -> None:
    """A server with tools counts as connected, also after they are removed; one that is only remembered is pending."""
    table = ServerTable()
    assert dict(table.statuses(["kit"], ["far"])) == {
        "far": ServerStatus("pending"),
        "kit": ServerStatus("connected"),
    }
    assert table.statuses([])["kit"].state == "connected"
    assert table.statuses([])["far"].state == "pending"


def test_what_the_host_says_of_a_server_counts() -> None:
    """A state that the host sets stands, with its reason, whatever the catalog holds."""
    table = ServerTable()
    table.set("kit", "failed", "no route")
    assert table.statuses(["kit"]) == {"kit": ServerStatus("failed", "no route")}


def test_a_server_state_that_does_not_exist_is_refused() -> None:
    """A wrong state names the accepted ones, and a name must be a text."""
    with pytest.raises(UnknownNameError, match="connected"):
        ServerTable().set("kit", "conected")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="name"):
        ServerTable().set("", "failed")
