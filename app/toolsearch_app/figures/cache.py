"""A conversation's requests with what the cache did to each, and every strategy's sum."""

from __future__ import annotations

from typing import Final

import altair
import pandas

from toolsearch_app.figures.picture import COLOURS, GREY, SHORT, Picture

USES: Final = ("cached", "written", "new")
"""Read from the cache, written to it, and neither; in this order from the axis on."""
USE_COLOURS: Final = (COLOURS[4], COLOURS[1], COLOURS[5])
_STRIP: Final = 0.06
"""Height of the strip of prefixes below the axis, as a share of the highest bar."""
_ROW_PIXELS: Final = 34
_FRAME_PIXELS: Final = 90
_MOST_SAID: Final = 4


def timeline_picture(table: pandas.DataFrame, strategy: str, chosen: int | None = None) -> Picture:
    """A bar for each request: tokens read from the cache, written to it and new; a cross where the prefix broke.

    Below each bar stands the colour of its prefix, with its letter where it begins: as long as it holds, both stay.

    Args:
        table: What `tables.cache.requests_table` gives, not empty.
        strategy: The strategy's name.
        chosen: The request that is looked at, which gets a frame.
    """
    highest = float(table["sent"].max()) or 1.0
    letters = list(dict.fromkeys(table["prefix"]))
    drawn = table.assign(top=table["sent"] + 0.05 * highest, low=-_STRIP * highest, zero=-0.01 * highest)
    drawn["middle"] = -_STRIP * highest / 2
    drawn["begins"] = [
        letter if place == 0 or letter not in set(table["prefix"][:place]) else ""
        for place, letter in enumerate(table["prefix"])
    ]
    parts = drawn.melt(id_vars=["request", "turn", "agent"], value_vars=list(USES), var_name="use", value_name="tokens")
    parts["order"] = parts["use"].map(USES.index)
    across = altair.X("request:O", title="request", axis=altair.Axis(labelAngle=0, labelOverlap=True, ticks=False))
    scale = altair.Scale(domain=[-_STRIP * highest, 1.12 * highest], nice=False)
    bars = (
        altair.Chart(parts)
        .mark_bar()
        .encode(
            x=across,
            y=altair.Y("tokens:Q", title="tokens", scale=scale, axis=altair.Axis(tickCount=5, grid=False)),
            color=altair.Color(
                "use:N",
                scale=altair.Scale(domain=list(USES), range=list(USE_COLOURS)),
                legend=altair.Legend(title=None, orient="top", symbolType="square"),
            ),
            order="order:Q",
            tooltip=["request:O", "turn:Q", "agent:N", "use:N", altair.Tooltip("tokens:Q", format=",")],
        )
    )
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(letters))]
    strip = (
        altair.Chart(drawn)
        .mark_bar()
        .encode(
            x=across,
            y=altair.Y("low:Q", scale=scale),
            y2="zero:Q",
            color=altair.Color("prefix:N", scale=altair.Scale(domain=letters, range=colours), legend=None),
            tooltip=["request:O", "prefix:N", "hash:N"],
        )
    )
    named = (
        altair.Chart(drawn[drawn["begins"] != ""])
        .mark_text(fontSize=10, fontWeight="bold", color="#000000")
        .encode(x=across, y=altair.Y("middle:Q", scale=scale), text="begins:N")
    )
    broken, looked_at = drawn[drawn["broken by"] != ""], drawn[drawn["request"] == chosen]
    crosses = (
        altair.Chart(broken)
        .mark_point(shape="cross", angle=45, filled=True, size=90, color=COLOURS[3], opacity=1)
        .encode(
            x=across,
            y=altair.Y("top:Q", scale=scale),
            tooltip=["request:O", "turn:Q", "broken by:N", altair.Tooltip("lost:Q", format=",")],
        )
    )
    frame = (
        altair.Chart(looked_at)
        .mark_bar(fillOpacity=0, stroke=GREY, strokeWidth=2, strokeDash=[4, 2])
        .encode(x=across, y=altair.Y("sent:Q", scale=scale))
    )
    # Bars and strip have colours of their own; every other layer has a fixed one.
    # A layer without a row would be a picture without a name for whoever can't see it.
    more = [layer for layer, rows in ((crosses, broken), (frame, looked_at)) if len(rows)]
    chart = altair.layer(bars, strip, named, *more).resolve_scale(color="independent")
    return Picture(chart=chart.properties(height=340), text=_timeline_text(table, strategy))


def strategies_picture(table: pandas.DataFrame) -> Picture:
    """A bar for each strategy, parted into tokens read from the cache, written to it and new, with its breaks.

    Args:
        table: What `tables.cache.strategies_table` gives, not empty.
    """
    drawn = table.assign(said=[f"{breaks} breaks" if breaks != 1 else "1 break" for breaks in table["breaks"]])
    parts = drawn.melt(id_vars=["strategy"], value_vars=list(USES), var_name="use", value_name="tokens")
    parts["order"] = parts["use"].map(USES.index)
    rows = altair.Y(
        "strategy:N",
        sort=None,
        title=None,
        axis=altair.Axis(labelLimit=180, labelFlush=False, ticks=False, domain=False),
    )
    most = float(table["sent"].max()) or 1.0
    scale = altair.Scale(domain=[0, most * 1.3], nice=False)
    bars = (
        altair.Chart(parts)
        .mark_bar(height=18)
        .encode(
            x=altair.X(
                "tokens:Q",
                title="tokens sent",
                scale=scale,
                axis=altair.Axis(tickCount=4, labelExpr=SHORT, grid=False),
            ),
            y=rows,
            color=altair.Color(
                "use:N",
                scale=altair.Scale(domain=list(USES), range=list(USE_COLOURS)),
                legend=altair.Legend(title=None, orient="top", symbolType="square"),
            ),
            order="order:Q",
            tooltip=["strategy:N", "use:N", altair.Tooltip("tokens:Q", format=",")],
        )
    )
    named = (
        altair.Chart(drawn)
        .mark_text(align="left", dx=6, color=GREY)
        .encode(x=altair.X("sent:Q", scale=scale), y=rows, text="said:N")
    )
    said = "; ".join(
        f"{row.strategy} {row.sent:,} ({row.cached:,} cached, {row.written:,} written, {row.new:,} new), {row.breaks} "
        "breaks"
        for row in table.itertuples()
    )
    return Picture(
        chart=(bars + named).properties(height=_ROW_PIXELS * len(table) + _FRAME_PIXELS),
        text=f"Tokens that each strategy sends: {said}.",
    )


def _timeline_text(table: pandas.DataFrame, strategy: str) -> str:
    sums = ", ".join(f"{int(table[use].sum()):,} {use}" for use in USES)
    broken = table[table["broken by"] != ""]
    if len(broken):
        first = [
            f"request {number} by {why}"
            for number, why in zip(broken["request"][:_MOST_SAID], broken["broken by"][:_MOST_SAID], strict=True)
        ]
        more = f"; and {len(broken) - _MOST_SAID} more in the table" if len(broken) > _MOST_SAID else ""
        said = f"The prefix breaks {len(broken)} times: {'; '.join(first)}{more}."
    else:
        said = "The prefix never breaks."
    return f"{len(table)} requests under {strategy}, tokens: {sums}. {said}"
