"""Studies read below a folder, while they run and after."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolsearch.errors import DataError, UnknownNameError
from toolsearch_eval.tuning.document import write_report
from toolsearch_eval.tuning.follow import list_studies, open_study
from toolsearch_eval.tuning.form import tuned_json
from toolsearch_eval.tuning.outcome import Settings, Tuned
from toolsearch_eval.tuning.views import views_of

BASE = Settings(trials=12, batch=4, folds=2, fold_trials=4, open_test=False)


def test_a_study_is_followed_by_its_journal_and_then_by_its_report(
    tune_small: Callable[..., Tuned], tmp_path: Path
) -> None:
    """History, importances and lines are those of the trials; once there is a report its outcome is there too."""
    tuned = tune_small(BASE, journal_name="studies")
    [entry] = list_studies(tmp_path).studies
    assert (entry.study_id, entry.report) == (tuned.study, None)
    live = open_study(tmp_path, tuned.study)
    views = views_of(tuned)
    assert (live.history, live.importances, live.bounds) == (views.history, views.importances, views.bounds)
    assert live.parameters == views.parameters
    assert [(line.trial, line.score) for line in live.lines] == [(line.trial, line.score) for line in views.lines]
    assert all(
        mine.positions == pytest.approx(theirs.positions) for mine, theirs in zip(live.lines, views.lines, strict=True)
    )
    assert live.outcome is None
    write_report(tuned, tuned_json(tuned, "tuned.toml"), tmp_path / tuned.study)
    (tmp_path / tuned.study / "tuned.toml").write_text("x = 1\n", "utf-8")
    done = open_study(tmp_path, tuned.study)
    assert done.outcome is not None
    assert (done.history, done.lines) == (views.history, views.lines)
    assert (done.outcome.verdict, done.outcome.values) == (tuned.verdict, dict(tuned.chosen.values))
    assert done.outcome.shipped == tuned.space.shipped
    assert tuned.nested is not None
    assert done.outcome.optimism == tuned.nested.optimism
    assert (done.outcome.openings, done.outcome.profile) == (None, "x = 1\n")
    report = tmp_path / tuned.study / "study.json"
    form = json.loads(report.read_text("utf-8"))
    for damage in (
        "{",
        "[]",
        json.dumps({**form, "verdict": 1}),
        json.dumps({**form, "views": {**form["views"], "history": [{"trial": 0, "score": "x"}]}}),
        json.dumps({**form, "views": {**form["views"], "lines": [{**form["views"]["lines"][0], "positions": []}]}}),
    ):
        report.write_text(damage, "utf-8")
        with pytest.raises(DataError, match="is no report of a study"):
            open_study(tmp_path, tuned.study)


def test_a_damaged_journal_is_told_and_the_others_are_listed(tmp_path: Path) -> None:
    """A file that is no journal is a problem with its path; it is not written to."""
    (tmp_path / "bad").mkdir()
    bad = tmp_path / "bad" / "studies.journal"
    content = "no journal\n"
    bad.write_text(content, "utf-8")
    found: Any = list_studies(tmp_path)
    assert found.studies == ()
    assert [Path(each.path) for each in found.problems] == [bad]
    assert bad.read_text("utf-8") == content
    assert list_studies(tmp_path / "nowhere").studies == ()


def test_an_id_is_never_a_path(tmp_path: Path) -> None:
    """What is not in the list is unknown, whatever it looks like."""
    with pytest.raises(UnknownNameError):
        open_study(tmp_path, "../secret")
