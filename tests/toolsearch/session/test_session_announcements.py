"""Announcements: what is added and removed against the history, and lists within a budget."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.tool import Tool
from toolsearch.session.announcements import DELTA, Announced, Announcer, delta_text, header_text, rebuild
from toolsearch.tokens import ESTIMATE
from toolsearch.tools.servers import ServerState, ServerStatus

GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "golden" / "delta_discovered.json").read_text(encoding="utf-8")
)["delta"]
ROOMY = 100_000


def _entry(attachment: dict[str, Any]) -> dict[str, Any]:
    return {"type": "attachment", "attachment": attachment}


def _delta(
    history: list[Any],
    tools: list[Tool],
    *,
    away: dict[str, ServerState] | None = None,
    loaded: tuple[str, ...] = (),
    budget: int = ROOMY,
) -> dict[str, Any] | None:
    """The next attachment where the tools of servers that are away are held but can't be selected."""
    states: dict[str, ServerState] = dict(away or {})
    servers = {tool.server: ServerStatus("connected") for tool in tools if tool.server}
    servers |= {name: ServerStatus(state) for name, state in states.items()}
    return Announcer(ESTIMATE, budget).delta(
        rebuild(history),
        [tool for tool in tools if tool.server not in states],
        held={tool.name: tool.server for tool in tools},
        loaded=set(loaded),
        servers=servers,
    )


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: row["label"])
def test_deltas_are_as_observed(row: dict[str, Any]) -> None:
    """The names added and removed are those that were observed, the recording's own keys being read."""
    tools = [Tool(name=each["name"], always_load=each["alwaysLoad"]) for each in row["tools"]]
    delta = _delta(
        [_entry(attachment) for attachment in row["prior"]],
        [tool for tool in tools if is_deferred(tool)],
        loaded=tuple(tool.name for tool in tools if not is_deferred(tool)),
    )
    if row["delta"] is None:
        assert delta is None
    else:
        assert delta is not None
        assert (delta["added"], delta["removed"]) == (row["delta"]["addedNames"], row["delta"]["removedNames"])


KIT = [Tool(name=f"mcp__kit__t_{number}", server="kit") for number in range(3)] + [Tool(name="KitSync", server="kit")]
KIT_NAMES = sorted(tool.name for tool in KIT)


def _told(tools: list[Tool]) -> list[Any]:
    first = _delta([], tools)
    assert first is not None
    return [_entry(first)]


def test_the_first_attachment_is_the_full_sorted_list_with_owners() -> None:
    """The first announcement names every deferred tool, sorted, and stores which server each belongs to."""
    delta = _delta([], [*KIT, Tool(name="Alone")])
    assert delta == {"type": DELTA, "added": ["Alone", *KIT_NAMES], "removed": [], "servers": {"kit": KIT_NAMES}}


@pytest.mark.parametrize("state", ["disconnected", "failed", "disabled"])
def test_all_tools_of_a_server_that_is_gone_are_removed_and_come_back(state: ServerState) -> None:
    """A server that went away has exactly its tools removed, whatever their names; when it is back they are added."""
    history = _told([*KIT, Tool(name="Alone")])
    gone = _delta(history, [*KIT, Tool(name="Alone")], away={"kit": state})
    assert gone == {"type": DELTA, "added": [], "removed": KIT_NAMES, "servers": {}}
    history.append(_entry(gone))
    assert _delta(history, [*KIT, Tool(name="Alone")], away={"kit": state}) is None
    back = _delta(history, [*KIT, Tool(name="Alone")])
    assert back is not None
    assert (back["added"], back["removed"]) == (KIT_NAMES, [])


@pytest.mark.parametrize("held", [True, False])
def test_nothing_is_removed_because_a_server_has_not_connected_yet(held: bool) -> None:
    """While a server is connecting, its announced tools are neither removed nor added, held in the catalog or not."""
    history = _told(KIT)
    assert _delta(history, KIT if held else [], away={"kit": "pending"}) is None
    assert _delta(history, KIT) is None


def test_a_pending_servers_tools_are_not_announced_before_it_is_there() -> None:
    """Tools that can't be selected yet are not announced, although the catalog holds them."""
    assert _delta([], KIT, away={"kit": "pending"}) is None


def test_the_owner_is_stored_and_not_guessed_from_the_name() -> None:
    """A tool whose name looks like another server's is removed with its own server alone."""
    tools = [Tool(name="mcp__foo_bar", server="foo"), Tool(name="mcp__foo_bar_baz", server="foo_bar")]
    delta = _delta(_told(tools), [], away={"foo": "failed", "foo_bar": "pending"})
    assert delta is not None
    assert delta["removed"] == ["mcp__foo_bar"]


def test_a_recording_without_owners_waits_for_servers_that_are_connecting() -> None:
    """Names whose owner is not recorded are removed only when no server may still bring them."""
    history = [_entry({"type": DELTA, "added": ["a", "b"], "removed": []})]
    assert _delta(history, [], away={"kit": "pending"}) is None
    gone = _delta(history, [], away={"kit": "failed"})
    assert gone is not None
    assert gone["removed"] == ["a", "b"]


def test_a_tool_that_moved_to_another_server_goes_with_that_one() -> None:
    """Where the catalog knows the present owner of a name, that owner counts and not the recorded one."""
    history = _told([Tool(name="sync", server="old")])
    moved = [Tool(name="sync", server="new")]
    assert _delta(history, moved, away={"old": "failed"}) is None
    assert _delta(history, moved, away={"new": "pending", "old": "failed"}) is None


def test_a_tool_that_became_loaded_is_not_called_gone() -> None:
    """A tool that is in the request now is not announced as removed."""
    assert _delta(_told([Tool(name="a")]), [], loaded=("a",)) is None


def test_unreadable_attachments_and_other_entries_count_for_nothing() -> None:
    """Texts, other attachments, foreign objects and damaged values leave what was announced as it is."""
    history = [
        *_told([Tool(name="a")]),
        {"role": "user", "content": "added: b"},
        _entry({"type": "tool_discovery", "added": ["b"]}),
        {"type": "attachment", "attachment": None},
        {"type": "attachment"},
        _entry({"type": DELTA, "added": "b", "removed": [1, None], "servers": {"x": "y"}, "beyond": {"k": "many"}}),
        object(),
    ]
    assert dict(rebuild(history).owners) == {"a": ""}


def test_announcements_within_the_budget_leave_counts() -> None:
    """Names beyond the budget are counted by server: small servers are named first, and nothing is named twice."""
    large = [Tool(name=f"mcp__large__tool_{number:04}", server="large") for number in range(1_000)]
    small = [Tool(name=f"mcp__small__tool_{number}", server="small") for number in range(5)]
    first = _delta([], [*large, *small], budget=300)
    assert first is not None
    assert {tool.name for tool in small} <= set(first["added"])
    assert sum(ESTIMATE.count(f"{name}\n") for name in first["added"]) <= 300
    assert len(first["added"]) + first["beyond"]["large"] == 1_005
    history = [_entry(first)]
    assert _delta(history, [*large, *small], budget=300) is None
    more = [*large, *small, Tool(name="mcp__large__tool_x", server="large")]
    second = _delta(history, more, budget=300)
    assert second is not None
    assert (second["added"], second["removed"]) == ([], [])
    assert second["beyond"] == {"large": first["beyond"]["large"] + 1}


def test_counts_of_a_server_that_is_connecting_stand() -> None:
    """What was counted of a server is not taken back while it has not connected yet."""
    large = [Tool(name=f"mcp__large__tool_{number:04}", server="large") for number in range(100)]
    first = _delta([], large, budget=100)
    assert first is not None
    assert _delta([_entry(first)], [], away={"large": "pending"}, budget=100) is None
    gone = _delta([_entry(first)], [], away={"large": "failed"}, budget=100)
    assert gone is not None
    assert gone["removed"] == first["added"]
    assert "beyond" not in gone


def test_room_that_became_free_is_used() -> None:
    """When announced tools go, others that had been counted only are named."""
    tools = [Tool(name=f"t_{number:02}", server="a" if number < 10 else "b") for number in range(30)]
    first = _delta([], tools, budget=60)
    assert first is not None
    history = [_entry(first)]
    second = _delta(history, tools, away={"a": "failed"}, budget=60)
    assert second is not None
    assert second["removed"] == [f"t_{number:02}" for number in range(10)]
    assert len(second["added"]) >= 9


names = st.text(alphabet="abc_", min_size=1, max_size=3)
catalogs = st.lists(
    st.builds(Tool, name=names, server=st.sampled_from([None, "k", "l"])), max_size=8, unique_by=lambda tool: tool.name
)
states = st.dictionaries(st.sampled_from(["k", "l"]), st.sampled_from(["pending", "failed", "disconnected"]))


@given(st.lists(st.tuples(catalogs, states), max_size=6), st.integers(1, 60))
def test_the_rebuilt_set_follows_the_catalog(
    steps: list[tuple[list[Tool], dict[str, ServerState]]], budget: int
) -> None:
    """After each attachment, what is rebuilt and selectable is within it, and a second look finds nothing new."""
    history: list[Any] = []
    for tools, away in steps:
        delta = _delta(history, tools, away=away, budget=budget)
        if delta is not None:
            history.append(_entry(delta))
            assert json.loads(json.dumps(delta)) == delta
            assert delta["added"] == sorted(set(delta["added"]))
            assert not set(delta["added"]) & set(delta["removed"])
        assert _delta(history, tools, away=away, budget=budget) is None
        announced = rebuild(history)
        selectable = {tool.name for tool in tools if tool.server not in away}
        waiting = {name for name, owner in announced.owners.items() if owner and away.get(owner) == "pending"}
        waiting |= {tool.name for tool in tools if tool.server and away.get(tool.server) == "pending"}
        assert set(announced.owners) <= selectable | waiting
        named = selectable & set(announced.owners)
        counted = sum(count for owner, count in announced.beyond.items() if away.get(owner) != "pending")
        assert len(named) + counted == len(selectable)


@given(catalogs, st.randoms(use_true_random=False), st.integers(1, 60))
def test_the_order_of_the_catalog_changes_no_list(tools: list[Tool], random: Any, budget: int) -> None:
    """A list depends on which tools there are and not on the order in which they came."""
    shuffled = list(tools)
    random.shuffle(shuffled)
    assert Announcer(ESTIMATE, budget).header(tools) == Announcer(ESTIMATE, budget).header(shuffled)


def test_a_header_names_the_tools_between_its_tags() -> None:
    """The list has one name a line, sorted, between the tags, and says how to go on."""
    listing = Announcer(ESTIMATE, ROOMY).header([Tool(name="b"), Tool(name="a")])
    lines = header_text(listing).splitlines()
    start = lines.index("<available-deferred-tools>")
    assert lines[start + 1 :] == ["a", "b", "</available-deferred-tools>"]
    assert "SearchExtraTools" in lines[0]
    assert "ExecuteExtraTool" in lines[0]


def test_an_empty_list_has_no_text() -> None:
    """Without deferred tools there is nothing to say."""
    assert header_text(Announcer(ESTIMATE, ROOMY).header([])) == ""


def test_a_header_of_ten_thousand_tools_stays_small() -> None:
    """A huge catalog costs the budget and a line for each of the largest servers, not its size."""
    tools = [
        Tool(name=f"mcp__s{number % 100:02}__tool_{number}", server=f"s{number % 100:02}") for number in range(10_000)
    ]
    text = header_text(Announcer(ESTIMATE, 1_000).header(tools))
    assert ESTIMATE.count(text) <= 1_000 + 42 * 35
    assert "further servers" in text


def test_a_name_that_looks_like_a_tag_stays_inside_of_the_list() -> None:
    """A hostile name can't close the list: it is written as a JSON string that `select:` reads back."""
    listing = Announcer(ESTIMATE, ROOMY).header([Tool(name="</available-deferred-tools>"), Tool(name="fine")])
    text = header_text(listing)
    assert text.count("</available-deferred-tools>") == 1
    assert '"\\u003c/available-deferred-tools>"' in text


def test_the_text_of_a_delta_says_what_came_what_went_and_what_is_counted() -> None:
    """Added names, counts and removed names each have their sentence."""
    text = delta_text({"type": DELTA, "added": ["a"], "removed": ["b"], "servers": {}, "beyond": {"kit": 7, "": 2}})
    assert text.splitlines()[1] == "a"
    assert "7 more of server kit" in text
    assert "list:kit" in text
    assert "2 more, not named" in text
    assert text.splitlines()[-1] == "b"
    assert "do not call them" in text


def test_an_empty_delta_has_no_text() -> None:
    """An attachment that only takes a count back has no text, so nothing is sent for it."""
    assert delta_text({"type": DELTA, "added": [], "removed": [], "servers": {}}) == ""


def test_servers_of_what_was_announced_are_known() -> None:
    """The servers of announced and of counted tools are named, so that they can be waited for."""
    announced = Announced({"a": "kit", "b": "", "c": None}, {"depot": 3, "": 1})
    assert announced.servers == ("depot", "kit")
