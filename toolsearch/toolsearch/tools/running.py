"""Runs a tool's function, sync or async, from either world: with a time limit, a way to stop it, and its context."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

Value = TypeVar("Value")

_POLL = 0.02
"""Seconds between two looks at whether a call was cancelled."""


class TimedOut(Exception):
    """The function took longer than it may: than its caller gave it, or than the seconds of a limit of its own."""

    def __init__(self, seconds: float | None = None) -> None:
        """Take the seconds where the limit was the function's own."""
        super().__init__(seconds)
        self.seconds = seconds


class Cancelled(Exception):
    """The host cancelled the call, or the function was cancelled."""


def bound_call(call: Callable[..., Any], params: dict[str, Any], context: Any) -> Callable[[], Any]:
    """The call with its arguments, and with the caller's context where the function takes one by that name."""
    if context is not None and _takes_context(call):
        return lambda: call(params, context=context)
    return lambda: call(params)


def finish(value: Any) -> Any:
    """The value itself, or what an awaitable comes to, from sync code; also where a loop is running in this thread."""
    if not inspect.isawaitable(value):
        return value
    return _in_own_loop(lambda: _awaited(value), timeout=None, cancel=None)


def run_sync(function: Callable[[], Any], *, timeout: float | None, cancel: threading.Event | None) -> Any:
    """Run a function to its end from sync code.

    Without a limit it runs in this thread. With one, or with an event, it runs in a thread of its own: a sync function
    that is given up goes on there until it ends by itself, as Python can't stop it; an async one is cancelled.

    Args:
        function: What to run; what it gives may be awaitable.
        timeout: Seconds, or None.
        cancel: Set by the host to give up the call; None for no such way.

    Raises:
        TimedOut: It took longer.
        Cancelled: The event was set, or the function was cancelled.
    """
    if cancel is not None and cancel.is_set():
        raise Cancelled
    if timeout is None and cancel is None:
        value = function()
        return finish(value) if inspect.isawaitable(value) else value

    async def both() -> Any:
        return await run_async(function, timeout=None, cancel=None, in_thread=False)

    return _in_own_loop(both, timeout=timeout, cancel=cancel)


async def run_async(
    function: Callable[[], Any], *, timeout: float | None, cancel: threading.Event | None, in_thread: bool = True
) -> Any:
    """Run a function to its end from async code.

    Args:
        function: What to run; a sync one runs in a thread, so that the loop goes on.
        timeout: Seconds, or None.
        cancel: As for `run_sync`.
        in_thread: Whether a sync function runs in a thread of its own.

    Raises:
        TimedOut: It took longer.
        Cancelled: The event was set, or the function was cancelled; not where the caller's own task was.
    """
    if cancel is not None and cancel.is_set():
        raise Cancelled

    async def work() -> Any:
        try:
            value = await _in_thread(function) if in_thread else function()
        except StopIteration as error:  # can't leave a coroutine; its message would be lost
            raise RuntimeError(f"StopIteration: {error}") from None
        return await value if inspect.isawaitable(value) else value

    task = asyncio.ensure_future(work())
    waited = 0.0
    try:
        while True:
            step = _POLL if cancel is not None else None
            if timeout is not None:
                step = min(timeout - waited, step) if step is not None else timeout
            done, _ = await asyncio.wait({task}, timeout=None if step is None else max(0.0, step))
            if done:
                break
            waited += step or 0.0
            if cancel is not None and cancel.is_set():
                raise Cancelled
            if timeout is not None and waited >= timeout:
                raise TimedOut
    finally:
        if not task.done():
            task.cancel()
            task.add_done_callback(_read_outcome)
    try:
        return task.result()
    except asyncio.CancelledError:
        raise Cancelled from None


def is_async(call: Callable[..., Any]) -> bool:
    """Whether calling the function gives an awaitable at once, so that no thread is needed to keep a loop going."""
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__)


async def _in_thread(function: Callable[[], Any]) -> Any:
    """What a function gives in a daemon thread with the caller's context variables.

    Not the loop's own pool: its threads are waited for when the loop ends, and a stuck one would hold the program.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if outcome.cancelled():
            return
        if error is None:
            outcome.set_result(value)
        elif isinstance(error, StopIteration):  # can't be set on a future
            outcome.set_exception(RuntimeError(f"StopIteration: {error}"))
        else:
            outcome.set_exception(error)

    def work() -> None:
        value, failure = None, None
        try:
            value = function()
        except BaseException as error:
            failure = error
        try:
            loop.call_soon_threadsafe(settle, value, failure)
        except RuntimeError:  # the loop has ended; nobody waits any more
            return

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), daemon=True, name="tool call").start()
    return await outcome


async def _awaited(value: Awaitable[Value]) -> Value:
    return await value


def _in_own_loop(
    make: Callable[[], Awaitable[Value]], *, timeout: float | None, cancel: threading.Event | None
) -> Value:
    """Run a coroutine in a loop of its own: in this thread if it can be, else in another one."""
    if timeout is None and cancel is None and not _loop_is_running():
        return asyncio.run(_awaited(make()))
    outcome: list[Value] = []
    failure: list[BaseException] = []
    ready = threading.Event()
    stop: list[Callable[[], object]] = []

    async def main() -> Value:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        stop.append(lambda: loop.call_soon_threadsafe(task.cancel) if task else None)
        return await make()

    def work() -> None:
        try:
            outcome.append(asyncio.run(main()))
        except BaseException as error:
            failure.append(error)
        finally:
            ready.set()

    context = contextvars.copy_context()
    # A daemon: a sync function that never ends must not keep the process from ending.
    threading.Thread(target=context.run, args=(work,), daemon=True, name="tool call").start()
    waited = 0.0
    try:
        while not ready.wait(_step(timeout, waited, cancel)):
            waited += _step(timeout, waited, cancel) or 0.0
            if cancel is not None and cancel.is_set():
                raise Cancelled
            if timeout is not None and waited >= timeout:
                raise TimedOut
    except BaseException:  # also where the user interrupts the program
        _give_up(stop)
        raise
    if failure and isinstance(failure[0], asyncio.CancelledError):
        raise Cancelled from None
    if failure:
        raise failure[0]
    return outcome[0]


def _step(timeout: float | None, waited: float, cancel: threading.Event | None) -> float | None:
    left = None if timeout is None else max(0.0, timeout - waited)
    if cancel is None:
        return left
    return _POLL if left is None else min(_POLL, left)


def _give_up(stop: list[Callable[[], object]]) -> None:
    for each in stop:
        try:
            each()
        except RuntimeError:  # it ended just now, and its loop is closed
            continue


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _read_outcome(task: asyncio.Future[Any]) -> None:
    # What comes after the call was given up is nobody's; unread, it would be told as an error of the loop.
    if not task.cancelled():
        task.exception()


def _takes_context(call: Callable[..., Any]) -> bool:
    """Whether the function has a `context` that can be given by name, or takes any; the first one is the arguments'."""
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except (TypeError, ValueError):
        return False
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return any(
        each.kind is each.VAR_KEYWORD
        or (each.name == "context" and each.kind in by_name and (place > 0 or each.kind is each.KEYWORD_ONLY))
        for place, each in enumerate(parameters)
    )
