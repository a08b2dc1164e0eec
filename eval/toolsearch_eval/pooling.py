"""Pooling: what rankers bring and nobody has judged yet, as candidates for a judge who reads."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.rankers.protocol import Ranker
from toolsearch_eval.rankers.run import CHUNK, AtWork
from toolsearch_eval.selection import refuse_twins

DEPTHS: Mapping[str, int] = {"dev": 5, "test": 10}
"""How many of each ranker's first results are pooled unless told otherwise, by split."""

Order = Literal["shuffled", "name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A query and a tool to be judged.

    Attributes:
        query_id: The query.
        text: What is asked.
        tool: The tool's name.
        description: What it does, or "".
        parameters: The names of its parameters.
        rankers: Who brings it; kept from the judge unless asked for, so that it decides nothing.
    """

    query_id: str
    text: str
    tool: str
    description: str = ""
    parameters: tuple[str, ...] = ()
    rankers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCounts:
    """How large a part of the pool is.

    Attributes:
        queries: Queries with a text.
        pairs: Pairs of query and tool that any ranker brings.
        judged: Those of them that have a label.
    """

    queries: int
    pairs: int
    judged: int

    @property
    def unjudged(self) -> int:
        """Those that have none."""
        return self.pairs - self.judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What was pooled.

    Attributes:
        candidates: What is to be judged, query by query in the data set's order.
        counts: By split, in the order of the names.
        rankers: The rankers that worked.
        failures: A line for each that failed.
    """

    candidates: tuple[Candidate, ...]
    counts: Mapping[str, PoolCounts]
    rankers: tuple[str, ...]
    failures: tuple[str, ...] = ()


def make_pool(
    data: DataSet,
    rankers: Sequence[Ranker],
    *,
    depths: Mapping[str, int] = DEPTHS,
    again: bool = False,
    sample: int | None = None,
    order: Order = "shuffled",
    seed: int = 0,
    advance: Callable[[int], object] = lambda _: None,
) -> Pool:
    """Ask every ranker about every query, those without an answer too, and give what has no label yet.

    Only tools that can be found are pooled: those that are always loaded are never searched. The same data and seed
    give the same candidates in the same order, whatever the order of the catalog and of the rankers.

    Args:
        data: The data set.
        rankers: Who is asked; one that fails is left out, see `Pool.failures`.
        depths: By split, how many of each ranker's first results are taken; a split that is not named is left out.
        again: For a pass made apart: give the labelled pairs of these queries too, without their grades.
        sample: Take so many queries, drawn by seed; None takes all.
        order: How the tools of a query stand: drawn by seed, so that no ranker's order shows, or by name.
        seed: Of the draws.
        advance: Called after each chunk of queries with its size.

    Raises:
        UsageError: A depth or the sample is below 1, or every ranker failed.
        DataError: Two tools have one name.
    """
    _check_depths(depths)
    if sample is not None and sample < 1:
        raise UsageError(f"the sample is {sample}; it must be a whole number above 0.")
    refuse_twins(data)
    queries = [query for query in data.queries if query.split in depths and query.text.strip()]
    if sample is not None:
        drawn = sorted(queries, key=lambda query: _draw(seed, query.query_id))[:sample]
        taken = {query.query_id for query in drawn}
        queries = [query for query in queries if query.query_id in taken]
    tools = {tool.name: tool for tool in data.tools if is_deferred(tool)}
    brought: dict[str, dict[str, list[str]]] = {query.query_id: {} for query in queries}
    worked: list[str] = []
    failures: list[str] = []
    for ranker in rankers:
        try:
            _ask(ranker, list(tools.values()), queries, depths, brought, advance)
            worked.append(ranker.name)
        except UsageError as error:
            failures.append(str(error))
    if failures and not worked:
        raise UsageError("\n".join(failures))
    candidates = _unjudged(data, queries, brought, again=again, order=order, seed=seed)
    return Pool(
        candidates=candidates,
        counts=_counts(data, queries, brought),
        rankers=tuple(worked),
        failures=tuple(failures),
    )


def pool_of(
    data: DataSet,
    rankings: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    depths: Mapping[str, int] = DEPTHS,
    order: Order = "shuffled",
    seed: int = 0,
) -> Pool:
    """The same of rankings that are there already, such as those of a run: nothing is ranked.

    Args:
        data: The data set.
        rankings: By ranker and query id, the names that it brought, best first. A query that the data set has not, or
            a tool that can't be found, is left out.
        depths: By split, how many of each ranking are taken; a split that is not named is left out.
        order: How the tools of a query stand, as for `make_pool`.
        seed: Of the draws.

    Raises:
        UsageError: A depth is below 1.
        DataError: Two tools have one name.
    """
    _check_depths(depths)
    refuse_twins(data)
    asked = {query_id for ranked in rankings.values() for query_id in ranked}
    queries = [query for query in data.queries if query.split in depths and query.query_id in asked]
    tools = {tool.name for tool in data.tools if is_deferred(tool)}
    brought: dict[str, dict[str, list[str]]] = {query.query_id: {} for query in queries}
    for ranker, ranked in rankings.items():
        for query in queries:
            for name in ranked.get(query.query_id, ())[: depths[query.split]]:
                if name in tools:
                    brought[query.query_id].setdefault(name, []).append(ranker)
    return Pool(
        candidates=_unjudged(data, queries, brought, again=False, order=order, seed=seed),
        counts=_counts(data, queries, brought),
        rankers=tuple(rankings),
    )


def _check_depths(depths: Mapping[str, int]) -> None:
    for split, depth in depths.items():
        if depth < 1:
            raise UsageError(f"the depth of {split} is {depth}; it must be a whole number above 0.")


def _unjudged(
    data: DataSet,
    queries: Sequence[Query],
    brought: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    again: bool,
    order: Order,
    seed: int,
) -> tuple[Candidate, ...]:
    tools = {tool.name: tool for tool in data.tools if is_deferred(tool)}
    candidates: list[Candidate] = []
    for query in queries:
        found = brought[query.query_id]
        known = data.judgements.get(query.query_id, {})
        names = {*found, *(known.keys() & tools.keys())} if again else found.keys() - known.keys()
        candidates += [_candidate(query, tools[name], found) for name in _ordered(names, query, order, seed)]
    return tuple(candidates)


def _ask(
    ranker: Ranker,
    tools: Sequence[Tool],
    queries: Sequence[Query],
    depths: Mapping[str, int],
    brought: Mapping[str, dict[str, list[str]]],
    advance: Callable[[int], object],
) -> None:
    """Note what one ranker brings; nothing of it where it fails on the way."""
    work = AtWork(ranker, tools, max(depths.values(), default=1))
    found: list[tuple[Query, str]] = []
    for start in range(0, len(queries), CHUNK):
        chunk = queries[start : start + CHUNK]
        for query, answer in zip(chunk, work.answers(chunk), strict=True):
            found += [(query, name) for name, _ in answer.results[: depths[query.split]]]
        advance(len(chunk))
    for query, name in found:
        brought[query.query_id].setdefault(name, []).append(ranker.name)


def _candidate(query: Query, tool: Tool, found: Mapping[str, Sequence[str]]) -> Candidate:
    properties = (tool.input_schema or {}).get("properties")
    return Candidate(
        query_id=query.query_id,
        text=query.text,
        tool=tool.name,
        description=tool.description or "",
        parameters=tuple(map(str, properties)) if isinstance(properties, Mapping) else (),
        rankers=tuple(sorted(found.get(tool.name, ()))),
    )


def _ordered(names: Iterable[str], query: Query, order: Order, seed: int) -> list[str]:
    by_name = sorted(names)
    return by_name if order == "name" else sorted(by_name, key=lambda name: _draw(seed, query.query_id, name))


def _draw(seed: int, *parts: str) -> bytes:
    """A number drawn for these texts, the same on every machine."""
    text = "\0".join([str(seed), *parts])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _counts(
    data: DataSet, queries: Sequence[Query], brought: Mapping[str, Mapping[str, object]]
) -> dict[str, PoolCounts]:
    counts: dict[str, PoolCounts] = {}
    for split in sorted({query.split for query in queries}):
        chosen = [query.query_id for query in queries if query.split == split]
        counts[split] = PoolCounts(
            queries=len(chosen),
            pairs=sum(len(brought[query_id]) for query_id in chosen),
            judged=sum(len(brought[query_id].keys() & data.judgements.get(query_id, {}).keys()) for query_id in chosen),
        )
    return counts
