"""What a data set lacks, in numbers; texts are made safe here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas

from toolsearch.errors import Problem
from toolsearch_app.text import line
from toolsearch_eval.data_health import Hard, JudgedShare, NeverFound, SliceCoverage
from toolsearch_eval.data_texts import Copied, Repeated
from toolsearch_eval.pooling import Candidate


def coverage_table(rows: Iterable[SliceCoverage]) -> pandas.DataFrame:
    """A row for each slice of each split."""
    return pandas.DataFrame(
        [
            (
                line(each.slice) or "(none)",
                each.split,
                each.queries,
                each.groups,
                each.labels,
                each.no_answer,
                each.unlabelled,
                "too few to tell" if each.few else "",
            )
            for each in rows
        ],
        columns=["slice", "split", "queries", "groups", "labels a query", "no answer", "unlabelled", "note"],
    )


def judged_table(rows: Iterable[JudgedShare]) -> pandas.DataFrame:
    """A row for each ranker of each run and split, the least judged first."""
    return pandas.DataFrame(
        [
            (line(each.ranker), each.split, each.share, each.queries, line(each.run))
            for each in sorted(rows, key=lambda each: (each.share, each.ranker, each.split, each.run))
        ],
        columns=["ranker", "split", "Judged@10", "queries", "run"],
    )


def unjudged_table(rows: Sequence[Candidate]) -> pandas.DataFrame:
    """A row for each query that has candidates: how many and which."""
    tools: dict[str, list[str]] = {}
    for each in rows:
        tools.setdefault(each.query_id, []).append(each.tool)
    texts = {each.query_id: each.text for each in rows}
    return pandas.DataFrame(
        [
            (line(query_id), line(texts[query_id], 160), len(names), line(", ".join(names), 200))
            for query_id, names in tools.items()
        ],
        columns=["query", "text", "unjudged", "tools"],
    )


def hard_table(rows: Iterable[Hard]) -> pandas.DataFrame:
    """A row for each query that no ranker answers fully, the hardest first."""
    return pandas.DataFrame(
        [
            (
                line(each.query.query_id),
                line(each.query.text, 160),
                line(each.query.slice),
                each.best,
                line(each.by),
                "not found" if each.nearest is None else str(each.nearest),
                line(", ".join(each.needed), 200),
            )
            for each in rows
        ],
        columns=["query", "text", "slice", "best nDCG@10", "by", "nearest rank", "needed tools"],
    )


def never_table(rows: Iterable[NeverFound]) -> pandas.DataFrame:
    """A row for each tool that no ranker brought."""
    return pandas.DataFrame(
        [(line(each.tool), line(each.server), len(each.needed_by), line(", ".join(each.needed_by))) for each in rows],
        columns=["tool", "server", "needed by", "queries"],
    )


def leak_table(rows: Iterable[Copied]) -> pandas.DataFrame:
    """A row for each text that stands in a query and at a tool."""
    return pandas.DataFrame(
        [
            (line(each.query.query_id), line(each.query.text, 160), each.query.split, each.kind, line(each.tool))
            for each in rows
        ],
        columns=["query", "text", "split", "copied from", "tool"],
    )


def repeat_table(rows: Iterable[Repeated]) -> pandas.DataFrame:
    """A row for each query that says what an earlier one says."""
    return pandas.DataFrame(
        [
            (
                line(each.query.query_id),
                line(each.first.query_id),
                line(each.query.text, 160),
                "same" if each.same_split else "dev and test",
                "same" if each.same_answers else "conflicting",
            )
            for each in rows
        ],
        columns=["query", "same as", "text", "split", "answers"],
    )


def twin_table(rows: Iterable[Sequence[str]]) -> pandas.DataFrame:
    """A row for each set of tools that share a description."""
    return pandas.DataFrame([(len(names), line(", ".join(names))) for names in rows], columns=["tools", "names"])


def problem_table(errors: Iterable[Problem], warnings: Iterable[Problem]) -> pandas.DataFrame:
    """A row for each error, then for each warning; a file by its name alone, no line for what is the whole file's."""
    rows = [("error", each) for each in errors] + [("warning", each) for each in warnings]
    return pandas.DataFrame(
        [
            (
                kind,
                line(each.message),
                each.field,
                line(each.path.replace("\\", "/").rsplit("/", 1)[-1]),
                str(each.line) if each.line else "",
            )
            for kind, each in rows
        ],
        columns=["kind", "message", "field", "file", "line"],
    )
