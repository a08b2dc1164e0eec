"""Regular expressions of strangers, matched in time that grows with the text and never explodes.

Schemas bring patterns such as `(a+)+$`, on which a backtracking engine does not come back. Here a pattern becomes a
machine whose possible states are followed all at once (Thompson, "Regular Expression Search Algorithm", 1968), within a
number of steps that is set beforehand. The patterns are those of JSON Schema, ECMA-262; what looks ahead or behind, or
refers to a group, can't be matched so and is told as not supported.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

MOST_STATES = 5_000
"""States of one machine; counted repetitions are written out, so `(a{500}){500}` would have too many."""
LONGEST_PATTERN = 1_000
_DEEPEST = 40

_Test = Callable[[str], bool]

_DIGIT: _Test = lambda character: "0" <= character <= "9"  # noqa: E731
_WORD: _Test = lambda character: character.isascii() and (character.isalnum() or character == "_")  # noqa: E731
_BLANK: _Test = lambda character: character.isspace() or character == "\ufeff"  # noqa: E731
_CLASSES: dict[str, _Test] = {"d": _DIGIT, "w": _WORD, "s": _BLANK}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_COUNT = re.compile(r"\{([0-9]{1,5})(?:(,)([0-9]{0,5}))?\}")
_GROUP_NAME = re.compile(r"<[A-Za-z_$][\w$]{0,60}>")


class Unsupported(Exception):
    """The pattern can't be matched here; the text says why."""


class TooCostly(Exception):
    """Matching would take more steps than were allowed."""


@dataclass(slots=True)
class _State:
    """One state: it either takes a character that passes the test, or goes on without one where the mark holds."""

    test: _Test | None = None
    mark: str = ""
    following: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A machine; `search` runs it."""

    _states: tuple[_State, ...]
    _start: int
    _end: int

    def search(self, text: str, *, steps: int) -> tuple[bool, int]:
        """Whether the pattern matches anywhere in a text, and how many steps are left.

        Args:
            text: Any text.
            steps: How many may be taken; one for each state that is looked at for each character.

        Raises:
            TooCostly: That many were not enough.
        """
        current: list[int] = []
        for place in range(len(text) + 1):
            reached = bytearray(len(self._states))
            waiting = [*reversed(current), self._start] if place else [self._start]
            current = []
            while waiting:
                number = waiting.pop()
                if reached[number]:
                    continue
                reached[number] = 1
                steps -= 1
                if steps < 0:
                    raise TooCostly
                if number == self._end:
                    return True, steps
                state = self._states[number]
                if state.test is not None:
                    if place < len(text) and state.test(text[place]):
                        current.append(state.following[0])
                elif not state.mark or _holds(state.mark, text, place):
                    waiting.extend(reversed(state.following))
        return False, steps


def _holds(mark: str, text: str, place: int) -> bool:
    if mark == "^":
        return place == 0
    if mark == "$":
        return place == len(text)
    before = place > 0 and _WORD(text[place - 1])
    after = place < len(text) and _WORD(text[place])
    return (before != after) == (mark == "b")


@lru_cache(maxsize=512)
def compile_pattern(text: str) -> Pattern:
    """The machine of a pattern.

    Raises:
        Unsupported: The pattern is none, is too long or too large, or uses what can't be matched here.

    >>> compile_pattern("^(a+)+$").search("aaaa", steps=1000)[0], compile_pattern("b").search("aaaa", steps=1000)[0]
    (True, False)
    """
    if len(text) > LONGEST_PATTERN:
        raise Unsupported(f"it has {len(text):,} characters; at most {LONGEST_PATTERN:,} are read")
    return _Compiler(text).pattern()


class _Compiler:
    """Reads a pattern from left to right and builds its machine; a fragment is its first and its last state."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._depth = 0
        self._states: list[_State] = []

    def pattern(self) -> Pattern:
        start, end = self._choice()
        if self._place < len(self._text):
            raise Unsupported("a closing bracket has no opening one")
        return Pattern(tuple(self._states), start, end)

    def _state(self, test: _Test | None = None, mark: str = "", following: tuple[int, ...] = ()) -> int:
        if len(self._states) >= MOST_STATES:
            raise Unsupported("it stands for too large a machine")
        self._states.append(_State(test, mark, following))
        return len(self._states) - 1

    def _peek(self) -> str:
        return self._text[self._place : self._place + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise Unsupported("it ends too early")
        self._place += 1
        return character

    def _choice(self) -> tuple[int, int]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unsupported("it is nested too deeply")
        branches = [self._sequence()]
        while self._peek() == "|":
            self._place += 1
            branches.append(self._sequence())
        self._depth -= 1
        if len(branches) == 1:
            return branches[0]
        end = self._state()
        for _, last in branches:
            self._states[last].following = (end,)
        return self._state(following=tuple(first for first, _ in branches)), end

    def _sequence(self) -> tuple[int, int]:
        first = last = self._state()
        while self._peek() not in ("", "|", ")"):
            begin = self._place
            fragment = self._atom()
            least, most = self._quantifier()
            fragment = self._repeated(fragment, begin, least, most)
            self._states[last].following = (fragment[0],)
            last = fragment[1]
        return first, last

    def _repeated(self, fragment: tuple[int, int], begin: int, least: int, most: int | None) -> tuple[int, int]:
        if (least, most) == (1, 1):
            return fragment
        after = self._place
        copies = [fragment]

        def copy() -> tuple[int, int]:
            # Read again where it stands: each copy has states of its own.
            self._place = begin
            made = self._atom()
            self._place = after
            return made

        wanted = max(least, 1) if most is None else most
        if wanted == 0:
            empty = self._state()
            return empty, empty
        if wanted > MOST_STATES:
            raise Unsupported("it stands for too large a machine")
        while len(copies) < wanted:
            copies.append(copy())
        end = self._state()
        if most is None:
            # The last copy may come again; with nothing demanded it may also be passed by.
            again = self._state(following=(copies[-1][0], end))
            self._states[copies[-1][1]].following = (again,)
            if least == 0:
                return again, end
            for number in range(len(copies) - 1):
                self._states[copies[number][1]].following = (copies[number + 1][0],)
            return copies[0][0], end
        for number in range(len(copies)):
            following = (copies[number + 1][0],) if number + 1 < len(copies) else (end,)
            optional = number + 1 >= least and following != (end,)
            self._states[copies[number][1]].following = (*following, end) if optional else following
        if least == 0:
            return self._state(following=(copies[0][0], end)), end
        return copies[0][0], end

    def _quantifier(self) -> tuple[int, int | None]:
        character = self._peek()
        counted = _COUNT.match(self._text, self._place)
        if character in ("*", "+", "?") and character:
            self._place += 1
            least, most = (1 if character == "+" else 0), (1 if character == "?" else None)
        elif counted:
            self._place = counted.end()
            least = int(counted[1])
            most = least if counted[2] is None else int(counted[3]) if counted[3] else None
            if most is not None and most < least:
                raise Unsupported("a repetition counts backwards")
        else:
            return 1, 1
        if self._peek() == "?":  # whether it takes few or many changes nothing about whether it matches
            self._place += 1
        return least, most

    def _atom(self) -> tuple[int, int]:
        character = self._take()
        if character == "(":
            return self._group()
        if character in "^$":
            return self._single(mark=character)
        if character in "*+?" or (character == "{" and _COUNT.match(self._text, self._place - 1)):
            raise Unsupported("a repetition has nothing to repeat")
        if character == ".":
            return self._single(test=lambda each: each not in "\n\r\u2028\u2029")
        if character == "[":
            return self._single(test=self._class())
        if character == "\\":
            if self._peek() and self._peek() in "bB":
                return self._single(mark=self._take())
            return self._single(test=self._escape())
        return self._single(test=_equals(character))

    def _single(self, test: _Test | None = None, mark: str = "") -> tuple[int, int]:
        end = self._state()
        return self._state(test, mark, (end,)), end

    def _group(self) -> tuple[int, int]:
        if self._peek() == "?":
            self._place += 1
            name = _GROUP_NAME.match(self._text, self._place)
            if self._peek() == ":":
                self._place += 1
            elif name:
                self._place = name.end()
            else:
                raise Unsupported("it looks ahead or behind, or sets flags")
        fragment = self._choice()
        if self._peek() != ")":
            raise Unsupported("a bracket is not closed")
        self._place += 1
        return fragment

    def _escape(self) -> _Test:
        character = self._take()
        if character.lower() in _CLASSES:
            test = _CLASSES[character.lower()]
            return test if character.islower() else _not(test)
        if character in "pP" and self._peek() == "{":
            raise Unsupported("it asks for properties of Unicode")
        if character in "123456789k":
            raise Unsupported("it refers to a group")
        return _equals(self._escaped(character))

    def _escaped(self, character: str) -> str:
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "c" and self._peek().isascii() and self._peek().isalpha():
            return chr(ord(self._take()) % 32)
        if character in "xu":
            braces = re.compile(r"\{([0-9A-Fa-f]{1,6})\}").match(self._text, self._place) if character == "u" else None
            digits = braces or re.compile(rf"([0-9A-Fa-f]{{{2 if character == 'x' else 4}}})").match(
                self._text, self._place
            )
            if digits and int(digits[1], 16) <= 0x10FFFF:
                self._place = digits.end()
                return chr(int(digits[1], 16))
        return character

    def _class(self) -> _Test:
        negated = self._peek() == "^"
        if negated:
            self._place += 1
        tests: list[_Test] = []
        singles: set[str] = set()
        while self._peek() != "]":
            low = self._class_item()
            if self._peek() == "-" and self._text[self._place + 1 : self._place + 2] not in ("]", ""):
                begin = self._place
                self._place += 1
                high = self._class_item()
                if isinstance(low, str) and isinstance(high, str):
                    if low > high:
                        raise Unsupported("a range of characters runs backwards")
                    tests.append(_between(low, high))
                    continue
                self._place = begin
            if isinstance(low, str):
                singles.add(low)
            else:
                tests.append(low)
        self._place += 1
        members = frozenset(singles)
        inside: _Test = lambda each: each in members or any(test(each) for test in tests)  # noqa: E731
        return _not(inside) if negated else inside

    def _class_item(self) -> str | _Test:
        character = self._take()
        if character != "\\":
            return character
        if self._peek() == "b":
            self._place += 1
            return "\b"
        if self._peek().lower() in _CLASSES and self._peek():
            return self._escape()
        following = self._take()
        if following in "pP" and self._peek() == "{":
            raise Unsupported("it asks for properties of Unicode")
        return self._escaped(following)


def _equals(wanted: str) -> _Test:
    return lambda character: character == wanted


def _between(low: str, high: str) -> _Test:
    return lambda character: low <= character <= high


def _not(test: _Test) -> _Test:
    return lambda character: not test(character)
