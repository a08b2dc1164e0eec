"""All tools of a server, page by page to the end, as the server sent them."""

from __future__ import annotations

from typing import Any

from mcp import ClientSession
from mcp_types import ListToolsRequest, PaginatedRequestParams
from pydantic import BaseModel, Field

from toolsearch.errors import ServerError

MAX_PAGES = 1000
"""Pages of one list; the largest servers known need a few dozen."""

MAX_TOOLS = 100_000
"""Tools of one server; no catalog that a model could use is near it."""


class _Page(BaseModel):
    """A page whose rows stay as they came: the library's own types keep only the fields that they know."""

    tools: list[dict[str, Any]]
    cursor: str | None = Field(default=None, alias="nextCursor")


async def list_all(
    session: ClientSession,
    server: str,
    *,
    timeout: float | None = None,
    max_pages: int = MAX_PAGES,
    max_tools: int = MAX_TOOLS,
) -> list[dict[str, Any]]:
    """The rows of `tools/list`, in the server's order, with every field that it sent; empty when it has no tools.

    Args:
        session: A connection that is ready.
        server: The server's name, for errors.
        timeout: Seconds for one page.
        max_pages: More pages are an error.
        max_tools: More tools are an error.

    Raises:
        ServerError: The list has no end: a cursor comes again, or a bound is passed. Never a part of the list.
        MCPError: The server answers with an error.
    """
    capabilities = session.server_capabilities
    if capabilities is not None and capabilities.tools is None:
        return []
    rows: list[dict[str, Any]] = []
    seen: set[str] = set()
    cursor: str | None = None
    for _ in range(max_pages):
        request = ListToolsRequest(params=PaginatedRequestParams(cursor=cursor) if cursor is not None else None)
        page = await session.send_request(request, _Page, request_read_timeout_seconds=timeout)
        rows += page.tools
        if len(rows) > max_tools:
            raise ServerError(server, f"lists more than {max_tools} tools")
        cursor = page.cursor
        if cursor is None:
            return rows
        if cursor in seen:
            raise ServerError(server, f"its list of tools has no end: a cursor came again after {len(rows)} tools")
        seen.add(cursor)
    raise ServerError(server, f"its list of tools has no end: {max_pages} pages were read and there are more")
