"""Grades taken into a data set: all faults first, then all at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.data_check import check_data
from toolsearch_eval.judgements import Judgement
from toolsearch_eval.judging_sheet import SheetRow
from toolsearch_eval.label_merge import Merge, merge_labels, write_labels

TOOLS = [{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "pinned", "always_load": True}]
QUERIES = [{"query_id": "q1", "text": "one"}, {"query_id": "q2", "text": "two"}]
LINE = '{ "query_id":"q1", "tool":"a", "grade":2, "judge":"ann", "pass":1, "why": "clear" }'


def rows_of(*cells: tuple[str, str, int | None]) -> list[SheetRow]:
    """Rows from line 1 on."""
    return [
        SheetRow(query_id=query, tool=tool, grade=grade, line=line)
        for line, (query, tool, grade) in enumerate(cells, 1)
    ]


def merged(data: DataSet, *cells: tuple[str, str, int | None], **options: Any) -> Merge:
    """Merge rows of the judge ben in pass 2."""
    return merge_labels(data, rows_of(*cells), **{"path": "s.csv", "judge": "ben", "turn": 2, **options})


def folder_of(
    write_folder: Any, judgements: str | None = LINE, qrels: str = "query_id\ttool\tgrade\nq1\ta\t2\n"
) -> Path:
    """A data set with one label, whose line ends without a line feed."""
    folder: Path = write_folder(tools=TOOLS, queries=QUERIES, judgements=judgements, qrels=qrels)
    return folder


def test_labels_are_added_and_qrels_follow(write_folder: Any) -> None:
    """New labels stand behind the old lines, which stay byte for byte; rows without a grade are left for later."""
    folder = folder_of(write_folder)
    data = load_data(folder)
    merge = merged(data, ("q1", "b", 0), ("q2", "c", 1), ("q2", "a", None), ("q1", "a", 0), date="2026-01-02")
    assert (merge.empty, merge.known, merge.changed, merge.by_grade) == (1, 0, 0, {1: 1, 0: 2})
    write_labels(data, merge)
    assert (folder / "judgements.jsonl").read_text() == (
        LINE + "\n"
        '{"query_id": "q1", "tool": "b", "grade": 0, "judge": "ben", "pass": 2, "date": "2026-01-02"}\n'
        '{"query_id": "q2", "tool": "c", "grade": 1, "judge": "ben", "pass": 2, "date": "2026-01-02"}\n'
        '{"query_id": "q1", "tool": "a", "grade": 0, "judge": "ben", "pass": 2, "date": "2026-01-02"}\n'
    )
    assert (folder / "qrels.tsv").read_text() == "query_id\ttool\tgrade\nq1\ta\t2\nq1\tb\t0\nq2\tc\t1\n"
    assert sorted(path.name for path in folder.iterdir()) == [
        "catalog.jsonl",
        "judgements.jsonl",
        "qrels.tsv",
        "queries.jsonl",
    ]
    assert check_data(load_data(folder))[0] == []


def test_a_settled_grade_decides(write_folder: Any) -> None:
    """Where a label is marked as settled the grade follows it, and that is counted as a change."""
    folder = folder_of(write_folder)
    data = load_data(folder)
    merge = merged(data, ("q1", "a", 1), settled=True, turn=3)
    assert merge.changed == 1
    write_labels(data, merge)
    again = load_data(folder)
    assert again.judgements == {"q1": {"a": 1}}
    assert again.labels[-1] == Judgement(query_id="q1", tool="a", grade=1, judge="ben", turn=3, settled=True)


def test_grades_that_had_only_qrels_become_labels(write_folder: Any) -> None:
    """Nothing that was known is lost when the first labels come to a set without any."""
    folder = folder_of(write_folder, judgements=None, qrels="q1 0 a 2\nq2 0 b 1\n")
    data = load_data(folder)
    write_labels(data, merged(data, ("q2", "c", 0), ("q1", "a", 0), turn=1))
    again = load_data(folder)
    assert again.judgements == {"q1": {"a": 2}, "q2": {"b": 1, "c": 0}}
    assert [(label.judge, label.turn) for label in again.labels] == [("", 1), ("", 1), ("ben", 1), ("ben", 1)]


FAULTS: list[tuple[str, list[tuple[str, str, int | None]], dict[str, Any], list[tuple[int, str, str]]]] = [
    (
        "unknown names",
        [("q9", "aa", 1)],
        {},
        [
            (1, "query_id", "'q9' is no query of 'set'"),
            (1, "tool", "'aa' is not in the catalog; did you mean 'a'?"),
        ],
    ),
    (
        "a tool that is never searched",
        [("q1", "pinned", 1)],
        {},
        [(1, "tool", "'pinned' is always loaded, so it is never searched; leave the row out")],
    ),
    (
        "a pair outside of the pool",
        [("q1", "b", 1), ("q1", "c", 1)],
        {"pool": {("q1", "b")}},
        [(2, "tool", "'c' of 'q1' is not in the pool; leave the row out")],
    ),
    (
        "a pair twice",
        [("q1", "b", 1), ("q1", "b", 1), ("q1", "b", 2), ("q1", "b", None)],
        {},
        [
            (2, "tool", "'b' of 'q1' stands on line 1 already; keep one"),
            (3, "tool", "'b' of 'q1' stands on line 1 already with 1, and here with 2; keep one"),
            (4, "tool", "'b' of 'q1' stands on line 1 already with 1, and here with nothing; keep one"),
        ],
    ),
    (
        "what this judge has graded before",
        [("q1", "a", 2)],
        {"judge": "ann", "turn": 1},
        [(1, "tool", "'a' of 'q1' is in the data set already; leave the row out")],
    ),
    (
        "what this judge has graded otherwise",
        [("q1", "a", 1)],
        {"judge": "ann", "turn": 1, "pass_over_known": True},
        [(1, "grade", "is 1, and 2 on line 1 of judgements.jsonl from the same judge and pass; keep one")],
    ),
    (
        "grades out of range",
        [("q1", "b", 3), ("q1", "c", -1)],
        {},
        [(1, "grade", "is 3; accepted: 0 to 2"), (2, "grade", "is -1; accepted: 0 to 2")],
    ),
    (
        "what reading has found comes with the others",
        [("q9", "a", 1)],
        {"problems": [Problem("s.csv", 7, "grade", "bad")]},
        [(1, "query_id", "'q9' is no query of 'set'"), (7, "grade", "bad")],
    ),
]


@pytest.mark.parametrize(("cells", "options", "expected"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_faults(write_folder: Any, cells: Any, options: Any, expected: list[tuple[int, str, str]]) -> None:
    """Every fault of every row is told at once with its line."""
    data = load_data(folder_of(write_folder))
    with pytest.raises(DataError) as caught:
        merged(data, *cells, **options)
    assert [(each.path, each.line, each.field, each.message) for each in caught.value.problems] == [
        ("s.csv", *fault) for fault in expected
    ]


def test_a_sheet_that_is_filled_bit_by_bit_can_be_taken_in_again(write_folder: Any) -> None:
    """Rows of the same judge, pass and grade are passed over on demand and counted."""
    data = load_data(folder_of(write_folder))
    merge = merged(data, ("q1", "a", 2), ("q1", "b", 0), judge="ann", turn=1, pass_over_known=True)
    assert (merge.known, [label.tool for label in merge.labels]) == (1, ["b"])


def test_a_scale_of_ones_own(write_folder: Any) -> None:
    """With another best grade its grades are accepted."""
    assert merged(load_data(folder_of(write_folder)), ("q1", "b", 3), highest=3).by_grade == {3: 1}


@pytest.mark.parametrize("wrong", [{"judge": " "}, {"turn": 0}])
def test_judge_and_pass_must_be_named(write_folder: Any, wrong: dict[str, Any]) -> None:
    """A label without a judge or a pass would tell nothing."""
    with pytest.raises(UsageError, match=r"the judge's name is empty|the pass is 0"):
        merged(load_data(folder_of(write_folder)), **wrong)


def test_a_fault_while_writing_leaves_every_file_whole(write_folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the second file can't be swapped in, the first is whole and no half-written file is left."""
    folder = folder_of(write_folder)
    data = load_data(folder)
    swap = os.replace

    def failing(source: Any, target: Any) -> None:
        if Path(target).name == "qrels.tsv":
            raise OSError("disk full")
        swap(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(UsageError, match="disk full"):
        write_labels(data, merged(data, ("q1", "b", 1)))
    assert load_data(folder).judgements == {"q1": {"a": 2, "b": 1}}
    assert (folder / "qrels.tsv").read_text().endswith("q1\ta\t2\n")
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    assert [each.message for each in check_data(load_data(folder))[0] if each.path.endswith("qrels.tsv")] == [
        "does not follow from judgements.jsonl; derive it anew"
    ]
