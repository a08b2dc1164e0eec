"""The answers to calls that were not permitted, or that were run and failed; nothing of them is a traceback."""

from __future__ import annotations

import asyncio

from toolsearch.catalog.tool import Tool
from toolsearch.tools.execution import Execution, failed, reason_of, shown_message
from toolsearch.tools.running import Cancelled, TimedOut
from toolsearch.tools.untrusted import shown_name


def denied(tool: Tool, why: str) -> Execution:
    """The answer to a call that is not permitted, with the reason that was given."""
    reason = f": {shown_message(why)}" if why else "."
    return failed(tool.name, "denied", f"{shown_name(tool.name)} is not permitted{reason}")


def permission_failed(tool: Tool, error: BaseException) -> Execution:
    """The answer where the check or the callback failed: nothing was allowed."""
    message = f"{shown_name(tool.name)} is not permitted: its permission check failed: {reason_of(error)}"
    return failed(tool.name, "denied", message)


def stopped(tool: Tool, error: BaseException, limit: float | None, warnings: tuple[str, ...]) -> Execution:
    """The answer where the target was run and did not end well: too late, cancelled, or by an exception."""
    name = shown_name(tool.name)
    if isinstance(error, TimedOut):
        seconds = limit if error.seconds is None else error.seconds
        return failed(tool.name, "timeout", f"{name} took longer than {seconds:g} seconds.", warnings=warnings)
    if isinstance(error, Cancelled | asyncio.CancelledError):
        return failed(tool.name, "cancelled", f"the call of {name} was cancelled.", warnings=warnings)
    return failed(tool.name, "tool_error", f"{name} failed: {reason_of(error)}", warnings=warnings)
