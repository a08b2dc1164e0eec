"""Scores as stacked bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import altair
import pandas

from toolsearch_app.figures.picture import COLOURS, Picture

_ROW_PIXELS: Final = 46
_FRAME_PIXELS: Final = 110
"""For one row of the legend and the axis, which share the height with the bars."""
_LEGEND_COLUMNS: Final = 3
_LEGEND_ROW_PIXELS: Final = 32
_LABEL_SHARE: Final = 0.16
"""Of the longest bar: a narrower part has no room for its name, which the legend and the table give all the same."""
_ON_DARK: Final = {"#0072b2": "#ffffff"}
_MOST_SAID: Final = 5


def score_picture(parts: pandas.DataFrame, names: Sequence[str], *, side: str) -> Picture:
    """Each result's score as a bar of its parts, the best on top, each bar below the tool's name.

    Args:
        parts: What `tables.explore.parts_table` gives, not empty.
        names: The parts in their order; each has its colour by its place.
        side: What the ranking is called, safe to be shown.
    """
    longest = float(parts["end"].max()) or 1.0
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(names))]
    drawn = parts.assign(
        middle=(parts["start"] + parts["end"]) / 2,
        shown=[
            name if value >= _LABEL_SHARE * longest else ""
            for name, value in zip(parts["part"], parts["value"], strict=True)
        ],
        title=[
            f"{rank}. {tool}  {score:.3f}"
            for rank, tool, score in zip(parts["rank"], parts["tool"], parts["score"], strict=True)
        ],
    )
    bars_drawn = drawn["rank"].nunique()
    more_rows = (len(names) - 1) // _LEGEND_COLUMNS
    # The names stand above the bars as labels of the axis, which the theme colours and which take no width away.
    above = altair.Axis(
        labelAlign="left", labelPadding=0, labelOffset=-12, labelLimit=420, labelFontSize=13, ticks=False, domain=False
    )
    rank = altair.Y("title:O", sort=None, title=None, axis=above)
    across = altair.Scale(domain=[0, longest], nice=False)
    bars = (
        altair.Chart(drawn)
        .mark_bar(height=18, yOffset=8, stroke="#ffffff", strokeWidth=1)
        .encode(
            x=altair.X("start:Q", title="score", scale=across, axis=altair.Axis(tickCount=4, grid=False)),
            x2="end:Q",
            y=rank,
            color=altair.Color(
                "part:N",
                scale=altair.Scale(domain=list(names), range=colours),
                legend=altair.Legend(
                    title=None, orient="top", columns=_LEGEND_COLUMNS, symbolType="square", labelLimit=140
                ),
            ),
            tooltip=[
                altair.Tooltip("tool:N"),
                altair.Tooltip("part:N"),
                altair.Tooltip("value:Q", format=".4f"),
                altair.Tooltip("score:Q", format=".4f"),
            ],
        )
    )
    inside = (
        altair.Chart(drawn)
        .mark_text(yOffset=8, fontSize=11, limit=90)
        .encode(
            x=altair.X("middle:Q", scale=across),
            y=rank,
            text="shown:N",
            color=altair.Color(
                "part:N",
                scale=altair.Scale(domain=list(names), range=[_ON_DARK.get(colour, "#000000") for colour in colours]),
                legend=None,
            ),
        )
    )
    chart = (bars + inside).resolve_scale(color="independent")
    return Picture(
        chart=chart.properties(
            height=_ROW_PIXELS * bars_drawn + _FRAME_PIXELS + more_rows * _LEGEND_ROW_PIXELS
        ).configure_view(strokeWidth=0),
        text=_said(drawn, side),
    )


def _said(parts: pandas.DataFrame, side: str) -> str:
    sentences = []
    for _, rows in list(parts.groupby("rank"))[:_MOST_SAID]:
        made = ", ".join(f"{part} {value:.3f}" for part, value in zip(rows["part"], rows["value"], strict=True))
        sentences.append(f"{rows['title'].iloc[0]} from {made}")
    rest = parts["rank"].nunique() - len(sentences)
    more = f"; and {rest} more in the table" if rest > 0 else ""
    return f"Scores of {side} and what they are made of: {'; '.join(sentences)}{more}."
