"""Other libraries beside which we measure, used as their users would; they need the extra `peers`.

Each class is a ranker too: `toolsearch eval --ranker toolsearch_eval.bench.peers:Bm25s`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from toolsearch.catalog.tool import Tool

# Neither library splits identifiers, and a tool's name is one; without this they would rank by descriptions alone.
_BORDERS = re.compile(r"[_\-./:]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def text_of(tool: Tool) -> str:
    """All the text of a tool as one string: leaf name, server, hint, description, parameters and what is said of them.

    >>> text_of(Tool(name="sendMessage", description="Sends it."))
    'send Message Sends it.'
    """
    parts = [_split(tool.leaf), _split(tool.server or ""), tool.search_hint or "", tool.description or ""]
    properties = (tool.input_schema or {}).get("properties")
    for name, schema in (properties if isinstance(properties, Mapping) else {}).items():
        described = schema.get("description") if isinstance(schema, Mapping) else None
        parts += [_split(str(name)), described if isinstance(described, str) else ""]
    return " ".join(part for part in parts if part)


def installed_peers() -> tuple[Bm25s | SklearnTfidf, ...]:
    """The peers whose library is installed, each ready to index."""
    found: list[Bm25s | SklearnTfidf] = []
    if find_spec("bm25s") is not None:
        found.append(Bm25s())
    if find_spec("sklearn") is not None:
        found.append(SklearnTfidf())
    return tuple(found)


class Bm25s:
    """bm25s with its numpy backend, English stop words and English stems."""

    name = "bm25s"

    def __init__(self) -> None:
        self._stemmer = _stemmer()
        self._names: list[str] = []
        self._index: Any = None

    def index(self, tools: Sequence[Tool]) -> None:
        """Read a catalog."""
        self._names = [tool.name for tool in tools]
        self.index_texts([text_of(tool) for tool in tools])

    def index_texts(self, texts: Sequence[str]) -> None:
        """Tokenize and index texts; for timing it without the work of making them."""
        import bm25s

        self._index = bm25s.BM25(backend="numpy")
        self._index.index(self._tokens(texts), show_progress=False)

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Names with scores above 0, best first, ties by name."""
        rankings = []
        for query in queries:
            places, scores = self.search(query, len(self._names))
            rankings.append(_ordered([self._names[place] for place in places], scores, depth))
        return rankings

    def search(self, query: str, count: int) -> tuple[Any, Any]:
        """Places and scores of the best texts, as the library answers."""
        answer = self._index.retrieve(self._tokens([query]), k=count, show_progress=False)
        return answer.documents[0], answer.scores[0]

    def _tokens(self, texts: Sequence[str]) -> Any:
        import bm25s

        return bm25s.tokenize(list(texts), stopwords="en", stemmer=self._stemmer, show_progress=False)


class SklearnTfidf:
    """scikit-learn's TF-IDF over words with English stop words and damped counts, by cosine."""

    name = "sklearn"

    def __init__(self) -> None:
        self._names: list[str] = []
        self._vectorizer: Any = None
        self._matrix: Any = None

    def index(self, tools: Sequence[Tool]) -> None:
        """Read a catalog."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._names = [tool.name for tool in tools]
        self._vectorizer = TfidfVectorizer(stop_words="english", sublinear_tf=True)
        self._matrix = self._vectorizer.fit_transform([text_of(tool) for tool in tools])

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Names with cosines above 0, best first, ties by name."""
        if not queries:
            return []
        cosines = (self._vectorizer.transform(list(queries)) @ self._matrix.T).toarray()
        return [_ordered(self._names, row, depth) for row in cosines]


def _ordered(names: Sequence[str], scores: Any, depth: int) -> list[tuple[str, float]]:
    rounded = np.round(np.asarray(scores, dtype=float), 9).tolist()
    found = [(name, score) for name, score in zip(names, rounded, strict=True) if score > 0]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:depth]


def _split(name: str) -> str:
    return " ".join(piece for piece in _BORDERS.split(name) if piece)


def _stemmer() -> Callable[[str], str] | Any:
    if find_spec("Stemmer") is not None:
        import Stemmer

        return Stemmer.Stemmer("english")
    import snowballstemmer

    return snowballstemmer.stemmer("english").stemWord
