"""Text in, terms out, as the observed system does it; never improved, the `reference` profile is a baseline.

One left-to-right scan over the lower-cased text: a run of Han characters gives its overlapping pairs, an ASCII word
gives itself, everything else separates. A word loses at most one suffix.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SCAN = re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf]+|[a-z0-9][a-z0-9_-]*")
_FIRST_HAN = re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf]")
_LOWER_UPPER = re.compile(r"([a-z])([A-Z])")
JAVASCRIPT_BLANKS = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_BLANKS = re.compile(f"[{JAVASCRIPT_BLANKS}]+")

STOP_WORDS = frozenset(
    [
        "a",
        "above",
        "after",
        "again",
        "all",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "could",
        "dare",
        "did",
        "do",
        "does",
        "during",
        "each",
        "every",
        "few",
        "for",
        "from",
        "further",
        "had",
        "has",
        "have",
        "he",
        "her",
        "here",
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
        "may",
        "me",
        "might",
        "more",
        "most",
        "my",
        "need",
        "no",
        "nor",
        "not",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "ought",
        "our",
        "out",
        "over",
        "own",
        "same",
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
        "through",
        "to",
        "too",
        "under",
        "use",
        "used",
        "using",
        "very",
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
    ]
)
"""Found by probing the observed system."""

_SUFFIXES = (
    ("ing", 5, 3),
    ("tion", 5, 4),
    ("ness", 5, 4),
    ("ment", 5, 4),
    ("ers", 4, 1),
    ("er", 4, 2),
    ("es", 4, 2),
    ("s", 3, 1),
    ("ed", 4, 2),
    ("ly", 4, 2),
)


def trim(text: str) -> str:
    """The text without outer blanks, by JavaScript's set of blanks."""
    return re.sub(f"^[{JAVASCRIPT_BLANKS}]+|[{JAVASCRIPT_BLANKS}]+$", "", text)


def split_blanks(text: str) -> list[str]:
    """The pieces between blanks, by JavaScript's set of blanks; empty for a blank text."""
    return [piece for piece in _BLANKS.split(text) if piece]


def tokens(text: str) -> list[str]:
    """The terms of a text before stemming, stop words dropped.

    >>> tokens("Read the file 优化流程")
    ['read', 'file', '优化', '化流', '流程']
    """
    found: list[str] = []
    for run in _SCAN.findall(text.lower()):
        if _FIRST_HAN.match(run):
            found += [run[place : place + 2] for place in range(len(run) - 1)]
        elif (word := run.strip("-_")) and word not in STOP_WORDS:
            found.append(word)
    return found


def is_han(term: str) -> bool:
    """Whether a term is a pair of Han characters."""
    return bool(_FIRST_HAN.match(term))


def stem(word: str) -> str:
    """The word without the first suffix that fits its length.

    >>> stem("running"), stem("files"), stem("class")
    ('runn', 'fil', 'class')
    """
    for ending, longer_than, cut in _SUFFIXES:
        if word.endswith(ending) and len(word) > longer_than and not (ending == "s" and word.endswith("ss")):
            return word[:-cut]
    return word


def terms(text: str) -> list[str]:
    """The stemmed terms of a text, in order, repeats kept."""
    return [word if is_han(word) else stem(word) for word in tokens(text)]


@dataclass(frozen=True, slots=True)
class ParsedName:
    """A tool name read: its parts, the parts as one text, and whether it has the form of a server's tool."""

    parts: tuple[str, ...]
    full: str
    of_server: bool


def parse_name(name: str) -> ParsedName:
    """Read a tool name as observed.

    >>> parse_name("mcp__slack__send_message").parts, parse_name("CronCreate").full
    (('slack', 'send', 'message'), 'cron create')
    """
    if name.startswith("mcp__"):
        rest = name[5:].lower()
        parts = tuple(part for piece in rest.split("__") for part in piece.split("_") if part)
        return ParsedName(parts, rest.replace("__", " ").replace("_", " "), True)
    spaced = _LOWER_UPPER.sub(r"\1 \2", name).replace("_", " ").lower()
    parts = tuple(split_blanks(spaced))
    return ParsedName(parts, " ".join(parts), False)
