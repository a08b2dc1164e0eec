"""What about the data is not as it was blessed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from toolsearch.errors import Problem
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.gate.baseline import HOW_TO_BLESS, Baseline, query_digest, tool_digests
from toolsearch_eval.measures import relevant

_LISTED = 8
"""Names that a message lists of many."""


def data_differences(baseline: Baseline, data: DataSet, *, path: str) -> list[Problem]:
    """What about the data is not as it was blessed, a line for each kind of change; empty when nothing is."""
    counts = Counter(query.query_id for query in data.queries)
    by_id = {query.query_id: query for query in data.queries}
    must_pass = frozenset(baseline.must_pass)
    measured = {
        query.query_id
        for query in data.queries
        if (baseline.split in ("all", query.split) or query.query_id in must_pass) and _is_measured(data, query)
    }
    blessed = baseline.queries
    tools = tool_digests(data)
    gone = sorted(name for name in baseline.tools if name not in tools)
    changes = {
        "queries that stand more than once": [name for name, count in counts.items() if count > 1],
        "queries that are missing": [name for name in blessed if name not in by_id],
        "queries that are no longer measured (split, text or labels changed)": [
            name for name in blessed if name in by_id and name not in measured
        ],
        "new queries": [name for name in measured if name not in blessed],
        "queries with another text, field or label": [
            name
            for name in blessed
            if name in measured and counts[name] == 1 and query_digest(data, by_id[name]) != blessed[name].digest
        ],
        "tools that are gone": gone,
        "new tools": [name for name in tools if name not in baseline.tools],
        "tools that changed": [name for name in tools if baseline.tools.get(name, tools[name]) != tools[name]],
    }
    stranded = sorted(name for name in measured if relevant(data.judgements[name]) & set(gone))
    if stranded:
        changes["queries that need a tool that is gone"] = stranded
    problems = [
        Problem(path, 0, "", f"{what}: {listed(sorted(names))}. If that is meant, bless anew: {HOW_TO_BLESS}")
        for what, names in changes.items()
        if names
    ]
    if not problems and baseline.fingerprint != data.fingerprint:
        what = f"data {data.name!r} is not the {baseline.data!r} that was blessed, outside of what is measured"
        problems.append(
            Problem(
                path,
                0,
                "fingerprint",
                f"{what} ({baseline.fingerprint[:12]}, now {data.fingerprint[:12]}). If that is meant, bless anew: "
                f"{HOW_TO_BLESS}",
            )
        )
    return problems


def _is_measured(data: DataSet, query: Query) -> bool:
    answered = query.expect != "none" and bool(relevant(data.judgements.get(query.query_id, {})))
    return answered and bool(query.text.strip())


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
