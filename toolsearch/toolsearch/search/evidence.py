"""What a batch of queries meets in an index: everything that does not depend on weights.

A query is a list of slots, one for each term that it asks for. A slot has one or more alternatives (the term itself,
the closed form of two neighbouring words); of these the best one counts, so that a term that is found in two spellings
is not counted twice. `gather` finds all postings of all alternatives once; scoring them under a configuration, or
under a thousand, is array work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from toolsearch.search.analysis.standard import Word, stem
from toolsearch.search.compounds import open_postings
from toolsearch.search.index import Index
from toolsearch.search.query import Query

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Array = TypeVar("Array", Integers, Floats)

WORD, CHARACTER, STOP = range(3)
"""Kinds of slot: a word or pair, a single character of an unspaced script, a stop word."""
EXACT, JOINED, OPEN = range(3)
"""Kinds of alternative: the term itself, a closed form, the halves of a closed form side by side."""
_SHORTEST_HALF = 3
_LONGEST_COMPOUND = 40
_KEPT_WORDS = 4096
"""Words of queries whose halves an index remembers."""


@dataclass(slots=True)
class Slot:
    """One term that a query asks for; see the module's text.

    Attributes:
        term: The term.
        kind: What it is, which decides what it may give.
        count: How often the query says it.
        alternatives: Terms by number that will do, each with its kind.
        surface: The folded word before stemming, which can be cut into halves.
        open_postings: Postings of tools that write a closed compound open (`web page` for `webpage`).
    """

    term: str
    kind: int
    count: int
    alternatives: list[tuple[int, int]]
    surface: str = ""
    open_postings: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The postings that a batch of queries meets.

    A run is the postings of one alternative, which stand one after another in the index; an entry is one posting of a
    run. Entries are numbered through the runs in their order.

    A pair is one (query, tool) that share a term. For a single query the pair's number is the tool's number and
    `pair_tool` is every tool; for a batch only the pairs that occur are kept.

    Attributes:
        slots: All slots of all queries, in order.
        slot_query: The query of each slot.
        slot_frequency: In how many tools the slot's term stands (0: in none).
        runs: First posting of each run and the one after its last.
        run_slot: Slot of each run.
        run_kind: Kind of alternative of each run.
        run_size: Entries of each run.
        entry_pair: Pair of each entry.
        pair_query: The query of each pair.
        pair_tool: The tool number of each pair.
        alternatives_order: The entries that compete with another one of their (pair, slot), those of one (pair, slot)
            together (and some that turn out to be alone); None where every slot has one alternative.
        alternatives_start: Where each such group starts in that order.
    """

    queries: int
    size: int
    slots: tuple[Slot, ...]
    slot_query: Integers
    slot_kind: Integers
    slot_count: Floats
    slot_frequency: Integers
    runs: tuple[tuple[int, int], ...]
    run_slot: Integers
    run_kind: Integers
    run_size: Integers
    entry_pair: Integers
    pair_query: Integers
    pair_tool: Integers
    alternatives_order: Integers | None
    alternatives_start: Integers | None

    def postings(self) -> Integers:
        """Posting number of each entry."""
        return _ranges(self.runs)

    def entry_slots(self) -> Integers:
        """Slot of each entry."""
        return np.repeat(self.run_slot, self.run_size)

    def of_entries(self, values: Array) -> Array:
        """Of one value for each posting of the index, those of the entries."""
        return _cut(values, self.runs)


def query_slots(index: Index, query: Query) -> list[Slot]:
    """The slots of a query against an index, in the order of its words; repeats are counted, not repeated."""
    found: dict[tuple[str, int], Slot] = {}
    listed = query.words
    for position, word in enumerate(listed):
        closed = [word.joined] if word.joined else []
        for first, second in ((position - 1, position), (position, position + 1)):
            if first >= 0 and second < len(listed) and _joinable(listed[first]) and _joinable(listed[second]):
                closed.append(stem(listed[first].plain + listed[second].plain))
        joined = [number for form in dict.fromkeys(closed) if (number := index.term_number(form)) >= 0]
        surfaces = word.pieces or word.parts
        for part, surface in zip(word.parts, surfaces, strict=True):
            _add(found, index, part, surface, STOP if word.stop else WORD, joined)
        for character in word.characters:
            _add(found, index, character, character, CHARACTER, [])
    slots = list(found.values())
    for slot in slots:
        slot.open_postings = _written_open(index, slot)
    return slots


def _joinable(word: Word) -> bool:
    return bool(word.plain) and not word.characters and len(word.plain) <= 64


def _add(
    found: dict[tuple[str, int], Slot], index: Index, term: str, surface: str, kind: int, joined: list[int]
) -> None:
    slot = found.get((term, kind))
    if slot is None:
        number = index.term_number(term)
        exact = [(number, EXACT)] if number >= 0 else []
        slot = found[term, kind] = Slot(term, kind, 0, exact, surface)
    slot.count += 1
    known = {number for number, _ in slot.alternatives}
    slot.alternatives += [(number, JOINED) for number in joined if number not in known]


def _written_open(index: Index, slot: Slot) -> tuple[int, ...]:
    """Postings of the tools that write the slot's word (`webpage`) as its two halves, side by side (`web page`).

    Halves that merely both occur don't count: most long words fall into two others by accident.
    """
    word = slot.surface
    if slot.kind != WORD or not 2 * _SHORTEST_HALF <= len(word) <= _LONGEST_COMPOUND:
        return ()
    known = index.halves.get(word)
    if known is None:
        if len(index.halves) >= _KEPT_WORDS:
            index.halves.clear()
        known = index.halves[word] = _halves(index, word) if word.isascii() and word.isalpha() else ("", "")
    return open_postings(index, *known) if known[0] else ()


def _halves(index: Index, word: str) -> tuple[str, str]:
    """The two words of the catalog into which a word falls, as equal in length as can be; else two empty texts."""
    best: tuple[int, int] | None = None
    for cut in range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1):
        balance = min(cut, len(word) - cut)
        if best is not None and balance <= best[0]:
            continue
        # The second half is stemmed only where there is a first one: most words have none.
        if index.term_number(stem(word[:cut])) >= 0 and index.term_number(stem(word[cut:])) >= 0:
            best = (balance, cut)
    return (word[: best[1]], word[best[1] :]) if best else ("", "")


def gather(index: Index, queries: Sequence[Query]) -> Evidence:
    """All postings that the queries meet, each query's in the order of its slots."""
    slots: list[Slot] = []
    slot_query: list[int] = []
    runs: list[tuple[int, int]] = []
    run_slot: list[int] = []
    run_kind: list[int] = []
    for number, query in enumerate(queries):
        for slot in query_slots(index, query):
            for term, kind in slot.alternatives:
                runs.append((int(index.term_start[term]), int(index.term_start[term + 1])))
                run_slot.append(len(slots))
                run_kind.append(kind)
            for posting in slot.open_postings:
                runs.append((posting, posting + 1))
                run_slot.append(len(slots))
                run_kind.append(OPEN)
            slots.append(slot)
            slot_query.append(number)
    sizes = np.array([end - start for start, end in runs], dtype=np.int64)
    query_of_slot = np.array(slot_query, dtype=np.int64)
    slot_of_run = np.array(run_slot, dtype=np.int64)
    tool = _cut(index.posting_document, runs)
    if len(queries) == 1:
        entry_pair, pair_tool = tool, np.arange(index.size, dtype=np.int64)
        pair_query = np.zeros(index.size, dtype=np.int64)
    else:
        query_of_entry = np.repeat(query_of_slot[slot_of_run], sizes)
        keys, entry_pair = np.unique(query_of_entry * max(1, index.size) + tool, return_inverse=True)
        pair_query, pair_tool = np.divmod(keys, max(1, index.size))
    order, start = _contested(run_slot, sizes, entry_pair, len(pair_tool))
    return Evidence(
        queries=len(queries),
        size=index.size,
        slots=tuple(slots),
        slot_query=query_of_slot,
        slot_kind=np.array([slot.kind for slot in slots], dtype=np.int64),
        slot_count=np.array([math.sqrt(min(slot.count, 2)) for slot in slots]),
        slot_frequency=np.array([_frequency(index, slot) for slot in slots], dtype=np.int64),
        runs=tuple(runs),
        run_slot=slot_of_run,
        run_kind=np.array(run_kind, dtype=np.int64),
        run_size=sizes,
        entry_pair=entry_pair,
        pair_query=pair_query,
        pair_tool=pair_tool,
        alternatives_order=order,
        alternatives_start=start,
    )


def _contested(
    run_slot: Sequence[int], sizes: Integers, entry_pair: Integers, pairs: int
) -> tuple[Integers | None, Integers | None]:
    """The entries that stand beside another alternative of their slot for the same pair, and where groups start."""
    # Runs of one slot stand together. Only where a further one stands can two entries compete, and those are few.
    further = [run for run in range(1, len(run_slot)) if run_slot[run] == run_slot[run - 1]]
    if not further:
        return None, None
    several = {run_slot[run] for run in further}
    ends = np.cumsum(sizes).tolist()
    starts = [0, *ends]
    met_again = np.zeros(pairs, dtype=bool)
    met_again[_cut(entry_pair, [(starts[run], ends[run]) for run in further])] = True
    wide = [run for run, slot in enumerate(run_slot) if slot in several]
    entries = _ranges([(starts[run], ends[run]) for run in wide])
    pair = entry_pair[entries]
    again = np.flatnonzero(met_again[pair])
    slot_of = np.repeat(np.array([run_slot[run] for run in wide], dtype=np.int64), sizes[wide])
    group = pair[again] * (run_slot[-1] + 1) + slot_of[again]
    by_group = np.argsort(group, kind="stable")
    changes = np.ones(len(again), dtype=bool)
    np.not_equal(group[by_group][1:], group[by_group][:-1], out=changes[1:])
    return entries[again[by_group]], np.flatnonzero(changes)


def _cut(values: Array, runs: Sequence[tuple[int, int]]) -> Array:
    """The values of some ranges, one after another."""
    return np.concatenate([values[start:end] for start, end in runs]) if runs else values[:0]


def _ranges(runs: Sequence[tuple[int, int]]) -> Integers:
    return np.concatenate([np.arange(start, end) for start, end in runs]) if runs else np.empty(0, dtype=np.int64)


def _frequency(index: Index, slot: Slot) -> int:
    """How common the slot's term is: the term itself, or where no tool has it, its most common other form."""
    exact = [index.frequency(number) for number, kind in slot.alternatives if kind == EXACT]
    others = [index.frequency(number) for number, _ in slot.alternatives]
    return max(exact or [*others, len(slot.open_postings)])
