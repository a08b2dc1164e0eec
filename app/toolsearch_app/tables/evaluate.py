"""Two rankings of runs beside each other, as tables; nothing is ranked for any of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import pandas

from toolsearch.config import SearchConfig, from_toml
from toolsearch.errors import ToolSearchError
from toolsearch_app.text import line
from toolsearch_eval.compare import Comparison, Judged, Moved
from toolsearch_eval.measures import Measure
from toolsearch_eval.reasons import Reason, side_text
from toolsearch_eval.report.comparison import rank_changes
from toolsearch_eval.report.numbers import p_text
from toolsearch_eval.report.rows import DumbbellRow, ForestRow
from toolsearch_eval.runs.reading import Run
from toolsearch_eval.statistics import mean_interval

Moves = Literal["all", "better", "worse"]
ANY_SLICE: Final = "all slices"


def means_table(sides: Sequence[tuple[str, Judged, str]], measures: Sequence[Measure]) -> pandas.DataFrame:
    """Both sides' means with their 95% intervals: a row for each measure and side.

    Args:
        sides: How each is called, where it was judged, and its ranker there.
        measures: In the order of the rows.
    """
    rows = []
    for measure in measures:
        for label, judged, ranker in sides:
            groups = [query.group for query in judged.queries]
            found = mean_interval(judged.values(ranker, measure), groups)
            rows.append(
                {
                    "measure": str(measure),
                    "side": line(label),
                    "mean": found.mean,
                    "low": found.low,
                    "high": found.high,
                    "groups": found.n,
                }
            )
    return pandas.DataFrame(rows, columns=["measure", "side", "mean", "low", "high", "groups"])


def slices_table(rows: Sequence[ForestRow]) -> pandas.DataFrame:
    """The difference in each slice: its interval, p, groups better, equal and worse; few groups are said to be few."""
    found = [
        {
            "slice": line(row.label),
            "queries": row.queries,
            "groups": row.found.difference.n,
            "difference": row.found.difference.mean,
            "low": row.found.difference.low,
            "high": row.found.difference.high,
            "p": "too few to tell" if row.few else p_text(row.found.p),
            "better": row.found.wins,
            "equal": row.found.ties,
            "worse": row.found.losses,
            "detectable": row.found.detectable,
            "few": row.few,
        }
        for row in rows
    ]
    columns = ["slice", "queries", "groups", "difference", "low", "high", "p", "better", "equal", "worse", "detectable"]
    return pandas.DataFrame(found, columns=[*columns, "few"])


def chosen_moves(comparison: Comparison, moves: Moves, part: str = ANY_SLICE) -> tuple[Moved, ...]:
    """The queries that moved most of those that moved this way and are in this slice, largest move first."""
    return tuple(
        each
        for each in comparison.moved
        if (moves == "all" or (each.b > each.a) == (moves == "better")) and part in (ANY_SLICE, each.query.slice)
    )


def most_telling(moved: Sequence[Moved], limit: int) -> tuple[Moved, ...]:
    """Some of the queries that moved: half of them gains, half falls, more of the one where the other has too few.

    Args:
        moved: Largest move first.
        limit: How many at most.

    Returns:
        In their order.
    """
    gains = [each for each in moved if each.b > each.a]
    falls = [each for each in moved if each.b <= each.a]
    fallen = min(len(falls), max(limit // 2, limit - len(gains)))
    kept = {each.query.query_id for each in (*falls[:fallen], *gains[: limit - fallen])}
    return tuple(each for each in moved if each.query.query_id in kept)


def moves_table(moved: Sequence[Moved], limit: int) -> pandas.DataFrame:
    """A row for each of the queries that moved most: id, slice, both values, the change, and what was asked."""
    rows = [
        {
            "query": line(each.query.query_id, 60),
            "slice": line(each.query.slice, 60),
            "A": each.a,
            "B": each.b,
            "change": each.b - each.a,
            "text": line(each.query.text, 160),
        }
        for each in most_telling(moved, limit)
    ]
    return pandas.DataFrame(rows, columns=["query", "slice", "A", "B", "change", "text"])


def as_dumbbells(moved: Sequence[Moved], limit: int) -> tuple[DumbbellRow, ...]:
    """The same for drawing, largest gain first and the losses with the largest last."""
    rows = [
        DumbbellRow(query_id=each.query.query_id, text=each.query.text, slice=each.query.slice, a=each.a, b=each.b)
        for each in most_telling(moved, limit)
    ]
    return tuple(sorted(rows, key=lambda row: (row.a - row.b, row.query_id)))


def rankings_table(moved: Moved) -> pandas.DataFrame:
    """Both rankings of one query by rank, what happened to each tool of B, and its label."""
    rows = [
        {
            "rank": int(rank),
            "A": line(before) or "-",
            "B": line(after) or "-",
            "change in B": change,
            "grade of B": grade or ("unlabelled" if after else ""),
        }
        for rank, before, after, change, grade in rank_changes(moved)
    ]
    return pandas.DataFrame(rows, columns=["rank", "A", "B", "change in B", "grade of B"])


def needed_table(moved: Moved) -> pandas.DataFrame:
    """The tools that are labelled as answers of one query, best grade first, with their ranks on both sides."""

    def place(ranking: Sequence[str], tool: str) -> str:
        return str(ranking.index(tool) + 1) if tool in ranking else "-"

    wanted = sorted(
        (tool for tool, grade in moved.grades.items() if grade > 0), key=lambda tool: (-moved.grades[tool], tool)
    )
    rows = [
        {
            "tool": line(tool),
            "grade": moved.grades[tool],
            "rank in A": place(moved.ranking_a, tool),
            "rank in B": place(moved.ranking_b, tool),
        }
        for tool in wanted
    ]
    return pandas.DataFrame(rows, columns=["tool", "grade", "rank in A", "rank in B"])


def reasons_table(reasons: Sequence[Reason]) -> pandas.DataFrame:
    """What both sides say about the tools that a query's move is about."""
    rows = [
        {
            "tool": line(each.tool),
            "grade": "unlabelled" if each.grade is None else str(each.grade),
            "A": line(side_text(each.a), 600),
            "B": line(side_text(each.b), 600),
        }
        for each in reasons
    ]
    return pandas.DataFrame(rows, columns=["tool", "grade", "A", "B"])


def recorded_profile(run: Run, ranker: str) -> SearchConfig | None:
    """The profile that a ranker of a run had; None where it had none, or one that can't be read here."""
    recorded = run.manifest["rankers"][ranker]
    if recorded["kind"] != "profile":
        return None
    try:
        return from_toml(str(recorded["settings"].get("profile")))
    except ToolSearchError:
        return None
