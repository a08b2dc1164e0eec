"""Means over time with what the gate said of them."""

from __future__ import annotations

import altair
import pandas

from toolsearch_app.figures.picture import COLOURS, GREY, Picture

_OUTCOMES = ("pass", "fail", "inconclusive", "blessed")
_SHAPES = ("circle", "cross", "triangle-up", "diamond")
_COLOURS = (COLOURS[2], COLOURS[5], COLOURS[1], COLOURS[0])


def history_picture(table: pandas.DataFrame, measure: str) -> Picture:
    """Each mean with its interval, in their order; a shape and a colour for each outcome.

    Args:
        table: What `tables.gate.history_table` gives, not empty.
        measure: What was measured, safe to be shown.
    """
    drawn = table.assign(place=range(1, len(table) + 1))
    order = altair.X(
        "place:O",
        title="blessings and verdicts, oldest first",
        axis=altair.Axis(labelAngle=0, labelOverlap=True),
    )
    bounds = [float(value) for name in ("mean", "low", "high") for value in drawn[name].dropna()]
    lowest, highest = min(bounds), max(bounds)
    spread = highest - lowest or 0.02
    scale = altair.Scale(domain=[max(0.0, lowest - spread / 10), min(1.0, highest + spread / 10)], nice=True)
    tips = [
        "date:N",
        "outcome:N",
        altair.Tooltip("mean:Q", format=".4f"),
        altair.Tooltip("low:Q", format=".4f"),
        altair.Tooltip("high:Q", format=".4f"),
        "why:N",
    ]
    bars = (
        altair.Chart(drawn.dropna(subset=["low", "high"]))
        .mark_rule(color=GREY, strokeWidth=1.5)
        .encode(x=order, y=altair.Y("low:Q", scale=scale, title=f"mean {measure}"), y2="high:Q")
    )
    path = (
        altair.Chart(drawn).mark_line(color=GREY, strokeDash=[2, 3]).encode(x=order, y=altair.Y("mean:Q", scale=scale))
    )
    points = (
        altair.Chart(drawn)
        .mark_point(filled=True, size=110, opacity=1)
        .encode(
            x=order,
            y=altair.Y("mean:Q", scale=scale),
            shape=altair.Shape(
                "outcome:N",
                scale=altair.Scale(domain=list(_OUTCOMES), range=list(_SHAPES)),
                legend=altair.Legend(title=None, orient="top", columns=2),
            ),
            color=altair.Color("outcome:N", scale=altair.Scale(domain=list(_OUTCOMES), range=list(_COLOURS))),
            tooltip=tips,
        )
    )
    counts = ", ".join(f"{count} {name}" for name in _OUTCOMES if (count := int((table["outcome"] == name).sum())))
    last = table.iloc[-1]
    text = (
        f"The mean {measure} over time: {counts}. The last is {last['outcome']} on {last['date'][:10]} with "
        f"{last['mean']:.3f}; the lowest is {table['mean'].min():.3f}, the highest {table['mean'].max():.3f}."
    )
    return Picture(chart=(bars + path + points).properties(height=300), text=text)
