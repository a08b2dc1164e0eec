"""The files of a labelled data set, read line by line; every fault is noted with its place and what to do."""

from __future__ import annotations

import codecs
import unicodedata
from pathlib import Path
from typing import Any, Final

from toolsearch.catalog.json_source import MAX_DEPTH, JsonFault, read_value, skip_blank, surrogate_path, too_deep
from toolsearch.catalog.names import shown
from toolsearch.errors import Problem

MAX_GRADE: Final = 100
"""Grades beyond would overflow the exponential gains; no scale in use goes beyond 10."""

FILES: Final = ("dataset.toml", "catalog.jsonl", "queries.jsonl", "qrels.tsv", "judgements.jsonl")
"""The files that make a data set."""

_UNFIT: Final = {
    "Cc": "a control character",
    "Cf": "an invisible format character",
    "Cs": "a lone surrogate",
    "Zl": "a line break",
    "Zp": "a line break",
}


def id_fault(query_id: str) -> str | None:
    r"""Why a text can't be a query's id, or None when it can.

    Two ids that look the same, or an id that breaks a line of `qrels.tsv`, would give labels to the wrong query.

    >>> id_fault("q-1"), id_fault("问题 1"), id_fault(" ")
    (None, None, 'is empty')
    >>> id_fault("q\u200f1")
    'holds an invisible format character (U+200F)'
    """
    if not query_id.strip():
        return "is empty"
    for character in query_id:
        unfit = _UNFIT.get(unicodedata.category(character))
        if unfit:
            return f"holds {unfit} (U+{ord(character):04X})"
    return None


def read_text(path: Path, problems: list[Problem]) -> str | None:
    """The text of a file in UTF-8, line ends as line feeds, without a byte order mark; None where it can't be had."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        problems.append(Problem(str(path), 0, "", _missing(path.name)))
        return None
    except OSError as error:
        problems.append(Problem(str(path), 0, "", f"can't be read: {error.strerror or error}"))
        return None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        problems.append(Problem(str(path), 1, "", "the file is UTF-16; save it as UTF-8"))
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        for number, line in enumerate(data.split(b"\n"), 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                message = f"not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8"
                problems.append(Problem(str(path), number, "", message))
        # Read on with replacements, so that the other faults are told at the same time.
        text = data.decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _missing(name: str) -> str:
    needed = "qrels.tsv or judgements.jsonl" if name in ("qrels.tsv", "judgements.jsonl") else name
    return f"is missing; a data set holds {needed}, see the layout of a data set"


def read_lines(path: Path, problems: list[Problem]) -> list[tuple[int, str]]:
    """The lines that are not blank, each with its 1-based number."""
    text = read_text(path, problems)
    return [(number, line) for number, line in enumerate((text or "").split("\n"), 1) if line.strip()]


def read_rows(path: Path, problems: list[Problem]) -> list[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file, one a line, each with its line; faults are added to `problems`."""
    rows: list[tuple[int, dict[str, Any]]] = []
    for number, line in read_lines(path, problems):
        row, name, message = _object(line)
        if message:
            problems.append(Problem(str(path), number, name, message))
        else:
            rows.append((number, row))
    return rows


def _object(line: str) -> tuple[dict[str, Any], str, str]:
    """The object of a line, or the field and message of what is wrong with it."""
    try:
        value, end = read_value(line, 0)
    except JsonFault as error:
        return {}, "", f"{error}; each line must be one JSON object"
    rest = skip_blank(line, end)
    if rest < len(line):
        return {}, "", f"more text follows the value (column {rest + 1}); each line must be one JSON object"
    if not isinstance(value, dict):
        return {}, "", f"is {kind_of(value)}; each line must be one JSON object"
    if too_deep(value):
        return {}, "", f"nested too deeply; at most {MAX_DEPTH} levels are accepted"
    place = surrogate_path(value) if "\\u" in line else None  # only an escape can hold one
    if place is not None:
        return {}, place, "holds a lone surrogate, which no UTF-8 text can hold; replace it, for instance by U+FFFD"
    return value, "", ""


def kind_of(value: object) -> str:
    """What a JSON value is, in words that fit into a message.

    >>> kind_of(True), kind_of(5), kind_of([1] * 1000), kind_of(None)
    ('true', 'the number 5', 'a list', 'null')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {str(value)[:40]}"
    for kind, words in ((str, "a text"), (list, "a list"), (dict, "an object")):
        if isinstance(value, kind):
            return words
    return "null"


def read_qrels(path: Path, problems: list[Problem]) -> dict[str, dict[str, int]]:
    """Grades by query and tool from `qrels.tsv`, in our own form or in TREC's; faults are added to `problems`.

    A line holds query_id, tool and grade between tabs (names may have blanks then), or query, iteration, tool and
    grade as TREC has them. One pair of query and tool may stand twice with the same grade.
    """
    judgements: dict[str, dict[str, int]] = {}
    lines: dict[tuple[str, str], int] = {}
    for place, (number, line) in enumerate(read_lines(path, problems)):
        cells = _cells(line)
        if place == 0 and cells == ["query_id", "tool", "grade"]:
            continue
        message = _cell_fault(cells)
        if message:
            problems.append(Problem(str(path), number, "grade" if len(cells) == 3 else "", message))
            continue
        query_id, tool, grade = cells[0], cells[1], int(cells[2])
        known = judgements.setdefault(query_id, {})
        if known.setdefault(tool, grade) != grade:
            message = (
                f"{shown(tool)} of {shown(query_id)} has grade {known[tool]} on line {lines[query_id, tool]} and "
                f"{grade} here; keep one"
            )
            problems.append(Problem(str(path), number, "grade", message))
        lines.setdefault((query_id, tool), number)
    return judgements


def _cells(line: str) -> list[str]:
    cells = line.split("\t")
    if len(cells) not in (3, 4):
        cells = line.split()
    return [cells[0], *cells[2:]] if len(cells) == 4 else cells


def _cell_fault(cells: list[str]) -> str:
    if len(cells) != 3 or not cells[0].strip() or not cells[1].strip():
        return "must be query_id, tool and grade between tabs, or a TREC line (query 0 tool grade)"
    if not is_grade_text(cells[2]):
        return f"is {cells[2][:40]!r}; a grade is a whole number from -{MAX_GRADE} to {MAX_GRADE}"
    return ""


def is_grade_text(text: str) -> bool:
    """Whether a text is a grade.

    >>> is_grade_text("2"), is_grade_text("-1"), is_grade_text("2.0"), is_grade_text("٢"), is_grade_text("101")
    (True, True, False, False, False)
    """
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 10 and int(digits) <= MAX_GRADE
