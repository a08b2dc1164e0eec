"""The ways in which a term of a catalog may answer a term of a query, each with a weight of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from toolsearch.config import SearchConfig

(
    EXACT,
    JOINED,
    OPEN,
    SAME,
    NEAR,
    SHORT,
    TRANSLATION,
    LOOSE_TRANSLATION,
    SPELLING,
    FAR_SPELLING,
    DICTIONARY,
    LOOSE_DICTIONARY,
    RELATED,
) = range(13)
"""Kinds of alternative: the term itself, a closed form, the halves of a closed form side by side, then what a lexicon,
a corrected spelling, a dictionary or the vectors of words give."""

FIRST_EXPANSION = SAME
"""From here on the term of the catalog is another word than the query's."""

SOURCES = {
    SAME: "synonym",
    NEAR: "near synonym",
    SHORT: "abbreviation",
    TRANSLATION: "translation",
    LOOSE_TRANSLATION: "loose translation",
    SPELLING: "spelling",
    FAR_SPELLING: "spelling",
    DICTIONARY: "dictionary",
    LOOSE_DICTIONARY: "loose dictionary",
    RELATED: "related word",
}
"""How an explanation calls a kind of expansion."""


def factors(config: SearchConfig) -> NDArray[np.float64]:
    """What an alternative of each kind counts beside the term itself, 0..1, by kind; 0 switches a kind off."""
    return np.array(
        [
            1.0,
            config.joined_weight,
            # Halves are less sure than a closed form: their posting's worth includes places where they stand alone.
            config.joined_weight**2,
            config.synonym_weight,
            config.near_synonym_weight,
            config.abbreviation_weight,
            config.translation_weight,
            config.loose_translation_weight,
            config.spelling_weight,
            config.spelling_weight**2,
            config.dictionary_weight,
            config.dictionary_weight**2,
            config.related_weight,
        ]
    )


def active(config: SearchConfig) -> frozenset[int]:
    """The kinds of expansion that a configuration uses; the others are not even looked up."""
    return frozenset(kind for kind, factor in enumerate(factors(config)) if kind >= FIRST_EXPANSION and factor > 0)
