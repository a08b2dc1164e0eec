"""Documents: every text is escaped, and the page loads nothing and runs nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from toolsearch_eval.report.document import (
    Folded,
    Grid,
    Heading,
    Lines,
    Paragraph,
    Picture,
    Piece,
    as_html,
    as_markdown,
)

EVIL = "<script>alert(1)</script>\"'&|`*_[x](javascript:y)\x1b[31m\x00‮"


def pieces(text: str) -> tuple[Piece, ...]:
    """One of each kind with a text in every place."""
    inner = (Paragraph(text), Lines((text,)))
    return (Heading(text), *inner, Grid((text, "n"), ((text, "1"),)), Picture("<svg></svg>"), Folded(text, inner))


class Elements(HTMLParser):
    """Which elements and attributes a page has, and its text."""

    def __init__(self) -> None:
        """Nothing yet."""
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, list[str]] = {}
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value or "")

    def handle_data(self, data: str) -> None:
        """Note it."""
        self.texts.append(data)


def test_a_page_holds_no_element_and_no_attribute_from_data() -> None:
    """Whatever the texts are, the page has the same elements and attributes as with harmless ones, and shows them."""
    evil, harmless = Elements(), Elements()
    evil.feed(as_html(EVIL, pieces(EVIL)))
    harmless.feed(as_html("x", pieces("x")))
    assert evil.tags == harmless.tags
    assert evil.attributes == harmless.attributes
    assert "script" not in evil.tags
    visible = "<script>alert(1)</script>\"'&|`*_[x](javascript:y)\\x1b[31m\\x00\\u202e"
    assert evil.texts.count(visible) == 10


def test_a_page_loads_nothing() -> None:
    """No address stands in it, and its policy forbids every source but its own styles."""
    page = as_html("t", pieces("x"))
    assert not re.search(r"https?:|\bsrc=|\bhref=|@import|url\(", page)
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'\"" in page


def test_markdown_is_escaped_and_has_no_pictures() -> None:
    """No text becomes markup or a cell, and tables stand as tables."""
    text = as_markdown(EVIL, pieces(EVIL))
    assert "<script>" not in text
    assert "[x](" not in text
    assert "svg" not in text
    lines = text.splitlines()
    row = next(line for line in lines if line.startswith("| ") and line.endswith(" | 1 |"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 3


def test_the_parts_of_a_document_in_markdown() -> None:
    """Headings, paragraphs, lists, tables and folded parts, each apart from the next."""
    text = as_markdown(
        "T",
        [
            Heading("H"),
            Paragraph("P"),
            Lines(("a", "b")),
            Grid(("x", "y"), (("1", "2"),)),
            Folded("F", (Paragraph("q"),)),
        ],
    )
    assert text == "# T\n\n## H\n\nP\n\n- a\n- b\n\n| x | y |\n| --- | --- |\n| 1 | 2 |\n\n### F\n\nq\n"


@pytest.mark.parametrize(("svg", "expected"), [("<svg/>", "<figure><svg/></figure>"), ("", "install toolsearch[eval]")])
def test_where_nothing_can_be_drawn_the_page_says_so(svg: str, expected: str) -> None:
    """Without the library there is a line in the picture's place."""
    assert expected in as_html("t", [Picture(svg)])
