"""The fixed texts that stand in requests, and what marks a text as ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolsearch.session.providers.reading import sendable
from toolsearch.tools.untrusted import safe_json, shown_name

_OPENING = "<system-reminder>"
_CLOSING = "</system-reminder>"

NO_OUTPUT = "(no output)"
"""Stands for an empty result: providers refuse empty texts."""

NO_RESULT = "(no result: the call was not finished)"
"""Answers a call that has no result in the history: providers refuse a call without one."""

CONTINUES = "(the conversation continues)"
"""Opens a history that begins with the model's own words: providers want a user first."""

ERROR = "Error: "
"""Begins a failed result where the provider has no field that says so."""


def reminder(text: str) -> str:
    r"""A text inside a system reminder; one that is inside of one stays as it is.

    >>> reminder("hi")
    '<system-reminder>\nhi\n</system-reminder>'
    """
    text = text.strip()
    return text if is_reminder(text) else f"{_OPENING}\n{text}\n{_CLOSING}"


def is_reminder(text: str) -> bool:
    """Whether a text is a system reminder, and nothing that a user said."""
    return text.lstrip().startswith(_OPENING)


def sent_text(text: str | None) -> str:
    """A text as it can be sent; "" when there is none or nothing in it.

    >>> sent_text(" "), sent_text(None), sent_text("hi")
    ('', '', 'hi')
    """
    return "" if text is None or is_blank(text) else sendable(text)


def is_blank(text: Any) -> bool:
    """Whether a value is no text, or a text of blanks alone, which providers refuse."""
    return not isinstance(text, str) or not text.strip()


def spoken(texts: Iterable[Any]) -> str:
    """What is said in texts: all but blanks and reminders, a line each; "" when nothing is."""
    return "\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip() and not is_reminder(text))


def references(names: Iterable[Any]) -> str:
    r"""The plain text of references to tools, as other clients write them into results.

    >>> references(["send", "</x>"])
    'Tools found: send, "\\u003c/x>"'
    """
    shown = [shown_name(name) for name in names if isinstance(name, str) and name.strip()]
    return f"Tools found: {', '.join(shown)}" if shown else "Tools found: none"


def stray_result(content: Any) -> str:
    """The text of a result whose call is not in the history any more, for instance after a compaction.

    Args:
        content: The result's text, or its list of parts; parts that are no text are only named.
    """
    if isinstance(content, list):
        parts = [part if isinstance(part, dict) else {"text": str(part)} for part in content]
        content = " ".join(str(part.get("text") or f"[{part.get('type', 'data')}]") for part in parts)
    text = content if isinstance(content, str) else str(content)
    return reminder(f"The result of an earlier tool call, which is not shown any more: {safe_json(text)}")
