"""What was blessed: every query's value and ranking, and the data that they hold for."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.formats import to_row
from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.data import DataSet, Query, query_row
from toolsearch_eval.evaluate import Evaluation, evaluate
from toolsearch_eval.gate.blessing import Blessing
from toolsearch_eval.gate.budgets import Limits, Spent, counter_name, held_against, measure_spent
from toolsearch_eval.gate.tools_array import MakeSession, plain_session
from toolsearch_eval.measures import Measure, parse_measure
from toolsearch_eval.rankers import Ranker
from toolsearch_eval.statistics import mean_interval

HOW_TO_BLESS = "`toolsearch bless` makes a baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlessedQuery:
    """One query as it was when the baseline was blessed.

    Attributes:
        digest: Over its text, fields and grades.
        value: Of the primary measure.
        slice: Its slice.
        group: Its group.
        ranking: The names that were found, best first.
    """

    digest: str
    value: float
    slice: str
    group: str
    ranking: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What a later state is held against.

    Attributes:
        data: The data set's name.
        fingerprint: Of the whole data set.
        split: Which queries are measured beside the must-pass ones.
        depth: Results asked for.
        measure: The measure that decides.
        ranker: The ranker that was blessed.
        tools: A digest for each tool of the catalog.
        queries: The measured queries by id, must-pass ones of other splits too.
        must_pass: Ids of queries of which none may fall.
        limits: What it may cost beside being right.
        spent: What it did cost.
        date: When it was blessed.
        reason: Why, in the words of whoever blessed it.
        version: Of this package.
        history: What was blessed in this place before, oldest first.
    """

    data: str
    fingerprint: str
    split: str
    depth: int
    measure: Measure
    ranker: str
    tools: Mapping[str, str]
    queries: Mapping[str, BlessedQuery]
    must_pass: tuple[str, ...]
    limits: Limits
    spent: Spent
    date: str
    reason: str
    version: str
    history: tuple[Blessing, ...] = ()

    @property
    def blessing(self) -> Blessing:
        """What a later baseline in this place remembers of this one."""
        queries = self.queries.values()
        interval = mean_interval([query.value for query in queries], [query.group for query in queries])
        return Blessing(
            date=self.date,
            reason=self.reason,
            ranker=self.ranker,
            data=self.data,
            fingerprint=self.fingerprint,
            split=self.split,
            measure=str(self.measure),
            version=self.version,
            queries=len(queries),
            must_pass=len(self.must_pass),
            mean=interval.mean,
            low=interval.low,
            high=interval.high,
        )


def make_baseline(
    data: DataSet,
    ranker: Ranker,
    *,
    split: str = "dev",
    depth: int = 10,
    measure: Measure | None = None,
    must_pass: Collection[str] = (),
    limits: Limits | None = None,
    make_session: MakeSession = plain_session,
    clock: Callable[[], float] = time.perf_counter,
    date: str,
    reason: str = "",
    version: str = "",
    progress: bool | None = None,
) -> Baseline:
    """Judge a ranker and keep what it reaches.

    Args:
        data: The data set.
        ranker: The ranker.
        split: The queries that count; a data set without a dev split needs `test` or `all`.
        depth: Results asked for, above 0.
        measure: The measure that decides; `nDCG@10` unless told otherwise.
        must_pass: Ids of queries of which none may fall later; of any split.
        limits: What it may cost; None: 5% more tokens per answer than now, counted as well as can be here.
        make_session: The session whose tools array is watched.
        clock: For the times, where the limits ask for them.
        date: Today.
        reason: Why it is blessed.
        version: Of this package.
        progress: As for `evaluate`.

    Raises:
        UnknownNameError: A must-pass query that the data doesn't have.
        UsageError: No query is measured, a must-pass query can't be, or a budget is broken as it is.
    """
    measure = measure or parse_measure("nDCG@10")
    by_id = {query.query_id: query for query in data.queries}
    for query_id in must_pass:
        if query_id not in by_id:
            raise UnknownNameError("query", query_id, by_id, "Name must-pass queries by their query_id.")
    evaluation = judge(data, ranker, split=split, depth=depth, measure=measure, must_pass=must_pass, progress=progress)
    measured = {query.query_id for query in evaluation.queries}
    unmeasured = sorted(set(must_pass) - measured)
    if unmeasured:
        raise UsageError(
            f"must-pass queries {', '.join(map(repr, unmeasured[:5]))} can't be measured: they have no text or no tool "
            "with a grade above 0. Label them first, or leave them out."
        )
    if not measured:
        raise UsageError(f"split {split!r} of {data.name} has no query to measure; accepted: dev, test, all.")
    limits = limits or Limits(counter=counter_name("auto"))
    spent = spent_by(data, ranker, evaluation, split=split, limits=limits, make_session=make_session, clock=clock)
    broken = [
        f"{each.name}: {replace(each, blessed=None).sentence}"
        for each in held_against(limits, spent, spent)
        if not each.kept
    ]
    if broken:
        raise UsageError("this can't be blessed, as it is over its own budget:\n" + "\n".join(broken))
    return Baseline(
        data=data.name,
        fingerprint=data.fingerprint,
        split=split,
        depth=depth,
        measure=measure,
        ranker=ranker.name,
        tools=tool_digests(data),
        queries=_blessed(data, evaluation, ranker.name, measure),
        must_pass=tuple(sorted(set(must_pass))),
        limits=limits,
        spent=spent,
        date=date,
        reason=reason,
        version=version,
    )


def judge(
    data: DataSet,
    ranker: Ranker,
    *,
    split: str,
    depth: int,
    measure: Measure,
    must_pass: Collection[str] = (),
    progress: bool | None = None,
) -> Evaluation:
    """Judge the queries of a split and the must-pass ones; no other query is looked at."""
    chosen = tuple(query for query in data.queries if split in ("all", query.split) or query.query_id in must_pass)
    return evaluate(
        replace(data, queries=chosen), [ranker], measures=[measure], split="all", depth=depth, progress=progress
    )


def spent_by(
    data: DataSet,
    ranker: Ranker,
    evaluation: Evaluation,
    *,
    split: str,
    limits: Limits,
    make_session: MakeSession,
    clock: Callable[[], float],
) -> Spent:
    """What a judged ranker costs over the queries of the split; must-pass queries of elsewhere don't count."""
    places = [place for place, query in enumerate(evaluation.queries) if split in ("all", query.split)]
    return measure_spent(
        data,
        ranker,
        [evaluation.queries[place].text for place in places],
        [evaluation.rankings[ranker.name][place] for place in places],
        limits,
        depth=evaluation.depth,
        make_session=make_session,
        clock=clock,
    )


def tool_digests(data: DataSet) -> dict[str, str]:
    """A digest for each tool that can be found, by name."""
    return {tool.name: _digest(to_row(tool)) for tool in data.tools if is_deferred(tool)}


def query_digest(data: DataSet, query: Query) -> str:
    """A digest over a query's text, fields and grades."""
    grades = data.judgements.get(query.query_id, {})
    return _digest([query_row(query), {name: grades[name] for name in sorted(grades)}])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("ascii")).hexdigest()[:16]


def _blessed(data: DataSet, evaluation: Evaluation, ranker: str, measure: Measure) -> dict[str, BlessedQuery]:
    values = evaluation.values(ranker, measure)
    rankings = evaluation.rankings[ranker]
    return {
        query.query_id: BlessedQuery(
            digest=query_digest(data, query),
            value=value,
            slice=query.slice,
            group=query.group,
            ranking=tuple(names),
        )
        for query, value, names in zip(evaluation.queries, values, rankings, strict=True)
    }
