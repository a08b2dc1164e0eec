"""How near tools are to queries in meaning: a cosine for each pair, or none where the model can't read both of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toolsearch.config import SearchConfig

if TYPE_CHECKING:
    from toolsearch.search.evidence import Evidence

Floats = NDArray[np.float64]
COSINE_DIGITS = 6
"""Cosines are rounded to this, so that the order in which a library adds up never decides a rank."""


@dataclass(frozen=True, slots=True)
class Nearness:
    """What the semantic arm knows of the pairs of an evidence, in their order.

    Attributes:
        cosine: -1..1; 0 where the arm abstains.
        speaks: Whether the model can read both query and tool.
    """

    cosine: Floats
    speaks: NDArray[np.bool_]


def calibrated(cosine: Floats, config: SearchConfig) -> Floats:
    """Cosines as 0..1: nothing up to `semantic_floor`, all from `semantic_ceiling` on, evenly between.

    >>> from toolsearch.config import DEFAULT
    >>> config = DEFAULT.replace(semantic_floor=0.25, semantic_ceiling=0.75)
    >>> calibrated(np.array([0.0, 0.5, 0.9]), config).tolist()
    [0.0, 0.5, 1.0]
    """
    width = config.semantic_ceiling - config.semantic_floor
    clipped: Floats = np.clip((cosine - config.semantic_floor) / width, 0.0, 1.0)
    return clipped


def arm_share(evidence: Evidence, config: SearchConfig) -> Floats:
    """The semantic arm's part of the three weights by pair, 0..1; 0 where it abstains: then the other two share all."""
    if evidence.nearness is None:
        return np.zeros(len(evidence.pair_tool))
    # Divided by the largest first: the sum of very large weights is no finite number.
    weights = np.array([config.weight_keyword, config.weight_tfidf, config.weight_semantic])
    weights = weights / weights.max()
    return np.where(evidence.nearness.speaks, weights[2] / weights.sum(), 0.0)


def semantic_scores(evidence: Evidence, config: SearchConfig) -> Floats:
    """What the semantic arm gives to each pair, weight included."""
    if evidence.nearness is None:
        return np.zeros(len(evidence.pair_tool))
    return arm_share(evidence, config) * calibrated(evidence.nearness.cosine, config)


def found_near(evidence: Evidence, config: SearchConfig) -> NDArray[np.bool_]:
    """Which pairs the semantic arm finds, though they may share no term."""
    if evidence.nearness is None:
        return np.zeros(len(evidence.pair_tool), dtype=bool)
    near: NDArray[np.bool_] = evidence.nearness.speaks & (
        calibrated(evidence.nearness.cosine, config) >= config.semantic_reach
    )
    return near
