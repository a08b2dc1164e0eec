"""Loading, checking and judging a small data set."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from toolsearch.errors import DataError
from toolsearch_eval.data import load_data
from toolsearch_eval.data_check import check_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.measures import parse_measure
from toolsearch_eval.rankers.bm25f import PlainBM25F

TOOLS = [
    {"name": "send_mail", "description": "Send a mail"},
    {"name": "read_file", "description": "Read a file"},
]


def _write(folder: Path, queries: Sequence[object], qrels: str) -> Path:
    for name, rows in (("catalog", TOOLS), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return folder


def test_small_set_is_judged(tmp_path: Path) -> None:
    """The yardstick finds both tools; a query without an answer is left out and counted."""
    queries = [
        {"query_id": "1", "text": "mail"},
        {"query_id": "2", "text": "file"},
        {"query_id": "3", "text": "fly", "expect": "none"},
    ]
    data = load_data(_write(tmp_path, queries, "query_id\ttool\tgrade\n1\tsend_mail\t2\n2 0 read_file 1\n"))
    form = evaluate(data, [PlainBM25F()], measures=[parse_measure("nDCG@10")]).to_json()
    assert form["excluded"] == {"no_answer": 1, "empty": 0, "unjudged": 0}
    assert form["rankers"]["bm25f"]["measures"]["nDCG@10"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "n": 2}
    assert check_data(data)[0] == []


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    """Faults of several files are reported together with their lines."""
    with pytest.raises(DataError) as caught:
        load_data(_write(tmp_path, [{"query_id": "1"}, 5], "query_id\ttool\tgrade\n1\tsend_mail\tgood\n"))
    assert [problem.line for problem in caught.value.problems] == [1, 2, 2]


def test_label_of_a_missing_tool_is_an_error(tmp_path: Path) -> None:
    """A label that names no tool of the catalog fails the check."""
    data = load_data(_write(tmp_path, [{"query_id": "1", "text": "mail"}], "1\tgone\t2\n"))
    assert "is not in the catalog" in check_data(data)[0][0].message
