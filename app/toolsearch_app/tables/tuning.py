"""A study in numbers; texts are made safe here."""

from __future__ import annotations

import pandas

from toolsearch_app.text import line
from toolsearch_eval.tuning.follow import Outcome, Study

_GAINS = {"dev": "dev (chosen here)", "nested": "nested folds (unseen)", "test": "test (unseen)"}
MOST_LINES = 60
"""Plain trials that are drawn in parallel coordinates, the best; shipped, chosen and best ones come on top."""


def history_table(study: Study) -> pandas.DataFrame:
    """A row for each finished trial, in their order."""
    table = pandas.DataFrame(
        [
            (each.trial, each.score, each.best, "meets them" if each.feasible else "breaks one")
            for each in study.history
        ],
        columns=["trial", "score", "best so far", "constraints"],
    )
    return table.astype({"score": float, "best so far": float})


def importance_table(study: Study) -> pandas.DataFrame:
    """A row for each parameter, the most important first."""
    return pandas.DataFrame(
        [(line(each.parameter), each.share) for each in study.importances], columns=["parameter", "share"]
    )


def parallel_table(study: Study) -> pandas.DataFrame:
    """A row for each drawn trial and parameter: where its value lies between the bounds, 0..1."""
    plain = [each for each in study.lines if not each.kind][-MOST_LINES:]
    rows = [
        (each.trial, each.kind or "other", each.score, line(name), position)
        for each in (*plain, *(each for each in study.lines if each.kind))
        for name, position in zip(study.parameters, each.positions, strict=True)
    ]
    return pandas.DataFrame(rows, columns=["trial", "kind", "score", "parameter", "position"])


def bounds_table(study: Study) -> pandas.DataFrame:
    """A row for each parameter with its bounds."""
    return pandas.DataFrame(
        [
            (line(name), f"{low:g}", f"{high:g}", "logarithmic" if log else "even")
            for name, (low, high, log) in zip(study.parameters, study.bounds, strict=True)
        ],
        columns=["parameter", "lowest", "highest", "scale"],
    )


def front_table(study: Study) -> pandas.DataFrame:
    """A row for each trial of the Pareto front."""
    return pandas.DataFrame(list(study.front), columns=["trial", "first", "second"])


def gain_table(outcome: Outcome) -> pandas.DataFrame:
    """What the chosen profile is worth, where it was chosen and on queries that were not seen."""
    keys = ("before", "after", "difference", "low", "high", "p", "groups")
    table = pandas.DataFrame(
        [
            (label, *(outcome.gains[part].get(key) for key in keys))
            for part, label in _GAINS.items()
            if part in outcome.gains
        ],
        columns=["queries", "shipped", "chosen", "gain", "low", "high", "p", "groups"],
    )
    numbers = [str(column) for column in table.columns[1:]]
    return table.astype(dict.fromkeys(numbers, float)).astype({"groups": "Int64"})


def changed_table(outcome: Outcome) -> pandas.DataFrame:
    """A row for each number, those that the chosen trial changes first."""
    rows = [
        (line(name), f"{outcome.shipped[name]:g}" if name in outcome.shipped else "-", f"{value:g}")
        for name, value in outcome.values.items()
    ]
    rows.sort(key=lambda row: row[1] == row[2])
    return pandas.DataFrame(
        [(*row, "" if row[1] == row[2] else "changed") for row in rows],
        columns=["parameter", "shipped", "chosen", "note"],
    )


def slice_table(outcome: Outcome) -> pandas.DataFrame:
    """A row for each slice before and after."""
    table = pandas.DataFrame(
        [
            (
                line(f"{each.data}: {each.name or 'all'}"),
                each.queries,
                each.before,
                each.after,
                each.after - each.before,
                each.low,
                each.high,
                "too few to tell" if each.few else "",
            )
            for each in outcome.slices
        ],
        columns=["slice", "queries", "shipped", "chosen", "difference", "low", "high", "note"],
    )
    return table.astype(dict.fromkeys(("shipped", "chosen", "difference", "low", "high"), float))
