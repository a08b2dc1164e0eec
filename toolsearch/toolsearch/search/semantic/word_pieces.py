"""Texts to word pieces as BERT's tokenizer makes them, for models that come without a library to read them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

_LONGEST_WORD = 100


class WordPieces:
    """A tokenizer read from the `tokenizer.json` of a model, of the kind WordPiece with BERT's normaliser."""

    def __init__(self, form: Mapping[str, Any]) -> None:
        """Take what the file holds.

        Raises:
            ValueError: It describes a tokenizer of another kind.
        """
        model, normaliser, splitter = (form.get(part) or {} for part in ("model", "normalizer", "pre_tokenizer"))
        kinds = (model.get("type"), normaliser.get("type"), splitter.get("type"))
        if kinds != ("WordPiece", "BertNormalizer", "BertPreTokenizer"):
            raise ValueError(f"its tokenizer is made of {', '.join(map(str, kinds))}")
        self.vocabulary: dict[str, int] = model["vocab"]
        self._unknown = str(model.get("unk_token", "[UNK]"))
        self._prefix = str(model.get("continuing_subword_prefix", "##"))
        self._longest = int(model.get("max_input_chars_per_word", _LONGEST_WORD))
        self._lower = bool(normaliser.get("lowercase", True))
        accents = normaliser.get("strip_accents")
        self._bare = self._lower if accents is None else bool(accents)
        self._chinese_apart = bool(normaliser.get("handle_chinese_chars", True))

    def numbers(self, text: str) -> list[int]:
        """The numbers of a text's known pieces, in order; what is unknown is left out."""
        return [number for word in self._words(text) for number in self._pieces(word)]

    def _words(self, text: str) -> Iterator[str]:
        if self._lower:
            text = text.lower()
        if self._bare:
            text = "".join(
                letter for letter in unicodedata.normalize("NFD", text) if unicodedata.category(letter) != "Mn"
            )
        word = ""
        for letter in text:
            alone = _is_mark(letter) or (self._chinese_apart and _is_han(letter))
            dropped = letter in "\0\ufffd" or (unicodedata.category(letter)[0] == "C" and letter not in "\t\n\r")
            if letter.isspace() or alone:
                if word:
                    yield word
                word = ""
                if alone:
                    yield letter
            elif not dropped:
                word += letter
        if word:
            yield word

    def _pieces(self, word: str) -> list[int]:
        """The longest known pieces from left to right; nothing where one is unknown."""
        if len(word) > self._longest:
            return []
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = self._prefix if start else ""
            for end in range(len(word), start, -1):
                number = self.vocabulary.get(prefix + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return []
        return found if word != self._unknown else []


def _is_mark(letter: str) -> bool:
    # All printing ASCII that is no letter or digit counts, also what Unicode calls a symbol.
    return (letter.isascii() and letter.isprintable() and not letter.isalnum() and letter != " ") or (
        unicodedata.category(letter)[0] == "P"
    )


def _is_han(letter: str) -> bool:
    code = ord(letter)
    return (
        0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2CEAF or 0xF900 <= code <= 0xFAFF
    )
