"""A report as a list of pieces, written as Markdown or as one HTML page; every text in it is escaped on the way out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolsearch_eval.markdown import markdown_table, markdown_text
from toolsearch_eval.report.escape import html_text


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the second level."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """A list with a point for each line."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table.

    Attributes:
        header: The names of the columns.
        rows: Texts; the first column is to the left and all others, as numbers, to the right.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture; only the page shows it, as its numbers stand in the table beside it.

    Attributes:
        svg: An element that is escaped already, see `svg_of`; empty where the library that draws is not installed.
    """

    svg: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Pieces that are shown when someone asks for them.

    Attributes:
        title: What they are.
        pieces: What is shown.
    """

    title: str
    pieces: tuple[Piece, ...]


Piece = Heading | Paragraph | Lines | Grid | Picture | Folded

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; margin: 1rem 0; }
th, td { border-bottom: 1px solid #8886; padding: .25rem .6rem; text-align: right; vertical-align: top; }
th:first-child, td:first-child { text-align: left; }
svg { background: #fff; height: auto; max-width: 46rem; width: 100%; }
details { margin: .5rem 0; }
"""


def as_markdown(title: str, pieces: Sequence[Piece]) -> str:
    """The document in Markdown, without its pictures."""
    return "\n\n".join([f"# {markdown_text(title)}", *filter(None, map(_markdown, pieces))]) + "\n"


def as_html(title: str, pieces: Sequence[Piece]) -> str:
    """The document as one page that loads nothing and runs nothing."""
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{html_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
    body = "\n".join([f"<h1>{html_text(title)}</h1>", *map(_html, pieces)])
    return f"{head}{body}\n</main>\n</body>\n</html>\n"


def _markdown(piece: Piece) -> str:
    match piece:
        case Heading(text):
            return f"## {markdown_text(text)}"
        case Paragraph(text):
            return markdown_text(text)
        case Lines(lines):
            return "\n".join(f"- {markdown_text(line)}" for line in lines)
        case Grid(header, rows):
            return markdown_table(header, rows)
        case Folded(title, pieces):
            return "\n\n".join([f"### {markdown_text(title)}", *filter(None, map(_markdown, pieces))])
        case _:
            return ""


def _html(piece: Piece) -> str:
    match piece:
        case Heading(text):
            return f"<h2>{html_text(text)}</h2>"
        case Paragraph(text):
            return f"<p>{html_text(text)}</p>"
        case Lines(lines):
            return "<ul>\n" + "\n".join(f"<li>{html_text(line)}</li>" for line in lines) + "\n</ul>"
        case Grid(header, rows):
            cells = "".join(f'<th scope="col">{html_text(cell)}</th>' for cell in header)
            body = ["<tr>" + "".join(f"<td>{html_text(cell)}</td>" for cell in row) + "</tr>" for row in rows]
            return '<div class="wide"><table>\n<tr>' + cells + "</tr>\n" + "\n".join(body) + "\n</table></div>"
        case Folded(title, pieces):
            inner = "\n".join(map(_html, pieces))
            return f"<details><summary>{html_text(title)}</summary>\n{inner}\n</details>"
        case Picture(svg):
            return f"<figure>{svg}</figure>" if svg else "<p>(Pictures need matplotlib; install toolsearch[eval].)</p>"
