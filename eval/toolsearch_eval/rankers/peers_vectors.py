"""Sentence vectors by any model that sentence-transformers can load, by name or from a folder: `st:NAME|PATH`.

Needs the extra `semantic`, which brings torch. A model's name is looked up by the library, in its cache or over the
network; a folder needs neither. A tool's text is the one that bm25s gets: all of it, identifiers split.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.bench.peers import text_of
from toolsearch_eval.extras import require
from toolsearch_eval.rankers.order import best_first
from toolsearch_eval.rankers.own import described
from toolsearch_eval.rankers.peers_text import writable

PREFIX: Final = "st:"
"""Begins the name of such a ranker."""


class SentenceVectors:
    """Tools by the cosine of their vector with the query's.

    Every text is encoded alone: in a batch, shorter ones are filled up, which moves the last digits, and then a result
    would depend on its neighbours.
    """

    def __init__(self, name: str, model: Any) -> None:
        """Take the name in reports and a loaded model, which has `encode`."""
        self.name = name
        self.model = name.removeprefix(PREFIX)
        self._model = model
        self._names: list[str] = []
        self._vectors = np.zeros((0, 0))

    def index(self, tools: Sequence[Tool]) -> None:
        """Encode a catalog; of tools with the same name the first."""
        first: dict[str, Tool] = {}
        for tool in tools:
            first.setdefault(tool.name, tool)
        self._names = list(first)
        if first:
            self._vectors = np.vstack([self._encoded(text_of(tool)) for tool in first.values()])

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Names with cosines, best first, ties by name; nothing for a query of white space."""
        return [self._found(query, depth) for query in queries]

    def _found(self, query: str, depth: int) -> list[tuple[str, float]]:
        if not self._names or not query.strip():
            return []
        return best_first(zip(self._names, (self._vectors @ self._encoded(query)).tolist(), strict=True), depth)

    def _encoded(self, text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        vectors = self._model.encode(
            [writable(text)], normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors[0], dtype=np.float64)


def load_vectors(spec: str) -> SentenceVectors:
    """The ranker for `st:NAME|PATH`, its model loaded, on the processor, which every machine has.

    Raises:
        UsageError: No model is named, the library is not installed, or it can't load the model.
    """
    model = spec.removeprefix(PREFIX)
    if not model.strip():
        raise UsageError(
            f"the ranker {spec!r} names no model; write st: and a model's name or folder, such as st:all-MiniLM-L6-v2."
        )
    require("sentence_transformers", extra="semantic", purpose=f"the ranker {spec!r}")
    try:
        from sentence_transformers import SentenceTransformer

        loaded = SentenceTransformer(model, device="cpu")
    except (Exception, SystemExit) as error:  # the library, torch and the network fail in many ways
        raise UsageError(f"the ranker {spec!r} can't load its model: {described(error)}") from error
    return SentenceVectors(spec, loaded)
