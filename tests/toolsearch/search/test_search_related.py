from __future__ import annotations

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, FieldValues
from toolsearch.search.related.words import related
from toolsearch.search.searcher import Searcher

NOTHING = FieldValues(name=0, server=0, hint=0, description=0, parameter_names=0, parameter_descriptions=0)
PLAIN = DEFAULT.replace(
    weight_keyword=0,
    weight_tfidf=1,
    field_weights=FieldValues(name=0, server=0, hint=0, description=1, parameter_names=0, parameter_descriptions=0),
    length_normalisation=NOTHING,
    saturation=1.0,
    related_weight=0.5,
    expansion_frequency=0.0,
)
"""One field, no length: a term that stands once in a description is worth 1 / (1 + 1)."""
AIRPORT = dict(related("flight"))["airport"]
"""What `airport` is worth for `flight`."""


def described(*texts: str) -> list[Tool]:
    """Tools x0, x1, … with these descriptions."""
    return [Tool(name=f"x{number}", description=text) for number, text in enumerate(texts)]


def scores(query: str, *texts: str) -> dict[str, float]:
    """Scores by name."""
    return {result.name: result.score for result in Searcher(described(*texts), PLAIN).search(query).results}


def test_a_related_word_gives_its_worth_of_what_the_word_itself_would_give() -> None:
    """Worked by hand: two words of one rarity share 1; `banana` gives 1/2 × 1/2, `airport` its worth of half of that."""
    found = scores("flight banana", "airport", "banana")
    assert found["x1"] == 0.25
    assert found["x0"] == pytest.approx(0.25 * 0.5 * AIRPORT, abs=1e-9)


def test_of_several_related_words_of_a_tool_the_nearest_counts() -> None:
    """A tool that talks of airports and travel gets no more than the nearer of the two is worth."""
    worth = dict(related("flight"))
    assert worth["airport"] > worth["travel"] > 0
    found = scores("flight banana", "travel airport", "travel", "banana")
    assert found["x0"] / found["x1"] == pytest.approx(worth["airport"] / worth["travel"])


def test_the_word_itself_beats_every_word_that_is_near_it() -> None:
    """Between two tools that differ in nothing else, the very word comes first."""
    found = Searcher(described("airport", "flight"), DEFAULT.replace(related_weight=1.0)).search("flight")
    assert [result.name for result in found.results] == ["x1", "x0"]


def test_an_explanation_names_both_words_and_their_relation() -> None:
    """What stands in the tool, for which word of the query, and how it came there."""
    [result] = Searcher(described("an airport", "banana"), PLAIN).search("flights", explain=True).results
    assert [part.term for part in result.parts] == ["airport ← flights (related word)"]


def test_a_weight_of_zero_looks_up_nothing() -> None:
    """Without the part a tool that shares no word is not found."""
    assert Searcher(described("airport"), PLAIN.replace(related_weight=0.0)).search("flight").results == ()


def test_a_required_word_is_not_met_by_a_related_one() -> None:
    """A plus sign asks for the word itself."""
    assert Searcher(described("airport"), PLAIN).search("+flight").results == ()


def test_words_of_another_language_are_not_taken_for_english_ones() -> None:
    """In a German query `rat` is advice, not a rodent."""
    catalog = described("a mouse in a cage", "banana")
    assert [result.name for result in Searcher(catalog, PLAIN).search("rat").results] == ["x0"]
    assert Searcher(catalog, PLAIN).search("bitte einen rat für die rechnung").results == ()


def test_many_tools_with_related_words_are_found_whatever_the_order_of_the_catalog() -> None:
    """The ranking hangs on the words alone."""
    catalog = described("airport", "travel plans", "aircraft", "book a seat", "banana")
    answers = [
        [(each.name, each.score) for each in Searcher(order, PLAIN).search("flight").results]
        for order in (catalog, catalog[::-1])
    ]
    assert answers[0] == answers[1]
    assert len(answers[0]) >= 3
