"""What the two arms of the observed ranking find for one query, before their lists are cut."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from toolsearch.catalog.tool import Tool
from toolsearch.config import SearchConfig
from toolsearch.search.analysis.reference import is_han, split_blanks, terms, trim
from toolsearch.search.reference.evidence import NOWHERE, Evidence, Floats, Integers, Marks
from toolsearch.search.reference.formulas import (
    LEAST_HAN_PAIRS,
    NAME_BOOST,
    name_points,
    norm,
    relative_counts,
    spaced,
    substring_points,
)
from toolsearch.search.reference.index import ReferenceIndex, Weighted

NO_POINTS: Floats = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Given:
    """Keyword points for one word in one field: the tools that get some, and how many each."""

    field: str
    places: Integers
    points: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordHits:
    """What the keyword arm found.

    Attributes:
        text: The query in lower case without outer blanks.
        named: The one tool whose name is the query; the arm then gives it alone. It may be a loaded tool.
        begun: The query begins the names of `places`, which then are the whole list.
        places: Tools above 0 points that have every required word, in catalog order.
        points: Theirs; all 0 where a name or the beginning of names was asked for.
        words: The words that scored, required ones first, repeats kept, each with where it stands.
        required: How many of them are required.
    """

    text: str
    named: Tool | None = None
    begun: bool = False
    places: Integers = field(default_factory=lambda: NOWHERE)
    points: Floats = field(default_factory=lambda: NO_POINTS)
    words: tuple[tuple[str, Evidence], ...] = ()
    required: int = 0

    def best(self, limit: int | None) -> Integers:
        """The places of the arm's list, best first, ties in catalog order; empty where `named` is the list."""
        return self.places[best_first(self.points, limit)]

    def listed(self, index: ReferenceIndex, limit: int | None) -> list[Tool]:
        """The arm's list, best first; a tool that is named is never cut."""
        return [self.named] if self.named is not None else [index.tools[place] for place in self.best(limit).tolist()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosines:
    """What the TF-IDF arm found.

    Attributes:
        wanted: The query's vector; empty where the query has no term.
        length: Its norm.
        cosines: By place, 0 where the rule for Chinese struck it out.
        named: The places whose full name stands in the query.
        scores: The cosine, or for the tools in `named` at least the boost; -1 where another server was asked for.
    """

    wanted: dict[str, float]
    length: float
    cosines: Floats
    named: tuple[int, ...]
    scores: Floats

    def best(self, bound: float, limit: int | None) -> Integers:
        """The arm's list of places, best first, ties in catalog order; none below the bound."""
        if not self.wanted:
            return NOWHERE
        places = np.flatnonzero(self.scores >= bound)
        return places[best_first(self.scores[places], limit)]


def best_first(values: Floats, limit: int | None) -> Integers:
    """The numbers of the values, the largest value first, equal ones in their order.

    Args:
        values: What decides.
        limit: How many are wanted; None for all, a negative number for all but that many.
    """
    inside = np.arange(len(values))
    if limit is not None and 0 < limit < len(values):
        # Only what can be among the best is sorted.
        inside = np.flatnonzero(values >= np.partition(values, -limit)[-limit])
    ordered: Integers = inside[np.argsort(-values[inside], kind="stable")]
    return ordered[:limit]


def keyword_hits(index: ReferenceIndex, query: str, config: SearchConfig, server: str | None = None) -> KeywordHits:
    """Search by name, then by the beginning of names, then by words.

    Args:
        index: The catalog.
        query: What is wanted.
        config: The points.
        server: Only tools of this server.
    """
    text = trim(query.lower())
    allowed = index.of_server(server)
    named = _named(index, text, allowed, server)
    if named is not None:
        return KeywordHits(text=text, named=named)
    if text.startswith("mcp__") and len(text) > 5:
        begun = [place for place in index.beginning(text) if allowed is None or allowed[place]]
        if begun:
            places = np.array(begun, dtype=np.int64)
            return KeywordHits(text=text, begun=True, places=places, points=np.zeros(len(places)))
    words = split_blanks(text)
    required = [word[1:] for word in words if word.startswith("+") and len(word) > 1]
    optional = [word for word in words if not (word.startswith("+") and len(word) > 1)]
    known = {word: index.words.evidence(word) for word in {*required, *optional}}
    points = np.zeros(len(index.tools))
    for word in (*required, *optional):
        for given in given_for(index, known[word], config):
            with np.errstate(
                over="ignore"
            ):  # Points may be so large that their sum is infinite; it ranks all the same.
                points[given.places] += given.points
    for word in required:
        has_it = np.zeros(len(points), dtype=bool)
        known[word].mark(has_it)
        points[~has_it] = 0.0
    if allowed is not None:
        points[~allowed] = 0.0
    places = np.flatnonzero(points > 0)
    return KeywordHits(
        text=text,
        places=places,
        points=points[places],
        words=tuple((word, known[word]) for word in (*required, *optional)),
        required=len(required),
    )


def given_for(index: ReferenceIndex, evidence: Evidence, config: SearchConfig) -> tuple[Given, ...]:
    """What the tools in which a word stands get for it: an equal part, inside a part, hint, description."""
    # Observed too, and left out because it can't happen: 3 points for a word of the full name while the total is still
    # 0. A word holds no blank, so where the full name holds it, a part of the name does.
    of_server, points = index.of_server_form, config.keyword_points
    equal = np.where(of_server[evidence.equal], name_points(config, of_server=True), points.name)
    substring = config.keyword_substring_points
    inside = np.where(of_server[evidence.inside], substring_points(config, of_server=True), substring)
    return (
        Given("name", evidence.equal, equal),
        Given("name", evidence.inside, inside),
        Given("hint", evidence.hint, np.full(len(evidence.hint), points.hint)),
        Given("description", evidence.description, np.full(len(evidence.description), points.description)),
    )


def cosines(index: ReferenceIndex, vectors: Weighted, query: str, server: str | None = None) -> Cosines:
    """Compare the query's vector with those of the tools that share a term with it.

    Args:
        index: The catalog.
        vectors: The tools' vectors under the profile's weights.
        query: What is wanted.
        server: Only tools of this server.
    """
    asked = terms(query)
    wanted = {term: count * index.rarity.get(term, 0.0) for term, count in relative_counts(asked).items()}
    length = norm(wanted.values())
    products = np.zeros(len(index.tools))
    for term, weight in wanted.items():
        of_term = index.postings(term)
        products[index.places[of_term]] += weight * vectors.values[of_term]
    reached = np.flatnonzero(products)
    norms = length * vectors.norms[reached]
    values = np.zeros(len(index.tools))
    values[reached] = np.divide(products[reached], norms, out=np.zeros(len(reached)), where=norms > 0)
    values[struck_out(index, asked)] = 0.0
    scores = values.copy()
    named = tuple(index.named_in(spaced(query))) if asked else ()
    for place in named:
        scores[place] = max(scores[place], NAME_BOOST)
    allowed = index.of_server(server)
    if allowed is not None:
        scores[~allowed] = -1.0
    return Cosines(wanted=wanted, length=length, cosines=values, named=named, scores=scores)


def _named(index: ReferenceIndex, text: str, allowed: Marks | None, server: str | None) -> Tool | None:
    for place in index.by_name.get(text, ()):
        if allowed is None or allowed[place]:
            return index.tools[place]
    for tool in index.loaded.get(text, ()):
        if server is None or tool.server == server:
            return tool
    return None


def struck_out(index: ReferenceIndex, asked: list[str]) -> Integers:
    """The tools that share fewer than two of the query's Han pairs, repeats counted, and no other term."""
    pairs = Counter(term for term in asked if is_han(term))
    if not pairs:
        return NOWHERE
    shared = np.zeros(len(index.tools), dtype=np.int64)
    for term in dict.fromkeys(asked):
        # Any other term is as good as enough pairs.
        shared[index.places[index.postings(term)]] += pairs.get(term, LEAST_HAN_PAIRS)
    return np.flatnonzero(shared < LEAST_HAN_PAIRS)
