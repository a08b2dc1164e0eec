"""The two arms: what each posting (a term in a tool) is worth, before the query's own weights.

TF-IDF arm, after Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), BM25F: the
counts of a term in all fields, each divided by the field's length norm and multiplied by the field's weight, are summed
and then saturated, `f / (k1 + f)`. Keyword arm: the points of the strongest field in which the term stands, however
often. Both lie in 0..1, so that what a query's terms are worth adds up to at most 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toolsearch.config import FIELDS, SearchConfig

if TYPE_CHECKING:
    from toolsearch.search.index import Index

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FIELD_BITS = 3
DOCUMENT_BITS = 29
"""An entry's key holds term, tool and field in one integer, so that one sort orders all three."""
PLACE_MASK = (1 << (DOCUMENT_BITS + FIELD_BITS)) - 1
"""Of a key leaves the place: the tool's number and the field's."""


@dataclass(frozen=True, slots=True)
class PostingValues:
    """Worth of postings by arm, each in 0..1, in the order of the postings that were asked for."""

    keyword: Floats
    tfidf: Floats


def posting_values(index: Index, config: SearchConfig, postings: Integers | None = None) -> PostingValues:
    """What the postings are worth under a configuration; all of them, or the ones given by number.

    The arithmetic for one posting is the same in both cases, to the last bit.
    """
    starts = index.postings_start
    if postings is None:
        entries: slice | Integers = slice(None)
        group_starts = starts
    else:
        ends = np.append(starts[1:], len(index.keys))[postings]
        sizes = ends - starts[postings]
        group_starts = np.cumsum(sizes) - sizes
        entries = np.arange(int(sizes.sum())) - np.repeat(group_starts - starts[postings], sizes)
    fields = index.entry_field[entries]
    if not len(fields):
        return PostingValues(np.zeros(0), np.zeros(0))
    frequency = np.add.reduceat(entry_frequencies(index, config, entries), group_starts)
    points = normalised_points(config)
    keyword = np.maximum.reduceat(points.take(fields), group_starts)
    saturated = config.saturation + frequency
    return PostingValues(keyword=keyword, tfidf=np.divide(frequency, saturated, out=saturated))


def entry_frequencies(index: Index, config: SearchConfig, entries: slice | Integers) -> Floats:
    """Weighted, length-normalised count of each entry: count × field weight / length norm.

    The length norm ends at `length_cap` averages, so the count ends there too: length alone must not gain.
    """
    # Laid out as the places are, so that one look-up serves for tool and field.
    worth = np.zeros((index.size, 1 << FIELD_BITS))
    np.divide(np.asarray(config.field_weights.values()), length_norms(index, config), out=worth[:, : len(FIELDS)])
    counted: Floats = worth.ravel().take(index.keys[entries] & PLACE_MASK)
    counted *= np.minimum(index.counts[entries], np.float64(config.length_cap))
    return counted


def length_norms(index: Index, config: SearchConfig) -> Floats:
    """`1 − b + b × length / average` by tool and field; a length counts at most `length_cap` averages."""
    slope = np.asarray(config.length_normalisation.values())
    relative = np.minimum(index.lengths / index.average_lengths, config.length_cap)
    # b = 1 and an empty field would give 0; no entry points there, and the floor keeps the division quiet.
    norms: Floats = np.maximum(1.0 - slope + slope * relative, 1e-9)
    return norms


def normalised_points(config: SearchConfig) -> Floats:
    """The keyword points by field, divided by the largest; all 0 where every field has 0."""
    points = np.asarray(config.keyword_points.values(), dtype=np.float64)
    return points / points.max() if points.max() > 0 else points


def inverse_document_frequency(frequency: Integers | Floats, size: int) -> Floats:
    """`ln(1 + (N − df + 0.5) / (df + 0.5))`: above 0 even for a term that every tool holds."""
    count = np.asarray(frequency, dtype=np.float64)
    return np.log1p((size - count + 0.5) / (count + 0.5))
