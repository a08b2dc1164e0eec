"""The page on data health: what it shows, and grades that find their way into the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from toolsearch_app.figures.health import coverage_picture, judged_picture
from toolsearch_app.tables.health import coverage_table, judged_table
from toolsearch_eval.data import load_data
from toolsearch_eval.data_health import JudgedShare, coverage
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.runs.folder import write_run

HOSTILE = "<img src=x onerror=alert(1)> **bold** $x$ :red[hot]"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A small data set with a hostile description, and a run on it that brings unjudged tools."""
    root = tmp_path_factory.mktemp("health")
    folder = root / "mine"
    folder.mkdir()
    tools = [
        {"name": "send_mail", "description": f"Send a mail. {HOSTILE}"},
        {"name": "read_mail", "description": "Read a mail."},
        {"name": "list_files", "description": "List files."},
        {"name": "never_asked", "description": "Zzz."},
    ]
    queries = [
        {"query_id": "q1", "text": "send a mail", "slice": "exact", "split": "dev"},
        {"query_id": "q2", "text": "list all files", "slice": "exact", "split": "test"},
    ]
    for name, rows in (("catalog.jsonl", tools), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "qrels.tsv").write_text("query_id\ttool\tgrade\nq1\tsend_mail\t2\nq2\tlist_files\t2\n", "utf-8")
    runs = root / "runs"
    evaluation = evaluate(load_data(folder), [resolve_ranker("bm25f")], split="all", progress=False)
    write_run(evaluation, runs / "first", created="2026-01-02T03:04:05+00:00")
    broken = runs / "broken"
    broken.mkdir()
    (broken / "manifest.json").write_text("{", "utf-8")
    return {"data": [str(folder)], "runs": str(runs)}


def _said(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.code, *app.info, *app.success, *app.warning, *app.error]
    return "\n".join(str(each.value) for each in parts)


def test_the_page_shows_what_is_unjudged_and_what_is_broken(start_app: Any, places: dict[str, Any]) -> None:
    """Read-only: the run's unjudged pair stands there with its text made safe, and nothing can be written."""
    app = start_app("health", {"data": "mine"}, **places)
    assert not app.exception
    assert app.metric[0].value == "2"
    assert app.selectbox(key="data").value == "mine"
    assert app.selectbox(key="query").options == ["q1"]
    said = _said(app)
    assert "broken" in said
    assert "toolsearch app --edit" in said
    assert HOSTILE not in said
    assert all(button.disabled for button in app.button)


def test_a_grade_given_on_the_page_stands_in_the_files(start_app: Any, places: dict[str, Any], tmp_path: Path) -> None:
    """With --edit the grade is a line with judge, pass and date; without a judge nothing is written and that is said."""
    copy = tmp_path / "mine"
    copy.mkdir()
    for path in Path(places["data"][0]).iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    app = start_app("health", {"data": "mine"}, **{**places, "data": [str(copy)], "edit": True})
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    [radio] = app.radio
    radio.set_value(1)
    save = next(button for button in app.button if button.label == "Save grades")
    save.click().run()
    assert "judge's name is empty" in _said(app)
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before
    app.radio[0].set_value(1)
    app.text_input(key="judge").set_value("Ada")
    app.number_input(key="turn").set_value(2)
    app.button[0].click().run()
    assert not app.exception
    rows = [json.loads(row) for row in (copy / "judgements.jsonl").read_text("utf-8").splitlines()]
    assert {**rows[-1], "date": ""} == {
        "query_id": "q1", "tool": "read_mail", "grade": 1, "judge": "Ada", "pass": 2, "date": "",
    }  # fmt: skip
    assert len(rows[-1]["date"]) == 10
    assert "q1\tread_mail\t1" in (copy / "qrels.tsv").read_text("utf-8")
    assert "There is nothing to judge" in _said(app)


def test_without_a_run_the_page_says_how_to_make_one(start_app: Any) -> None:
    """The shipped data set alone: coverage and checks are shown, and the command for the rest."""
    app = start_app("health", {"data": "tiny"})
    assert not app.exception
    assert "toolsearch eval --data tiny" in _said(app)


def test_pictures_say_in_words_what_they_draw() -> None:
    """The least judged ranker and the slices with too few groups are named in the text alternative."""
    table = coverage_table(coverage(load_data("tiny")))
    picture = coverage_picture(table)
    assert f"{table['slice'].nunique()} slices" in picture.text
    assert picture.chart.to_dict()["layer"]
    shares = [
        JudgedShare(run="r", ranker=name, split="dev", queries=3, share=share)
        for name, share in (("<b>x</b>", 0.9), ("low", 0.25))
    ]
    judged = judged_table(shares)
    assert list(judged["ranker"]) == ["low", "<b>x</b>"]
    assert "the least is low on dev with 0.250" in judged_picture(judged).text
