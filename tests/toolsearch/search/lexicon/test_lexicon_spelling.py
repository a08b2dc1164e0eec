from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.search.lexicon.spelling import Spellings, slips_between
from toolsearch.search.searcher import Searcher

few_letters = st.text(alphabet="abc", max_size=7)


def plain_distance(first: str, second: str) -> int:
    """Optimal string alignment as its definition says it, by recursion."""

    @functools.cache
    def between(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        best = min(
            between(i - 1, j) + 1, between(i, j - 1) + 1, between(i - 1, j - 1) + (first[i - 1] != second[j - 1])
        )
        if i > 1 and j > 1 and first[i - 1] == second[j - 2] and first[i - 2] == second[j - 1]:
            best = min(best, between(i - 2, j - 2) + 1)
        return best

    return between(len(first), len(second))


@given(first=few_letters, second=few_letters, most=st.integers(0, 4))
def test_slips_are_counted_as_their_definition_says(first: str, second: str, most: int) -> None:
    """The distance is that of a plain recursion, or one more than was asked for."""
    assert slips_between(first, second, most) == min(plain_distance(first, second), most + 1)


@given(
    word=st.text(alphabet="abcd", min_size=4, max_size=10),
    terms=st.lists(st.text(alphabet="abcd", min_size=3, max_size=10), unique=True, max_size=40),
)
def test_the_nearest_terms_are_those_that_a_comparison_with_all_finds(word: str, terms: list[str]) -> None:
    """No term of the first letter that is near enough is overlooked, and none that is farther is given."""
    slips = 2 if len(word) >= 8 else 1
    apart = {term: plain_distance(word, term) for term in terms if term[0] == word[0]}
    near = {term: distance for term, distance in apart.items() if 0 < distance <= slips}
    fewest = min(near.values(), default=0)
    expected = sorted(term for term, distance in near.items() if distance == fewest)
    given_terms = Spellings((term, 1) for term in terms).near(word)
    assert [term for term, _ in given_terms] == expected[:3]
    assert all(distance == near[term] for term, distance in given_terms)


@pytest.mark.parametrize("word", ["", "cat", "日历日历", "caf3", "a" * 30, "CALENDER"])
def test_short_long_and_other_words_have_no_corrections(word: str) -> None:
    """Only plain English letters, four to twenty-four of them, are taken for misspelt."""
    assert Spellings([("calendar", 1), ("cats", 1), ("aaaa", 1)]).near(word) == ()


def test_the_more_frequent_of_equally_near_terms_come_first() -> None:
    """At most three are given, by frequency, then by the alphabet."""
    spellings = Spellings([("formb", 1), ("formd", 5), ("formc", 1), ("forma", 1)])
    assert [term for term, _ in spellings.near("formx")] == ["formd", "forma", "formb"]


def test_no_terms_give_no_corrections() -> None:
    """An empty index can be asked."""
    assert Spellings([]).near("calender") == ()


CATALOG = [
    Tool(name="calendar_event", description="Adds an event."),
    Tool(name="send_message", description="Sends a message."),
    Tool(name="repository_list", description="Lists repositories."),
    Tool(name="pull_request", description="Opens it."),
    Tool(name="database_query", description="Asks it."),
]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("calender", "calendar_event"),
        ("mesage", "send_message"),
        ("messaeg", "send_message"),
        ("repositry", "repository_list"),
        ("reposiotries", "repository_list"),
        ("pullrequest", "pull_request"),
        ("data base", "database_query"),
    ],
)
def test_a_slip_a_join_and_a_split_find_the_tool(query: str, name: str) -> None:
    """A letter too few, another one, neighbours changed, words run together or torn apart."""
    assert Searcher(CATALOG).search(query).results[0].name == name


def test_a_word_that_the_catalog_knows_is_never_corrected() -> None:
    """Where one tool has the word as it is written, no near word is sought."""
    catalog = [*CATALOG, Tool(name="other", description="a calender presses paper")]
    assert [result.name for result in Searcher(catalog).search("calender").results] == ["other"]


def test_a_word_that_is_english_is_never_corrected() -> None:
    """A word of the lexicon is spelled right, also where no tool has it: a boat is no coat."""
    catalog = [Tool(name="ticker", description="tickers of shares")]
    assert Searcher(catalog).search("ticket").results == ()


def test_a_text_of_unknown_words_is_corrected_only_so_far() -> None:
    """Of a long text without any known word, only the first sixteen words are taken for misspelt."""
    letters = "abcdefghij"
    unknown = [f"zz{first}{second}zzz" for first in letters for second in letters][:16]
    assert Searcher(CATALOG).search(" ".join([*unknown, "calender"])).results == ()
    assert Searcher(CATALOG).search(" ".join([*unknown[:15], "calender"])).results[0].name == "calendar_event"
