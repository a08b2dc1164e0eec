"""Every look at a test split is written down: a split that is looked at often is a dev split."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from toolsearch.errors import DataError, Problem, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """One look at the test split of one data set.

    Attributes:
        date: When, ISO 8601.
        data: The data set's name.
        fingerprint: Of what was measured.
        study: The study that asked for it.
        config: The values that were accepted.
    """

    date: str
    data: str
    fingerprint: str
    study: str
    config: Mapping[str, float]


def read_openings(path: str | Path) -> tuple[Opening, ...]:
    """All openings of a file, oldest first; none where there is no file.

    Raises:
        DataError: The file holds something else; every fault at once.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise DataError([Problem(str(path), 0, "", f"can't be read as a log of openings: {error}")]) from error
    found: list[Opening] = []
    problems: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(Opening(**json.loads(line)))
        except (ValueError, TypeError, RecursionError) as error:
            problems.append(Problem(str(path), number, "", f"is no opening of a test split: {error}"))
    if problems:
        raise DataError(problems)
    return tuple(found)


def log_openings(path: str | Path, openings: Sequence[Opening]) -> None:
    """Append to the log, before the split is looked at.

    Raises:
        UsageError: The file can't be written; the split then stays closed.
    """
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8") as stream:
            for opening in openings:
                stream.write(json.dumps(asdict(opening), sort_keys=True) + "\n")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: the opening of the test split can't be written down: {error}") from error


def opened_before(openings: Sequence[Opening], fingerprint: str) -> int:
    """How many different configurations had seen the test split of this fingerprint."""
    return len({json.dumps(dict(each.config), sort_keys=True) for each in openings if each.fingerprint == fingerprint})


def opening(now: datetime, *, data: str, fingerprint: str, study: str, config: Mapping[str, float]) -> Opening:
    """One look, at a moment that the caller names."""
    return Opening(
        date=now.isoformat(timespec="seconds"), data=data, fingerprint=fingerprint, study=study, config=dict(config)
    )
