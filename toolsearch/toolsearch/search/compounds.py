"""Tools that write a closed compound open: `web page` for `webpage`."""

from __future__ import annotations

import numpy as np

from toolsearch.search.analysis.standard import analyse, chunks, stem
from toolsearch.search.fields import field_texts
from toolsearch.search.index import Index

_KEPT = 1024
"""Compounds remembered for each index."""
_MOST_READ = 256
"""Texts read for one compound. Where more tools than this have both halves, having both is taken as enough: the halves
belong together in that catalog, and no query may cost the reading of all of it."""


def open_postings(index: Index, first: str, second: str) -> tuple[int, ...]:
    """Postings of the rarer half, for the tools that have both halves side by side in one text.

    Names, servers and hints are indexed with the closed forms of their neighbours already; this finds the running
    texts, by reading the few tools that have both halves, once for each compound.

    Args:
        index: The catalog.
        first: The first half, folded, not stemmed.
        second: The second half.

    Returns:
        Posting numbers in ascending order; empty where no tool has both.
    """
    halves = (stem(first), stem(second))
    known = index.compounds.get(halves)
    if known is None:
        if len(index.compounds) >= _KEPT:
            index.compounds.clear()
        known = index.compounds[halves] = _found(index, halves)
    return known


def _found(index: Index, halves: tuple[str, str]) -> tuple[int, ...]:
    numbers = [index.term_number(half) for half in halves]
    if min(numbers) < 0:
        return ()
    ranges = [np.arange(index.term_start[number], index.term_start[number + 1]) for number in numbers]
    ranges.sort(key=len)
    rarer, other = ranges
    both = rarer[np.isin(index.posting_document[rarer], index.posting_document[other])]
    if len(both) > _MOST_READ:
        return tuple(int(posting) for posting in both)
    return tuple(int(posting) for posting in both if _side_by_side(index, int(index.posting_document[posting]), halves))


def _side_by_side(index: Index, number: int, halves: tuple[str, str]) -> bool:
    for text in field_texts(index.tools[number]):
        before = ""
        for chunk in chunks(text):
            for word in analyse(chunk):
                for part in word.parts:
                    if (before, part) == halves:
                        return True
                    before = part
    return False
