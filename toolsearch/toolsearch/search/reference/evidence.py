"""Where a query word of the keyword arm stands, found without visiting the tools that lack it.

The observed rule for texts is one pattern per word: the word between two word boundaries, with ASCII word characters.
Three facts make it a look-up. A word of word characters alone is found exactly where it is a whole run of them. A word
without any word character is found exactly where it stands, as a whole, between two word characters. And a mixed word
is found only in texts that hold each of its runs as a whole run; only those are searched with the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from toolsearch.search.analysis.reference import JAVASCRIPT_BLANKS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Marks = NDArray[np.bool_]

NOWHERE: Integers = np.zeros(0, dtype=np.int64)
_RUN = re.compile(r"\w+", re.ASCII)
_JOINT = re.compile(rf"(?<=\w)[^\w{JAVASCRIPT_BLANKS}]+(?=\w)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The tools in which one word stands, by kind; each list ascending, each tool once.

    Attributes:
        equal: It is a part of the name.
        inside: It stands inside a part of the name and is none itself.
        hint: It is a word of the hint.
        description: It is a word of the description.
    """

    equal: Integers
    inside: Integers
    hint: Integers
    description: Integers

    def mark(self, tools: Marks) -> None:
        """Mark all of them in an array with one place per tool."""
        for places in (self.equal, self.inside, self.hint, self.description):
            tools[places] = True

    def holds(self, place: int) -> bool:
        """Whether the word stands anywhere in one tool."""
        return any(place in places for places in (self.equal, self.inside, self.hint, self.description))


@dataclass(frozen=True, slots=True)
class WordsOfTexts:
    """The words of one text per tool."""

    texts: tuple[str, ...]
    runs: dict[str, Integers]
    joints: dict[str, Integers]

    def places(self, word: str) -> Integers:
        """The tools whose text holds a lower-case word between word boundaries, ascending."""
        runs = _RUN.findall(word)
        if not runs:
            return self.joints.get(word, NOWHERE)
        holding = reduce(_intersection, (self.runs.get(run, NOWHERE) for run in sorted(set(runs))))
        if runs == [word]:
            return holding
        pattern = re.compile(rf"\b{re.escape(word)}\b", re.ASCII)
        return _integers([place for place in holding.tolist() if pattern.search(self.texts[place])])


@dataclass(frozen=True, slots=True)
class NameParts:
    """The parts of all names: by part, and as one text in which a piece of a part is found by one search."""

    tools: int
    by_part: dict[str, Integers]
    joined: str
    starts: Integers
    parts: tuple[str, ...]

    def places(self, word: str) -> tuple[Integers, Integers]:
        """The tools with a part that equals a word, and the others with a part that holds it; both ascending."""
        equal = self.by_part.get(word, NOWHERE)
        holding: Marks = np.zeros(self.tools, dtype=bool)
        position = self.joined.find(word)
        while position >= 0:
            number = int(np.searchsorted(self.starts, position, side="right")) - 1
            holding[self.by_part[self.parts[number]]] = True
            # On with the next part: once is enough.
            position = self.joined.find(word, int(self.starts[number]) + len(self.parts[number]) + 1)
        holding[equal] = False
        return equal, np.flatnonzero(holding)


@dataclass(frozen=True, slots=True)
class KeywordIndex:
    """What the keyword arm knows of names and texts."""

    parts: NameParts
    hints: WordsOfTexts
    descriptions: WordsOfTexts

    def evidence(self, word: str) -> Evidence:
        """Where a lower-case word without blanks stands."""
        equal, inside = self.parts.places(word)
        return Evidence(equal, inside, self.hints.places(word), self.descriptions.places(word))


def read_words(parts: Sequence[Sequence[str]], hints: Sequence[str], descriptions: Sequence[str]) -> KeywordIndex:
    """Read the name parts, hints and descriptions of all tools, in one order."""
    return KeywordIndex(_read_parts(parts), _read_texts(hints), _read_texts(descriptions))


def _read_parts(parts: Sequence[Sequence[str]]) -> NameParts:
    by_part = _postings(parts)
    # Words hold no line break (it is a blank, and a query is split there), so none is found across two parts.
    names = tuple(by_part)
    starts = np.cumsum([0, *(len(part) + 1 for part in names)])[: len(names)]
    return NameParts(len(parts), by_part, "\n".join(names), _integers(starts), names)


def _read_texts(texts: Sequence[str]) -> WordsOfTexts:
    lowered = tuple(text.lower() for text in texts)
    return WordsOfTexts(
        lowered,
        _postings([_RUN.findall(text) for text in lowered]),
        _postings([_JOINT.findall(text) for text in lowered]),
    )


def _postings(words: Sequence[Sequence[str]]) -> dict[str, Integers]:
    found: dict[str, list[int]] = {}
    for place, own in enumerate(words):
        for word in dict.fromkeys(own):
            found.setdefault(word, []).append(place)
    return {word: _integers(places) for word, places in found.items()}


def _intersection(first: Integers, second: Integers) -> Integers:
    return np.intersect1d(first, second, assume_unique=True)


def _integers(numbers: Sequence[int] | Integers) -> Integers:
    return np.asarray(numbers, dtype=np.int64)
