"""Pictures of rows, as SVG that stands inside a page: no script, no font and no image from elsewhere.

What a picture shows is told by marks and places, not by colour alone, and every picture comes with a text that says the
same. The same rows give the same bytes.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from toolsearch_eval.extras import require
from toolsearch_eval.report.escape import html_text, picture_text
from toolsearch_eval.report.rows import DumbbellRow, ForestRow, MeanRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Of the palette of Okabe and Ito, which most people with another colour vision tell apart.
_BLUE, _ORANGE, _GREY, _LINE = "#0072b2", "#d55e00", "#8c8c8c", "#444444"
_INCHES_A_ROW = 0.32


def can_draw() -> bool:
    """Whether the library that draws is installed."""
    return find_spec("matplotlib") is not None


def means_picture(rows: Sequence[MeanRow], measure: str) -> Figure:
    """Each ranker's mean with its interval, the first on top.

    Raises:
        UsageError: matplotlib is not installed.
    """
    figure, axes = _canvas(len(rows))
    for place, row in enumerate(rows):
        _interval(axes, place, row.interval.mean, row.interval.low, row.interval.high, _BLUE, "o")
    _labels(axes, [row.ranker for row in rows])
    axes.set_xlabel(f"{measure}, mean and 95% interval")
    return figure


def forest_picture(rows: Sequence[ForestRow], measure: str, a: str, b: str) -> Figure:
    """Differences with their intervals on both sides of zero, the first on top; hollow and grey where too few can tell.

    Raises:
        UsageError: matplotlib is not installed.
    """
    figure, axes = _canvas(len(rows))
    axes.axvline(0, color=_LINE, linewidth=0.8)
    for place, row in enumerate(rows):
        found = row.found.difference
        _interval(axes, place, found.mean, found.low, found.high, _GREY if row.few else _BLUE, "o", hollow=row.few)
    _labels(axes, [f"{row.label} ({row.found.difference.n})" for row in rows])
    axes.set_xlabel(f"{measure}: {picture_text(b)} less {picture_text(a)}, 95% interval (groups)")
    return figure


def dumbbell_picture(rows: Sequence[DumbbellRow], measure: str, a: str, b: str) -> Figure:
    """For each query the two values, joined by a line: a circle for a, a square for b.

    Raises:
        UsageError: matplotlib is not installed.
    """
    figure, axes = _canvas(len(rows) + 1)
    for place, row in enumerate(rows):
        axes.plot([row.a, row.b], [place, place], color=_GREY, linewidth=1.2, zorder=1)
    places = list(range(len(rows)))
    axes.scatter([row.a for row in rows], places, marker="o", color=_ORANGE, label=picture_text(a), zorder=2)
    axes.scatter([row.b for row in rows], places, marker="s", color=_BLUE, label=picture_text(b), zorder=3)
    _labels(axes, [row.query_id for row in rows])
    axes.set_xlim(-0.03, 1.03)
    axes.set_xlabel(measure)
    if rows:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.55 / (1 + 0.25 * len(rows))), ncols=2, frameon=False)
    return figure


def svg_of(figure: Figure, *, name: str, title: str, description: str) -> str:
    """A picture as an SVG element that may stand in a page beside others.

    Args:
        figure: The picture.
        name: Begins every id in it; letters and digits, another one for each picture of a page.
        title: What it is, in a few words.
        description: What it shows, for whoever can't see it.
    """
    require("matplotlib", extra="eval", purpose="a picture")
    import matplotlib

    settings: Any = {"svg.hashsalt": name, "svg.fonttype": "none", "font.family": ["sans-serif"]}
    out = io.StringIO()
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # A letter that the measuring font lacks is drawn by the reader's own font all the same.
        warnings.simplefilter("ignore")
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(out, format="svg", metadata=no_metadata, bbox_inches="tight")
    text = out.getvalue()
    text = text[text.index("<svg") :].strip()
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
    head, _, rest = text.partition(">")
    # A scale of its own instead of points, so that it shrinks with a narrow page.
    head = re.sub(r' (?:width|height|xmlns:xlink|version)="[^"]*"', "", head)
    head += f' role="img" aria-labelledby="{name}-title {name}-text"'
    words = f'<title id="{name}-title">{html_text(title)}</title><desc id="{name}-text">{html_text(description)}</desc>'
    return f"{head}>{words}{rest}".replace("xlink:href", "href")


def _canvas(rows: int) -> tuple[Figure, Axes]:
    require("matplotlib", extra="eval", purpose="a picture")
    from matplotlib.figure import Figure

    # Not from pyplot, which keeps every figure and is for one thread alone.
    figure = Figure(figsize=(7.0, 1.0 + _INCHES_A_ROW * max(rows, 1)))
    axes = figure.add_subplot()
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def _interval(
    axes: Axes,
    place: int,
    mean: float | None,
    low: float | None,
    high: float | None,
    color: str,
    marker: str,
    *,
    hollow: bool = False,
) -> None:
    if low is not None and high is not None:
        axes.plot([low, high], [place, place], color=color, linewidth=1.6)
        axes.plot([low, high], [place, place], color=color, linestyle="", marker="|", markersize=7)
    if mean is not None:
        axes.plot([mean], [place], color=color, marker=marker, markerfacecolor="white" if hollow else color)


def _labels(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), [picture_text(label) for label in labels])
    axes.set_ylim(max(len(labels), 1) - 0.5, -0.5)
