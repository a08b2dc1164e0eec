"""What the dashboard does where something is missing or is stopped half way."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import toolsearch_datasets
from toolsearch_app import tuning_data
from toolsearch_app.rerun_time import rerun_times
from toolsearch_eval.cli.main import main
from toolsearch_eval.data import load_data


def test_without_its_library_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the extra is missing the exit code is 2, and one line names the library and the command that brings it."""
    module = "toolsearch_eval.cli.app_command.find_spec"
    monkeypatch.setattr(module, lambda name: None if name == "streamlit" else find_spec(name))
    assert main(["app", "--headless", "--port", "0"]) == 2
    said = capsys.readouterr().err
    assert "needs streamlit, which is not installed" in said
    assert "pip install 'toolsearch[app]'" in said


def test_without_the_optimiser_the_tuning_page_says_what_to_install(
    start_app: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A journal of studies can't be read without its library: the page says so as text and doesn't fail."""
    (tmp_path / "studies.journal").write_text('{"op_code": 0}\n', "utf-8")
    monkeypatch.setitem(sys.modules, "optuna", None)
    app = start_app("tuning", studies=str(tmp_path))
    assert not app.exception
    assert not any("fault of the dashboard" in each.value for each in app.error)
    assert any("optuna" in each.value for each in app.code)


def test_a_running_tune_is_followed_and_can_be_stopped(start_app: Any, tmp_path: Path) -> None:
    """While it runs the page says so and offers to stop it; stopped, it tells what the tune said last."""
    said = tmp_path / "said.log"
    program = "import time; print('<b>begun</b>', flush=True); time.sleep(600)"
    with open(said, "wb") as out:
        process = subprocess.Popen([sys.executable, "-c", program], stdout=out, stderr=subprocess.DEVNULL)
    try:
        while "begun" not in said.read_text("utf-8"):
            assert process.poll() is None
        tuning_data._started[:] = [tuning_data.Started(process=process, said=said)]
        app = start_app("tuning", studies=str(tmp_path), edit=True)
        assert "A tuning runs." in app.info[0].value
        app.button(key="stop").click().run()
        assert not app.exception
        assert process.poll() not in (None, 0)
        assert "The tuning ended with exit code" in app.warning[0].value
        assert "<b>begun</b>" in app.code[0].value
    finally:
        process.kill()
        process.wait()
        tuning_data._started.clear()


def test_a_query_without_an_answer_is_saved_with_all_that_the_form_holds(start_app: Any, tmp_path: Path) -> None:
    """Tick, id, slice and split stand in the file; labels beside the tick are not taken; a taken id is refused."""
    folder = tmp_path / "mine"
    shutil.copytree(toolsearch_datasets.folder("tiny"), folder)
    app = start_app("explore", {"data": "mine", "q": "brew an espresso"}, data=[str(folder)], edit=True)
    app.checkbox(key="save_nothing").set_value(True)
    app.multiselect(key="save_part").set_value(app.multiselect(key="save_part").options[:1])
    app.text_input(key="save_id").set_value("none-1")
    app.text_input(key="save_slice").set_value("no-answer")
    app.selectbox(key="save_split").set_value("test")
    save = next(button for button in app.button if button.label == "Save")
    save.click().run()
    assert not app.exception and not app.error
    saved = load_data(folder).queries[-1]
    assert (saved.query_id, saved.slice, saved.split, saved.expect) == ("none-1", "no-answer", "test", "none")
    assert "none-1" not in load_data(folder).judgements
    app.text_input(key="q").set_value("brew two espressos").run()
    app.text_input(key="save_id").set_value("none-1")
    next(button for button in app.button if button.label == "Save").click().run()
    assert any("is taken" in each.value for each in app.code)


def test_reruns_are_measured_one_for_each_query(tmp_path: Path) -> None:
    """Each query is one rerun of the page on the catalog that was named, with its time in both kinds of milliseconds."""
    folder = tmp_path / "small"
    shutil.copytree(toolsearch_datasets.folder("tiny"), folder)
    found = rerun_times(folder, ["send a message", "read a file"])
    assert [each.query for each in found] == ["send a message", "read a file"]
    assert all(each.milliseconds > 0 and each.processor >= 0 for each in found)
