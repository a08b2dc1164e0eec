"""Which scripts without blanks a query and a catalog are written in."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from toolsearch.search.analysis.standard import UNSPACED_LETTERS, Word
from toolsearch.search.index import Index

_UNSPACED = re.compile(f"[{UNSPACED_LETTERS}]")
_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_OF_OTHERS = re.compile("[\u3040-\u30ff\u31f0-\u31ff\u1100-\u11ff\uac00-\ud7af]")
"""Kana and Hangul: what has them is Japanese or Korean, though it may have Han letters too."""


def is_chinese(words: Iterable[Word]) -> bool:
    """Whether words hold Han letters and no kana or Hangul.

    >>> from toolsearch.search.analysis.standard import words
    >>> [is_chinese(words(text)) for text in ("查询 weather", "天気を調べる", "weather")]
    [True, False, False]
    """
    runs = [word.plain for word in words if not word.pieces]
    return any(_HAN.search(run) for run in runs) and not any(_OF_OTHERS.search(run) for run in runs)


def of_unspaced_script(term: str) -> bool:
    """Whether a term of an index comes from a run of letters without blanks.

    >>> of_unspaced_script("天气"), of_unspaced_script("weather")
    (True, False)
    """
    return not term.isascii() and _UNSPACED.match(term) is not None


def unspaced_tools(index: Index) -> int:
    """How many tools of a catalog hold letters of a script without blanks; worked out once for an index."""
    if index.unspaced_tools is None:
        held = np.zeros(index.size, dtype=bool)
        for term, number in index.vocabulary.known():
            if len(term) == 1 and of_unspaced_script(term) and index.term_number(term) >= 0:
                held[index.posting_document[index.term_start[number] : index.term_start[number + 1]]] = True
        index.unspaced_tools = int(held.sum())
    return index.unspaced_tools
