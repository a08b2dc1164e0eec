"""Objects of the providers' clients, and what models write, read as plain JSON values.

No client is imported: their objects are all dumped by `model_dump`, and a dict is as good as an object.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolsearch.errors import UsageError


def plain(value: Any, *, by_alias: bool = True) -> Any:
    """A JSON value of a value that may be, or hold, objects of a provider's client.

    Args:
        value: Of objects the fields that are empty are left out; what a model wrote in its arguments stays.
        by_alias: Fields under the names that the server uses; otherwise under those of the client.

    Returns:
        Dicts, lists and scalars, all new; bytes as base64.

    Raises:
        UsageError: Something else is inside, or it is nested too deeply.

    >>> plain({"content": (1, b"hi")})
    {'content': [1, 'aGk=']}
    """
    try:
        return _plain(value, by_alias)
    except (RecursionError, ValueError) as error:
        if isinstance(error, RecursionError):
            raise UsageError("a message is nested too deeply to be sent; shorten it.") from None
        raise UsageError(f"a message can't be read: {str(error)[:200]}") from None


def _plain(value: Any, by_alias: bool) -> Any:
    if isinstance(value, str):
        return sendable(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {sendable(str(key)): _plain(inner, by_alias) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, by_alias) for inner in value]
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return _plain(dump(mode="json", exclude_none=True, by_alias=by_alias, warnings=False), by_alias)
    raise UsageError(
        f"a message holds a {type(value).__name__}, which no request can carry; "
        "accepted: JSON values, bytes and the objects of the provider's client."
    )


def sendable(text: str) -> str:
    r"""A text without lone surrogates, which no request can carry; each becomes U+FFFD.

    >>> sendable("a\ud800b") == "a\ufffdb"
    True
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def arguments_of(text: Any) -> Mapping[str, Any] | str:
    """The arguments of a call: the object that a JSON text holds, or the text itself when it holds none.

    A blank text is a call without arguments. Arrays, numbers, `null`, `NaN` and broken JSON stay text, so that whoever
    reads the call can still tell what the model meant.

    >>> arguments_of('{"a": 1}'), arguments_of(""), arguments_of("[1]"), arguments_of('{"a": NaN}')
    ({'a': 1}, {}, '[1]', '{"a": NaN}')
    """
    if text is None:
        return {}
    if isinstance(text, Mapping):
        return dict(text)
    if not isinstance(text, str):
        return json.dumps(text, ensure_ascii=False, default=str)
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def mapping_entries(entries: Sequence[Any], *, by_alias: bool = True) -> Iterator[dict[str, Any]]:
    """The entries of a history as dicts.

    Raises:
        UsageError: An entry that is none; it is named by its 1-based place.
    """
    for place, entry in enumerate(entries, start=1):
        try:
            value = plain(entry, by_alias=by_alias)
        except UsageError as error:
            raise UsageError(f"entry {place} of the history: {error}") from None
        if not isinstance(value, dict):
            raise UsageError(
                f"entry {place} of the history is a {type(entry).__name__}; accepted: a message as a dict or as an "
                "object of the provider's client, or an attachment. For a text use the provider's `user(text)`."
            )
        yield value


def attachment_of(entry: Any) -> Mapping[str, Any] | None:
    """The value of an attachment entry; None for any other entry."""
    if isinstance(entry, Mapping) and entry.get("type") == "attachment":
        value = entry.get("attachment")
        return value if isinstance(value, Mapping) else {}
    return None


def without_none(value: Mapping[str, Any], *dropped: str) -> dict[str, Any]:
    """A message part without its empty fields and without the named ones; what is inside of fields stays."""
    return {key: inner for key, inner in value.items() if inner is not None and key not in dropped}


def fresh(array: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A copy of the tools for one request: whoever changes a payload must not change the next one."""
    return [_copied(tool) for tool in array]


def _copied(value: Any) -> Any:
    """A copy of plain data, several times faster than `copy.deepcopy`, which keeps book of every object."""
    if type(value) is dict:
        return {key: _copied(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_copied(inner) for inner in value]
    return value if isinstance(value, str | int | float | None) else copy.deepcopy(value)
