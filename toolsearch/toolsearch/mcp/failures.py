"""What went wrong with a server, in words that say what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import httpx2
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED
from pydantic import ValidationError

_CLOSED = "Connection closed"
"""The library's own words."""

_STATUS = {
    400: "check the address",
    401: "check the headers, for instance Authorization",
    403: "check the headers, for instance Authorization",
    404: "check the address",
    405: "the address is not one of a server over streamable HTTP",
    406: "the address is not one of a server over streamable HTTP",
    429: "too many requests; try again later",
}


def is_closed(error: MCPError) -> bool:
    """Whether a request failed since the connection has ended: a server may use the same code for errors of its own.

    >>> is_closed(MCPError(-32000, "Connection closed")), is_closed(MCPError(-32000, "the disk is full"))
    (True, False)
    """
    return error.code == CONNECTION_CLOSED and error.message == _CLOSED


def leaves(error: BaseException) -> list[BaseException]:
    """The errors inside of groups, in order; the error itself when it is none. Cancellations stand last."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    found = [leaf for inner in error.exceptions for leaf in leaves(inner)]
    return sorted(found, key=lambda leaf: not isinstance(leaf, Exception))


def in_words(
    error: BaseException,
    *,
    start_timeout: float | None = None,
    statuses: Sequence[int] = (),
    mask: Callable[[str], str] = str,
) -> str:
    """One sentence on an error of a connection or a request.

    Args:
        error: What happened.
        start_timeout: Seconds that there were, where it is told.
        statuses: Of the answers over HTTP that were refusals.
        mask: Takes the secrets out of a text. It gets each text before it is cut: half a secret is not found any more.

    >>> in_words(FileNotFoundError(2, "No such file or directory", "uvx"))
    "'uvx' can't be started: No such file or directory; is it installed?"
    """
    if isinstance(error, TimeoutError):
        limit = f" within {start_timeout:g} seconds" if start_timeout is not None else " in time"
        return f"no answer{limit}"
    if isinstance(error, MCPError):
        if statuses:
            return _status_words(statuses[-1])
        if is_closed(error):
            return "closed the connection"
        return f"answered with an error: {mask(error.message)[:300]} ({error.code})"
    if isinstance(error, ValidationError):
        return mask(validation_words(error))
    if isinstance(error, httpx2.HTTPError):
        detail = mask(str(error))[:200]
        return f"can't be reached: {detail}" if detail else f"can't be reached ({type(error).__name__})"
    if isinstance(error, OSError):
        what = mask(repr(error.filename)) if error.filename else "the command"
        hint = "; is it installed?" if isinstance(error, FileNotFoundError) else ""
        return f"{what} can't be started: {error.strerror or type(error).__name__}{hint}"
    return f"{type(error).__name__}: {mask(str(error))[:300]}"


def validation_words(error: ValidationError) -> str:
    """What an answer lacks: the first faults with their places, the rest counted; values are not repeated."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    told = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults[:3])
    more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
    return f"the answer doesn't keep to the protocol: {told}{more}"


def _status_words(status: int) -> str:
    hint = _STATUS.get(status, "the server itself fails" if status >= 500 else "check the address and the headers")
    return f"answered with HTTP status {status}; {hint}"
