"""Studies on real servers: workers are killed and the server restarts in mid-study, and nothing finished is lost."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
import psycopg
import pytest
import redis

from toolsearch_eval.cli.main import main
from toolsearch_eval.data import load_data
from toolsearch_eval.tuning.evaluator import Evaluator
from toolsearch_eval.tuning.macro import macro_mean, standard_error
from toolsearch_eval.tuning.outcome import Settings
from toolsearch_eval.tuning.space import load_space
from toolsearch_eval.tuning.storage import open_storage
from toolsearch_eval.tuning.tune import label_all

TRIALS = 240
GRACE = 4
WORKERS = 4
CLEAN_SEEDS = range(4)
# A batch divided by the workers: as many trials are under way at once as in the clean studies.
STUDY = [
    "tune",
    "--profile",
    "reference",
    "--trials",
    str(TRIALS),
    "--folds",
    "0",
    "--keep-test-closed",
    "--batch",
    "4",
]
STATES = optuna.trial.TrialState


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@dataclass
class Postgres:
    """A PostgreSQL server of one's own, in a folder."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        """Where a study finds it."""
        return f"postgresql+psycopg://tuner@127.0.0.1:{self.port}/postgres"

    def run(self, program: str, *arguments: str) -> None:
        """Run one of the server's programs, as the user `postgres` where we are root, which the server refuses."""
        found = shutil.which(program) or str(sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))[-1])
        command = [found, *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")

    def control(self, *arguments: str) -> None:
        """Start, stop or restart it."""
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", str(self.folder / "log"), *arguments)


@pytest.fixture(scope="module")
def server(install: Callable[[str, str], None]) -> Iterator[Postgres]:
    """A running PostgreSQL server, stopped in the end."""
    install("initdb", "postgresql")
    # Not below pytest's own folder, into which the user `postgres` may not look.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        made = Postgres(folder, _free_port())
        made.run("initdb", "-D", str(folder / "data"), "-U", "tuner", "-A", "trust")
        options = f"-p {made.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        made.control("-o", options, "start")
        yield made
        made.control("-m", "immediate", "stop")


@pytest.fixture(scope="module")
def redis_url(install: Callable[[str, str], None]) -> Iterator[str]:
    """A running Redis server, stopped in the end."""
    install("redis-server", "redis-server")
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            url = f"redis://127.0.0.1:{port}"
            with redis.Redis.from_url(url) as client:
                until = time.monotonic() + 20
                while time.monotonic() < until:
                    try:
                        client.ping()
                        break
                    except redis.ConnectionError:
                        time.sleep(0.1)
            yield url
            process.terminate()


def _worker(url: str, log: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", "toolsearch_eval.cli.main", *STUDY, "--worker", "--json"]
    command += ["--storage", url, "--grace", str(GRACE)]
    with log.open("ab") as stream:
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=stream)


def _end(workers: Sequence[subprocess.Popen[bytes]]) -> None:
    for worker in workers:
        worker.kill()
        worker.wait()


def _finished(url: str) -> dict[int, float]:
    """The value of each finished trial in a database, by number; read with the database's own means."""
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        rows = connection.execute(
            "SELECT trials.number, trial_values.value FROM trials JOIN trial_values USING (trial_id) "
            "WHERE trials.state = 'COMPLETE'"
        )
        return {int(number): float(value) for number, value in rows}


def _all_trials(url: str) -> list[optuna.trial.FrozenTrial]:
    storage = optuna.storages.RDBStorage(url)
    [name] = optuna.get_all_study_names(storage)
    trials = optuna.load_study(study_name=name, storage=storage).get_trials(deepcopy=False)
    storage.remove_session()
    storage.engine.dispose()
    return trials


def test_killed_workers_and_a_restarted_server_lose_no_finished_trial(
    server: Postgres, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Four workers, six of them killed with kill -9 and replaced, the server restarted: the study ends as a clean one.

    No trial that was finished at any moment is lost or changed; each trial of a killed worker is tried again; and the
    best profile is no worse than those that studies without any trouble end with, of which each seed gives another
    one, within the error of the paired difference.
    """
    source = random.Random(7)
    log = tmp_path / "workers.log"
    workers = [_worker(server.url, log) for _ in range(WORKERS)]
    request.addfinalizer(lambda: _end(workers))
    seen: dict[int, float] = {}
    kills, restarted = 0, False
    until = time.monotonic() + 240
    while any(worker.poll() is None for worker in workers):
        assert time.monotonic() < until, log.read_text("utf-8")
        time.sleep(0.3)
        try:
            now = _finished(server.url)
        except psycopg.Error as error:  # tables that are being made
            assert not seen, error
            continue
        assert {number: now.get(number) for number in seen} == seen
        seen = now
        if kills < 6 and len(seen) > (kills + 1) * TRIALS // 10:
            victim = source.randrange(WORKERS)
            if workers[victim].poll() is None:
                workers[victim].send_signal(signal.SIGKILL)
                workers[victim].wait()
                workers[victim] = _worker(server.url, log)
                kills += 1
        if not restarted and len(seen) > TRIALS // 3:
            server.control("-m", "fast", "restart")
            restarted = True
    said = log.read_text("utf-8")
    assert [worker.returncode for worker in workers] == [0] * WORKERS, said
    assert (kills, restarted) == (6, True)
    assert "Traceback" not in said
    trials = _all_trials(server.url)
    complete = [each for each in trials if each.state == STATES.COMPLETE]
    failed = [each for each in trials if each.state == STATES.FAIL]
    assert len(complete) >= TRIALS
    assert {each.state for each in trials} == {STATES.COMPLETE, STATES.FAIL}, "no kill met a running trial"
    assert all(each.params in [other.params for other in complete] for each in failed)
    assert _noise(tmp_path, max(complete, key=lambda each: each.values[0]).params) <= 1.0


def _noise(folder: Path, params: dict[str, float]) -> float:
    """How many standard errors a profile lies below the lowest of what clean studies of several seeds find."""
    found = []
    for seed in CLEAN_SEEDS:
        place = folder / f"seed-{seed}"
        assert main([*STUDY, "--batch", str(4 * WORKERS), "--seed", str(seed), "--folder", str(place)]) == 0
        journal = optuna.storages.journal.JournalFileBackend(str(place / "studies.journal"))
        storage = optuna.storages.JournalStorage(journal)
        [name] = optuna.get_all_study_names(storage)
        found.append(optuna.load_study(study_name=name, storage=storage).best_trial.params)
    evaluator = Evaluator(label_all([load_data("builtin")], [], Settings(trials=1)), load_space(None, "reference"))
    ours, *clean = (each.groups for each in evaluator.many([params, *found]))
    lowest = min(clean, key=macro_mean)
    error = standard_error([a - b for a, b in zip(lowest, ours, strict=True)])
    return (macro_mean(lowest) - macro_mean(ours)) / error if error else 0.0


def test_the_same_study_is_finished_and_chosen_from_by_an_ordinary_run(
    server: Postgres, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the workers a run without --worker makes no further trial, chooses, and writes the profile."""
    command = [*STUDY, "--storage", server.url, "--folder", str(tmp_path), "--json", "--grace", str(GRACE)]
    assert main(command) == 0
    form = json.loads(capsys.readouterr().out)
    assert form["trials"] >= TRIALS
    assert form["trials_per_second"] is None
    assert form["dev"]["difference"] > 0
    assert Path(form["config"]).read_text("utf-8").count("[provenance]") == 1


def test_workers_on_redis_take_over_what_a_killed_one_left(redis_url: str, tmp_path: Path) -> None:
    """Three workers, one of them killed with kill -9: the others try its trials again and end with all trials."""
    log = tmp_path / "workers.log"
    workers = [_worker(redis_url, log) for _ in range(3)]
    study: optuna.Study | None = None
    until = time.monotonic() + 240
    killed = False
    try:
        while any(worker.poll() is None for worker in workers[1 if killed else 0 :]):
            assert time.monotonic() < until, log.read_text("utf-8")
            time.sleep(0.3)
            if study is None:
                storage = open_storage(redis_url).storage
                names = optuna.get_all_study_names(storage)
                study = optuna.load_study(study_name=names[0], storage=storage) if names else None
            elif not killed and len(study.get_trials(deepcopy=False, states=(STATES.COMPLETE,))) > TRIALS // 4:
                workers[0].send_signal(signal.SIGKILL)
                killed = True
        workers[0].wait()
    finally:
        _end(workers)
    assert study is not None
    assert [worker.returncode for worker in workers] == [-signal.SIGKILL, 0, 0], log.read_text("utf-8")
    trials = study.get_trials(deepcopy=False)
    complete = [each.params for each in trials if each.state == STATES.COMPLETE]
    assert len(complete) >= TRIALS
    assert {each.state for each in trials} <= {STATES.COMPLETE, STATES.FAIL}
    assert all(each.params in complete for each in trials if each.state == STATES.FAIL)


def test_optuna_dashboard_shows_the_study(tmp_path: Path) -> None:
    """The program that people watch Optuna's studies with lists the journal's study and all of its trials."""
    folder, trials = tmp_path / "study", 20
    few = ["--trials", str(trials), "--folder", str(folder)]
    assert main([*STUDY, *few]) == 0
    port = _free_port()
    program = Path(sys.executable).with_name("optuna-dashboard")
    command = [str(program), str(folder / "studies.journal"), "--port", str(port), "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            [summary] = _asked(f"http://127.0.0.1:{port}/api/studies")["study_summaries"]
            study = _asked(f"http://127.0.0.1:{port}/api/studies/{summary['study_id']}?after=0")
        finally:
            process.terminate()
    assert summary["study_name"].startswith("reference-")
    assert summary["directions"] == ["maximize"]
    assert [(each["number"], each["state"]) for each in study["trials"]] == [(n, "Complete") for n in range(trials)]
    assert {each["name"] for each in study["trials"][0]["params"]} >= {"weight_keyword", "field_weights.name"}


def _asked(url: str) -> dict[str, Any]:
    """What an address answers, once its server is up."""
    until = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                form: dict[str, Any] = json.load(answer)
                return form
        except urllib.error.URLError:
            assert time.monotonic() < until, url
            time.sleep(0.2)


def test_a_server_that_is_away_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing listens the address is told without its password, and the code is that of wrong use."""
    url = f"postgresql+psycopg://tuner:secret@127.0.0.1:{_free_port()}/postgres"
    assert main([*STUDY, "--storage", url, "--folder", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "can't be used" in said
    assert "tuner:***@127.0.0.1" in said
    assert "secret" not in said
    assert "Traceback" not in said
