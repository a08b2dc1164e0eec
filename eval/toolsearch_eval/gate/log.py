"""What the gate said and what was blessed, a line each, so that quality can be followed over time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from toolsearch.errors import Problem, UsageError
from toolsearch_eval.data_files import read_rows
from toolsearch_eval.gate.baseline import Baseline
from toolsearch_eval.gate.blessing import is_finite
from toolsearch_eval.gate.budgets import held_against
from toolsearch_eval.gate.verdict import Verdict

SCHEMA_VERSION = 1
OUTCOMES = ("pass", "fail", "inconclusive", "blessed")
"""What a line can say."""
MOST_FALLEN = 20
"""Queries that a line names, those that fell most; the count says how many there were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FallenRow:
    """A query that did worse, as a line keeps it."""

    query_id: str
    before: float
    now: float
    must_pass: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRow:
    """What was spent beside quality, as a line keeps it."""

    name: str
    unit: str
    now: float | None
    limit: float | None
    kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRecord:
    """One line: a verdict of the gate, or a blessing.

    Attributes:
        date: When, ISO 8601 with its offset.
        outcome: One of `OUTCOMES`.
        baseline: The baseline's file as it was named.
        data: The data set's name.
        fingerprint: Of the whole data set.
        split: Which queries were measured.
        measure: The measure that decides.
        ranker: The ranker that was judged, or blessed.
        version: Of this package.
        before: The blessed mean over groups; None at a first blessing, or where only must-pass queries are measured.
        now: The mean now.
        difference: Now less before on the same queries; None at a blessing.
        low: The lower bound of its 95% interval.
        high: The upper bound.
        margin: How far a mean may fall; None at a blessing.
        reasons: Which guards fired, or why it was blessed.
        fallen_count: How many queries did worse.
        fallen: At most `MOST_FALLEN` of them.
        budgets: What was spent beside quality.
    """

    date: str
    outcome: Literal["pass", "fail", "inconclusive", "blessed"]
    baseline: str
    data: str
    fingerprint: str
    split: str
    measure: str
    ranker: str
    version: str
    before: float | None = None
    now: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    margin: float | None = None
    reasons: tuple[str, ...] = ()
    fallen_count: int = 0
    fallen: tuple[FallenRow, ...] = ()
    budgets: tuple[BudgetRow, ...] = ()

    def to_row(self) -> dict[str, Any]:
        """The line of the file."""
        return {"schema_version": SCHEMA_VERSION, **asdict(self)}


def record_of_verdict(verdict: Verdict, *, path: str, now: datetime, version: str) -> GateRecord:
    """The line for a verdict.

    Args:
        verdict: What the gate said.
        path: The baseline's file.
        now: The moment that is written.
        version: Of this package.
    """
    interval = verdict.overall.difference
    return GateRecord(
        date=now.isoformat(timespec="seconds"),
        outcome=verdict.outcome,
        baseline=path,
        data=verdict.baseline.data,
        fingerprint=verdict.baseline.fingerprint,
        split=verdict.baseline.split,
        measure=str(verdict.baseline.measure),
        ranker=verdict.ranker,
        version=version,
        before=verdict.mean_before,
        now=verdict.mean_now,
        difference=interval.mean,
        low=interval.low,
        high=interval.high,
        margin=verdict.margin,
        reasons=verdict.reasons,
        fallen_count=len(verdict.fallen),
        fallen=tuple(
            FallenRow(query_id=each.query_id, before=each.before, now=each.now, must_pass=each.must_pass, why=each.why)
            for each in verdict.fallen[:MOST_FALLEN]
        ),
        budgets=tuple(
            BudgetRow(name=each.name, unit=each.unit, now=each.now, limit=each.limit, kept=each.kept)
            for each in verdict.budgets
        ),
    )


def record_of_blessing(fresh: Baseline, old: Baseline | None, *, path: str, now: datetime) -> GateRecord:
    """The line for a blessing.

    Args:
        fresh: What was blessed.
        old: What was blessed before, if anything.
        path: The baseline's file.
        now: The moment that is written.
    """
    blessing = fresh.blessing
    return GateRecord(
        date=now.isoformat(timespec="seconds"),
        outcome="blessed",
        baseline=path,
        data=fresh.data,
        fingerprint=fresh.fingerprint,
        split=fresh.split,
        measure=str(fresh.measure),
        ranker=fresh.ranker,
        version=fresh.version,
        before=old.blessing.mean if old else None,
        now=blessing.mean,
        reasons=(fresh.reason,) if fresh.reason else (),
        budgets=tuple(
            BudgetRow(name=each.name, unit=each.unit, now=each.now, limit=each.limit, kept=each.kept)
            for each in held_against(fresh.limits, fresh.spent, fresh.spent)
        ),
    )


def append_record(path: str | Path, record: GateRecord) -> None:
    """Add a line at the end of a log, which is made where it is missing; what stands there is never touched.

    Raises:
        UsageError: The file can't be written.
    """
    line = (json.dumps(record.to_row(), allow_nan=False) + "\n").encode("ascii")
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        # One write at the end of the file, so that two gates at once leave two whole lines.
        with open(path, "ab", buffering=0) as stream:
            stream.write(line)
    except (OSError, ValueError) as error:
        raise UsageError(f"the log {path} can't be written: {error}.") from error


def read_log(path: str | Path, problems: list[Problem]) -> tuple[GateRecord, ...]:
    """The lines of a log in their order; a line that is none is added to `problems` and left out."""
    records: list[GateRecord] = []
    for number, row in read_rows(Path(path), problems):
        record = _record(row)
        if record is None:
            message = "is no line of a gate's log; remove the line, or move the file away and begin a new one"
            problems.append(Problem(str(path), number, "", message))
        else:
            records.append(record)
    return tuple(records)


_TEXTS = ("date", "baseline", "data", "fingerprint", "split", "measure", "ranker", "version")
_NUMBERS = ("before", "now", "difference", "low", "high", "margin")


def _record(row: Mapping[str, Any]) -> GateRecord | None:
    if row.get("schema_version") != SCHEMA_VERSION or row.get("outcome") not in OUTCOMES:
        return None
    given = {name: value for name, value in row.items() if name != "schema_version"}
    if set(given) != {field.name for field in fields(GateRecord)}:
        return None
    lists = [given[name] for name in ("reasons", "fallen", "budgets")]
    if not all(isinstance(given[name], str) for name in _TEXTS) or not all(isinstance(each, list) for each in lists):
        return None
    if not all(given[name] is None or is_finite(given[name]) for name in _NUMBERS):
        return None
    if type(given["fallen_count"]) is not int or not all(isinstance(each, str) for each in given["reasons"]):
        return None
    if not _is_moment(given["date"]):
        return None
    fallen = [_row(FallenRow, each, texts=("query_id", "why"), flag="must_pass") for each in given["fallen"]]
    budgets = [_row(BudgetRow, each, texts=("name", "unit"), flag="kept", empty=True) for each in given["budgets"]]
    if any(each is None for each in (*fallen, *budgets)):
        return None
    return GateRecord(
        **{**given, "reasons": tuple(given["reasons"]), "fallen": tuple(fallen), "budgets": tuple(budgets)}
    )


def _row(kind: type[Any], row: Any, *, texts: tuple[str, ...], flag: str, empty: bool = False) -> Any:
    """A row of a list within a line, or None where it has another form."""
    if not isinstance(row, dict) or set(row) != {field.name for field in fields(kind)}:
        return None
    if not all(isinstance(row[name], str) for name in texts) or not isinstance(row[flag], bool):
        return None
    numbers = [value for name, value in row.items() if name not in (*texts, flag)]
    if not all(is_finite(value) or (empty and value is None) for value in numbers):
        return None
    return kind(**row)


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
