"""One ranker at work: every query ranked, what it gives checked, its time taken."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from toolsearch.catalog.names import shown
from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.abstention import Sureness
from toolsearch_eval.data import Query
from toolsearch_eval.rankers.order import settled
from toolsearch_eval.rankers.own import described
from toolsearch_eval.rankers.protocol import AssessingRanker, Ranker

_TIMED_QUERIES = 100
_BATCH = 200
"""Queries ranked between two steps of the progress bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What one ranker did.

    Attributes:
        rankings: The names for each query, best first.
        sureness: How sure it was of each query's first result.
        no_answer: The same for each query without an answer.
        latency: Milliseconds p50 and p95 of single queries; None without a query.
        build: Milliseconds to take in the catalog.
    """

    rankings: Sequence[Sequence[str]]
    sureness: Sequence[Sureness]
    no_answer: Sequence[Sureness]
    latency: Mapping[str, float | None]
    build: float


def run_ranker(
    ranker: Ranker,
    tools: Sequence[Tool],
    queries: Sequence[Query],
    depth: int,
    *,
    no_answer: Sequence[Query] = (),
    advance: Callable[[int], object] = lambda _: None,
) -> Ran:
    """Rank all queries with one ranker, which may be a stranger's and fail in any way.

    Args:
        ranker: Anything that fulfils the protocol, or should.
        tools: The tools that may be found.
        queries: None is fine.
        depth: Results asked for, above 0.
        no_answer: Queries without an answer, for which only its sureness counts.
        advance: Called after each batch with its size.

    Raises:
        UsageError: It failed, or gave something that can't be judged; names the ranker, and the query where it is one.
    """
    try:
        start = time.perf_counter()
        ranker.index(tools)
        build = (time.perf_counter() - start) * 1000
        known = frozenset(tool.name for tool in tools)
        ranked, silent = (list(_ranked(ranker, each, depth, known, advance)) for each in (queries, no_answer))
        return Ran(
            rankings=[[name for name, _ in results] for results in ranked],
            sureness=_sureness(ranker, queries, ranked),
            no_answer=_sureness(ranker, no_answer, silent),
            latency=_latency(ranker, queries, depth),
            build=build,
        )
    except (Exception, SystemExit) as error:
        raise UsageError(f"ranker {ranker.name!r} failed: {described(error)}") from error


def _latency(ranker: Ranker, queries: Sequence[Query], depth: int) -> dict[str, float | None]:
    times: list[float] = []
    for query in queries[:_TIMED_QUERIES]:
        start = time.perf_counter()
        ranker.rank([query.text], depth)
        times.append((time.perf_counter() - start) * 1000)
    if not times:
        return {"p50": None, "p95": None}
    return {"p50": float(np.percentile(times, 50)), "p95": float(np.percentile(times, 95))}


def _ranked(
    ranker: Ranker, queries: Sequence[Query], depth: int, known: Collection[str], advance: Callable[[int], object]
) -> Iterator[list[tuple[str, float]]]:
    keeps_order = bool(getattr(ranker, "keeps_order", False))
    for start in range(0, len(queries), _BATCH):
        batch = queries[start : start + _BATCH]
        for query, answer in zip(batch, _answers(ranker, batch, depth), strict=True):
            yield settled(answer, depth, known=known, query_id=query.query_id, keeps_order=keeps_order)
        advance(len(batch))


def _sureness(
    ranker: Ranker, queries: Sequence[Query], ranked: Sequence[Sequence[tuple[str, float]]]
) -> list[Sureness]:
    if not isinstance(ranker, AssessingRanker):
        return [Sureness(confidence=results[0][1] if results else None) for results in ranked]
    if not queries:
        return []
    found: list[Sureness] = []
    try:
        for query, results, given in zip(
            queries, ranked, ranker.assess([query.text for query in queries]), strict=True
        ):
            confidence, flagged = given
            if not math.isfinite(confidence):
                raise ValueError(f"query {shown(query.query_id)}: the confidence {confidence!r} is not a finite number")
            found.append(Sureness(confidence=float(confidence) if results else None, flagged=bool(flagged)))
    except (Exception, SystemExit) as error:  # as in ranking: it may be a stranger's
        raise UsageError(f"assess must give (confidence, flag) for each query: {described(error)}") from error
    return found


def _answers(ranker: Ranker, batch: Sequence[Query], depth: int) -> list[Any]:
    """One answer for each query of a batch, not checked further.

    Raises:
        UsageError: The ranker failed, or gave another number of answers.
    """
    try:
        answers = ranker.rank([query.text for query in batch], depth)
    except (Exception, SystemExit) as error:  # a ranker of someone else may fail in any way
        raise UsageError(f"{_culprit(ranker, batch, depth)}: {described(error)}") from error
    if isinstance(answers, str | bytes | dict) or not isinstance(answers, Iterable):
        raise UsageError(f"gave {type(answers).__name__} for {len(batch)} queries; a list for each query is needed")
    found = list(islice(answers, len(batch) + 1))
    if len(found) != len(batch):
        count = f"more than {len(batch)}" if len(found) > len(batch) else str(len(found))
        raise UsageError(f"{_place(batch)}: gave {count} rankings for {len(batch)} queries; one for each is needed")
    return found


def _culprit(ranker: Ranker, batch: Sequence[Query], depth: int) -> str:
    """The first query that fails alone; the whole batch where none does."""
    for query in batch:
        try:
            ranker.rank([query.text], depth)
        except (Exception, SystemExit):
            return f"query {shown(query.query_id)}"
    return f"{_place(batch)} together"


def _place(batch: Sequence[Query]) -> str:
    first, last = shown(batch[0].query_id), shown(batch[-1].query_id)
    return f"query {first}" if len(batch) == 1 else f"queries {first} to {last}"
