"""Near terms of an index for a word that it does not know: one or two slips of the finger away.

The work for one word is bounded: terms with the same first letter and nearly the same letters are found by array work
over letter counts, and only a bounded number of these is compared letter by letter.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_SHORTEST, _LONGEST = 4, 24
_TWO_SLIPS_FROM = 8
_MOST_COMPARED = 128
_MOST_GIVEN = 3
_LETTERS = 26


class Spellings:
    """The terms of an index that a misspelt word may mean."""

    def __init__(self, terms: Iterable[tuple[str, int]]) -> None:
        """Take terms with their frequency; those of other letters than a–z, or too short or long, are left out."""
        kept = sorted(
            (term, frequency)
            for term, frequency in terms
            if _SHORTEST - 1 <= len(term) <= _LONGEST and term.isascii() and term.isalpha() and term.islower()
        )
        self._terms = [term for term, _ in kept]
        self._frequency = [frequency for _, frequency in kept]
        self._lengths: NDArray[np.int64] = np.array([len(term) for term in self._terms], dtype=np.int64)
        letters = np.frombuffer("".join(self._terms).encode(), dtype=np.uint8).astype(np.int64) - ord("a")
        rows = np.repeat(np.arange(len(kept)), self._lengths)
        counted = np.bincount(rows * _LETTERS + letters, minlength=len(kept) * _LETTERS)
        self._counts = counted.reshape(len(kept), _LETTERS).astype(np.int8)
        # Sorted, so that the terms of a first letter stand together.
        self._first = np.searchsorted(
            np.array([ord(term[0]) - ord("a") for term in self._terms], dtype=np.int64), np.arange(_LETTERS + 1)
        )

    def near(self, word: str) -> tuple[tuple[str, int], ...]:
        """The nearest terms, each with its slips: one, or for a word of eight letters and more also two.

        Only the nearest ones are given, the more frequent first, at most three; a slip is a letter too many, too few,
        another one, or two neighbours changed. The first letter is taken to be right.

        >>> Spellings([("calendar", 3), ("channel", 5), ("column", 1)]).near("calender")
        (('calendar', 1),)
        """
        if not (_SHORTEST <= len(word) <= _LONGEST and word.isascii() and word.isalpha() and word.islower()):
            return ()
        slips = 2 if len(word) >= _TWO_SLIPS_FROM else 1
        initial = ord(word[0]) - ord("a")
        inside = slice(int(self._first[initial]), int(self._first[initial + 1]))
        own = np.bincount(np.frombuffer(word.encode(), dtype=np.uint8) - ord("a"), minlength=_LETTERS)
        apart = np.abs(self._counts[inside] - own.astype(np.int8)).sum(axis=1, dtype=np.int64)
        # A changed letter moves two counts, one too many or too few one, neighbours changed none.
        possible = np.flatnonzero((apart <= 2 * slips) & (np.abs(self._lengths[inside] - len(word)) <= slips))
        possible = possible[np.argsort(apart[possible], kind="stable")][:_MOST_COMPARED] + inside.start
        found = []
        for place in possible.tolist():
            term = self._terms[place]
            distance = slips_between(word, term, slips)
            if 0 < distance <= slips:
                found.append((distance, -self._frequency[place], term))
        found.sort()
        return tuple((term, distance) for distance, _, term in found[:_MOST_GIVEN] if distance == found[0][0])


def slips_between(first: str, second: str, most: int) -> int:
    """The optimal string alignment distance of two words; `most + 1` where it is larger than `most`.

    >>> slips_between("recieve", "receive", 2), slips_between("form", "from", 1), slips_between("abc", "xyz", 1)
    (1, 1, 2)
    """
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    above = list(range(len(second) + 1))
    for row, letter in enumerate(first, start=1):
        here = [row]
        for column, other in enumerate(second, start=1):
            value = min(above[column] + 1, here[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                value = min(value, before[column - 2] + 1)
            here.append(value)
        if min(here) > most:
            return most + 1
        before, above = above, here
    return min(above[-1], most + 1)
