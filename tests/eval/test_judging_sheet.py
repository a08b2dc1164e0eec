"""The sheet that a judge fills in, written and read."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.errors import Problem, UsageError
from toolsearch_eval.judging_sheet import SheetRow, read_sheet, write_sheet
from toolsearch_eval.pooling import Candidate

ONE = Candidate(
    query_id="q1",
    text='=HYPERLINK("x"), "now"\nplease',
    tool="send",
    description="Send, at once.",
    parameters=("to", "body"),
    rankers=("bm25f",),
)


def read(path: Path) -> tuple[list[SheetRow], list[tuple[int, str, str]]]:
    """The rows, and the faults as line, field and message."""
    problems: list[Problem] = []
    rows = read_sheet(path, problems)
    return rows, [(each.line, each.field, each.message) for each in problems]


def test_a_row_holds_what_a_judge_needs_and_not_who_brings_it(tmp_path: Path) -> None:
    """The grade is empty; the rankers are shown on demand alone."""
    row = json.loads(write_sheet([ONE], tmp_path / "a.jsonl").read_text(encoding="utf-8"))
    assert row == {
        "query_id": "q1",
        "text": ONE.text,
        "tool": "send",
        "description": "Send, at once.",
        "parameters": ["to", "body"],
        "grade": None,
    }
    shown = json.loads(write_sheet([ONE], tmp_path / "b.jsonl", show_rankers=True).read_text(encoding="utf-8"))
    assert shown == row | {"rankers": ["bm25f"]}


def test_a_spreadsheet_runs_nothing(tmp_path: Path) -> None:
    """In CSV a text that begins like a formula gets a quote before it; the file says that it is UTF-8."""
    data = write_sheet([ONE], tmp_path / "a.csv", show_rankers=True).read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    (row,) = csv.DictReader(data.decode("utf-8-sig").splitlines(keepends=True))
    assert row == {
        "query_id": "q1",
        "text": "'" + ONE.text,
        "tool": "send",
        "description": "Send, at once.",
        "parameters": "to, body",
        "rankers": "bm25f",
        "grade": "",
    }


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
IDS = (TEXT | st.sampled_from(["=a", "+b", "-c", "@d", "a,b", 'a"b', "a;b", "列表", "it's"])).filter(
    lambda text: bool(text.strip()) and not text.startswith("'")
)


@given(ids=st.lists(st.tuples(IDS, IDS), max_size=4), texts=TEXT, ending=st.sampled_from([".jsonl", ".csv"]))
def test_ids_survive_both_forms(
    ids: list[tuple[str, str]], texts: str, ending: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the texts, the pairs come back as they were, without a grade and without a fault."""
    candidates = [Candidate(query_id=query, text=texts, tool=tool, description=texts) for query, tool in ids]
    path = write_sheet(candidates, tmp_path_factory.mktemp("sheet") / f"a{ending}")
    rows, faults = read(path)
    assert faults == []
    assert [(row.query_id, row.tool, row.grade) for row in rows] == [(*pair, None) for pair in ids]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_as_spreadsheets_save_it(tmp_path: Path, delimiter: str) -> None:
    """Commas, semicolons and tabs, with texts of several lines, blank lines and columns of one's own, in any order."""
    rows = [
        ["note", "grade", "tool", "query_id"],
        ["two\nlines", "2", "a", "q1"],
        ["", "", "b", "q1"],
        ["", "0", "c", "q"],
    ]
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([*rows[:2], [], *rows[2:]])
    assert read(path) == (
        [
            SheetRow(query_id="q1", tool="a", grade=2, line=2),
            SheetRow(query_id="q1", tool="b", grade=None, line=5),
            SheetRow(query_id="q", tool="c", grade=0, line=6),
        ],
        [],
    )


GRADE = "a grade is a whole number: 2 does the job, 1 a part of it, 0 does not"

FAULTS: list[tuple[str, str, str, list[tuple[int, str, str]]]] = [
    (
        "every fault of JSON at once",
        "a.jsonl",
        '{"query_id":"","tool":5,"grade":"2"}\n{"query_id":"q","tool":"t"}\nx\n{"query_id":"q","tool":"t","grade":1.5}\n',
        [
            (3, "", "not valid JSON"),
            (1, "query_id", "is empty; leave the columns of the sheet as they were written"),
            (1, "tool", "is the number 5; leave the columns of the sheet as they were written"),
            (1, "grade", f"is '2'; {GRADE}"),
            (2, "grade", "is missing; write a whole number, or null for what is not judged yet"),
            (4, "grade", f"is the number 1.5; {GRADE}"),
        ],
    ),
    (
        "cells",
        "a.csv",
        "query_id,tool,grade\nq,t,good\nq,t\n,t,1\n",
        [
            (2, "grade", f"is 'good'; {GRADE}"),
            (3, "", "has 2 cells and the header 3; quote cells that hold a ','"),
            (4, "query_id", "is empty; leave the columns of the sheet as they were written"),
        ],
    ),
    (
        "columns",
        "a.csv",
        "query_id,name\nq,t\n",
        [(1, "tool", "the header has no column tool, grade; it needs query_id, tool, grade")],
    ),
    ("nothing", "a.csv", "\n", [(0, "", "is empty; the first line must name query_id, tool, grade")]),
    (
        "an open quote",
        "a.csv",
        'query_id,tool,grade\nq,"t,1\n',
        [(2, "", "is no CSV: unexpected end of data; save the sheet as CSV again")],
    ),
]


@pytest.mark.parametrize(("name", "text", "expected"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_faults(tmp_path: Path, name: str, text: str, expected: list[tuple[int, str, str]]) -> None:
    """Each fault has its line, its column and what to do; all of them come at once."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    found = read(path)[1]
    assert [
        (line, field, message[: len(want[2])]) for (line, field, message), want in zip(found, expected, strict=True)
    ] == expected


def test_a_sheet_with_grades_is_not_written_over_by_chance(tmp_path: Path) -> None:
    """A file that is there is kept unless it is asked for, and other endings are refused."""
    path = tmp_path / "a.jsonl"
    path.write_text("grades")
    with pytest.raises(UsageError, match="may hold grades"):
        write_sheet([ONE], path)
    assert path.read_text() == "grades"
    assert read(write_sheet([ONE], path, replace=True))[0][0].tool == "send"
    for wrong in ("a.xlsx", "a"):
        with pytest.raises(UsageError, match=r"names that end in \.jsonl or \.csv"):
            write_sheet([], tmp_path / wrong)
        with pytest.raises(UsageError, match=r"names that end in \.jsonl or \.csv"):
            read_sheet(tmp_path / wrong, [])
    with pytest.raises(UsageError, match="can't be written"):
        write_sheet([], tmp_path / "no" / "a.csv")


def test_a_missing_sheet_is_a_fault(tmp_path: Path) -> None:
    """What can't be read is told like any other fault."""
    for name in ("gone.csv", "gone.jsonl"):
        rows, faults = read(tmp_path / name)
        assert rows == []
        assert [fault[0] for fault in faults] == [0]
