"""Which names are fit to be shown to a model, searched and called."""

from __future__ import annotations

import unicodedata

MAX_NAME_LENGTH = 128
"""The longest name that providers of models accept."""

# Cc control, Cf format (zero-width and right-to-left marks), Cs lone surrogate, Zl and Zp line and paragraph
# separators. All of them are invisible or break a line, so one name could pass for another or for an
# instruction of its own.
_UNFIT = {
    "Cc": "a control character or line break",
    "Cf": "an invisible format character",
    "Cs": "a lone surrogate",
    "Zl": "a line break",
    "Zp": "a line break",
}


def name_fault(name: str) -> str | None:
    r"""Why a name must be quarantined, or None when it is fit.

    Args:
        name: A tool's name, or its server's. Any script is fit; blanks inside are fit.

    Returns:
        A phrase that names the first fault: empty, longer than 128 characters, or a character that is unfit
        with its code point. The phrase never holds the character itself.

    >>> name_fault("mcp__chat__send"), name_fault("发送")
    (None, None)
    >>> name_fault("a\nb")
    'holds a control character or line break (U+000A)'
    """
    if not name.strip():
        return "is empty"
    if len(name) > MAX_NAME_LENGTH:
        return f"has {len(name)} characters; at most {MAX_NAME_LENGTH} are accepted"
    if name.isascii() and name.isprintable():
        return None
    for character in name:
        unfit = _UNFIT.get(unicodedata.category(character))
        if unfit:
            return f"holds {unfit} (U+{ord(character):04X})"
    return None


def shown(name: str, limit: int = 80) -> str:
    """A name as it may stand in a message: quoted, unfit characters escaped, a long one shortened."""
    quoted = ascii(name[:limit]) if name_fault(name[:limit]) else repr(name[:limit])
    return quoted if len(name) <= limit else f"{quoted}… ({len(name)} characters)"
