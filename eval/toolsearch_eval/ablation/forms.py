"""An ablation for machines: one JSON object, and CSV with a line for each part and set."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from toolsearch_eval.ablation.measure import Ablation, Beside, Measured, Row
from toolsearch_eval.ablation.parts import NO_PARTS, NO_SWITCH
from toolsearch_eval.compare import difference_json
from toolsearch_eval.report.escape import csv_cell
from toolsearch_eval.statistics import Interval
from toolsearch_eval.tuning.parameters import parameter_names, parameter_value

CSV_COLUMNS = (
    "table", "part", "set", "mean", "difference", "low", "high", "p", "p_holm", "groups", "wins", "ties", "losses",
    "verdict",
)  # fmt: skip
OVERALL = "(all sets)"
"""Stands in the CSV for the mean over the sets."""


def ablation_json(found: Ablation) -> dict[str, Any]:
    """The machine-readable form: every mean, difference, interval and p, by part and by set."""
    return {
        "schema_version": 1,
        "profile": found.whole.config.name,
        "measure": str(found.measure),
        "depth": found.depth,
        "seed": found.seed,
        "data": [
            {
                "name": each.name,
                "fingerprint": each.fingerprint,
                "split": each.split,
                "tools": each.tools,
                "queries": each.queries,
                "groups": each.groups,
            }
            for each in found.sets
        ],
        "whole": _measured(found.whole),
        "left_out": [_row(row) for row in found.left_out],
        "bare": {**_measured(found.bare), "settings": _bare_settings(found)},
        "added": [_row(row) for row in found.added],
        "not_worse_without": [row.variant.part.key for row in found.not_worse],
        "no_part": dict(NO_PARTS),
        "no_switch": list(NO_SWITCH),
        "warnings": list(found.warnings),
    }


def ablation_csv(found: Ablation) -> str:
    """A header and a line for each part, table and set, and for all sets together."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for name, rows in (("left_out", found.left_out), ("added", found.added)):
        for row in rows:
            writer.writerows(_lines(name, row))
    return text.getvalue()


def _lines(table: str, row: Row) -> Iterator[list[object]]:
    for name, beside in [*row.sets.items(), (OVERALL, row.overall)]:
        form = _beside(beside)
        yield [
            {"table": table, "part": row.variant.part.key, "set": csv_cell(name), **form}.get(column)
            for column in CSV_COLUMNS
        ]


def _measured(found: Measured) -> dict[str, Any]:
    return {
        "overall": _interval(found.overall),
        "sets": {name: _interval(interval) for name, interval in found.sets.items()},
    }


def _row(row: Row) -> dict[str, Any]:
    part = row.variant.part
    return {
        "part": part.key,
        "title": part.title,
        "unites": list(part.unites),
        "settings": {name: {"from": before, "to": after} for name, (before, after) in row.variant.settings.items()},
        "overall": _beside(row.overall),
        "sets": {name: _beside(beside) for name, beside in row.sets.items()},
    }


def _beside(found: Beside) -> dict[str, Any]:
    return {
        "mean": found.mean.mean,
        **difference_json(found.difference),
        "p_holm": found.adjusted,
        "verdict": found.verdict,
    }


def _interval(found: Interval) -> dict[str, Any]:
    return {"mean": found.mean, "low": found.low, "high": found.high, "groups": found.n}


def _bare_settings(found: Ablation) -> dict[str, dict[str, float]]:
    """What a bare profile has other than the whole one."""
    whole, bare = found.whole.config, found.bare.config
    return {
        name: {"from": parameter_value(whole, name), "to": parameter_value(bare, name)}
        for name in parameter_names(whole)
        if parameter_value(whole, name) != parameter_value(bare, name)
    }
