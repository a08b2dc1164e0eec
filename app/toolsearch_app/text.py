"""Text from data on its way to the screen: shown as it is, never taken for Markdown, a tag or a control character."""

from __future__ import annotations

import re
from collections.abc import Collection

from toolsearch.search.analysis import reference, standard
from toolsearch_eval.cli.output import neutralise, shortened
from toolsearch_eval.report.escape import html_text

# Whatever begins something in the dashboard's Markdown: emphasis, code, links, tables, tags, formulas ($), directives
# (:red[…]), emoji and icons (:name:), headings, lists and quotes.
_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|$~:<>&@])")
_PIECE = re.compile(r"[^\W_]+")
_WHOLE_WORD_ARROW = " ← "


def line(text: str, limit: int = 400) -> str:
    r"""The text for a cell of a table, an option or a label of a chart: one line, made safe, cut with a visible mark.

    >>> line("one\x1b[31m\ntwo")
    'one\\x1b[31m two'
    """
    return shortened(text, limit)


def plain(text: str, limit: int = 2000) -> str:
    r"""The text as Markdown that shows it as it is.

    >>> print(plain("<b>*a*</b> $x$"))
    \<b\>\*a\*\</b\> \$x\$
    """
    return _MARKS.sub(r"\\\1", shortened(text, limit))


def block(text: str) -> str:
    r"""Several lines for a block of literal text: line breaks stay, everything else is made safe.

    >>> block("a\nb\x00")
    'a\nb\\x00'
    """
    return neutralise(text, lines=True)


def marked(text: str, terms: Collection[str], limit: int = 600) -> str:
    """The text as HTML with the words marked that stand for one of the terms.

    Args:
        text: Any text.
        terms: Searchable terms, as the parts of an explanation name them: stems, names of whole words, single
            characters or pairs of them; what stands before an arrow is what the catalog says.
        limit: Longer texts are cut with a visible mark.

    >>> marked("Sends <b> messages", {"messag"})
    'Sends &lt;b&gt; <mark>messages</mark>'
    """
    wanted = {standard.fold(term.partition(_WHOLE_WORD_ARROW)[0]) for term in terms}
    shown = shortened(text, limit)
    out: list[str] = []
    end = 0
    for found in _PIECE.finditer(shown):
        for start, stop in _hits(found.group(), wanted):
            out.append(html_text(shown[end : found.start() + start]))
            out.append(f"<mark>{html_text(shown[found.start() + start : found.start() + stop])}</mark>")
            end = found.start() + stop
    out.append(html_text(shown[end:]))
    return "".join(out)


def _hits(word: str, wanted: Collection[str]) -> list[tuple[int, int]]:
    """Where a word, or a piece of it, stands for a term."""
    folded = standard.fold(word)
    if _stands_for(folded, wanted):
        return [(0, len(word))]
    hits: list[tuple[int, int]] = []
    if not word.isascii():
        hits = [(place, place + 1) for place, character in enumerate(word) if character in wanted]
        hits += [(place, place + 2) for place in range(len(word) - 1) if word[place : place + 2] in wanted]
        return _merged(hits)
    place = 0
    for piece in standard.split_identifier(word):
        start = folded.find(piece, place)
        if start < 0:
            continue
        place = start + len(piece)
        if _stands_for(piece, wanted):
            hits.append((start, place))
    return _merged(hits)


def _stands_for(word: str, wanted: Collection[str]) -> bool:
    return word in wanted or standard.stem(word) in wanted or reference.stem(word) in wanted


def _merged(hits: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(hits):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    return merged
