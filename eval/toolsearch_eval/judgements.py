"""Labels as judges gave them (`judgements.jsonl`), and the grades that follow from them (`qrels.tsv`).

The rule by which grades follow, for each query and tool:

1. A label that is marked as settled wins; of several the one of the highest pass, and there the last line.
2. Otherwise the lowest pass that judged the pair holds, and there the first line.

A pass made apart, to measure agreement, so changes no grade: what it finds wrong is settled on purpose, by a label that
says so. A pass that judges new pairs (from pooling) adds them, as no pass before has judged these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolsearch.errors import Problem
from toolsearch_eval.data_files import MAX_GRADE, kind_of, read_rows

_FIELDS = {"query_id", "tool", "grade", "judge", "pass", "date", "settled"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One label as a judge gave it: a line of `judgements.jsonl`.

    Attributes:
        query_id: The query.
        tool: The tool.
        grade: 2 (or more) does the job, 1 acceptable or a part, 0 or below not; -100 to 100.
        judge: Who, or "".
        turn: The labelling pass (`pass` in the file), >= 1.
        date: When, or "".
        settled: Decides between labels that differ, whatever their passes; see the module.
        extra: Fields of the file's row that are not known here; kept for writing.
        line: The 1-based line in the file.
    """

    query_id: str
    tool: str
    grade: int
    judge: str = ""
    turn: int = 1
    date: str = ""
    settled: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    line: int = field(default=0, compare=False)


def deciding_labels(labels: Iterable[Judgement]) -> dict[tuple[str, str], Judgement]:
    """The label that decides for each query and tool, by the rule of this module, in the order of the lines.

    >>> first = Judgement(query_id="q", tool="t", grade=2)
    >>> second = Judgement(query_id="q", tool="t", grade=0, turn=2)
    >>> [label.grade for label in deciding_labels([second, first]).values()]
    [2]
    """
    deciding: dict[tuple[str, str], Judgement] = {}
    for label in labels:
        key = label.query_id, label.tool
        before = deciding.get(key)
        if before is None or _outranks(label, before):
            deciding[key] = label
    return deciding


def _outranks(label: Judgement, before: Judgement) -> bool:
    if label.settled != before.settled:
        return label.settled
    return label.turn >= before.turn if label.settled else label.turn < before.turn


def derived_grades(labels: Iterable[Judgement]) -> dict[str, dict[str, int]]:
    """The grade of each query and tool, by the rule of this module.

    >>> first, second = (Judgement(query_id="q", tool="t", grade=grade, turn=turn) for grade, turn in ((2, 1), (0, 2)))
    >>> derived_grades([first, second])
    {'q': {'t': 2}}
    >>> derived_grades([first, second, Judgement(query_id="q", tool="t", grade=1, settled=True)])
    {'q': {'t': 1}}
    """
    grades: dict[str, dict[str, int]] = {}
    for (query_id, tool), label in deciding_labels(labels).items():
        grades.setdefault(query_id, {})[tool] = label.grade
    return grades


def read_judgements(path: Path, problems: list[Problem]) -> tuple[Judgement, ...]:
    """The labels of a file in its order; faults are added to `problems`, and their lines are left out."""
    labels: list[Judgement] = []
    for number, row in read_rows(path, problems):
        faults = list(_faults(row))
        if faults:
            problems += [Problem(str(path), number, name, message) for name, message in faults]
            continue
        values = {key: row[key] for key in ("query_id", "tool", "grade", "judge", "date") if row.get(key) is not None}
        turn = 1 if row.get("pass") is None else row["pass"]
        extra = {key: value for key, value in row.items() if key not in _FIELDS}
        labels.append(Judgement(**values, turn=turn, settled=bool(row.get("settled")), extra=extra, line=number))
    return tuple(labels)


def judgement_row(label: Judgement) -> dict[str, Any]:
    """The line of the file: only what differs from the defaults, but always the pass.

    >>> judgement_row(Judgement(query_id="q", tool="t", grade=1, settled=True))
    {'query_id': 'q', 'tool': 't', 'grade': 1, 'pass': 1, 'settled': True}
    """
    row: dict[str, Any] = {"query_id": label.query_id, "tool": label.tool, "grade": label.grade}
    if label.judge:
        row["judge"] = label.judge
    row["pass"] = label.turn
    if label.date:
        row["date"] = label.date
    if label.settled:
        row["settled"] = True
    return row | dict(label.extra)


def _faults(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in ("query_id", "tool"):
        value = row.get(key)
        if not isinstance(value, str) or not value.strip():
            yield key, f"is {kind_of(value) if value != '' else 'empty'}; it must be a text that is not empty"
    grade = row.get("grade")
    if type(grade) is not int or abs(grade) > MAX_GRADE:
        yield "grade", f"is {kind_of(grade)}; a grade is a whole number from -{MAX_GRADE} to {MAX_GRADE}"
    for key in ("judge", "date"):
        if row.get(key) is not None and not isinstance(row[key], str):
            yield key, f"is {kind_of(row[key])}; it must be a text"
    if row.get("pass") is not None and (type(row["pass"]) is not int or row["pass"] < 1):
        yield "pass", f"is {kind_of(row['pass'])}; it must be a whole number of at least 1"
    if row.get("settled") is not None and not isinstance(row["settled"], bool):
        yield "settled", f"is {kind_of(row['settled'])}; it must be true or false"
