"""Regular expressions of strangers, matched in time that grows with the text and never explodes.

Schemas bring patterns such as `(a+)+$`, on which a backtracking engine does not come back. Here a pattern becomes a
machine whose possible states are followed all at once (Thompson, "Regular Expression Search Algorithm", 1968), within a
number of steps that is set beforehand. Where the machine has been before with the same character it need not be worked
out again, so a long plain text costs one step for each character.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Test = Callable[[str], bool]
"""Whether a state takes a character."""

_MOST_REMEMBERED = 200_000
"""States in all the places that one search remembers; more than that and it begins anew."""
_MATCH = -1


class TooCostly(Exception):
    """Matching would take more steps than were allowed."""


def is_word(character: str) -> bool:
    """Whether ECMA-262 counts the character as part of a word."""
    return character.isascii() and (character.isalnum() or character == "_")


@dataclass(slots=True)
class State:
    """One state: it either takes a character that passes the test, or goes on without one where the mark holds.

    Attributes:
        test: Which characters it takes; None for a state that takes none.
        mark: `^`, `$`, `b`, `B`, or "" for a state that is passed always.
        following: The states after it.
    """

    test: Test | None = None
    mark: str = ""
    following: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A machine; `search` runs it.

    Attributes:
        states: All of it.
        start: Where it begins.
        end: Where it has matched.
    """

    states: tuple[State, ...] = field(repr=False)
    start: int
    end: int

    def search(self, text: str, *, steps: int) -> tuple[bool, int]:
        """Whether the pattern matches anywhere in a text, and how many steps are left.

        Args:
            text: Any text.
            steps: How many may be taken: one for each character, and one for each state that has to be looked at.

        Raises:
            TooCostly: That many were not enough.
        """
        # A place: the states that took the last character, and what that was: nothing yet, of a word, or another.
        places: dict[tuple[tuple[int, ...], str], int] = {}
        known: list[tuple[tuple[int, ...], str]] = []
        moves: dict[tuple[int, str], int] = {}
        remembered = 0
        place: tuple[tuple[int, ...], str] = ((self.start,), "")
        number = places[place] = 0
        known.append(place)
        for character in (*text, ""):
            steps -= 1
            if steps < 0:
                raise TooCostly
            following = moves.get((number, character))
            if following is None:
                matched, taken, looked_at = self._move(known[number], character, steps)
                steps -= looked_at
                place = ((*taken, self.start), "w" if character and is_word(character) else "o")
                if remembered > _MOST_REMEMBERED:
                    current = known[number]
                    places, known, moves, remembered, number = {current: 0}, [current], {}, 0, 0
                following = _MATCH if matched else places.setdefault(place, len(known))
                if following == len(known):
                    known.append(place)
                    remembered += len(taken) + 1
                moves[number, character] = following
                remembered += 1
            if following == _MATCH:
                return True, steps
            number = following
        return False, steps

    def _move(
        self, place: tuple[tuple[int, ...], str], character: str, steps: int
    ) -> tuple[bool, tuple[int, ...], int]:
        """Whether all that is possible here includes the end, which states take the character, how many were seen."""
        begin, before = place
        seen: set[int] = set()
        taken: set[int] = set()
        waiting = list(begin)
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            if len(seen) > steps:
                raise TooCostly
            if number == self.end:
                return True, (), len(seen)
            state = self.states[number]
            if state.test is not None:
                if character and state.test(character):
                    taken.add(state.following[0])
            elif not state.mark or _holds(state.mark, before, character):
                waiting.extend(state.following)
        return False, tuple(sorted(taken)), len(seen)


def _holds(mark: str, before: str, character: str) -> bool:
    if mark == "^":
        return not before
    if mark == "$":
        return not character
    borders = (before == "w") != (bool(character) and is_word(character))
    return borders == (mark == "b")
