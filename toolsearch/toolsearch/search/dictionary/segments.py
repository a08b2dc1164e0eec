"""The terms of a run of Chinese letters: the built-in lexicon's, and between them the dictionary's words."""

from __future__ import annotations

from collections.abc import Sequence

from toolsearch.search.dictionary.chinese import Dictionary
from toolsearch.search.lexicon.runs import Segment


def with_dictionary(
    dictionary: Dictionary, run: str, built_in: Sequence[Segment], active: frozenset[int]
) -> list[Segment]:
    """The built-in terms of a run and the dictionary's words that lie over none of several letters, from left to right.

    Args:
        dictionary: What is looked up.
        run: The run.
        built_in: What the built-in lexicon reads in it; it knows the words of tools and software better, so it wins.
        active: The kinds of expansion that are wanted.
    """
    found = list(built_in)
    start = 0
    for word in dictionary.cut(run):
        end = start + len(word)
        glosses = tuple(gloss for gloss in dictionary.english(word) if gloss.kind in active)
        over = [each for each in found if each.start < end and start < each.end]
        # A single letter of the lexicon says less than the longer word that it is a part of.
        if glosses and all(each.end - each.start == 1 < len(word) for each in over):
            found = [each for each in found if each not in over]
            found.append(Segment(start, end, glosses, False))
        start = end
    return sorted(found, key=lambda each: each.start)
