"""What the dashboard may read and write: fixed when it starts, never by whoever opens it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolsearch.errors import UsageError

VARIABLE = "TOOLSEARCH_APP"
"""The variable in which `toolsearch app` hands its options to the server that it starts, as one JSON object."""

_PATHS = ("runs", "profiles", "studies", "baselines")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of the start.

    Attributes:
        data: Folders that are data sets or hold some, beside the shipped ones.
        runs: The folder whose children are runs.
        profiles: The folder with profiles (`*.toml`).
        studies: The folder below which studies of the tuner stand.
        baselines: The folder with the gate's baselines.
        edit: Whether anything may be written.
    """

    data: tuple[Path, ...] = ()
    runs: Path = Path("runs")
    profiles: Path = Path("profiles")
    studies: Path = Path("runs")
    baselines: Path = Path("eval/baselines")
    edit: bool = False


def settings_from(environ: Mapping[str, str]) -> Settings:
    """The options as the command handed them over; the defaults where the server was started by itself.

    Args:
        environ: The environment.

    Raises:
        UsageError: The variable holds something else.

    >>> settings_from({VARIABLE: '{"runs": "out", "edit": true}'}).runs.name, settings_from({}).edit
    ('out', False)
    """
    text = environ.get(VARIABLE)
    if not text:
        return Settings()
    try:
        given = json.loads(text)
        return _read(given)
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise UsageError(f"{VARIABLE} can't be read ({error}); start the dashboard with `toolsearch app`.") from error


def from_environment() -> Settings:
    """The options of this process."""
    return settings_from(os.environ)


def _read(given: Mapping[str, Any]) -> Settings:
    unknown = set(given) - {"data", "edit", *_PATHS}
    if unknown:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    paths = {name: Path(given[name]) for name in _PATHS if given.get(name) is not None}
    return Settings(data=tuple(map(Path, given.get("data", ()))), edit=given.get("edit") is True, **paths)
