"""Tables in Markdown from text that may hold anything."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""A Markdown table; cells are escaped, so that text from data can't break out of its cell.

    >>> print(markdown_table(["name"], [["a|b"], ["<i>"]]))
    | name |
    | --- |
    | a\|b |
    | &lt;i&gt; |
    """
    lines = ["| " + " | ".join(map(markdown_text, header)) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(map(markdown_text, row)) + " |" for row in rows]
    return "\n".join(lines)


def markdown_text(text: str) -> str:
    r"""The text on one line with everything escaped that Markdown or HTML would take for its own.

    >>> print(markdown_text("a_b\n<script>"))
    a\_b &lt;script&gt;
    """
    flat = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for character in "\\`|*_[]":
        flat = flat.replace(character, f"\\{character}")
    return flat
