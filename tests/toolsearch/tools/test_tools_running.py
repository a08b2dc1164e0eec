"""Targets run from sync and async code: time limits, cancellation, context."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.tools.execute_tool import ExecuteTool
from toolsearch.tools.execution import Execution
from toolsearch.tools.permissions import PermissionAnswer, PermissionRequest

CALL: dict[str, Any] = {"tool_name": "x", "params": {"a": 1}}
TENANT: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="none")


def proxy(call: Any, **settings: Any) -> ExecuteTool:
    """The proxy over one tool."""
    check = settings.pop("check", None)
    return ExecuteTool(ToolRegistry([Tool(name="x", call=call, check_permissions=check)]), **settings)


def both_ways(executor: ExecuteTool, **options: Any) -> list[Execution]:
    """The answers from plain code, from a coroutine, and from plain code while a loop is running."""

    async def inside() -> list[Execution]:
        return [await executor.call_async(CALL, **options), executor.call(CALL, **options)]

    return [executor.call(CALL, **options), *asyncio.run(inside())]


def sync_target(params: dict[str, Any]) -> Any:
    """Gives its arguments."""
    return params


async def async_target(params: dict[str, Any]) -> Any:
    """Gives its arguments after a turn of the loop."""
    await asyncio.sleep(0)
    return params


class AsyncObject:
    """An object that is called as a coroutine function."""

    async def __call__(self, params: dict[str, Any]) -> Any:
        """Give the arguments."""
        return params


@pytest.mark.parametrize("target", [sync_target, async_target, AsyncObject(), lambda params: async_target(params)])
@pytest.mark.parametrize("timeout", [None, 60.0])
def test_any_target_runs_from_anywhere(target: Any, timeout: float | None) -> None:
    """Sync and async targets give the same from sync code, async code, and sync code under a running loop."""
    assert [answer.result for answer in both_ways(proxy(target), timeout=timeout)] == [{"a": 1}] * 3


def test_checks_and_callbacks_may_be_async() -> None:
    """An async permission check and an async callback are waited for, from everywhere."""
    asked: list[str] = []

    async def check(_params: Any) -> str:
        return "ask"

    async def ask(request: PermissionRequest) -> PermissionAnswer:
        asked.append(request.tool_name)
        return PermissionAnswer(True, updated_input={"a": 2})

    answers = both_ways(proxy(sync_target, check=check, ask=ask))
    assert [answer.result for answer in answers] == [{"a": 2}] * 3
    assert asked == ["x"] * 3


@pytest.mark.parametrize("is_async", [False, True])
def test_a_target_that_takes_too_long_is_given_up(is_async: bool) -> None:
    """Over the limit the answer is a timeout that names the limit, although the target never ends by itself."""
    release = threading.Event()

    async def forever(_params: Any) -> None:
        await asyncio.Event().wait()

    answers = both_ways(proxy(forever if is_async else lambda _params: release.wait(), timeout=0.05))
    release.set()
    assert [answer.code for answer in answers] == ["timeout"] * 3
    assert all("0.05 seconds" in answer.text for answer in answers)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_host_cancels_by_its_event(is_async: bool) -> None:
    """Setting the event ends the call with the code `cancelled`, before it began or midway."""
    release = threading.Event()
    for early in (True, False):
        for way in range(3):
            cancel = threading.Event()

            async def waiting(_params: Any, event: threading.Event = cancel) -> None:
                event.set()
                await asyncio.Event().wait()

            def blocking(_params: Any, event: threading.Event = cancel) -> None:
                event.set()
                release.wait()

            if early:
                cancel.set()
            executor = proxy(waiting if is_async else blocking)

            async def under_a_loop(one: ExecuteTool = executor, event: threading.Event = cancel) -> Execution:
                return one.call(CALL, cancel=event)

            if way == 0:
                answer = executor.call(CALL, cancel=cancel)
            else:
                answer = asyncio.run(executor.call_async(CALL, cancel=cancel) if way == 1 else under_a_loop())
            assert answer.code == "cancelled"
    release.set()


def test_cancelling_the_callers_task_cancels_the_target() -> None:
    """The caller's own cancellation goes up as such, and the target's clean-up runs."""
    seen: list[str] = []

    async def target(_params: Any) -> None:
        seen.append("began")
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("cleaned up")

    async def main() -> None:
        task = asyncio.create_task(proxy(target).call_async(CALL))
        while not seen:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        assert task.cancelled()

    asyncio.run(main())
    assert seen == ["began", "cleaned up"]


def test_a_target_that_cancels_itself_is_an_answer() -> None:
    """A cancellation from inside of the target is the code `cancelled`, not an exception in the loop."""

    async def target(_params: Any) -> None:
        raise asyncio.CancelledError

    assert [answer.code for answer in both_ways(proxy(target))] == ["cancelled"] * 3


@pytest.mark.parametrize(
    "error", [TimeoutError("slow upstream"), StopIteration("odd"), ExceptionGroup("many", [OSError()])]
)
@pytest.mark.parametrize("timeout", [None, 60.0])
def test_an_exception_of_any_kind_is_the_targets(error: Exception, timeout: float | None) -> None:
    """Also a timeout of the target itself, or an exception that coroutines treat apart, is a failure of the tool."""

    def target(_params: Any) -> None:
        raise error

    answers = both_ways(proxy(target), timeout=timeout)
    assert [answer.code for answer in answers] == ["tool_error"] * 3
    assert all(str(error.args[0]) in answer.text for answer in answers)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_stop_of_the_program_leaves_the_coroutine(error: type[BaseException]) -> None:
    """An interrupt inside of a target that runs in a thread reaches whoever runs the loop."""

    def target(_params: Any) -> None:
        raise error

    with pytest.raises(error):
        asyncio.run(proxy(target).call_async(CALL))


def test_the_context_goes_to_targets_that_take_one() -> None:
    """A function with a `context`, or with any names, gets it; all others are called with their arguments alone."""
    context = {"tenant": "t1"}

    def by_name(_params: Any, *, context: Any) -> Any:
        return context

    def any_names(_params: Any, **named: Any) -> Any:
        return named["context"]

    def first(context: Any) -> Any:
        return context

    def only_by_place(params: Any, context: Any = "own", /) -> Any:
        return (params, context)

    for target, wanted in (
        (by_name, context),
        (any_names, context),
        (first, {"a": 1}),
        (only_by_place, ({"a": 1}, "own")),
    ):
        for answer in both_ways(proxy(target), context=context):
            assert answer.result == wanted, answer.text
            assert target is not by_name or answer.result is context


def test_context_variables_of_the_caller_are_seen() -> None:
    """What the caller has set is seen by the target, in its own thread, in another one, and in a loop."""

    async def async_reader(_params: Any) -> str:
        return TENANT.get()

    token = TENANT.set("t1")
    try:
        for target in (lambda _params: TENANT.get(), async_reader):
            for timeout in (None, 60.0):
                assert [each.result for each in both_ways(proxy(target), timeout=timeout)] == ["t1"] * 3
    finally:
        TENANT.reset(token)


def test_a_slow_sync_target_does_not_stop_the_loop() -> None:
    """While a sync target blocks its thread the loop goes on, and can be what ends it."""
    release = threading.Event()

    async def main() -> Execution:
        call = asyncio.create_task(proxy(lambda _params: release.wait(60)).call_async(CALL))
        await asyncio.sleep(0)
        release.set()
        return await call

    assert asyncio.run(main()).result is True


def test_many_calls_run_side_by_side() -> None:
    """Calls of one proxy from several threads and coroutines don't mix up their arguments."""
    executor = proxy(async_target)

    async def main() -> list[Execution]:
        calls = [executor.call_async({"tool_name": "x", "params": {"n": number}}) for number in range(50)]
        return list(await asyncio.gather(*calls))

    assert [answer.result for answer in asyncio.run(main())] == [{"n": number} for number in range(50)]
