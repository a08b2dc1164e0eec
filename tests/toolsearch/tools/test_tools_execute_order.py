"""The steps of the proxy in their order: the first failure ends the call, and nothing later is even looked at."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.tools.execute_tool import ExecuteTool
from toolsearch.tools.execution import Execution
from toolsearch.tools.permissions import PermissionRequest
from toolsearch.tools.servers import ServerStatus

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
RIGHT: dict[str, Any] = {"tool_name": "mcp__box__put", "params": {"n": 1}}

# Every kind of failure there is, in the order of the steps: its code, what brings it about, and the steps before it.
FAILURES: list[tuple[str, str, list[str]]] = [
    ("switched off", "disabled", []),
    ("unreadable", "unreadable_arguments", ["servers"]),
    ("undiscovered", "undiscovered", ["servers", "discovered", "shown"]),
    ("server away", "unavailable", ["servers", "discovered", "servers"]),
    ("not enabled", "unavailable", ["servers", "discovered", "servers", "enabled"]),
    ("wrong arguments", "invalid_params", ["servers", "discovered", "servers", "enabled", "shown"]),
    ("asks in vain", "denied", ["servers", "discovered", "servers", "enabled", "check", "ask"]),
    ("target fails", "tool_error", ["servers", "discovered", "servers", "enabled", "check", "ask", "call"]),
]


def execute(faults: set[str], *, is_async: bool) -> tuple[Execution, list[str]]:
    """A call in which all of these go wrong, and the steps that were taken."""
    steps: list[str] = []

    def servers() -> Mapping[str, ServerStatus]:
        steps.append("servers")
        return {"box": ServerStatus("failed" if "server away" in faults else "connected")}

    def is_discovered(_name: str) -> bool:
        steps.append("discovered")
        return "undiscovered" not in faults

    def enabled() -> bool:
        steps.append("enabled")
        return "not enabled" not in faults

    def check(_params: Any) -> str:
        steps.append("check")
        return "ask"

    def ask(_request: PermissionRequest) -> bool:
        steps.append("ask")
        return "asks in vain" not in faults

    def call(params: Mapping[str, Any]) -> Any:
        steps.append("call")
        if "target fails" in faults:
            raise ValueError("no")
        return params["n"]

    tool = Tool(
        name="mcp__box__put",
        server="box",
        input_schema=SCHEMA,
        is_enabled=enabled,
        check_permissions=check,
        call=call,
    )
    executor = ExecuteTool(
        ToolRegistry([tool]),
        servers=servers,
        require_discovery=True,
        is_discovered=is_discovered,
        mark_discovered=lambda _name: steps.append("shown"),
        ask=ask,
    )
    arguments = dict(RIGHT)
    if "wrong arguments" in faults:
        arguments["params"] = {"n": "one"}
    if "unreadable" in faults:
        arguments["params"] = "n = 1"
    options: dict[str, Any] = {"enabled": "switched off" not in faults}
    if is_async:
        return asyncio.run(executor.call_async(arguments, **options)), steps
    return executor.call(arguments, **options), steps


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("number", range(len(FAILURES)), ids=[each[0] for each in FAILURES])
def test_the_first_failure_ends_the_call(number: int, is_async: bool) -> None:
    """Where everything from a step on goes wrong, that step's code is the answer and no later step is taken."""
    _, code, before = FAILURES[number]
    answer, steps = execute({each[0] for each in FAILURES[number:]}, is_async=is_async)
    assert answer.code == code
    assert [step for step in steps if step != "shown"] == [step for step in before if step != "shown"]
    # An unreadable call shows the schema too, so that the next one can be right.
    assert ("shown" in steps) == (code in ("unreadable_arguments", "undiscovered", "invalid_params"))


@pytest.mark.parametrize("is_async", [False, True])
def test_a_call_without_a_fault_takes_every_step_once(is_async: bool) -> None:
    """Discovered, enabled, valid, permitted, called: in this order, and with the result at the end."""
    answer, steps = execute(set(), is_async=is_async)
    assert (answer.result, answer.code) == (1, None)
    assert steps == ["servers", "discovered", "servers", "enabled", "check", "ask", "call"]


def test_a_no_wins_over_a_rewritten_input_that_does_not_fit() -> None:
    """A check that denies is a denial with its own words, whatever it wrote beside it."""
    said = {"behavior": "deny", "message": "not on Sundays", "updated_input": {"n": "one"}}
    tool = Tool(name="put", input_schema=SCHEMA, check_permissions=lambda _params: said, call=lambda _params: 1)
    answer = ExecuteTool(ToolRegistry([tool])).call({"tool_name": "put", "params": {"n": 1}})
    assert answer.code == "denied"
    assert "not on Sundays" in answer.text


def test_what_the_host_does_to_what_it_is_shown_does_not_run() -> None:
    """A callback that hides a value on its screen has not changed the call; only a rewritten input does."""

    def ask(request: PermissionRequest) -> bool:
        assert isinstance(request.params, dict)
        request.params["secret"] = "***"
        return True

    ran: list[Any] = []
    says: list[Any] = ["ask", {"behavior": "ask", "updated_input": {"secret": "b"}}]
    tool = Tool(name="put", check_permissions=lambda _params: says.pop(0), call=ran.append)
    executor = ExecuteTool(ToolRegistry([tool]), ask=ask)
    for _ in range(2):
        executor.call({"tool_name": "put", "params": {"secret": "a"}})
    assert ran == [{"secret": "a"}, {"secret": "b"}]


class Unreadable:
    """An answer that can't even be looked at."""

    def __bool__(self) -> bool:
        """Raise."""
        raise ValueError("no truth in it")

    def __str__(self) -> str:
        """Raise."""
        raise ValueError("no words in it")


def _cancels(*_arguments: Any) -> Any:
    raise asyncio.CancelledError


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("answer", [_cancels, Unreadable, lambda: (False, Unreadable())])
def test_an_is_enabled_that_makes_no_sense_is_unavailable(answer: Any, is_async: bool) -> None:
    """Whatever the check gives or raises is an answer and never an exception in the loop."""
    executor = ExecuteTool(ToolRegistry([Tool(name="put", is_enabled=answer, call=lambda _params: 1)]))
    call = {"tool_name": "put", "params": {}}
    got = asyncio.run(executor.call_async(call)) if is_async else executor.call(call)
    assert (got.code, got.result) == ("unavailable", None)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("where", ["check", "async check", "ask"])
def test_a_check_that_cancels_itself_is_a_no(where: str, is_async: bool) -> None:
    """A cancellation that comes from inside of the check or the callback denies; nobody cancelled the caller."""

    async def cancels_later(_params: Any) -> Any:
        raise asyncio.CancelledError

    checks: dict[str, Any] = {"check": _cancels, "async check": cancels_later, "ask": lambda _params: "ask"}
    tool = Tool(name="put", check_permissions=checks[where], call=lambda _params: 1)
    executor = ExecuteTool(ToolRegistry([tool]), ask=_cancels)
    call = {"tool_name": "put", "params": {}}
    got = asyncio.run(executor.call_async(call)) if is_async else executor.call(call)
    assert (got.code, got.result) == ("denied", None)


def test_cancelling_the_caller_while_it_is_asked_reaches_the_caller() -> None:
    """The host's own cancellation is not turned into a denial, and the target never runs."""
    ran: list[Any] = []

    async def main() -> None:
        asked = asyncio.Event()

        async def ask(_request: PermissionRequest) -> bool:
            asked.set()
            await asyncio.Event().wait()
            return True

        tool = Tool(name="put", check_permissions=lambda _params: "ask", call=ran.append)
        task = asyncio.create_task(
            ExecuteTool(ToolRegistry([tool]), ask=ask).call_async({"tool_name": "put", "params": {}})
        )
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ran == []


@pytest.mark.parametrize("used", [0, 300, 600, 750, 800, 820, 840, 860, 880, 900, 920, 940])
def test_deep_arguments_are_answered_wherever_the_host_stands_on_its_stack(used: int) -> None:
    """Arguments of any depth are refused or read with the stack that is left; no exception comes out of it."""
    executor = ExecuteTool(ToolRegistry([Tool(name="put", call=lambda _params: 1)]))

    def deeper(frames: int, arguments: Any) -> Execution:
        return executor.call(arguments) if frames == 0 else deeper(frames - 1, arguments)

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 1_000)
    try:
        for levels in (10, 30, 40, 50, 60, *range(100, 1_000, 100)):
            value: Any = 1
            for _ in range(levels):
                value = {"a": value}
            for arguments in ({"tool_name": "put", "params": value}, {"tool_name": "put", **value, "b.c": 1}):
                answer = deeper(used, arguments)
                assert answer.result == 1 or answer.code in ("invalid_params", "unreadable_arguments")
    finally:
        sys.setrecursionlimit(before)
