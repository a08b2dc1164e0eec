"""The shipped vectors of English words, and which words are near which.

A vector is 128 whole numbers of 8 bits. A product of two has at most 2,064,512 in its sum, which a float of 32 bits
holds exactly, so cosines are the same on every machine, whatever order its libraries add in.

How the vectors are made is in `make`; they are derived from the model all-MiniLM-L6-v2 and stand, apart from the code,
under its licence (Apache 2.0, beside them).
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FLOOR = 0.35
"""Words with a cosine up to this are not related: below it stands anything that is talked of in the same texts."""
CEILING = 0.9
"""From here on a related word is as good as it can be; other forms of one word come so near."""
_MOST = 256
"""Related words of one word that are kept; far more than any catalog has of them."""


class WordVectors:
    """Stems with a vector for each."""

    def __init__(self, stems: tuple[str, ...], vectors: NDArray[np.int8]) -> None:
        """Take the stems, sorted and each once, and their vectors, shape (stems, dimensions); no vector is all 0.

        Raises:
            ValueError: The two don't fit together.
        """
        if vectors.ndim != 2 or len(stems) != len(vectors) or list(stems) != sorted(set(stems)):
            raise ValueError("stems have to be sorted, each once, and have a row of vectors each")
        self.stems = stems
        self.numbers = {stem: number for number, stem in enumerate(stems)}
        self._vectors = vectors.astype(np.float32)
        self._lengths: Floats = np.sqrt((vectors.astype(np.int64) ** 2).sum(axis=1).astype(np.float64))
        if not self._lengths.all():
            raise ValueError("a vector is all 0")

    def near(self, stem: str) -> tuple[tuple[str, float], ...]:
        """The stems whose cosine with a stem is above `FLOOR`, nearest first, equal ones in order of the alphabet.

        The stem itself is not among them; a stem without a vector has none.
        """
        number = self.numbers.get(stem)
        if number is None:
            return ()
        products = (self._vectors @ self._vectors[number]).astype(np.float64)
        cosines = products / (self._lengths * self._lengths[number])
        cosines[number] = 0.0
        found = np.flatnonzero(cosines > FLOOR)
        found = found[np.argsort(-cosines[found], kind="stable")][:_MOST]
        return tuple((self.stems[place], float(cosines[place])) for place in found.tolist())


def worth(cosine: float) -> float:
    """How much a related word is worth beside the word itself, 0..1: nothing at `FLOOR`, all from `CEILING` on.

    >>> worth(0.35), round(worth(0.625), 6), worth(0.95)
    (0.0, 0.5, 1.0)
    """
    return min(max((cosine - FLOOR) / (CEILING - FLOOR), 0.0), 1.0)


@cache
def shipped() -> WordVectors:
    """The built-in vectors; read once, at the first search that needs them."""
    data = files("toolsearch.search.related") / "data"
    with (data / "vectors.npy").open("rb") as file:
        vectors = np.load(file, allow_pickle=False)
    return WordVectors(tuple((data / "stems.txt").read_text(encoding="utf-8").split()), vectors)


@lru_cache(maxsize=1 << 14)
def related(stem: str) -> tuple[tuple[str, float], ...]:
    """The stems near a stem by the built-in vectors, nearest first, each with its `worth`; remembered."""
    return tuple((other, worth(cosine)) for other, cosine in shipped().near(stem))
