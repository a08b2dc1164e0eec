"""What a query asks an index for: a list of slots, one for each term, with everything that will do for it.

A slot has one or more alternatives: the term itself, the closed form of two neighbouring words, and what the lexicon
or a corrected spelling puts in its place. Of these the best one counts, so that a term that is found in
several spellings, or by several glosses, is counted once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from toolsearch.search.alternatives import Alternative, Integers, misspelt, near_in_meaning, of_gloss, of_term
from toolsearch.search.analysis.standard import STOP_WORDS, Word, stem
from toolsearch.search.compounds import open_postings
from toolsearch.search.dictionary.chinese import Dictionary, installed
from toolsearch.search.dictionary.segments import with_dictionary
from toolsearch.search.fillers import FILLERS
from toolsearch.search.index import Index
from toolsearch.search.lexicon.relations import DICTIONARY, EXACT, FAR_SPELLING, JOINED, OPEN, RELATED, SPELLING
from toolsearch.search.lexicon.runs import segments
from toolsearch.search.lexicon.tables import Glosses, foreign_stem, languages_of, shipped
from toolsearch.search.query import Query
from toolsearch.search.scripts import is_chinese, unspaced_tools

WORD, CHARACTER, STOP, FILLER, NUMBER = range(5)
"""Kinds of slot: a word or pair, a single character of an unspaced script, a stop word, a word that people say around a
request, a number."""
_SHORTEST_HALF = 3
_LONGEST_COMPOUND = 40
_KEPT_WORDS = 4096
"""Words of queries whose halves an index remembers."""
_MOST_CORRECTED = 16
"""Words of one query that are taken for misspelt; a text with more is no text with slips of the finger."""


_NOWHERE = np.empty(0, dtype=np.int64)


@dataclass(slots=True)
class Slot:
    """One term that a query asks for; see the module's text.

    Attributes:
        term: The term.
        kind: What it is, which decides what it may give.
        count: How often the query says it.
        surface: The folded word before stemming, which can be cut into halves and corrected.
        called: How an explanation calls what its expansions stand for.
        alternatives: What will do, in a fixed order; the term itself first.
    """

    term: str
    kind: int
    count: int
    surface: str = ""
    called: str = ""
    alternatives: list[Alternative] = field(default_factory=list)

    def frequency(self) -> int:
        """How common the term is: the term itself, or where no tool has it, its most common other form."""
        exact = [each.size for each in self.alternatives if each.kind == EXACT]
        forms = [each.size for each in self.alternatives if each.kind in (EXACT, JOINED)]
        opened = sum(each.size for each in self.alternatives if each.kind == OPEN)
        return max(exact or [*forms, opened])


def query_slots(index: Index, query: Query, active: frozenset[int]) -> list[Slot]:
    """The slots of a query against an index, in the order of its words; repeats are counted, not repeated.

    Args:
        index: The catalog.
        query: The query.
        active: The kinds of expansion that are wanted, as `relations.active` gives them.
    """
    return _Reading(index, query.words, active).slots()


class _Reading:
    """One query on its way to slots."""

    def __init__(self, index: Index, listed: Sequence[Word], active: frozenset[int]) -> None:
        self._index = index
        self._words = listed
        self._active = active
        self._found: dict[tuple[str, int], Slot] = {}
        self._languages: tuple[str, ...] = ()
        self._dictionary = _dictionary(index, listed) if DICTIONARY in active else None
        self._stretch: list[tuple[Slot, str]] = []
        """The words since the last run of an unspaced script: slot and folded word."""

    def slots(self) -> list[Slot]:
        if self._active:
            self._languages = languages_of(
                piece for word in self._words for piece in word.pieces if not word.stop and piece.isalpha()
            )
        for position, word in enumerate(self._words):
            if word.pieces or not self._active:
                self._take_word(position, word)
            else:
                self._expand_stretch()
                self._take_run(word)
        self._expand_stretch()
        slots = list(self._found.values())
        for slot in slots:
            opened = _written_open(self._index, slot)
            if len(opened):
                slot.alternatives.append(Alternative(opened, len(opened), OPEN))
        if SPELLING in self._active:
            self._correct(slots)
        # In another language the same letters are another word.
        if RELATED in self._active and not self._languages:
            for slot in slots:
                near = near_in_meaning(self._index, slot.term) if slot.kind == WORD else None
                if near is not None:
                    slot.alternatives.append(near)
        return slots

    def _take_word(self, position: int, word: Word) -> None:
        """The slots of a word with blanks around it, and of a run as it stands where nothing is expanded."""
        closed = [word.joined] if word.joined else []
        for first, second in ((position - 1, position), (position, position + 1)):
            if first >= 0 and second < len(self._words):
                one, other = self._words[first], self._words[second]
                if _joinable(one) and _joinable(other):
                    closed.append(stem(one.plain + other.plain))
        joined = [number for form in dict.fromkeys(closed) if (number := self._index.term_number(form)) >= 0]
        for part, surface in zip(word.parts, word.pieces or word.parts, strict=True):
            kind = self._kind(word, surface)
            slot = self._add(part, surface, kind)
            known = {each.postings.start for each in slot.alternatives if isinstance(each.postings, slice)}
            for number in joined:
                alternative = of_term(self._index, number, JOINED)
                if int(self._index.term_start[number]) not in known:
                    slot.alternatives.append(alternative)
            self._stretch.append((slot, surface))
        for character in word.characters:
            self._add(character, character, CHARACTER)

    def _kind(self, word: Word, surface: str) -> int:
        if word.stop or self._foreign_stop(surface):
            return STOP
        if len(word.pieces) == 1 and surface in FILLERS:
            return FILLER
        return NUMBER if surface.isdigit() else WORD

    def _foreign_stop(self, surface: str) -> bool:
        return any(surface in shipped().stops.get(language, ()) for language in self._languages)

    def _add(self, term: str, surface: str, kind: int) -> Slot:
        # What stands in several places is one term, and counts as where it counts most.
        group = kind if kind in (CHARACTER, STOP) else WORD
        slot = self._found.get((term, group))
        if slot is None:
            slot = self._found[term, group] = Slot(term, kind, 0, surface, surface)
            number = self._index.term_number(term)
            if number >= 0:
                slot.alternatives.append(of_term(self._index, number, EXACT))
        slot.count += 1
        slot.kind = min(slot.kind, kind)
        return slot

    def _expand_stretch(self) -> None:
        """Put the glosses of the words read so far, longest phrases first, on their slots."""
        stretch, self._stretch = self._stretch, []
        if not self._active:
            return
        lexicon = shipped()
        self._match([(slot, slot.term) for slot, _ in stretch], lexicon.english.get)
        for language in self._languages:
            keys = [(slot, foreign_stem(language, surface)) for slot, surface in stretch]
            self._match(keys, lexicon.spaced.get(language, {}).get)
        if self._dictionary and not self._languages and unspaced_tools(self._index):
            self._match([(slot, slot.term) for slot, _ in stretch], _chinese(self._index, self._dictionary).get)

    def _match(self, keys: Sequence[tuple[Slot, str]], look_up: Callable[[tuple[str, ...]], Glosses | None]) -> None:
        longest = shipped().longest_phrase
        position = 0
        while position < len(keys):
            for end in range(min(len(keys), position + longest), position, -1):
                glosses = look_up(tuple(key for _, key in keys[position:end]))
                if not glosses:
                    continue
                slots = [slot for slot, _ in keys[position:end]]
                if all(slot.kind == STOP for slot in slots):
                    continue
                called = " ".join(slot.surface for slot in slots)
                for slot in slots:
                    self._give(slot, called, glosses)
                break
            else:
                end = position + 1
            position = end

    def _give(self, slot: Slot, called: str, glosses: Glosses) -> None:
        """Put glosses on a slot; the first that a place in the index has stands for it."""
        known = {_identity(each) for each in slot.alternatives}
        for gloss in glosses:
            if gloss.kind not in self._active:
                continue
            alternative = of_gloss(self._index, gloss)
            if alternative is not None and _identity(alternative) not in known:
                known.add(_identity(alternative))
                slot.alternatives.append(alternative)
                slot.called = called

    def _take_run(self, word: Word) -> None:
        """The slots of a run without blanks: its pairs and characters, with the glosses of the terms they belong to.

        Pairs and characters that no tool has say nothing beside a term that the lexicon knows, and would make the query
        look as if it asked for more than it does: of those one for each term stays, to carry its glosses. Where the
        lexicon knows nothing they stay.
        """
        run = word.plain
        read = segments(run, self._active)
        if self._dictionary:
            read = with_dictionary(self._dictionary, run, read, self._active)
        owner = {place: each for each in read for place in range(each.start, each.end)}
        carried: set[int] = set()
        for start, term in [*enumerate(word.parts), *enumerate(word.characters)]:
            owners = [owner.get(place) for place in range(start, start + len(term))]
            segment = owners[0] if owners[0] is owners[-1] else None
            held = self._index.term_number(term) >= 0
            # A character alone carries only what is one character long: in a longer term it says little.
            carries = segment is not None and bool(segment.glosses) and len(term) == min(2, segment.end - segment.start)
            if not held:
                free = not any(owners) and (len(term) > 1 or len(run) == 1 or not read)
                if not free and not (carries and segment is not None and segment.start not in carried):
                    continue
            kind = CHARACTER if word.characters and len(term) == 1 else WORD
            slot = self._add(term, term, STOP if segment is not None and segment.stop else kind)
            if carries and segment is not None:
                carried.add(segment.start)
                self._give(slot, run[segment.start : segment.end], segment.glosses)

    def _correct(self, slots: Sequence[Slot]) -> None:
        """Give words that nothing in the catalog answers the terms that they may be misspellings of."""
        lexicon = shipped()
        corrected = 0
        for slot in slots:
            word = slot.surface
            if slot.kind != WORD or slot.alternatives or not word.isascii() or not word.isalpha():
                continue
            if word in STOP_WORDS or slot.term in lexicon.english_words or self._is_foreign(word):
                continue
            corrected += 1
            if corrected > _MOST_CORRECTED:
                return
            for term, slips in misspelt(self._index, word, slot.term):
                kind = SPELLING if slips == 1 else FAR_SPELLING
                number = self._index.term_number(term)
                slot.alternatives.append(of_term(self._index, number, kind, term))

    def _is_foreign(self, word: str) -> bool:
        table = shipped().spaced
        return any((foreign_stem(language, word),) in table.get(language, {}) for language in self._languages)


def _dictionary(index: Index, listed: Sequence[Word]) -> Dictionary | None:
    """The dictionary where it is installed and may say something; it is read at the first such query.

    That is a query in Chinese, or a catalog with tools in Chinese.
    """
    return installed() if is_chinese(listed) or (listed and unspaced_tools(index)) else None


def _chinese(index: Index, dictionary: Dictionary) -> Mapping[tuple[str, ...], Glosses]:
    if index.chinese is None:
        index.chinese = dictionary.chinese(lambda pair: index.term_number(pair) >= 0)
    return index.chinese


def _identity(alternative: Alternative) -> tuple[int, int, int]:
    postings = alternative.postings
    if isinstance(postings, slice):
        return postings.start, postings.stop, -1
    return int(postings[0]), int(postings[-1]), len(postings)


def _joinable(word: Word) -> bool:
    return bool(word.plain) and not word.characters and len(word.plain) <= 64


def _written_open(index: Index, slot: Slot) -> Integers:
    """Postings of the tools that write the slot's word (`webpage`) as its two halves, side by side (`web page`).

    Halves that merely both occur don't count: most long words fall into two others by accident.
    """
    word = slot.surface
    if slot.kind != WORD or not 2 * _SHORTEST_HALF <= len(word) <= _LONGEST_COMPOUND:
        return _NOWHERE
    known = index.halves.get(word)
    if known is None:
        if len(index.halves) >= _KEPT_WORDS:
            index.halves.clear()
        known = index.halves[word] = _halves(index, word) if word.isascii() and word.isalpha() else ("", "")
    return np.array(open_postings(index, *known), dtype=np.int64) if known[0] else _NOWHERE


def _halves(index: Index, word: str) -> tuple[str, str]:
    """The two words of the catalog into which a word falls, as equal in length as can be; else two empty texts."""
    best: tuple[int, int] | None = None
    for cut in range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1):
        balance = min(cut, len(word) - cut)
        if best is not None and balance <= best[0]:
            continue
        # The second half is stemmed only where there is a first one: most words have none.
        if index.term_number(stem(word[:cut])) >= 0 and index.term_number(stem(word[cut:])) >= 0:
            best = (balance, cut)
    return (word[: best[1]], word[best[1] :]) if best else ("", "")
