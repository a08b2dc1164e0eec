"""Libraries that only an extra brings: looked for before they are needed, with one message for all of them."""

from __future__ import annotations

from importlib.util import find_spec

from toolsearch.errors import UsageError


def require(library: str, *, extra: str, purpose: str) -> None:
    """Do nothing when a library is there; nothing is imported by this.

    Args:
        library: The module's top name.
        extra: The extra of this package that brings it.
        purpose: What needs it; begins the message.

    Raises:
        UsageError: It is not installed; names the extra.

    >>> require("json", extra="eval", purpose="a table")
    >>> require("no_such_library", extra="eval", purpose="a table")
    Traceback (most recent call last):
        ...
    toolsearch.errors.UsageError: a table needs no_such_library, which is not installed; install toolsearch[eval].
    """
    if find_spec(library) is None:
        raise UsageError(f"{purpose} needs {library}, which is not installed; install toolsearch[{extra}].")
