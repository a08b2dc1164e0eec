"""What the commands print: one JSON object or plain text on stdout, everything else on stderr."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Control characters, the C1 block, line and paragraph separators, marks that turn the writing direction, invisible
# format characters (the tags too, which can hold a whole hidden text), and halves of surrogate pairs: text from a
# catalog must neither steer a terminal nor forge a line of ours. The joiners U+200C and U+200D stay: scripts need them.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_UNSAFE_LINE = re.compile(_UNSAFE.pattern[:-1] + "\t\n]")


def prepare_streams() -> None:
    """Write UTF-8 on both streams whatever the locale says; what can't be encoded is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def neutralise(text: str, *, lines: bool = False) -> str:
    r"""The text with everything that could steer a terminal written as an escape.

    Args:
        text: Anything that comes from data.
        lines: Leave line breaks and tabs as they are; otherwise they are escaped too.

    >>> neutralise("a\x1b[31mb"), neutralise("two\nlines"), neutralise("two\nlines", lines=True)
    ('a\\x1b[31mb', 'two\\nlines', 'two\nlines')
    """
    return (_UNSAFE if lines else _UNSAFE_LINE).sub(_escape, text)


def shortened(text: str, limit: int) -> str:
    """The text on one line, made safe, cut after `limit` characters with a visible mark.

    >>> shortened("one  two three", 9)
    'one two …'
    """
    flat = neutralise(" ".join(text[: limit * 4 + 200].split()))
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + " …"


def print_json(value: Mapping[str, Any]) -> None:
    """Print one object on stdout, valid JSON (no NaN) and safe for a terminal."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    # Line breaks here are the layout's own: those inside of strings are escaped already.
    print(_UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1], text))


def say(text: str) -> None:
    """Print a line, or several, on stdout."""
    print(neutralise(text, lines=True))


def tell(text: str) -> None:
    """Print a line, or several, on stderr."""
    print(neutralise(text, lines=True), file=sys.stderr)


def tell_warnings(warnings: Iterable[str]) -> None:
    """Print each warning on stderr, a line each."""
    for warning in warnings:
        tell(f"warning: {neutralise(warning)}")


def text_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A plain table: the first column to the left, all others to the right.

    >>> print(text_table(["tool", "score"], [["send", 0.5], ["add_issue", 10]]))
    tool       score
    ---------  -----
    send         0.5
    add_issue     10
    """
    cells = [[neutralise(str(cell)) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(character)
    if named:
        return named
    number = ord(character)
    if number < 256:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"
