"""Text from data as it may stand in the files of a report; nothing of it can steer what shows it."""

from __future__ import annotations

import html

from toolsearch_eval.cli.output import neutralise

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


def html_text(text: str) -> str:
    r"""The text inside of an element or a quoted attribute.

    >>> html_text("<b> & \x00")
    '&lt;b&gt; &amp; \\x00'
    """
    return html.escape(neutralise(text))


def csv_cell(text: str) -> str:
    """The text as a spreadsheet shows it; what it would run as a formula gets a quote before it.

    >>> csv_cell("=1+1"), csv_cell("a=1")
    ("'=1+1", 'a=1')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def picture_text(text: str, limit: int = 40) -> str:
    r"""The text as a label of a picture: one line, not long; a dollar stands for itself and begins no formula.

    >>> picture_text("a$b$\n")
    'a\\$b\\$'
    """
    flat = neutralise(" ".join(text.split()))
    return (flat if len(flat) <= limit else flat[: limit - 1] + "…").replace("$", r"\$")
