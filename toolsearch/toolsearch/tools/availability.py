"""Whether a tool can run now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.tools.execution import Execution, failed, reason_of, shown_message
from toolsearch.tools.running import finish
from toolsearch.tools.servers import ServerStatus, is_reachable
from toolsearch.tools.untrusted import shown_name


def unavailable(tool: Tool, servers: Mapping[str, ServerStatus]) -> Execution | None:
    """Why the tool can't run now, or None if it can: its server, a missing function, or its own `is_enabled`."""
    name = shown_name(tool.name)
    if not is_reachable(tool.server, servers) and tool.server is not None:
        status = servers[tool.server]
        words = {
            "pending": "is still connecting; try again in a moment",
            "failed": "could not be reached",
            "disconnected": "is not connected now; it may come back",
            "disabled": "is disabled",
        }[status.state]
        why = f": {shown_message(status.reason)}" if status.reason else ""
        message = f"{name} can't run: its server {shown_name(tool.server)} {words}{why}."
        return failed(tool.name, "disabled" if status.state == "disabled" else "unavailable", message)
    if tool.call is None:
        message = f"{name} comes from a catalog without functions: it can be found, but there is nothing to run."
        return failed(tool.name, "unavailable", message)
    if tool.is_enabled is None:
        return None
    try:
        enabled, reason = _said(finish(tool.is_enabled()))
    except (Exception, asyncio.CancelledError) as error:  # the check is someone else's, and so is what it gives
        return failed(tool.name, "unavailable", f"{name} can't say whether it can run: {reason_of(error)}")
    if enabled:
        return None
    why = f": {shown_message(reason)}" if reason.strip() else " now."
    return failed(tool.name, "unavailable", f"{name} can't run{why}")


def _said(answer: Any) -> tuple[bool, str]:
    """The answer and the reason: some checks give the reason beside the answer, or the reason alone."""
    if isinstance(answer, tuple) and len(answer) == 2:
        return bool(answer[0]), str(answer[1])
    return (False, answer) if isinstance(answer, str) else (bool(answer), "")
