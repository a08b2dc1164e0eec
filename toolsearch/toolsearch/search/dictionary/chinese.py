"""The dictionary ready for look-ups: Chinese words to English glosses and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from toolsearch.config import SearchConfig
from toolsearch.search.dictionary.senses import Sense, senses
from toolsearch.search.dictionary.source import Source, missing, read_source
from toolsearch.search.dictionary.words import Cutter
from toolsearch.search.lexicon.relations import DICTIONARY, LOOSE_DICTIONARY
from toolsearch.search.lexicon.tables import Gloss, Glosses, english_key, index_terms

_MOST_CHINESE = 6
"""Chinese words that stand for an English one; the usual ones come first."""
_USUAL = 20
"""A Chinese word that was counted less often in running text is not offered for an English one."""
_KEPT = 8192
"""Words whose glosses are remembered."""


class Dictionary:
    """Chinese and English, in both directions. Safe to use from several threads."""

    def __init__(self, source: Source) -> None:
        """Take the data; glosses are worked out for the words that are asked for."""
        self._definitions: dict[str, str] = {}
        frequencies = dict(source.frequencies)
        for traditional, simplified, definitions in source.entries:
            for word in {traditional, simplified}:
                known = self._definitions.get(word)
                self._definitions[word] = f"{known}/{definitions}" if known else definitions
                frequencies.setdefault(word, frequencies.get(simplified, 1))
        self._frequencies = frequencies
        self._cutter = Cutter(frequencies)
        self._glosses: dict[str, Glosses] = {}

    def cut(self, run: str) -> list[str]:
        """The words of a run of Chinese letters."""
        return self._cutter.cut(run)

    def english(self, word: str) -> Glosses:
        """What may stand for a Chinese word in English, plain glosses first; empty where nothing will do."""
        known = self._glosses.get(word)
        if known is None:
            if len(self._glosses) >= _KEPT:
                self._glosses.clear()
            known = self._glosses[word] = self._english(word)
        return known

    def chinese(self, holds: Callable[[str], bool]) -> dict[tuple[str, ...], Glosses]:
        """By the stems of one to three English words, what may stand for them in a Chinese catalog, usual words first.

        Args:
            holds: Whether the catalog holds a pair of neighbouring letters; words with others are left out.
        """
        collected: dict[tuple[str, ...], list[tuple[int, str]]] = {}
        for word, definitions in self._definitions.items():
            frequency = self._frequencies[word]
            # The first pair alone rules out most words.
            if frequency >= _USUAL and len(word) > 1 and holds(word[:2]) and all(map(holds, pairs(word))):
                for sense in senses(definitions):
                    if sense.plain:
                        collected.setdefault(english_key(sense.text), []).append((-frequency, word))
        return {
            key: tuple(_gloss(word, True) for _, word in sorted(found)[:_MOST_CHINESE])
            for key, found in collected.items()
        }

    def _english(self, word: str) -> Glosses:
        found = senses(self._definitions.get(word, ""))
        if len(word) == 1:
            # One letter means many things.
            found = tuple(Sense(sense.text, False) for sense in found if sense.plain)
        return tuple(_gloss(sense.text, sense.plain) for sense in found)


def pairs(word: str) -> list[str]:
    """The overlapping pairs of letters by which an index holds a word of several.

    >>> pairs("数据库")
    ['数据', '据库']
    """
    return [word[place : place + 2] for place in range(len(word) - 1)]


def _gloss(text: str, plain: bool) -> Gloss:
    return Gloss(index_terms(text), DICTIONARY if plain else LOOSE_DICTIONARY, text)


def warnings_of(config: SearchConfig) -> tuple[str, ...]:
    """What to tell about a configuration that asks for the dictionary where its packages are missing; else nothing."""
    packages = missing() if config.ranking == "standard" and config.dictionary_weight > 0 else ()
    if not packages:
        return ()
    return (
        f"profile {config.name!r} translates by a dictionary that needs {' and '.join(packages)}, not installed here; "
        "without it only the built-in words are translated; install toolsearch[translate].",
    )


@cache
def installed() -> Dictionary | None:
    """The dictionary of the installed packages, read at the first call; None where they are missing."""
    source = read_source()
    return Dictionary(source) if source else None


def of_entries(entries: Iterable[tuple[str, str, str]], frequencies: dict[str, int]) -> Dictionary:
    """A dictionary of one's own entries: traditional form, simplified form, definitions."""
    return Dictionary(Source(tuple(entries), frequencies))
