"""The proxy's steps in their order: what it answers, and what runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from toolsearch.catalog.builtin import builtin_catalog
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch.tools.codes import CODES
from toolsearch.tools.execute_tool import ExecuteTool
from toolsearch.tools.execution import Execution
from toolsearch.tools.permissions import PermissionRequest
from toolsearch.tools.servers import ServerState, ServerStatus

URL: dict[str, Any] = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}


class Recorder:
    """A target that remembers what it was called with."""

    def __init__(self, result: Any = "done") -> None:
        self.result = result
        self.calls: list[Any] = []

    def __call__(self, params: Mapping[str, Any]) -> Any:
        """Remember and answer."""
        self.calls.append(params)
        return self.result


def proxy(*tools: Tool, **settings: Any) -> ExecuteTool:
    """The proxy over these tools."""
    return ExecuteTool(ToolRegistry(list(tools)), **settings)


def run(executor: ExecuteTool, name: str, params: Any = None, **options: Any) -> Execution:
    """One well-formed call."""
    return executor.call({"tool_name": name, "params": {} if params is None else params}, **options)


def failing(error: BaseException) -> Callable[..., Any]:
    """A function that raises."""

    def fail(*_arguments: Any) -> Any:
        raise error

    return fail


def test_a_success_is_the_targets_own_result_beside_its_name() -> None:
    """The result is the very object that a direct call gives, and its JSON has exactly two keys."""
    result = {"rows": [1, 2]}
    answer = run(proxy(Tool(name="query", call=lambda _params: result)), "query")
    assert answer.result is result
    assert answer.to_json() == {"tool_name": "query", "result": {"rows": [1, 2]}}
    assert json.loads(answer.text) == answer.to_json()
    assert not answer.is_error
    assert answer.code is None


@pytest.mark.parametrize("name", ["mcp__web__open", "browse", "open", "  open\n"])
def test_a_tool_is_found_by_name_alias_and_unique_leaf(name: str) -> None:
    """Exact name, alias and unique leaf name all run the tool, and the answer has its own name."""
    target = Recorder()
    executor = proxy(Tool(name="mcp__web__open", server="web", aliases=("browse",), call=target))
    assert run(executor, name).tool_name == "mcp__web__open"
    assert target.calls == [{}]


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("constructor", ()),
        ("__class__", ()),
        ("__proto__", ()),
        ("", ()),
        ("OPEN_PAGE", ("open_page",)),
        ("open-page", ("open_page",)),
        ("opn_page", ("open_page",)),
    ],
)
def test_any_other_spelling_is_unknown_and_never_runs(name: str, suggested: tuple[str, ...]) -> None:
    """A name that is not exactly one of a tool runs nothing; one that looks like it is suggested."""
    target = Recorder()
    answer = run(proxy(Tool(name="open_page", call=target)), name)
    assert answer.code == "unknown_tool"
    assert target.calls == []
    assert answer.suggestions == suggested


def test_a_leaf_of_several_servers_is_ambiguous_whoever_is_connected() -> None:
    """Several tools of one leaf name are told apart by the model, also while only one of them could run."""
    tools = [Tool(name="send", server=server, call=Recorder()) for server in ("chat", "mail")]
    answer = run(proxy(*tools), "send")
    assert (answer.code, answer.suggestions) == ("ambiguous_tool", ("mcp__chat__send", "mcp__mail__send"))
    away = run(proxy(*tools, servers=lambda: {"mail": ServerStatus("pending")}), "send")
    assert (away.code, away.suggestions) == ("ambiguous_tool", ("mcp__chat__send",))


def test_suggestions_come_from_what_can_be_found_only() -> None:
    """Hidden, quarantined, loaded and unreachable tools are never suggested."""
    tools = [
        Tool(name="note_hide", call=Recorder()),
        Tool(name="note_load", always_load=True, call=Recorder()),
        Tool(name="note_away", server="off", call=Recorder()),
        Tool(name="note_line\n", call=Recorder()),
        Tool(name="note_have", call=Recorder()),
    ]
    registry = ToolRegistry(tools, deny=("note_hide",))
    executor = ExecuteTool(registry, servers=lambda: {"off": ServerStatus("failed")})
    answer = run(executor, "note_h")
    assert answer.suggestions == ("note_have",)
    for word in ("note_hide", "note_load", "note_away", "note_line"):
        assert word not in answer.text
    assert run(executor, "note_hide").code == "unknown_tool"
    assert run(executor, "note_line\n").code == "unknown_tool"


@pytest.mark.parametrize("name", ["SearchExtraTools", "ExecuteExtraTool", "SyntheticOutput"])
def test_the_tools_of_the_search_are_refused(name: str) -> None:
    """The proxy runs neither itself nor the two other tools of the array, whatever is nested in the call."""
    target = Recorder()
    answer = run(proxy(Tool(name="X", call=target)), name, {"tool_name": "X", "params": {}})
    assert (answer.code, target.calls) == ("synthetic_tool", [])


def test_a_loaded_tool_is_to_be_called_directly() -> None:
    """A core tool and a pinned one are refused with the way to call them."""
    target = Recorder()
    for tool in (Tool(name="Read", call=target), Tool(name="pinned", always_load=True, call=target)):
        answer = run(proxy(tool), tool.name)
        assert answer.code == "core_tool"
        assert "directly" in answer.text
    assert target.calls == []


def test_an_undiscovered_tool_is_shown_and_then_runs() -> None:
    """With the guard on, the refusal carries the schema and counts as showing it, so the next call works."""
    target, shown = Recorder(), set[str]()
    executor = proxy(
        Tool(name="open", aliases=("o",), input_schema=URL, call=target),
        require_discovery=True,
        is_discovered=shown.__contains__,
        mark_discovered=shown.add,
    )
    first = run(executor, "o", {"url": "x"})
    assert (first.code, first.discovered, shown) == ("undiscovered", True, {"open"})
    assert '"required": ["url"]' in first.text
    assert not run(executor, "o", {"url": "x"}).is_error
    assert target.calls == [{"url": "x"}]


def test_the_guard_is_off_by_default() -> None:
    """A tool that was never shown runs when its arguments are right."""
    assert not run(proxy(Tool(name="open", call=Recorder()), is_discovered=lambda _name: False), "open").is_error


@pytest.mark.parametrize(
    ("answer", "said"),
    [(False, "open"), ((False, "needs a key"), "needs a key"), ("no bridge", "no bridge"), (None, "open")],
)
def test_a_tool_that_is_not_enabled_says_why(answer: Any, said: str) -> None:
    """Whatever form a tool's no has, its own reason is told and nothing runs."""
    target = Recorder()
    result = run(proxy(Tool(name="open", is_enabled=lambda: answer, call=target)), "open")
    assert (result.code, target.calls) == ("unavailable", [])
    assert said in result.text


def test_a_tool_whose_check_fails_is_unavailable() -> None:
    """An `is_enabled` that raises is told with its message."""
    result = run(proxy(Tool(name="open", is_enabled=failing(OSError("disk gone")), call=Recorder())), "open")
    assert result.code == "unavailable"
    assert "disk gone" in result.text


@pytest.mark.parametrize(
    ("state", "code"),
    [("pending", "unavailable"), ("failed", "unavailable"), ("disconnected", "unavailable"), ("disabled", "disabled")],
)
def test_a_tool_of_a_server_that_is_away_does_not_run(state: ServerState, code: str) -> None:
    """How its server stands is told in one line, with the server's reason made fit to be shown."""
    target = Recorder()
    tool = Tool(name="open", server="web", call=target)
    servers = {"web": ServerStatus(state, "</tool>refused")}
    answer = run(proxy(tool, servers=lambda: servers), "open")
    assert (answer.code, target.calls) == (code, [])
    assert "web" in answer.text
    assert "</tool>" not in answer.text


def test_a_catalog_from_a_file_has_nothing_to_run() -> None:
    """A tool without a function is a clear failure."""
    answer = run(proxy(Tool(name="open")), "open")
    assert answer.code == "unavailable"
    assert "nothing to run" in answer.text


def test_team_tools_answer_how_to_turn_teams_on() -> None:
    """With teams off a team tool gives its notice, whatever its arguments are."""
    executor = ExecuteTool(ToolRegistry(builtin_catalog()))
    for name in ("TeamCreate", "TeamDelete", "SendMessage"):
        answer = run(executor, name)
        assert not answer.is_error
        assert "teams=True" in answer.result


def test_wrong_arguments_are_told_with_place_value_and_schema() -> None:
    """The target does not run; the answer shows what is accepted and the schema, and so discovers the tool."""
    target, shown = Recorder(), set[str]()
    answer = run(proxy(Tool(name="open", input_schema=URL, call=target), mark_discovered=shown.add), "open", {"url": 5})
    assert (answer.code, target.calls, shown) == ("invalid_params", [], {"open"})
    assert "url: must be a string; given: 5" in answer.text
    assert '"required": ["url"]' in answer.text


def test_defaults_are_not_invented() -> None:
    """A default of the schema does not become an argument."""
    target = Recorder()
    run(proxy(Tool(name="x", input_schema={"properties": {"n": {"default": 3}}}, call=target)), "x")
    assert target.calls == [{}]


def test_what_the_target_does_to_its_arguments_stays_there() -> None:
    """A target that changes its arguments does not change what the model said, also when that is frozen."""
    given = MappingProxyType({"tool_name": "x", "params": MappingProxyType({"a": MappingProxyType({"b": 1})})})

    def change(params: dict[str, Any]) -> int:
        params["a"].clear()
        return len(params)

    assert proxy(Tool(name="x", call=change)).call(given).result == 1
    assert given == {"tool_name": "x", "params": {"a": {"b": 1}}}


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (True, None),
        (None, None),
        ("allow", None),
        ({"behavior": "passthrough"}, None),
        (False, "denied"),
        ("deny", "denied"),
        ({"behavior": "deny", "message": "not on Sundays"}, "denied"),
        ("ask", "denied"),
        ("Perhaps", "denied"),
        ({"behavior": "allow", "updated_input": [1]}, "denied"),
    ],
)
def test_a_target_permits_denies_or_asks(said: Any, code: str | None) -> None:
    """Without a callback only a clear yes, or no opinion, runs the target."""
    target = Recorder()
    answer = run(proxy(Tool(name="x", check_permissions=lambda _params: said, call=target)), "x")
    assert answer.code == code
    assert len(target.calls) == (0 if code else 1)


def test_a_check_that_fails_has_not_allowed_anything() -> None:
    """An exception of the permission check is a no."""
    target = Recorder()
    answer = run(proxy(Tool(name="x", check_permissions=failing(KeyError("tenant")), call=target)), "x")
    assert (answer.code, target.calls) == ("denied", [])


@pytest.mark.parametrize(("default", "ran"), [("allow", 1), ("deny", 0), ("ask", 0)])
def test_without_an_opinion_the_host_decides(default: Any, ran: int) -> None:
    """A tool that passes, or has no check at all, gets the host's default."""
    for check in (None, lambda _params: "passthrough"):
        target = Recorder()
        run(proxy(Tool(name="x", check_permissions=check, call=target), default_permission=default), "x")
        assert len(target.calls) == ran


def test_the_host_is_asked_about_the_real_tool() -> None:
    """The callback sees the target's name, owner and arguments, never the proxy's."""
    asked: list[PermissionRequest] = []

    def ask(request: PermissionRequest) -> bool:
        asked.append(request)
        return True

    tool = Tool(name="mcp__bank__pay", server="bank", check_permissions=lambda _params: "ask", call=Recorder())
    assert not run(proxy(tool, ask=ask), "pay", {"to": "x"}).is_error
    assert asked == [PermissionRequest("mcp__bank__pay", "bank", {"to": "x"})]


def test_what_the_check_rewrote_runs_and_is_validated() -> None:
    """The rewritten arguments run in place of the given ones, unless they don't fit the schema."""
    target = Recorder()

    def tool(updated: Any) -> Tool:
        decision = {"behavior": "allow", "updated_input": updated}
        return Tool(name="x", input_schema=URL, check_permissions=lambda _params: decision, call=target)

    assert not run(proxy(tool({"url": "/safe"})), "x", {"url": "/etc"}).is_error
    assert run(proxy(tool({"url": 5})), "x", {"url": "/etc"}).code == "invalid_params"
    assert target.calls == [{"url": "/safe"}]


def test_an_exception_of_the_target_is_its_message() -> None:
    """Name and message of the failure are told, bounded and neutralised, without a traceback."""
    error = RuntimeError("quota </tool-result> exceeded " + "x" * 10_000)
    answer = run(proxy(Tool(name="boom", call=failing(error))), "boom")
    assert answer.code == "tool_error"
    assert "quota" in answer.text
    assert "boom" in answer.text
    assert "</tool-result>" not in answer.text
    assert "Traceback" not in answer.text
    assert len(answer.text) < 3_000


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("timeout", [None, 30.0])
def test_what_stops_the_program_is_not_swallowed(error: BaseException, timeout: float | None) -> None:
    """An interrupt or exit inside of a target reaches the caller, in its own thread or in another one."""
    with pytest.raises(type(error)):
        run(proxy(Tool(name="x", call=failing(error))), "x", timeout=timeout)


def test_a_result_that_cannot_be_written_is_described() -> None:
    """A result whose text fails is kept as it is, and nothing is raised."""

    class Hostile:
        @property
        def content(self) -> Any:
            raise ValueError("no")

        def __repr__(self) -> str:
            raise ValueError("no")

    result = Hostile()
    answer = run(proxy(Tool(name="x", call=lambda _params: result)), "x")
    assert answer.result is result
    assert "Hostile" in answer.text
    assert "Hostile" in str(answer.to_json()["result"])


def test_content_blocks_and_a_servers_error_are_kept() -> None:
    """Images stay blocks, and a result that says it is an error is one, with its content."""
    block = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    fine = run(proxy(Tool(name="x", call=lambda _params: {"content": [block]})), "x")
    assert (fine.blocks, fine.is_error) == ((block,), False)
    wrong = run(proxy(Tool(name="x", call=lambda _params: {"content": [], "isError": True})), "x")
    assert (wrong.code, wrong.result) == ("tool_error", {"content": [], "isError": True})


def test_a_switched_off_search_says_what_to_call() -> None:
    """In a session without deferred tools the proxy points to the tool itself and runs nothing."""
    target = Recorder()
    answer = run(proxy(Tool(name="a", call=target)), "a", enabled=False)
    assert (answer.code, target.calls) == ("disabled", [])
    assert "call a directly" in answer.text


def test_a_very_long_schema_is_shortened_in_the_answer() -> None:
    """The answer to wrong arguments stays within its bound whatever the schema is."""
    schema = {"properties": {f"p{number}": {"description": "d" * 500} for number in range(200)}, "required": ["p1"]}
    answer = run(proxy(Tool(name="x", input_schema=schema, call=Recorder())), "x")
    assert answer.code == "invalid_params"
    assert len(answer.text) < 20_000


def test_the_codes_are_stable() -> None:
    """The codes are a promise to hosts."""
    assert " ".join(CODES) == (
        "unknown_tool ambiguous_tool core_tool synthetic_tool undiscovered unavailable disabled invalid_params "
        "unreadable_arguments denied timeout cancelled tool_error duplicate_tool_name"
    )


@pytest.mark.parametrize("settings", [{"timeout": 0}, {"timeout": float("nan")}, {"default_permission": "maybe"}])
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    """A host's mistake is told when the proxy is made, not when a model calls it."""
    with pytest.raises(UsageError, match="give"):
        proxy(**settings)


GOLDEN = Path(__file__).parents[2] / "golden" / "execute.json"
_CHANGED = {
    "deferred, not discovered, search tool absent": "undiscovered",  # the guard is the host's own setting here
    "standard mode, not discovered": "disabled",  # answered with what to call instead
    "core tool through the proxy": "core_tool",
    "always-loaded tool through the proxy": "core_tool",
    "alias of a discovered tool": None,  # an alias is as good as the name
    "permission ask is treated as allow": "denied",
    "permission updatedInput is ignored": None,  # what was rewritten runs
    "target throws": "tool_error",  # nothing is thrown into the loop
    "executes itself": "synthetic_tool",
}
_CODE_OF = {
    "not_found": "unknown_tool",
    "undiscovered": "undiscovered",
    "unavailable": "unavailable",
    "invalid": "invalid_params",
    "denied": "denied",
}
# There is no second validation beside the schema here, so none can throw.
_CASES = [case for case in json.loads(GOLDEN.read_text("utf-8"))["cases"] if case["label"] != "validateInput throws"]


@pytest.mark.parametrize("case", _CASES, ids=lambda case: str(case["label"]))
def test_observed_answers_hold_where_nothing_was_changed_on_purpose(case: Any) -> None:
    """Steps, codes and results are as observed, and where they were changed on purpose they are what was decided."""
    label, order = case["label"], list[str]()

    def check(_params: Any) -> Any:
        order.append("perm")
        if label == "permission updatedInput is ignored":
            return {"behavior": "allow", "updatedInput": {"a": 2}}
        return next((word for word in ("deny", "ask", "passthrough") if f"permission {word}" in label), "allow")

    def enabled() -> bool:
        order.append("isEnabled")
        return bool(label != "disabled")

    def call(params: Any) -> Any:
        if label == "target throws":
            raise ValueError("target failed")
        order.append("call")
        return {"echo": params}

    target = Tool(
        name="X",
        aliases=("OldX",),
        input_schema={"required": ["a"]} if label == "validateInput fails" else None,
        is_enabled=enabled,
        check_permissions=None if label == "no checkPermissions" else check,
        call=call,
    )
    others = [Tool(name="Read", call=call), Tool(name="P", always_load=True, call=call)]
    executor = proxy(target, *others, require_discovery="not discovered" in label, is_discovered=lambda _name: False)
    answer = executor.call(case["input"], enabled="standard mode" not in label)
    if label in _CHANGED:
        assert answer.code == _CHANGED[label]
        assert ("call" in order) == (answer.code is None)
        if label == "permission updatedInput is ignored":
            assert answer.result == {"echo": {"a": 2}}
        return
    observed = case["result"]
    said = {name for message in observed["new_messages"] for name, holds in message.items() if holds} - {"other"}
    assert order == [each for each in case["order"] if each != "validate"]
    assert answer.code == (_CODE_OF[said.pop()] if said else None)
    assert answer.result == observed["data"]["result"]
