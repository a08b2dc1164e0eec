"""A team's own counts of how often tools are called: CSV or JSON lines, every fault with its line."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from toolsearch.catalog.names import shown
from toolsearch.errors import DataError, Problem, near_names
from toolsearch_eval.data_files import kind_of, read_rows, read_text

COLUMNS = ("tool", "count", "sessions")
"""The columns; `sessions` may be missing."""

_MOST = 10**15
"""Counts beyond are slips of the pen; sums of those below are exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How often one tool was used.

    Attributes:
        calls: Calls of it.
        sessions: In how many sessions; None where the file doesn't say.
    """

    calls: int
    sessions: int | None = None


def read_usage(path: Path, known: Collection[str], *, sessions: int) -> dict[str, Counted]:
    """The counts of a file by tool, in its order.

    Args:
        path: CSV with the header `tool,count` or `tool,count,sessions` (in any order, others are left alone), or JSON
            lines with the same fields; told apart by the ending, else by the first character.
        known: The names of the catalog.
        sessions: All sessions that were counted; a tool can't have been used in more.

    Raises:
        DataError: The file can't be read or holds faults; all of them at once.
    """
    problems: list[Problem] = []
    usage: dict[str, Counted] = {}
    lines: dict[str, int] = {}
    for line, row in _rows(path, problems):
        faults = list(_faults(row, known, sessions))
        name = row.get("tool")
        if isinstance(name, str) and lines.setdefault(name, line) != line:
            faults.append(("tool", f"{shown(name)} stands on line {lines[name]} already; add the counts up"))
        problems += [Problem(str(path), line, field, message) for field, message in faults]
        if not faults:
            usage[str(name)] = Counted(calls=row["count"], sessions=row.get("sessions"))
    if not usage and not problems:
        problems.append(Problem(str(path), 0, "", "holds no counts; write a line for each tool that was called"))
    if problems:
        raise DataError(problems)
    return usage


def _rows(path: Path, problems: list[Problem]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if path.suffix.casefold() in (".jsonl", ".ndjson", ".json"):
        yield from read_rows(path, problems)
        return
    text = read_text(path, problems)
    if text is None:
        return
    if path.suffix.casefold() != ".csv" and text.lstrip().startswith("{"):
        yield from read_rows(path, problems)
        return
    yield from _csv_rows(path, text, problems)


def _csv_rows(path: Path, text: str, problems: list[Problem]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.reader(text.split("\n"), strict=True)
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            line = reader.line_num
            if header is None:
                header = [cell.strip() for cell in cells]
                missing = [name for name in COLUMNS[:2] if name not in header]
                twice = [name for name in COLUMNS if header.count(name) > 1]
                if missing:
                    message = f"the header has no column {' and '.join(missing)}; it must be {','.join(COLUMNS[:2])}"
                    problems.append(Problem(str(path), line, "", f"{message} or {','.join(COLUMNS)}"))
                if twice:
                    problems.append(Problem(str(path), line, "", f"the header has {' and '.join(twice)} twice"))
                if missing or twice:
                    return
                continue
            if len(cells) != len(header):
                message = f"has {len(cells)} cells, and the header has {len(header)}; quote cells that hold a comma"
                problems.append(Problem(str(path), line, "", message))
                continue
            yield line, {name: _cell(name, cell) for name, cell in zip(header, cells, strict=True) if name in COLUMNS}
    except csv.Error as error:
        problems.append(Problem(str(path), reader.line_num, "", f"is not valid CSV: {error}"))


def _cell(name: str, text: str) -> str | int | None:
    text = text.strip()
    if name == "tool":
        return text
    if not text and name == "sessions":
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else text


def _faults(row: Mapping[str, Any], known: Collection[str], sessions: int) -> Iterator[tuple[str, str]]:
    name = row.get("tool")
    if not isinstance(name, str) or not name:
        yield "tool", f"is {'empty' if name == '' else kind_of(name)}; it must be the name of a tool of the catalog"
    elif name not in known:
        near = near_names(name, known)
        hint = f"did you mean {near[0]!r}?" if near else "--catalog names another catalog"
        yield "tool", f"{shown(name)} is no tool of the catalog; {hint}"
    count = row.get("count")
    if not _is_count(count):
        yield "count", f"is {_given(count)}; it must be a whole number of at least 0"
    used = row.get("sessions")
    if used is None:
        return
    if not _is_count(used):
        yield "sessions", f"is {_given(used)}; it must be a whole number of at least 0, or be left out"
    elif used > sessions:
        yield "sessions", f"is {used}, and there were {sessions} in all; --sessions says how many"
    elif _is_count(count) and (used > count or (count > 0 and used == 0)):
        yield "sessions", f"is {used} with {count} calls; each session that used it called it at least once"


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


def _given(value: object) -> str:
    return shown(value) if isinstance(value, str) else kind_of(value)
