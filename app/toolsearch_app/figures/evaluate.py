"""Means, differences by slice, and queries that moved, each with its interval or both of its ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import altair
import pandas

from toolsearch_app.figures.picture import GREY, SIDE_A, SIDE_B, Picture
from toolsearch_app.text import line
from toolsearch_eval.report.numbers import interval_text, number_text
from toolsearch_eval.report.rows import DumbbellRow, ForestRow

_ROW_PIXELS: Final = 30
_FRAME_PIXELS: Final = 90
_LABELS: Final = altair.Axis(labelLimit=130, labelFlush=False, ticks=False, domain=False, title=None)
_MOST_SAID: Final = 10


def forest_picture(rows: Sequence[ForestRow], table: pandas.DataFrame, measure: str) -> Picture:
    """The difference B less A overall and in each slice; hollow and grey where too few groups can tell.

    Args:
        rows: What was found, not empty.
        table: `tables.evaluate.slices_table` of the same.
        measure: What was measured.
    """
    drawn = table.assign(zero=0.0, kind=["too few to tell" if few else "enough groups" for few in table["few"]])
    slices = altair.Y("slice:N", sort=None, axis=_LABELS)
    kinds = ["enough groups", "too few to tell"]
    legend = altair.Legend(title=None, orient="top")
    colour = altair.Color("kind:N", scale=altair.Scale(domain=kinds, range=[SIDE_B, GREY]), legend=legend)
    base = altair.Chart(drawn)
    zero = base.mark_rule(strokeDash=[4, 3], color=GREY).encode(x=altair.X("zero:Q"))
    across = altair.Axis(tickCount=5, title=f"{measure}: B less A, 95% interval")
    known = drawn.dropna(subset=["low", "high"])
    lines = (
        altair.Chart(known)
        .mark_rule(strokeWidth=2)
        .encode(x=altair.X("low:Q", axis=across), x2="high:Q", y=slices, color=colour)
    )
    points = base.mark_point(size=80, filled=True, opacity=1).encode(
        x=altair.X("difference:Q", axis=across),
        y=slices,
        color=colour,
        shape=altair.Shape(
            "kind:N",
            scale=altair.Scale(domain=kinds, range=["circle", "cross"]),
            legend=legend,
        ),
        tooltip=[
            altair.Tooltip("slice:N"),
            altair.Tooltip("difference:Q", format="+.3f"),
            altair.Tooltip("low:Q", format="+.3f"),
            altair.Tooltip("high:Q", format="+.3f"),
            altair.Tooltip("groups:Q"),
        ],
    )
    said = "; ".join(
        f"{line(row.label)} {interval_text(row.found.difference, signed=True)}{', too few to tell' if row.few else ''}"
        for row in rows
    )
    return Picture(
        # A layer without a mark would be a picture without a name to readers of the screen.
        chart=altair.layer(zero, *([lines] if len(known) else []), points).properties(
            height=_ROW_PIXELS * len(rows) + _FRAME_PIXELS
        ),
        text=f"{measure} of B less that of A with 95% intervals: {said}.",
    )


def dumbbell_picture(rows: Sequence[DumbbellRow], measure: str) -> Picture:
    """Each query's two values joined by a line: a circle for A, a square for B; gains on top.

    Args:
        rows: In their order, not empty.
        measure: What was measured.
    """
    wide = pandas.DataFrame(
        [
            {"query": line(row.query_id, 40), "text": line(row.text, 120), "a": row.a, "b": row.b, "place": place}
            for place, row in enumerate(rows)
        ]
    )
    ends = wide.melt(id_vars=["query", "text", "place"], value_vars=["a", "b"], var_name="side", value_name="value")
    ends["side"] = ends["side"].str.upper()
    queries = altair.Y("query:N", sort=altair.EncodingSortField("place", op="min"), axis=_LABELS)
    across = altair.Scale(domain=[0, 1])
    joins = (
        altair.Chart(wide)
        .mark_rule(color=GREY, strokeWidth=2)
        .encode(x=altair.X("a:Q", scale=across, title=measure, axis=altair.Axis(tickCount=5)), x2="b:Q", y=queries)
    )
    legend = altair.Legend(title=None, orient="top")
    points = (
        altair.Chart(ends)
        .mark_point(size=90, filled=True, opacity=1)
        .encode(
            x=altair.X("value:Q", scale=across),
            y=queries,
            color=altair.Color("side:N", scale=altair.Scale(domain=["A", "B"], range=[SIDE_A, SIDE_B]), legend=legend),
            shape=altair.Shape("side:N", scale=altair.Scale(domain=["A", "B"], range=["circle", "square"])),
            tooltip=["query:N", "text:N", "side:N", altair.Tooltip("value:Q", format=".3f")],
        )
    )
    said = "; ".join(
        f"{line(row.query_id, 40)} {number_text(row.a)} to {number_text(row.b)}" for row in rows[:_MOST_SAID]
    )
    more = f"; and {len(rows) - _MOST_SAID} more in the table" if len(rows) > _MOST_SAID else ""
    return Picture(
        chart=(joins + points).properties(height=_ROW_PIXELS * len(rows) + _FRAME_PIXELS),
        text=f"{measure} of A and of B, query by query, largest gain first: {said}{more}.",
    )
