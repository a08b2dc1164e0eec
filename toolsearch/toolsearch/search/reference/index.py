"""What the observed ranking knows of a catalog: read once, so that a query visits only the tools that it reaches."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import TypeVar

import numpy as np

from toolsearch.catalog.tool import Tool
from toolsearch.config import SearchConfig
from toolsearch.search.analysis.reference import ParsedName, parse_name, terms
from toolsearch.search.reference.evidence import Floats, Integers, KeywordIndex, Marks, read_words
from toolsearch.search.reference.formulas import field_weights, inverse_frequencies, relative_counts

FIELDS = ("name", "hint", "description")
"""The fields of the observed ranking, in the order in which it reads them."""
_HEAD = 4
"""Names are looked for in a query by this many first characters."""
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Weighted:
    """The TF-IDF vectors of all tools under one configuration.

    Attributes:
        values: By posting.
        norms: The length of each tool's vector.
        fields: By posting, the number of the field that gave the value: the first of the best.
    """

    values: Floats
    norms: Floats
    fields: Integers


@dataclass(frozen=True)
class ReferenceIndex:
    """The deferred tools in catalog order, which settles ties; places are numbers in that order.

    Postings are (term, tool) pairs: all tools of one term, ascending, then those of the next term.

    Attributes:
        tools: The deferred tools.
        names: Their parsed names.
        numbers: The place of each name.
        by_name: By lower-case name, the places that have it.
        loaded: Tools of the catalog that are not deferred, by lower-case name, in catalog order.
        of_server_form: Whether a name has the form of a server's tool.
        servers: The places of each server's tools.
        rarity: `ln(N / df)` by term; 0 for a term that every tool has.
        terms: Number of each term.
        starts: Where each term's postings begin, and after them the number of all.
        places: The tool of each posting.
        frequencies: By field and posting: relative count of the term in the field, 0 where it does not stand.
        reading_order: The postings tool by tool, a tool's terms in the order in which its fields name them.
        words: What the keyword arm knows.
        sorted_names: Lower-case names with their places, sorted.
        heads: Places by the first characters of the full name.
    """

    tools: tuple[Tool, ...]
    names: tuple[ParsedName, ...]
    numbers: dict[str, int]
    by_name: dict[str, list[int]]
    loaded: dict[str, list[Tool]]
    of_server_form: Marks
    servers: dict[str, Integers]
    rarity: dict[str, float]
    terms: dict[str, int]
    starts: Integers
    places: Integers
    frequencies: Floats
    reading_order: Integers
    words: KeywordIndex
    sorted_names: list[tuple[str, int]]
    heads: dict[str, list[int]]

    def postings(self, term: str) -> slice:
        """The postings of a term; empty for an unknown one."""
        number = self.terms.get(term)
        return slice(0, 0) if number is None else slice(int(self.starts[number]), int(self.starts[number + 1]))

    @cached_property
    def posting_rarity(self) -> Floats:
        """The inverse document frequency of each posting's term."""
        by_term = np.array([self.rarity[term] for term in self.terms], dtype=np.float64)
        return np.repeat(by_term, np.diff(self.starts))

    def weighted(self, config: SearchConfig) -> Weighted:
        """The vectors under a configuration: relative count × field weight, the largest of the fields, × rarity."""
        by_field = self.frequencies * np.array(field_weights(config))[:, np.newaxis]
        values = by_field.max(axis=0, initial=0.0) * self.posting_rarity
        # bincount adds from left to right as the formula does; other sums of numpy add in pairs and round differently.
        ordered = values[self.reading_order]
        squares = np.bincount(
            self.places[self.reading_order], weights=ordered * ordered, minlength=len(self.tools)
        ).astype(np.float64, copy=False)
        return Weighted(values, np.sqrt(squares), by_field.argmax(axis=0).astype(np.int64))

    def of_server(self, server: str | None) -> Marks | None:
        """Which tools belong to a server, exactly; None where no server is asked for."""
        if server is None:
            return None
        allowed = np.zeros(len(self.tools), dtype=bool)
        allowed[self.servers.get(server, [])] = True
        return allowed

    def beginning(self, prefix: str) -> list[int]:
        """The tools whose lower-case name begins with a text, in catalog order."""
        start = bisect_left(self.sorted_names, (prefix, -1))
        found = takewhile(lambda pair: pair[0].startswith(prefix), self.sorted_names[start:])
        return sorted(place for _, place in found)

    def named_in(self, text: str) -> list[int]:
        """The tools whose full name stands somewhere in a text, an empty name always; ascending."""
        lengths = {len(head) for head in self.heads}
        heads = {text[begin : begin + size] for size in lengths for begin in range(len(text) - size + 1)}
        candidates = (place for head in heads & self.heads.keys() for place in self.heads[head])
        return sorted(place for place in candidates if self.names[place].full in text)


def build_reference(deferred: Sequence[Tool], all_tools: Sequence[Tool]) -> ReferenceIndex:
    """Read a catalog.

    Args:
        deferred: The tools that are searched, names unique; their order is kept and settles ties.
        all_tools: The whole catalog: a query that is a loaded tool's name is answered with it.
    """
    names = tuple(parse_name(tool.name) for tool in deferred)
    hints = [tool.search_hint or "" for tool in deferred]
    descriptions = [tool.description or "" for tool in deferred]
    vectors = [
        tuple(relative_counts(terms(text)) for text in (" ".join(name.parts), hint, description))
        for name, hint, description in zip(names, hints, descriptions, strict=True)
    ]
    searched = {tool.name for tool in deferred}
    rarity = inverse_frequencies([{term for field in fields for term in field} for fields in vectors])
    postings = _Postings(vectors, {term: number for number, term in enumerate(rarity)})
    lowered = [tool.name.lower() for tool in deferred]
    return ReferenceIndex(
        tools=tuple(deferred),
        names=names,
        numbers={tool.name: place for place, tool in enumerate(deferred)},
        by_name=_grouped(lowered),
        loaded=_by_lower_name(tool for tool in all_tools if tool.name not in searched),
        of_server_form=np.array([name.of_server for name in names], dtype=bool),
        servers={
            server: np.array(places, dtype=np.int64)
            for server, places in _grouped([tool.server for tool in deferred]).items()
            if server is not None
        },
        rarity=rarity,
        terms=postings.terms,
        starts=postings.starts,
        places=postings.places,
        frequencies=postings.frequencies,
        reading_order=postings.reading_order,
        words=read_words([name.parts for name in names], hints, descriptions),
        sorted_names=sorted((name, place) for place, name in enumerate(lowered)),
        heads=_grouped([name.full[:_HEAD] for name in names]),
    )


class _Postings:
    """The (term, tool) pairs of all tools as arrays, term by term."""

    def __init__(self, vectors: Sequence[tuple[dict[str, float], ...]], numbers: dict[str, int]) -> None:
        places: list[int] = []
        term_numbers: list[int] = []
        rows: list[tuple[float, ...]] = []
        for place, fields in enumerate(vectors):
            # The fields in their order, and the terms of a field in theirs: the order of the observed vectors.
            for term in dict.fromkeys(term for field in fields for term in field):
                places.append(place)
                term_numbers.append(numbers[term])
                rows.append(tuple(field.get(term, 0.0) for field in fields))
        number_of = np.array(term_numbers, dtype=np.int64)
        order = np.argsort(number_of, kind="stable")
        self.terms = numbers
        self.places = np.array(places, dtype=np.int64)[order]
        self.frequencies = np.array(rows, dtype=np.float64).reshape(-1, len(FIELDS))[order].T.copy()
        self.starts = np.searchsorted(number_of[order], np.arange(len(numbers) + 1)).astype(np.int64)
        self.reading_order = np.argsort(order, kind="stable")


def _grouped(keys: Iterable[Key]) -> dict[Key, list[int]]:
    found: dict[Key, list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return found


def _by_lower_name(tools: Iterable[Tool]) -> dict[str, list[Tool]]:
    found: dict[str, list[Tool]] = {}
    for tool in tools:
        found.setdefault(tool.name.lower(), []).append(tool)
    return found
