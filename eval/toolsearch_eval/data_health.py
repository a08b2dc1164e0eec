"""What a data set still lacks, as far as its labels and the rankings of finished runs can tell; nothing is ranked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.tool import Tool
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.evaluate import Evaluation
from toolsearch_eval.measures import Measure, relevant
from toolsearch_eval.pooling import DEPTHS, Pool, pool_of
from toolsearch_eval.statistics import FEW_GROUPS

MEASURE = Measure("nDCG", 10)
"""What a hard query is hard by."""
JUDGED = Measure("Judged", 10)
"""How much of what rankers bring has a label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceCoverage:
    """What a slice of one split holds.

    Attributes:
        slice: The slice; "" for queries without one.
        split: `dev` or `test`.
        queries: How many.
        groups: In how many groups.
        no_answer: How many of them expect no answer.
        unlabelled: How many expect an answer and have no relevant label.
        labels: The median number of labelled tools of a query.
        few: Too few groups to tell anything.
    """

    slice: str
    split: str
    queries: int
    groups: int
    no_answer: int
    unlabelled: int
    labels: float
    few: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rankings:
    """What one ranker brought in one run, as far as it holds for a data set.

    Attributes:
        run: The run's id.
        ranker: The ranker.
        split: Which queries were judged.
        depth: Results asked for.
        names: By query id, the names, best first.
    """

    run: str
    ranker: str
    split: str
    depth: int
    names: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A run whose rankings say nothing of a data set as it is now.

    Attributes:
        run: The run's id.
        why: What differs.
    """

    run: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedShare:
    """How much of what a ranker brings has a label.

    Attributes:
        run: The run's id.
        ranker: The ranker.
        split: `dev` or `test`.
        queries: The queries with an answer that were ranked.
        share: The mean of Judged@10 over them, 0..1.
    """

    run: str
    ranker: str
    split: str
    queries: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hard:
    """A query that no ranker answers well.

    Attributes:
        query: The query.
        best: The best nDCG@10 of any ranker, 0..1.
        by: The ranker that reached it, the first by name of several; "" where all have 0.
        needed: The relevant tools, by name.
        nearest: The best rank at which any ranker brought one of them; None where none did.
    """

    query: Query
    best: float
    by: str
    needed: tuple[str, ...]
    nearest: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverFound:
    """A tool that no ranker brought for any query.

    Attributes:
        tool: The tool's name.
        server: Its server, or "".
        needed_by: Ids of the ranked queries for which it is relevant; empty where none asks for it.
    """

    tool: str
    server: str
    needed_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """All of it at once.

    Attributes:
        coverage: By slice and split.
        rankings: What the runs brought.
        misfits: Runs that were left out.
        judged: How much of that has a label.
        pool: What has none.
        hard: The hardest queries first; those that every ranker answers fully are left out.
        never_found: Those that some query needs first.
        twins: Names of tools that share one description, by name.
    """

    coverage: tuple[SliceCoverage, ...]
    rankings: tuple[Rankings, ...]
    misfits: tuple[Misfit, ...]
    judged: tuple[JudgedShare, ...]
    pool: Pool
    hard: tuple[Hard, ...]
    never_found: tuple[NeverFound, ...]
    twins: tuple[tuple[str, ...], ...]


def data_health(data: DataSet, runs: Iterable[tuple[str, Evaluation]]) -> Health:
    """What a data set lacks.

    Args:
        data: The data set, with the labels as they are now.
        runs: Finished runs by their ids; what they were judged by then plays no part. One that ranked another catalog
            is left out, and so are queries that have another text now.

    Raises:
        DataError: Two tools have one name.
    """
    rankings: list[Rankings] = []
    misfits: list[Misfit] = []
    for run_id, evaluation in runs:
        found = rankings_of(data, run_id, evaluation)
        if isinstance(found, Misfit):
            misfits.append(found)
        else:
            rankings += found
    return Health(
        coverage=coverage(data),
        rankings=tuple(rankings),
        misfits=tuple(misfits),
        judged=judged_shares(data, rankings),
        pool=unjudged(data, rankings),
        hard=hardest(data, rankings),
        never_found=never_found(data, rankings),
        twins=twin_tools(data.tools),
    )


def coverage(data: DataSet) -> tuple[SliceCoverage, ...]:
    """Every slice of every split, by name of the slice and then of the split."""
    parts: dict[tuple[str, str], list[Query]] = defaultdict(list)
    for query in data.queries:
        parts[query.slice, query.split].append(query)
    return tuple(
        SliceCoverage(
            slice=name,
            split=split,
            queries=len(queries),
            groups=len({query.group for query in queries}),
            no_answer=sum(query.expect == "none" for query in queries),
            unlabelled=sum(
                query.expect != "none" and not relevant(data.judgements.get(query.query_id, {})) for query in queries
            ),
            labels=float(median(len(data.judgements.get(query.query_id, {})) for query in queries)),
            few=len({query.group for query in queries}) < FEW_GROUPS,
        )
        for (name, split), queries in sorted(parts.items())
    )


def rankings_of(data: DataSet, run_id: str, evaluation: Evaluation) -> tuple[Rankings, ...] | Misfit:
    """What each ranker of a run brought for the queries that the data set still has, those without an answer too."""
    if evaluation.data.name != data.name:
        return Misfit(run=run_id, why=f"was made on {evaluation.data.name}")
    # A ranker may give other tools once a single one of them reads otherwise: its weights of words hang on all texts.
    ours, theirs = ({tool.name: tool for tool in tools} for tools in (data.tools, evaluation.data.tools))
    if ours != theirs:
        changed = sum(ours.get(name) != theirs.get(name) for name in ours.keys() | theirs.keys())
        return Misfit(run=run_id, why=f"ranked another catalog: {changed} tools differ")
    texts = {query.query_id: query.text for query in data.queries}
    found = []
    for name, ran in evaluation.runs.items():
        names = {
            query.query_id: tuple(tool for tool, _ in answer.results)
            for queries, answers in ((evaluation.queries, ran.answers), (evaluation.no_answer, ran.silent))
            for query, answer in zip(queries, answers, strict=True)
            if texts.get(query.query_id) == query.text
        }
        found.append(Rankings(run=run_id, ranker=name, split=evaluation.split, depth=evaluation.depth, names=names))
    if found and not any(each.names for each in found):
        return Misfit(run=run_id, why="has no query with the text that the data set has now")
    return tuple(found)


def judged_shares(data: DataSet, rankings: Sequence[Rankings]) -> tuple[JudgedShare, ...]:
    """The mean of Judged@10 for each ranker of each run, by split; none where no query with an answer was ranked."""
    found = []
    for each in rankings:
        for split in ("dev", "test"):
            values = [
                JUDGED.value(each.names[query.query_id], data.judgements.get(query.query_id, {}))
                for query in _answerable(data, each.names)
                if query.split == split
            ]
            if values:
                share = sum(values) / len(values)
                found.append(
                    JudgedShare(run=each.run, ranker=each.ranker, split=split, queries=len(values), share=share)
                )
    return tuple(found)


def unjudged(data: DataSet, rankings: Sequence[Rankings], *, depths: Mapping[str, int] = DEPTHS) -> Pool:
    """What the rankings bring and nobody has judged, as `pooling.pool_of` gives it.

    Raises:
        DataError: Two tools have one name.
    """
    return pool_of(data, {f"{each.run}: {each.ranker}": each.names for each in rankings}, depths=depths)


def hardest(data: DataSet, rankings: Sequence[Rankings]) -> tuple[Hard, ...]:
    """The queries that were ranked, by the best value that any ranker reaches; the lowest first, ties by id."""
    asked = {query_id for each in rankings for query_id in each.names}
    found = []
    for query in _answerable(data, asked):
        grades = data.judgements[query.query_id]
        needed = relevant(grades)
        ranked = sorted(
            ((each.ranker, each.names[query.query_id]) for each in rankings if query.query_id in each.names),
            key=lambda pair: pair[0],
        )
        values = [(MEASURE.value(names, grades, need=query.need), ranker) for ranker, names in ranked]
        best, by = max(values, key=lambda pair: pair[0])
        ranks = [names.index(tool) + 1 for _, names in ranked for tool in needed if tool in names]
        if best < 1 - 1e-9:
            found.append(
                Hard(
                    query=query,
                    best=best,
                    by=by if best > 0 else "",
                    needed=tuple(sorted(needed)),
                    nearest=min(ranks, default=None),
                )
            )
    return tuple(sorted(found, key=lambda each: (each.best, each.query.query_id)))


def never_found(data: DataSet, rankings: Sequence[Rankings]) -> tuple[NeverFound, ...]:
    """Tools that can be found and that no ranker brought for any query; none where nothing was ranked."""
    if not rankings:
        return ()
    brought = {name for each in rankings for names in each.names.values() for name in names}
    asked = {query_id for each in rankings for query_id in each.names}
    needed: dict[str, list[str]] = defaultdict(list)
    for query in _answerable(data, asked):
        for name in relevant(data.judgements[query.query_id]):
            needed[name].append(query.query_id)
    found = [
        NeverFound(tool=tool.name, server=tool.server or "", needed_by=tuple(sorted(needed.get(tool.name, ()))))
        for tool in data.tools
        if is_deferred(tool) and tool.name not in brought
    ]
    return tuple(sorted(found, key=lambda each: (-len(each.needed_by), each.tool)))


def twin_tools(tools: Iterable[Tool]) -> tuple[tuple[str, ...], ...]:
    """Names of tools whose descriptions are the same, letter case and blanks aside; each set by name."""
    owners: dict[str, list[str]] = defaultdict(list)
    for tool in tools:
        text = " ".join((tool.description or "").casefold().split())
        if text:
            owners[text].append(tool.name)
    return tuple(sorted(tuple(sorted(names)) for names in owners.values() if len(names) > 1))


def _answerable(data: DataSet, ids: Iterable[str]) -> list[Query]:
    """The queries of some ids that have an answer, in the data set's order."""
    wanted = set(ids)
    return [
        query
        for query in data.queries
        if query.query_id in wanted and query.expect != "none" and relevant(data.judgements.get(query.query_id, {}))
    ]
