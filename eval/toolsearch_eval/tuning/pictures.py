"""Draws what `views` has made; each picture comes with a text that says what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from toolsearch_eval.extras import require
from toolsearch_eval.report.escape import picture_text
from toolsearch_eval.report.pictures import svg_of
from toolsearch_eval.tuning.views import Views

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#8A8A8A"
"""Colours that most people with another colour vision tell apart (Okabe and Ito); shapes differ too."""
_WIDTH = 8.0
_SHOWN_LINES = 60


def pictures_of(views: Views) -> Mapping[str, str]:
    """SVG elements by name; a picture without data is left out, and the same data give the same bytes.

    Raises:
        UsageError: matplotlib is not installed.
    """
    require("matplotlib", extra="eval", purpose="a picture")
    from matplotlib.figure import Figure

    parameters = len(views.parameters)
    drawn: dict[str, tuple[bool, float, Callable[[Axes, Views], None], str]] = {
        "history": (True, 3.2, _history, "The score of every trial and the best so far"),
        "importances": (bool(views.importances), 1.2 + 0.2 * parameters, _importances, "Importance of the parameters"),
        "parallel": (parameters > 1, 4.5, _parallel, "Trials in parallel coordinates"),
        "neighbourhood": (
            bool(views.neighbours),
            1.2 + 0.3 * parameters,
            _neighbours,
            "The chosen profile with one number a tenth lower or higher",
        ),
        "slices": (True, 1.2 + 0.25 * len(views.slices), _slices, "Slices before and after"),
        "front": (len(views.front) > 1, 3.6, _front, "The Pareto front of both objectives"),
    }
    found = {}
    for name, (there, height, draw, title) in drawn.items():
        if there:
            # Not from pyplot, which keeps every figure and is for one thread alone.
            figure = Figure(figsize=(_WIDTH, height))
            draw(figure.add_subplot(), views)
            text = f"{title}. The table beside it holds the numbers."
            found[name] = svg_of(figure, name=name, title=title, description=text)
    return found


def _history(axes: Axes, views: Views) -> None:
    for feasible, marker, colour, label in ((True, "o", BLUE, "trial"), (False, "x", RED, "breaks a constraint")):
        points = [point for point in views.history if point.feasible is feasible]
        if points:
            axes.scatter(
                [point.trial for point in points], [point.score for point in points],
                s=12, marker=marker, color=colour, label=label, alpha=0.6,
            )  # fmt: skip
    known = [(point.trial, point.best) for point in views.history if point.best is not None]
    axes.step(
        [trial for trial, _ in known], [best for _, best in known], where="post", color=ORANGE, label="best so far"
    )
    axes.axhline(views.history[0].score, color=GREY, linestyle="--", linewidth=1, label="shipped")
    axes.set_xlabel("trial")
    axes.set_ylabel("mean on dev")
    axes.legend(loc="lower right")


def _importances(axes: Axes, views: Views) -> None:
    shown = list(reversed(views.importances))
    axes.barh([each.parameter for each in shown], [each.share for each in shown], color=BLUE)
    axes.set_xlabel("share of importance")


def _parallel(axes: Axes, views: Views) -> None:
    places = range(len(views.parameters))
    plain = [line for line in views.lines if not line.kind][-_SHOWN_LINES:]
    for rank, line in enumerate(plain):
        axes.plot(places, line.positions, color=GREY, alpha=0.1 + 0.5 * rank / max(1, len(plain)), linewidth=0.7)
    styles = {"best": (BLUE, ":", "s"), "shipped": (ORANGE, "--", "^"), "chosen": (GREEN, "-", "o")}
    for line in views.lines:
        if line.kind in styles:
            colour, dashes, marker = styles[line.kind]
            axes.plot(
                places, line.positions, color=colour, linestyle=dashes, marker=marker, markersize=4,
                label=f"{line.kind} (trial {line.trial})",
            )  # fmt: skip
    axes.set_xticks(list(places), views.parameters, rotation=60, ha="right")
    axes.set_ylabel("place between the bounds")
    axes.set_ylim(-0.03, 1.03)
    axes.legend(loc="best")


def _neighbours(axes: Axes, views: Views) -> None:
    names = list(reversed(views.parameters))
    for each in views.neighbours:
        row = names.index(each.parameter) + (0.15 if each.higher else -0.15)
        low, high = (each.difference if bound is None else bound for bound in (each.low, each.high))
        axes.plot([low, high], [row, row], color=GREY, linewidth=1)
        colour, marker = (ORANGE, "^") if each.higher else (BLUE, "v")
        axes.plot([each.difference], [row], color=colour, marker=marker, markersize=5)
    axes.axvline(0.0, color=GREY, linewidth=1)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("change of the mean on dev, with 95% interval (v: a tenth less, ^: a tenth more)")


def _slices(axes: Axes, views: Views) -> None:
    shown = list(reversed(views.slices))
    for row, each in enumerate(shown):
        colour = GREY if each.few else BLUE
        axes.plot([each.before, each.after], [row, row], color=colour, linewidth=1)
        axes.plot([each.before], [row], color=ORANGE, marker="^", markersize=5)
        axes.plot([each.after], [row], color=colour, marker="o", markersize=5)
    labels = [f"{each.data}: {each.name or 'all'} ({each.queries})" for each in shown]
    axes.set_yticks(range(len(shown)), [picture_text(label, 60) for label in labels])
    axes.set_xlabel("mean on dev (^: shipped, o: chosen; grey: too few groups to tell)")


def _front(axes: Axes, views: Views) -> None:
    axes.step([first for _, first, _ in views.front], [second for _, _, second in views.front], where="pre", color=GREY)
    axes.scatter([first for _, first, _ in views.front], [second for _, _, second in views.front], color=BLUE)
    for number, first, second in views.front:
        axes.annotate(str(number), (first, second), textcoords="offset points", xytext=(4, 4))
    axes.set_xlabel("first objective")
    axes.set_ylabel("second objective (larger is better)")
