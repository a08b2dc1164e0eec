"""The tools of a server as the catalog holds them, read from its list page by page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mcp import ClientSession
from mcp_types import ListToolsRequest, PaginatedRequestParams

from toolsearch.catalog.names import shown
from toolsearch.catalog.rows import read_row
from toolsearch.catalog.tool import Tool, tool_id
from toolsearch.errors import ToolSearchError
from toolsearch.mcp.redaction import Redactor
from toolsearch.mcp.relay import RawResult, Relay

MOST_PAGES = 1000
"""A list that is longer than this many pages never ends."""

_CALLED_BY = frozenset({"required", "enum", "const"})

CallTool = Callable[[str, dict[str, Any], Relay | None], Awaitable[dict[str, Any]]]
"""Calls a server's tool by its own name."""


class ListError(ToolSearchError):
    """A list of tools that can't be read to its end."""


@dataclass(frozen=True, slots=True)
class Target:
    """Runs one tool of a server; what the catalog holds as the tool's function.

    Attributes:
        leaf: The tool's name at its server.
        run: Calls it.
    """

    leaf: str
    run: CallTool

    async def __call__(self, params: dict[str, Any], *, context: Relay | None = None) -> dict[str, Any]:
        """Call the tool; with a relay, progress and the answer go through it too."""
        return await self.run(self.leaf, params, context)


@dataclass(frozen=True, slots=True)
class Listed:
    """What a server says it has.

    Attributes:
        tools: In the order of the list.
        definitions: Each tool as the server described it, by its own name.
        warnings: What of the list could not be taken, a line each.
    """

    tools: tuple[Tool, ...]
    definitions: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...]


async def read_list(session: ClientSession) -> tuple[Mapping[str, Any], ...]:
    """Every row of a server's list of tools, as it came.

    Raises:
        ListError: The pages go round in a circle, or don't end.
        mcp.MCPError: The server answered with an error, or went away.
        pydantic.ValidationError: What it answered is no list of tools.
    """
    rows: list[Mapping[str, Any]] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MOST_PAGES):
        params = PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        # Through the raw result, so that what a newer protocol says of a tool reaches the client too.
        page = (await session.send_request(ListToolsRequest(params=params), RawResult)).as_sent()
        rows += page.get("tools", [])
        cursor = page.get("nextCursor")
        if cursor is None:
            return tuple(rows)
        if cursor in seen:
            raise ListError(f"its list of tools goes round in a circle: the cursor {shown(cursor)} came twice.")
        seen.add(cursor)
    raise ListError(f"its list of tools has not ended after {MOST_PAGES} pages.")


def masked_row(row: Mapping[str, Any], redactor: Redactor) -> Mapping[str, Any]:
    """A row of a list without the secrets of the server's entry; equal to it when it holds none.

    Servers do repeat them: as the default of a parameter, or in a description. What a call needs to be the server's own
    stays as it is: the tool's name, the names of parameters, and the values that they may have.

    >>> masked_row({"name": "ask", "description": "Asks with hunter22."}, Redactor(["hunter22"]))
    {'name': 'ask', 'description': 'Asks with [redacted].'}
    """
    return {key: value if key == "name" else _masked(key, value, redactor) for key, value in row.items()}


def _masked(key: str, value: Any, redactor: Redactor) -> Any:
    if key in _CALLED_BY and isinstance(value, list | str):
        return value
    if isinstance(value, Mapping):
        return {inner: _masked(inner, each, redactor) for inner, each in value.items()}
    if isinstance(value, list):
        return [_masked("", each, redactor) for each in value]
    return redactor(value) if isinstance(value, str) else value


def as_tools(server: str, rows: Iterable[Mapping[str, Any]], run: CallTool) -> Listed:
    """The rows of a list as tools of the catalog.

    A tool is called `mcp__<server>__<name>` whatever other servers have, so that a server that comes later changes no
    name. Whether it is always loaded is for the operator to say, not for the server.

    Args:
        server: Its name in the configuration.
        rows: From `read_list`.
        run: Calls one of its tools.
    """
    tools: list[Tool] = []
    definitions: dict[str, Mapping[str, Any]] = {}
    warnings: list[str] = []
    for row in rows:
        faults: list[str] = []

        def note(field: str, message: str, faults: list[str] = faults) -> None:
            faults.append(f"{field} {message}")

        tool = read_row(dict(row), "mcp", server, note)
        name = shown(str(row.get("name")))
        if tool is None:
            warnings.append(f"tool {name} of server {shown(server)} is left out: {'; '.join(faults)}")
        elif tool.name in definitions:
            warnings.append(f"tool {name} of server {shown(server)} is listed twice; the first one is kept")
        else:
            definitions[tool.name] = row
            tools.append(
                replace(
                    tool,
                    name=tool_id(server, tool.name),
                    leaf=tool.name,
                    server=server,
                    always_load=False,
                    call=Target(tool.name, run),
                )
            )
    return Listed(tuple(tools), definitions, tuple(warnings))
