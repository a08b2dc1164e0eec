"""A waterfall from all tools to what is sent, money by strategy, and money over sizes of the catalog."""

from __future__ import annotations

from typing import Final

import altair
import pandas

from toolsearch_app.figures.picture import COLOURS, GREY, SHORT, Picture

_KINDS: Final = ("sum", "less", "more")
_KIND_COLOURS: Final = (COLOURS[0], COLOURS[2], COLOURS[5])
_ROW_PIXELS: Final = 34
_FRAME_PIXELS: Final = 90
_SHAPES: Final = ("circle", "square", "triangle-up", "diamond")


def waterfall_picture(table: pandas.DataFrame) -> Picture:
    """The steps from all tools to what is sent, each bar where the one before ended; signs stand beside them.

    Args:
        table: What `tables.savings.steps_table` gives, not empty.
    """
    drawn = table.assign(
        said=[
            f"{tokens:,}" if kind == "sum" else f"{tokens:+,}"
            for tokens, kind in zip(table["tokens"], table["kind"], strict=True)
        ],
        right=table[["start", "end"]].max(axis=1),
    )
    most = float(drawn["right"].max()) or 1.0
    rows = altair.Y(
        "step:N", sort=None, title=None, axis=altair.Axis(labelLimit=210, labelFlush=False, ticks=False, domain=False)
    )
    scale = altair.Scale(domain=[min(0.0, float(drawn["end"].min())), most * 1.4], nice=False)
    bars = (
        altair.Chart(drawn)
        .mark_bar(height=18)
        .encode(
            x=altair.X(
                "start:Q",
                title="tokens of all requests",
                scale=scale,
                axis=altair.Axis(tickCount=4, labelExpr=SHORT, grid=False),
            ),
            x2="end:Q",
            y=rows,
            color=altair.Color(
                "kind:N",
                scale=altair.Scale(domain=list(_KINDS), range=list(_KIND_COLOURS)),
                legend=altair.Legend(title=None, orient="top", symbolType="square"),
            ),
            tooltip=["step:N", altair.Tooltip("tokens:Q", format="+,")],
        )
    )
    named = (
        altair.Chart(drawn)
        .mark_text(align="left", dx=6, color=GREY)
        .encode(x=altair.X("right:Q", scale=scale), y=rows, text="said:N")
    )
    said = "; ".join(f"{step} {words}" for step, words in zip(drawn["step"], drawn["said"], strict=True))
    return Picture(
        chart=(bars + named).properties(height=_ROW_PIXELS * len(table) + _FRAME_PIXELS),
        text=f"The way from all tools to what is sent, in tokens: {said}.",
    )


def money_picture(table: pandas.DataFrame, currency: str) -> Picture:
    """What each strategy costs, with what it saves against `inline`.

    Args:
        table: What `tables.savings.money_table` gives, not empty.
        currency: Of the prices, safe to be shown.
    """
    drawn = table.assign(
        said=[
            f"{cost:.4f}" if name == "inline" else f"{cost:.4f} ({0.0 - share:+.0%})"
            for name, cost, share in zip(table["strategy"], table["cost"], table["saved share"], strict=True)
        ]
    )
    most = float(drawn["cost"].max()) or 1.0
    rows = altair.Y(
        "strategy:N",
        sort=None,
        title=None,
        axis=altair.Axis(labelLimit=180, labelFlush=False, ticks=False, domain=False),
    )
    scale = altair.Scale(domain=[0, most * 1.55], nice=False)
    bars = (
        altair.Chart(drawn)
        .mark_bar(height=18, color=COLOURS[0])
        .encode(
            x=altair.X("cost:Q", title=currency, scale=scale, axis=altair.Axis(tickCount=4, grid=False)),
            y=rows,
            tooltip=["strategy:N", altair.Tooltip("cost:Q", format=".4f"), altair.Tooltip("saved:Q", format="+.4f")],
        )
    )
    named = (
        altair.Chart(drawn)
        .mark_text(align="left", dx=6, color=GREY)
        .encode(x=altair.X("cost:Q", scale=scale), y=rows, text="said:N")
    )
    said = "; ".join(f"{name} {words}" for name, words in zip(drawn["strategy"], drawn["said"], strict=True))
    return Picture(
        chart=(bars + named).properties(height=_ROW_PIXELS * len(table) + _FRAME_PIXELS),
        text=f"What each strategy costs in {currency}, with the change against inline: {said}.",
    )


def sizes_picture(table: pandas.DataFrame, currency: str, even: float | None) -> Picture:
    """Money over the number of deferred tools, a line and a shape for each strategy; a dashed line where they meet.

    Args:
        table: What `tables.savings.sizes_table` gives, not empty.
        currency: Of the prices, safe to be shown.
        even: From how many deferred tools on the strategy costs less; None where it does not.
    """
    names = list(dict.fromkeys(table["strategy"]))
    shapes = [_SHAPES[place % len(_SHAPES)] for place in range(len(names))]
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(names))]
    across = altair.X("tools:Q", title="deferred tools", scale=altair.Scale(type="log"), axis=altair.Axis(tickCount=5))
    up = altair.Y("cost:Q", title=currency, axis=altair.Axis(tickCount=5))
    colour = altair.Color(
        "strategy:N",
        scale=altair.Scale(domain=names, range=colours),
        legend=altair.Legend(title=None, orient="top", labelLimit=200),
    )
    base = altair.Chart(table)
    lines = base.mark_line(strokeWidth=2).encode(x=across, y=up, color=colour)
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=across,
        y=up,
        color=colour,
        shape=altair.Shape("strategy:N", scale=altair.Scale(domain=names, range=shapes)),
        tooltip=["strategy:N", altair.Tooltip("tools:Q", format=","), altair.Tooltip("cost:Q", format=".4f")],
    )
    layers = [lines, points]
    if even is not None:
        meeting = altair.Chart(pandas.DataFrame({"tools": [even]}))
        layers.insert(0, meeting.mark_rule(strokeDash=[5, 4], color=GREY).encode(x="tools:Q"))
    ends = table.sort_values("tools").groupby("strategy", sort=False)
    said = "; ".join(
        f"{name} from {rows['cost'].iloc[0]:.4f} at {rows['tools'].iloc[0]:,.0f} tools to {rows['cost'].iloc[-1]:.4f} "
        f"at {rows['tools'].iloc[-1]:,.0f}"
        for name, rows in ends
    )
    met = f" They meet at about {even:,.0f} deferred tools." if even is not None else ""
    return Picture(
        chart=altair.layer(*layers).properties(height=320),
        text=f"Money in {currency} over the size of the catalog: {said}.{met}",
    )
