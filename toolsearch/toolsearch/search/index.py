"""The compiled index: everything about a catalog that does not depend on weights.

An entry is one (term, tool, field) with its count; a posting is one (term, tool), the run of its entries. Both are kept
in flat arrays sorted by term, then tool, then field. Tools are numbered in the order of their names, so that a tie
between two tool numbers is a tie settled by name.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import attrgetter, is_not
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toolsearch.catalog.tool import Tool
from toolsearch.config import FIELDS, SearchConfig
from toolsearch.search.analysis.standard import analyse, chunks, stem
from toolsearch.search.arms import DOCUMENT_BITS, FIELD_BITS, PLACE_MASK, PostingValues, posting_values
from toolsearch.search.fields import field_texts
from toolsearch.search.lexicon.spelling import Spellings
from toolsearch.search.lexicon.tables import Glosses
from toolsearch.search.servers import Groups, groups_of, server_numbers

if TYPE_CHECKING:
    from toolsearch.search.alternatives import Alternative

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Counts = NDArray[np.float32]

_DOCUMENT_MASK = (1 << DOCUMENT_BITS) - 1
_FIELD_MASK = (1 << FIELD_BITS) - 1
_FAR_ABOVE = 4.0
"""Times the geometric mean of a field's lengths."""
_NAME_FIELDS = 2
"""Name and server: the fields that keep stop words and closed forms of neighbouring words."""
_HINT_FIELD = FIELDS.index("hint")
_NAME = attrgetter("name")


class Vocabulary:
    """Terms by number; it only grows, so that an index and its refreshed successor share it."""

    def __init__(self) -> None:
        """An empty vocabulary."""
        self.numbers: dict[str, int] = {}
        self._text_words: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._lock = threading.Lock()

    def number(self, term: str) -> int:
        """The number of a term, a new one where it has none yet."""
        return self.numbers.setdefault(term, len(self.numbers))

    def known(self) -> list[tuple[str, int]]:
        """All terms with their numbers, as they are now."""
        with self._lock:
            return list(self.numbers.items())

    def text_terms(self, text: str, terms: list[int]) -> int:
        """Append the terms of a running text; returns how many count to its length (closed forms don't)."""
        known = self._text_words
        length = 0
        for chunk in chunks(text):
            entry = known.get(chunk)
            if entry is None:
                entry = known[chunk] = self._analyse_text_chunk(chunk)
            counted, extra = entry
            terms += counted
            if extra:
                terms += extra
            length += len(counted)
        return length

    def _analyse_text_chunk(self, chunk: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        counted: list[int] = []
        extra: list[int] = []
        for word in analyse(chunk):
            if word.stop:
                continue
            counted += [self.number(term) for term in word.terms]
            if word.joined:
                extra.append(self.number(word.joined))
        return tuple(counted), tuple(extra)

    def name_terms(self, text: str, terms: list[int]) -> int:
        """As `text_terms` for names and hints: stop words stay, and neighbours are also kept in their closed form."""
        numbers = self.numbers
        length = 0
        closed: list[str] = []
        before = ""
        for chunk in chunks(text):
            for word in analyse(chunk):
                found = word.terms
                terms += [numbers.setdefault(term, len(numbers)) for term in found]
                length += len(found)
                if word.joined:
                    closed.append(word.joined)
                for piece in word.pieces:
                    if before:
                        closed.append(stem(before + piece))
                    before = piece
        terms += [numbers.setdefault(form, len(numbers)) for form in set(closed)]
        return length


@dataclass(eq=False, slots=True)
class Index:
    """One catalog, compiled; immutable once built, so that searches need no lock.

    Attributes:
        fingerprint: Of the snapshot that it was built from.
        tools: The searchable tools in the order of their names; a tool's number is its place here.
        vocabulary: Terms by number.
        keys: One for each entry: term, tool number and field, sorted.
        counts: How often the term stands in that field; exact up to sixteen million, where more says nothing any more.
        lengths: Terms by tool and field, shape (tools, fields).
        postings_start: First entry of each posting.
        posting_document: Tool number of each posting.
        term_start: First posting of each term; one longer than the terms known when the index was built.
        halves: The two words into which a query's word falls, as far as looked up; two empty texts for none.
        compounds: What `toolsearch.search.compounds` has found so far.
        phrases: Postings of terms and phrases of the lexicon, as far as looked up.
        misspelt: Near terms of words that no tool has, as far as looked up.
        related: What is near a term in meaning, as far as looked up.
        spellings: What they are looked up in, made when it is first needed.
        chinese: Chinese words of the dictionary that may stand here for English ones, found when they are first needed.
        unspaced_tools: How many tools hold letters of a script without blanks, counted when it is first needed.
    """

    fingerprint: str
    tools: tuple[Tool, ...]
    vocabulary: Vocabulary
    keys: Integers
    counts: Counts
    lengths: Floats
    postings_start: Integers = field(init=False)
    posting_document: Integers = field(init=False)
    term_start: Integers = field(init=False)
    entry_field: NDArray[np.uint8] = field(init=False)
    average_lengths: Floats = field(init=False)
    numbers: dict[str, int] = field(default_factory=dict)
    halves: dict[str, tuple[str, str]] = field(init=False, default_factory=dict)
    compounds: dict[tuple[str, str], tuple[int, ...]] = field(init=False, default_factory=dict)
    phrases: dict[tuple[str, ...], slice | Integers] = field(init=False, default_factory=dict)
    misspelt: dict[str, tuple[tuple[str, int], ...]] = field(init=False, default_factory=dict)
    related: dict[str, Alternative | None] = field(init=False, default_factory=dict)
    spellings: Spellings | None = field(init=False, default=None)
    chinese: Mapping[tuple[str, ...], Glosses] | None = field(init=False, default=None)
    unspaced_tools: int | None = field(init=False, default=None)
    _servers: Groups | None = field(init=False, default=None)
    _values: dict[SearchConfig, PostingValues] = field(init=False, default_factory=dict)
    _stop_documents: dict[str, Integers] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Derive postings and term ranges from the sorted keys."""
        # Few and reused arrays: on a large catalog the time goes into touching fresh memory, not into arithmetic.
        pairs = self.keys >> FIELD_BITS
        first = np.ones(len(pairs), dtype=bool)
        np.not_equal(pairs[1:], pairs[:-1], out=first[1:])
        self.postings_start = np.flatnonzero(first)
        posting_pairs = pairs.take(self.postings_start)
        self.posting_document = posting_pairs & _DOCUMENT_MASK
        posting_pairs >>= DOCUMENT_BITS
        counted = np.bincount(posting_pairs, minlength=len(self.vocabulary.numbers))
        self.term_start = np.zeros(len(counted) + 1, dtype=np.int64)
        np.cumsum(counted, out=self.term_start[1:])
        self.entry_field = np.bitwise_and(self.keys, _FIELD_MASK, out=pairs).astype(np.uint8)
        self.average_lengths = _average_lengths(self.lengths)
        if not self.numbers:
            self.numbers = dict(zip(map(_NAME, self.tools), range(len(self.tools)), strict=True))

    @property
    def size(self) -> int:
        """The number of searchable tools."""
        return len(self.tools)

    @property
    def servers(self) -> Groups:
        """The tools by server, see `server_numbers`; found out when it is first needed."""
        if self._servers is None:
            self._servers = groups_of(server_numbers(self.tools))
        return self._servers

    def term_number(self, term: str) -> int:
        """The number of a term that some tool holds, or -1."""
        number = self.vocabulary.numbers.get(term, -1)
        return number if 0 <= number < len(self.term_start) - 1 and self.frequency(number) else -1

    def frequency(self, number: int) -> int:
        """How many tools hold the term, in any field."""
        return int(self.term_start[number + 1] - self.term_start[number])

    def values(self, config: SearchConfig) -> PostingValues:
        """What every posting is worth under a configuration; worked out once and kept for the last few."""
        known = self._values.get(config)
        if known is None:
            known = posting_values(self, config)
            if len(self._values) >= 4:
                self._values.clear()
            self._values[config] = known
        return known

    def places(self, number: int) -> Integers:
        """Where a term stands: tool and field in one number, ascending."""
        low, high = self.term_start[number], self.term_start[number + 1]
        start = self.postings_start[low]
        end = self.postings_start[high] if high < len(self.postings_start) else len(self.keys)
        return self.keys[start:end] & PLACE_MASK

    @staticmethod
    def tools_of_places(places: Integers) -> Integers:
        """The tools' numbers of some places of `places`, one for each."""
        return places >> FIELD_BITS

    def documents_with(self, term: str, fields: Sequence[int]) -> Integers:
        """Numbers of the tools that hold the term in one of the fields, in order."""
        number = self.term_number(term)
        if number < 0:
            return np.empty(0, dtype=np.int64)
        places = self.places(number)
        return np.unique(places[np.isin(places & _FIELD_MASK, np.asarray(fields))] >> FIELD_BITS)

    def documents_with_stop_word(self, term: str, fields: Sequence[int]) -> Integers:
        """As `documents_with` for a stop word, which running texts don't index; found by reading the texts once."""
        if self._stop_documents is None:
            found: dict[str, set[int]] = {}
            for number, tool in enumerate(self.tools):
                texts = field_texts(tool)
                for position in fields:
                    for chunk in chunks(texts[position]):
                        for word in analyse(chunk):
                            if word.stop:
                                found.setdefault(word.plain, set()).add(number)
            self._stop_documents = {word: np.array(sorted(numbers), dtype=np.int64) for word, numbers in found.items()}
        return self._stop_documents.get(term, np.empty(0, dtype=np.int64))


def _average_lengths(lengths: Floats) -> Floats:
    """The mean length by field; what is far above the typical length counts less, so one endless text can't move it.

    A field that no tool has gets the average 1, so that nothing is divided by 0.
    """
    if not len(lengths):
        return np.ones(lengths.shape[1])
    filled = np.maximum((lengths > 0).sum(axis=0), 1)
    typical = np.exp(np.log(np.maximum(lengths, 1.0)).sum(axis=0) / filled)
    means: Floats = np.minimum(lengths, _FAR_ABOVE * typical).mean(axis=0)
    return np.maximum(means, 1.0)


def build(tools: Iterable[Tool], fingerprint: str, *, previous: Index | None = None) -> Index:
    """Compile a catalog; with a previous index only the tools that changed are read anew.

    Args:
        tools: The searchable tools in any order; names are unique.
        fingerprint: Of the snapshot that they come from.
        previous: An index of an earlier state; it is left as it is.

    Returns:
        The index. It is equal, array by array up to the numbering of terms, whether built or refreshed.
    """
    ordered = tuple(sorted(tools, key=_NAME))
    if previous is None or not previous.tools:
        vocabulary = Vocabulary()
        keys, counts, lengths = _read(ordered, range(len(ordered)), vocabulary)
        return Index(fingerprint, ordered, vocabulary, keys, counts, lengths)
    changed: list[int] = []
    if len(ordered) == previous.size and list(map(_NAME, ordered)) == list(previous.numbers):
        new_numbers = np.arange(previous.size, dtype=np.int64)
        others = compress(range(previous.size), map(is_not, ordered, previous.tools))
        changed += [number for number in others if ordered[number] != previous.tools[number]]
        new_numbers[changed] = -1
        return _refreshed(previous, ordered, fingerprint, new_numbers, changed, numbers=previous.numbers)
    new_numbers = np.full(previous.size, -1, dtype=np.int64)
    for number, tool in enumerate(ordered):
        old = previous.numbers.get(tool.name)
        if old is not None and (previous.tools[old] is tool or previous.tools[old] == tool):
            new_numbers[old] = number
        else:
            changed.append(number)
    return _refreshed(previous, ordered, fingerprint, new_numbers, changed)


def _refreshed(
    previous: Index,
    tools: tuple[Tool, ...],
    fingerprint: str,
    new_numbers: Integers,
    changed: Sequence[int],
    *,
    numbers: dict[str, int] | None = None,
) -> Index:
    # The vocabulary is shared and grows under its lock; an index never looks past the terms that it knows.
    with previous.vocabulary._lock:
        keys, counts, changed_lengths = _read([tools[number] for number in changed], changed, previous.vocabulary)
        all_keys, all_counts = _merged(*_kept(previous, new_numbers), keys, counts)
        lengths = np.zeros((len(tools), len(FIELDS)))
        old_kept = new_numbers >= 0
        lengths[new_numbers[old_kept]] = previous.lengths[old_kept]
        lengths[list(changed)] = changed_lengths
        return Index(fingerprint, tools, previous.vocabulary, all_keys, all_counts, lengths, numbers=numbers or {})


def _kept(previous: Index, new_numbers: Integers) -> tuple[Integers, Counts]:
    """The entries of the tools that stay, under their new numbers; the tools keep their order, so they stay sorted."""
    documents = previous.keys >> FIELD_BITS
    documents &= _DOCUMENT_MASK
    kept = np.flatnonzero((new_numbers >= 0).take(documents))
    keys = previous.keys.take(kept)
    moves = new_numbers - np.arange(len(new_numbers))
    if (moves[new_numbers >= 0] != 0).any():
        keys += moves[documents[kept]] << FIELD_BITS
    return keys, previous.counts.take(kept)


def _merged(keys: Integers, counts: Counts, new_keys: Integers, new_counts: Counts) -> tuple[Integers, Counts]:
    """New entries put among the old ones, both sorted; both arrays with one set of positions."""
    positions = np.searchsorted(keys, new_keys) + np.arange(len(new_keys))
    old = np.ones(len(keys) + len(new_keys), dtype=bool)
    old[positions] = False
    all_keys, all_counts = np.empty(len(old), dtype=np.int64), np.empty(len(old), dtype=np.float32)
    all_keys[old], all_counts[old] = keys, counts
    all_keys[positions], all_counts[positions] = new_keys, new_counts
    return all_keys, all_counts


def _read(tools: Sequence[Tool], numbers: Sequence[int], vocabulary: Vocabulary) -> tuple[Integers, Counts, Floats]:
    """Sorted keys, counts and field lengths of some tools under their numbers."""
    terms: list[int] = []
    ends: list[int] = []
    lengths = np.zeros((len(tools), len(FIELDS)))
    for row, tool in enumerate(tools):
        for position, text in enumerate(field_texts(tool)):
            if text:
                read = (
                    vocabulary.name_terms
                    if position < _NAME_FIELDS or position == _HINT_FIELD
                    else vocabulary.text_terms
                )
                lengths[row, position] = read(text, terms)
            ends.append(len(terms))
    bounds: Integers = np.array([0, *ends], dtype=np.int64)
    sizes: Integers = bounds[1:] - bounds[:-1]
    places = (np.repeat(np.asarray(numbers, dtype=np.int64), len(FIELDS)) << FIELD_BITS) | np.tile(
        np.arange(len(FIELDS), dtype=np.int64), len(tools)
    )
    raw = (np.array(terms, dtype=np.int64) << (DOCUMENT_BITS + FIELD_BITS)) | np.repeat(places, sizes)
    raw.sort()
    first = np.ones(len(raw), dtype=bool)
    np.not_equal(raw[1:], raw[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    counts = np.diff(np.append(starts, len(raw))).astype(np.float32)
    return raw[starts], counts, lengths


class IndexStore:
    """One index for each fingerprint, shared by all sessions of a process.

    Concurrent cold searches build once: the first builds, the others wait for it. A build that fails or is cancelled
    leaves what was there and the next search tries again.
    """

    def __init__(self, *, capacity: int = 8) -> None:
        """An empty store that keeps the last few indexes."""
        self._capacity = capacity
        self._indexes: dict[str, Index] = {}
        self._builders: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()
        self.builds: Counter[str] = Counter()

    def get(self, fingerprint: str, make: Callable[[], Index]) -> Index:
        """The index of a fingerprint; `make` is called only where there is none yet."""
        with self._lock:
            known = self._indexes.get(fingerprint)
            if known is not None:
                self._indexes[fingerprint] = self._indexes.pop(fingerprint)
                return known
            builder = self._builders.setdefault(fingerprint, threading.Lock())
        with builder:
            with self._lock:
                known = self._indexes.get(fingerprint)
            if known is not None:
                return known
            built = make()
            with self._lock:
                self.builds[fingerprint] += 1
                self._indexes[fingerprint] = built
                self._builders.pop(fingerprint, None)
                while len(self._indexes) > self._capacity:
                    self._indexes.pop(next(iter(self._indexes)))
            return built


STORE = IndexStore()
"""The process's own store."""
