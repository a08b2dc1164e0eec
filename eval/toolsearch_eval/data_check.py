"""What is wrong, or doubtful, with a labelled data set."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.errors import Problem
from toolsearch_eval.data import DataSet
from toolsearch_eval.measures import relevant

_COPIED_WORDS = 6
_SMALL_SLICE = 10


def check_data(data: DataSet) -> tuple[list[Problem], list[Problem]]:
    """Errors and warnings of a data set that could be loaded, in file order.

    Leaks (warnings): a query of six words or more that stands in a description, or equals a search hint.
    """
    errors: list[Problem] = []
    warnings: list[Problem] = []
    path = str(Path(data.path) / "queries.jsonl")
    tools = {tool.name: tool for tool in data.tools}
    query_ids = {query.query_id for query in data.queries}
    descriptions = [f" {_plain(tool.description or '')} " for tool in data.tools]
    hints = {_plain(tool.search_hint) for tool in data.tools if tool.search_hint}
    splits: dict[str, str] = {}
    texts: dict[str, str] = {}
    for query in data.queries:
        grades = data.judgements.get(query.query_id, {})
        needed = relevant(grades)

        def error(name: str, message: str, line: int = query.line) -> None:
            errors.append(Problem(path, line, name, message))

        def warn(message: str, line: int = query.line) -> None:
            warnings.append(Problem(path, line, "text", message))

        if splits.setdefault(query.group, query.split) != query.split:
            error("group", f"{query.group!r} stands in dev and in test; a group belongs to one split")
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
        plain = _plain(query.text)
        if texts.setdefault(plain, query.query_id) != query.query_id:
            warn(f"same text as query {texts[plain]!r}")
        if len(plain.split()) >= _COPIED_WORDS and any(f" {plain} " in text for text in descriptions):
            warn("is copied from a description")
        if plain in hints:
            warn("equals a search hint")
    for query_id in sorted(set(data.judgements) - query_ids):
        errors.append(Problem(data.path, 0, "query_id", f"labels name the query {query_id!r}, which doesn't exist"))
    for name, size in sorted(Counter(query.slice for query in data.queries).items()):
        if size < _SMALL_SLICE:
            warnings.append(Problem(path, 0, "slice", f"{name!r} has {size} queries: too few to tell"))
    return errors, warnings


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
