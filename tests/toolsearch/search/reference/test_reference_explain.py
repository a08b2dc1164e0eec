from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.config import REFERENCE, SearchConfig
from toolsearch.search.reference.explain import exact_shares
from toolsearch.search.reference.ranker import ReferenceRanker
from toolsearch.search.results import Part

Strategy = st.SearchStrategy
Catalog = tuple[list[Tool], list[Tool]]


def ranker(*tools: Tool, config: SearchConfig = REFERENCE) -> ReferenceRanker:
    """The ranking over some deferred tools."""
    return ReferenceRanker(tools, tools, config)


def parts(made: ReferenceRanker, query: str, name: str) -> dict[tuple[str, str, str], float]:
    """The parts of a listed tool by arm, field and term."""
    [result] = [found for found in made.answer(query, 5, None, True).results if found.name == name]
    assert len({(part.arm, part.field, part.term) for part in result.parts}) == len(result.parts)
    return {(part.arm, part.field, part.term): part.value for part in result.parts}


@given(data=st.data())
def test_arms_and_parts_add_up_to_the_score_exactly(
    data: st.DataObject, searches: Strategy[tuple[Catalog, str]], configs: Strategy[SearchConfig]
) -> None:
    """Parts give their arm's share and all of them the score, to the last bit, whatever the weights."""
    (deferred, tools), query = data.draw(searches)
    made = ReferenceRanker(deferred, tools, data.draw(configs))
    for result in made.answer(query, data.draw(st.integers(1, 10)), None, True).results:
        assert result.arms["keyword"] + result.arms["tfidf"] == result.score
        assert math.fsum(part.value for part in result.parts) == result.score
        for arm, share in result.arms.items():
            own = [part.value for part in result.parts if part.arm == arm]
            assert math.fsum(own) == sum(own) == sum(reversed(own)) == share
        assert all(part.value > 0 and part.term and part.field for part in result.parts)


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30).filter(any),
    st.one_of(st.floats(1e-300, 1e300), st.floats(5e-324, 1e-310)),
)
def test_shares_are_made_to_add_up_exactly(values: list[float], scale: float) -> None:
    """Any shares become a sum without rounding, in any order, and none but the largest moves by more than the last bit."""
    scaled = [value * scale for value in values]
    total = math.fsum(scaled)
    if total == 0.0:
        return
    made = exact_shares(scaled, total)
    assert sum(made) == sum(reversed(made)) == math.fsum(made) == total
    moved = sorted(abs(share - value) / math.ulp(total) for share, value in zip(made, scaled, strict=True))
    assert all(steps <= 1.0 for steps in moved[:-1])
    assert moved[-1] <= len(values) + 1


@given(data=st.data())
def test_an_explanation_agrees_with_the_search(
    data: st.DataObject, searches: Strategy[tuple[Catalog, str]], configs: Strategy[SearchConfig]
) -> None:
    """Listed tools have the answer's rank, score and parts; the others are told to be missing, with a reason."""
    (deferred, tools), query = data.draw(searches)
    limit, server = data.draw(st.integers(1, 5)), data.draw(st.sampled_from([None, "chat", "read"]))
    made = ReferenceRanker(deferred, tools, data.draw(configs))
    results = {result.name: result for result in made.answer(query, limit, server, True).results}
    for tool in deferred:
        if server is not None and tool.server != server:
            assert tool.name not in results
            continue
        told = made.explain(query, tool.name, limit, server)
        assert told.found == (tool.name in results)
        assert told.why.startswith(f"{tool.name} ")
        if told.found:
            result = results[tool.name]
            assert (told.rank, told.score, told.parts) == (result.rank, result.score, result.parts)
        else:
            assert (told.rank, told.score, told.parts) == (None, 0.0, ())


def test_each_term_has_its_share_of_the_cosine_under_the_field_that_counted() -> None:
    """Two terms of equal rarity, one in the name (3.0), one in the description (1.0): shares as 3 to 1.

    Both stand in one of two tools, so their rarity is ln 2 and cancels: the query is (1, 1), the tool (3, 1, 1), as
    `box` is a third term. The cosine is 4 / (√2 · √11).
    """
    made = ranker(Tool(name="mail", description="stamp box mail"), Tool(name="other"))
    found = parts(made, "mail stamp", "mail")
    whole = 0.6 / (math.sqrt(2) * math.sqrt(11))
    assert found["tfidf", "name", "mail"] == pytest.approx(3 * whole, abs=1e-12)
    assert found["tfidf", "description", "stamp"] == pytest.approx(1 * whole, abs=1e-12)


def test_the_keyword_share_is_split_by_points() -> None:
    """A name part gives 10 points, hint and description 4 and 2: of the best rank's 0.4 they get 10, 4 and 2 of 16."""
    made = ranker(Tool(name="mail_it", search_hint="stamp", description="a stamp"), Tool(name="other"))
    found = {key: value for key, value in parts(made, "mail stamp", "mail_it").items() if key[0] == "keyword"}
    assert found == {
        ("keyword", "name", "mail"): pytest.approx(0.4 * 10 / 16, abs=1e-15),
        ("keyword", "hint", "stamp"): pytest.approx(0.4 * 4 / 16, abs=1e-15),
        ("keyword", "description", "stamp"): pytest.approx(0.4 * 2 / 16, abs=1e-15),
    }


def test_the_second_of_two_has_half_the_keyword_share_to_split() -> None:
    """The share that is split is the rank score, which halves from the first to the second of two."""
    made = ranker(Tool(name="mail_it"), Tool(name="it", description="mail"))
    assert parts(made, "mail", "it")["keyword", "description", "mail"] == 0.2


def test_a_word_that_is_asked_for_twice_has_one_part_with_both_points() -> None:
    """Repeats of a word count each time and are shown together: 10 + 10 points to 4."""
    made = ranker(Tool(name="mail", search_hint="stamp"), Tool(name="other"))
    found = parts(made, "mail stamp mail", "mail")
    assert found["keyword", "name", "mail"] == pytest.approx(0.4 * 20 / 24, abs=1e-15)
    assert found["keyword", "hint", "stamp"] == pytest.approx(0.4 * 4 / 24, abs=1e-15)


def test_a_name_boost_has_its_own_part() -> None:
    """What the boost adds to the cosine is told apart from what the terms gave."""
    made = ranker(Tool(name="Mail", description="stamp box post"), Tool(name="other"))
    found = parts(made, "mailing stamp", "Mail")
    # `mailing` is cut to `mail`: (1, 1) against (3, 1, 1, 1), so 4 / √24 is the cosine, above the boost.
    assert ("tfidf", "name", "name boost") not in found
    found = parts(made, "mails", "Mail")
    cosine = 3 / math.sqrt(12)
    assert cosine > 0.75
    assert found["tfidf", "name", "mail"] == pytest.approx(0.6 * cosine, abs=1e-12)
    found = parts(made, "mailman stamp", "Mail")
    cosine = 1 / math.sqrt(12)
    assert found["tfidf", "description", "stamp"] == pytest.approx(0.6 * cosine, abs=1e-12)
    assert found["tfidf", "name", "name boost"] == pytest.approx(0.6 * (0.75 - cosine), abs=1e-12)


@pytest.mark.parametrize(("query", "term"), [("SendMail", "sendmail"), ("MCP__chat", "mcp__chat")])
def test_a_name_or_its_beginning_is_one_part(query: str, term: str) -> None:
    """Where no word scored, the keyword share is the name's that was asked for."""
    made = ranker(Tool(name="SendMail", description="mail"), Tool(name="mcp__chat__post"))
    [result] = made.answer(query, 5, None, True).results
    assert result.parts == (Part(arm="keyword", field="name", term=term, value=0.4),)


def test_a_listed_tool_is_told_its_place_in_both_lists() -> None:
    """The reason names the keyword list's place and the cosine, and says when the name raised it."""
    made = ranker(Tool(name="Mail", description="stamp box post"), Tool(name="stamp"))
    why = made.explain("mailman stamp", "Mail", 5).why
    assert why == (
        "Mail has rank 2 by its score: place 2 in the keyword list and a cosine of 0.750 "
        "(raised: the query holds its whole name)."
    )


ENTRIES = [
    Tool(name="mcp__a__mail", description="天气预报 common"),
    Tool(name="mcp__a__post", description="mail mail stamp common"),
    Tool(name="mcp__b__card", description="card box common"),
    Tool(
        name="long", description=" ".join(["mail", *(f"word{number} word{number}" for number in range(60)), "common"])
    ),
]


@pytest.mark.parametrize(
    ("query", "name", "limit", "why"),
    [
        ("zebra", "long", 5, "long was not found: it shares no term with the query."),
        ("", "long", 5, "long was not found: it shares no term with the query."),
        (
            "mcp__a__mail",
            "long",
            5,
            "the query is the name mcp__a__mail, so the keyword list holds that tool alone; it shares no TF-IDF term.",
        ),
        ("mcp__a__", "long", 5, "the query begins the names of other tools, so the keyword list holds those alone;"),
        ("+stamp +box mail", "long", 5, "it lacks the required words stamp, box;"),
        ("+stamp mail", "long", 5, "it lacks the required word stamp; its cosine 0.0"),
        ("+stamp mail", "long", 5, "is below the bound 0.1."),
        ("mail", "mcp__a__post", 1, "it has place 2 in the keyword list, below its cut after 1;"),
        ("post box", "mcp__b__card", 1, "its cosine 0.162 has place 2 in the TF-IDF list, below its cut after 1."),
        (
            "stamp box",
            "mcp__b__card",
            1,
            "it has place 2 in the keyword list, below its cut after 1; "
            "its cosine 0.162 has place 1 in the TF-IDF list, but the merged list is cut above it.",
        ),
        ("天气", "mcp__a__mail", 5, "no query word stands in it; it shares fewer than 2 pairs of Chinese characters"),
        ("commons", "long", 5, "its cosine is 0, as the terms that it shares stand in every tool or have no weight."),
    ],
)
def test_a_tool_that_is_not_listed_is_told_where_it_fell_out(query: str, name: str, limit: int, why: str) -> None:
    """Each arm's reason has its words: another name, a required word, the cut, the bound, too little Chinese."""
    told = ranker(*ENTRIES).explain(query, name, limit)
    assert not told.found
    assert why in told.why


def test_a_named_tool_may_be_cut_where_the_keyword_arm_counts_nothing() -> None:
    """Without a keyword weight a better cosine takes the only place, and the named tool is told so.

    The query `mcp__a__mail` is one long term, which stands in the other tool's description alone.
    """
    tools = [Tool(name="mcp__a__mail"), Tool(name="other", description="mcp__a__mail"), Tool(name="third")]
    made = ranker(*tools, config=REFERENCE.replace(weight_keyword=0.0))
    assert [result.name for result in made.answer("mcp__a__mail", 1, None, False).results] == ["other"]
    assert made.explain("mcp__a__mail", "mcp__a__mail", 1).why == (
        "mcp__a__mail is not listed: its name is the query, which makes it the whole keyword list, "
        "but the merged list is cut above it; it shares no TF-IDF term."
    )


def test_points_beyond_all_bounds_are_explained() -> None:
    """Infinite points are shared out like the largest finite ones."""
    huge = dataclasses.replace(REFERENCE.keyword_points, name=1.7e308, description=1.7e308)
    made = ranker(Tool(name="mcp__x__mail", description="mail"), config=REFERENCE.replace(keyword_points=huge))
    found = parts(made, "mail mail", "mcp__x__mail")
    assert found["keyword", "name", "mail"] == found["keyword", "description", "mail"] == pytest.approx(0.2)
