"""Two profiles beside each other: the settings that differ."""

from __future__ import annotations

from collections.abc import Iterator

import pandas

from toolsearch.config import FieldValues, SearchConfig
from toolsearch_app.text import line


def setting_differences(a: SearchConfig, b: SearchConfig) -> pandas.DataFrame:
    """A row for each setting that differs: `setting`, `A`, `B`; empty where the two rank alike. Names don't count."""
    other = dict(_settings(b))
    rows = [
        {"setting": name, "A": _written(value), "B": _written(other[name])}
        for name, value in _settings(a)
        if value != other[name]
    ]
    return pandas.DataFrame(rows, columns=["setting", "A", "B"])


def _settings(config: SearchConfig) -> Iterator[tuple[str, float | str]]:
    for name in SearchConfig.__dataclass_fields__:
        value = getattr(config, name)
        if isinstance(value, FieldValues):
            yield from ((f"{name}.{field}", number) for field, number in _fields(value))
        elif name != "name":
            yield name, value


def _fields(values: FieldValues) -> list[tuple[str, float]]:
    return [(field, getattr(values, field)) for field in FieldValues.__dataclass_fields__]


def _written(value: float | str) -> str:
    return line(value) if isinstance(value, str) else f"{value:g}"
