"""Which queries of a data set are measured, which are left out and why: the policy that `evaluate` states."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Sequence

from toolsearch.catalog.names import shown
from toolsearch.errors import DataError, Problem
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.measures import relevant
from toolsearch_eval.statistics import FEW_GROUPS


def refuse_twins(data: DataSet) -> None:
    """Do nothing where every tool has a name of its own.

    Raises:
        DataError: Tools share a name; each such name is one problem.
    """
    twins = sorted(name for name, count in Counter(tool.name for tool in data.tools).items() if count > 1)
    if twins:
        path = os.path.join(data.path, "catalog.jsonl")
        message = "is the name of several tools; give each its full id, so that labels tell them apart"
        raise DataError([Problem(path, 0, "name", f"{shown(name)} {message}") for name in twins])


def measured(data: DataSet, split: str) -> tuple[tuple[Query, ...], dict[str, int], int]:
    """The queries to rank, how many were left out by reason, and how many the split has.

    Args:
        data: The data set.
        split: `dev`, `test` or `all`.
    """
    seen = {query.query_id for query in data.queries}
    missing = sum(query_id not in seen for query_id in data.judgements)
    excluded = {"no_answer": 0, "empty": 0, "missing": missing, "duplicate": 0, "unjudged": 0}
    queries: dict[str, Query] = {}
    chosen = [query for query in data.queries if split in ("all", query.split)]
    done: set[str] = set()
    for query in chosen:
        if query.query_id in done:
            excluded["duplicate"] += 1
        elif query.expect == "none":
            excluded["no_answer"] += 1
        elif not query.text.strip():
            excluded["empty"] += 1
        elif not relevant(data.judgements.get(query.query_id, {})):
            excluded["unjudged"] += 1
        else:
            queries[query.query_id] = query
        done.add(query.query_id)
    return tuple(queries.values()), excluded, len(chosen)


def without_answer(data: DataSet, split: str) -> tuple[Query, ...]:
    """The queries that are judged by abstention alone: those that expect no answer and have a text."""
    queries = {query.query_id: query for query in reversed(data.queries) if split in ("all", query.split)}
    return tuple(query for query in reversed(queries.values()) if query.expect == "none" and query.text.strip())


def data_warnings(data: DataSet, queries: Sequence[Query], known: Collection[str]) -> list[str]:
    """What makes the figures doubtful: labels that no ranker can meet, and slices that are too small."""
    if not queries:
        return ["no query was measured; see how many were left out and why"]
    warnings: list[str] = []
    lost = sum(not relevant(data.judgements[query.query_id]) <= frozenset(known) for query in queries)
    if lost:
        warnings.append(f"{lost} queries need tools that can't be found; `toolsearch dataset check` names them")
    for part in sorted({query.slice for query in queries if query.slice}):
        groups = len({query.group for query in queries if query.slice == part})
        if groups < FEW_GROUPS:
            warnings.append(f"slice {shown(part)} has {groups} groups: too few to tell")
    return warnings
