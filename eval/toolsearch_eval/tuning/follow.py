"""Studies below a folder, read while they run and after: nothing is written, locked or ranked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolsearch.errors import DataError, Problem, UnknownNameError
from toolsearch_eval.tuning.views import Importance, Line, Point, Slice, shares

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

JOURNAL = "studies.journal"
"""Where `toolsearch tune` keeps the trials of its studies, unless told otherwise."""
REPORT = "study.json"
"""What it writes of a study that is finished."""
REMEDY = "tune again with the same options, or move the file away"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyEntry:
    """A study in a list.

    Attributes:
        study_id: Its name; with a number behind it where another folder has one of that name.
        name: Its name.
        journal: The journal that holds its trials, or None.
        report: The form of its outcome, or None while it runs.
    """

    study_id: str
    name: str
    journal: Path | None
    report: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What lies below a folder.

    Attributes:
        studies: By name.
        problems: Journals that can't be read.
    """

    studies: tuple[StudyEntry, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came out of a finished study.

    Attributes:
        verdict: In a sentence.
        accepted: The chosen profile is better than the shipped one as far as can be told.
        trials: How many it had.
        chosen: The number of the chosen trial.
        values: The chosen values.
        shipped: The shipped profile's values; empty in older files.
        gains: By `dev`, `nested` and `test`, whichever there are: before, after, difference, low, high, p, groups.
        optimism: How much of the gain on the queries that were tuned on is luck; None without folds.
        openings: How many configurations have seen the test split; None where it stayed closed.
        slices: Before and after.
        warnings: What to know beside the numbers.
        profile: The profile to use as TOML, or None where its file is not beside the report.
    """

    verdict: str
    accepted: bool
    trials: int
    chosen: int
    values: Mapping[str, float]
    shipped: Mapping[str, float]
    gains: Mapping[str, Mapping[str, float | None]]
    optimism: float | None
    openings: int | None
    slices: tuple[Slice, ...]
    warnings: tuple[str, ...]
    profile: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study as it is now.

    Attributes:
        name: Its name.
        history: The finished trials by number.
        running: How many trials have begun and are not finished.
        parameters: What moves.
        bounds: By parameter, lowest, highest and whether its scale is logarithmic.
        importances: Largest first; empty with too few trials.
        lines: The trials in parallel coordinates, the best last.
        front: With two objectives both scores of each trial of the front, larger is better.
        outcome: What came out; None while it runs.
    """

    name: str
    history: tuple[Point, ...]
    running: int
    parameters: tuple[str, ...]
    bounds: tuple[tuple[float, float, bool], ...]
    importances: tuple[Importance, ...]
    lines: tuple[Line, ...]
    front: tuple[tuple[int, float, float], ...]
    outcome: Outcome | None


def study_files(root: str | Path) -> tuple[Path, ...]:
    """The files that tell of studies: in the folder itself, in its folders, and in theirs."""
    base = Path(root)
    found: set[Path] = set()
    for pattern in (JOURNAL, f"*/{JOURNAL}", f"*/{REPORT}", f"*/*/{REPORT}"):
        try:
            found.update(path for path in base.glob(pattern) if path.is_file())
        except (OSError, ValueError):
            continue
    return tuple(sorted(found))


def list_studies(root: str | Path) -> Listing:
    """The studies below a folder; one that only runs is known by its journal, one that is finished by its report."""
    problems: list[Problem] = []
    known: dict[tuple[Path, str], dict[str, Path]] = {}
    for path in study_files(root):
        if path.name == REPORT:
            known.setdefault((path.parent.parent, path.parent.name), {})["report"] = path
            continue
        try:
            for name in _journal_trials(path):
                known.setdefault((path.parent, name), {})["journal"] = path
        except DataError as error:
            problems += error.problems
    entries: dict[str, StudyEntry] = {}
    for (_, name), files in sorted(known.items(), key=lambda pair: (pair[0][1], pair[0][0])):
        study_id, number = name, 1
        while study_id in entries:
            number += 1
            study_id = f"{name}-{number}"
        entries[study_id] = StudyEntry(
            study_id=study_id, name=name, journal=files.get("journal"), report=files.get("report")
        )
    return Listing(studies=tuple(entries.values()), problems=tuple(problems))


def open_study(root: str | Path, study_id: str) -> Study:
    """One of the studies that `list_studies` gives, by its id; never a path.

    Raises:
        UnknownNameError: There is none of that id.
        DataError: Its report or its journal is damaged.
    """
    entries = {entry.study_id: entry for entry in list_studies(root).studies}
    if study_id not in entries:
        raise UnknownNameError("study", study_id, entries)
    entry = entries[study_id]
    if entry.report is not None:
        return _finished(entry.name, entry.report)
    assert entry.journal is not None  # every entry has one of the two
    return _live(entry.name, _journal_trials(entry.journal)[entry.name])


def _journal_trials(path: Path) -> dict[str, list[FrozenTrial]]:
    """The trials of each study of a journal.

    Raises:
        DataError: It holds something else.
    """
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        storage = JournalStorage(JournalFileBackend(str(path)))
        studies = storage.get_all_studies()
        # The reader passes over a last line that it can't read, as it may be half written.
        if not studies and path.read_bytes().endswith(b"\n"):
            raise ValueError("it holds no study")
        return {each.study_name: storage.get_all_trials(each._study_id, deepcopy=False) for each in studies}
    except Exception as error:  # whatever a foreign or damaged file makes the reader stumble over
        said = " ".join(str(error).split())[:160] or type(error).__name__
        raise DataError([Problem(str(path), 0, "", f"is no journal of studies: {said}; {REMEDY}")]) from error


def _live(name: str, trials: Sequence[FrozenTrial]) -> Study:
    from optuna.trial import TrialState

    done = [each for each in trials if each.state == TrialState.COMPLETE and each.values]
    ranges = dict(trials[0].distributions) if trials else {}
    bounds = {
        key: (float(getattr(each, "low", 0.0)), float(getattr(each, "high", 1.0)), bool(getattr(each, "log", False)))
        for key, each in ranges.items()
    }
    points: list[Point] = []
    best: float | None = None
    first: int | None = None
    for each in done:
        feasible = all(value <= 0 for value in (each.constraints or {}).values())
        if feasible and (best is None or each.values[0] > best):
            best, first = each.values[0], each.number
        points.append(Point(trial=each.number, score=each.values[0], best=best, feasible=feasible))
    kinds = {first: "best", 0: "shipped"}
    lines = [
        Line(
            trial=each.number,
            score=each.values[0],
            positions=tuple(_position(float(each.params[key]), *bounds[key]) for key in bounds),
            kind=kinds.get(each.number, ""),
        )
        for each in done
    ]
    return Study(
        name=name,
        history=tuple(points),
        running=sum(each.state == TrialState.RUNNING for each in trials),
        parameters=tuple(bounds),
        bounds=tuple(bounds.values()),
        importances=shares([each.values[0] for each in done], [each.params for each in done], ranges),
        lines=tuple(sorted(lines, key=lambda line: (line.score, -line.trial))),
        front=_front([(each.number, *map(float, each.values)) for each in done]),
        outcome=None,
    )


def _position(value: float, low: float, high: float, log: bool) -> float:
    if log:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def _front(scored: Sequence[tuple[float, ...]]) -> tuple[tuple[int, float, float], ...]:
    """Of trials with two scores those that no other one beats in both, the best in the first one first."""
    pairs = [(int(each[0]), each[1], each[2]) for each in scored if len(each) == 3]
    kept: list[tuple[int, float, float]] = []
    for each in sorted(pairs, key=lambda pair: (-pair[1], -pair[2], pair[0])):
        if not kept or each[2] > kept[-1][2]:
            kept.append(each)
    return tuple(kept)


def _finished(name: str, path: Path) -> Study:
    try:
        form = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
        views = form["views"]
        study = Study(
            name=name,
            history=tuple(_made(Point, row, "trial score") for row in views["history"]),
            running=0,
            parameters=tuple(map(_text, views["parameters"])),
            bounds=tuple((_number(low), _number(high), bool(log)) for low, high, log in views["bounds"]),
            importances=tuple(_made(Importance, row, "share") for row in views["importances"]),
            lines=tuple(_line(row, len(views["parameters"])) for row in views["lines"]),
            front=tuple((int(number), _number(a), _number(b)) for number, a, b in views["front"]),
            outcome=_outcome(form, path),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise DataError([Problem(str(path), 0, "", f"is no report of a study ({said}); {REMEDY}")]) from error
    return study


def _outcome(form: Mapping[str, Any], path: Path) -> Outcome:
    gains: dict[str, dict[str, float | None]] = {}
    for part in ("dev", "nested", "test"):
        row = form[part]
        if row is not None and row.get("difference") is not None:
            keys = ("before", "after", "difference", "low", "high", "p", "groups")
            gains[part] = {key: None if row.get(key) is None else _number(row[key]) for key in keys}
    nested, test = form["nested"], form["test"]
    profile = path.with_name("tuned.toml")
    return Outcome(
        verdict=_text(form["verdict"]),
        accepted=form["accepted"] is True,
        trials=int(form["trials"]),
        chosen=int(form["chosen"]["trial"]),
        values={_text(key): _number(value) for key, value in form["chosen"]["values"].items()},
        shipped={_text(key): _number(value) for key, value in form.get("shipped", {}).items()},
        gains=gains,
        optimism=None if nested is None or nested["optimism"] is None else _number(nested["optimism"]),
        openings=None if test is None else int(test["openings"]),
        slices=tuple(_made(Slice, row, "queries before after") for row in form["views"]["slices"]),
        warnings=tuple(map(_text, form["warnings"])),
        profile=profile.read_text(encoding="utf-8") if profile.is_file() else None,
    )


def _made(kind: Any, row: Mapping[str, Any], numbers: str) -> Any:
    for key in numbers.split():
        _number(row[key])
    for key in ("best", "low", "high"):
        if row.get(key) is not None:
            _number(row[key])
    for key in ("parameter", "data", "name"):
        if key in row:
            _text(row[key])
    return kind(**row)


def _line(row: Mapping[str, Any], count: int) -> Line:
    positions = tuple(map(_number, row["positions"]))
    if len(positions) != count:
        raise ValueError(f"a line has {len(positions)} positions for {count} parameters")
    return Line(trial=int(row["trial"]), score=_number(row["score"]), positions=positions, kind=_text(row["kind"]))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{str(value)[:40]!r} is no number")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:40]!r} is no text")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")
