"""The page on tuning: a finished study, one without a report, and a short one started from the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from toolsearch.config import from_toml
from toolsearch.errors import UsageError
from toolsearch_app import loading, tuning_data
from toolsearch_app.figures.tuning import front_picture, gain_picture, history_picture, parallel_picture
from toolsearch_app.settings import VARIABLE
from toolsearch_app.tables.tuning import changed_table, front_table, gain_table, history_table, parallel_table
from toolsearch_eval.cli.main import main
from toolsearch_eval.tuning.follow import Study, list_studies, open_study

SPACE = 'profile = "default"\n[parameters]\nsaturation = { low = 0.5, high = 2.0, log = true }\n'
SPACE += "weight_keyword = { low = 0.05, high = 1.0 }\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished study of twelve trials, and a journal that is none."""
    folder = tmp_path_factory.mktemp("studies")
    (folder / "space.toml").write_text(SPACE, "utf-8")
    options = ["--trials", "12", "--batch", "6", "--folds", "2", "--fold-trials", "3", "--keep-test-closed"]
    command = ["tune", *options, "--space", str(folder / "space.toml"), "--folder", str(folder / "tune"), "--json"]
    assert main(command) == 0
    (folder / "broken").mkdir()
    (folder / "broken" / "studies.journal").write_text("<script>alert(1)</script>\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def study(root: Path) -> Study:
    """The finished study."""
    [entry] = list_studies(root).studies
    return open_study(root, entry.study_id)


def _said(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.code, *app.info, *app.success, *app.warning, *app.error]
    return "\n".join(str(each.value) for each in parts)


def test_a_finished_study_is_shown_with_all_its_charts(start_app: Any, root: Path, study: Study) -> None:
    """Verdict, gains, history, importances and parallel coordinates; read-only there is nothing to start."""
    app = start_app("tuning", studies=str(root))
    assert not app.exception
    assert app.selectbox(key="study").options == [study.name]
    said = _said(app)
    assert "The test split stayed closed" in said
    assert "is no journal of studies" in said
    assert "toolsearch app --edit" in said
    assert len(app.get("vega_lite_chart")) == 4
    assert not app.button
    app.toggle(key="live").set_value(True).run()
    assert not app.exception


def test_the_chosen_profile_is_exported_as_it_was_written(
    start_app: Any, root: Path, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The button hands over the file that the tuner wrote, and its label says whose profile it is."""
    given: list[object] = []
    real = st.download_button

    def watched(label: str, data: str, *more: Any, **options: Any) -> bool:
        given.append(data)
        return real(label, data, *more, **options)

    monkeypatch.setattr(st, "download_button", watched)
    app = start_app("tuning", studies=str(root))
    [export] = [button for button in app.get("download_button") if button.key == "export"]
    assert study.outcome is not None
    kind = "chosen" if study.outcome.accepted else "shipped"
    assert f"the {kind} profile" in export.label
    [written] = root.rglob("tuned.toml")
    assert given == [written.read_text("utf-8")]
    assert from_toml(written.read_text("utf-8")).name


def test_a_study_without_a_report_is_followed_by_its_journal(start_app: Any, root: Path, tmp_path: Path) -> None:
    """The trials stand there and nothing is said of an outcome; a damaged report is told as text."""
    source = root / "tune" / "studies.journal"
    (tmp_path / "tune").mkdir()
    (tmp_path / "tune" / "studies.journal").write_bytes(source.read_bytes())
    app = start_app("tuning", studies=str(tmp_path))
    assert not app.exception
    assert "12 trials are finished, 0 have begun" in _said(app)
    [entry] = list_studies(tmp_path).studies
    report = tmp_path / "tune" / entry.name / "study.json"
    report.parent.mkdir()
    report.write_text('{"views": "<b>x</b>"}', "utf-8")
    app.run()
    assert not app.exception
    assert "is no report of a study" in _said(app)


def test_a_short_tune_is_started_from_the_page_and_found_there(start_app: Any, tmp_path: Path) -> None:
    """With --edit the button starts a process whose study stands below the folder; options out of range are refused."""
    app = start_app("tuning", studies=str(tmp_path), edit=True)
    app.number_input(key="tune_trials").set_value(3)
    app.selectbox(key="tune_data").set_value("builtin")
    start = next(button for button in app.button if button.label == "Start")
    start.click().run()
    assert not app.exception
    last = tuning_data.started()
    assert last is not None
    assert last.process.wait(120) == 0, last.last_words()
    app.run()
    assert not app.exception
    assert "The tuning is done." in _said(app)
    [entry] = list_studies(tmp_path).studies
    assert entry.report is not None
    assert len(open_study(tmp_path, entry.study_id).history) == 3
    with pytest.raises(UsageError, match="trials is 0"):
        tuning_data.command("builtin", "default", 0, 0, tmp_path)


def test_nothing_is_started_without_edit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The function itself refuses, whatever a page shows."""
    monkeypatch.setenv(VARIABLE, json.dumps({"studies": str(tmp_path)}))
    loading.settings.clear()
    with pytest.raises(UsageError, match="--edit"):
        tuning_data.start("builtin", "default", 1, 0)
    loading.settings.clear()


def test_without_a_study_the_page_says_how_to_make_one(start_app: Any) -> None:
    """The command names the folder of the start."""
    app = start_app("tuning")
    assert not app.exception
    assert "toolsearch tune --folder" in _said(app)


def test_tables_and_pictures_say_what_the_study_holds(study: Study) -> None:
    """Twelve trials, two parameters, each number once; the text alternatives carry the figures."""
    history = history_table(study)
    assert list(history["trial"]) == list(range(12))
    assert f"{history['score'][0]:.4f}" in history_picture(history).text
    parallel = parallel_table(study)
    assert len(parallel) == 24
    assert "12 trials as lines over 2 parameters" in parallel_picture(parallel).text
    assert study.outcome is not None
    assert set(changed_table(study.outcome)["parameter"]) == {"saturation", "weight_keyword"}
    gains = gain_table(study.outcome)
    assert "nested folds (unseen)" in list(gains["queries"])
    assert "nested folds (unseen)" in gain_picture(gains).text
    two = replace(study, front=((1, 0.5, -9.0), (2, 0.25, -3.0)))
    assert "from 0.2500 to 0.5000" in front_picture(front_table(two)).text
