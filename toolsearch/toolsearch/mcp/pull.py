"""The tools of many servers at once; a failure of one is told and stops no other."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio
from mcp import MCPError
from pydantic import ValidationError

from toolsearch.catalog.formats import parse_catalog
from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, ServerError
from toolsearch.mcp.failures import in_words
from toolsearch.mcp.listing import list_all
from toolsearch.mcp.server_entry import ServerEntry
from toolsearch.mcp.stderr_tail import StderrTail
from toolsearch.mcp.transports import connect

SERVER_TIMEOUT = 60.0
"""Seconds for one server, from its start to the end of its list."""

PARALLEL = 8
"""Servers that are asked at the same time."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """What came of one server.

    Attributes:
        server: Its name.
        tools: Its tools, in its order; none when it failed.
        failure: What went wrong; None when all went well.
    """

    server: str
    tools: tuple[Tool, ...] = ()
    failure: ServerError | None = None


async def pull(
    entries: Sequence[ServerEntry],
    *,
    timeout: float = SERVER_TIMEOUT,
    parallel: int = PARALLEL,
    progress: Callable[[Pulled], None] | None = None,
) -> tuple[Pulled, ...]:
    """Ask every server for its tools.

    Args:
        entries: The servers; their processes are started, so ask the user before.
        timeout: Seconds for each server.
        parallel: How many are asked at once.
        progress: Called with each outcome as it comes.

    Returns:
        One outcome for each entry, in the order of the entries. A server's own secrets are masked everywhere.
    """
    outcomes: dict[int, Pulled] = {}
    limiter = anyio.CapacityLimiter(parallel)

    async def one(number: int, entry: ServerEntry) -> None:
        async with limiter:
            outcome = await _pull_one(entry, timeout)
        outcomes[number] = outcome
        if progress is not None:
            progress(outcome)

    async with anyio.create_task_group() as tasks:
        for number, entry in enumerate(entries):
            tasks.start_soon(one, number, entry)
    return tuple(outcomes[number] for number in range(len(entries)))


async def _pull_one(entry: ServerEntry, timeout: float) -> Pulled:
    redactor = entry.redactor()
    tail = StderrTail(redactor)
    try:
        with anyio.fail_after(timeout):
            async with connect(entry, stderr=tail, start_timeout=timeout) as session:
                rows = await list_all(session, entry.name, timeout=entry.timeout)
        # A row can't name its owner: the owner is who was asked. What it says is kept under another key.
        own = [
            {
                ("claimed_server" if key == "server" else redactor(key)): redactor.value(value)
                for key, value in row.items()
            }
            for row in rows
        ]
        tools = parse_catalog(json.dumps({"tools": own}), path=entry.name, format="mcp", server=entry.name)
        return Pulled(entry.name, tools)
    except ServerError as error:
        return Pulled(entry.name, failure=error)
    except TimeoutError:
        reason = f"did not list its tools within {timeout:g} seconds"
    except DataError as error:
        reason = "its list can't be used: " + "; ".join(f"{each.field}: {each.message}" for each in error.problems[:3])
    except (MCPError, ValidationError, OSError) as error:
        reason = in_words(error, mask=redactor)
        reason = f"asked for its tools, it {reason}" if isinstance(error, MCPError) else reason
    return Pulled(entry.name, failure=ServerError(entry.name, redactor(reason), tail.text()))
