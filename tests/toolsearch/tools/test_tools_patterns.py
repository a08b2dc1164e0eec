"""Patterns of schemas: the same answers as a backtracking engine gives, in bounded work."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from toolsearch.tools.pattern_reader import Unsupported, compile_pattern
from toolsearch.tools.patterns import TooCostly

ATOMS = st.sampled_from(
    ["a", "b", ".", "[ab]", "[^a]", "[a-c]", r"\d", r"\W", r"\b", "^", "$", "(a|b)", "(?:ab)", "()"]
)
TIMES = st.sampled_from(["", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "{0}"])
SEQUENCES = st.lists(st.tuples(ATOMS, TIMES).map("".join), min_size=1, max_size=4).map("".join)
PATTERNS = SEQUENCES | st.tuples(SEQUENCES, TIMES, SEQUENCES).map(lambda parts: f"({parts[0]}){parts[1]}|{parts[2]}")


@given(pattern=PATTERNS, text=st.text("abc1 ", max_size=8))
def test_a_pattern_matches_what_another_engine_matches(pattern: str, text: str) -> None:
    """Python's own engine, with the end of the text spelled its way, finds a match exactly where this one does."""
    try:
        other = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
    except re.error:
        assume(False)
    assert compile_pattern(pattern).search(text, steps=100_000)[0] == bool(other.search(text))


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"^\u0041$", "A", True),
        (r"^\ud83d\ude00$", "\U0001f600", True),
        (r"^\u{1F600}$", "\U0001f600", True),
        (r"^\p{Lu}\P{Lu}$", "Äa", True),
        (r"^[\w-]+$", "a-b", True),
        (r"[]", "a", False),
        (r"^[^]$", "\n", True),
        ("^.$", "\n", False),
        (r"^\s$", "\u00a0", True),
        (r"^\s$", "\x1c", False),
        (r"^\d$", "٣", False),
        ("a$", "a\n", False),
        ("a{,2}", "a{,2}", True),
        (r"^\cJ\x0A$", "\n\n", True),
        (r"\Ba", "ba", True),
        ("(?<year>[0-9]{4})", "in 2024", True),
    ],
)
def test_patterns_mean_what_they_mean_in_json_schema(pattern: str, text: str, matches: bool) -> None:
    """Where the dialects differ, that of ECMA-262 counts."""
    assert compile_pattern(pattern).search(text, steps=1_000)[0] is matches


@pytest.mark.parametrize(
    "pattern",
    ["(?=a)", "(?!a)", "(?<=a)", "(?i)a", r"(a)\1", r"\Aa", r"a\Z", "a(", "a)", "*a", "[a", "[b-a]", "a{2,1}", r"\p{Script=Greek}",
     "\\", "a{99999}", "(a{500}){500}", "(" * 50 + ")" * 50, "a" * 2_000],
)  # fmt: skip
def test_what_cannot_be_matched_is_told(pattern: str) -> None:
    """A pattern of another dialect, a broken one and one beyond the bounds raise, each time anew."""
    for _ in range(2):
        with pytest.raises(Unsupported):
            compile_pattern(pattern)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(a*)*b$", "(x+x+)+y", "(.*)*=(.*)*;"])
def test_a_hostile_pattern_takes_steps_that_grow_with_the_text(pattern: str) -> None:
    """Patterns on which backtracking never ends need a few steps for each character here."""
    text = "a" * 5_000 + "!"
    found, left = compile_pattern(pattern).search(text, steps=50_000)
    assert not found
    assert left > 40_000


def test_more_steps_than_allowed_are_refused() -> None:
    """A text that is longer than the steps, and a machine that keeps changing, both come to an end."""
    with pytest.raises(TooCostly):
        compile_pattern("^a*$").search("a" * 1_000, steps=999)
    text = "".join(random.Random(1).choices("ab", k=20_000))
    with pytest.raises(TooCostly):
        compile_pattern("[ab]*a[ab]{200}c").search(text, steps=100_000)
