"""A model of sentence-transformers."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from toolsearch.errors import UsageError
from toolsearch.search.semantic.encoder import Vectors
from toolsearch.search.semantic.scripts import scripts_of_vocabulary


class SentenceModel:
    """Texts to vectors by sentence-transformers, on the processor, which every machine has.

    Attributes:
        vocabulary: The pieces of words that the model knows, sorted.
    """

    def __init__(self, source: str, *, name: str) -> None:
        """Load the model.

        Args:
            source: A folder, or a name that the library looks up in its cache and else on the network.
            name: How it was asked for.

        Raises:
            UsageError: The library is not installed, or it can't load the model.
        """
        if find_spec("sentence_transformers") is None:
            raise UsageError(
                f"the model {name!r} needs sentence_transformers, which is not installed; install toolsearch[semantic]."
            )
        try:
            from sentence_transformers import SentenceTransformer

            self._model: Any = SentenceTransformer(source, device="cpu")
        except (Exception, SystemExit) as error:  # the library, torch and the network fail in many ways
            said = " ".join(str(error).split())[:300]
            raise UsageError(
                f"the model {name!r} can't be loaded: {type(error).__name__}: {said}. Give the folder of a "
                "sentence-transformers or model2vec model, or a name that sentence-transformers knows."
            ) from error
        self.name = name
        vocabulary = self._model.tokenizer.get_vocab()
        self.vocabulary: tuple[str, ...] = tuple(sorted(vocabulary))
        self.scripts = scripts_of_vocabulary(vocabulary)
        self.dimension = len(self._encoded("dimension"))
        self.fingerprint = self._digest(vocabulary)
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text.

        Every text is encoded alone: in a batch, shorter ones are filled up, which moves the last digits, and then a
        vector would depend on its neighbours.
        """
        with self._lock:
            rows = [self._encoded(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.dimension)

    def _encoded(self, text: str) -> Vectors:
        found = self._model.encode([text], normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False)
        return np.asarray(found[0], dtype=np.float32)

    def _digest(self, vocabulary: dict[str, int]) -> str:
        """SHA-256 over all numbers of the model and its vocabulary; its name and place change no vector."""
        digest = hashlib.sha256(f"{self._model.max_seq_length}\n".encode())
        for token, number in sorted(vocabulary.items()):
            digest.update(f"{number} {token}\n".encode("utf-8", "surrogatepass"))
        for label, values in sorted(self._model.state_dict().items()):
            digest.update(label.encode())
            digest.update(np.ascontiguousarray(values.float().numpy()).tobytes())
        # Two models of the same numbers may still put their modules together in another way.
        digest.update(self._encoded("The quick brown fox.").round(4).tobytes())
        return digest.hexdigest()
