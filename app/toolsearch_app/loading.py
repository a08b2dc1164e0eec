"""What the pages read: data sets, runs, profiles and searchers, by id under the roots of the start.

Everything is kept by the state of the files it comes from (size and time of change), so that it is read once and read
again when it changed. What is not there, or is damaged, raises a `ToolSearchError`, whose text is fit to be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import streamlit as st

import toolsearch_datasets
from toolsearch.catalog.registry import Snapshot, ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import PROFILES, SearchConfig, load_profile
from toolsearch.errors import UnknownNameError
from toolsearch.search.searcher import Searcher
from toolsearch_app.settings import Settings, from_environment
from toolsearch_app.uploads import catalog_alone
from toolsearch_eval.compare import Comparison, compare
from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.data_files import FILES
from toolsearch_eval.measures import parse_measure
from toolsearch_eval.runs.reading import Run, RunEntry, list_runs, open_run

Stamp = tuple[tuple[str, int, int], ...]
UPLOADED: Final = "uploaded"
"""The id of what this session uploaded; it is no one else's, so its URL shows nothing to others."""


@st.cache_resource
def settings() -> Settings:
    """The options of the start, read once."""
    return from_environment()


def stamp(paths: Iterable[Path]) -> Stamp:
    """The state of some files: name, time of change and size of each that is there."""
    found = []
    for path in paths:
        try:
            status = path.stat()
        except (OSError, ValueError):
            continue
        found.append((path.name, status.st_mtime_ns, status.st_size))
    return tuple(found)


def data_folders() -> dict[str, Path]:
    """The data sets by id: the shipped ones by name, then those of the roots by the names of their folders.

    A root is a data set itself or holds some; of two with one name the later gets a number.
    """
    folders = {name: toolsearch_datasets.folder(name) for name in toolsearch_datasets.names()}
    for root in settings().data:
        inside = [root] if _is_data(root) else sorted(path for path in _children(root) if _is_data(path))
        for folder in inside:
            folders[_free(folder.resolve().name or "data", {*folders, UPLOADED})] = folder
    return folders


def data_ids() -> tuple[str, ...]:
    """The ids of the data sets, what this session uploaded last."""
    uploaded = (UPLOADED,) if UPLOADED in st.session_state else ()
    return (*data_folders(), *uploaded)


def data(data_id: str) -> DataSet:
    """One data set.

    Raises:
        UnknownNameError: There is none of that id.
        DataError: It holds faults; all of them.
    """
    if data_id == UPLOADED and UPLOADED in st.session_state:
        kept: DataSet = st.session_state[UPLOADED]
        return kept
    folders = data_folders()
    if data_id not in folders:
        raise UnknownNameError("data set", data_id, folders)
    folder = folders[data_id]
    return _data(str(folder), stamp([*(folder / name for name in FILES), *_conversations(folder)]))


def is_writable(data_id: str) -> bool:
    """Whether a data set may be changed: with `--edit`, and only one of the roots, never a shipped or uploaded one."""
    return settings().edit and data_id in data_folders() and data_id not in toolsearch_datasets.names()


def runs() -> tuple[RunEntry, ...]:
    """The runs, the newest first; one that can't be read says why."""
    root = settings().runs
    state = tuple(
        (path.name, *stamp([path / "manifest.json", path / "summary.json"])) for path in sorted(_children(root))
    )
    return _runs(str(root), state)


def run(run_id: str) -> Run:
    """One run, read and checked whole.

    Raises:
        UnknownNameError: There is none of that id.
        DataError: It is damaged; every fault.
    """
    root = settings().runs
    known = [entry.run_id for entry in runs()]
    if run_id not in known:
        raise UnknownNameError("run", run_id, known)
    return _run(str(root), run_id, stamp(path for path in sorted((root / run_id).rglob("*")) if path.is_file()))


def comparison(a: str, ranker_a: str, b: str, ranker_b: str, measure: str) -> Comparison:
    """One ranker of a run beside one of another, or of the same, with every query that moved.

    Raises:
        UsageError: They were not judged alike.
        ToolSearchError: What is named is not there or damaged.
    """
    first, second = run(a), run(b)
    state = (str(first.manifest["files"]), str(second.manifest["files"]))
    return _comparison((a, ranker_a, b, ranker_b, measure), state, first, second)


def profile_sources() -> dict[str, str]:
    """The profiles by id: the shipped ones, those of the profiles' folder, and what studies of the tuner chose."""
    sources = {name: name for name in PROFILES}
    for path in sorted(path for path in _children(settings().profiles) if path.suffix == ".toml"):
        sources[_free(path.stem, sources)] = str(path)
    for folder in sorted(_children(settings().studies)):
        if (folder / "tuned.toml").is_file():
            sources[_free(folder.name, sources)] = str(folder / "tuned.toml")
    return sources


def profile(profile_id: str) -> SearchConfig:
    """One profile.

    Raises:
        UnknownNameError: There is none of that id.
        ConfigError: Its file is not valid; all that is wrong.
    """
    sources = profile_sources()
    if profile_id not in sources:
        raise UnknownNameError("profile", profile_id, sources)
    source = sources[profile_id]
    return PROFILES[source] if source in PROFILES else _profile(source, stamp([Path(source)]))


def snapshot(data_id: str) -> Snapshot:
    """The catalog of a data set as the search sees it."""
    found = data(data_id)
    return _snapshot(found.fingerprint, found.tools)


def searcher(data_id: str, config: SearchConfig) -> Searcher:
    """A searcher over the catalog of a data set; the few that were used last are kept."""
    taken = snapshot(data_id)
    return _searcher(taken.fingerprint, config, taken)


def studies_root() -> Path:
    """The folder below which studies of the tuner stand; it need not be there."""
    return settings().studies


def baselines_root() -> Path:
    """The folder with the gate's baselines; it need not be there."""
    return settings().baselines


@st.cache_resource(max_entries=8, show_spinner="Reading the data…")
def _data(folder: str, state: Stamp) -> DataSet:
    root = Path(folder)
    if not any((root / name).exists() for name in ("queries.jsonl", "dataset.toml")):
        return catalog_alone(root / "catalog.jsonl", root.resolve().name)
    return load_data(root)


@st.cache_resource(max_entries=2, show_spinner=False)
def _runs(root: str, state: object) -> tuple[RunEntry, ...]:
    return list_runs(root)


@st.cache_resource(max_entries=6, show_spinner="Reading the run…")
def _run(root: str, run_id: str, state: Stamp) -> Run:
    return open_run(root, run_id)


@st.cache_resource(max_entries=16, show_spinner="Comparing…")
def _comparison(names: tuple[str, str, str, str, str], state: object, _first: Run, _second: Run) -> Comparison:
    _, a, _, b, measure = names
    return compare(_first, a, _second, b, measure=parse_measure(measure), moved=len(_first.queries))


@st.cache_resource(max_entries=32, show_spinner=False)
def _profile(source: str, state: Stamp) -> SearchConfig:
    return load_profile(source)


@st.cache_resource(max_entries=8, show_spinner=False)
def _snapshot(fingerprint: str, _tools: Sequence[Tool]) -> Snapshot:  # what begins with _ is no part of the key
    return ToolRegistry(_tools).snapshot()


@st.cache_resource(max_entries=16, show_spinner=False)
def _searcher(fingerprint: str, config: SearchConfig, _taken: Snapshot) -> Searcher:
    return Searcher(_taken, config)


def _is_data(folder: Path) -> bool:
    try:
        return (folder / "catalog.jsonl").is_file()
    except (OSError, ValueError):
        return False


def _children(root: Path) -> list[Path]:
    try:
        return list(root.iterdir()) if root.is_dir() else []
    except OSError:
        return []


def _conversations(folder: Path) -> list[Path]:
    return sorted(path for path in _children(folder / "conversations") if path.suffix == ".jsonl")


def _free(name: str, taken: Iterable[str]) -> str:
    known, chosen, number = set(taken), name, 1
    while chosen in known:
        number += 1
        chosen = f"{name}-{number}"
    return chosen
