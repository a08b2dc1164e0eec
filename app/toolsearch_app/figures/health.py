"""How well a data set is covered and judged, drawn."""

from __future__ import annotations

from typing import Final

import altair
import pandas

from toolsearch_app.figures.picture import COLOURS, GREY, Picture
from toolsearch_eval.statistics import FEW_GROUPS

_STEP: Final = 30
_FRAME_PIXELS: Final = 100
"""For legend and axis, which share the height with the rows."""


def coverage_picture(table: pandas.DataFrame) -> Picture:
    """Groups of queries by slice, a symbol for each split, and the line below which there are too few to tell.

    Args:
        table: What `tables.health.coverage_table` gives, not empty.
    """
    dots = (
        altair.Chart(table)
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            x=altair.X(
                "groups:Q", title="groups of queries", scale=altair.Scale(domainMin=0), axis=altair.Axis(tickCount=6)
            ),
            y=altair.Y("slice:N", title=None, axis=altair.Axis(labelLimit=140, labelFlush=False)),
            shape=altair.Shape(
                "split:N",
                scale=altair.Scale(domain=["dev", "test"], range=["circle", "diamond"]),
                legend=altair.Legend(title=None, orient="top"),
            ),
            yOffset=altair.YOffset("split:N", scale=altair.Scale(domain=["dev", "test"])),
            color=altair.Color("split:N", scale=altair.Scale(domain=["dev", "test"], range=[COLOURS[0], COLOURS[5]])),
            tooltip=["slice:N", "split:N", "queries:Q", "groups:Q", "labels a query:Q", "unlabelled:Q"],
        )
    )
    bound = (
        altair.Chart(pandas.DataFrame({"few": [FEW_GROUPS]})).mark_rule(strokeDash=[4, 4], color=GREY).encode(x="few:Q")
    )
    few = sorted(set(table.loc[table["groups"] < FEW_GROUPS, "slice"]))
    said = f"Too few groups to tell: {', '.join(few[:5])}." if few else f"None has fewer than {FEW_GROUPS} groups."
    text = (
        f"Groups of queries in each of {table['slice'].nunique()} slices by split, from {table['groups'].min()} to "
        f"{table['groups'].max()}; the dashed line is {FEW_GROUPS}. {said}"
    )
    height = _STEP * int(table["slice"].nunique()) + _FRAME_PIXELS
    return Picture(chart=(bound + dots).properties(height=height), text=text)


def judged_picture(table: pandas.DataFrame) -> Picture:
    """Judged@10 of each ranker, a symbol for each split.

    Args:
        table: What `tables.health.judged_table` gives, not empty.
    """
    chart = (
        altair.Chart(table)
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            x=altair.X("Judged@10:Q", scale=altair.Scale(domain=[0, 1]), axis=altair.Axis(tickCount=5)),
            y=altair.Y("ranker:N", title=None, axis=altair.Axis(labelLimit=140, labelFlush=False)),
            shape=altair.Shape(
                "split:N",
                scale=altair.Scale(domain=["dev", "test"], range=["circle", "diamond"]),
                legend=altair.Legend(title=None, orient="top"),
            ),
            color=altair.Color("split:N", scale=altair.Scale(domain=["dev", "test"], range=[COLOURS[0], COLOURS[5]])),
            tooltip=["ranker:N", "split:N", altair.Tooltip("Judged@10:Q", format=".3f"), "queries:Q", "run:N"],
        )
        .properties(height=_STEP * int(table["ranker"].nunique()) + _FRAME_PIXELS)
    )
    least = table.iloc[0]
    text = (
        f"The share of the first ten results that has a label, for {table['ranker'].nunique()} rankers; the least is "
        f"{least['ranker']} on {least['split']} with {least['Judged@10']:.3f}."
    )
    return Picture(chart=chart, text=text)
