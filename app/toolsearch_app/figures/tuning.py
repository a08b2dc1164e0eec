"""A study drawn: its history, what matters in it, its trials side by side, and what it is worth."""

from __future__ import annotations

from typing import Final

import altair
import pandas

from toolsearch_app.figures.picture import COLOURS, GREY, Picture

_KINDS: Final = ("shipped", "chosen", "best", "other")
_FRAME_PIXELS: Final = 70
"""For the axis, which shares the height with the rows."""
_KIND_COLOURS: Final = (COLOURS[1], COLOURS[2], COLOURS[0], GREY)


def history_picture(table: pandas.DataFrame) -> Picture:
    """Every trial's score and the best so far; the dashed line is the profile as it ships.

    Args:
        table: What `tables.tuning.history_table` gives, not empty.
    """
    across = altair.X("trial:Q", title="trial", axis=altair.Axis(tickMinStep=1))
    scale = altair.Scale(zero=False)
    legend = altair.Legend(title="constraints", orient="top") if "breaks one" in set(table["constraints"]) else None
    points = (
        altair.Chart(table)
        .mark_point(filled=True, size=45, opacity=0.75)
        .encode(
            x=across,
            y=altair.Y("score:Q", title="mean on dev", scale=scale),
            shape=altair.Shape(
                "constraints:N",
                scale=altair.Scale(domain=["meets them", "breaks one"], range=["circle", "cross"]),
                legend=legend,
            ),
            color=altair.Color(
                "constraints:N",
                scale=altair.Scale(domain=["meets them", "breaks one"], range=[COLOURS[4], COLOURS[5]]),
                legend=legend,
            ),
            tooltip=["trial:Q", altair.Tooltip("score:Q", format=".4f"), "constraints:N"],
        )
    )
    best = (
        altair.Chart(table.dropna(subset=["best so far"]))
        .mark_line(interpolate="step-after", color=COLOURS[1], strokeWidth=2)
        .encode(x=across, y=altair.Y("best so far:Q", scale=scale))
    )
    shipped = (
        altair.Chart(table.head(1)).mark_rule(strokeDash=[5, 4], color=GREY).encode(y=altair.Y("score:Q", scale=scale))
    )
    first, top = float(table["score"].iloc[0]), table["best so far"].max()
    said = "no trial meets the constraints" if pandas.isna(top) else f"the best so far has {float(top):.4f}"
    text = (
        f"{len(table)} trials by their mean on dev: the shipped profile (dashed line) has {first:.4f}, {said} (line)."
    )
    return Picture(chart=(shipped + points + best).properties(height=280), text=text)


def importance_picture(table: pandas.DataFrame) -> Picture:
    """How much of the difference between good and other trials each parameter explains.

    Args:
        table: What `tables.tuning.importance_table` gives, not empty.
    """
    chart = (
        altair.Chart(table)
        .mark_bar(color=COLOURS[0])
        .encode(
            x=altair.X("share:Q", title="share of importance", axis=altair.Axis(format="%", tickCount=5)),
            y=altair.Y("parameter:N", sort=None, title=None, axis=altair.Axis(labelLimit=170, labelFlush=False)),
            tooltip=["parameter:N", altair.Tooltip("share:Q", format=".3f")],
        )
        .properties(height=22 * len(table) + _FRAME_PIXELS)
    )
    first = ", ".join(f"{row.parameter} {row.share:.0%}" for row in table.head(3).itertuples())
    return Picture(chart=chart, text=f"Importance of {len(table)} parameters; the first are {first}.")


def parallel_picture(table: pandas.DataFrame) -> Picture:
    """Trials as lines through their values between the bounds; shipped, chosen and best differ in dashes and points.

    Args:
        table: What `tables.tuning.parallel_table` gives, not empty.
    """
    kinds = [kind for kind in _KINDS if kind in set(table["kind"])]
    colours = [_KIND_COLOURS[_KINDS.index(kind)] for kind in kinds]
    dashes = {"shipped": [6, 3], "chosen": [1, 0], "best": [2, 2], "other": [1, 0]}
    across = altair.X(
        "parameter:N", sort=None, title=None, axis=altair.Axis(labelAngle=-60, labelLimit=170, labelOverlap=False)
    )
    up = altair.Y("position:Q", title="place between the bounds", scale=altair.Scale(domain=[0, 1]))
    legend = altair.Legend(title=None, orient="top", symbolType="stroke", symbolOpacity=1)
    colour = altair.Color("kind:N", scale=altair.Scale(domain=kinds, range=colours), legend=legend)
    plain = (
        altair.Chart(table[table["kind"] == "other"])
        .mark_line(strokeWidth=0.8, opacity=0.35)
        .encode(x=across, y=up, detail="trial:N", color=colour)
    )
    marked = (
        altair.Chart(table[table["kind"] != "other"])
        .mark_line(strokeWidth=2.2, point=altair.OverlayMarkDef(size=40))
        .encode(
            x=across,
            y=up,
            detail="trial:N",
            color=colour,
            strokeDash=altair.StrokeDash(
                "kind:N", scale=altair.Scale(domain=kinds, range=[dashes[kind] for kind in kinds]), legend=legend
            ),
            tooltip=["kind:N", "trial:N", "parameter:N", altair.Tooltip("position:Q", format=".2f")],
        )
    )
    said = ", ".join(
        f"{kind} (trial {table.loc[table['kind'] == kind, 'trial'].iloc[0]})" for kind in kinds if kind != "other"
    )
    text = (
        f"{table['trial'].nunique()} trials as lines over {table['parameter'].nunique()} parameters, each value by its "
        f"place between the bounds; marked are {said or 'none'}."
    )
    return Picture(chart=(plain + marked).properties(height=440), text=text)


def front_picture(table: pandas.DataFrame) -> Picture:
    """The Pareto front of two objectives, each point with the number of its trial.

    Args:
        table: What `tables.tuning.front_table` gives, not empty.
    """
    base = altair.Chart(table).encode(
        x=altair.X("first:Q", title="first objective", scale=altair.Scale(zero=False)),
        y=altair.Y("second:Q", title="second objective (larger is better)", scale=altair.Scale(zero=False)),
    )
    names = base.mark_text(dx=10, dy=-8, color=GREY).encode(text="trial:N")
    chart = base.mark_line(color=GREY, strokeDash=[3, 3]) + base.mark_point(
        filled=True, size=70, opacity=1, color=COLOURS[0]
    )
    text = (
        f"The Pareto front: {len(table)} trials that no other one beats in both objectives; the first objective goes "
        f"from {table['first'].min():.4f} to {table['first'].max():.4f}."
    )
    return Picture(chart=(chart + names).properties(height=280), text=text)


def gain_picture(table: pandas.DataFrame) -> Picture:
    """The gain with its interval where the profile was chosen, and on queries that were not seen.

    Args:
        table: What `tables.tuning.gain_table` gives, not empty.
    """
    row = altair.Y("queries:N", sort=None, title=None, axis=altair.Axis(labelLimit=150, labelFlush=False))
    bars = (
        altair.Chart(table.dropna(subset=["low", "high"]))
        .mark_rule(strokeWidth=2, color=COLOURS[0])
        .encode(
            x=altair.X("low:Q", title="chosen less shipped, 95% interval", axis=altair.Axis(tickCount=5)),
            x2="high:Q",
            y=row,
        )
    )
    points = (
        altair.Chart(table)
        .mark_point(filled=True, size=90, opacity=1, color=COLOURS[0])
        .encode(x="gain:Q", y=row, tooltip=["queries:N", altair.Tooltip("gain:Q", format="+.4f")])
    )
    zero = altair.Chart(pandas.DataFrame({"zero": [0.0]})).mark_rule(color=GREY, strokeDash=[4, 4]).encode(x="zero:Q")
    said = "; ".join(f"{each.queries} {each.gain:+.4f}" for each in table.itertuples())
    return Picture(
        chart=(zero + bars + points).properties(height=38 * len(table) + _FRAME_PIXELS), text=f"The gain: {said}."
    )
