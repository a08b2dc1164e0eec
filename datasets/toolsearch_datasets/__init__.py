"""The data sets that ship; this package only finds their folders."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).parent


def names() -> tuple[str, ...]:
    """The names of the shipped data sets, sorted."""
    return tuple(sorted(path.parent.name for path in _ROOT.glob("*/dataset.toml")))


def folder(name: str) -> Path:
    """The folder of a shipped data set.

    Raises:
        KeyError: No data set of that name ships.
    """
    if name not in names():
        raise KeyError(name)
    return _ROOT / name


def field_reports() -> Path:
    """The file with the field reports: one case a line."""
    return _ROOT / "field_reports" / "field_reports.jsonl"
