"""A profile with its weights moved by factors, as the sliders give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from toolsearch.config import FIELDS, FieldValues, SearchConfig

KEYWORD_ARM: Final = "keyword_arm"
FACTORS: Final = (KEYWORD_ARM, *FIELDS)
"""What can be moved: how much the keyword arm counts beside the other, and what a term counts in each field."""
LARGEST: Final = 4.0
_REFERENCE_FIELDS: Final = frozenset({KEYWORD_ARM, "name", "hint", "description"})


def movable(config: SearchConfig) -> tuple[str, ...]:
    """The factors that change something in a profile: the reference knows no server and no parameters."""
    return tuple(name for name in FACTORS if config.ranking != "reference" or name in _REFERENCE_FIELDS)


def moved(config: SearchConfig, factors: Mapping[str, float]) -> SearchConfig:
    """The profile with its weights multiplied.

    Args:
        config: The profile.
        factors: By name of `FACTORS`, 0 or more; what is missing is 1. A field's factor holds in both arms.

    Returns:
        The same profile where every factor is 1, else one whose name says that it was moved.

    Raises:
        ConfigError: Nothing is left that could rank.

    >>> from toolsearch.config import DEFAULT
    >>> changed = moved(DEFAULT, {"name": 2.0})
    >>> changed.name, changed.field_weights.name, changed.keyword_points.name
    ('default, moved', 5.0, 20.0)
    """
    known = {name: factors.get(name, 1.0) for name in movable(config)}
    if all(factor == 1.0 for factor in known.values()):
        return config
    fields = {name: known.get(name, 1.0) for name in FIELDS}
    return config.replace(
        name=f"{config.name}, moved",
        weight_keyword=config.weight_keyword * known[KEYWORD_ARM],
        field_weights=_scaled(config.field_weights, fields),
        keyword_points=_scaled(config.keyword_points, fields),
    )


def _scaled(values: FieldValues, factors: Mapping[str, float]) -> FieldValues:
    return replace(values, **{name: getattr(values, name) * factor for name, factor in factors.items()})
