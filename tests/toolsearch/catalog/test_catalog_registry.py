"""The registry and its snapshots."""

from __future__ import annotations

import dataclasses
import random
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.catalog.tool import Tool
from toolsearch.errors import DuplicateToolError, UnknownNameError, UsageError


def names(tools: tuple[Tool, ...]) -> list[str]:
    """The names of tools."""
    return [tool.name for tool in tools]


_tools = st.lists(
    st.builds(
        Tool,
        name=st.sampled_from(["a", "b", "mcp__s__a", "b__c", "mcp__s__b__c", "Read", "bad\n", "a_2"]),
        server=st.sampled_from([None, "s", "s__b", "t"]),
        description=st.none() | st.text(max_size=5),
        aliases=st.lists(st.sampled_from(["a", "z", "Read"]), max_size=2).map(tuple),
    ),
    unique_by=lambda tool: (tool.server, tool.leaf),
    max_size=8,
)


@given(_tools, st.randoms(use_true_random=False))
def test_order_of_tools_changes_neither_fingerprint_nor_names_nor_warnings(
    tools: list[Tool], source: random.Random
) -> None:
    """Load order decides the order of the tuples and nothing else."""
    shuffled = list(tools)
    source.shuffle(shuffled)
    first, second = ToolRegistry(tools).snapshot(), ToolRegistry(shuffled).snapshot()
    assert first.fingerprint == second.fingerprint
    assert first.warnings == second.warnings
    assert sorted(names(first.tools)) == sorted(names(second.tools))
    for tool in first.tools:
        assert second.get(tool.name) == tool


@given(_tools)
def test_nothing_is_lost_and_every_final_name_is_unique(tools: list[Tool]) -> None:
    """Each tool is usable or quarantined, and no two usable ones share a name."""
    snapshot = ToolRegistry(tools).snapshot()
    assert len(snapshot.tools) + len(snapshot.quarantined) == len(tools)
    assert len(set(names(snapshot.tools))) == len(snapshot.tools)
    assert len(snapshot.deferred) + len(snapshot.loaded) == len(snapshot.tools)


def test_empty_registry_has_an_empty_snapshot() -> None:
    """No tools is a valid catalog."""
    snapshot = ToolRegistry().snapshot()
    assert (snapshot.tools, snapshot.deferred, snapshot.warnings) == ((), (), ())
    assert snapshot.get("x") is None


def test_one_raw_name_on_several_servers_is_kept_under_ids() -> None:
    """Shared raw names become ids with the leaf kept; a single one keeps its raw name and answers to its id."""
    registry = ToolRegistry([Tool(name="send", server="chat"), Tool(name="list", server="chat")])
    assert names(registry.snapshot().tools) == ["send", "list"]
    registry.add(Tool(name="send", server="mail"))
    snapshot = registry.snapshot()
    assert names(snapshot.tools) == ["mcp__chat__send", "list", "mcp__mail__send"]
    assert [tool.leaf for tool in snapshot.tools] == ["send", "list", "send"]
    assert snapshot.get("send") is None
    assert snapshot.get("mcp__chat__list") == snapshot.get("list") is not None


def test_servers_whose_ids_meet_keep_both_tools() -> None:
    """Two servers whose ids for their tools are equal both stay, told apart by a number and reported."""
    tools = [Tool(name="mcp__a__b__c", server="a__b"), Tool(name="mcp__a__b__c", server="a")]
    snapshot = ToolRegistry(tools).snapshot()
    assert sorted(names(snapshot.tools)) == ["mcp__a__b__c", "mcp__a__b__c_2"]
    [warning] = snapshot.warnings
    assert "the id is taken" in warning


def test_duplicate_on_one_server_names_both_sources_and_adds_nothing() -> None:
    """Two tools of one name on one server are an error with both sources; the registry stays as it was."""
    registry = ToolRegistry([Tool(name="send", server="chat")], source="one.jsonl")
    before = registry.snapshot()
    with pytest.raises(DuplicateToolError, match=r"duplicate_tool_name.*one\.jsonl.*two\.jsonl") as caught:
        registry.add([Tool(name="new"), Tool(name="mcp__chat__send", server="chat")], source="two.jsonl")
    assert len(caught.value.problems) == 1
    assert registry.snapshot() is before


def test_names_equal_only_after_normalisation_are_distinct() -> None:
    """`todo_add` and `todo.add` are two tools."""
    snapshot = ToolRegistry([Tool(name="todo_add"), Tool(name="todo.add")]).snapshot()
    assert snapshot.get("todo.add") == Tool(name="todo.add")
    assert snapshot.get("todo_add") == Tool(name="todo_add")


def test_reserved_names_stay_reserved_also_while_hidden() -> None:
    """A server's `Read` gets its id, an alias `Read` selects nothing, also when the core tool is denied."""
    tools = [Tool(name="Read"), Tool(name="Read", server="files"), Tool(name="peek", aliases=("Read",))]
    snapshot = ToolRegistry(tools, deny=["Read"]).snapshot()
    assert names(snapshot.tools) == ["mcp__files__Read", "peek"]
    assert names(snapshot.hidden) == ["Read"]
    assert snapshot.get("Read") is None
    assert names(snapshot.deferred) == ["mcp__files__Read", "peek"]
    assert any("reserved" in warning for warning in snapshot.warnings)


def test_synthetic_names_are_refused_without_a_server() -> None:
    """Only the package's own synthetic tools may bear their names; a server's gets its id."""
    with pytest.raises(UsageError, match="reserved"):
        ToolRegistry([Tool(name="SearchExtraTools", description="mine")])
    assert names(ToolRegistry(synthetic_tools()).core()) == names(synthetic_tools())
    foreign = ToolRegistry([Tool(name="SearchExtraTools", server="x")])
    assert names(foreign.deferred()) == ["mcp__x__SearchExtraTools"]


@pytest.mark.parametrize(
    "tool",
    [
        Tool(name="a\x00", server="bad"),
        Tool(name="a\nb", server="bad"),
        Tool(name="\ud800", server="bad"),
        Tool(name="a\u202eb", server="bad"),
        Tool(name="x" * 129, server="bad"),
        Tool(name="fine", server="bad\nserver"),
    ],
)
def test_unfit_names_are_quarantined_and_reported_with_their_server(tool: Tool) -> None:
    """A quarantined tool is kept and reported, in no list and under no name."""
    snapshot = ToolRegistry([tool, Tool(name="ok")]).snapshot()
    assert names(snapshot.quarantined) == [tool.name]
    assert names(snapshot.tools) == ["ok"]
    assert snapshot.get(tool.name) is None
    [warning] = snapshot.warnings
    assert "bad" in warning
    assert warning.isprintable()


def test_id_that_grows_too_long_is_quarantined() -> None:
    """A name that is fit by itself and too long as an id is quarantined, not cut."""
    long = "x" * 120
    snapshot = ToolRegistry([Tool(name=long, server="first"), Tool(name=long, server="second")]).snapshot()
    assert [tool.server for tool in snapshot.quarantined] == ["first", "second"]


@pytest.mark.parametrize(
    ("changes", "other"),
    [
        ({"description": "b"}, True),
        ({"search_hint": "b"}, True),
        ({"input_schema": {"type": "object"}}, True),
        ({"server": "b"}, True),
        ({"aliases": ("b",)}, True),
        ({"always_load": True}, True),
        ({"read_only": True}, True),
        ({"name": "b", "leaf": "b"}, True),
        ({"meta": {"note": 1}}, False),
        ({"call": print}, False),
    ],
)
def test_fingerprint_covers_what_search_and_requests_use(changes: dict[str, Any], other: bool) -> None:
    """Every searchable part moves the fingerprint; notes and callables don't."""
    tool = Tool(name="a", description="a")
    changed = ToolRegistry([dataclasses.replace(tool, **changes)]).fingerprint
    assert (changed != ToolRegistry([tool]).fingerprint) is other


def test_fingerprint_covers_what_is_deferred() -> None:
    """A pin changes what is announced, so it changes the fingerprint; the key order of a schema doesn't."""
    tool = Tool(name="a", input_schema={"type": "object", "title": "t"})
    turned = Tool(name="a", input_schema={"title": "t", "type": "object"})
    assert ToolRegistry([tool], pins=["a"]).fingerprint != ToolRegistry([tool]).fingerprint
    assert ToolRegistry([turned]).fingerprint == ToolRegistry([tool]).fingerprint


def test_allow_and_deny_patterns_hide_and_unmatched_ones_are_reported() -> None:
    """Patterns hold against names and ids; synthetic tools survive an allow list."""
    tools = [
        Tool(name="send", server="chat"),
        Tool(name="drop", server="chat"),
        Tool(name="Read"),
        *synthetic_tools(),
    ]
    snapshot = ToolRegistry(tools, allow=["mcp__chat__*", "nope*"], deny=["drop"]).snapshot()
    assert names(snapshot.tools) == ["send", *names(synthetic_tools())]
    assert snapshot.warnings == ("allow pattern 'nope*' matches no tool",)


def test_defer_per_server_and_unknown_servers_are_reported() -> None:
    """`always` defers even a flagged tool, `never` loads all, a pin beats both."""
    tools = [Tool(name=name, server=name[0], always_load=name == "a1") for name in ("a1", "a2", "b1", "c1")]
    registry = ToolRegistry(tools, defer={"a": "always", "b": "never", "d": "never"}, pins=["a2"])
    assert names(registry.deferred()) == ["a1", "c1"]
    assert names(registry.core()) == ["a2", "b1"]
    assert any("server 'd'" in warning for warning in registry.warnings)
    with pytest.raises(UsageError, match="by-mode"):
        ToolRegistry(defer={"a": "sometimes"})


def test_unknown_pin_is_reported_with_near_names() -> None:
    """A misspelt pin is a warning that suggests the right name."""
    assert ToolRegistry([Tool(name="CronCreate")], pins=["CronCreat"]).warnings == (
        "pin 'CronCreat' names no tool. Did you mean 'CronCreate'?",
    )


def test_team_tools_answer_with_how_to_turn_teams_on() -> None:
    """With teams off a team tool answers the notice; with teams on its own call stands."""
    tool = Tool(name="TeamCreate", call=lambda params: "made")
    answers: list[Any] = []
    for teams in (False, True):
        [held] = ToolRegistry([tool], teams=teams).snapshot().tools
        assert held.call is not None
        answers.append(held.call({}))
    assert "teams=True" in answers[0]
    assert answers[1] == "made"


def test_replace_of_a_server_is_one_step_and_keeps_places() -> None:
    """A reconnecting server keeps its tools' places, loses old ones and adds new ones at the end."""
    registry = ToolRegistry([Tool(name="a", server="s"), Tool(name="x"), Tool(name="b", server="s"), Tool(name="y")])
    registry.replace([Tool(name="c", server="s"), Tool(name="b", server="s", description="new")], server="s")
    assert names(registry.snapshot().tools) == ["x", "b", "y", "c"]
    with pytest.raises(UsageError, match="belongs to server"):
        registry.replace([Tool(name="x")], server="s")
    registry.replace(Tool(name="x", description="newer"))
    found = registry.snapshot().get("x")
    assert found is not None
    assert found.description == "newer"
    with pytest.raises(UnknownNameError, match="Use add"):
        registry.replace(Tool(name="new"))


def test_remove_by_name_server_or_both() -> None:
    """Tools leave one by one or a server at a time; unknown and ambiguous names are errors."""
    registry = ToolRegistry(
        [
            Tool(name="a", server="s"),
            Tool(name="a", server="t"),
            Tool(name="b", server="t"),
            Tool(name="bad\n"),
        ]
    )
    with pytest.raises(UsageError, match="several servers"):
        registry.remove("a")
    registry.remove("mcp__s__a")
    assert names(registry.snapshot().tools) == ["a", "b"]
    registry.remove("bad\n")
    assert registry.snapshot().quarantined == ()
    registry.remove("a", server="t")
    registry.remove(server="t")
    assert len(registry) == 0
    with pytest.raises(UnknownNameError):
        registry.remove(server="t")
    with pytest.raises(UnknownNameError):
        registry.remove("a")
    with pytest.raises(UsageError, match="neither"):
        registry.remove()


def test_snapshot_is_cached_and_does_not_follow_later_changes() -> None:
    """The same snapshot until a change; an old one, and the caller's own schema, never reach a newer state."""
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    registry = ToolRegistry([Tool(name="a", input_schema=schema)])
    old = registry.snapshot()
    assert registry.snapshot() is old
    schema["properties"]["late"] = {}
    registry.add(Tool(name="b"))
    assert names(old.tools) == ["a"]
    assert old.tools[0].input_schema == {"type": "object", "properties": {}}
    with pytest.raises(dataclasses.FrozenInstanceError):
        old.tools = ()  # type: ignore[misc]


def test_readers_see_whole_states_while_a_server_reconnects() -> None:
    """Each snapshot taken during changes holds exactly one version of the server's tools."""
    registry = ToolRegistry([Tool(name=f"t{number}", server="s", description="0") for number in range(20)])
    done = threading.Event()
    mixed: list[set[str | None]] = []

    def write() -> None:
        for version in range(1, 60):
            registry.replace(
                [Tool(name=f"t{number}", server="s", description=str(version)) for number in range(20)],
                server="s",
            )
        done.set()

    def read() -> None:
        while not done.is_set():
            tools = registry.snapshot().tools
            versions = {tool.description for tool in tools}
            if len(versions) != 1 or len(tools) != 20:
                mixed.append(versions)

    threads = [threading.Thread(target=read) for _ in range(3)] + [threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert mixed == []


def test_schemas_that_are_not_json_are_refused_plainly() -> None:
    """Cycles, NaN, odd objects and things that are no tools give a usage error."""
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    for schema in (cycle, {"maximum": float("nan")}, {"default": object()}):
        with pytest.raises(UsageError, match="not plain JSON"):
            ToolRegistry([Tool(name="a", input_schema=schema)])
    with pytest.raises(UsageError, match="not a Tool"):
        ToolRegistry([{"name": "a"}])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="must be a text"):
        ToolRegistry([Tool(name=3, leaf="x")])  # type: ignore[arg-type]


def test_surrogates_in_descriptions_and_recursive_references_are_held() -> None:
    """Odd text and a schema that refers to itself by `$ref` are data like any other."""
    schema = {"$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}
    snapshot = ToolRegistry([Tool(name="a", description="\ud800", input_schema=schema)]).snapshot()
    assert len(snapshot.fingerprint) == 64


@pytest.mark.parametrize("held", [True, False])
def test_a_deny_pattern_for_a_synthetic_tool_counts_whether_it_is_held_or_not(held: bool) -> None:
    """A snapshot names the synthetic tools that are denied, and such a pattern is never called unmatched."""
    tools = (*synthetic_tools(), Tool(name="a")) if held else (Tool(name="a"),)
    snapshot = ToolRegistry(tools, deny=["Execute*"]).snapshot()
    assert snapshot.denied_synthetic == {"ExecuteExtraTool"}
    assert snapshot.warnings == ()
