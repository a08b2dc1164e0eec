"""Reads the regular expressions of JSON Schema, which are those of ECMA-262, into machines.

What looks ahead or behind, refers to a group, or belongs to another dialect can't be matched by a machine that follows
all possibilities at once; it is told as not supported, so that whoever asks can leave it unchecked and say so.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from toolsearch.tools.patterns import Pattern, State, Test, is_word

MOST_STATES = 5_000
"""States of one machine; counted repetitions are written out, so `(a{500}){500}` would have too many."""
LONGEST_PATTERN = 1_000
"""Characters of a pattern."""
_DEEPEST = 40

_BLANKS = frozenset("\t\n\v\f\r\u2028\u2029\ufeff")
_CLASSES: dict[str, Test] = {
    "d": lambda character: "0" <= character <= "9",
    "w": is_word,
    "s": lambda character: character in _BLANKS or unicodedata.category(character) == "Zs",
}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_COUNT = re.compile(r"\{([0-9]{1,5})(?:(,)([0-9]{0,5}))?\}")
_GROUP_NAME = re.compile(r"<[A-Za-z_$][\w$]{0,60}>")
_CATEGORY = re.compile(r"\{([LMNPSZC][a-z]?)\}")
_HEXADECIMAL = {
    "x": re.compile(r"([0-9A-Fa-f]{2})"),
    "u": re.compile(r"([0-9A-Fa-f]{4})|\{([0-9A-Fa-f]{1,6})\}"),
}


class Unsupported(Exception):
    """The pattern can't be matched here; the text says why."""


def compile_pattern(text: str) -> Pattern:
    """The machine of a pattern.

    Raises:
        Unsupported: The pattern is none, is too long or too large, or uses what can't be matched here.

    >>> compile_pattern("^(a+)+$").search("aaaa", steps=1000)[0], compile_pattern("b").search("aaaa", steps=1000)[0]
    (True, False)
    """
    compiled = _compiled(text)
    if isinstance(compiled, str):
        raise Unsupported(compiled)
    return compiled


@lru_cache(maxsize=256)
def _compiled(text: str) -> Pattern | str:
    """The machine, or why there is none: a failure is remembered too, as it takes as long to come to."""
    if len(text) > LONGEST_PATTERN:
        return f"it has {len(text):,} characters; at most {LONGEST_PATTERN:,} are read"
    try:
        return _Reader(text).pattern()
    except Unsupported as why:
        return str(why)


class _Reader:
    """Reads a pattern from left to right and builds its machine; a fragment is its first and its last state."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._depth = 0
        self._states: list[State] = []

    def pattern(self) -> Pattern:
        start, end = self._choice()
        if self._place < len(self._text):
            raise Unsupported("a closing bracket has no opening one")
        return Pattern(tuple(self._states), start, end)

    def _state(self, test: Test | None = None, mark: str = "", following: tuple[int, ...] = ()) -> int:
        if len(self._states) >= MOST_STATES:
            raise Unsupported("it stands for too large a machine")
        self._states.append(State(test, mark, following))
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
        if most == 0:
            empty = self._state()
            return empty, empty
        copies = [fragment, *self._copies(begin, (max(least, 1) if most is None else most) - 1)]
        end = self._state()
        for number, (_, last) in enumerate(copies):
            final = number + 1 == len(copies)
            after: list[int] = [] if final else [copies[number + 1][0]]
            if final and most is None:
                after.append(copies[-1][0])  # the last one may come again
            if final or number + 1 >= least:
                after.append(end)
            self._states[last].following = tuple(after)
        first = copies[0][0]
        return (self._state(following=(first, end)) if least == 0 else first), end

    def _copies(self, begin: int, count: int) -> list[tuple[int, int]]:
        """Further fragments of what stands at `begin`, read again there, as each has states of its own."""
        if count > MOST_STATES:
            raise Unsupported("it stands for too large a machine")
        after = self._place
        copies = []
        for _ in range(count):
            self._place = begin
            copies.append(self._atom())
        self._place = after
        return copies

    def _quantifier(self) -> tuple[int, int | None]:
        character = self._peek()
        counted = _COUNT.match(self._text, self._place)
        least: int
        most: int | None
        if character and character in "*+?":
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
            escaped = self._escape()
            return self._single(test=_equals(escaped) if isinstance(escaped, str) else escaped)
        return self._single(test=_equals(character))

    def _single(self, test: Test | None = None, mark: str = "") -> tuple[int, int]:
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

    def _escape(self) -> str | Test:
        r"""What stands after a backslash: one character, or a class of them."""
        character = self._take()
        if character.lower() in _CLASSES:
            test = _CLASSES[character.lower()]
            return test if character.islower() else _not(test)
        if character in "pP":
            category = _CATEGORY.match(self._text, self._place)
            if category is None:
                raise Unsupported("it asks for a property of Unicode that is no general category")
            self._place = category.end()
            test = _in_category(category[1])
            return test if character == "p" else _not(test)
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "c" and self._peek().isascii() and self._peek().isalpha():
            return chr(ord(self._take()) % 32)
        if character in _HEXADECIMAL:
            return self._hexadecimal(character)
        if character.isalnum():
            # Another dialect's (`\A`, `\Z`), or it refers to a group; taken for the letter it would refuse everything.
            raise Unsupported(f"it uses \\{character}, which a JSON Schema's pattern can't")
        return character

    def _hexadecimal(self, kind: str) -> str:
        code = self._code(kind)
        if 0xD800 <= code < 0xDC00 and self._text[self._place : self._place + 2] == "\\u":
            # Two escapes may stand for one character.
            begin = self._place
            self._place += 2
            second = self._code("u")
            if 0xDC00 <= second < 0xE000:
                return chr(0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00))
            self._place = begin
        return chr(code)

    def _code(self, kind: str) -> int:
        digits = _HEXADECIMAL[kind].match(self._text, self._place)
        code = int(digits[digits.lastindex or 1], 16) if digits else -1
        if digits is None or code > 0x10FFFF:
            raise Unsupported(f"\\{kind} is followed by no code of a character")
        self._place = digits.end()
        return code

    def _class(self) -> Test:
        negated = self._peek() == "^"
        if negated:
            self._place += 1
        tests: list[Test] = []
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
                self._place = begin  # a hyphen beside a class is a hyphen
            if isinstance(low, str):
                singles.add(low)
            else:
                tests.append(low)
        self._place += 1
        members, ranges = frozenset(singles), tuple(tests)
        return lambda each: (each in members or any(test(each) for test in ranges)) != negated

    def _class_item(self) -> str | Test:
        character = self._take()
        if character != "\\":
            return character
        if self._peek() == "b":
            self._place += 1
            return "\b"
        return self._escape()


def _equals(wanted: str) -> Test:
    return lambda character: character == wanted


def _between(low: str, high: str) -> Test:
    return lambda character: low <= character <= high


def _in_category(name: str) -> Test:
    return lambda character: unicodedata.category(character).startswith(name)


def _not(test: Test) -> Test:
    return lambda character: not test(character)
