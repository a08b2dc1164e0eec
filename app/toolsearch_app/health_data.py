"""What the page on data health reads, kept until the data set or a run changes, and where it writes grades."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

import streamlit as st

from toolsearch.errors import DataError, Problem, ToolSearchError, UsageError
from toolsearch_app import loading
from toolsearch_eval.data import DataSet
from toolsearch_eval.data_check import check_data
from toolsearch_eval.data_health import Health, data_health
from toolsearch_eval.data_texts import Copied, Repeated, copied_texts, repeated_texts
from toolsearch_eval.label_merge import Merge
from toolsearch_eval.label_now import take_grades
from toolsearch_eval.runs.reading import Run


def runs_of(name: str) -> tuple[tuple[Run, ...], tuple[str, ...]]:
    """The runs on a data set of that name, and a line for each run that can't be read."""
    found: list[Run] = []
    faults: list[str] = []
    for entry in loading.runs():
        if entry.problem:
            faults.append(f"{entry.run_id}: {entry.problem}")
        elif entry.data == name:
            try:
                found.append(loading.run(entry.run_id))
            except ToolSearchError as error:
                first = str(error.problems[0]) if isinstance(error, DataError) else str(error)
                faults.append(f"{entry.run_id}: {first}")
    return tuple(found), tuple(faults)


def health(data: DataSet, runs: Sequence[Run]) -> Health:
    """What the data set lacks, as these runs tell it."""
    key = tuple((run.run_id, loading.stamp([run.folder / "manifest.json"])) for run in runs)
    return _health(data.fingerprint, key, data, runs)


def checks(data: DataSet) -> tuple[list[Problem], list[Problem], tuple[Copied, ...], tuple[Repeated, ...]]:
    """Errors, warnings, leaks and repeated texts."""
    return _checks(data.fingerprint, len(data.labels), data.path, data)


def save_grades(data_id: str, query_id: str, grades: Mapping[str, int | None], *, judge: str, turn: int) -> Merge:
    """Write grades into the files of a data set that may be changed, under today's date.

    Raises:
        UsageError: It may not be changed, or can't be written.
        DataError: A grade can't be taken.
    """
    if not loading.is_writable(data_id):
        raise UsageError(f"the data set {data_id!r} can't be changed here; start with --edit and --data.")
    folder = loading.data_folders()[data_id]
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return take_grades(folder, query_id, grades, judge=judge, turn=turn, date=today)


@st.cache_resource(max_entries=4, show_spinner="Looking through the runs…")
def _health(fingerprint: str, key: object, _data: DataSet, _runs: Sequence[Run]) -> Health:
    return data_health(_data, [(run.run_id, run.evaluation) for run in _runs])


@st.cache_resource(max_entries=4, show_spinner="Checking the data…")
def _checks(
    fingerprint: str, labels: int, path: str, _data: DataSet
) -> tuple[list[Problem], list[Problem], tuple[Copied, ...], tuple[Repeated, ...]]:
    errors, warnings = check_data(_data)
    return errors, warnings, copied_texts(_data), repeated_texts(_data)
