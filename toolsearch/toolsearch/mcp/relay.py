"""What goes with a call through the gateway, and what comes back by it: progress, meta data, the answer as it came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp import MCPError
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import Result
from pydantic import ConfigDict

_OURS = "io.modelcontextprotocol/"
"""Begins the keys by which a client describes its own connection; what lies behind is another connection."""


class RawResult(Result):
    """A result of which every field is kept as it came, also those that this version of the library does not know."""

    model_config = ConfigDict(extra="allow")

    def as_sent(self) -> dict[str, Any]:
        """The result as it stood in the message."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


@dataclass(slots=True)
class Relay:
    """One call on its way through.

    Attributes:
        progress: Told the progress of the call; None where the client did not ask for it.
        meta: What the client put beside its arguments, for the server.
        result: The server's answer, unchanged; None while there is none.
        error: The error that the server answered with instead; None without one.
    """

    progress: ProgressFnT | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] | None = None
    error: MCPError | None = None


def passed_meta(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """The part of a request's meta data that is for the server behind: all but what belongs to this connection.

    >>> passed_meta({"progressToken": 7, "io.modelcontextprotocol/clientInfo": {}, "trace": "a"})
    {'trace': 'a'}
    """
    # The token of progress names a request of the client; towards the server each request has one of its own.
    return {
        key: value
        for key, value in (meta or {}).items()
        if key not in ("progressToken", "progress_token") and not key.startswith(_OURS)
    }
