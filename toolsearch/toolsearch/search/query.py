"""A query, read: its words, its required words, and the text that may be a name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolsearch.search.analysis.standard import Word, normalise, words

_QUOTES = "\"'`“”‘’«»「」『』"
_NAME_SEPARATORS = re.compile(r"[\s,，、;]+")
_WRITTEN_AS_IDENTIFIER = re.compile(r"\w[_.\-]\w|__")


@dataclass(frozen=True, slots=True)
class Query:
    """One query.

    Attributes:
        text: As it was given.
        words: All its words, required ones too, in order.
        required: The words of each `+word`; a result has all of them.
        whole: The text without outer blanks, quotes and plus signs: what may be one name.
        spelled: The text as it was given without outer blanks and quotes: a name to the letter.
        pieces: Its parts between blanks and commas, without quotes: what may be several names.
    """

    text: str
    words: tuple[Word, ...]
    required: tuple[tuple[Word, ...], ...]
    whole: str
    spelled: str
    pieces: tuple[str, ...]


def read_query(text: str) -> Query:
    """Read a query; never fails, an empty text gives a query without words.

    >>> query = read_query('+slack "send message"')
    >>> [word.plain for word in query.words], [[word.plain for word in group] for group in query.required]
    (['slack', 'send', 'message'], [['slack']])
    """
    normalised = normalise(text)
    tokens = normalised.split()
    marked = [len(token) > 1 and token[0] == "+" for token in tokens]
    required = tuple(
        group for token, mark in zip(tokens, marked, strict=True) if mark and (group := tuple(words(token[1:])))
    )
    plain = " ".join(token[1:] if mark else token for token, mark in zip(tokens, marked, strict=True))
    whole = plain.strip().strip(_QUOTES).strip()
    pieces = tuple(piece for raw in _NAME_SEPARATORS.split(plain) if (piece := raw.strip(_QUOTES)))
    spelled = text.strip().strip(_QUOTES).strip()
    return Query(text=text, words=tuple(words(plain)), required=required, whole=whole, spelled=spelled, pieces=pieces)


def written_as_identifier(piece: str) -> bool:
    """Whether a word is written the way names are: with `_`, `.`, `-` or a capital inside; all capitals are no sign.

    >>> [written_as_identifier(word) for word in ("send_message", "sendMessage", "HTTPServer", "JSON2CSV", "a.b")]
    [True, True, True, True, True]
    >>> [written_as_identifier(word) for word in ("message", "Message", "MESSAGE", "end.", "mp3")]
    [False, False, False, False, False]
    """
    if _WRITTEN_AS_IDENTIFIER.search(piece):
        return True
    inner_capital = any(character.isupper() for character in piece[1:])
    return inner_capital and any(character.islower() or character.isdigit() for character in piece)
