"""The provider's search by regular expression: the pattern that stands for a query, and what it finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch_eval.rankers.peers_regex import MAX_PATTERN, RegexRanker, pattern_of, words_of

PATTERNS = [
    ("Send a mail to Ann", "(?i)send|mail|ann"),
    ("read_file", "(?i)read_file"),
    ("file files FILE", "(?i)files|file"),
    ("the of and", "(?i)the|and|of"),
    ("x y", "(?i)x|y"),
    ("天气 预报", "(?i)天气|预报"),
    ("查询天气", "(?i)查询天气"),
    ("(a+)+$ .* [z", "(?i)a|z"),
    ("", ""),
    (" \n", ""),
    ("***", ""),
]


@pytest.mark.parametrize(("query", "pattern"), PATTERNS)
def test_the_pattern_of_a_query(query: str, pattern: str) -> None:
    """Telling words in any case, each once, the longest first; others only where there is nothing else."""
    assert pattern_of(query) == pattern


def test_words_enter_in_the_order_of_the_query_as_long_as_they_fit() -> None:
    """Of words of 49 letters three fit into 200 characters with (?i) and bars; a short one after them still does."""
    words = [letter * 49 for letter in "abcdef"]
    pattern = pattern_of(" ".join([*words, "short"]))
    assert pattern == f"(?i){'|'.join(words[:3])}|short"
    assert len(pattern) == 4 + 3 * 49 + 2 + 6
    assert pattern_of("a" * 196) == f"(?i){'a' * 196}"
    assert pattern_of("a" * 197) == ""


@given(st.text(max_size=600))
def test_any_query_gives_a_pattern_that_is_allowed(query: str) -> None:
    """No pattern is longer than the provider takes, each can be read, and it finds each of its words alone."""
    pattern = pattern_of(query)
    assert len(pattern) <= MAX_PATTERN
    assert bool(pattern) == bool(words_of(query))
    compiled = re.compile(pattern)
    assert all(compiled.fullmatch(word) for word in words_of(query))


def test_parts_of_words_match_in_any_case() -> None:
    """A pattern is no word: "file" is found in "PROFILE" and not in "fi le"."""
    ranker = RegexRanker()
    ranker.index([Tool(name="a", description="A PROFILE."), Tool(name="b", description="fi le"), Tool(name="c_File")])
    assert ranker.rank(["file"], 10) == [[("a", 1.0), ("c_File", 1.0)]]


def test_the_score_is_the_number_of_different_words() -> None:
    """More of the pattern's words come first, then the name; parameters count like names."""
    ranker = RegexRanker()
    ranker.index(
        [
            Tool(name="send_mail", description="Send a mail to a person."),
            Tool(name="a_mail", description="Mail, mail and mail."),
            Tool(name="post", input_schema={"properties": {"mail": {"description": "What to send to the person."}}}),
        ]
    )
    assert ranker.rank(["send the mail to the person"], 10) == [[("post", 3.0), ("send_mail", 3.0), ("a_mail", 1.0)]]
    assert ranker.rank(["send the mail to the person"], 1) == [[("post", 3.0)]]


def test_no_pattern_reaches_over_two_fields() -> None:
    """The end of a name and the beginning of a description are no word together."""
    ranker = RegexRanker()
    ranker.index([Tool(name="send", description="mail")])
    assert ranker.rank(["sendmail"], 10) == [[]]
