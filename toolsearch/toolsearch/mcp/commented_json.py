"""JSON as editors write it: comments and trailing commas blanked out, every other character in its place."""

from __future__ import annotations

import re

_PARTS = re.compile(
    r'"(?:\\.|[^"\\\n])*"?'  # a text, kept whole whatever stands in it
    r"|//[^\n]*|/\*.*?(?:\*/|\Z)"
    r"|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])",
    re.DOTALL,
)


def without_comments(text: str) -> str:
    r"""The text with comments and trailing commas replaced by blanks, so that lines and columns stay true.

    >>> without_comments('{"a": 1, // one\n "b": "//",}')
    '{"a": 1,       \n "b": "//" }'
    """
    return _PARTS.sub(lambda match: match[0] if match[0].startswith('"') else _blank(match[0]), text)


def _blank(text: str) -> str:
    return "".join(character if character == "\n" else " " for character in text)
