"""Other people's rankers by name; they need the extra `peers`. The adapters are those that the bench measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from toolsearch.catalog.tool import Tool
from toolsearch_eval.bench.peers import Bm25s, SklearnTfidf, text_of
from toolsearch_eval.extras import require

if TYPE_CHECKING:
    from toolsearch_eval.rankers.resolve import Ranker


class SklearnWords(SklearnTfidf):
    """scikit-learn's TF-IDF over words, by cosine."""

    name = "sklearn-words"


class SklearnCharacters(SklearnTfidf):
    """scikit-learn's TF-IDF over runs of three to five characters inside words, by cosine."""

    name = "sklearn-characters"

    def index(self, tools: Sequence[Tool]) -> None:
        """Read a catalog."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._names = [tool.name for tool in tools]
        self._vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5))
        self._matrix = self._vectorizer.fit_transform([text_of(tool) for tool in tools])


PEERS: Final[Mapping[str, tuple[str, Callable[[], Ranker]]]] = {
    "bm25s": ("bm25s", Bm25s),
    "sklearn-words": ("sklearn", SklearnWords),
    "sklearn-characters": ("sklearn", SklearnCharacters),
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
