"""Baselines and the gate's verdicts over time, read from a folder; a damaged file is told and harms nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_eval.gate.baseline import Baseline
from toolsearch_eval.gate.baseline_file import read_baseline
from toolsearch_eval.gate.blessing import Blessing
from toolsearch_eval.gate.log import GateRecord, read_log

MOST_BYTES = 64_000_000
"""Larger files are told and not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineFile:
    """A baseline with all that was blessed in its place.

    Attributes:
        name: The file's name without its ending.
        baseline: What is blessed now.
    """

    name: str
    baseline: Baseline

    @property
    def blessings(self) -> tuple[Blessing, ...]:
        """Every blessing, the present one last."""
        return (*self.baseline.history, self.baseline.blessing)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateHistory:
    """What lies in a folder.

    Attributes:
        baselines: By name.
        records: Every line of every log, oldest first.
        problems: Files and lines that can't be read.
    """

    baselines: tuple[BaselineFile, ...]
    records: tuple[GateRecord, ...]
    problems: tuple[Problem, ...]


def gate_history(folder: str | Path) -> GateHistory:
    """The baselines (`*.json`) and logs (`*.jsonl`) that stand right in a folder; nothing where there is none."""
    baselines: list[BaselineFile] = []
    records: list[GateRecord] = []
    problems: list[Problem] = []
    for path in history_files(folder):
        try:
            size = path.stat().st_size
        except OSError as error:
            problems.append(Problem(str(path), 0, "", f"can't be read: {error.strerror or error}"))
            continue
        if size > MOST_BYTES:
            problems.append(Problem(str(path), 0, "", f"has {size:,} bytes; at most {MOST_BYTES:,} are read"))
        elif path.suffix == ".jsonl":
            records += read_log(path, problems)
        else:
            try:
                baselines.append(BaselineFile(name=path.stem, baseline=read_baseline(path)))
            except DataError as error:
                problems += error.problems
            except UsageError as error:
                problems.append(Problem(str(path), 0, "", str(error)))
    return GateHistory(
        baselines=tuple(baselines), records=tuple(sorted(records, key=_moment)), problems=tuple(problems)
    )


def history_files(folder: str | Path) -> tuple[Path, ...]:
    """The files of a folder that may be baselines or logs, by name."""
    base = Path(folder)
    try:
        found = [path for path in base.iterdir() if path.suffix in (".json", ".jsonl") and path.is_file()]
    except (OSError, ValueError):
        return ()
    return tuple(sorted(found))


def baseline_name(path: str) -> str:
    """How a baseline that a log names is called in the list: its file's name without folder and ending.

    >>> baseline_name("eval/baselines/default.json"), baseline_name("default.json")
    ('default', 'default')
    """
    return path.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".json")


def _moment(record: GateRecord) -> Any:
    from datetime import datetime

    return datetime.fromisoformat(record.date)
