"""A model2vec model from its folder: one vector for each piece of a word, a text is their mean.

Read with numpy alone where its tokenizer is BERT's; for any other the library `tokenizers` has to be there.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolsearch.errors import UsageError
from toolsearch.search.semantic.encoder import Vectors
from toolsearch.search.semantic.scripts import scripts_of_vocabulary
from toolsearch.search.semantic.word_pieces import WordPieces

_KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "i1", "U8": "u1"}
_MOST_PIECES = 512
_FILES = ("config.json", "tokenizer.json", "model.safetensors")


class StaticModel:
    """Texts to vectors by a table."""

    def __init__(self, folder: Path, *, name: str) -> None:
        """Read the model.

        Args:
            folder: With `config.json`, `tokenizer.json` and `model.safetensors`.
            name: How it was asked for.

        Raises:
            UsageError: A file is missing or not of this form, or the tokenizer needs a library that is not installed.
        """
        try:
            read = {file: (folder / file).read_bytes() for file in _FILES}
            form = json.loads(read["tokenizer.json"])
            tensors = read_tensors(read["model.safetensors"])
            table = tensors["embeddings"].astype(np.float32)
            if table.ndim != 2 or not table.size:
                raise ValueError("its table of vectors is empty")
            self._mapping = tensors["mapping"].astype(np.int64) if "mapping" in tensors else None
            self._weights = tensors["weights"].astype(np.float32) if "weights" in tensors else None
            self._numbers, vocabulary = _tokenizer(form, name)
            self._check(table, vocabulary)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            said = f"{type(error).__name__}: {error}"[:300]
            raise UsageError(
                f"the model {name!r} can't be read as a model2vec model: {said}. Its folder must hold "
                f"{', '.join(_FILES)}."
            ) from error
        self._table = table
        self.name = name
        self.dimension = int(table.shape[1])
        self.scripts = scripts_of_vocabulary(vocabulary)
        self.fingerprint = hashlib.sha256(b"".join(hashlib.sha256(read[file]).digest() for file in _FILES)).hexdigest()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text; of zeros where the model knows no piece of it."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for place, text in enumerate(texts):
            numbers = np.array(self._numbers(text)[:_MOST_PIECES], dtype=np.int64)
            if len(numbers):
                row = self._table[numbers if self._mapping is None else self._mapping[numbers]].astype(np.float64)
                if self._weights is not None:
                    row *= self._weights[numbers][:, np.newaxis]
                mean = row.mean(axis=0)
                rows[place] = mean / max(float(np.linalg.norm(mean)), 1e-12)
        return rows

    def _check(self, table: Vectors, vocabulary: dict[str, int]) -> None:
        """That every piece has a vector, so that no text fails later."""
        pieces = max(vocabulary.values(), default=-1) + 1
        rows = table.shape[0] if self._mapping is None else len(self._mapping)
        if pieces > rows or (self._weights is not None and pieces > len(self._weights)):
            raise ValueError(f"it has {pieces} pieces and vectors or weights for {rows}")
        if self._mapping is not None and (self._mapping.min() < 0 or self._mapping.max() >= table.shape[0]):
            raise ValueError("its mapping points past its vectors")


def _tokenizer(form: Any, name: str) -> tuple[Callable[[str], list[int]], dict[str, int]]:
    try:
        pieces = WordPieces(form)
        return pieces.numbers, pieces.vocabulary
    except ValueError as error:
        if find_spec("tokenizers") is None:
            raise UsageError(
                f"the model {name!r} needs tokenizers, which is not installed: {error}; install toolsearch[semantic]."
            ) from error
    tokenizer: Any = importlib.import_module("tokenizers").Tokenizer.from_str(json.dumps(form))
    unknown = tokenizer.token_to_id(str((form.get("model") or {}).get("unk_token")))

    def numbers(text: str) -> list[int]:
        found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return [number for number in found if number != unknown]

    return numbers, tokenizer.get_vocab()


def read_tensors(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of a file of the form safetensors: a length of 8 bytes, a header in JSON, the numbers.

    Raises:
        ValueError: It is not of this form, or holds numbers of another kind.
    """
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        raise ValueError("model.safetensors ends before its header does")
    header = json.loads(data[8 : 8 + size])
    body = memoryview(data)[8 + size :]
    found: dict[str, NDArray[Any]] = {}
    for name, about in header.items():
        if name == "__metadata__":
            continue
        start, end = about["data_offsets"]
        if about["dtype"] not in _KINDS:
            raise ValueError(f"{name} holds numbers of the kind {about['dtype']}; accepted: {', '.join(_KINDS)}")
        kind = np.dtype(_KINDS[about["dtype"]])
        if not 0 <= start <= end <= len(body) or end - start != math.prod(about["shape"]) * kind.itemsize:
            raise ValueError(f"{name} does not fit into model.safetensors")
        found[name] = np.frombuffer(body[start:end], dtype=kind).reshape(about["shape"])
    return found
