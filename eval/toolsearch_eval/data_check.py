"""What is wrong, or doubtful, with a labelled data set."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.errors import Problem
from toolsearch_eval.data import DataSet, Judgement, Query, latest_grades, read_qrels
from toolsearch_eval.measures import relevant

_COPIED_WORDS = 6
"""Shorter runs of words stand in a description and in a query by chance."""
_SMALL_SLICE = 10


def check_data(data: DataSet) -> tuple[list[Problem], list[Problem]]:
    """Errors and warnings of a data set that could be loaded, each in file order.

    Errors: labels that can't hold (no such tool or query, always loaded, conflicting), groups and texts that stand in
    both splits, a `qrels.tsv` that does not follow from `judgements.jsonl`. Warnings: texts that come twice, leaks (a
    query and a description or search hint share six words or more as a whole, or a query equals a search hint),
    judges who disagree, unknown fields, slices of fewer than ten queries.
    """
    errors: list[Problem] = []
    warnings: list[Problem] = []
    _check_labels(data, errors)
    _check_texts(data, errors, warnings)
    _check_groups(data, errors)
    _check_judges(data, errors, warnings)
    path = str(Path(data.path) / "queries.jsonl")
    for query in data.queries:
        for name in sorted(query.extra):
            warnings.append(Problem(path, query.line, name, "is no field of a query; it is kept and has no effect"))
    for name, size in sorted(Counter(query.slice for query in data.queries).items()):
        if size < _SMALL_SLICE:
            warnings.append(Problem(path, 0, "slice", f"{name!r} has {size} queries: too few to tell"))
    return _in_file_order(errors), _in_file_order(warnings)


def _in_file_order(problems: list[Problem]) -> list[Problem]:
    return sorted(
        problems, key=lambda problem: (Path(problem.path).name != "queries.jsonl", problem.path, problem.line)
    )


def _check_labels(data: DataSet, errors: list[Problem]) -> None:
    tools = {tool.name: tool for tool in data.tools}
    path = str(Path(data.path) / "queries.jsonl")
    for query in data.queries:
        grades = data.judgements.get(query.query_id, {})
        needed = relevant(grades)

        def error(name: str, message: str, line: int = query.line) -> None:
            errors.append(Problem(path, line, name, message))

        if not query.text.strip():
            error("text", "is empty; write what is asked")
        if query.expect == "none" and needed:
            error("expect", f"is none, but {sorted(needed)} are labelled as answers")
        if query.expect != "none" and not needed:
            error("query_id", f"{query.query_id!r} has no relevant label; label it or set expect to none")
        for name in sorted({*grades, *query.must_not}):
            if name not in tools:
                error("tool", f"{name!r} of query {query.query_id!r} is not in the catalog")
            elif name in needed and not is_deferred(tools[name]):
                error("tool", f"{name!r} of query {query.query_id!r} is always loaded, so it is never searched")
        if needed & set(query.must_not):
            error("must_not", f"{sorted(needed & set(query.must_not))} are labelled as answers too")
    for name, count in sorted(Counter(tool.name for tool in data.tools).items()):
        if count > 1:
            message = f"{name!r} is the name of {count} tools; give each its full id, so that labels tell them apart"
            errors.append(Problem(str(Path(data.path) / "catalog.jsonl"), 0, "name", message))
    known = {query.query_id for query in data.queries}
    for query_id in sorted(set(data.judgements) - known):
        errors.append(Problem(data.path, 0, "query_id", f"labels name the query {query_id!r}, which doesn't exist"))


def _check_texts(data: DataSet, errors: list[Problem], warnings: list[Problem]) -> None:
    path = str(Path(data.path) / "queries.jsonl")
    described = [
        (tool.name, kind, f" {_plain(text)} ")
        for tool in data.tools
        for kind, text in (("description", tool.description or ""), ("search hint", tool.search_hint or ""))
        if text
    ]
    first: dict[str, Query] = {}
    for query in data.queries:
        plain = _plain(query.text)
        if not plain:
            continue
        other = first.setdefault(plain, query)
        if other is not query:
            again = f"same text as query {other.query_id!r} on line {other.line}"
            answers = [relevant(data.judgements.get(each.query_id, {})) for each in (other, query)]
            if other.split != query.split:
                errors.append(Problem(path, query.line, "split", f"{again}, which is in {other.split}"))
            if answers[0] != answers[1]:
                errors.append(Problem(path, query.line, "text", f"{again}, but the labels are conflicting"))
            warnings.append(Problem(path, query.line, "text", again))
        for tool, kind, text in described:
            if _is_leak(f" {plain} ", text, kind):
                warnings.append(
                    Problem(path, query.line, "text", f"is copied from the {kind} of {tool!r}, or it from this")
                )


def _is_leak(query: str, text: str, kind: str) -> bool:
    if query == text:
        return kind == "search hint" or query.count(" ") > _COPIED_WORDS
    shorter, longer = sorted((query, text), key=len)
    return shorter in longer and shorter.count(" ") > _COPIED_WORDS


def _check_groups(data: DataSet, errors: list[Problem]) -> None:
    path = str(Path(data.path) / "queries.jsonl")
    splits: dict[str, str] = {}
    for query in data.queries:
        if splits.setdefault(query.group, query.split) != query.split:
            message = f"{query.group!r} stands in dev and in test; a group belongs to one split"
            errors.append(Problem(path, query.line, "group", message))


def _check_judges(data: DataSet, errors: list[Problem], warnings: list[Problem]) -> None:
    if not data.labels:
        return
    path = Path(data.path) / "judgements.jsonl"
    last: dict[tuple[str, str], int] = {}
    for label in data.labels:
        key = label.query_id, label.tool
        last[key] = max(label.turn, last.get(key, label.turn))
    first: dict[tuple[str, str], Judgement] = {}
    for label in data.labels:
        key = label.query_id, label.tool
        if label.turn != last[key]:
            continue  # a later pass settles it
        other = first.setdefault(key, label)
        if other.grade != label.grade:
            message = (
                f"{label.tool!r} of {label.query_id!r} is {label.grade} here and {other.grade} on line {other.line}"
            )
            fault = Problem(str(path), label.line, "grade", f"{message}; a later pass can settle it")
            (errors if other.judge == label.judge else warnings).append(fault)
    derived = path.with_name("qrels.tsv")
    if derived.is_file() and read_qrels(derived, errors) != latest_grades(data.labels):
        errors.append(Problem(str(derived), 0, "", "does not follow from judgements.jsonl; derive it anew"))


def data_statistics(data: DataSet) -> dict[str, Any]:
    """Counts: tools, queries, groups, labels, and queries by split, slice and language."""
    return {
        "schema_version": 1,
        "name": data.name,
        "fingerprint": data.fingerprint,
        "tools": len(data.tools),
        "queries": len(data.queries),
        "groups": len({query.group for query in data.queries}),
        "labels": sum(map(len, data.judgements.values())),
        "no_answer": sum(query.expect == "none" for query in data.queries),
        "splits": dict(sorted(Counter(query.split for query in data.queries).items())),
        "slices": dict(sorted(Counter(query.slice for query in data.queries).items())),
        "languages": dict(sorted(Counter(query.language for query in data.queries).items())),
    }


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
