from __future__ import annotations

import dataclasses
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.config import REFERENCE, SearchConfig
from toolsearch.search.reference.arms import best_first
from toolsearch.search.reference.evidence import read_words
from toolsearch.search.reference.plain import PlainReference
from toolsearch.search.reference.ranking import IndexedReference

Strategy = st.SearchStrategy
Catalog = tuple[list[Tool], list[Tool]]
Listed = list[tuple[Tool, float]]


def same(found: Listed, expected: Listed) -> None:
    """The same tools in the same order, values within 1e-12 of each other in relation to the largest."""
    assert [tool.name for tool, _ in found] == [tool.name for tool, _ in expected]
    assert [value for _, value in found] == pytest.approx([value for _, value in expected], rel=1e-12, abs=1e-12)


def test_the_index_ranks_as_the_plain_loop_does(
    searches: Strategy[tuple[Catalog, str]], configs: Strategy[SearchConfig]
) -> None:
    """Both arms and their merge are the same lists on any catalog, query, weights, cut and server.

    Rules that are seldom met would let differences pass, so each has to have been met several times.
    """
    met: Counter[str] = Counter()

    @settings(max_examples=600)
    @given(
        search=searches,
        config=configs,
        server=st.sampled_from([None, None, "chat", "chat", "read", "none"]),
        limit=st.sampled_from([5, 1, 2, 10, 0, -1]),
    )
    def check(search: tuple[Catalog, str], config: SearchConfig, server: str | None, limit: int) -> None:
        catalog, query = search
        indexed, plain = IndexedReference(*catalog, config), PlainReference(*catalog, config)
        for cut in (None, limit):
            same(indexed.keyword(query, cut, server), plain.keyword(query, cut, server))
            same(indexed.tfidf(query, cut, server), plain.tfidf(query, cut, server))
        same(indexed.hybrid(query, limit, server), plain.hybrid(query, limit, server))
        met.update(rule for rule, is_met in rules(plain, catalog, query, server).items() if is_met)

    check()
    assert min(met[rule] for rule in rules(PlainReference([], [], REFERENCE), ([], []), "", None)) >= 3, met


def rules(plain: PlainReference, catalog: Catalog, query: str, server: str | None) -> dict[str, bool]:
    """Which rules of the ranking decide a search."""
    keyword, cosines = plain.keyword(query, None, server), plain.tfidf(query, None, server)
    merged = plain.hybrid(query, 10, server)
    without_points = bool(keyword) and all(points == 0.0 for _, points in keyword)
    han = re.search("[天预发消]", query) is not None
    return {
        "ties": len({score for _, score in merged}) < len(merged),
        "name boost": any(value == 0.75 for _, value in cosines),
        "a required word lacks in the TF-IDF list": "+" in query and not keyword and bool(cosines),
        "required words met": re.search(r"\+\w", query) is not None and len(keyword) > 1,
        "a loaded tool is named": without_points and keyword[0][0] not in catalog[0],
        "names begun": without_points and len(keyword) > 1,
        "marks within words": re.search(r"\w[^\w\s+]", query, re.ASCII) is not None and bool(keyword),
        "Chinese pairs": han and bool(cosines) and not re.search("[a-z]", query),
        "a server with hits": server is not None and len(merged) > 1,
    }


@settings(max_examples=300)
@given(
    texts=st.lists(st.text(alphabet="ab_-'天 \u00e9\n1", max_size=12), max_size=5),
    word=st.text(alphabet="ab_-'天\u00e9\x1c1", min_size=1, max_size=4),
)
def test_words_are_looked_up_as_the_pattern_would_find_them(texts: list[str], word: str) -> None:
    """A look-up of a word in texts and name parts gives the tools that a search through each would give."""
    parts = [tuple(text.split()) for text in texts]
    evidence = read_words(parts, texts, texts).evidence(word)
    pattern = re.compile(rf"\b{re.escape(word)}\b", re.ASCII)
    hit = [place for place, text in enumerate(texts) if pattern.search(text)]
    equal = [place for place, own in enumerate(parts) if word in own]
    inside = [place for place, own in enumerate(parts) if any(word in part for part in own)]
    assert evidence.hint.tolist() == evidence.description.tolist() == hit
    assert evidence.equal.tolist() == equal
    assert evidence.inside.tolist() == [place for place in inside if place not in equal]


@given(
    values=st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0 + 2**-52]), max_size=12),
    limit=st.one_of(st.none(), st.integers(-3, 14)),
)
def test_the_best_are_those_of_a_stable_sort(values: list[float], limit: int | None) -> None:
    """Sorting only what can be among the best gives what sorting everything and cutting gives."""
    order = sorted(range(len(values)), key=lambda place: -values[place])
    assert best_first(np.array(values), limit).tolist() == order[:limit]


@pytest.mark.parametrize("made", [IndexedReference, PlainReference])
@pytest.mark.parametrize(("name", "substring"), [(10.0, 5.0), (1.0, 0.5), (100.0, 0.0)])
def test_a_tool_of_a_server_gets_a_fifth_more_whatever_the_points(
    made: type[IndexedReference | PlainReference], name: float, substring: float
) -> None:
    """A name part counts 12 and 6 where a built-in's counts 10 and 5, and keeps that ratio under other points."""
    config = REFERENCE.replace(
        keyword_points=dataclasses.replace(REFERENCE.keyword_points, name=name), keyword_substring_points=substring
    )
    tools = [Tool(name="mail_note"), Tool(name="mcp__x__mail_note")]
    ranking = made(tools, tools, config)
    for query, points in (("mail", name), ("not", substring)):
        expected = {"mail_note": points, "mcp__x__mail_note": points * 1.2}
        assert {tool.name: given for tool, given in ranking.keyword(query, None)} == {
            tool: given for tool, given in expected.items() if given
        }


def test_a_fifth_more_of_the_observed_points_is_the_observed_number() -> None:
    """10 and 5 with the factor are 12 and 6 to the last bit, so the recorded points stay exact."""
    tools = [Tool(name="mcp__x__mail_note")]
    ranking = IndexedReference(tools, tools, REFERENCE)
    assert [ranking.keyword(query, None) for query in ("mail", "not")] == [[(tools[0], 12.0)], [(tools[0], 6.0)]]


@pytest.mark.parametrize("made", [IndexedReference, PlainReference])
def test_points_beyond_all_bounds_rank_without_a_warning(made: type[IndexedReference | PlainReference]) -> None:
    """Points that add up to infinity are infinite, and their tools stand in catalog order."""
    huge = dataclasses.replace(REFERENCE.keyword_points, name=1.7e308, description=1.7e308)
    tools = [Tool(name="mail_b", description="mail"), Tool(name="mail_a", description="mail mail")]
    listed = made(tools, tools, REFERENCE.replace(keyword_points=huge)).keyword("mail", None)
    assert [(tool.name, points) for tool, points in listed] == [("mail_b", float("inf")), ("mail_a", float("inf"))]
