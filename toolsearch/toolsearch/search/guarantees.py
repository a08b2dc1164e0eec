"""What a search promises whatever the weights are: required words, names, several names, a server's name.

The names of a catalog are looked up here for both rankings; only `standard` puts what is found first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolsearch.catalog.tool import Tool
from toolsearch.config import FIELDS
from toolsearch.search.analysis.standard import STOP_WORDS, Word, joined_key
from toolsearch.search.index import Index
from toolsearch.search.query import Query, written_as_identifier
from toolsearch.search.results import Reason

REQUIRED_FIELDS = tuple(FIELDS.index(name) for name in ("name", "server", "hint", "description", "parameter_names"))
"""Where a required word may stand; parameter descriptions are too far from what a tool is."""
LONGEST_NAME = 400
"""A longer text is no name; keeps a pasted page from being folded as if it could be one."""


@dataclass(frozen=True, slots=True)
class Named:
    """A tool that the query names; lower tiers stand first."""

    tier: int
    reason: Reason


EXACT_TIER, SPLIT_EXACT_TIER, LEAF_TIER, NAMED_TIER, SERVER_TIER, SCORE_TIER = range(6)


class _Numbers:
    """Tool numbers by key.

    Nearly every key has one number. It is kept without a list of its own: ten thousand small lists are what the
    interpreter's search for garbage then walks through, again and again.
    """

    __slots__ = ("_first", "_further")

    def __init__(self) -> None:
        self._first: dict[str, int] = {}
        self._further: dict[str, list[int]] = {}

    def add(self, key: str, number: int) -> None:
        first = self._first.setdefault(key, number)
        if first != number:
            numbers = self._further.setdefault(key, [])
            if number not in numbers[-1:]:
                numbers.append(number)

    def get(self, key: str) -> list[int]:
        first = self._first.get(key)
        return [] if first is None else [first, *self._further.get(key, ())]

    def __contains__(self, key: str) -> bool:
        return key in self._first


class NameTable:
    """The names of some tools, by spelling and by what is left when only letters and digits count."""

    def __init__(self, tools: Sequence[Tool], previous: NameTable | None = None) -> None:
        """Read the names, leaf names, aliases and servers; a tool's number is its place in `tools`.

        Args:
            tools: The tools.
            previous: A table of much the same names, which need not be read again.
        """
        self._known = previous._keys if previous else {}
        self._keys: dict[str, str] = {}
        self.spelled, self.joined, self.leaves, self.servers = _Numbers(), _Numbers(), _Numbers(), _Numbers()
        for number, tool in enumerate(tools):
            for name in dict.fromkeys((tool.name, *tool.aliases)):
                self.spelled.add(name, number)
                self._add(self.joined, name, number)
            self._add(self.leaves, tool.leaf, number)
            if tool.server:
                self._add(self.servers, tool.server, number)
        self._known = {}

    def _add(self, table: _Numbers, name: str, number: int) -> None:
        key = self._keys.get(name)
        if key is None:
            key = self._known.get(name)
            self._keys[name] = key = joined_key(name) if key is None else key
        if key:
            table.add(key, number)

    def whole(self, query: Query) -> dict[int, Named]:
        """Tools of which the whole query is the name, an alias or the leaf name."""
        found: dict[int, Named] = {}
        if 0 < len(query.whole) <= LONGEST_NAME:
            key = joined_key(query.whole)
            for number in self.leaves.get(key):
                found[number] = Named(LEAF_TIER, "leaf_name")
            for number in self.joined.get(key):
                found[number] = Named(SPLIT_EXACT_TIER, "exact_name")
        for spelling in (query.whole, query.spelled):
            for number in self.spelled.get(spelling):
                found[number] = Named(EXACT_TIER, "exact_name")
        return found

    def several(self, query: Query, others: NameTable | None = None) -> dict[int, Named]:
        """Tools named by the pieces of a query: by all of them, or by those that are written as an identifier.

        Args:
            query: The query.
            others: Names of the catalog's other tools; a piece that is one of them is a catalog name too.
        """
        if len(query.pieces) < 2:
            return {}
        pieces = list(dict.fromkeys(query.pieces))
        every = all(self._holds(piece) or (others is not None and others._holds(piece)) for piece in pieces)
        return {
            number: Named(NAMED_TIER, "named")
            for piece in pieces
            if every or (len(piece) <= LONGEST_NAME and written_as_identifier(piece))
            for number in self._by_name(piece)
        }

    def server(self, query: Query) -> dict[int, Named]:
        """The tools of the server whose name the whole query is."""
        if not query.whole or len(query.whole) > LONGEST_NAME:
            return {}
        return {number: Named(SERVER_TIER, "server") for number in self.servers.get(joined_key(query.whole))}

    def find(self, query: Query, others: NameTable | None = None) -> dict[int, Named]:
        """All that the query names, each tool under its strongest reason; `others` as in `several`."""
        return {**self.server(query), **self.several(query, others), **self.whole(query)}

    def _holds(self, piece: str) -> bool:
        if len(piece) > LONGEST_NAME:
            return False
        key = joined_key(piece)
        return key in self.joined or key in self.leaves or piece in self.spelled

    def _by_name(self, piece: str) -> list[int]:
        key = joined_key(piece)
        return sorted({*self.joined.get(key), *self.leaves.get(key), *self.spelled.get(piece)})


def required_tools(index: Index, query: Query) -> NDArray[np.bool_] | None:
    """Which tools have every required word; None where the query requires none."""
    if not query.required:
        return None
    allowed = np.ones(index.size, dtype=bool)
    for group in query.required:
        for word in group:
            allowed &= tools_with_word(index, word)
    return allowed


def tools_with_word(index: Index, word: Word) -> NDArray[np.bool_]:
    """Which tools have all parts of a word, as whole terms, in a field that counts for required words."""
    allowed = np.ones(index.size, dtype=bool)
    # Without pieces (an unspaced script, a word too long to be cut) the parts are no stop words.
    pieces = word.pieces or word.parts
    for term, piece in zip(word.parts, pieces, strict=True):
        holding = np.zeros(index.size, dtype=bool)
        holding[index.documents_with(term, REQUIRED_FIELDS)] = True
        if piece in STOP_WORDS:
            holding[index.documents_with_stop_word(piece, REQUIRED_FIELDS)] = True
        allowed &= holding
    return allowed
