"""The studies that the page on tuning reads, and the one that it may start: its own process, seen by its journal."""

from __future__ import annotations

import atexit
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from toolsearch.errors import UsageError
from toolsearch_app import loading
from toolsearch_eval.extras import require
from toolsearch_eval.tuning.follow import Listing, Study, list_studies, open_study, study_files

MOST_TRIALS = 500
"""More are for the command line: this is for a short look."""
_GRACE_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A tuning that was started here.

    Attributes:
        process: It runs, or has ended.
        said: The file with what it says.
    """

    process: subprocess.Popen[bytes]
    said: Path

    @property
    def running(self) -> bool:
        """It has not ended yet."""
        return self.process.poll() is None

    def last_words(self, most: int = 4000) -> str:
        """The end of what it said."""
        try:
            return self.said.read_text("utf-8", errors="replace")[-most:]
        except OSError:
            return ""


_started: list[Started] = []
"""The one that was started last in this server; at most one runs at a time."""


def studies() -> Listing:
    """The studies below the folder that was named at the start.

    Raises:
        UsageError: There are some, and the library that reads them is not installed.
    """
    root = loading.studies_root()
    state = _state(root)
    if state:
        require("optuna", extra="eval", purpose="reading a study")
    return _studies(str(root), state)


def study(study_id: str) -> Study:
    """One study as it is now.

    Raises:
        UnknownNameError: There is none of that id.
        DataError: Its files are damaged.
    """
    root = loading.studies_root()
    return _study(str(root), study_id, _state(root))


def started() -> Started | None:
    """The tuning that was started here last."""
    return _started[-1] if _started else None


def command(data_id: str, profile_id: str, trials: int, seed: int, folder: Path) -> list[str]:
    """The command of a short tune: two folds, and the test split stays closed.

    Raises:
        UsageError: Trials or seed are out of range.
        UnknownNameError: There is no such data set or profile.
    """
    if not 1 <= trials <= MOST_TRIALS:
        raise UsageError(f"trials is {trials}; accepted here: 1 to {MOST_TRIALS}.")
    if seed < 0:
        raise UsageError(f"the seed is {seed}; it must be a whole number of at least 0.")
    loading.profile(profile_id)
    loading.data(data_id)
    data = str(loading.data_folders().get(data_id, data_id))
    source = loading.profile_sources()[profile_id]
    options = ["--data", data, "--profile", source, "--trials", str(trials), "--seed", str(seed), "--batch", "4"]
    fixed = ["--folds", "2", "--fold-trials", "20", "--keep-test-closed", "--folder", str(folder)]
    return [sys.executable, "-m", "toolsearch_eval.cli.main", "tune", *options, *fixed]


def start(data_id: str, profile_id: str, trials: int, seed: int) -> Started:
    """Start a short tune in a process of its own.

    Raises:
        UsageError: Changes are not allowed, another one runs, a number is out of range, or nothing can be written.
        UnknownNameError: There is no such data set or profile.
    """
    if not loading.settings().edit:
        raise UsageError("tuning needs the dashboard to be started with --edit.")
    if (last := started()) is not None and last.running:
        raise UsageError("a tuning runs already; wait for it or stop it.")
    folder = loading.studies_root() / "tune"
    words = command(data_id, profile_id, trials, seed, folder)
    said = folder / "dashboard.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(said, "wb") as out:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
    except OSError as error:
        raise UsageError(f"the tuning can't be started: {error}.") from error
    _started[:] = [Started(process=process, said=said)]
    return _started[0]


def stop() -> None:
    """Stop the tuning that was started here as Ctrl-C does: finished trials are kept."""
    last = started()
    if last is None or not last.running:
        return
    last.process.send_signal(signal.SIGINT)
    try:
        last.process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        last.process.kill()
        last.process.wait()


atexit.register(stop)


def _state(root: Path) -> tuple[tuple[str, loading.Stamp], ...]:
    return tuple((str(path), loading.stamp([path])) for path in study_files(root))


@st.cache_resource(max_entries=2, show_spinner=False)
def _studies(root: str, state: object) -> Listing:
    return list_studies(root)


@st.cache_resource(max_entries=8, show_spinner=False)
def _study(root: str, study_id: str, state: object) -> Study:
    return open_study(root, study_id)
