"""One call of a server's tool: bounded in time, its answer handed back whole, its failure without a secret."""

from __future__ import annotations

from typing import Any

import anyio
from mcp import MCPError
from mcp_types import CallToolRequest, CallToolRequestParams
from pydantic import ValidationError

from toolsearch.errors import ServerError, ToolSearchError
from toolsearch.mcp.failures import in_words, is_closed
from toolsearch.mcp.link import Link
from toolsearch.mcp.redaction import Redactor
from toolsearch.mcp.relay import RawResult, Relay
from toolsearch.tools.running import TimedOut


class Lost(ToolSearchError):
    """The connection to a server has ended."""


async def call_tool(
    link: Link, server: str, leaf: str, params: dict[str, Any], relay: Relay | None, *, limit: float
) -> dict[str, Any]:
    """Call a tool over a connection.

    Args:
        link: The connection.
        server: The server's name, for errors.
        leaf: The tool's own name.
        params: Its arguments.
        relay: Takes progress and the answer; None where nobody wants them.
        limit: Seconds for the answer; each progress that the client asked for begins them anew.

    Returns:
        The result as the server sent it; where it says that it has failed, without the secrets of the server's entry.

    Raises:
        Lost: The connection ended before the answer; whether the tool has run is not known then.
        TimedOut: The limit has passed.
        mcp.MCPError: The server answered with an error.
        ServerError: What it answered is no result.
    """
    meta: Any = dict(relay.meta) if relay is not None and relay.meta else None
    request = CallToolRequest(params=CallToolRequestParams(name=leaf, arguments=params, _meta=meta))
    with anyio.move_on_after(limit) as scope:

        async def told(progress: float, total: float | None, message: str | None) -> None:
            scope.deadline = anyio.current_time() + limit
            if relay is not None and relay.progress is not None:
                await relay.progress(progress, total, message)

        wanted = relay is not None and relay.progress is not None
        try:
            answer = await link.session.send_request(request, RawResult, progress_callback=told if wanted else None)
        except MCPError as error:
            if is_closed(error):
                raise Lost("the connection to its server ended before it answered; it may have run or not.") from None
            raise _masked(error, link.redactor) from None
        except ValidationError as error:
            raise ServerError(server, in_words(error, mask=link.redactor)) from None
        result = answer.as_sent()
        if result.get("isError"):
            result = {key: link.redactor.value(value) for key, value in result.items()}
        if relay is not None:
            relay.result = result
        return result
    raise TimedOut(limit)


def _masked(error: MCPError, redactor: Redactor) -> MCPError:
    message, data = redactor(error.message), redactor.value(error.data)
    return error if (message, data) == (error.message, error.data) else MCPError(error.code, message, data)
