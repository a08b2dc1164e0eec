"""The report on two rankers beside each other, and on several challengers beside one."""

from __future__ import annotations

from collections.abc import Sequence

from toolsearch_eval.compare import Comparison, Moved
from toolsearch_eval.reasons import Reason, side_text
from toolsearch_eval.report.document import Folded, Grid, Heading, Lines, Paragraph, Picture, Piece
from toolsearch_eval.report.numbers import interval_text, number_text, p_text, signed_text
from toolsearch_eval.report.pictures import can_draw, dumbbell_picture, forest_picture, svg_of
from toolsearch_eval.report.rows import ForestRow, challenger_rows, dumbbell_rows, forest_rows

FOREST_HEADER = ("", "queries", "groups", "difference", "p", "better", "equal", "worse", "detectable")
DRAWN_QUERIES = 30
"""Queries that moved most that a picture shows."""


def headline(comparison: Comparison) -> str:
    """The outcome in a sentence or two."""
    found = comparison.overall
    means = f"{number_text(comparison.mean_a)} and {number_text(comparison.mean_b)}"
    text = (
        f"{comparison.b} less {comparison.a} in {comparison.measure}: "
        f"{interval_text(found.difference, signed=True)}, p {p_text(found.p)}; {found.wins} groups better, "
        f"{found.ties} equal, {found.losses} worse. The means are {means}."
    )
    if found.detectable is not None:
        text += f" So many groups show a difference of {number_text(found.detectable)} with 80% power."
    if comparison.exploratory:
        text += f" {comparison.measure} is not the primary measure, so its p decides nothing."
    return text


def forest_grid(rows: Sequence[ForestRow], first: str) -> Grid:
    """The numbers of a forest plot; where there are too few groups it says so instead of a p."""
    return Grid(
        (first, *FOREST_HEADER[1:]),
        tuple(
            (
                row.label,
                str(row.queries),
                str(row.found.difference.n),
                interval_text(row.found.difference, signed=True),
                "too few to tell" if row.few else p_text(row.found.p),
                str(row.found.wins),
                str(row.found.ties),
                str(row.found.losses),
                number_text(row.found.detectable),
            )
            for row in rows
        ),
    )


def rank_changes(moved: Moved) -> list[tuple[str, str, str, str, str]]:
    """Both rankings side by side, a line for each rank: rank, a's tool, b's tool, what happened to it, its grade.

    What happened to b's tool: its rank in a where that is another one, `new` where a lacks it, `=` where it stands as
    it stood; a tool of a's that b lacks is marked `gone` behind its name.
    """
    before, after = moved.ranking_a, moved.ranking_b
    lines = []
    for place in range(max(len(before), len(after))):
        left = before[place] if place < len(before) else ""
        right = after[place] if place < len(after) else ""
        change = ""
        if right:
            old = before.index(right) if right in before else None
            change = "new" if old is None else "=" if old == place else f"was {old + 1}"
        gone = f"{left} (gone)" if left and left not in after else left
        grade = "" if right not in moved.grades else str(moved.grades[right])
        lines.append((str(place + 1), gone, right, change, grade))
    return lines


def reason_lines(reasons: Sequence[Reason], a: str, b: str) -> tuple[str, ...]:
    """What both sides say about each tool concerned."""
    lines = []
    for each in reasons:
        grade = "unjudged" if each.grade is None else f"grade {each.grade}"
        lines += [
            f"{each.tool} ({grade}), {a}: {side_text(each.a)}",
            f"{each.tool} ({grade}), {b}: {side_text(each.b)}",
        ]
    return tuple(lines)


def forest_piece(rows: Sequence[ForestRow], comparison: Comparison, *, name: str, title: str) -> Picture:
    """The forest plot of rows; empty where matplotlib is not installed."""
    if not can_draw():
        return Picture("")
    words = [f"{row.label} {interval_text(row.found.difference, signed=True)}" for row in rows]
    return Picture(
        svg_of(
            forest_picture(rows, str(comparison.measure), comparison.a, comparison.b),
            name=name,
            title=title,
            description=f"{title}: {'; '.join(words)}.",
        )
    )


def comparison_pieces(
    comparison: Comparison, reasons: Sequence[Sequence[Reason]], about: Sequence[str]
) -> tuple[Piece, ...]:
    """The whole report.

    Args:
        comparison: What was found.
        reasons: For the first queries of `moved`; those are shown with both rankings, the others as numbers alone.
        about: On what it was judged, a line each.
    """
    rows = forest_rows(comparison)
    pieces: list[Piece] = [
        Paragraph(headline(comparison)),
        Lines(tuple(about)),
        Heading("By slice"),
        forest_piece(rows, comparison, name="slices", title="Differences by slice"),
        forest_grid(rows, "slice"),
        Heading("Queries that moved most"),
    ]
    drawn = dumbbell_rows(comparison, DRAWN_QUERIES)
    if not drawn:
        return (*pieces, Paragraph("No query moved."))
    if can_draw():
        words = [f"{row.query_id} {number_text(row.a)} to {number_text(row.b)}" for row in drawn]
        pieces.append(
            Picture(
                svg_of(
                    dumbbell_picture(drawn, str(comparison.measure), comparison.a, comparison.b),
                    name="queries",
                    title="Queries that moved most",
                    description=f"{comparison.measure} of {comparison.a} and of {comparison.b}: {'; '.join(words)}.",
                )
            )
        )
    pieces.append(
        Grid(
            ("query", "slice", comparison.a, comparison.b, "change"),
            tuple(
                (row.query_id, row.slice, number_text(row.a), number_text(row.b), signed_text(row.b - row.a))
                for row in drawn
            ),
        )
    )
    for moved, why in zip(comparison.moved, reasons, strict=False):
        title = f"{moved.query.query_id}: {number_text(moved.a)} to {number_text(moved.b)}"
        grid = Grid(("rank", comparison.a, comparison.b, "change", "grade"), tuple(rank_changes(moved)))
        lines = Lines(reason_lines(why, comparison.a, comparison.b))
        pieces.append(Folded(title, (Paragraph(moved.query.text), grid, lines)))
    return tuple(pieces)


def against_pieces(comparisons: tuple[Comparison, ...]) -> tuple[Piece, ...]:
    """Several challengers beside one baseline; p is adjusted by Holm's procedure already."""
    if not comparisons:
        return ()
    baseline, measure = comparisons[0].a, comparisons[0].measure
    rows = challenger_rows(comparisons)
    title = f"Beside {baseline}"
    return (
        Heading(title),
        Paragraph(f"{measure}: each ranker less {baseline}; p by sign flips, adjusted for {len(rows)} by Holm."),
        forest_piece(rows, comparisons[0], name="against", title=title) if len(rows) > 1 else Paragraph(""),
        forest_grid(rows, "ranker"),
    )
