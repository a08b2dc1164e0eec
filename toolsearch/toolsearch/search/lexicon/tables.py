"""The lexicon ready for look-ups: what each term of a query may be answered by, in terms of an index."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import snowballstemmer

from toolsearch.search.analysis.standard import STOP_WORDS, fold, stem, words
from toolsearch.search.lexicon.reader import ENGLISH, STEMMED, STOP, UNSPACED, Row, shipped_rows
from toolsearch.search.lexicon.relations import (
    LOOSE_TRANSLATION,
    NEAR,
    SAME,
    SHORT,
    TRANSLATION,
)

_KIND = {"same": SAME, "near": NEAR, "short": SHORT}
_TRANSLATION_KIND = {"same": TRANSLATION, "near": LOOSE_TRANSLATION}
_local = threading.local()


class Gloss(NamedTuple):
    """Something that may stand in a catalog for a term of a query.

    Attributes:
        terms: Terms of an index; a tool has all of them in one field.
        kind: Of `relations`.
        text: As it is written.
    """

    terms: tuple[str, ...]
    kind: int
    text: str


Glosses = tuple[Gloss, ...]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All look-ups.

    Attributes:
        english: Glosses by the stems of one or several English words.
        english_words: The single stems of all English terms: words that are English, whatever else they are.
        spaced: By language written with blanks, glosses by the stems of one or several of its words.
        stops: By such a language, its folded stop words.
        runs: Glosses by term for languages written without blanks.
        run_stops: Their stop words.
        run_lengths: By the first letter of either, how long those are that begin with it, the longest first.
        longest_phrase: The most words of any key.
    """

    english: Mapping[tuple[str, ...], Glosses]
    english_words: frozenset[str]
    spaced: Mapping[str, Mapping[tuple[str, ...], Glosses]]
    stops: Mapping[str, frozenset[str]]
    runs: Mapping[str, Glosses]
    run_stops: frozenset[str]
    run_lengths: Mapping[str, tuple[int, ...]]
    longest_phrase: int


def index_terms(text: str) -> tuple[str, ...]:
    """The terms under which an index holds a text, stop words left out unless there is nothing else.

    >>> index_terms("pull requests"), index_terms("log in"), index_terms("合并请求")
    (('pull', 'request'), ('log',), ('合并', '并请', '请求'))
    """
    read = words(text)
    kept = [word for word in read if not word.stop] or read
    return tuple(dict.fromkeys(part for word in kept for part in word.parts))


def english_key(text: str) -> tuple[str, ...]:
    """The stems of an English term, in order, by which a query is looked up."""
    return tuple(part for word in words(text) for part in word.parts)


@lru_cache(maxsize=1 << 15)
def foreign_stem(language: str, word: str) -> str:
    """The stem of a folded word of a language in `STEMMED`, folded again."""
    stemmers = getattr(_local, "stemmers", None)
    if stemmers is None:
        stemmers = _local.stemmers = {}
    if language not in stemmers:
        # Snowball's object holds the word that it is working on, so every thread has its own.
        stemmers[language] = snowballstemmer.stemmer(STEMMED[language])
    return fold(stemmers[language].stemWord(word))


def foreign_key(language: str, text: str) -> tuple[str, ...]:
    """The stems of a term of a language in `STEMMED`, by which a query is looked up."""
    return tuple(foreign_stem(language, piece) for word in words(text) for piece in word.pieces)


@cache
def shipped() -> Lexicon:
    """The built-in lexicon; read once, at the first search that needs it."""
    return compiled({language: shipped_rows(language) for language in (ENGLISH, *UNSPACED, *STEMMED)})


def compiled(rows: Mapping[str, Iterable[Row]]) -> Lexicon:
    """Look-ups out of the rows of each language.

    A foreign term is answered by its glosses and by the other terms of its row; an English word by its groups and by
    the foreign terms of which it is a gloss.
    """
    english: dict[tuple[str, ...], dict[tuple[str, ...], Gloss]] = {}
    for row in rows.get(ENGLISH, ()):
        for term in row.terms:
            for other in row.glosses or row.terms:
                if other != term:
                    _add(english, english_key(term), other, _KIND[row.relation])
    spaced: dict[str, dict[tuple[str, ...], dict[tuple[str, ...], Gloss]]] = {}
    stops: dict[str, frozenset[str]] = {}
    runs: dict[tuple[str, ...], dict[tuple[str, ...], Gloss]] = {}
    run_stops: set[str] = set()
    for language in (*UNSPACED, *STEMMED):
        table = runs if language in UNSPACED else spaced.setdefault(language, {})
        for row in rows.get(language, ()):
            if row.relation == STOP:
                if language in UNSPACED:
                    run_stops |= {fold(term) for term in row.terms}
                else:
                    stops[language] = stops.get(language, frozenset()) | {fold(term) for term in row.terms}
                continue
            kind = _TRANSLATION_KIND[row.relation]
            for term in row.terms:
                key = (fold(term),) if language in UNSPACED else foreign_key(language, term)
                for gloss in row.glosses:
                    _add(table, key, gloss, kind)
                for other in row.terms:
                    if other != term:
                        _add(table, key, other, _KIND[row.relation])
                for gloss in row.glosses:
                    _add(english, english_key(gloss), term, kind)
    return Lexicon(
        english=_frozen(english),
        english_words=frozenset(part for key in english for part in key),
        spaced={language: _frozen(table) for language, table in spaced.items()},
        stops=stops,
        runs={key[0]: glosses for key, glosses in _frozen(runs).items()},
        run_stops=frozenset(run_stops),
        run_lengths=_lengths([*run_stops, *(key[0] for key in runs)]),
        longest_phrase=max((len(key) for table in (english, *spaced.values()) for key in table), default=0),
    )


def _add(
    table: dict[tuple[str, ...], dict[tuple[str, ...], Gloss]], key: tuple[str, ...], text: str, kind: int
) -> None:
    terms = index_terms(text)
    if key and terms and terms != key and not (len(terms) == 1 and terms[0] in STOP_WORDS):
        # What a row says first stands; a looser relation adds nothing to it.
        table.setdefault(key, {}).setdefault(terms, Gloss(terms, kind, text))


def _frozen(table: Mapping[tuple[str, ...], Mapping[tuple[str, ...], Gloss]]) -> dict[tuple[str, ...], Glosses]:
    return {key: tuple(glosses.values()) for key, glosses in table.items()}


def _lengths(terms: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """How long the terms are that begin with a letter, the longest first."""
    found: dict[str, set[int]] = {}
    for term in terms:
        found.setdefault(term[0], set()).add(len(term))
    return {letter: tuple(sorted(lengths, reverse=True)) for letter, lengths in found.items()}


@lru_cache(maxsize=1 << 15)
def clear_languages(word: str) -> tuple[str, ...]:
    """The languages with blanks that a folded word shows a text to be in; none for a word that is English too."""
    lexicon = shipped()
    if word in STOP_WORDS or stem(word) in lexicon.english_words:
        return ()
    return tuple(
        language
        for language in STEMMED
        if word in lexicon.stops.get(language, ())
        or (foreign_stem(language, word),) in lexicon.spaced.get(language, {})
    )


def languages_of(folded: Iterable[str]) -> tuple[str, ...]:
    """The languages with blanks, English apart, that a query's folded words show it to be in.

    Two words have to say so, or half of all. Where several languages fit, those count that the most words show:
    neighbours such as Spanish and Portuguese share many words, and then both are taken.
    """
    listed = list(folded)
    shown: dict[str, int] = {}
    for word in listed:
        for language in clear_languages(word):
            shown[language] = shown.get(language, 0) + 1
    most = max(shown.values(), default=0)
    if most < 2 and most * 2 < len(listed):
        return ()
    return tuple(language for language in STEMMED if shown.get(language, 0) == most > 0)
