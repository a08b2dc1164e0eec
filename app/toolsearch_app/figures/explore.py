"""Scores as stacked bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import altair
import pandas

from toolsearch_app.figures.picture import COLOURS, Picture
from toolsearch_app.tables.words import FIELDS, LED

_ROW_PIXELS: Final = 46
_FRAME_PIXELS: Final = 110
"""For one row of the legend and the axis, which share the height with the bars."""
_LEGEND_PIXELS: Final = 330
"""What the legend may be wide on a telephone."""
_LEGEND_GAP_PIXELS: Final = 24
"""For the symbol of an entry, and the gap after it."""
_LEGEND_ROW_PIXELS: Final = 22
_LETTER_PIXELS: Final = 6.5
_LABEL_SHARE: Final = 0.16
"""Of the longest bar: a narrower part has no room for its name, which the legend and the table give all the same."""
_COLOURS: Final = (*COLOURS, "#9b86cf", "#9aa1a8")
"""Two more than the palette has, for what is rare, or no field or word of the tool itself."""
_FIELD_COLOURS: Final = dict(zip((*FIELDS.values(), LED), _COLOURS, strict=True))
_MOST_SAID: Final = 5


def score_picture(parts: pandas.DataFrame, names: Sequence[str], *, side: str) -> Picture:
    """Each result's score as a bar of its parts, the best on top, each bar below the tool's name.

    Args:
        parts: What `tables.explore.parts_table` gives, not empty.
        names: The parts of all sides in their order; a field has a colour of its own, any other part one by its place.
        side: What the ranking is called, safe to be shown.
    """
    longest = float(parts["end"].max()) or 1.0
    colours = _colours(names)
    columns = _legend_columns(names)
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
    more_rows = (len(names) - 1) // columns
    # The names stand above the bars as labels of the axis, which the theme colours and which take no width away.
    above = altair.Axis(
        labelAlign="left",
        labelPadding=0,
        labelOffset=-12,
        labelLimit=420,
        labelFontSize=13,
        labelFontWeight=600,
        ticks=False,
        domain=False,
    )
    rank = altair.Y("title:O", sort=None, title=None, axis=above)
    across = altair.Scale(domain=[0, longest], nice=False)
    bars = (
        altair.Chart(drawn)
        .mark_bar(height=18, yOffset=8, x2Offset=-1)
        .encode(
            x=altair.X("start:Q", title="score", scale=across, axis=altair.Axis(tickCount=4, grid=False)),
            x2="end:Q",
            y=rank,
            color=altair.Color(
                "part:N",
                scale=altair.Scale(domain=list(names), range=colours),
                legend=altair.Legend(
                    title=None,
                    orient="top",
                    columns=columns,
                    symbolType="square",
                    labelLimit=_LEGEND_PIXELS - _LEGEND_GAP_PIXELS,
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
        .mark_text(yOffset=8, fontSize=11, limit=90, color="#000000")
        .encode(x=altair.X("middle:Q", scale=across), y=rank, text="shown:N")
    )
    return Picture(
        chart=(bars + inside)
        .properties(height=_ROW_PIXELS * bars_drawn + _FRAME_PIXELS + more_rows * _LEGEND_ROW_PIXELS)
        .configure_view(strokeWidth=0),
        text=_said(drawn, side),
    )


def _colours(names: Sequence[str]) -> list[str]:
    """A colour for each part: that of its field, so that it is the same for every query, or else one by its place."""
    if set(names) <= set(_FIELD_COLOURS):
        return [_FIELD_COLOURS[name] for name in names]
    return [_COLOURS[place % len(_COLOURS)] for place in range(len(names))]


def _legend_columns(names: Sequence[str]) -> int:
    """How many columns, 3 at most, the legend may have without cutting a name; it is filled row by row."""
    for columns in (3, 2):
        longest = [max(map(len, names[place::columns]), default=0) for place in range(columns)]
        if sum(longest) * _LETTER_PIXELS + columns * _LEGEND_GAP_PIXELS <= _LEGEND_PIXELS:
            return columns
    return 1


def _said(parts: pandas.DataFrame, side: str) -> str:
    sentences = []
    for _, rows in list(parts.groupby("rank"))[:_MOST_SAID]:
        made = ", ".join(f"{part} {value:.3f}" for part, value in zip(rows["part"], rows["value"], strict=True))
        sentences.append(f"{rows['title'].iloc[0]} from {made}")
    rest = parts["rank"].nunique() - len(sentences)
    more = f"; and {rest} more in the table" if rest > 0 else ""
    return f"Scores of {side} and what they are made of: {'; '.join(sentences)}{more}."
