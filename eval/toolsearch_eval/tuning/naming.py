"""The name of a study: a change of anything that decides what its trials are makes another study."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolsearch_eval.tuning.evaluator import Values
from toolsearch_eval.tuning.panel import LabelledSet
from toolsearch_eval.tuning.space import Space


def study_name(space: Space, sets: Sequence[LabelledSet], settings: Mapping[str, Any], shipped: Values) -> str:
    """`default-s…-d…-o…`: the profile, then fingerprints of the space, the data and all else.

    Args:
        space: What moves.
        sets: The dev queries.
        settings: Sampler, seed, size of a batch, objectives and whatever else decides what is tried.
        shipped: What the shipped profile gives: a change of the search itself shows here.
    """
    data = _short([each.fingerprint for each in sets])
    measured = [[round(float(value), 9) for value in values] for values in shipped]
    rest = _short([dict(settings), measured])
    return f"{space.profile.name}-s{space.fingerprint[:8]}-d{data}-o{rest}"


def _short(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:8]
