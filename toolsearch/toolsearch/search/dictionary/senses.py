"""From an entry of CC-CEDICT to the English words that a tool's description may use for it."""

from __future__ import annotations

import re
from typing import NamedTuple

from toolsearch.search.analysis.standard import STOP_WORDS
from toolsearch.search.fillers import FILLERS

_MOST_WORDS = 3
"""A longer gloss explains; it is no word that a description would use."""
_PLAIN_WORDS = 2
_PLAIN_SENSES = 3
"""An entry gives its usual senses first."""
_MOST_PLAIN = 6
_MOST_LOOSE = 4

# What says something about the entry and is no translation.
_REMARK = re.compile(
    r"^(?:CL:|surname |(?:old |erhua |Japanese |archaic )?variant of |see (?:also )?|used in |also written |also pr\. "
    r"|abbr\. (?:for|of) |Taiwan pr\. |pr\. |same as |equivalent (?:to|of) |one of |name of |radical |Kangxi radical )"
)
_NOT_OF_TODAY = re.compile(
    r"\((?:[^()]*\b)?(?:literary|old|archaic|classical|dialect|onom\.|vulgar|slang|derog\.|Buddhism|Daoism|TCM|idiom)\b"
)
_ASIDE = re.compile(r"\([^()]*\)|\[[^\]]*\]")
_WORD = re.compile(r"[a-z0-9]+(?:[-'][a-z0-9]+)*")
_MOST_BLANKS = 8
_LEADING = re.compile(r"^(?:to be |to |a |an |the |some )+")
_EMPTY = frozenset({"sb", "sth", "sb's", "sth's", "one's", "oneself", "etc", "eg", "esp"})
"""What the dictionary writes for somebody and something."""


class Sense(NamedTuple):
    """One English gloss.

    Attributes:
        text: Its words, lower case, without articles and asides.
        plain: It is short and among the entry's first senses.
    """

    text: str
    plain: bool


def senses(definitions: str) -> tuple[Sense, ...]:
    """The glosses of an entry that may stand in a description, the plain ones first; at most ten.

    Args:
        definitions: As an entry writes them, parted by `/`, and by `;` where they mean nearly the same.

    >>> [sense.text for sense in senses("to submit (a report etc)/to refer (a problem) to sb")]
    ['submit', 'refer']
    >>> senses("surname Li/CL:個|个[ge4]/(old) a sword used in the rites of a temple")
    ()
    """
    plain: list[str] = []
    loose: list[str] = []
    place = 0
    for part in definitions.split("/"):
        used = False
        for alternative in part.split(";"):
            text = _cleaned(alternative.strip())
            if text is None:
                continue
            used = True
            size = len(text.split())
            if size <= _PLAIN_WORDS and place < _PLAIN_SENSES:
                plain.append(text)
            else:
                loose.append(text)
        place += used
    chosen = list(dict.fromkeys(plain))[:_MOST_PLAIN]
    rest = [text for text in dict.fromkeys(loose) if text not in chosen][:_MOST_LOOSE]
    return (*(Sense(text, True) for text in chosen), *(Sense(text, False) for text in rest))


def _cleaned(gloss: str) -> str | None:
    """The gloss's words, or None where it is a remark, not of today, or says nothing that a search could use."""
    if _REMARK.match(gloss) or _NOT_OF_TODAY.search(gloss):
        return None
    bare = _LEADING.sub("", _ASIDE.sub(" ", gloss).strip())
    if not bare.isascii() or bare.count(" ") > _MOST_BLANKS:
        return None
    kept = [word for word in _WORD.findall(bare.lower()) if word not in _EMPTY]
    while kept and kept[-1] in STOP_WORDS:
        kept.pop()
    meaning = [word for word in kept if word not in STOP_WORDS]
    if not meaning or len(meaning) > _MOST_WORDS or all(word in FILLERS or len(word) < 2 for word in meaning):
        return None
    return " ".join(kept if len(kept) <= _MOST_WORDS else meaning)
