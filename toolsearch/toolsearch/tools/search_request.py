"""What the model typed, read: which mode, which words or names, how many results. Forgiving, and says where it was."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolsearch.search.query import read_query
from toolsearch.search.searcher import MAX_RESULTS
from toolsearch.tools.found import Mode
from toolsearch.tools.untrusted import neutralise, safe_json

DEFAULT_RESULTS = 5
"""How many tools are given when the call does not say."""

MOST_NAMES = MAX_RESULTS
"""How many different names one `select:` looks up."""

_QUOTES = "\"'`“”‘’«»「」『』"
# Blanks, control characters and what can't be seen at all: a prefix counts at the start after these.
_EDGE = (
    "".join(
        chr(code)
        for first, last in ((0x00, 0x20), (0x7F, 0xA0), (0x200B, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F))
        for code in range(first, last + 1)
    )
    + "\u00ad\u061c\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u3000\ufeff"
)
# No pattern here may begin with a repetition: it would be tried again at every blank of a long run of blanks.
_PREFIX = re.compile(rf"(?:[{_QUOTES}][{re.escape(_EDGE)}]*)?(select|discover|list)\s*[:：]", re.IGNORECASE)
_SEPARATOR = ",，、;；\r\n"
# A name with a comma can be written as a JSON string.
_PIECE = re.compile(rf'"(?:[^"\\]|\\.)*+"|[{_SEPARATOR}]+|[^{_SEPARATOR}"]+|"', re.DOTALL)
_CURSOR = re.compile(r"(?<!\S)after\s*[:：]", re.IGNORECASE)
_LONGEST_SELECTION = 8_000
"""Characters of a selection that are read: room for `MOST_NAMES` of the longest names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of the search tool, read.

    Attributes:
        query: The query as it was given; "" if there was none that is a text.
        mode: How it is to be answered.
        words: What is searched for: the query without its prefix.
        names: `select`: the names asked for, each once, in order.
        more_names: `select`: names beyond `MOST_NAMES`, which are not looked up.
        listed_server: `list`: the server's name as it was typed.
        cursor: `list`: the name after which the page begins, or "".
        server: Only tools of this server, or None.
        max_results: 1..50.
        count_given: The call said how many results it wants.
        clamped: The number was moved to the nearest bound.
        notes: What was read in another way than it was written, a line each.
        fault: The call can't be read; says what to give. None when it can.
    """

    query: str = ""
    mode: Mode = "keyword"
    words: str = ""
    names: tuple[str, ...] = ()
    more_names: int = 0
    listed_server: str = ""
    cursor: str = ""
    server: str | None = None
    max_results: int = DEFAULT_RESULTS
    count_given: bool = False
    clamped: bool = False
    notes: tuple[str, ...] = ()
    fault: str | None = None


def read_request(arguments: object) -> Request:
    """Read the arguments of a call; never fails.

    Args:
        arguments: An object with `query` and, if wanted, `max_results`, `server` and `cursor`; further keys are
            ignored. The same as JSON text is read too, and a plain text is taken for the query.

    >>> request = read_request({"query": " SELECT: CronCreate, 'Snip' ", "max_results": "3"})
    >>> request.mode, request.names, request.max_results
    ('select', ('CronCreate', 'Snip'), 3)
    """
    read = _as_object(arguments)
    if isinstance(read, str):
        return Request(fault=read)
    count, clamped, notes = read_count(read.get("max_results"), given="max_results" in read)
    given = "max_results" in read and read["max_results"] is not None
    server, server_notes = _text_or_none(read, "server")
    query = read.get("query")
    if not isinstance(query, str):
        what = "is missing" if query is None else f"is {_shown(query)}"
        return Request(
            max_results=count,
            clamped=clamped,
            notes=notes,
            fault=f'`query` {what}; it must be a text, such as {{"query": "send a message"}}.',
        )
    cursor, cursor_notes = _text_or_none(read, "cursor")
    base = _by_mode(query, cursor or "")
    return Request(
        query=query,
        mode=base.mode,
        words=base.words,
        names=base.names,
        more_names=base.more_names,
        listed_server=base.listed_server,
        cursor=base.cursor,
        server=server,
        max_results=count,
        count_given=given,
        clamped=clamped,
        notes=(*notes, *server_notes, *cursor_notes),
    )


def read_count(value: object, *, given: bool = True) -> tuple[int, bool, tuple[str, ...]]:
    """The number of results out of whatever stands for it.

    A fraction is rounded down, a text that holds a number is read as it, anything else is the default.

    Returns:
        The number, 1..50; whether it was moved to a bound; and a line for everything that is not a whole number within
        the bounds.

    >>> read_count(7), read_count(2.7)
    ((7, False, ()), (2, False, ('max_results 2.7 is not a whole number; 2 was used.',)))
    >>> read_count(1000)
    (50, True, ('max_results 1000 is outside of 1 to 50; 50 was used.',))
    """
    if not given:
        return DEFAULT_RESULTS, False, ()
    shown = _shown(value)
    number = _number(value)
    if number is None or number != number:  # NaN alone is not itself; math.isnan fails on very large integers
        return (
            DEFAULT_RESULTS,
            False,
            (f"max_results {shown} is not a number; the default {DEFAULT_RESULTS} was used.",),
        )
    count = int(min(max(number, 1), MAX_RESULTS))
    # Below 1 and above 50 also as a fraction: 0.5 was moved up to 1, 50.5 down to 50.
    clamped = number < 1 or number > MAX_RESULTS
    if clamped:
        return count, True, (f"max_results {shown} is outside of 1 to {MAX_RESULTS}; {count} was used.",)
    if number != count:
        return count, False, (f"max_results {shown} is not a whole number; {count} was used.",)
    if isinstance(value, str):
        return count, False, (f"max_results {shown} is a text; it was read as the number {count}.",)
    return count, False, ()


def _number(value: object) -> float | int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and len(value) <= 100:
        try:
            return float(value.strip(_QUOTES + " \t\r\n"))
        except ValueError:
            return None
    return None


def _as_object(arguments: object) -> Mapping[str, Any] | str:
    """The arguments as an object, or what is wrong with them."""
    if isinstance(arguments, Mapping):
        return arguments
    if arguments is None:
        return {}
    if isinstance(arguments, str):
        if not arguments.lstrip().startswith("{"):
            return {"query": arguments}
        try:
            value = json.loads(arguments, strict=False)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return value
        return 'the arguments are not valid JSON; give an object such as {"query": "send a message"}.'
    return f'the arguments are {_shown(arguments)}; give an object such as {{"query": "send a message"}}.'


def _text_or_none(arguments: Mapping[str, Any], key: str) -> tuple[str | None, tuple[str, ...]]:
    value = arguments.get(key)
    if value is None or value == "":
        return None, ()
    if isinstance(value, str):
        return value, ()
    return None, (f"{key} {_shown(value)} is not a text; it was left out.",)


def _by_mode(query: str, cursor: str) -> Request:
    words = query.strip(_EDGE)
    prefix = _PREFIX.match(words)
    if prefix is None:
        return Request(mode="required" if read_query(words).required else "keyword", words=words)
    rest = words[prefix.end() :]
    if words[0] in _QUOTES:
        rest = rest.rstrip(_QUOTES)
    rest = rest.strip(_EDGE)
    mode = prefix[1].lower()
    if mode == "discover":
        return Request(mode="discover", words=rest)
    if mode == "select":
        names, more = _names(rest)
        return Request(mode="select", words=rest, names=names, more_names=more)
    rest = rest[:_LONGEST_SELECTION]
    server = rest
    found = _CURSOR.search(rest)
    if found and not cursor:
        server, cursor = rest[: found.start()], rest[found.end() :]
    return Request(mode="list", words=rest, listed_server=unquoted(server), cursor=unquoted(cursor))


def _names(text: str) -> tuple[tuple[str, ...], int]:
    """The different names of a selection, and about how many more there are than are looked up."""
    pieces = _pieces(text[:_LONGEST_SELECTION])
    names: dict[str, None] = {}
    for piece in pieces:
        again = _PREFIX.match(piece.strip(_EDGE))
        name = unquoted(piece.strip(_EDGE)[again.end() :] if again else piece)
        if name:
            names[name] = None
    beyond = max(0, len(names) - MOST_NAMES) + text.count(",", _LONGEST_SELECTION)
    return tuple(names)[:MOST_NAMES], beyond


def _pieces(text: str) -> list[str]:
    if text.startswith("["):
        try:
            listed = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            listed = None
        if isinstance(listed, list) and all(isinstance(each, str) for each in listed):
            return listed
        text = text.strip("[]")
    pieces = [""]
    for token in _PIECE.findall(text):
        if token[0] in _SEPARATOR:
            pieces.append("")
        else:
            pieces[-1] += token
    return pieces


def unquoted(text: str) -> str:
    r"""A name without outer blanks and quotes; a JSON string is decoded.

    >>> unquoted(' "web page" '), unquoted('"\\u003ctool>"'), unquoted("`x`")
    ('web page', '<tool>', 'x')
    """
    text = text.strip(_EDGE)
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            decoded = json.loads(text, strict=False)
        except ValueError:
            decoded = None
        if isinstance(decoded, str):
            return decoded.strip(_EDGE)
    return text.strip(_QUOTES).strip(_EDGE)


def _shown(value: object) -> str:
    """A value of the call as it may stand in a line, short."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 64:
        return "with very many digits"
    if isinstance(value, float) and not math.isfinite(value):
        return "infinity" if value > 0 else "minus infinity" if value < 0 else "NaN"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None or isinstance(value, str | int | float):
        return neutralise(safe_json(value), limit=60).text
    return f"a {neutralise(type(value).__name__, limit=40).text}"
