"""The gate's history in numbers; texts are made safe here."""

from __future__ import annotations

from collections.abc import Iterable

import pandas

from toolsearch_app.text import line
from toolsearch_eval.gate.history import BaselineFile, GateHistory, baseline_name
from toolsearch_eval.gate.log import GateRecord


def names(history: GateHistory) -> tuple[str, ...]:
    """The baselines that have a file or a line in a log, by name."""
    known = {each.name for each in history.baselines} | {baseline_name(each.baseline) for each in history.records}
    return tuple(sorted(known))


def moment(date: str) -> str:
    """A date as it is read: the day, and the time to the minute where there is one.

    >>> moment("2026-03-01"), moment("2026-03-01T07:08:09+00:00")
    ('2026-03-01', '2026-03-01 07:08')
    """
    return line(date[:16].replace("T", " "))


def blessing_table(file: BaselineFile) -> pandas.DataFrame:
    """A row for each blessing in one place, the newest first."""
    return pandas.DataFrame(
        [
            (
                moment(each.date),
                each.mean,
                each.low,
                each.high,
                line(each.ranker),
                each.queries,
                each.must_pass,
                f"{line(each.data)} {each.fingerprint[:8]}",
                line(each.reason),
            )
            for each in reversed(file.blessings)
        ],
        columns=["date", "mean", "low", "high", "ranker", "queries", "must pass", "data", "reason"],
    )


def record_table(records: Iterable[GateRecord]) -> pandas.DataFrame:
    """A row for each line of the logs, the newest first."""
    return pandas.DataFrame(
        [
            (
                moment(each.date),
                each.outcome,
                each.now,
                each.before,
                each.difference,
                each.low,
                each.high,
                each.fallen_count,
                line(each.ranker),
                line("; ".join(each.reasons)),
            )
            for each in reversed(tuple(records))
        ],
        columns=["date", "outcome", "now", "blessed", "difference", "low", "high", "fell", "ranker", "reasons"],
    )


def history_table(file: BaselineFile | None, records: Iterable[GateRecord]) -> pandas.DataFrame:
    """What is drawn over time: a row for each mean that was reached, oldest first; what has no mean is left out.

    Blessings come from the logs and, where no log holds them, from the baseline's own file. Low and high are those of
    the mean at a blessing, and of the difference, laid about the blessed mean, at a verdict.
    """
    logged = tuple(records)
    days = {each.date[:10] for each in logged if each.outcome == "blessed"}
    rows: list[tuple[str, str, float, float | None, float | None, str]] = []
    for blessing in file.blessings if file else ():
        if blessing.mean is not None and blessing.date[:10] not in days:
            rows.append((blessing.date, "blessed", blessing.mean, blessing.low, blessing.high, line(blessing.reason)))
    for each in logged:
        if each.now is None:
            continue
        low, high = (
            None if bound is None or each.before is None else each.before + bound for bound in (each.low, each.high)
        )
        rows.append((each.date, each.outcome, each.now, low, high, line("; ".join(each.reasons))))
    rows.sort(key=lambda row: row[0])
    table = pandas.DataFrame(rows, columns=["date", "outcome", "mean", "low", "high", "why"])
    return table.astype({"mean": float, "low": float, "high": float})


def fallen_table(record: GateRecord) -> pandas.DataFrame:
    """A row for each query that a line names as fallen."""
    return pandas.DataFrame(
        [
            (line(each.query_id), each.before, each.now, "must pass" if each.must_pass else "", line(each.why))
            for each in record.fallen
        ],
        columns=["query", "before", "now", "note", "why"],
    )


def budget_table(record: GateRecord) -> pandas.DataFrame:
    """A row for each budget of a line."""
    return pandas.DataFrame(
        [
            (line(each.name), each.now, each.limit, line(each.unit), "kept" if each.kept else "broken")
            for each in record.budgets
        ],
        columns=["budget", "now", "limit", "unit", "state"],
    )
