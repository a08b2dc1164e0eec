"""What a baseline remembers of the ones before it: who was blessed when, with what, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

_TEXTS = ("date", "reason", "ranker", "data", "fingerprint", "split", "measure", "version")


@dataclass(frozen=True, slots=True, kw_only=True)
class Blessing:
    """One moment at which a baseline was blessed.

    Attributes:
        date: When, ISO 8601.
        reason: Why, in the words of whoever blessed it.
        ranker: The ranker that was blessed.
        data: The data set's name.
        fingerprint: Of the whole data set.
        split: Which queries were measured beside the must-pass ones.
        measure: The measure that decides.
        version: Of this package.
        queries: How many were measured.
        must_pass: How many of them may not fall.
        mean: The mean over groups, 0..1; None without a query.
        low: The lower bound of its 95% interval; None with fewer than two groups.
        high: The upper bound.
    """

    date: str
    reason: str
    ranker: str
    data: str
    fingerprint: str
    split: str
    measure: str
    version: str
    queries: int
    must_pass: int
    mean: float | None
    low: float | None
    high: float | None

    def to_row(self) -> dict[str, Any]:
        """The machine-readable form."""
        return asdict(self)


def blessing_from(row: object) -> Blessing | None:
    """The blessing of a row as `Blessing.to_row` gives it; None where it has another form.

    >>> blessing_from({"date": "2026-01-02"}) is None
    True
    """
    if not isinstance(row, Mapping) or set(row) != {field.name for field in fields(Blessing)}:
        return None
    if not all(isinstance(row[name], str) for name in _TEXTS):
        return None
    if not all(type(row[name]) is int and row[name] >= 0 for name in ("queries", "must_pass")):
        return None
    if not all(row[name] is None or is_finite(row[name]) for name in ("mean", "low", "high")):
        return None
    return Blessing(**row)


def is_finite(value: object) -> bool:
    """Whether a value from JSON is a finite number.

    >>> is_finite(0.5), is_finite(True), is_finite("1"), is_finite(float("nan"))
    (True, False, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
