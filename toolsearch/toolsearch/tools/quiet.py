"""JSON values whose `repr` costs nothing.

The library jsonschema writes the value and the schema into the message of every fault, and it makes and drops many
while it tries the choices of an `anyOf`. With arguments of megabytes that alone would take minutes, and no message of
it is ever shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SHORT = 40


class QuietObject(dict[str, Any]):
    """An object; its members are quiet too."""

    __slots__ = ()

    def __repr__(self) -> str:
        """A constant."""
        return "{…}"


class QuietArray(list[Any]):
    """An array; its items are quiet too."""

    __slots__ = ()

    def __repr__(self) -> str:
        """A constant."""
        return "[…]"


class QuietText(str):
    """A long text; a short one is left as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        """A constant."""
        return "'…'"


def quiet(value: Any) -> Any:
    """A JSON value with the same content; mappings of any kind become objects, sequences arrays.

    >>> quiet({"a": [1]}) == {"a": [1]}, quiet({"a": [1]})
    (True, {…})
    """
    if isinstance(value, str):
        return QuietText(value) if len(value) > _SHORT else value
    if isinstance(value, Mapping):
        return QuietObject((quiet(key), quiet(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return QuietArray(quiet(inner) for inner in value)
    return value
