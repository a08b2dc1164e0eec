"""Pictures: what rows say, what is drawn of them, and that the drawing is safe, complete and always the same."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from toolsearch.catalog.tool import Tool
from toolsearch_eval.compare import Comparison, compare, compare_all
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.evaluate import Evaluation, evaluate
from toolsearch_eval.measures import parse_measure
from toolsearch_eval.report.characters import forest_lines
from toolsearch_eval.report.comparison import against_pieces, comparison_pieces, headline, rank_changes
from toolsearch_eval.report.document import Picture, as_html
from toolsearch_eval.report.evaluation import evaluation_pieces
from toolsearch_eval.report.pictures import dumbbell_picture, forest_picture, means_picture, svg_of
from toolsearch_eval.report.rows import (
    ForestRow,
    MeanRow,
    challenger_rows,
    dumbbell_rows,
    forest_rows,
    mean_rows,
    slice_rows,
)
from toolsearch_eval.statistics import Difference, Interval

RR = parse_measure("RR@10")
SVG = "{http://www.w3.org/2000/svg}"


class Listed:
    """Gives each query the names that a table says."""

    keeps_order = True

    def __init__(self, name: str, table: dict[str, str]) -> None:
        """The name and, by text, one letter for each tool."""
        self.name = name
        self._table = table

    def index(self, tools: Any) -> None:
        """Nothing to do."""

    def rank(self, queries: Any, depth: int) -> list[list[tuple[str, float]]]:
        """As the table says."""
        return [[(name, 1.0) for name in self._table.get(query, "")] for query in queries]


@pytest.fixture
def evaluation() -> Evaluation:
    """Twelve queries in two slices; a is always right at rank 2, b at rank 1 in the slice `x$y$` and never in `z`."""
    queries = tuple(
        Query(query_id=f"q{number:02}", text=f"t{number}", slice="x$y$" if number < 10 else "z") for number in range(12)
    )
    data = DataSet(
        name="n", path="", tools=tuple(Tool(name=name) for name in "abc"), queries=queries,
        judgements={query.query_id: {"a": 2} for query in queries}, fingerprint="f" * 64,
    )  # fmt: skip
    first = Listed("first", {query.text: "ba" for query in queries})
    second = Listed("<second>", {query.text: "ac" if query.slice != "z" else "c" for query in queries})
    return evaluate(data, [first, second], measures=[RR])


@pytest.fixture
def comparison(evaluation: Evaluation) -> Comparison:
    """The two compared."""
    return compare(evaluation, "first", evaluation, "<second>", measure=RR, moved=12)


def test_the_rows_of_means(evaluation: Evaluation) -> None:
    """Each ranker with its mean and interval, in the order in which they were judged."""
    rows = mean_rows(evaluation, RR)
    assert [(row.ranker, row.interval.mean) for row in rows] == [("first", 0.5), ("<second>", pytest.approx(10 / 12))]
    assert rows[0].interval == Interval(0.5, 0.5, 0.5, 12)


def test_the_rows_of_slices(evaluation: Evaluation) -> None:
    """Each slice with every ranker's mean; of two groups nothing can be told."""
    rows = slice_rows(evaluation, RR)
    assert [(row.name, row.queries, row.groups, row.few) for row in rows] == [
        ("x$y$", 10, 10, False),
        ("z", 2, 2, True),
    ]
    assert {name: mean.mean for name, mean in rows[1].means.items()} == {"first": 0.5, "<second>": 0.0}


def test_the_rows_of_a_forest(comparison: Comparison) -> None:
    """First overall, then each slice: b less a."""
    rows = forest_rows(comparison)
    assert [(row.label, row.queries, row.few) for row in rows] == [
        ("overall", 12, False),
        ("x$y$", 10, False),
        ("z", 2, True),
    ]
    assert [row.found.difference.mean for row in rows] == [pytest.approx(4 / 12), 0.5, -0.5]


def test_the_rows_of_challengers(evaluation: Evaluation) -> None:
    """One row for each ranker but the baseline."""
    rows = challenger_rows(compare_all(evaluation, "first", measure=RR))
    assert [(row.label, row.queries) for row in rows] == [("<second>", 12)]


def test_the_rows_of_a_dumbbell(comparison: Comparison) -> None:
    """Gains first, losses last; of many the ones that moved most, ties by id."""
    rows = dumbbell_rows(comparison)
    assert [row.query_id for row in rows] == [*(f"q{number:02}" for number in range(10)), "q10", "q11"]
    assert [(row.a, row.b) for row in rows] == [(0.5, 1.0)] * 10 + [(0.5, 0.0)] * 2
    assert len(dumbbell_rows(comparison, 3)) == 3


def axes_of(figure: Figure) -> Axes:
    """The one pair of axes."""
    [axes] = figure.axes
    return axes


def test_a_forest_shows_each_row_at_its_place(comparison: Comparison) -> None:
    """The marks stand at the differences, the lines span the intervals, and too few groups are drawn hollow."""
    rows = forest_rows(comparison)
    axes = axes_of(forest_picture(rows, "RR@10", "first", "<second>"))
    marks = [line for line in axes.lines if line.get_marker() == "o"]
    assert [float(line.get_xdata()[0]) for line in marks] == [row.found.difference.mean for row in rows]  # type: ignore[index,arg-type]
    assert [line.get_markerfacecolor() == "white" for line in marks] == [False, False, True]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["overall (12)", r"x\$y\$ (10)", "z (2)"]
    assert axes.get_ylim() == (2.5, -0.5)


def test_means_and_dumbbells_show_their_values(evaluation: Evaluation, comparison: Comparison) -> None:
    """A mark for each mean, and two of different shape for each query."""
    means = axes_of(means_picture(mean_rows(evaluation, RR), "RR@10"))
    marks = [line for line in means.lines if line.get_marker() == "o"]
    assert [float(line.get_xdata()[0]) for line in marks] == [0.5, pytest.approx(10 / 12)]  # type: ignore[index,arg-type]
    rows = dumbbell_rows(comparison)
    first, second = axes_of(dumbbell_picture(rows, "RR@10", "first", "<second>")).collections
    assert [point[0] for point in first.get_offsets().tolist()] == [row.a for row in rows]  # type: ignore[union-attr]
    assert [point[0] for point in second.get_offsets().tolist()] == [row.b for row in rows]  # type: ignore[union-attr]
    assert first.get_paths()[0].vertices.shape != second.get_paths()[0].vertices.shape  # type: ignore[union-attr]


EMPTY = Interval(None, None, None, 0)
NOTHING = Difference(difference=EMPTY, p=1.0, wins=0, ties=0, losses=0, detectable=None, effect_size=None)


@pytest.mark.parametrize(
    "figure",
    [
        lambda: means_picture([], "M"),
        lambda: means_picture([MeanRow(ranker="r", interval=EMPTY)], "M"),
        lambda: forest_picture([ForestRow(label="l", queries=0, found=NOTHING, few=True)], "M", "a", "b"),
        lambda: forest_picture([], "M", "a", "b"),
        lambda: dumbbell_picture([], "M", "a", "b"),
    ],
)
def test_nothing_can_be_drawn_too(figure: Any) -> None:
    """No row, and a row without a number, are pictures without marks."""
    assert svg_of(figure(), name="n", title="t", description="d").startswith("<svg")


def test_a_picture_is_an_element_that_says_what_it_shows(comparison: Comparison) -> None:
    """The SVG is well formed, has a title and a text for whoever can't see it, real letters and no addresses to load."""
    rows = forest_rows(comparison)
    text = svg_of(forest_picture(rows, "RR@10", "first", "<second>"), name="n", title="T & t", description="<d>")
    root = ElementTree.fromstring(text)
    assert (root.tag, root.get("role"), root.get("aria-labelledby")) == (f"{SVG}svg", "img", "n-title n-text")
    assert [element.text for element in root[:2]] == ["T & t", "<d>"]
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert {"overall (12)", "x$y$ (10)", "RR@10: <second> less first, 95% interval (groups)"} <= set(words)
    assert {element.tag for element in root.iter()}.isdisjoint({f"{SVG}script", f"{SVG}image", f"{SVG}metadata"})
    links = [value for element in root.iter() for name, value in element.attrib.items() if "href" in name]
    assert all(link.startswith("#n-") for link in links)
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(set(ids)) == len(ids)
    assert all(str(name).startswith("n-") for name in ids)


def test_labels_from_data_are_letters_and_nothing_else() -> None:
    """Formulas, markup, control characters, other scripts and long texts can't break a picture."""
    labels = ["$\\frac{1}{2}$", "</text><script>", "a\x00b\x1b", "工具 اختبار", "x" * 500, "\\$", "$", "a_b^c"]
    rows = [MeanRow(ranker=label, interval=Interval(0.5, 0.4, 0.6, 20)) for label in labels]
    root = ElementTree.fromstring(svg_of(means_picture(rows, "M"), name="n", title="t", description="d"))
    words = [element.text for element in root.iter(f"{SVG}text")]
    for shown in ("$\\frac{1}{2}$", "</text><script>", "a\\x00b\\x1b", "工具 اختبار", "x" * 39 + "…", "a_b^c"):
        assert shown in words


def test_the_same_rows_give_the_same_bytes(comparison: Comparison) -> None:
    """Neither time nor chance is in a picture."""
    rows = forest_rows(comparison)
    first, second = (
        svg_of(forest_picture(rows, "RR@10", "a", "b"), name="n", title="t", description="d") for _ in range(2)
    )
    assert first == second


def test_plain_characters_keep_one_scale() -> None:
    """Zero stands in the middle of each line, the largest bound at the edge, and what has no interval is a mark alone."""
    lines = forest_lines(
        [Interval(0.5, 0.0, 1.0, 9), Interval(-0.5, -0.5, -0.5, 9), Interval(0.5, None, None, 1), EMPTY], 9
    )
    assert lines == ["    |-o-]", "  o |", "    | o", "    |"]
    assert forest_lines([Interval(0.0, 0.0, 0.0, 5)], 3) == [" o"]


def test_the_headline(comparison: Comparison) -> None:
    """Who beside whom, by how much, how sure, and that the measure is not the one that decides."""
    text = headline(comparison)
    assert text.startswith("<second> less first in RR@10: +0.333 [")
    assert "10 groups better, 0 equal, 2 worse. The means are 0.500 and 0.833." in text
    assert text.endswith("RR@10 is not the primary measure, so its p decides nothing.")


def test_rankings_side_by_side(comparison: Comparison) -> None:
    """What moved says from where, what came is new, and what went is gone."""
    moved = next(each for each in comparison.moved if each.query.slice != "z")
    assert rank_changes(moved) == [("1", "b (gone)", "a", "was 2", "2"), ("2", "a", "c", "new", "")]


def test_a_report_holds_every_number_of_its_pictures(evaluation: Evaluation, comparison: Comparison) -> None:
    """Beside each picture stands a table, also where matplotlib is not there to draw."""
    against = compare_all(evaluation, "first", measure=RR)
    pieces = evaluation_pieces(evaluation, [RR], evaluation.to_json(), against=against, about=("Made now.",))
    page = as_html("t", pieces)
    for number in ("0.500 [0.500, 0.500]", "+0.333 [", "too few to tell", "Made now.", "&lt;second&gt;"):
        assert number in page
    assert "<second>" not in page
    assert sum(isinstance(piece, Picture) for piece in pieces) == 1  # one challenger needs no forest
    whole = comparison_pieces(comparison, [[]], ("On n.",))
    assert sum(isinstance(piece, Picture) for piece in whole) == 2
    assert against_pieces(()) == ()


def test_without_the_library_the_numbers_stand_alone(
    evaluation: Evaluation, comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reports are made all the same, and say which extra draws."""
    for module in ("evaluation", "comparison"):
        monkeypatch.setattr(f"toolsearch_eval.report.{module}.can_draw", lambda: False)
    page = as_html("t", evaluation_pieces(evaluation, [RR], evaluation.to_json()))
    page += as_html("t", comparison_pieces(comparison, [], ()))
    assert "<svg" not in page
    assert page.count("Pictures need matplotlib; install toolsearch[eval].") == 2
    assert "0.500 [0.500, 0.500]" in page
