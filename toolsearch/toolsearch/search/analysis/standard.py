"""Text in, terms out, for the `default` profile: identifiers, English word families, every script.

The steps, in order: NFKC, case fold and accents folded; a word is cut at case, digit and separator borders, and the
joined form is kept beside the parts; English words are stemmed by Snowball; a run of Han, kana, Hangul or Thai-like
letters, which has no blanks between words, becomes its characters and their overlapping pairs.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import snowballstemmer

OPAQUE_LENGTH = 256
"""A longer word is kept whole: nobody's identifier is that long, and cutting one letter by letter can be an attack."""

# What stands inside a word without being a letter to Python: accents and vowel signs, without punctuation.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u0900-\u0963\u0966-\u0df3\u0e00-\u0e3e\u0e40-\u0e4e\u0e50-\u0e59\u0e80-\u0eff\u1000-\u1049\u1050-\u109f"
    "\u1780-\u17d3\u17dd-\u17ff"
)
_WORD = re.compile(f"[\\w{_MARKS}]+(?:[-\u2010\u2011][\\w{_MARKS}]+)*")
UNSPACED_LETTERS = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
_UNSPACED = re.compile(f"[{UNSPACED_LETTERS}]+")
_SEPARATORS = re.compile("[-_\u2010\u2011]+")
# An acronym may end in a plural s (PRs, URLs); before a capitalised word it ends one letter early (HTTPServer).
_ASCII_PIECES = re.compile(r"[A-Z]{2,}s?(?![A-Za-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_STRIPPED_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]"
)
# The vowel signs of Thai and Indic scripts are no letters to Python, but they tell names apart.
_NOT_OF_A_NAME = re.compile(f"(?:_|[^\\w{_MARKS}])+")
# Soft hyphen, joiners, direction marks, byte order mark: they can't be seen, so they must not tell words apart. The
# zero-width space is none of them: it stands between words.
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]+")

# Snowball takes no s off a word without a vowel, but people write PRs, DBs and VMs.
_PLURAL_ACRONYM = re.compile("[b-df-hj-np-tv-xz]+[b-df-hj-np-rtv-xz]s")

_thread = threading.local()

STOP_WORDS = frozenset(
    [
        "being",
        "else",
        "here",
        "must",
        "need",
        "very",
        "want",
        "through",
        "a",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "just",
        "let",
        "may",
        "me",
        "might",
        "my",
        "no",
        "not",
        "of",
        "on",
        "or",
        "our",
        "ours",
        "please",
        "shall",
        "she",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "too",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "yours",
        "am",
        "about",
        "also",
        "s",
        "t",
        "ll",
        "re",
        "ve",
        "d",
        "m",
    ]
)
"""English words that carry no meaning of their own; a word that is part of a tool's name counts all the same."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text with its searchable forms.

    Attributes:
        parts: The terms that the word is made of, in order.
        characters: For an unspaced script, the single characters; empty otherwise.
        joined: The closed form of a word with several parts, or "".
        plain: The folded word before stemming, separators removed; what neighbours are joined from.
        pieces: The folded parts before stemming; empty for an unspaced script.
        stop: The word is a stop word.
    """

    parts: tuple[str, ...]
    characters: tuple[str, ...] = ()
    joined: str = ""
    plain: str = ""
    stop: bool = False
    pieces: tuple[str, ...] = ()

    @property
    def terms(self) -> tuple[str, ...]:
        """Parts and single characters: what counts to a field's length."""
        return self.parts + self.characters


def normalise(text: str) -> str:
    r"""NFKC, so that full-width and composed forms meet, without invisible characters; ASCII comes back as it is.

    >>> normalise("\u200fｓｅｎｄ mes\u00adsage")
    'send message'
    """
    return text if text.isascii() else unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))


def chunks(text: str) -> list[str]:
    """The words of a text before they are cut; separators inside stay (`send_message`, `real-time`).

    >>> chunks("Use send_message, real-time.")
    ['Use', 'send_message', 'real-time']
    """
    found: list[str] = _WORD.findall(normalise(text))
    return found


def words(text: str) -> list[Word]:
    """The words of a text, in order; empty for a text without letters or digits.

    >>> [word.parts for word in words("sendMessage to HTTPServer")]
    [('send', 'messag'), ('to',), ('http', 'server')]
    """
    return [word for chunk in chunks(text) for word in analyse(chunk)]


def analyse(chunk: str) -> tuple[Word, ...]:
    """The words of one chunk; several where scripts meet (`发送email`), none where nothing searchable is left."""
    if len(chunk) <= OPAQUE_LENGTH:
        return _analyse(chunk)
    if _UNSPACED.search(chunk):
        return _analyse.__wrapped__(chunk)
    word = _spaced_word(chunk)
    return (word,) if word else ()


@lru_cache(maxsize=1 << 17)
def _analyse(chunk: str) -> tuple[Word, ...]:
    if chunk.isascii():
        word = _spaced_word(chunk)
        return (word,) if word else ()
    found: list[Word] = []
    position = 0
    for run in _UNSPACED.finditer(chunk):
        if word := _spaced_word(chunk[position : run.start()]):
            found.append(word)
        found.append(_unspaced_word(fold(run.group())))
        position = run.end()
    if word := _spaced_word(chunk[position:]):
        found.append(word)
    return tuple(found)


def fold(text: str) -> str:
    """Case folded, accents of Latin, Greek, Cyrillic, Hebrew and Arabic letters taken off.

    >>> fold("Ünïcode ÉTÉ")
    'unicode ete'
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold()
    pieces = []
    for character in folded:
        # Not the letters of kana, Thai and Indic scripts: their marks are letters of their own.
        decomposed = (
            unicodedata.normalize("NFD", character)
            if ord(character) < 0x0700 or 0x1E00 <= ord(character) < 0x2000
            else character
        )
        pieces.append(decomposed)
    return unicodedata.normalize("NFC", _STRIPPED_MARKS.sub("", "".join(pieces)))


def split_identifier(text: str) -> list[str]:
    """The folded pieces of a name or word: cut at separators, case and digit borders; not stemmed.

    >>> split_identifier("mcp__chat__sendHTTPMessage2"), split_identifier("JSON2CSV"), split_identifier("listPRs")
    (['mcp', 'chat', 'send', 'http', 'message', '2'], ['json', '2', 'csv'], ['list', 'prs'])
    """
    pieces: list[str] = []
    for piece in _SEPARATORS.split(text):
        if piece.isascii():
            pieces += [found.lower() for found in _ASCII_PIECES.findall(piece)]
        else:
            pieces += [folded for found in _unicode_pieces(piece) if (folded := fold(found))]
    return pieces


def _unicode_pieces(text: str) -> list[str]:
    """Cut at a lower-to-upper border, before the last capital of an acronym and between letters and digits."""
    pieces: list[str] = []
    start = 0
    for position in range(1, len(text)):
        before, here = text[position - 1], text[position]
        border = (
            (before.islower() and here.isupper())
            or (before.isupper() and here.isupper() and text[position + 1 : position + 2].islower())
            or (before.isdigit() != here.isdigit() and unicodedata.category(here)[0] != "M")
        )
        if border:
            pieces.append(text[start:position])
            start = position
    pieces.append(text[start:])
    return [piece for piece in pieces if any(character.isalnum() for character in piece)]


def joined_key(text: str) -> str:
    """A name with everything but letters and digits taken out, folded: equal keys are equal after splitting.

    >>> joined_key("send_message") == joined_key("sendMessage") == joined_key(" SEND message")
    True
    """
    return _NOT_OF_A_NAME.sub("", fold(normalise(text)))


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """The English stem of a folded word; words with other letters than a–z come back as they are.

    >>> stem("files"), stem("creating"), stem("servers"), stem("prs"), stem("css")
    ('file', 'creat', 'server', 'pr', 'css')
    """
    if len(word) < 3 or len(word) > OPAQUE_LENGTH or not word.isascii() or not word.isalpha():
        return word
    if _PLURAL_ACRONYM.fullmatch(word):
        return word[:-1]
    # Snowball's object holds the word that it is working on, so every thread has its own.
    stemmer = getattr(_thread, "stemmer", None)
    if stemmer is None:
        stemmer = _thread.stemmer = snowballstemmer.stemmer("english")
    stemmed: str = stemmer.stemWord(word)
    return stemmed


def _spaced_word(chunk: str) -> Word | None:
    if len(chunk) > OPAQUE_LENGTH:
        folded = fold(chunk)
        return Word(parts=(folded,), plain=folded) if folded else None
    pieces = split_identifier(chunk)
    if not pieces:
        return None
    plain = "".join(pieces)
    parts = tuple(stem(piece) for piece in pieces)
    joined = stem(plain) if len(pieces) > 1 else ""
    stop = len(pieces) == 1 and plain in STOP_WORDS
    return Word(parts=parts, joined=joined, plain=plain, stop=stop, pieces=tuple(pieces))


def _unspaced_word(run: str) -> Word:
    if len(run) == 1:
        return Word(parts=(run,), plain=run)
    pairs = tuple(run[position : position + 2] for position in range(len(run) - 1))
    return Word(parts=pairs, characters=tuple(run), plain=run)
