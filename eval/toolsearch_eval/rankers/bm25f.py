"""A plain, untuned BM25F: the yardstick against which every gain is counted.

It shares nothing with the system that it judges: its own splitting, its own stop words, its own postings.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import snowballstemmer
from numpy.typing import NDArray

from toolsearch.catalog.tool import Tool
from toolsearch_eval.rankers.order import SCORE_DIGITS, best_first

FIELD_WEIGHTS: Final = (2.5, 1.5, 1.0, 0.5, 0.5)
"""Weights of name, server, description, parameter names, parameter descriptions."""
FIELD_LENGTH_NORMALISATION: Final = (0.3, 0.3, 0.75, 0.75, 0.75)
"""b of each field."""
SATURATION: Final = 1.2
"""k1, applied once to the weighted sum over the fields."""
DESCRIPTION_TERMS: Final = 400
PARAMETER_TERMS: Final = 300

_STOP_WORDS = """
a an the and or but if then else of at by for with about into through to from in out on off over
under is am are was were be been being have has had do does did will would can could should may
might must shall i me my we our you your he him his she her it its they them their this that these
those what which who whom how when where why there here so than too very just not no as please want
need
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())

_WORD = re.compile(r"[^\W_]+")
# Runs of capitals, words with or without one before them, runs of digits; letters beyond A to Z belong to words.
_IDENTIFIER = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|[A-Z]+|\d+")
_CHARACTERS = re.compile(
    r"[\u2e80-\u2fdf\u3005-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    r"\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003134f]+"
)
_DEPTH = 32
_LONGEST_WORD = 250
"""Characters of a text that are read for each term that is kept; bounds the work, and no real text comes near."""
_stemmer = snowballstemmer.stemmer("english")
_stems: dict[str, str] = {}


def terms_of(text: str, *, drop_stop_words: bool, limit: int | None = None) -> list[str]:
    """The index terms of a text in order; empty for a text without letters and digits.

    Args:
        text: Any text.
        drop_stop_words: Leave out the words of `STOP_WORDS`.
        limit: At most so many terms; the rest of the text is not read.

    >>> terms_of("The readFiles tool", drop_stop_words=True)
    ['read', 'file', 'tool']
    """
    terms: list[str] = []
    if limit is not None:
        text = text[: limit * _LONGEST_WORD]
    for found in _WORD.finditer(unicodedata.normalize("NFKC", text)):
        if limit is not None and len(terms) >= limit:
            break
        word, rest = found[0], 0
        for run in _CHARACTERS.finditer(word):
            _add_words(word[rest : run.start()], terms, drop_stop_words)
            characters = run[0]
            terms += characters
            terms += [characters[place : place + 2] for place in range(len(characters) - 1)]
            rest = run.end()
        _add_words(word[rest:], terms, drop_stop_words)
    return terms[:limit]


def _add_words(text: str, terms: list[str], drop_stop_words: bool) -> None:
    for part in _IDENTIFIER.findall(text):
        lowered = part.lower()
        if drop_stop_words and lowered in STOP_WORDS:
            continue
        stem = _stems.get(lowered)
        if stem is None:
            stem = _stems[lowered] = _stemmer.stemWord(lowered)
        terms.append(stem)


class PlainBM25F:
    """The yardstick as a ranker; nothing of it can be set."""

    name = "bm25f"

    def index(self, tools: Sequence[Tool]) -> None:
        """Build the postings of all tools; an empty sequence is allowed."""
        self._names = [tool.name for tool in tools]
        counts: list[list[Counter[str]]] = [[Counter(part) for part in _fields(tool)] for tool in tools]
        lengths = np.array([[part.total() for part in parts] for parts in counts], dtype=float).reshape(-1, 5)
        means = np.maximum(lengths.mean(axis=0), 1e-9) if len(tools) else np.ones(5)
        norms = 1 - np.array(FIELD_LENGTH_NORMALISATION) + np.array(FIELD_LENGTH_NORMALISATION) * lengths / means
        postings: dict[str, dict[int, float]] = {}
        for number, parts in enumerate(counts):
            for field, part in enumerate(parts):
                for term, count in part.items():
                    row = postings.setdefault(term, {})
                    row[number] = row.get(number, 0.0) + FIELD_WEIGHTS[field] * count / norms[number, field]
        self._postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for term, row in postings.items():
            idf = math.log(1 + (len(tools) - len(row) + 0.5) / (len(row) + 0.5))
            frequency = np.array(list(row.values()))
            self._postings[term] = (
                np.array(list(row), dtype=np.int64),
                idf * frequency * (SATURATION + 1) / (frequency + SATURATION),
            )

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """For each query at most `depth` tools that share a term with it, best first, ties by name."""
        return [self._rank(query, depth) for query in queries]

    def _rank(self, query: str, depth: int) -> list[tuple[str, float]]:
        scores = np.zeros(len(self._names))
        for term, count in Counter(terms_of(query, drop_stop_words=True)).items():
            if term in self._postings:
                tools, values = self._postings[term]
                scores[tools] += math.sqrt(min(count, 2)) * values
        scores = np.round(scores, SCORE_DIGITS)
        found = np.flatnonzero(scores > 0)
        if len(found) > depth:
            bound = np.partition(scores[found], len(found) - depth)[len(found) - depth]
            found = found[scores[found] >= bound]
        return best_first(((self._names[number], float(scores[number])) for number in found), depth)


def _fields(tool: Tool) -> tuple[list[str], ...]:
    parameter_names: list[str] = []
    parameter_texts: list[str] = []
    for name, text in _parameters(tool.input_schema or {}, 0):
        if name:
            parameter_names += terms_of(name, drop_stop_words=False)
        if text and len(parameter_texts) < PARAMETER_TERMS:
            parameter_texts += terms_of(text, drop_stop_words=True, limit=PARAMETER_TERMS - len(parameter_texts))
    return (
        terms_of(tool.leaf, drop_stop_words=False),
        terms_of(tool.server or "", drop_stop_words=False),
        terms_of(tool.description or "", drop_stop_words=True, limit=DESCRIPTION_TERMS),
        parameter_names,
        parameter_texts,
    )


def _parameters(schema: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Each parameter's name and its text (description and enum values), nested ones after their owner."""
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        for name, value in properties.items():
            yield str(name), _text(value)
            yield from _parameters(value, depth + 1)
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield "", _text(items)
        yield from _parameters(items, depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        choices = schema.get(key)
        if isinstance(choices, Sequence) and not isinstance(choices, str):
            for choice in choices:
                yield from _parameters(choice, depth + 1)


def _text(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return ""
    description = schema.get("description")
    choices = schema.get("enum")
    parts = [description] if isinstance(description, str) else []
    if isinstance(choices, Sequence) and not isinstance(choices, str):
        parts += [str(choice) for choice in choices]
    return " ".join(parts)
