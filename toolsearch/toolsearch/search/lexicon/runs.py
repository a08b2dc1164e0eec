"""Words in a run of letters without blanks, by the longest term of the lexicon that fits."""

from __future__ import annotations

from dataclasses import dataclass

from toolsearch.search.lexicon.tables import Glosses, shipped


@dataclass(frozen=True, slots=True)
class Segment:
    """A term of the lexicon in a run.

    Attributes:
        start: Its first letter.
        end: The one after its last.
        glosses: What may stand for it; empty for a stop word.
        stop: It is a stop word.
    """

    start: int
    end: int
    glosses: Glosses
    stop: bool


def segments(run: str, active: frozenset[int]) -> list[Segment]:
    """The terms of the lexicon in a run, from left to right, none over another; at each letter the longest counts.

    Args:
        run: A folded run of an unspaced script.
        active: The kinds of expansion that are wanted; a term without any is passed over.
    """
    lexicon = shipped()
    found: list[Segment] = []
    position = 0
    while position < len(run):
        for length in lexicon.run_lengths.get(run[position], ()):
            term = run[position : position + length]
            glosses = tuple(gloss for gloss in lexicon.runs.get(term, ()) if gloss.kind in active)
            stop = term in lexicon.run_stops
            if glosses or stop:
                end = position + len(term)
                found.append(Segment(position, end, glosses, stop and not glosses))
                break
        else:
            end = position + 1
        position = end
    return found
