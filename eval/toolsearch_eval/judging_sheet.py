"""The file that a judge fills in: candidates out, grades in; as JSON lines, or as CSV for a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from toolsearch.errors import Problem, UsageError
from toolsearch_eval.data_files import MAX_GRADE, is_grade_text, kind_of, read_rows, read_text
from toolsearch_eval.pooling import Candidate
from toolsearch_eval.report.escape import csv_cell

ENDINGS: Final = (".jsonl", ".csv")
"""The forms that are written and read, by the file's ending."""

_NEEDED = ("query_id", "tool", "grade")


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetRow:
    """One line of a sheet that came back.

    Attributes:
        query_id: The query.
        tool: The tool.
        grade: What the judge gave; None where nothing is filled in.
        line: The 1-based line where the row begins.
    """

    query_id: str
    tool: str
    grade: int | None
    line: int


def write_sheet(
    candidates: Sequence[Candidate], path: str | Path, *, show_rankers: bool = False, replace: bool = False
) -> Path:
    """Write what is to be judged; each row has an empty `grade`.

    In CSV a text that a spreadsheet would run as a formula gets a quote before it, which is taken off when it is read.

    Args:
        candidates: None gives a file without rows.
        path: `….jsonl` or `….csv`.
        show_rankers: Say which rankers bring each tool. A judge is better off without.
        replace: Write over a file; it may hold somebody's grades.

    Returns:
        The file.

    Raises:
        UsageError: Another ending, a file that is there already, or a place where nothing can be written.
    """
    target = check_sheet(path, replace=replace)
    ending = _ending(target)
    rows = [_row(candidate, show_rankers) for candidate in candidates]
    data = _json_lines(rows) if ending == ".jsonl" else _csv(rows, show_rankers)
    try:
        target.write_bytes(data)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} can't be written: {error}.") from None
    return target


def check_sheet(path: str | Path, *, replace: bool = False) -> Path:
    """The file, where a sheet can be written to it.

    Raises:
        UsageError: Another ending, or a file that is there already and is not to be written over.
    """
    target = Path(path)
    _ending(target)
    if os.path.lexists(target) and not replace:
        raise UsageError(f"{path} is there already and may hold grades; name a new file, or write over it by --force.")
    return target


def read_sheet(path: str | Path, problems: list[Problem]) -> list[SheetRow]:
    """The rows of a sheet in their order; faults are added to `problems`, and their rows are left out.

    Fields beside `query_id`, `tool` and `grade` are not looked at. CSV may be separated by commas, semicolons or tabs.

    Raises:
        UsageError: Another ending.
    """
    source = Path(path)
    _ending(source)
    if not source.exists():
        problems.append(Problem(str(source), 0, "", "is missing; name the sheet that was filled in"))
        return []
    pairs = read_rows(source, problems) if _ending(source) == ".jsonl" else _csv_rows(source, problems)
    rows: list[SheetRow] = []
    for line, row in pairs:
        faults = list(_faults(row))
        problems += [Problem(str(source), line, name, message) for name, message in faults]
        if not faults:
            rows.append(SheetRow(query_id=row["query_id"], tool=row["tool"], grade=row["grade"], line=line))
    return rows


def _ending(path: Path) -> str:
    ending = path.suffix.casefold()
    if ending not in ENDINGS:
        raise UsageError(f"{str(path)!r} is no sheet by its name; accepted: names that end in {' or '.join(ENDINGS)}.")
    return ending


def _row(candidate: Candidate, show_rankers: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "query_id": candidate.query_id,
        "text": candidate.text,
        "tool": candidate.tool,
        "description": candidate.description,
        "parameters": list(candidate.parameters),
    }
    if show_rankers:
        row["rankers"] = list(candidate.rankers)
    return row | {"grade": None}


def _json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "backslashreplace")


def _csv(rows: Iterable[Mapping[str, Any]], show_rankers: bool) -> bytes:
    header = list(_row(Candidate(query_id="", text="", tool=""), show_rankers))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        cells = [", ".join(value) if isinstance(value, list) else value for value in row.values()]
        writer.writerow(["" if cell is None else csv_cell(cell) for cell in cells])
    # The mark at the beginning is what spreadsheets need to see that it is UTF-8.
    return out.getvalue().encode("utf-8-sig", "backslashreplace")


def _csv_rows(path: Path, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    text = read_text(path, problems)
    if text is None:
        return
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    begin = 1
    try:
        for cells in reader:
            line, begin = begin, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                missing = [name for name in _NEEDED if name not in header]
                if missing:
                    message = f"the header has no column {', '.join(missing)}; it needs {', '.join(_NEEDED)}"
                    problems.append(Problem(str(path), line, missing[0], message))
                    return
                continue
            if len(cells) != len(header):
                message = f"has {len(cells)} cells and the header {len(header)}; quote cells that hold a {delimiter!r}"
                problems.append(Problem(str(path), line, "", message))
                continue
            yield line, _from_cells(dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        problems.append(Problem(str(path), begin, "", f"is no CSV: {error}; save the sheet as CSV again"))
    if header is None:
        problems.append(Problem(str(path), 0, "", f"is empty; the first line must name {', '.join(_NEEDED)}"))


def _from_cells(cells: Mapping[str, str]) -> dict[str, Any]:
    grade = cells["grade"].strip()
    value: object = None if not grade else int(grade) if is_grade_text(grade) else grade
    return {"query_id": _unescaped(cells["query_id"]), "tool": _unescaped(cells["tool"]), "grade": value}


def _unescaped(cell: str) -> str:
    """The text that `csv_cell` was given."""
    return cell[1:] if cell.startswith("'") and csv_cell(cell[1:]) == cell else cell


def _faults(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in ("query_id", "tool"):
        value = row.get(key)
        if not isinstance(value, str) or not value.strip():
            given = "missing" if key not in row else "empty" if isinstance(value, str) else kind_of(value)
            yield key, f"is {given}; leave the columns of the sheet as they were written"
    grade = row.get("grade")
    if "grade" not in row:
        yield "grade", "is missing; write a whole number, or null for what is not judged yet"
    elif grade is not None and (type(grade) is not int or abs(grade) > MAX_GRADE):
        given = repr(grade[:40]) if isinstance(grade, str) else kind_of(grade)
        yield "grade", f"is {given}; a grade is a whole number: 2 does the job, 1 a part of it, 0 does not"
