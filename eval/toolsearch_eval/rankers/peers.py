"""Other people's rankers by name; they need the extra `peers`.

The adapters of bm25s and scikit-learn are those that the bench measures; the others stand in modules of their own.

Two libraries refuse a catalog without a single term; here such a catalog is one in which nothing is found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

from toolsearch.catalog.tool import Tool
from toolsearch_eval.bench.peers import Bm25s, SklearnTfidf, text_of
from toolsearch_eval.extras import require
from toolsearch_eval.rankers.peers_fastmcp import FastMcpBm25, FastMcpRegex
from toolsearch_eval.rankers.peers_pydantic import PydanticAi
from toolsearch_eval.rankers.peers_toolpicker import ToolPickerRanker
from toolsearch_eval.rankers.protocol import Ranker


class Bm25sRanker(Bm25s):
    """bm25s with its numpy backend, English stop words and English stems."""

    _has_terms = True

    def index(self, tools: Sequence[Tool]) -> None:
        """Read a catalog."""
        self._has_terms = any(len(self._tokens([text_of(tool)]).ids[0]) for tool in tools)
        if self._has_terms:
            super().index(tools)

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Names with scores above 0, best first, ties by name."""
        return super().rank(queries, depth) if self._has_terms else [[] for _ in queries]


class _Sklearn(SklearnTfidf):
    """scikit-learn's TF-IDF by cosine."""

    _settings: ClassVar[Mapping[str, Any]]
    _has_terms = True

    def index(self, tools: Sequence[Tool]) -> None:
        """Read a catalog."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._names = [tool.name for tool in tools]
        self._vectorizer = TfidfVectorizer(**self._settings)
        texts = [text_of(tool) for tool in tools]
        self._has_terms = any(map(self._vectorizer.build_analyzer(), texts))
        if self._has_terms:
            self._matrix = self._vectorizer.fit_transform(texts)

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Names with cosines above 0, best first, ties by name."""
        return super().rank(queries, depth) if self._has_terms else [[] for _ in queries]


class SklearnWords(_Sklearn):
    """scikit-learn's TF-IDF over words with English stop words and damped counts, by cosine."""

    name = "sklearn-words"
    _settings: ClassVar[Mapping[str, Any]] = {"stop_words": "english", "sublinear_tf": True}


class SklearnCharacters(_Sklearn):
    """scikit-learn's TF-IDF over runs of three to five characters inside words, by cosine."""

    name = "sklearn-characters"
    _settings: ClassVar[Mapping[str, Any]] = {"analyzer": "char_wb", "ngram_range": (3, 5)}


PEERS: Final[Mapping[str, tuple[str, Callable[[], Ranker]]]] = {
    "bm25s": ("bm25s", Bm25sRanker),
    "sklearn-words": ("sklearn", SklearnWords),
    "sklearn-characters": ("sklearn", SklearnCharacters),
    "fastmcp-bm25": ("fastmcp", FastMcpBm25),
    "fastmcp-regex": ("fastmcp", FastMcpRegex),
    "pydantic-ai": ("pydantic_ai", PydanticAi),
    "toolpicker": ("toolpicker", ToolPickerRanker),
}
"""By name: the library that must be there, and what makes the ranker."""


def make_peer(name: str) -> Ranker:
    """One of `PEERS`, ready to index.

    Raises:
        UsageError: Its library is not installed.
    """
    library, make = PEERS[name]
    require(library, extra="peers", purpose=f"the ranker {name!r}")
    return make()
