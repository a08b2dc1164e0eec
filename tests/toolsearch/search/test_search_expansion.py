from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, FieldValues, SearchConfig
from toolsearch.search.batch import PreparedQueries
from toolsearch.search.evidence import gather
from toolsearch.search.fusion import frequencies
from toolsearch.search.index import build
from toolsearch.search.lexicon.relations import FIRST_EXPANSION, active, factors
from toolsearch.search.query import read_query
from toolsearch.search.searcher import Searcher

Strategy = st.SearchStrategy

NOTHING = FieldValues(name=0, server=0, hint=0, description=0, parameter_names=0, parameter_descriptions=0)
PLAIN = DEFAULT.replace(
    weight_keyword=0,
    weight_tfidf=1,
    field_weights=FieldValues(name=0, server=0, hint=0, description=1, parameter_names=0, parameter_descriptions=0),
    length_normalisation=NOTHING,
    saturation=1.0,
    synonym_weight=0.5,
    abbreviation_weight=0.5,
    translation_weight=0.5,
    related_weight=0.0,
    expansion_frequency=0.5,
)
"""One field, no length: a term that stands once in a description is worth 1 / (1 + 1)."""
SWITCHES = (
    "synonym_weight",
    "near_synonym_weight",
    "abbreviation_weight",
    "translation_weight",
    "loose_translation_weight",
    "spelling_weight",
    "related_weight",
)
OFF = DEFAULT.replace(**dict.fromkeys(SWITCHES, 0.0))


def described(*texts: str) -> list[Tool]:
    """Tools x0, x1, … with these descriptions."""
    return [Tool(name=f"x{number}", description=text) for number, text in enumerate(texts)]


def scores(config: SearchConfig, query: str, *texts: str) -> dict[str, float]:
    """Scores by name."""
    return {result.name: result.score for result in Searcher(described(*texts), config).search(query).results}


def test_a_synonym_gives_its_weight_of_what_the_term_itself_would_give() -> None:
    """Worked by hand: two terms of one rarity share 1; the word gives 1/2 × 1/2, its synonym half of that."""
    assert scores(PLAIN, "delete banana", "remove", "banana") == {"x0": 0.125, "x1": 0.25}


def test_many_synonyms_count_as_one_term() -> None:
    """A tool with four words for one term gets what a tool with one of them gets."""
    found = scores(PLAIN, "delete banana", "remove", "remove erase drop discard", "banana")
    assert found["x0"] == found["x1"]


def test_expansions_make_a_term_less_rare_by_their_share() -> None:
    """Worked by hand: one tool has the term, two a synonym of weight 1/2, of which half counts: 1 + 1/2 × 1/2 × 2."""
    index = build(described("delete", "remove", "remove", "other"), "1")
    evidence = gather(index, [read_query("delete")], active(PLAIN))
    assert frequencies(evidence, PLAIN).tolist() == [1.5]


def test_a_term_that_no_tool_has_is_as_common_as_its_most_common_expansion() -> None:
    """Two tools have one synonym and one another: the term stands for 2, not for 1, and a small weight changes nothing."""
    index = build(described("remove", "remove", "erase", "other"), "1")
    for weight in (0.01, 1.0):
        config = PLAIN.replace(synonym_weight=weight)
        evidence = gather(index, [read_query("delete")], active(config))
        assert frequencies(evidence, config).tolist() == [2.0]


def test_a_frequency_never_exceeds_the_catalog() -> None:
    """However many expansions there are, a term is at most in every tool."""
    config = PLAIN.replace(synonym_weight=1, expansion_frequency=1)
    index = build(described("delete remove erase drop", "remove erase drop delete"), "1")
    assert frequencies(gather(index, [read_query("delete")], active(config)), config).tolist() == [2.0]


@given(data=st.data())
# `k8s` is three words long (k, 8, s), so the other text gets two more: length is a difference of its own.
@pytest.mark.parametrize(
    ("asked", "other"), [("delete", "remove"), ("k8s", "kubernetes harbour kettle"), ("calendar", "日历")]
)
def test_the_word_itself_is_never_behind_another_word_for_it(
    data: st.DataObject, configs: Strategy[SearchConfig], asked: str, other: str
) -> None:
    """Of two tools that differ in nothing else, whatever the weights, the one with the query's own word is not lower."""
    config = data.draw(configs)
    found = scores(config, asked, f"it can {asked} this", f"it can {other} this")
    assert found["x0"] >= found.get("x1", 0.0)


@pytest.mark.parametrize(
    ("query", "text", "switch"),
    [
        ("delete", "remove", "synonym_weight"),
        ("ticket", "issue", "near_synonym_weight"),
        ("k8s", "kubernetes", "abbreviation_weight"),
        ("日历", "calendar", "translation_weight"),
        ("calender", "calendar", "spelling_weight"),
        ("flight", "airport", "related_weight"),
    ],
)
def test_every_part_is_switched_off_by_a_weight_of_zero(query: str, text: str, switch: str) -> None:
    """With its own weight at 0 a part finds nothing at all; with only its own weight above 0 it finds the tool."""
    catalog = described(text, "banana")
    without = Searcher(catalog, DEFAULT.replace(**{"related_weight": 0.0, switch: 0.0})).search(query)
    assert (without.results, without.total_matches) == ((), 0)
    alone = Searcher(catalog, OFF.replace(**{switch: 0.5})).search(query)
    assert [result.name for result in alone.results] == ["x0"]


@given(data=st.data())
def test_active_kinds_are_those_that_count(data: st.DataObject, configs: Strategy[SearchConfig]) -> None:
    """A kind of expansion is looked up just when its factor is above 0."""
    config = data.draw(configs)
    counted = factors(config)
    assert active(config) == {kind for kind in range(FIRST_EXPANSION, len(counted)) if counted[kind] > 0}
    assert active(OFF) == frozenset()


def test_a_required_word_is_not_met_by_another_word() -> None:
    """Only the word itself satisfies a plus sign, no synonym, translation or corrected spelling."""
    catalog = described("remove a calendar", "delete a page")
    assert [result.name for result in Searcher(catalog).search("+delete").results] == ["x1"]
    assert Searcher(catalog).search("+日历").results == ()
    assert Searcher(catalog).search("+calender").results == ()


def test_a_phrase_stands_for_an_abbreviation_only_in_one_field() -> None:
    """All words of a gloss have to stand in one field of the tool."""
    apart = Tool(name="apart", server="pull", description="Sends a request.")
    together = Tool(name="together", description="Opens a pull request.")
    assert [result.name for result in Searcher([apart, together]).search("PR").results] == ["together"]


def test_a_phrase_of_the_query_is_expanded_as_a_whole() -> None:
    """`pull request` finds merge requests, and `out of stock` is no matter of shares."""
    catalog = described("opens a merge request", "banana")
    response = Searcher(catalog).search("pull request", explain=True)
    assert {part.term for part in response.results[0].parts} == {"request", "merge request ← pull request (synonym)"}


def test_an_explanation_names_what_stands_for_what() -> None:
    """A part says which word of the catalog stands for which word of the query, and how; parts add up to the score."""
    catalog = [Tool(name="calendar_remove"), Tool(name="other")]
    for query, term in (
        ("delete", "remove ← delete (synonym)"),
        ("日历", "calendar ← 日历 (translation)"),
        ("calender", "calendar ← calender (spelling)"),
    ):
        result = Searcher(catalog).search(query, explain=True).results[0]
        assert {part.term for part in result.parts} == {term}
        assert math.fsum(part.value for part in result.parts) == result.score


def test_a_filler_and_a_number_count_by_their_weights() -> None:
    """Worked by hand: beside a word of weight 1 a filler of weight 1/2 has a third of what the query asks for."""
    config = PLAIN.replace(filler_weight=0.5, number_weight=0.25)
    assert scores(config, "wondering banana", "wondering", "banana") == {
        "x0": round(1 / 3 / 2, 9),
        "x1": round(2 / 3 / 2, 9),
    }
    assert scores(config, "7 banana", "7", "banana") == {"x0": round(1 / 5 / 2, 9), "x1": round(4 / 5 / 2, 9)}


def test_a_changed_catalog_is_asked_anew_for_other_words() -> None:
    """What was looked up in one index says nothing about its successor: new tools are found by other words too."""
    registry = ToolRegistry(described("banana"))
    searcher = Searcher(registry)
    queries = ("calender", "日历", "PR", "delete")
    assert [searcher.search(query).results for query in queries] == [()] * len(queries)
    registry.add([Tool(name="new", description="Remove a pull request from the calendar.")])
    assert [searcher.search(query).results[0].name for query in queries] == ["new"] * len(queries)
    registry.remove("new")
    assert [searcher.search(query).results for query in queries] == [()] * len(queries)


@given(data=st.data())
def test_prepared_queries_follow_the_switches_of_each_configuration(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], queries: Strategy[str]
) -> None:
    """One preparation ranks under configurations that switch parts off and on as searches of their own do."""
    asked = data.draw(st.lists(queries, min_size=1, max_size=3))
    snapshot = ToolRegistry(data.draw(catalogs)).snapshot()
    prepared = PreparedQueries(snapshot, asked)
    for config in (DEFAULT, OFF, data.draw(configs), DEFAULT):
        rows, _ = prepared.ranked(config, 5)
        for query, row in zip(asked, rows, strict=True):
            names = [prepared.tools[number].name for number in row if number >= 0]
            assert names == [result.name for result in Searcher(snapshot, config).search(query).results]


def test_a_word_of_a_script_without_blanks_is_as_rare_as_among_the_tools_in_it() -> None:
    """One of two tools in Chinese has the pair, so it is as common as half of a catalog, however many are in English."""
    for english in (0, 2, 6):
        tools = described("查询天气", "查询航班", *["read a file"] * english)
        index = build(ToolRegistry(tools).snapshot().deferred, "f")
        evidence = gather(index, [read_query("天气 file")], active(OFF))
        common = dict(zip([slot.term for slot in evidence.slots], frequencies(evidence, OFF), strict=True))
        assert common["天气"] == len(tools) / 2
        assert common["file"] == english
