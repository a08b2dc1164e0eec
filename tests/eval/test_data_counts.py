"""What `dataset stats` counts."""

from __future__ import annotations

from typing import Any

import pytest

from toolsearch_datasets import names
from toolsearch_eval.conversations import UserEvent, all_events
from toolsearch_eval.data import load_data
from toolsearch_eval.data_counts import data_statistics

TOOLS = [
    {"name": "a", "server": "s"},
    {"name": "b", "server": "s"},
    {"name": "c", "server": "t"},
    {"name": "d"},
    {"name": "e", "always_load": True},
]
QUERIES: list[dict[str, Any]] = [
    {"query_id": "q1", "text": "x", "slice": "one", "language": "en", "split": "dev", "group": "g"},
    {"query_id": "q2", "text": "y", "slice": "one", "language": "zh", "split": "test", "group": "h", "need": "all"},
    {"query_id": "q3", "text": "z", "slice": "two", "split": "test", "group": "h", "expect": "none", "must_not": ["a"]},
    {"query_id": "q4", "text": "w", "slice": "two", "split": "dev", "group": "g"},
]
LABELS: list[dict[str, Any]] = [
    {"query_id": "q1", "tool": "a", "grade": 2, "judge": "ann", "pass": 1},
    {"query_id": "q1", "tool": "b", "grade": 2, "judge": "ann", "pass": 1},
    {"query_id": "q1", "tool": "c", "grade": 0, "judge": "ben", "pass": 2},
    {"query_id": "q2", "tool": "a", "grade": 2, "judge": "ann", "pass": 1},
    {"query_id": "q2", "tool": "b", "grade": 2, "judge": "ann", "pass": 1},
    {"query_id": "q1", "tool": "a", "grade": 1, "judge": "ben", "pass": 2},
    {"query_id": "q4", "tool": "d", "grade": 2, "judge": "ann", "pass": 1},
    {"query_id": "q4", "tool": "d", "grade": 1, "judge": "ann", "pass": 3, "settled": True},
]
TALK = """{"conversation":"talk","catalog":"set","split":"dev","servers":{"s":"connected"}}
{"type":"user","text":"hi","needs":["a","b"]}
{"type":"subagent","tools":[],"events":[{"type":"user","text":"do","needs":["a"]},{"type":"resume"}]}
"""


def test_every_count_by_hand(write_folder: Any) -> None:
    """Each figure is what is counted by eye in a small set."""
    folder = write_folder(tools=TOOLS, queries=QUERIES, judgements=LABELS, qrels=None)
    (folder / "conversations").mkdir()
    (folder / "conversations" / "talk.jsonl").write_text(TALK)
    data = load_data(folder)
    assert data_statistics(data) == {
        "schema_version": 1,
        "name": "set",
        "fingerprint": data.fingerprint,
        "tools": 5,
        "servers": 2,
        "tools_without_server": 2,
        "always_loaded": 1,
        "queries": 4,
        "groups": 2,
        "labels": 6,
        "grades": {"2": 4, "1": 1, "0": 1},
        "passes": {"1": 5, "2": 2},
        "judges": {"ann": 5, "ben": 2},
        "settled": 1,
        "need_all": 1,
        "no_answer": 1,
        "must_not": 1,
        "equivalents": 1,
        "splits": {"dev": 2, "test": 2},
        "slices": {"one": 2, "two": 2},
        "slices_by_split": {"one": {"dev": 1, "test": 1}, "two": {"dev": 1, "test": 1}},
        "languages": {"": 2, "en": 1, "zh": 1},
        "judged": {
            "dev": {"queries": 2, "labels": 4, "least": 1, "median": 2.0, "most": 3, "with_ten": 0},
            "test": {"queries": 2, "labels": 2, "least": 0, "median": 1.0, "most": 2, "with_ten": 0},
        },
        "conversations": {
            "count": 1,
            "splits": {"dev": 1},
            "events": {
                "user": 2,
                "assistant": 0,
                "tool_result": 0,
                "server": 0,
                "tools_changed": 0,
                "compact": 0,
                "resume": 1,
                "subagent": 1,
            },
            "needs": {"dev": 3},
        },
    }


def test_an_empty_set_counts_nothing(write_folder: Any) -> None:
    """Without tools, queries and labels every count is zero or empty."""
    form = data_statistics(load_data(write_folder(tools="")))
    conversations = form.pop("conversations")
    assert (conversations["count"], sum(conversations["events"].values())) == (0, 0)
    assert all(not value for key, value in form.items() if key not in ("schema_version", "name", "fingerprint"))


@pytest.mark.parametrize("name", names())
def test_the_parts_of_a_shipped_set_add_up(name: str) -> None:
    """Splits, slices and languages each hold every query, grades every label, and turns every need."""
    data = load_data(name)
    form = data_statistics(data)
    for key in ("splits", "slices", "languages"):
        assert sum(form[key].values()) == form["queries"] == len(data.queries), key
    assert sum(sum(row.values()) for row in form["slices_by_split"].values()) == form["queries"]
    assert sum(form["grades"].values()) == form["labels"]
    assert sum(form["passes"].values()) + form["settled"] == len(data.labels)
    turns = [event for talk in data.conversations for event in all_events(talk.events) if isinstance(event, UserEvent)]
    assert form["conversations"]["events"]["user"] == len(turns)
    assert sum(form["conversations"]["needs"].values()) == sum(len(turn.needs) for turn in turns)
