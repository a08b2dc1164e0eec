"""Where the alternatives of a query's terms stand in an index: single terms, and phrases by their words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolsearch.search.index import Index
from toolsearch.search.lexicon.relations import RELATED
from toolsearch.search.lexicon.spelling import Spellings
from toolsearch.search.lexicon.tables import Gloss
from toolsearch.search.related.words import related

Integers = NDArray[np.int64]
Postings = slice | Integers
"""Postings of an index: a range of them, or their numbers in ascending order."""

_MOST_RELATED = 16
"""Related words of a catalog that may stand for one word of a query: more of them add work and no quality."""
_KEPT = 8192
"""Terms and phrases whose postings an index remembers; an index lives as long as its catalog, queries are endless."""


class Alternative(NamedTuple):
    """One thing that will do for a slot of a query.

    Attributes:
        postings: Where it stands.
        size: In how many tools.
        kind: Of `lexicon.relations`.
        text: How an explanation calls it; "" for the slot's own term.
        worths: How much of what its kind counts each of its postings is worth, 0..1; None for all of it.
    """

    postings: Postings
    size: int
    kind: int
    text: str = ""
    worths: NDArray[np.float64] | None = None


def of_term(index: Index, number: int, kind: int, text: str = "") -> Alternative:
    """The alternative that is one term of the index."""
    start, end = int(index.term_start[number]), int(index.term_start[number + 1])
    return Alternative(slice(start, end), end - start, kind, text)


def of_gloss(index: Index, gloss: Gloss) -> Alternative | None:
    """The alternative that is a gloss, or None where no tool has it."""
    known = index.phrases.get(gloss.terms)
    if known is None:
        if len(index.phrases) >= _KEPT:
            index.phrases.clear()
        known = index.phrases[gloss.terms] = _phrase(index, gloss.terms)
    size = known.stop - known.start if isinstance(known, slice) else len(known)
    return Alternative(known, size, gloss.kind, gloss.text) if size else None


def _phrase(index: Index, terms: Sequence[str]) -> Postings:
    """Postings of the rarest of the terms, for the tools that have all terms in one field."""
    numbers = [index.term_number(term) for term in terms]
    if min(numbers) < 0:
        return slice(0, 0)
    if len(numbers) == 1:
        return of_term(index, numbers[0], 0).postings
    numbers.sort(key=index.frequency)
    common = index.places(numbers[0])
    for number in numbers[1:]:
        if not len(common):
            break
        common = common[np.isin(common, index.places(number), assume_unique=True)]
    start, end = int(index.term_start[numbers[0]]), int(index.term_start[numbers[0] + 1])
    held = np.isin(index.posting_document[start:end], index.tools_of_places(common))
    return np.flatnonzero(held) + start


def misspelt(index: Index, word: str, stem: str) -> tuple[tuple[str, int], ...]:
    """The terms of the index that a word which it does not know may mean, each with its slips.

    Args:
        index: The catalog.
        word: The folded word.
        stem: Its stem; an index holds stems, but the stem of a misspelt word may be cut at another place.
    """
    known = index.misspelt.get(word)
    if known is None:
        if index.spellings is None:
            index.spellings = Spellings(
                (term, index.frequency(number))
                for term, number in index.vocabulary.known()
                if index.term_number(term) >= 0
            )
        near = {*index.spellings.near(word), *index.spellings.near(stem)}
        fewest = min((slips for _, slips in near), default=0)
        known = tuple(sorted((term, slips) for term, slips in near if slips == fewest))
        if len(index.misspelt) >= _KEPT:
            index.misspelt.clear()
        index.misspelt[word] = known
    return known


def near_in_meaning(index: Index, term: str) -> Alternative | None:
    """The terms of the index that are near a term by the vectors of words, as one; None where there is none.

    Of several that one tool has, the nearest stands for it.
    """
    if term not in index.related:
        if len(index.related) >= _KEPT:
            index.related.clear()
        index.related[term] = _near(index, [(number, worth) for _, number, worth in _held(index, term)])
    return index.related[term]


def related_term(index: Index, term: str, posting: int) -> str:
    """Which term near a term stands at a posting that `near_in_meaning` gave for it."""
    for other, number, _ in _held(index, term):
        if index.term_start[number] <= posting < index.term_start[number + 1]:
            return other
    raise ValueError(f"posting {posting} holds no term near {term!r}")


def _held(index: Index, term: str) -> list[tuple[str, int, float]]:
    """The nearest terms that some tool has, with their numbers and what each is worth, nearest first."""
    found = ((other, index.term_number(other), worth) for other, worth in related(term))
    return list(islice((each for each in found if each[1] >= 0), _MOST_RELATED))


def _near(index: Index, held: Sequence[tuple[int, float]]) -> Alternative | None:
    if not held:
        return None
    runs = [np.arange(index.term_start[number], index.term_start[number + 1]) for number, _ in held]
    postings: Integers = np.concatenate(runs)
    worths = np.repeat([worth for _, worth in held], [len(run) for run in runs])
    # The first of a tool's postings is that of its nearest term.
    first = np.unique(index.posting_document[postings], return_index=True)[1]
    return Alternative(postings[first], len(first), RELATED, worths=worths[first])
