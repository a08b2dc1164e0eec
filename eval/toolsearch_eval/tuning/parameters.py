"""The numbers of a profile by name: `saturation`, `field_weights.name`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from toolsearch.config import FIELDS, FieldValues, SearchConfig


def parameter_names(config: SearchConfig) -> tuple[str, ...]:
    """Every number of a profile that a search may move, in the order of its settings.

    >>> from toolsearch.config import DEFAULT
    >>> parameter_names(DEFAULT)[:3]
    ('weight_keyword', 'weight_tfidf', 'field_weights.name')
    """
    names: list[str] = []
    for setting in dataclasses.fields(config):
        value = getattr(config, setting.name)
        if isinstance(value, FieldValues):
            names += [f"{setting.name}.{field}" for field in FIELDS]
        elif isinstance(value, float):
            names.append(setting.name)
    return tuple(names)


def parameter_value(config: SearchConfig, name: str) -> float:
    """One number of a profile; the name is one of `parameter_names`."""
    setting, _, field = name.partition(".")
    value = getattr(config, setting)
    return float(getattr(value, field) if field else value)


def with_parameters(config: SearchConfig, values: Mapping[str, float]) -> SearchConfig:
    """The profile with some numbers changed.

    Raises:
        ConfigError: A number is out of range.
    """
    changes: dict[str, Any] = {}
    for name, number in values.items():
        setting, _, field = name.partition(".")
        if field:
            changes[setting] = dataclasses.replace(changes.get(setting, getattr(config, setting)), **{field: number})
        else:
            changes[setting] = number
    return config.replace(**changes)
