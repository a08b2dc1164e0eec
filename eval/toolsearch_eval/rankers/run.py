"""One ranker at work: every query ranked, what it gives checked, its time taken; what is kept is not ranked again."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

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
CHUNK = 50
"""Queries that are ranked, and kept, together: few enough that a kill loses little of a slow ranker's work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a ranker gave for one query.

    Attributes:
        results: Names with scores, best first, as they are judged.
        sureness: How sure it was.
    """

    results: tuple[tuple[str, float], ...]
    sureness: Sureness


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How long a ranker took, in milliseconds.

    Attributes:
        latency: p50 and p95 of single queries; None without a query.
        build: To take in the catalog.
    """

    latency: Mapping[str, float | None]
    build: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What one ranker did.

    Attributes:
        answers: For each query.
        silent: For each query without an answer.
        times: How long it took; those of the time when it was ranked where all of it was kept.
        reused: How many of the queries were not ranked now because their answers had been kept.
    """

    answers: Sequence[Answer]
    silent: Sequence[Answer]
    times: Times
    reused: int = 0

    @property
    def rankings(self) -> list[list[str]]:
        """The names for each query, best first."""
        return [[name for name, _ in answer.results] for answer in self.answers]

    @property
    def sureness(self) -> list[Sureness]:
        """How sure it was of each query's first result."""
        return [answer.sureness for answer in self.answers]

    @property
    def no_answer(self) -> list[Sureness]:
        """The same for each query without an answer."""
        return [answer.sureness for answer in self.silent]

    @property
    def latency(self) -> Mapping[str, float | None]:
        """Milliseconds p50 and p95 of single queries; None without a query."""
        return self.times.latency

    @property
    def build(self) -> float:
        """Milliseconds to take in the catalog."""
        return self.times.build


class Shelf(Protocol):
    """Where the answers of one ranker on one catalog are kept; never those of a failure."""

    def read(self, queries: Sequence[Query], known: Collection[str]) -> tuple[Answer, ...] | None:
        """The answers for exactly these queries, or None where they are not there or damaged."""

    def write(self, queries: Sequence[Query], answers: Sequence[Answer]) -> None:
        """Keep them, whole or not at all."""

    def read_times(self, queries: Sequence[Query]) -> Times | None:
        """How long it took when these queries were timed, or None."""

    def write_times(self, queries: Sequence[Query], times: Times) -> None:
        """Keep them, whole or not at all."""


class Bench(Protocol):
    """Does the work of one ranker, here or in other processes."""

    def ranked(self, chunks: Mapping[int, Sequence[Query]]) -> Iterator[tuple[int, tuple[Answer, ...]]]:
        """The answers for each chunk, as they are done; each is kept before it is given."""

    def timed(self, queries: Sequence[Query]) -> Times:
        """How long single queries and the catalog take."""


class AtWork:
    """One ranker on one catalog, in this process; it takes the catalog in when it first needs it."""

    def __init__(self, ranker: Ranker, tools: Sequence[Tool], depth: int, shelf: Shelf | None = None) -> None:
        """Take the ranker, which may be a stranger's and fail in any way, and what it is asked for."""
        self._ranker = ranker
        self._tools = tools
        self._depth = depth
        self._shelf = shelf
        self._known = frozenset(tool.name for tool in tools)
        self._build: float | None = None

    def ranked(self, chunks: Mapping[int, Sequence[Query]]) -> Iterator[tuple[int, tuple[Answer, ...]]]:
        """The answers for each chunk in the order of their numbers.

        Raises:
            UsageError: It failed, or gave something that can't be judged; names the ranker, and the query where it is
                one.
        """
        for number in sorted(chunks):
            yield number, self.answers(chunks[number])

    def answers(self, queries: Sequence[Query]) -> tuple[Answer, ...]:
        """The answers for one chunk, kept.

        Raises:
            UsageError: As for `ranked`.
        """
        try:
            self._take_in()
            answers = self._answers(queries)
        except (Exception, SystemExit) as error:
            raise self._failure(error) from error
        if self._shelf is not None:
            self._shelf.write(queries, answers)
        return answers

    def timed(self, queries: Sequence[Query]) -> Times:
        """The time of single queries, one after the other, and of taking in the catalog; kept.

        Raises:
            UsageError: It failed.
        """
        try:
            build = self._take_in()
            times = Times(latency=_latency(self._ranker, queries, self._depth), build=build)
        except (Exception, SystemExit) as error:
            raise self._failure(error) from error
        if self._shelf is not None:
            self._shelf.write_times(queries, times)
        return times

    def _take_in(self) -> float:
        if self._build is None:
            start = time.perf_counter()
            self._ranker.index(self._tools)
            self._build = (time.perf_counter() - start) * 1000
        return self._build

    def _answers(self, queries: Sequence[Query]) -> tuple[Answer, ...]:
        keeps_order = bool(getattr(self._ranker, "keeps_order", False))
        ranked = [
            settled(answer, self._depth, known=self._known, query_id=query.query_id, keeps_order=keeps_order)
            for query, answer in zip(queries, _raw(self._ranker, queries, self._depth), strict=True)
        ]
        sureness = _sureness(self._ranker, queries, ranked)
        return tuple(
            Answer(results=tuple(results), sureness=sure) for results, sure in zip(ranked, sureness, strict=True)
        )

    def _failure(self, error: BaseException) -> UsageError:
        return UsageError(f"ranker {self._ranker.name!r} failed: {described(error)}")


def run_ranker(
    ranker: Ranker,
    tools: Sequence[Tool],
    queries: Sequence[Query],
    depth: int,
    *,
    no_answer: Sequence[Query] = (),
    advance: Callable[[int], object] = lambda _: None,
    shelf: Shelf | None = None,
    bench: Bench | None = None,
) -> Ran:
    """Rank all queries with one ranker, which may be a stranger's and fail in any way.

    Args:
        ranker: Anything that fulfils the protocol, or should.
        tools: The tools that may be found.
        queries: None is fine.
        depth: Results asked for, above 0.
        no_answer: Queries without an answer.
        advance: Called after each chunk with its size.
        shelf: Where its answers are kept: what is there is not ranked again, and what is ranked is put there at once.
        bench: Who does the work; this process unless told otherwise.

    Raises:
        UsageError: It failed, or gave something that can't be judged; names the ranker, and the query where it is one.
    """
    work = bench or AtWork(ranker, tools, depth, shelf)
    known = frozenset(tool.name for tool in tools)
    chunks = [*_chunks(queries), *_chunks(no_answer)]
    found: dict[int, tuple[Answer, ...]] = {}
    for number, chunk in enumerate(chunks):
        kept = shelf.read(chunk, known) if shelf is not None else None
        if kept is not None:
            found[number] = kept
            advance(len(chunk))
    reused = sum(map(len, found.values()))
    for number, answers in work.ranked({n: chunk for n, chunk in enumerate(chunks) if n not in found}):
        found[number] = answers
        advance(len(answers))
    first = queries[:_TIMED_QUERIES]
    times = shelf.read_times(first) if shelf is not None else None
    in_order = [answer for number in range(len(chunks)) for answer in found[number]]
    return Ran(
        answers=in_order[: len(queries)],
        silent=in_order[len(queries) :],
        times=times or work.timed(first),
        reused=reused,
    )


def _chunks(queries: Sequence[Query]) -> list[Sequence[Query]]:
    return [queries[start : start + CHUNK] for start in range(0, len(queries), CHUNK)]


def _latency(ranker: Ranker, queries: Sequence[Query], depth: int) -> dict[str, float | None]:
    times: list[float] = []
    for query in queries:
        start = time.perf_counter()
        ranker.rank([query.text], depth)
        times.append((time.perf_counter() - start) * 1000)
    if not times:
        return {"p50": None, "p95": None}
    return {"p50": float(np.percentile(times, 50)), "p95": float(np.percentile(times, 95))}


def _sureness(
    ranker: Ranker, queries: Sequence[Query], ranked: Sequence[Sequence[tuple[str, float]]]
) -> list[Sureness]:
    if not isinstance(ranker, AssessingRanker):
        return [Sureness(confidence=results[0][1] if results else None) for results in ranked]
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


def _raw(ranker: Ranker, batch: Sequence[Query], depth: int) -> list[Any]:
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
        raise UsageError(f"{place_of(batch)}: gave {count} rankings for {len(batch)} queries; one for each is needed")
    return found


def _culprit(ranker: Ranker, batch: Sequence[Query], depth: int) -> str:
    """The first query that fails alone; the whole batch where none does."""
    for query in batch:
        try:
            ranker.rank([query.text], depth)
        except (Exception, SystemExit):
            return f"query {shown(query.query_id)}"
    return f"{place_of(batch)} together"


def place_of(batch: Sequence[Query]) -> str:
    """Which queries, for a message."""
    first, last = shown(batch[0].query_id), shown(batch[-1].query_id)
    return f"query {first}" if len(batch) == 1 else f"queries {first} to {last}"
