"""What a labelled data set holds, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import Any

from toolsearch.catalog.core_tools import is_deferred
from toolsearch_eval.conversations import EVENT_TYPES, UserEvent, all_events
from toolsearch_eval.data import DataSet, Query


def data_statistics(data: DataSet) -> dict[str, Any]:
    """Counts of everything that a data set holds, in the order in which they are shown.

    `labels` counts pairs of query and tool with a grade, `grades` how many have which. `passes` and `judges` count the
    labels as they were given, settled ones apart. `equivalents` counts queries that need one tool and for which several
    do the job (grade 2 or more). `judged` tells how deep the labels go: for the queries of a split, how many tools have
    a grade, and how many queries have ten or more. The `needs` of conversations count each turn's tools, also those of
    sub-agents.
    """
    kinds = dict.fromkeys(EVENT_TYPES, 0)
    needs: Counter[str] = Counter()
    names = {kind: name for name, kind in EVENT_TYPES.items()}
    for talk in data.conversations:
        for event in all_events(talk.events):
            kinds[names[type(event)]] += 1
            if isinstance(event, UserEvent):
                needs[talk.split] += len(event.needs)
    return {
        "schema_version": 1,
        "name": data.name,
        "fingerprint": data.fingerprint,
        "tools": len(data.tools),
        "servers": len({tool.server for tool in data.tools if tool.server}),
        "tools_without_server": sum(not tool.server for tool in data.tools),
        "always_loaded": sum(not is_deferred(tool) for tool in data.tools),
        "queries": len(data.queries),
        "groups": len({query.group for query in data.queries}),
        "labels": sum(map(len, data.judgements.values())),
        "grades": _counted((grade for given in data.judgements.values() for grade in given.values()), falling=True),
        "passes": _counted(label.turn for label in data.labels if not label.settled),
        "judges": _counted(label.judge for label in data.labels if not label.settled),
        "settled": sum(label.settled for label in data.labels),
        "need_all": sum(query.need == "all" for query in data.queries),
        "no_answer": sum(query.expect == "none" for query in data.queries),
        "must_not": sum(bool(query.must_not) for query in data.queries),
        "equivalents": sum(_has_equivalents(data, query) for query in data.queries),
        "splits": _counted(query.split for query in data.queries),
        "slices": _counted(query.slice for query in data.queries),
        "slices_by_split": {
            name: _counted(query.split for query in data.queries if query.slice == name)
            for name in sorted({query.slice for query in data.queries})
        },
        "languages": _counted(query.language for query in data.queries),
        "judged": {split: _depth(data, split) for split in sorted({query.split for query in data.queries})},
        "conversations": {
            "count": len(data.conversations),
            "splits": _counted(talk.split for talk in data.conversations),
            "events": kinds,
            "needs": dict(sorted(needs.items())),
        },
    }


def _counted(values: Iterable[Any], *, falling: bool = False) -> dict[str, int]:
    return {str(value): count for value, count in sorted(Counter(values).items(), reverse=falling)}


def _has_equivalents(data: DataSet, query: Query) -> bool:
    grades = data.judgements.get(query.query_id, {})
    return query.need == "any" and query.expect != "none" and sum(grade >= 2 for grade in grades.values()) > 1


def _depth(data: DataSet, split: str) -> dict[str, float]:
    counts = [len(data.judgements.get(query.query_id, {})) for query in data.queries if query.split == split]
    return {
        "queries": len(counts),
        "labels": sum(counts),
        "least": min(counts),
        "median": float(median(counts)),
        "most": max(counts),
        "with_ten": sum(count >= 10 for count in counts),
    }
