"""Why a tool has its score under the observed ranking, or why it is not listed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from toolsearch.search.reference.arms import Cosines, KeywordHits, given_for
from toolsearch.search.reference.formulas import LEAST_HAN_PAIRS, NAME_BOOST
from toolsearch.search.reference.index import FIELDS
from toolsearch.search.reference.ranking import Found, IndexedReference, Merged
from toolsearch.search.results import Part

BOOST_TERM = "name boost"
"""Stands as the term of what the boost added to a cosine; it holds a blank, so no term of a query is written so."""

_LARGEST = 1e300
_Shares = dict[tuple[str, str], float]


def parts_of(ranking: IndexedReference, found: Found, item: Merged) -> tuple[Part, ...]:
    """What each arm gave for each field and term, keyword arm first, the largest first within an arm.

    TF-IDF: a cosine is a sum over terms, so each term has its own share, under the field whose weighted frequency
    counted (the ranking takes the largest, not the sum). Where the query holds the tool's whole name and the cosine is
    below the boost, the term `name boost` has what the boost added; the other parts stay the cosine's own.

    Keyword: the arm gives points for each word and field but passes on a rank only. Its share (rank score × weight) is
    split in proportion to the points, which shows by what the tool came to its rank; a word that several tools share
    alike moved none of them past the others all the same. Where the query is a name, or begins names, there are no
    points: the one part names the query.

    Each arm's parts add up to the arm's share without any rounding, so all of them, added exactly (`math.fsum`), give
    the score, and those of one arm give the arm's share.
    """
    keyword = _as_parts("keyword", _keyword_shares(ranking, found, item), item.keyword)
    tfidf = _as_parts("tfidf", _tfidf_shares(ranking, found.cosines, item.tool.name), item.tfidf)
    return (*keyword, *tfidf)


def exact_shares(values: Sequence[float], total: float) -> list[float]:
    """The values made to add up to a total with nothing lost to rounding.

    All become whole multiples of the total's last bit, and the largest takes what is missing; so every sum of some of
    them is exact, in any order.

    Args:
        values: At least one, each at least 0.
        total: What they add up to but for rounding, finite and above 0.

    >>> exact_shares([0.1, 0.2], 0.3), 0.1 + 0.2 == 0.3
    ([0.09999999999999998, 0.2], False)
    """
    step = math.ulp(total)
    steps = [math.floor(value / step) for value in values]
    largest = max(range(len(values)), key=lambda place: values[place])
    steps[largest] += round(total / step) - sum(steps)
    return [count * step for count in steps]


def why_listed(ranking: IndexedReference, found: Found, item: Merged, rank: int, limit: int) -> str:
    """One sentence for a tool of the result: its rank and what it stood for in each arm's list."""
    name, place = item.tool.name, ranking.index.numbers[item.tool.name]
    keyword = _place_in([tool.name for tool in found.hits.listed(ranking.index, limit)], name)
    clauses = [f"place {keyword} in the keyword list"] if keyword else []
    if _place_in(found.cosines.best(ranking.config.confidence_bound, limit).tolist(), place):
        raised = place in found.cosines.named and found.cosines.cosines[place] < NAME_BOOST
        why = " (raised: the query holds its whole name)" if raised else ""
        clauses.append(f"a cosine of {found.cosines.scores[place]:.3f}{why}")
    return f"{name} has rank {rank} by its score: {' and '.join(clauses)}."


def why_not_listed(ranking: IndexedReference, found: Found, name: str, limit: int) -> str:
    """One sentence for a searchable tool that is not in the result: where it fell out of each arm's list."""
    place = ranking.index.numbers[name]
    keyword = _keyword_fate(ranking, found.hits, place, limit)
    tfidf = _tfidf_fate(ranking, found.cosines, place, limit)
    if not keyword and not tfidf:
        return f"{name} was not found: it shares no term with the query."
    return f"{name} is not listed: {keyword or 'no query word stands in it'}; {tfidf or 'it shares no TF-IDF term'}."


def _keyword_fate(ranking: IndexedReference, hits: KeywordHits, place: int, limit: int) -> str:
    if hits.named is ranking.index.tools[place]:
        return "its name is the query, which makes it the whole keyword list" + _cut(1, limit)
    if hits.named is not None:
        return f"the query is the name {hits.named.name}, so the keyword list holds that tool alone"
    if hits.begun and place not in hits.places:
        return "the query begins the names of other tools, so the keyword list holds those alone"
    lacking = dict.fromkeys(word for word, evidence in hits.words[: hits.required] if not evidence.holds(place))
    has_some = any(evidence.holds(place) for _, evidence in hits.words)
    if lacking and has_some:
        return f"it lacks the required word{'s' * (len(lacking) > 1)} {', '.join(lacking)}"
    rank = _place_in(hits.best(None).tolist(), place)
    if rank is None:
        return "the words that stand in it give no points" if has_some else ""
    return f"it has place {rank} in the keyword list" + _cut(rank, limit)


def _tfidf_fate(ranking: IndexedReference, found: Cosines, place: int, limit: int) -> str:
    bound, score = ranking.config.confidence_bound, float(found.scores[place])
    rank = _place_in(found.best(bound, None).tolist(), place)
    if rank is not None:
        return f"its cosine {score:.3f} has place {rank} in the TF-IDF list" + _cut(rank, limit)
    if score > 0:
        return f"its cosine {score:.3f} is below the bound {bound:g}"
    postings = {term: _posting(ranking, term, place) for term in found.wanted}
    shared = {term: posting for term, posting in postings.items() if posting is not None}
    if not shared:
        return ""
    if any(found.wanted[term] * ranking.vectors.values[posting] > 0 for term, posting in shared.items()):
        return f"it shares fewer than {LEAST_HAN_PAIRS} pairs of Chinese characters, which counts as a cosine of 0"
    return "its cosine is 0, as the terms that it shares stand in every tool or have no weight"


def _cut(rank: int, limit: int) -> str:
    return f", below its cut after {limit}" if rank > limit else ", but the merged list is cut above it"


def _keyword_shares(ranking: IndexedReference, found: Found, item: Merged) -> _Shares:
    hits = found.hits
    if hits.named is not None or hits.begun:
        return {("name", hits.text): 1.0}
    place = ranking.index.numbers[item.tool.name]
    shares: _Shares = {}
    for word, evidence in hits.words:
        for given in given_for(ranking.index, evidence, ranking.config):
            for points in given.points[given.places == place].tolist():
                shares[given.field, word] = shares.get((given.field, word), 0.0) + points
    return shares


def _tfidf_shares(ranking: IndexedReference, found: Cosines, name: str) -> _Shares:
    place = ranking.index.numbers.get(name)
    if place is None:
        return {}
    shares: _Shares = {}
    cosine, score = float(found.cosines[place]), float(found.scores[place])
    for term, weight in found.wanted.items() if cosine > 0 else ():
        posting = _posting(ranking, term, place)
        if posting is not None:
            field = FIELDS[int(ranking.vectors.fields[posting])]
            norms = found.length * float(ranking.vectors.norms[place])
            shares[field, term] = weight * float(ranking.vectors.values[posting]) / norms
    if score > cosine:
        shares["name", BOOST_TERM] = score - cosine
    return shares


def _as_parts(arm: str, shares: _Shares, total: float) -> tuple[Part, ...]:
    if total == 0.0 or not shares:
        return ()
    # Points may be so large that their sum is infinite; beyond this they all count alike.
    bounded = [min(share, _LARGEST) for share in shares.values()]
    whole = math.fsum(bounded) or 1.0
    values = exact_shares([total * (share / whole) for share in bounded], total)
    parts = [
        Part(arm=arm, field=field, term=term, value=value)
        for (field, term), value in zip(shares, values, strict=True)
        if value
    ]
    return tuple(sorted(parts, key=lambda part: (-part.value, part.field, part.term)))


def _posting(ranking: IndexedReference, term: str, place: int) -> int | None:
    """The posting of a term in a tool; None where it does not stand there."""
    of_term = ranking.index.postings(term)
    offset = int(np.searchsorted(ranking.index.places[of_term], place))
    posting = of_term.start + offset
    return int(posting) if posting < of_term.stop and ranking.index.places[posting] == place else None


def _place_in(listed: Sequence[object], wanted: object) -> int | None:
    return listed.index(wanted) + 1 if wanted in listed else None
