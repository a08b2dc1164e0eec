"""What a batch of queries meets in an index: everything that does not depend on weights.

A query is a list of slots, one for each term that it asks for, each with its alternatives (see `slots`); of these the
best one counts. `gather` finds all postings of all alternatives once; scoring them under a configuration, or under a
thousand, is array work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from toolsearch.search.alternatives import Postings
from toolsearch.search.index import Index
from toolsearch.search.query import Query
from toolsearch.search.scripts import of_unspaced_script, unspaced_tools
from toolsearch.search.servers import Groups, groups_of
from toolsearch.search.slots import Slot, query_slots

if TYPE_CHECKING:
    from toolsearch.search.semantic.nearness import Nearness

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Array = TypeVar("Array", Integers, Floats)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The postings that a batch of queries meets.

    A run is the postings of one alternative; an entry is one posting of a run. Entries are numbered through the runs in
    their order.

    A pair is one (query, tool) that share a term. For a single query the pair's number is the tool's number and
    `pair_tool` is every tool; for a batch only the pairs that occur are kept.

    Attributes:
        slots: All slots of all queries, in order.
        slot_query: The query of each slot.
        slot_frequency: In how many tools the slot's term stands, its expansions left out (0: in none).
        slot_crowding: How many tools of the catalog come on one that is written in the slot's kind of script, >= 1: a
            Chinese word is as rare as it is among the tools in Chinese, not as rare as Chinese is among all tools.
        active: The kinds of expansion that were looked up.
        runs: The postings of each run.
        run_slot: Slot of each run.
        run_kind: Kind of alternative of each run.
        run_size: Entries of each run.
        run_worth: How much of what its kind counts each run is worth, 0..1, on average over its entries.
        entry_worth: The same of each entry; None where all are worth 1.
        run_text: What stands there, as an explanation calls it; "" for the slot's own term.
        entry_pair: Pair of each entry.
        pair_query: The query of each pair.
        pair_tool: The tool number of each pair.
        servers: The pairs of one query and one server.
        alternatives_order: The entries that compete with another one of their (pair, slot), those of one (pair, slot)
            together; None where every slot has one alternative.
        alternatives_start: Where each such group starts in that order.
        nearness: What the semantic arm knows of the pairs, which then are all of them; None where it takes no part.
    """

    queries: int
    size: int
    slots: tuple[Slot, ...]
    slot_query: Integers
    slot_kind: Integers
    slot_count: Floats
    slot_frequency: Integers
    slot_crowding: Floats
    active: frozenset[int]
    runs: tuple[Postings, ...]
    run_slot: Integers
    run_kind: Integers
    run_size: Integers
    run_worth: Floats
    entry_worth: Floats | None
    run_text: tuple[str, ...]
    entry_pair: Integers
    pair_query: Integers
    pair_tool: Integers
    servers: Groups
    alternatives_order: Integers | None
    alternatives_start: Integers | None
    nearness: Nearness | None = None

    def postings(self) -> Integers:
        """Posting number of each entry."""
        return _ranges(self.runs)

    def entry_slots(self) -> Integers:
        """Slot of each entry."""
        return np.repeat(self.run_slot, self.run_size)

    def of_entries(self, values: Array) -> Array:
        """Of one value for each posting of the index, those of the entries."""
        return _cut(values, self.runs)


def gather(index: Index, queries: Sequence[Query], active: frozenset[int]) -> Evidence:
    """All postings that the queries meet, each query's in the order of its slots.

    Args:
        index: The catalog.
        queries: The queries.
        active: The kinds of expansion to look up: `relations.active` of every configuration that scores the evidence.
    """
    slots: list[Slot] = []
    slot_query: list[int] = []
    runs: list[Postings] = []
    run_slot: list[int] = []
    run_kind: list[int] = []
    run_size: list[int] = []
    worths: list[tuple[int, Floats]] = []
    run_text: list[str] = []
    for number, query in enumerate(queries):
        for slot in query_slots(index, query, active):
            for postings, size, kind, text, entry_worths in slot.alternatives:
                if entry_worths is not None:
                    worths.append((len(runs), entry_worths))
                runs.append(postings)
                run_slot.append(len(slots))
                run_kind.append(kind)
                run_size.append(size)
                run_text.append(text)
            slots.append(slot)
            slot_query.append(number)
    sizes = np.array(run_size, dtype=np.int64)
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
    run_worth, entry_worth = _worths(sizes, worths)
    order, start = _contested(run_slot, sizes, entry_pair, len(pair_tool))
    return Evidence(
        queries=len(queries),
        size=index.size,
        slots=tuple(slots),
        slot_query=query_of_slot,
        slot_kind=np.array([slot.kind for slot in slots], dtype=np.int64),
        slot_count=np.array([math.sqrt(min(slot.count, 2)) for slot in slots]),
        slot_frequency=np.array([slot.frequency() for slot in slots], dtype=np.int64),
        slot_crowding=_crowding(index, slots),
        active=active,
        runs=tuple(runs),
        run_slot=slot_of_run,
        run_kind=np.array(run_kind, dtype=np.int64),
        run_size=sizes,
        run_worth=run_worth,
        entry_worth=entry_worth,
        run_text=tuple(run_text),
        entry_pair=entry_pair,
        pair_query=pair_query,
        pair_tool=pair_tool,
        servers=by_server(index, len(queries), pair_query, pair_tool),
        alternatives_order=order,
        alternatives_start=start,
    )


def by_server(index: Index, queries: int, pair_query: Integers, pair_tool: Integers) -> Groups:
    """The pairs of one query and one server together; for a single query every tool is a pair."""
    if queries == 1:
        return index.servers
    return groups_of(pair_query * index.size + index.servers.number[pair_tool])


def _worths(sizes: Integers, given: Sequence[tuple[int, Floats]]) -> tuple[Floats, Floats | None]:
    """What runs and entries are worth: those of the given runs as given, all others 1."""
    by_run = np.ones(len(sizes))
    if not given:
        return by_run, None
    starts = np.cumsum(sizes) - sizes
    by_entry = np.ones(int(sizes.sum()))
    for run, worths in given:
        by_run[run] = worths.mean()
        by_entry[starts[run] : starts[run] + sizes[run]] = worths
    return by_run, by_entry


def _crowding(index: Index, slots: Sequence[Slot]) -> Floats:
    crowding = np.ones(len(slots))
    unspaced = [of_unspaced_script(slot.term) for slot in slots]
    if any(unspaced):
        crowding[unspaced] = index.size / max(1, unspaced_tools(index))
    return crowding


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
    met_again[_cut(entry_pair, [slice(starts[run], ends[run]) for run in further])] = True
    wide = [run for run, slot in enumerate(run_slot) if slot in several]
    entries = _ranges([slice(starts[run], ends[run]) for run in wide])
    pair = entry_pair[entries]
    again = np.flatnonzero(met_again[pair])
    slot_of = np.repeat(np.array([run_slot[run] for run in wide], dtype=np.int64), sizes[wide])
    group = pair[again] * (run_slot[-1] + 1) + slot_of[again]
    by_group = np.argsort(group, kind="stable")
    group = group[by_group]
    # Most turn out to be alone after all, as their tool was met again for another slot.
    competes = np.zeros(len(group), dtype=bool)
    np.equal(group[1:], group[:-1], out=competes[1:])
    competes[:-1] |= competes[1:]
    group = group[competes]
    changes = np.ones(len(group), dtype=bool)
    np.not_equal(group[1:], group[:-1], out=changes[1:])
    return entries[again[by_group[competes]]], np.flatnonzero(changes)


def _cut(values: Array, runs: Sequence[Postings]) -> Array:
    """The values of some postings, run by run."""
    return np.concatenate([values[run] for run in runs]) if runs else values[:0]


def _ranges(runs: Sequence[Postings]) -> Integers:
    return (
        np.concatenate([np.arange(run.start, run.stop) if isinstance(run, slice) else run for run in runs])
        if runs
        else np.empty(0, dtype=np.int64)
    )
