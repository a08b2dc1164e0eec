"""The tools array and the decision: fixed with the first request, the same bytes ever after."""

import json
from dataclasses import replace
from typing import Any

import pytest

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.catalog.tool import Tool
from toolsearch.session.providers import PROVIDERS, ToolCall
from toolsearch.session.session import Session
from toolsearch.session.settings import SessionSettings
from toolsearch.tokens import ESTIMATE

CORE = [Tool(name="Read", description="Read a file"), Tool(name="Bash", description="Run a command")]
KIT = [Tool(name=f"mcp__kit__t_{number}", description=f"tool {number}", server="kit") for number in range(5)]


def _session(registry: ToolRegistry, *, provider: str = "anthropic", **settings: Any) -> Session:
    return Session(registry, provider=provider, settings=SessionSettings(**settings), counter=ESTIMATE)


def _bytes(session: Session) -> str:
    return json.dumps(session.tools_array())


def _names(session: Session) -> list[str]:
    return [tool["name"] for tool in session.tools_array()]


def test_the_array_is_core_then_pinned_then_synthetic() -> None:
    """The array holds core tools in the guide's order, pinned ones by name, and the three synthetic tools last."""
    registry = ToolRegistry([*KIT, *CORE, Tool(name="zeta"), Tool(name="alpha")], pins=["zeta", "alpha"])
    assert _names(_session(registry)) == ["Bash", "Read", "alpha", "zeta", *SYNTHETIC_TOOLS]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_nothing_that_happens_changes_a_byte_of_the_array(provider: str) -> None:
    """Discovering, executing, connecting, adding, removing, reordering and renaming leave the array as it was."""
    pinned = Tool(name="hot", description="Used always", server="kit")
    registry = ToolRegistry([*CORE, *KIT, pinned], pins=["hot", "late"])
    session = _session(registry, provider=provider)
    before = _bytes(session)
    session.handle(ToolCall("1", "SearchExtraTools", {"query": "select:mcp__kit__t_3"}))
    assert session.discovered == ("mcp__kit__t_3",)
    session.handle(ToolCall("2", "ExecuteExtraTool", {"tool_name": "mcp__kit__t_3", "params": {}}))
    assert _bytes(session) == before
    session.set_server("kit", "disconnected")
    assert _bytes(session) == before
    registry.add([Tool(name="late"), Tool(name="hot", server="other"), Tool(name="Write")])
    assert _bytes(session) == before
    registry.remove(server="kit")
    registry.replace(Tool(name="Read", description="Another text"))
    assert _bytes(session) == before
    history = [session.user("hello")]
    payloads = [session.request(history, model="m").payload for _ in range(2)]
    assert payloads[0] == payloads[1]
    assert _bytes(session) == before


def test_the_order_of_the_catalog_is_not_in_the_array() -> None:
    """Two conversations with the same tools in another order have the same array, so they share a cached prefix."""
    tools = [*CORE, *KIT, Tool(name="b", always_load=True), Tool(name="a", always_load=True)]
    assert _bytes(_session(ToolRegistry(tools))) == _bytes(_session(ToolRegistry(reversed(tools))))


def test_a_caller_can_not_change_the_array() -> None:
    """Whoever changes what `tools_array` gave changes a copy."""
    session = _session(ToolRegistry(CORE))
    before = _bytes(session)
    session.tools_array()[0]["name"] = "other"
    session.tools_array().clear()
    assert _bytes(session) == before


def test_a_pinned_tool_that_comes_later_stays_deferred_with_a_warning() -> None:
    """A tool that is always loaded but came after the first request is found by search, and the operator is told."""
    registry = ToolRegistry(CORE, pins=["late"])
    session = _session(registry)
    before = _bytes(session)
    registry.add(Tool(name="late", description="Came late", call=lambda params: "ran"))
    assert _bytes(session) == before
    request = session.request([session.user("hi")], model="m")
    assert any("'late'" in warning and "deferred" in warning for warning in request.warnings)
    assert "late" in session.selectable
    found = session.handle(ToolCall("1", "SearchExtraTools", {"query": "select:late"}))
    assert '<tool name="late">' in found.text
    ran = session.handle(ToolCall("2", "ExecuteExtraTool", {"tool_name": "late", "params": {}}))
    assert not ran.is_error


def test_a_pinned_tool_of_a_server_that_is_connecting_is_in_the_array() -> None:
    """A pinned tool that the catalog holds is in the array although its server is not there yet; a failed one's is not."""
    for state, there in (("pending", True), ("disconnected", True), ("failed", False), ("disabled", False)):
        session = _session(ToolRegistry([*CORE, Tool(name="hot", server="kit")], pins=["hot"]))
        session.set_server("kit", state)  # type: ignore[arg-type]
        assert ("hot" in _names(session)) is there


def test_a_tool_of_the_array_that_was_renamed_still_answers_to_its_name_there() -> None:
    """When a second server brings the same name, the array's name still calls the tool that stands there."""
    registry = ToolRegistry([Tool(name="search", server="docs", always_load=True, call=lambda params: "docs searched")])
    session = _session(registry)
    assert "search" in _names(session)
    registry.add(Tool(name="search", server="code", call=lambda params: "code searched"))
    answer = session.handle(ToolCall("1", "search", {}))
    assert "docs searched" in answer.text
    assert "mcp__docs__search" in session.selectable


def test_a_server_set_to_never_is_loaded_and_one_set_to_always_is_not() -> None:
    """The `defer` setting of a server decides over the usual rule, either way."""
    tools = [*KIT, Tool(name="depot_a", server="depot", always_load=True)]
    registry = ToolRegistry(tools, defer={"kit": "never", "depot": "always"})
    session = _session(registry)
    names = _names(session)
    assert [name for name in names if name.startswith("mcp__kit")] == [tool.name for tool in KIT]
    assert session.selectable == ("depot_a",)


def test_standard_mode_loads_everything_and_follows_the_catalog() -> None:
    """Switched off, all tools are in the array, search and proxy are not, and later tools come in."""
    registry = ToolRegistry([*CORE, *KIT])
    session = _session(registry, mode="false")
    assert _names(session) == ["Bash", "Read", *(tool.name for tool in KIT), "SyntheticOutput"]
    registry.add(Tool(name="late"))
    assert "late" in _names(session)
    session.set_server("kit", "disconnected")
    assert [name for name in _names(session) if name.startswith("mcp__kit")] == []
    request = session.request([session.user("schedule tool 3")], model="m")
    assert (request.header, request.attachments) == ("", ())


@pytest.mark.parametrize(
    "settings",
    [{"mode": "false"}, {"kill_switch": "1"}, {"kill_switch": "1", "mode": "true", "announcements": "delta"}],
)
def test_a_client_with_an_old_list_is_told_what_to_call(settings: dict[str, Any]) -> None:
    """In standard mode, search and proxy answer that they are disabled and that tools are called directly."""
    session = _session(ToolRegistry([Tool(name="a", description="A", call=lambda params: "ran")]), **settings)
    for name, arguments in (
        ("SearchExtraTools", {"query": "a"}),
        ("ExecuteExtraTool", {"tool_name": "a", "params": {}}),
    ):
        answer = session.handle(ToolCall("1", name, arguments))
        assert answer.is_error
        assert "disabled" in answer.text
        assert "directly" in answer.text
    assert not session.handle(ToolCall("2", "a", {})).is_error


@pytest.mark.parametrize("denied", ["SearchExtraTools", "ExecuteExtraTool"])
@pytest.mark.parametrize("how", ["denied", "disabled", "scope"])
def test_without_one_half_both_fall_back_together(denied: str, how: str) -> None:
    """With search or proxy denied, disabled or out of the agent's list, all tools are loaded, and a warning says why."""
    synthetic = [
        replace(tool, is_enabled=lambda: False) if how == "disabled" and tool.name == denied else tool
        for tool in synthetic_tools()
    ]
    registry = ToolRegistry([*CORE, *KIT, *synthetic], deny=[denied] if how == "denied" else [])
    session = _session(registry)
    if how == "scope":
        allowed = [name for name in ("SearchExtraTools", "ExecuteExtraTool") if name != denied]
        session = session.subagent(["Read", "Bash", "mcp__kit__*", "SyntheticOutput", *allowed])
    assert session.decision.reason == "unavailable"
    assert set(_names(session)) == {"Bash", "Read", "SyntheticOutput", *(tool.name for tool in KIT)}
    request = session.request([session.user("hi")], model="m")
    assert any(denied in warning for warning in request.warnings)


def test_the_decision_is_frozen_with_the_first_request() -> None:
    """A catalog that crosses the threshold later flips nothing; a new conversation decides anew."""
    registry = ToolRegistry([Tool(name="small", description="little")])
    session = _session(registry, mode="auto", context_window=10_000)
    assert (session.decision.reason, _names(session)) == ("below_threshold", ["small", "SyntheticOutput"])
    registry.add(Tool(name="large", description="word " * 3_000))
    assert session.decision.reason == "below_threshold"
    assert _names(session) == ["large", "small", "SyntheticOutput"]
    assert _session(registry, mode="auto", context_window=10_000).decision.reason == "above_threshold"


def test_before_the_first_request_the_decision_follows_the_catalog() -> None:
    """Servers that bring their tools before the first request count for the threshold."""
    registry = ToolRegistry([Tool(name="small", description="little")])
    session = _session(registry, mode="auto", context_window=10_000)
    assert not session.decision.enabled
    registry.add(Tool(name="large", description="word " * 3_000))
    assert session.decision.enabled
    assert _names(session) == list(SYNTHETIC_TOOLS)


def test_a_few_huge_definitions_reach_the_threshold() -> None:
    """The threshold counts tokens and not tools: four tools with endless texts are deferred."""
    registry = ToolRegistry([Tool(name=f"t_{number}", description="tool schema words " * 1_500) for number in range(4)])
    session = _session(registry, mode="auto:10", context_window=100_000)
    assert [name for name in _names(session) if name.startswith("t_")] == []


def test_below_the_threshold_a_server_set_to_always_stays_deferred() -> None:
    """Cheap tools are loaded, but those of a server that is deferred always are searched and run through the proxy."""
    registry = ToolRegistry([Tool(name="small"), *KIT], defer={"kit": "always"})
    session = _session(registry, mode="auto")
    assert session.decision.reason == "server_always"
    assert _names(session) == ["small", *SYNTHETIC_TOOLS]
    assert session.selectable == tuple(tool.name for tool in KIT)


def test_a_schema_for_the_final_answer_stands_in_the_array() -> None:
    """The host's schema is what `SyntheticOutput` asks the model for."""
    schema = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}
    session = _session(ToolRegistry(CORE), output_schema=schema)
    assert session.tools_array()[-1]["input_schema"] == schema


def test_no_deferred_tool_is_ever_marked_in_the_payload() -> None:
    """A payload holds no deferred tool and none of the provider's own fields for deferring."""
    session = _session(ToolRegistry([Tool(name="a", description="A"), Tool(name="b", description="B")]))
    payload = session.request([session.user("hi")], model="m").payload
    assert [tool["name"] for tool in payload["tools"]] == list(SYNTHETIC_TOOLS)
    text = json.dumps(payload)
    assert "defer_loading" not in text
    assert "tool_reference" not in text


def test_an_empty_catalog_is_fine() -> None:
    """Without any tool, a request holds the synthetic tools and announces nothing."""
    for announcements in ("header", "delta"):
        session = _session(ToolRegistry(), announcements=announcements)
        request = session.request([session.user("hi")], model="m")
        assert (request.header, request.attachments, request.warnings) == ("", (), ())
        assert _names(session) == list(SYNTHETIC_TOOLS)


def test_unknown_pins_are_reported() -> None:
    """A pin that names no tool is a warning of every request."""
    session = _session(ToolRegistry([Tool(name="hot_tool")], pins=["hot_tool", "ghost_tool"]))
    request = session.request([session.user("hi")], model="m")
    assert any("ghost_tool" in warning for warning in request.warnings)
    assert "hot_tool" in _names(session)
