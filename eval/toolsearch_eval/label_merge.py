"""Take filled-in grades into a data set: everything is checked first, then written at once."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.names import shown
from toolsearch.errors import DataError, Problem, UsageError, near_names
from toolsearch_eval.data import DataSet
from toolsearch_eval.data_write import qrels_bytes
from toolsearch_eval.judgements import Judgement, derived_grades, judgement_row
from toolsearch_eval.judging_sheet import SheetRow

HIGHEST_GRADE = 2
"""The best grade that a judge can give unless told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """What a sheet comes to.

    Attributes:
        labels: The new labels in the order of the rows.
        empty: Rows without a grade.
        known: Rows that the data set holds already and that were passed over.
        changed: Pairs that had a grade and have another one now.
        grades: The grades by query and tool with the new labels.
    """

    labels: tuple[Judgement, ...]
    empty: int
    known: int
    changed: int
    grades: Mapping[str, Mapping[str, int]]

    @property
    def by_grade(self) -> dict[int, int]:
        """How many new labels there are of each grade, the best first."""
        return dict(sorted(Counter(label.grade for label in self.labels).items(), reverse=True))


def merge_labels(
    data: DataSet,
    rows: Sequence[SheetRow],
    *,
    path: str,
    judge: str,
    turn: int,
    date: str = "",
    settled: bool = False,
    pool: Collection[tuple[str, str]] | None = None,
    highest: int = HIGHEST_GRADE,
    pass_over_known: bool = False,
    problems: Sequence[Problem] = (),
) -> Merge:
    """The labels of a sheet, where nothing speaks against them; nothing is written.

    Faults: an unknown query or tool, a tool that is always loaded, a pair outside of the pool, a pair twice (with one
    grade or with two), a pair that this judge has graded in this pass already, a grade out of range.

    Args:
        data: The data set.
        rows: As `read_sheet` gives them.
        path: The sheet as it was named, for messages.
        judge: Who graded.
        turn: The labelling pass, above 0.
        date: When; `YYYY-MM-DD` or "".
        settled: The grades decide, whatever the passes before said.
        pool: The pairs that may be graded; None allows every query with every tool that can be found.
        highest: The best grade; the lowest is 0.
        pass_over_known: A row that the data set holds from this judge and pass with the same grade is no fault, so
            that a sheet which is filled bit by bit can be taken in again and again.
        problems: Faults that reading has found, told together with these.

    Raises:
        UsageError: The judge's name is empty, or the pass is below 1.
        DataError: Every fault of every row, in file order.
    """
    if not judge.strip():
        raise UsageError("the judge's name is empty; say who graded.")
    if turn < 1:
        raise UsageError(f"the pass is {turn}; it must be a whole number above 0.")
    faults = list(problems)
    before = _labels_of(data)
    mine = {(label.query_id, label.tool): label for label in before if _same(label, judge, turn, settled)}
    queries = {query.query_id for query in data.queries}
    tools = {tool.name: is_deferred(tool) for tool in data.tools}
    seen: dict[tuple[str, str], SheetRow] = {}
    labels: list[Judgement] = []
    known = 0
    for row in rows:
        pair = row.query_id, row.tool

        def fault(name: str, message: str, line: int = row.line) -> None:
            faults.append(Problem(path, line, name, message))

        count = len(faults)
        if row.query_id not in queries:
            fault("query_id", f"{shown(row.query_id)} is no query of {shown(data.name)}{_near(row.query_id, queries)}")
        if row.tool not in tools:
            fault("tool", f"{shown(row.tool)} is not in the catalog{_near(row.tool, tools)}")
        elif not tools[row.tool]:
            fault("tool", f"{shown(row.tool)} is always loaded, so it is never searched; leave the row out")
        if pool is not None and pair not in pool:
            fault("tool", f"{shown(row.tool)} of {shown(row.query_id)} is not in the pool; leave the row out")
        first = seen.setdefault(pair, row)
        if first is not row:
            fault("tool", _twice(row, first))
        if row.grade is not None and not 0 <= row.grade <= highest:
            fault("grade", f"is {row.grade}; accepted: 0 to {highest}")
        if len(faults) > count or row.grade is None:
            continue
        old = mine.get(pair)
        if old is None:
            labels.append(
                Judgement(
                    query_id=row.query_id,
                    tool=row.tool,
                    grade=row.grade,
                    judge=judge,
                    turn=turn,
                    date=date,
                    settled=settled,
                )
            )
        elif old.grade != row.grade:
            where = f"line {old.line} of judgements.jsonl" if old.line else "the data set"
            fault("grade", f"is {row.grade}, and {old.grade} on {where} from the same judge and pass; keep one")
        elif pass_over_known:
            known += 1
        else:
            fault("tool", f"{shown(row.tool)} of {shown(row.query_id)} is in the data set already; leave the row out")
    if faults:
        raise DataError(sorted(faults, key=lambda problem: problem.line))
    grades = derived_grades([*before, *labels])
    changed = sum(
        grades[query_id][tool] != grade for query_id, given in data.judgements.items() for tool, grade in given.items()
    )
    return Merge(
        labels=tuple(labels),
        empty=sum(row.grade is None for row in rows),
        known=known,
        changed=changed,
        grades=grades,
    )


def write_labels(data: DataSet, merge: Merge) -> None:
    """Add the labels to `judgements.jsonl` and derive `qrels.tsv` anew; the lines that are there stay byte for byte.

    Each file is swapped in whole. Should the machine stop between the two, the labels are there and `qrels.tsv` is the
    old one, which `dataset check` tells; `load_data` reads the labels. Grades that had only a `qrels.tsv` become labels
    of pass 1 without a judge.

    Raises:
        UsageError: The folder can't be written.
    """
    folder = Path(data.path)
    labels, qrels = folder / "judgements.jsonl", folder / "qrels.tsv"
    try:
        text = labels.read_bytes() if data.labels else b""
        if text and not text.endswith(b"\n"):
            text += b"\n"
        added = merge.labels if data.labels else [*_labels_of(data), *merge.labels]
        text += "".join(json.dumps(judgement_row(label), ensure_ascii=False) + "\n" for label in added).encode()
        _swap_in(labels, text)
        _swap_in(qrels, qrels_bytes(merge.grades))
    except (OSError, ValueError) as error:
        raise UsageError(f"the labels can't be written to {folder}: {error}.") from error


def _labels_of(data: DataSet) -> Sequence[Judgement]:
    if data.labels:
        return data.labels
    pairs = ((query_id, tool, grade) for query_id, given in data.judgements.items() for tool, grade in given.items())
    return [Judgement(query_id=query_id, tool=tool, grade=grade) for query_id, tool, grade in pairs]


def _same(label: Judgement, judge: str, turn: int, settled: bool) -> bool:
    return (label.judge, label.turn, label.settled) == (judge, turn, settled)


def _near(name: str, known: Collection[str]) -> str:
    near = near_names(name, known)
    return f"; did you mean {', '.join(map(shown, near))}?" if near else ""


def _twice(row: SheetRow, first: SheetRow) -> str:
    which = f"{shown(row.tool)} of {shown(row.query_id)} stands on line {first.line} already"
    if row.grade == first.grade:
        return f"{which}; keep one"
    grades = ["nothing" if grade is None else str(grade) for grade in (first.grade, row.grade)]
    return f"{which} with {grades[0]}, and here with {grades[1]}; keep one"


def _swap_in(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # A temporary file is private; the new one is as readable as the old one, or as any new file.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
