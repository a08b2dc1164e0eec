"""The report on a study: Markdown, one HTML page with its pictures, and the data of the pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolsearch_eval.report.document import Folded, Grid, Heading, Paragraph, Picture, Piece, as_html, as_markdown
from toolsearch_eval.report.numbers import interval_text, number_text, p_text, signed_text
from toolsearch_eval.report.pictures import can_draw
from toolsearch_eval.statistics import Difference, Interval
from toolsearch_eval.tuning.macro import macro_interval
from toolsearch_eval.tuning.outcome import Tuned
from toolsearch_eval.tuning.pictures import pictures_of
from toolsearch_eval.tuning.profile_file import write_text
from toolsearch_eval.tuning.views import Views, views_of

FILES = ("report.md", "report.html", "study.json")
"""What a report is written to, beside the profile."""
_TOP = 10


def write_report(tuned: Tuned, form: Mapping[str, Any], folder: str | Path) -> Path:
    """Write the report and its data to a folder.

    Args:
        tuned: What came out.
        form: The machine-readable form, kept with the pictures' data for a dashboard.
        folder: Where; made where it is missing.

    Returns:
        The page.

    Raises:
        UsageError: A file can't be written.
    """
    views = views_of(tuned)
    pieces = report_pieces(tuned, views, pictures_of(views) if can_draw() else {})
    title = f"Tuning of {tuned.space.profile.name}"
    data = {**form, "shipped": tuned.space.shipped, "views": views.to_json()}
    texts = (
        as_markdown(title, pieces),
        as_html(title, pieces),
        json.dumps(data, indent=1, allow_nan=False) + "\n",
    )
    for name, text in zip(FILES, texts, strict=True):
        write_text(Path(folder) / name, text)
    return Path(folder) / "report.html"


def report_pieces(tuned: Tuned, views: Views, pictures: Mapping[str, str]) -> list[Piece]:
    """The report's pieces.

    Args:
        tuned: What came out.
        views: The data of the pictures.
        pictures: The pictures by name; what is missing is told by its table alone.
    """
    shown = {name: (Picture(svg),) for name, svg in pictures.items()}
    pieces: list[Piece] = [
        Paragraph(tuned.verdict),
        *(Paragraph(f"Warning: {warning}") for warning in tuned.warnings),
        _gains(tuned),
        Paragraph(_optimism(tuned)),
        Heading("The chosen profile"),
        _chosen(tuned),
        Paragraph(_why(tuned)),
        Heading("History"),
        *shown.get("history", ()),
        Folded(f"The {_TOP} best trials", (_best(tuned),)),
    ]
    if views.importances:
        rows = tuple((each.parameter, number_text(each.share)) for each in views.importances)
        pieces += [
            Heading("Importance of the parameters"),
            *shown.get("importances", ()),
            Folded("As a table", (Grid(("parameter", "share"), rows),)),
        ]
    pieces += [
        Heading("Trials in parallel coordinates"),
        *shown.get("parallel", ()),
        Folded("Bounds", (_bounds(views),)),
    ]
    pieces += [
        Heading("Neighbourhood"),
        Paragraph("The chosen profile with one number a tenth lower or higher: how steep the hill is where we stand."),
        *shown.get("neighbourhood", ()),
        Folded("As a table", (_neighbours(views),)),
        Heading("Slices before and after, on dev"),
        *shown.get("slices", ()),
        _slices(views),
    ]
    if tuned.front:
        pieces += [Heading("Pareto front"), *shown.get("front", ()), _front(tuned)]
    pieces += [Heading("How it was made"), _provenance(tuned)]
    return pieces


def _gains(tuned: Tuned) -> Grid:
    rows = []
    found: list[tuple[str, Difference | None, Interval | None, Interval | None]] = [
        ("dev (chosen here)", tuned.dev, macro_interval(tuned.shipped.groups), macro_interval(tuned.chosen.groups)),
        ("nested folds (unseen)", tuned.nested.gain if tuned.nested else None, None, None),
        ("test (unseen)", tuned.test.gain if tuned.test else None, None, None),
    ]
    for name, gain, before, after in found:
        if gain is not None:
            means = (number_text(each.mean) if each else "" for each in (before, after))
            if tuned.test is not None and gain is tuned.test.gain:
                means = (number_text(value) for value in (tuned.test.before, tuned.test.after))
            rows.append(
                (
                    name,
                    *means,
                    interval_text(gain.difference, signed=True),
                    p_text(gain.p),
                    f"{gain.wins} / {gain.ties} / {gain.losses}",
                    number_text(gain.detectable),
                )
            )
    header = ("queries", "shipped", "chosen", "gain", "p", "better / equal / worse", "detectable")
    return Grid(header, tuple(rows))


def _optimism(tuned: Tuned) -> str:
    parts = ["The gain on dev is too good to be true: the profile was chosen there."]
    if tuned.nested is not None:
        parts.append(
            f"In {len(tuned.nested.folds)} folds of {tuned.nested.trials} trials each the gain was "
            f"{signed_text(tuned.nested.seen)} on the queries that were tuned on and "
            f"{signed_text(tuned.nested.gain.difference.mean)} on those that were not: "
            f"{signed_text(tuned.nested.optimism)} of it is optimism."
        )
    if tuned.test is not None:
        parts.append(f"The test split has been seen by {tuned.test.openings} configurations, this one too.")
    else:
        parts.append("The test split stayed closed.")
    return " ".join(parts)


def _chosen(tuned: Tuned) -> Grid:
    rows = tuple(
        (each.name, f"{tuned.space.shipped[each.name]:g}", f"{tuned.chosen.values[each.name]:g}")
        for each in tuned.space.parameters
    )
    return Grid(("parameter", "shipped", f"trial {tuned.chosen.number}"), rows)


def _why(tuned: Tuned) -> str:
    if tuned.choice is None:
        return "No trial meets the constraints."
    best = tuned.trial(tuned.choice.best)
    text = (
        f"The best of {len(tuned.trials)} trials is trial {best.number} with {number_text(best.scores[0], 4)}. "
        f"{tuned.choice.as_good} trials lie within one standard error of their paired difference to it; of these trial "
        f"{tuned.choice.chosen} is the nearest to the shipped profile."
    )
    if tuned.choice.chosen == best.number:
        return text
    loss, error = number_text(tuned.choice.loss, 4), number_text(tuned.choice.error, 4)
    return f"{text} It is worse by {loss}, with an error of {error}."


def _best(tuned: Tuned) -> Grid:
    ranked = sorted(tuned.trials, key=lambda trial: (-trial.scores[0], trial.number))[:_TOP]
    rows = tuple(
        (
            str(trial.number),
            number_text(trial.scores[0], 4),
            number_text(tuned.space.distance(trial.values)),
            "yes" if trial.feasible else "no",
        )
        for trial in ranked
    )
    return Grid(("trial", "mean on dev", "distance to shipped", "meets the constraints"), rows)


def _bounds(views: Views) -> Grid:
    rows = tuple(
        (name, f"{low:g}", f"{high:g}", "logarithmic" if log else "even")
        for name, (low, high, log) in zip(views.parameters, views.bounds, strict=True)
    )
    return Grid(("parameter", "lowest", "highest", "scale"), rows)


def _neighbours(views: Views) -> Grid:
    rows = tuple(
        (
            each.parameter,
            f"{each.value:g}",
            interval_text(Interval(each.difference, each.low, each.high, 0), signed=True),
        )
        for each in views.neighbours
    )
    return Grid(("parameter", "value", "change on dev"), rows)


def _slices(views: Views) -> Grid:
    rows = tuple(
        (
            f"{each.data}: {each.name or 'all'}",
            str(each.queries),
            number_text(each.before),
            number_text(each.after),
            "too few to tell"
            if each.few
            else interval_text(Interval(each.after - each.before, each.low, each.high, 0), signed=True),
        )
        for each in views.slices
    )
    return Grid(("slice", "queries", "shipped", "chosen", "difference"), rows)


def _front(tuned: Tuned) -> Grid:
    second = tuned.settings.demands.second or ""
    rows = tuple(
        (str(number), *(number_text(abs(score), 4) for score in tuned.trial(number).scores)) for number in tuned.front
    )
    return Grid(("trial", str(tuned.settings.measure), second), rows)


def _provenance(tuned: Tuned) -> Grid:
    settings = tuned.settings
    rows = (
        ("study", tuned.study),
        ("trials", str(len(tuned.trials))),
        ("sampler", settings.sampler),
        ("seed", str(settings.seed)),
        ("trials proposed at once", str(settings.batch)),
        ("measure", str(settings.measure)),
        ("space", tuned.space.fingerprint),
        *((f"data: {each.name}, {each.split}", each.fingerprint) for each in tuned.sets),
    )
    return Grid(("what", "value"), rows)
