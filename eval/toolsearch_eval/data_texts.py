"""Texts that stand where they should not: queries copied from what describes a tool, and queries that come twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from toolsearch.catalog.tool import Tool
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.measures import relevant

_COPIED_WORDS = 6
"""Shorter runs of words stand in a description and in a query by chance."""
_CHARACTER = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_WORD = re.compile(rf"{_CHARACTER.pattern}|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")

Kind = Literal["description", "search hint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """A leak: a query and a tool's text share six words or more as a whole, or the query is its search hint.

    Attributes:
        query: The query.
        tool: The tool's name.
        kind: Which of its texts.
    """

    query: Query
    tool: str
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """A query whose text stands at an earlier query already, letter case and punctuation aside.

    Attributes:
        query: The later query.
        first: The earliest one with these words.
        same_answers: Both have the same relevant tools.
    """

    query: Query
    first: Query
    same_answers: bool

    @property
    def same_split(self) -> bool:
        """Both stand in one split."""
        return self.query.split == self.first.split


def copied_texts(data: DataSet) -> tuple[Copied, ...]:
    """Every leak, in the order of the queries and then of the catalog."""
    copies = _Copies(data.tools)
    return tuple(
        Copied(query=query, tool=tool, kind=kind)
        for query in data.queries
        if (words := _words(query.text))
        for tool, kind in copies.of(words)
    )


def repeated_texts(data: DataSet) -> tuple[Repeated, ...]:
    """Every query that says what an earlier one says, in the order of the queries; texts without a word don't count."""
    first: dict[tuple[str, ...], Query] = {}
    found = []
    for query in data.queries:
        words = _words(query.text)
        other = first.setdefault(words, query) if words else query
        if other is not query:
            answers = [relevant(data.judgements.get(each.query_id, {})) for each in (other, query)]
            found.append(Repeated(query=query, first=other, same_answers=answers[0] == answers[1]))
    return tuple(found)


class _Copies:
    """Finds the texts of a catalog of which a query is a copy; only texts that share a run of words are compared."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._texts: list[tuple[str, Kind, tuple[str, ...]]] = []
        self._holding: dict[tuple[str, ...], list[int]] = {}
        self._beginning: dict[tuple[str, ...], list[int]] = {}
        self._hints: dict[tuple[str, ...], list[int]] = {}
        for tool in tools:
            texts: tuple[tuple[Kind, str | None], ...] = (
                ("description", tool.description),
                ("search hint", tool.search_hint),
            )
            for kind, text in texts:
                words = _words(text or "")
                number = len(self._texts)
                self._texts.append((tool.name, kind, words))
                for run in dict.fromkeys(_runs(words)):
                    self._holding.setdefault(run, []).append(number)
                if len(words) >= _COPIED_WORDS:
                    self._beginning.setdefault(words[:_COPIED_WORDS], []).append(number)
                if kind == "search hint" and words:
                    self._hints.setdefault(words, []).append(number)

    def of(self, query: tuple[str, ...]) -> list[tuple[str, Kind]]:
        """Name and kind of each text, in the catalog's order."""
        found = set(self._hints.get(query, ()))
        candidates = set(self._holding.get(query[:_COPIED_WORDS], ()))
        for run in _runs(query):
            candidates.update(self._beginning.get(run, ()))
        for number in candidates:
            shorter, longer = sorted((query, self._texts[number][2]), key=len)
            # Two characters of Chinese, Japanese or Korean say about as much as a word.
            size = sum(0.5 if _CHARACTER.fullmatch(word) else 1 for word in shorter)
            if size >= _COPIED_WORDS and f" {' '.join(shorter)} " in f" {' '.join(longer)} ":
                found.add(number)
        return [self._texts[number][:2] for number in sorted(found)]


def _runs(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return (words[place : place + _COPIED_WORDS] for place in range(len(words) - _COPIED_WORDS + 1))


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))
