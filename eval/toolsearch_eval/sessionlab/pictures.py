"""Pictures of a simulation: what each strategy sends, and what it costs over catalog sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolsearch_eval.extras import require
from toolsearch_eval.sessionlab.lab import Totals
from toolsearch_eval.sessionlab.scaling import SizeRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of the palette of Okabe and Ito; the hatching and the marks tell the same without colour.
_USES = (("cached", "#56b4e9", ""), ("written", "#e69f00", "//"), ("new", "#d55e00", "xx"))
_LINES = (("#0072b2", "o", "-"), ("#d55e00", "s", "--"), ("#009e73", "^", "-."), ("#444444", "D", ":"))


def tokens_picture(rows: Sequence[tuple[str, Totals]]) -> Figure:
    """A bar for each strategy, parted into tokens read from the cache, written to it, and new.

    Raises:
        UsageError: matplotlib is not installed.
    """
    require("matplotlib", extra="eval", purpose="a picture")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 1.2 + 0.36 * max(1, len(rows))))
    axes = figure.add_subplot()
    left = [0.0] * len(rows)
    for name, color, hatch in _USES:
        sizes = [getattr(found, name) / 1_000_000 for _, found in rows]
        axes.barh(range(len(rows)), sizes, left=left, color=color, hatch=hatch, edgecolor="white", label=name)
        left = [start + size for start, size in zip(left, sizes, strict=True)]
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel("million tokens sent")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def sizes_picture(rows: Sequence[SizeRow], currency: str) -> Figure:
    """A line for each strategy: money over the number of deferred tools.

    Raises:
        UsageError: matplotlib is not installed.
    """
    require("matplotlib", extra="eval", purpose="a picture")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.0))
    axes = figure.add_subplot()
    names = list(dict.fromkeys(row.strategy for row in rows))
    for place, name in enumerate(names):
        color, marker, style = _LINES[place % len(_LINES)]
        points = sorted((row.tools, row.cost) for row in rows if row.strategy == name)
        axes.plot(*zip(*points, strict=True), color=color, marker=marker, linestyle=style, label=name)
    axes.set_xscale("log")
    axes.set_xlabel("deferred tools of the catalog")
    axes.set_ylabel(currency)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
