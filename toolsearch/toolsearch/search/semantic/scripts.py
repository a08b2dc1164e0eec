"""Scripts of texts, and which of them a model can read, so that it can abstain from the others."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

KNOWN_TOKENS = 1000
"""A model reads a script of which its vocabulary holds at least this many pieces: a few letters of nearly every script
stand in any vocabulary, and from letters alone no meaning is learnt."""
KNOWN_SHARE = 0.75
"""Share of a text's letters that have to be of scripts that the model reads; with less, what it makes of the text would
hang on the smaller part of it."""

_KIND = {"cjk": "han", "hiragana": "kana", "katakana": "kana", "katakana-hiragana": "kana"}
_BYTE_MARK = "Ġ"
"""Begins a word in vocabularies that are written byte by byte."""


@lru_cache(maxsize=65536)
def script_of(letter: str) -> str:
    """The script of one letter, "" for what is no letter.

    >>> [script_of(letter) for letter in ("a", "é", "天", "の", "말", "ж", "7")]
    ['latin', 'latin', 'han', 'kana', 'hangul', 'cyrillic', '']
    """
    if not letter.isalpha():
        return ""
    plain = unicodedata.normalize("NFKC", letter)[:1] or letter
    first = unicodedata.name(plain, "").partition(" ")[0].lower()
    return _KIND.get(first, first)


def can_read(text: str, scripts: frozenset[str]) -> bool:
    """Whether enough of a text's letters are of these scripts; a text without letters can't be read.

    >>> can_read("open 一个 PR", frozenset({"latin"})), can_read("帮我打开 PR", frozenset({"latin"}))
    (True, False)
    """
    letters = Counter(script for script in map(script_of, text) if script)
    return letters.total() > 0 and sum(letters[script] for script in scripts) >= KNOWN_SHARE * letters.total()


def scripts_of_vocabulary(tokens: Iterable[str]) -> frozenset[str]:
    """The scripts that a model's vocabulary has enough pieces of; Latin where none has.

    Args:
        tokens: The pieces as the tokenizer writes them, with its marks of word borders.
    """
    listed = list(tokens)
    if sum(token.startswith(_BYTE_MARK) for token in listed) * 20 > len(listed):
        listed = [_from_bytes(token) for token in listed]
    counted = Counter(script for token in listed for script in {script_of(letter) for letter in token} if script)
    return frozenset(script for script, count in counted.items() if count >= KNOWN_TOKENS) or frozenset({"latin"})


def _from_bytes(token: str) -> str:
    """A piece of a vocabulary that is written byte by byte; pieces of characters are left out."""
    letters = _byte_letters()
    return bytes(letters[letter] for letter in token if letter in letters).decode("utf-8", "ignore")


@lru_cache(maxsize=1)
def _byte_letters() -> dict[str, int]:
    # Bytes that print stand for themselves, the others for letters from 256 on, in order.
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in set(shown)]
    return {chr(byte): byte for byte in shown} | {chr(256 + place): byte for place, byte in enumerate(hidden)}
