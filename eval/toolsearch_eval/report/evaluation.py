"""The report on one evaluation: every ranker's means, beside a baseline, by slice, and what else was counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolsearch_eval.compare import Comparison, Judged
from toolsearch_eval.measures import Measure
from toolsearch_eval.report.comparison import against_pieces
from toolsearch_eval.report.document import Grid, Heading, Lines, Picture, Piece
from toolsearch_eval.report.numbers import interval_text, number_text
from toolsearch_eval.report.pictures import can_draw, means_picture, svg_of
from toolsearch_eval.report.rows import mean_rows, slice_rows
from toolsearch_eval.statistics import Interval


def evaluation_pieces(
    judged: Judged,
    measures: Sequence[Measure],
    summary: Mapping[str, Any],
    *,
    against: tuple[Comparison, ...] = (),
    about: Sequence[str] = (),
) -> tuple[Piece, ...]:
    """The whole report.

    Args:
        judged: The evaluation.
        measures: Its measures; the first is drawn.
        summary: Its machine-readable form, times left out.
        against: Challengers beside a baseline.
        about: What to know about the run, a line each.
    """
    left_out = ", ".join(f"{count} {reason}" for reason, count in summary["excluded"].items())
    data = summary["data"]
    facts = (
        f"Data {data['name']}, {data['tools']} tools, fingerprint {data['fingerprint'][:12]}.",
        f"Split {judged.split}: {len(judged.queries)} of {data['queries']} queries measured, left out: {left_out}.",
        f"Each ranker was asked for {judged.depth} results. {measures[0]} decides; every other measure is exploratory.",
        *about,
    )
    pieces: list[Piece] = [Lines(facts), Heading("Rankers")]
    rows = mean_rows(judged, measures[0])
    if can_draw():
        title = f"{measures[0]} of each ranker"
        words = "; ".join(f"{row.ranker} {interval_text(row.interval)}" for row in rows)
        picture = means_picture(rows, str(measures[0]))
        pieces.append(Picture(svg_of(picture, name="means", title=title, description=f"{title}: {words}.")))
    else:
        pieces.append(Picture(""))
    pieces.append(means_grid(summary))
    pieces += against_pieces(against)
    pieces += _slices(judged, measures[0])
    pieces += [Heading("Besides"), _beside(summary)]
    if summary["warnings"]:
        pieces += [Heading("Warnings"), Lines(tuple(summary["warnings"]))]
    return tuple(pieces)


def means_grid(summary: Mapping[str, Any]) -> Grid:
    """Every ranker's mean of every measure with its interval."""
    form = summary["rankers"]
    names = list(next(iter(form.values()))["measures"]) if form else []
    rows = [
        (name, *(interval_text(Interval(**cell)) for cell in values["measures"].values()))
        for name, values in form.items()
    ]
    return Grid(("ranker", *names), tuple(rows))


def _slices(judged: Judged, measure: Measure) -> list[Piece]:
    rows = slice_rows(judged, measure)
    if not rows:
        return []
    lines = [
        (
            row.name,
            str(row.queries),
            str(row.groups),
            *("too few to tell" if row.few else interval_text(mean) for mean in row.means.values()),
        )
        for row in rows
    ]
    return [
        Heading(f"{measure} by slice"),
        Grid(("slice", "queries", "groups", *judged.rankings), tuple(lines)),
    ]


def _beside(summary: Mapping[str, Any]) -> Grid:
    rows = []
    for name, values in summary["rankers"].items():
        abstention, tokens = values["abstention"], values["tokens"] or {}
        shares = (number_text(abstention[key]) for key in ("area", "false_answers", "false_alarms"))
        costs = (number_text(tokens.get("per_answer"), 0), number_text(tokens.get("recall_per_1000")))
        rows.append((name, *shares, *costs, str(tokens.get("counter", "-"))))
    header = ("ranker", "risk-coverage", "false answers", "false alarms", "tokens an answer", "Recall@5 per 1,000")
    return Grid((*header, "counted by"), tuple(rows))
