"""Changes of a data set, made on the value; writing is one step that gives the whole folder or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet, Judgement, Query, fingerprint_of
from toolsearch_eval.data_files import id_fault
from toolsearch_eval.judgements import derived_grades

JUDGE = "dashboard"


def next_query_id(data: DataSet) -> str:
    """An id that no query has yet: `own-1`, else `own-2` and so on."""
    taken = {query.query_id for query in data.queries}
    return next(name for number in range(1, len(taken) + 2) if (name := f"own-{number}") not in taken)


def with_query(data: DataSet, query: Query, grades: Mapping[str, int], *, date: str) -> DataSet:
    """The data set with one more labelled query at its end.

    Args:
        data: The data set.
        query: The new query.
        grades: By tool; none for a query that expects none.
        date: The present day, as it stands in the labels.

    Raises:
        UsageError: The id can't be one or is taken, the text is empty or asked already, a tool is not in the catalog,
            a query that has an answer has no label above 0, or one that has none has some.
    """
    fault = id_fault(query.query_id)
    if fault:
        raise UsageError(f"the query id {query.query_id!r} {fault}; give it visible characters on one line.")
    if any(known.query_id == query.query_id for known in data.queries):
        raise UsageError(f"the query id {query.query_id!r} is taken; give it another one.")
    if not query.text.strip():
        raise UsageError("the query is empty; write what is asked.")
    same = next((known.query_id for known in data.queries if known.text == query.text), None)
    if same is not None:
        raise UsageError(f"query {same!r} asks the same already; change its labels instead.")
    unknown = sorted(set(grades) - {tool.name for tool in data.tools})
    if unknown:
        raise UsageError(f"the catalog has no tool {unknown[0]!r}; label tools of this catalog.")
    answered = any(grade > 0 for grade in grades.values())
    if answered and query.expect == "none":
        raise UsageError("a query without an answer can't have tools that answer it; take the labels or the tick away.")
    if not answered and query.expect != "none":
        raise UsageError("no tool is labelled; choose the tools that do the job, or say that there is no answer.")
    labels = data.labels
    judgements: dict[str, Mapping[str, int]] = dict(data.judgements)
    if grades:
        judgements[query.query_id] = dict(grades)
    if data.labels or not data.judgements:
        new = (
            Judgement(query_id=query.query_id, tool=tool, grade=grade, judge=JUDGE, date=date)
            for tool, grade in grades.items()
        )
        labels = (*data.labels, *new)
        judgements = dict(derived_grades(labels))
    queries = (*data.queries, query)
    return replace(
        data,
        queries=queries,
        labels=labels,
        judgements=judgements,
        fingerprint=fingerprint_of(data.tools, queries, judgements),
    )
