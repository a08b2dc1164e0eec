"""The numbers of the observed ranking and its small formulas; each stands here once and nowhere else.

Sums run from left to right, one addition at a time. The built-in `sum` does not do so in every version of Python, and
two ways of adding up may put two tools that are equal in exact arithmetic in different orders.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

from toolsearch.config import SearchConfig

NAME_BOOST = 0.75
"""The least cosine of a tool whose whole name stands in the query."""
SERVER_FACTOR = 1.2
"""A server's tool gets 12 and 6 where a built-in gets 10 and 5: a factor, so that it keeps its meaning when the points
are tuned."""
LEAST_HAN_PAIRS = 2
"""Fewer pairs of Han characters in common than this count for nothing, unless another term is shared."""


def name_points(config: SearchConfig, *, of_server: bool) -> float:
    """Keyword points of a word that equals a part of the tool's name."""
    return config.keyword_points.name * (SERVER_FACTOR if of_server else 1.0)


def substring_points(config: SearchConfig, *, of_server: bool) -> float:
    """Keyword points of a word that stands inside a part of the tool's name."""
    return config.keyword_substring_points * (SERVER_FACTOR if of_server else 1.0)


def field_weights(config: SearchConfig) -> tuple[float, float, float]:
    """The weights of the three fields that the ranking knows: name, hint, description."""
    weights = config.field_weights
    return weights.name, weights.hint, weights.description


def relative_counts(words: Sequence[str]) -> dict[str, float]:
    """Each term's count divided by the largest count, in order of first appearance; empty for no terms.

    >>> relative_counts(["send", "mail", "send"])
    {'send': 1.0, 'mail': 0.5}
    """
    counts = Counter(words)
    largest = max(counts.values(), default=1)
    return {word: count / largest for word, count in counts.items()}


def weighted_frequencies(fields: Sequence[tuple[Mapping[str, float], float]]) -> dict[str, float]:
    """Relative count × field weight; a term in several fields keeps the largest, not the sum.

    >>> weighted_frequencies([({"send": 1.0}, 3.0), ({"send": 1.0, "mail": 0.5}, 1.0)])
    {'send': 3.0, 'mail': 0.5}
    """
    found: dict[str, float] = {}
    for frequencies, weight in fields:
        for term, frequency in frequencies.items():
            found[term] = max(found.get(term, 0.0), frequency * weight)
    return found


def inverse_frequencies(documents: Sequence[Set[str]]) -> dict[str, float]:
    """`ln(N / df)` by term; 0 for a term that every document has, empty for no documents."""
    counts = Counter(term for document in documents for term in sorted(document))
    return {term: math.log(len(documents) / count) for term, count in counts.items()}


def norm(values: Iterable[float]) -> float:
    """The length of a vector; 0 for an empty one."""
    total = 0.0
    for value in values:
        total += value * value
    return math.sqrt(total)


def cosine(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """The cosine of two sparse vectors, added up in the order of the first; 0 where either is all zero."""
    product = 0.0
    for term, value in first.items():
        if term in second:
            product += value * second[term]
    norms = norm(first.values()) * norm(second.values())
    return product / norms if norms else 0.0


def spaced(query: str) -> str:
    """The query as names are looked for in it: lower case, `-` and `_` as blanks.

    >>> spaced("Send_Mail now")
    'send mail now'
    """
    return query.lower().replace("-", " ").replace("_", " ")
