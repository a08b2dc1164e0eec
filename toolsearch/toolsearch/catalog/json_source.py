"""Strict JSON whose values know the line where they stand.

Stricter than the standard reader where leniency would lose something: a key given twice, NaN and Infinity,
numbers too large to hold, nesting so deep that no program could walk it.
"""

from __future__ import annotations

import bisect
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

MAX_DEPTH = 200
"""Deepest nesting of a tool; real schemas stay under 30, and deeper ones break whoever walks them."""

_BLANK = " \t\r\n"


class JsonFault(ValueError):
    """Text that is not acceptable JSON; `position` is the character where it fails."""

    def __init__(self, message: str, position: int) -> None:
        """Keep the position beside the text."""
        super().__init__(message)
        self.position = position


class _Refusal(ValueError):
    """Something that is JSON to the standard reader and not to this one."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = sorted(key for key, _ in pairs)
        twice = next(key for key, following in itertools.pairwise(keys) if key == following)
        raise _Refusal(f"the key {twice[:60]!a} is given twice in one object; keep one")
    return found


def _constant(text: str) -> NoReturn:
    raise _Refusal(f"{text} is not JSON; use a number or null")


def _number(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _Refusal(f"the number {text[:40]} is too large")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_number)


class Lines:
    """Line numbers of a text."""

    def __init__(self, text: str) -> None:
        """Note where each line starts; lines end with a line feed."""
        self._breaks = [match.start() for match in re.finditer("\n", text)]

    def at(self, position: int) -> int:
        """The 1-based line of a character."""
        return bisect.bisect_left(self._breaks, position) + 1


def skip_blank(text: str, position: int) -> int:
    """The next character that is not blank, or the text's end."""
    while position < len(text) and text[position] in _BLANK:
        position += 1
    return position


def read_value(text: str, position: int) -> tuple[Any, int]:
    """The JSON value that starts at a position, and the position after it.

    Raises:
        JsonFault: No acceptable JSON stands there.
    """
    start = skip_blank(text, position)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise JsonFault(f"not valid JSON: {error.msg} (column {error.colno})", error.pos) from None
    except RecursionError:
        raise JsonFault(f"nested too deeply; at most {MAX_DEPTH} levels are accepted", start) from None
    except _Refusal as error:
        raise JsonFault(f"not acceptable JSON: {error}", start) from None
    except ValueError:  # the interpreter's own bound, which keeps such a number from taking minutes
        raise JsonFault("not acceptable JSON: a whole number has thousands of digits; shorten it", start) from None
    return value, end


def elements(text: str, position: int) -> Iterator[tuple[Any, int, int]]:
    """The elements of the valid array that starts at a position, each with its start and end."""
    position = skip_blank(text, skip_blank(text, position) + 1)
    while text[position] != "]":
        value, end = read_value(text, position)
        yield value, position, end
        position = skip_blank(text, end)
        if text[position] == ",":
            position = skip_blank(text, position + 1)


def member_position(text: str, position: int, key: str) -> int:
    """Where the value of a key starts, in the valid object that starts at a position and has the key."""
    position = skip_blank(text, skip_blank(text, position) + 1)
    while True:
        name, end = read_value(text, position)
        start = skip_blank(text, skip_blank(text, end) + 1)
        if name == key:
            return start
        _, end = read_value(text, start)
        position = skip_blank(text, skip_blank(text, end) + 1)


def too_deep(value: Any) -> bool:
    """Whether a value is nested deeper than `MAX_DEPTH`; goes level by level, so it can't overflow."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def surrogate_path(value: Any, path: str = "") -> str | None:
    """Where a value holds a lone surrogate, as `a.b[0]`; None when nowhere. Not for deep nesting."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return path
        return None
    if isinstance(value, dict):
        for key, inner in value.items():
            if surrogate_path(key) is not None:
                return path or "a key"
            found = surrogate_path(inner, f"{path}.{key}" if path else key)
            if found is not None:
                return found
    if isinstance(value, list):
        for number, inner in enumerate(value):
            found = surrogate_path(inner, f"{path}[{number}]")
            if found is not None:
                return found
    return None
