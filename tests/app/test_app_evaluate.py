from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import toolsearch_app
import toolsearch_eval.rankers.profiles as profiles
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, REFERENCE
from toolsearch_app.figures.evaluate import dumbbell_picture, forest_picture
from toolsearch_app.settings import VARIABLE
from toolsearch_app.tables.evaluate import (
    as_dumbbells,
    chosen_moves,
    means_table,
    most_telling,
    moves_table,
    needed_table,
    rankings_table,
    recorded_profile,
    slices_table,
)
from toolsearch_eval.compare import Comparison, compare
from toolsearch_eval.data import load_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.report.rows import forest_rows
from toolsearch_eval.runs.folder import write_run
from toolsearch_eval.runs.reading import Run, read_run
from toolsearch_eval.statistics import mean_interval

MAIN = Path(toolsearch_app.__file__).parent / "main.py"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one good run of two profiles, and a damaged one."""
    root = tmp_path_factory.mktemp("runs")
    rankers = [resolve_ranker(name) for name in ("reference", "default")]
    judged = evaluate(load_data("tiny"), rankers, split="all", progress=False)
    write_run(judged, root / "good", created="2026-01-01T00:00:00+00:00")
    write_run(judged, root / "bad", created="2026-01-02T00:00:00+00:00")
    (root / "bad" / "manifest.json").write_text("{", encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def run(runs: Path) -> Run:
    """The good run, read back."""
    return read_run(runs / "good")


@pytest.fixture(scope="module")
def found(run: Run) -> Comparison:
    """Its two rankers beside each other, with every query that moved."""
    return compare(run, "reference", run, "default", moved=len(run.queries))


def _start(patch: pytest.MonkeyPatch, runs: Path, *, edit: bool) -> AppTest:
    missing = {name: str(runs / f"no-{name}") for name in ("profiles", "studies", "baselines")}
    patch.setenv(VARIABLE, json.dumps({**missing, "runs": str(runs), "edit": edit}))
    st.cache_resource.clear()
    page = AppTest.from_file(str(MAIN), default_timeout=60)
    page.switch_page("views/evaluate.py")
    return page.run()


@pytest.fixture(scope="module")
def app(runs: Path) -> Iterator[AppTest]:
    """The page as it opens on the two runs."""
    with pytest.MonkeyPatch.context() as patch:
        yield _start(patch, runs, edit=False)


def test_means_are_those_of_the_run(run: Run) -> None:
    """Each side's mean and interval is the run's own, measure by measure."""
    table = means_table([("A", run, "reference"), ("B", run, "default")], run.measures[:1])
    groups = [query.group for query in run.queries]
    expected = [mean_interval(run.values(name, run.measures[0]), groups) for name in ("reference", "default")]
    assert table["mean"].tolist() == [each.mean for each in expected]
    assert table["low"].tolist() == [each.low for each in expected]


def test_slices_and_their_picture_say_the_same(found: Comparison) -> None:
    """The forest has a row for all and one for each slice; few groups are said to be few in table, picture and text."""
    rows = forest_rows(found)
    table = slices_table(rows)
    assert table["slice"].tolist() == ["overall", *(part.name for part in found.slices)]
    few = [row.label for row in rows if row.few]
    assert few
    assert set(table.loc[table["few"], "p"]) == {"too few to tell"}
    picture = forest_picture(rows, table, "nDCG@10")
    assert picture.text.count("too few to tell") == len(few)


def test_moves_are_told_apart(found: Comparison) -> None:
    """Gains and losses together are all that moved, each of them goes its way, and a slice keeps its own."""
    better, worse = (chosen_moves(found, way) for way in ("better", "worse"))
    assert len(better) + len(worse) == len(found.moved) > 0
    assert all(each.b > each.a for each in better)
    assert all(each.b < each.a for each in worse)
    part = found.moved[0].query.slice
    assert {each.query.slice for each in chosen_moves(found, "all", part)} == {part}


def test_dumbbells_and_table_hold_the_same_queries(found: Comparison) -> None:
    """The picture's rows are those of the table, the largest gain first, and its text begins with it."""
    rows = as_dumbbells(found.moved, 3)
    table = moves_table(found.moved, 3)
    assert sorted(row.query_id for row in rows) == sorted(table["query"])
    assert [row.b - row.a for row in rows] == sorted((row.b - row.a for row in rows), reverse=True)
    assert f"largest gain first: {rows[0].query_id} " in dumbbell_picture(rows, "nDCG@10").text


def test_few_places_hold_gains_and_falls_both(run: Run, found: Comparison) -> None:
    """Of two places one is the largest gain's and one the worst fall's; where one kind is few the other takes its place."""
    backwards = compare(run, "default", run, "reference", moved=len(run.queries))
    better, worse = chosen_moves(found, "better"), chosen_moves(backwards, "worse")
    assert better and worse
    both = (*better, *worse)
    assert most_telling(both, 2) == (better[0], worse[0])
    assert most_telling(both, len(both)) == both
    assert most_telling((*better, worse[0]), 5) == (*better[:4], worse[0])


def test_one_query_has_both_rankings_and_what_it_needs(found: Comparison) -> None:
    """The rankings stand as they were judged, and each needed tool has its rank on both sides."""
    moved = found.moved[0]
    table = rankings_table(moved)
    assert [name for name in table["B"] if name != "-"] == list(moved.ranking_b)
    for row in needed_table(moved).to_dict("records"):
        expected = str(moved.ranking_b.index(row["tool"]) + 1) if row["tool"] in moved.ranking_b else "-"
        assert (row["rank in B"], row["grade"]) == (expected, moved.grades[row["tool"]])


def test_profiles_of_a_run_are_those_it_was_made_with(run: Run) -> None:
    """The settings of each side come from the run, not from what is installed now."""
    assert (recorded_profile(run, "default"), recorded_profile(run, "reference")) == (DEFAULT, REFERENCE)


def test_page_shows_the_run_and_says_what_is_damaged(app: AppTest) -> None:
    """The good run is compared with all its charts, and the damaged one is named with its fault as text."""
    assert not app.exception and not app.error
    assert len(app.warning) == 1
    assert app.warning[0].value.startswith("Run bad can't be read")
    assert [metric.label for metric in app.metric][:2] == ["B less A", "p (sign flips)"]
    assert len(app.get("vega_lite_chart")) == 2
    assert all(chart.proto.alt for chart in app.get("vega_lite_chart"))


def test_views_rank_nothing_until_reasons_are_asked_for(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every choice of the page is a view of what the run holds; only the reasons ask the rankers."""
    asked: list[int] = []
    index = profiles.ProfileRanker.index

    def counted(self: profiles.ProfileRanker, tools: Sequence[Tool]) -> None:
        asked.append(len(tools))
        index(self, tools)

    monkeypatch.setattr(profiles.ProfileRanker, "index", counted)
    app.selectbox(key="ranker_a").set_value("default")
    app.selectbox(key="ranker_b").set_value("reference")
    app.selectbox(key="measure").set_value("Recall@5")
    app.number_input(key="most").set_value(5)
    app.run()
    app.selectbox(key="measure").set_value("nDCG@10").run()
    app.selectbox(key="moves").set_value("worse in B").run()
    app.selectbox(key="query").set_value(app.selectbox(key="query").options[-1]).run()
    app.selectbox(key="slice").set_value(app.selectbox(key="slice").options[1]).run()
    assert not app.exception and not app.error
    assert asked == []
    app.selectbox(key="slice").set_value("all slices").run()
    app.toggle(key="why").set_value(True).run()
    assert asked
    assert re.match(r"- A: .*rank.*\n- B: .*rank", app.markdown[-1].value)


def test_one_ranker_beside_itself_moves_nothing(app: AppTest) -> None:
    """Where both sides are the same the page says so, and shows no empty chart."""
    app.selectbox(key="ranker_a").set_value("default")
    app.selectbox(key="ranker_b").set_value("default").run()
    assert any("No query moved" in each.value for each in app.info)
    assert any("same settings" in each.value for each in app.caption)


def test_first_run_is_made_from_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a run the page names the command; read-only it offers no more, with --edit its button makes the run."""
    root = tmp_path / "runs"
    closed = _start(monkeypatch, root, edit=False)
    assert "toolsearch eval --data builtin" in closed.code[0].value
    assert not closed.button
    page = _start(monkeypatch, root, edit=True)
    page.selectbox(key="first_data").set_value("tiny").run()
    next(button for button in page.button if button.label == "Judge reference, default, bm25f").click().run()
    assert not page.exception and not page.error
    assert list(read_run(root / "first").rankings) == ["reference", "default", "bm25f"]
    assert page.selectbox(key="run_a").value == "first"
