"""Studies: the same twice, whatever the jobs and wherever they were stopped; another space or data is another study."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.data import DataSet
from toolsearch_eval.tuning.gauges import Demands
from toolsearch_eval.tuning.outcome import Settings, Tuned
from toolsearch_eval.tuning.propose import SAMPLERS, check_sampler
from toolsearch_eval.tuning.space import Space, read_space
from toolsearch_eval.tuning.storage import Kept, journal
from toolsearch_eval.tuning.tune import label_all, tune

BASE = Settings(trials=40, batch=8, folds=0, open_test=False)
USABLE = ("tpe", "cmaes", "nsgaii", "random")


def _made(tuned: Tuned) -> list[tuple[dict[str, float], tuple[float, ...]]]:
    return [(dict(trial.values), trial.scores) for trial in tuned.trials]


def test_the_first_trial_is_the_profile_as_it_ships(tune_small: Callable[..., Tuned], space: Space) -> None:
    """Trial 0 has the shipped values to the last digit, and the study's trials are numbered from it."""
    tuned = tune_small(BASE)
    assert tuned.trials[0].values == space.shipped
    assert [trial.number for trial in tuned.trials] == list(range(40))


@pytest.mark.parametrize("sampler", USABLE)
def test_the_same_seed_gives_the_same_study_whatever_the_jobs(tune_small: Callable[..., Tuned], sampler: str) -> None:
    """Two studies of one seed are equal trial by trial, with one process and with three; another seed gives others."""
    settings = dataclasses.replace(BASE, sampler=sampler)
    first = tune_small(settings, journal_name="first")
    second = tune_small(dataclasses.replace(settings, jobs=3), journal_name="second")
    other = tune_small(dataclasses.replace(settings, seed=1), journal_name="other")
    assert first.study == second.study
    assert _made(first) == _made(second)
    assert _made(first) != _made(other)
    assert len({tuple(values.values()) for values, _ in _made(first)}) > 20


@pytest.mark.parametrize("sampler", USABLE)
@pytest.mark.parametrize("stopped", [3, 8, 21])
def test_a_stopped_study_goes_on_as_the_one_that_was_not(
    tune_small: Callable[..., Tuned],
    small: DataSet,
    space: Space,
    tmp_path: Path,
    stop_after: Callable[[int], Callable[[int, float], None]],
    sampler: str,
    stopped: int,
) -> None:
    """Interrupted in or between batches and started again, a study has the trials of an uninterrupted one."""
    settings = dataclasses.replace(BASE, sampler=sampler)
    whole = tune_small(settings, journal_name="whole")
    with pytest.raises(KeyboardInterrupt):
        tune(
            label_all([small], [], settings),
            space,
            settings,
            kept=Kept(storage=journal(str(tmp_path / "stopped.journal"))),
            openings=tmp_path / "openings.jsonl",
            now=lambda: datetime(2026, 1, 2, tzinfo=UTC),
            progress=stop_after(stopped),
        )
    resumed = tune_small(settings, journal_name="stopped")
    assert _made(resumed) == _made(whole)
    assert resumed.made == 40 - stopped  # what was finished is kept


def test_a_larger_budget_goes_on_where_a_smaller_one_ended(tune_small: Callable[..., Tuned]) -> None:
    """Twelve trials and then forty are the forty of one go, also where the twelve end within a batch."""
    whole = tune_small(BASE, journal_name="whole")
    tune_small(dataclasses.replace(BASE, trials=12), journal_name="grown")
    grown = tune_small(BASE, journal_name="grown")
    assert _made(grown) == _made(whole)
    assert (grown.made, tune_small(BASE, journal_name="grown").made) == (28, 0)


def test_a_study_that_has_more_trials_than_asked_for_keeps_them(tune_small: Callable[..., Tuned]) -> None:
    """Asking for fewer trials than there are makes none and leaves none out."""
    tune_small(BASE)
    assert len(tune_small(dataclasses.replace(BASE, trials=10)).trials) == 40


def test_a_killed_process_loses_at_most_what_it_was_doing(tmp_path: Path) -> None:
    """After kill -9 in mid-study the same command goes on and ends with the trials of an uninterrupted study."""
    command = [sys.executable, "-m", "toolsearch_eval.cli.main", "tune", "--trials", "96", "--folds", "0", "--json"]
    command += ["--profile", "reference", "--keep-test-closed", "--jobs", "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    killed, whole = (tmp_path / name for name in ("killed", "whole"))
    process = subprocess.Popen([*command, "--folder", str(killed)], env=environment, stderr=subprocess.DEVNULL)
    kept = killed / "studies.journal"
    while process.poll() is None and (not kept.exists() or kept.read_bytes().count(b"\n") < 60):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    forms = []
    for folder in (killed, whole):
        done = subprocess.run(
            [*command, "--folder", str(folder)], env=environment, capture_output=True, text=True, check=True
        )
        forms.append(json.loads(done.stdout))
    for form in forms:
        form.pop("trials_per_second")
        form.pop("config")
        form.pop("report")
    assert forms[0] == forms[1]
    trials = [json.loads(line) for line in kept.read_bytes().splitlines()]
    assert len(trials) > 60


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    """Ctrl-C ends the command and its processes with the code of an interrupt, without a traceback, its trials kept."""
    command = [sys.executable, "-m", "toolsearch_eval.cli.main", "tune", "--trials", "5000", "--folds", "0"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        [*command, "--jobs", "2", "--folder", str(tmp_path)],
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    kept = tmp_path / "studies.journal"
    while process.poll() is None and (not kept.exists() or kept.read_bytes().count(b"\n") < 40):
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130, said
    assert "what had been finished is kept" in said
    assert "Traceback" not in said
    assert kept.read_bytes().count(b"\n") >= 40


def test_equal_profiles_are_evaluated_once(tune_small: Callable[..., Tuned], small: DataSet, tmp_path: Path) -> None:
    """In a space of four profiles forty trials evaluate four, and equal trials have equal scores."""
    steps = read_space(
        'profile = "reference"\n[parameters]\nconfidence_bound = { low = 0.1, high = 0.25, step = 0.05 }\n'
    )
    tuned = tune_small(BASE, space=steps)
    by_value: dict[float, set[tuple[float, ...]]] = {}
    for trial in tuned.trials:
        by_value.setdefault(trial.values["confidence_bound"], set()).add(trial.scores)
    assert sorted(by_value) == [0.1, 0.15, 0.2, 0.25]
    assert all(len(scores) == 1 for scores in by_value.values())
    assert tuned.evaluated == 4


def test_whatever_decides_the_trials_is_part_of_the_name(
    tune_small: Callable[..., Tuned], small: DataSet, space: Space
) -> None:
    """Another bound, other data, another measure, seed, sampler, batch or constraint makes another study."""
    few = dataclasses.replace(BASE, trials=1)
    wider = dataclasses.replace(
        space, parameters=(dataclasses.replace(space.parameters[0], high=4.0), *space.parameters[1:])
    )
    changed = dataclasses.replace(small, fingerprint="changed")
    settings: dict[str, Any] = {
        "measure": dataclasses.replace(few.measure, cutoff=5),
        "depth": 20,
        "seed": 5,
        "sampler": "random",
        "batch": 9,
        "demands": Demands(max_tokens=1e6),
    }
    studies = [
        tune_small(few).study,
        tune_small(few, space=wider).study,
        tune_small(few, sets=label_all([changed], [], few)).study,
        *(tune_small(dataclasses.replace(few, **{key: value})).study for key, value in settings.items()),
        tune_small(dataclasses.replace(few, demands=Demands(second="Recall@5"))).study,
    ]
    assert len(set(studies)) == len(studies)
    assert tune_small(dataclasses.replace(few, trials=2, jobs=2, folds=2)).study == studies[0]


def test_a_study_of_another_version_of_the_search_is_not_mixed(
    tune_small: Callable[..., Tuned], small: DataSet, space: Space, tmp_path: Path
) -> None:
    """Where a trial gives something else than was written down, the study is refused and the trial is named."""
    tune_small(BASE)
    path = tmp_path / "study.journal"
    lines = path.read_text("utf-8").splitlines()
    changed = [line.replace('"values":[0.', '"values":[0.1') for line in lines]
    assert changed != lines
    path.write_text("\n".join(changed) + "\n", "utf-8")
    with pytest.raises(UsageError, match="made with another version of the search"):
        tune_small(BASE)


def test_each_sampler_is_checked_before_the_first_trial(tmp_path: Path) -> None:
    """A sampler whose library is missing, or that does not exist, is refused by name, with those that are there."""
    with pytest.raises(UsageError, match="sampler 'gp' needs torch") as caught:
        check_sampler("gp")
    assert "tpe" in str(caught.value)
    with pytest.raises(UnknownNameError, match="Did you mean 'tpe'"):
        check_sampler("tpee")
    assert set(USABLE) | {"gp"} == set(SAMPLERS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trials": 0}, "trials is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"batch": 0}, "batch is 0"),
        ({"jobs": 0}, "jobs is 0"),
        ({"folds": 1}, "folds is 1"),
        ({"fold_trials": 0}, "fold trials is 0"),
        ({"depth": 0}, "depth is 0"),
    ],
)
def test_settings_out_of_range_are_refused(changes: dict[str, int], message: str) -> None:
    """Each number is named with what is accepted."""
    with pytest.raises(UsageError, match=message):
        Settings(**changes)  # type: ignore[arg-type]
