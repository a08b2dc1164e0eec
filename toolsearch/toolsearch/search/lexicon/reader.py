"""The lexicon's files: what a row says, and all that is wrong with a file at once.

A file holds tab-parted rows. English: `relation, terms`; another language: `relation, terms, English glosses`, or
`stop, terms`. Terms are parted by ` | `; in English `left > right` makes a group one-way.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from toolsearch.errors import DataError, Problem

ENGLISH = "en"
UNSPACED = ("zh", "ja", "ko")
"""Languages whose terms are sought inside runs of letters, by the longest that fits."""
STEMMED = {
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "pt": "portuguese",
    "ru": "russian",
}
"""Languages written with blanks, each with its stemmer."""
LANGUAGES = (ENGLISH, *UNSPACED, *STEMMED)

RELATIONS = ("same", "near", "short")
STOP = "stop"
_MOST_WORDS = 4


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a lexicon file.

    Attributes:
        relation: `same`, `near`, `short` (English only) or `stop` (other languages only).
        terms: The terms of the file's language.
        glosses: Their English glosses, or in English the right side of a one-way group; else empty.
    """

    relation: str
    terms: tuple[str, ...]
    glosses: tuple[str, ...] = ()


def read_rows(language: str, text: str, path: str) -> list[Row]:
    """The rows of a file.

    Args:
        language: The file's language.
        text: Its content.
        path: How messages call it.

    Raises:
        DataError: With every problem of the file, each as `path:line: what is wrong`.
    """
    rows: list[Row] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        row = _row(language, line)
        found = list(_problems(language, row))
        problems += [Problem(path, number, "", message) for message in found]
        if not found:
            rows.append(row)
    if problems:
        raise DataError(problems)
    return rows


def _row(language: str, line: str) -> Row:
    relation, _, rest = line.partition("\t")
    left, _, right = rest.partition(" > ") if language == ENGLISH else rest.partition("\t")
    return Row(relation, _terms(left), _terms(right))


def _terms(text: str) -> tuple[str, ...]:
    return tuple(term.strip() for term in text.split("|")) if text.strip() else ()


def _problems(language: str, row: Row) -> Iterator[str]:
    allowed = RELATIONS if language == ENGLISH else (*RELATIONS[:2], STOP)
    if row.relation not in allowed:
        yield f"the relation is {row.relation!r}; it must be one of {', '.join(allowed)}"
        return
    for term in (*row.terms, *row.glosses):
        if not term or term != unicodedata.normalize("NFKC", term).lower() or "\t" in term:
            yield f"the term {term!r} must be lower case, in NFKC and not empty"
        elif len(term.split()) > _MOST_WORDS:
            yield f"the term {term!r} has more than {_MOST_WORDS} words"
    for side in (row.terms, row.glosses):
        for term in sorted({term for term in side if side.count(term) > 1}):
            yield f"{term!r} stands twice in one row"
    for term in sorted(set(row.terms) & set(row.glosses)):
        yield f"{term!r} is its own gloss"
    if row.relation == STOP:
        if not row.terms or row.glosses:
            yield "a row of stop words has one column of terms"
    elif language == ENGLISH:
        if not row.terms or (len(row.terms) < 2 and not row.glosses):
            yield "a group has at least two terms"
    elif not row.terms or not row.glosses:
        yield "a row has a column of terms and a column of English glosses"


def file_text(language: str) -> str:
    """The text of a language's shipped file; empty where there is none."""
    source = files("toolsearch.search.lexicon").joinpath("data", f"{language}.tsv")
    return source.read_text(encoding="utf-8") if source.is_file() else ""


def shipped_rows(language: str) -> list[Row]:
    """The rows of a language's shipped file."""
    return read_rows(language, file_text(language), f"{language}.tsv")
