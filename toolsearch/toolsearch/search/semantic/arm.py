"""The semantic arm: vectors of a catalog's tools and of queries, and what they say of an evidence's pairs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toolsearch.catalog.tool import Tool
from toolsearch.config import SearchConfig
from toolsearch.errors import UsageError
from toolsearch.folders import kept_caches
from toolsearch.search.evidence import Evidence, by_server
from toolsearch.search.query import Query
from toolsearch.search.semantic.encoder import Encoder, Vectors, load_encoder
from toolsearch.search.semantic.nearness import COSINE_DIGITS, Nearness
from toolsearch.search.semantic.scripts import can_read
from toolsearch.search.semantic.text import encoded_text, fit
from toolsearch.search.semantic.vectors import VectorStore
from toolsearch.search.slots import STOP

if TYPE_CHECKING:
    from toolsearch.search.index import Index

_CATALOGS = 4
"""Catalogs whose vectors stay together as one table."""

VECTORS = "vectors"
"""The folder of vectors among the caches of a process."""

Readable = NDArray[np.bool_]


class SemanticArm:
    """One model's view of catalogs and queries; safe to use from several threads."""

    def __init__(self, vectors: VectorStore) -> None:
        """Take the store of the model's vectors."""
        self._vectors = vectors
        self._scripts = vectors.encoder.scripts
        self._tables: dict[str, tuple[tuple[Tool, ...], Vectors, Readable]] = {}
        self._lock = threading.Lock()

    def widened(self, index: Index, queries: Sequence[Query], evidence: Evidence) -> Evidence:
        """The evidence with every tool of every query as a pair, and how near each is.

        The arm abstains from a query that its model can't read or that is of stop words alone, and from a tool that its
        model can't read.
        """
        table, readable = self._table(index)
        meant = np.bincount(evidence.slot_query[evidence.slot_kind != STOP], minlength=len(queries)) > 0
        cosine = np.zeros((len(queries), index.size))
        speaks = np.zeros((len(queries), index.size), dtype=bool)
        for number, query in enumerate(queries):
            text = fit(query.text)
            if index.size and meant[number] and can_read(text, self._scripts):
                # One query at a time: what it gets never hangs on how many are asked together.
                [vector] = self._vectors.of([text], keep=False)
                cosine[number] = np.round((table @ vector).astype(np.float64), COSINE_DIGITS)
                speaks[number] = readable
        cosine[~speaks] = 0.0
        pair_query = np.repeat(np.arange(len(queries), dtype=np.int64), index.size)
        pair_tool = np.tile(np.arange(index.size, dtype=np.int64), len(queries))
        at = evidence.pair_query * index.size + evidence.pair_tool
        return replace(
            evidence,
            entry_pair=at[evidence.entry_pair],
            pair_query=pair_query,
            pair_tool=pair_tool,
            servers=by_server(index, len(queries), pair_query, pair_tool),
            nearness=Nearness(cosine.ravel(), speaks.ravel()),
        )

    def _table(self, index: Index) -> tuple[Vectors, Readable]:
        """The vectors of a catalog's tools, by number; only tools with a new text are encoded."""
        with self._lock:
            known = self._tables.get(index.fingerprint)
            if known is None or known[0] is not index.tools:
                texts = [encoded_text(tool) for tool in index.tools]
                readable = np.array([can_read(text, self._scripts) for text in texts], dtype=bool)
                # What can't be read need not be encoded.
                rows = self._vectors.of([text for text, read in zip(texts, readable, strict=True) if read])
                table = np.zeros((index.size, rows.shape[1]), dtype=np.float32)
                table[readable] = rows
                while len(self._tables) >= _CATALOGS:
                    self._tables.pop(next(iter(self._tables)))
                known = self._tables[index.fingerprint] = (index.tools, table, readable)
            return known[1], known[2]


class Models:
    """Semantic arms by model, each loaded once, and why another can't be had."""

    def __init__(
        self, load: Callable[[str], Encoder] = load_encoder, *, folder: Callable[[], Path | None] = lambda: None
    ) -> None:
        """Take how a model is loaded and where vectors are kept.

        Args:
            load: Gives the encoder of a model or raises `UsageError`.
            folder: Asked when a model is loaded: where its vectors are kept, see `VectorStore`; None keeps none beyond
                the process.
        """
        self._load = load
        self._folder = folder
        self._arms: dict[str, SemanticArm] = {}
        self._missing: dict[str, str] = {}
        self._lock = threading.Lock()

    def arm(self, config: SearchConfig) -> SemanticArm | None:
        """A profile's arm, its model loaded at the first call; None where the profile has none, or none can be had."""
        if config.ranking != "standard" or config.weight_semantic == 0:
            return None
        model = config.semantic_model
        with self._lock:
            if model not in self._arms and model not in self._missing:
                try:
                    self._arms[model] = SemanticArm(VectorStore(self._load(model), self._folder()))
                except UsageError as error:
                    self._missing[model] = str(error)
            return self._arms.get(model)

    def warnings_of(self, config: SearchConfig) -> tuple[str, ...]:
        """What to tell about a profile whose model can't be had; else nothing."""
        if self.arm(config) is not None or config.semantic_model not in self._missing or config.weight_semantic == 0:
            return ()
        why = self._missing[config.semantic_model]
        return (f"profile {config.name!r} runs on two arms, without the semantic one: {why}",)

    def widened(self, index: Index, queries: Sequence[Query], evidence: Evidence, config: SearchConfig) -> Evidence:
        """The evidence with what the profile's semantic arm knows, or as it is where there is none.

        A model that fails at its work is out for the rest of the process, and a warning says so: no search fails by it.
        """
        arm = self.arm(config)
        if arm is None:
            return evidence
        try:
            return arm.widened(index, queries, evidence)
        except Exception as error:  # a model is anyone's, and its libraries fail in many ways
            said = " ".join(str(error).split())[:200]
            with self._lock:
                self._arms.pop(config.semantic_model, None)
                self._missing[config.semantic_model] = (
                    f"the model {config.semantic_model!r} failed: {type(error).__name__}: {said}"
                )
            return evidence


def _kept_vectors() -> Path | None:
    folder = kept_caches()
    return None if folder is None else folder / VECTORS


MODELS = Models(folder=_kept_vectors)
"""The process's own models. Their vectors are kept where the process keeps its caches, see `toolsearch.folders`."""
