from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, FIELDS, REFERENCE, SearchConfig
from toolsearch.errors import UnknownNameError, UsageError
from toolsearch.search.explain import exact_arms, exact_parts
from toolsearch.search.results import Part
from toolsearch.search.searcher import Searcher

Strategy = st.SearchStrategy


@given(data=st.data())
def test_arms_and_parts_add_up_to_the_score_exactly(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], queries: Strategy[str]
) -> None:
    """What arms, fields and terms gave is the score, to the last bit, whatever the weights."""
    config = data.draw(configs)
    response = Searcher(data.draw(catalogs), config).search(data.draw(queries), max_results=50, explain=True)
    for result in response.results:
        assert math.fsum(part.value for part in result.parts) == result.score
        assert sum(result.arms.values()) == result.score
        assert min(result.arms.values()) >= 0.0
        for arm, share in result.arms.items():
            parts = [part.value for part in result.parts if part.arm == arm]
            assert math.fsum(parts) == pytest.approx(share, abs=3e-9)
        assert all(part.field in FIELDS and part.term for part in result.parts)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40))
def test_parts_are_made_to_add_up_exactly(values: list[float]) -> None:
    """Any shares are made to add up to their rounded sum, and none moves by more than the rounding."""
    total = round(math.fsum(values), 9)
    parts = [Part(arm="tfidf", field="name", term=str(number), value=value) for number, value in enumerate(values)]
    made = exact_parts(parts, total)
    assert math.fsum(part.value for part in made) == total
    before = {part.term: part.value for part in parts}
    assert all(abs(part.value - before[part.term]) <= 1e-9 for part in made)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_arms_are_made_to_add_up_exactly(keyword: float, tfidf: float) -> None:
    """Both arms' shares add up to the rounded score, and neither is below 0."""
    total = round(keyword + tfidf, 9)
    arms = exact_arms(total, keyword)
    assert sum(arms.values()) == total
    assert math.fsum(arms.values()) == total
    assert arms["keyword"] == pytest.approx(keyword, abs=2e-9)
    assert min(arms.values()) >= 0.0


def test_parts_name_the_arm_the_field_and_the_term() -> None:
    """A term that stands in two fields is shown for both, and in the keyword arm for the stronger one."""
    tool = Tool(name="send_mail", description="Sends a letter.")
    [result] = Searcher([tool]).search("send", explain=True).results
    assert {(part.arm, part.field, part.term) for part in result.parts} == {
        ("keyword", "name", "send"),
        ("tfidf", "name", "send"),
        ("tfidf", "description", "send"),
    }


def test_parts_are_given_only_where_they_are_asked_for() -> None:
    """Without `explain` a result carries its arms alone."""
    [result] = Searcher([Tool(name="send_mail")]).search("send").results
    assert (result.parts, set(result.arms)) == ((), {"keyword", "tfidf"})


@given(data=st.data())
def test_an_explanation_agrees_with_the_search(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], queries: Strategy[str]
) -> None:
    """Found tools have the search's rank, score and parts; the others are said not to be found."""
    searcher = Searcher(data.draw(catalogs), data.draw(configs))
    query, limit = data.draw(queries), data.draw(st.integers(1, 5))
    server = data.draw(st.sampled_from([None, "chat"]))
    response = searcher.search(query, max_results=limit, server=server, explain=True)
    results = {result.name: result for result in response.results}
    for tool in searcher.snapshot().deferred:
        told = searcher.explain(query, tool.name, max_results=limit, server=server)
        assert told.found == (tool.name in results)
        assert math.fsum(part.value for part in told.parts) == told.score
        if told.found:
            result = results[tool.name]
            assert (told.rank, told.score, told.parts) == (result.rank, result.score, result.parts)
        elif told.rank is not None:
            assert told.rank > limit


@pytest.fixture
def searcher() -> Searcher:
    """A catalog with a tool of every fate."""
    tools = [
        Tool(name="send_message", description="message"),
        Tool(name="message_list"),
        Tool(name="message_read", server="chat"),
        Tool(name="other"),
        Tool(name="Read", description="message"),
        Tool(name="bad\nname", description="message"),
        Tool(name="denied_message"),
    ]
    return Searcher(ToolRegistry(tools, deny=["denied_*"]))


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("other", {}, "other was not found: it shares no term with the query (message, send)."),
        ("Read", {}, "loaded already"),
        ("bad\nname", {}, "quarantined"),
        ("denied_message", {}, "allow and deny patterns hide it"),
        ("send_message", {"server": "chat"}, "it belongs to no server, and only server 'chat' was asked for"),
        ("message_read", {"server": "mail"}, "it belongs to server 'chat', and only server 'mail' was asked for"),
        ("message_list", {"max_results": 1}, "below the cut after 1"),
    ],
)
def test_a_tool_that_was_not_found_is_told_why(
    searcher: Searcher, name: str, options: dict[str, object], why: str
) -> None:
    """No shared term, loaded, quarantined, hidden, of another server, below the cut: each has its sentence."""
    told = searcher.explain("message send", name, **options)  # type: ignore[arg-type]
    assert not told.found
    assert why in told.why
    assert "\n" not in told.why or name == "bad\nname"


def test_a_tool_below_the_cut_has_its_rank_and_parts(searcher: Searcher) -> None:
    """What is ranked but cut is explained like a result."""
    told = searcher.explain("message send", "message_list", max_results=1)
    assert told.rank is not None
    assert told.rank > 1
    assert told.score == math.fsum(part.value for part in told.parts) > 0


def test_a_filtered_tool_is_told_which_words_it_lacks(searcher: Searcher) -> None:
    """A required word that a tool lacks is named."""
    why = searcher.explain("message +send +zebra", "message_list").why
    assert why == "message_list was filtered out: it lacks the required words send, zebra."


@pytest.mark.parametrize("query", ["", "   ", "+", "!?", "🎉"])
def test_a_query_without_words_is_told_so(searcher: Searcher, query: str) -> None:
    """Where there is nothing to search for, that is the reason."""
    assert searcher.explain(query, "other").why == "other was not found: the query holds no searchable word."


@pytest.mark.parametrize("config", [DEFAULT, REFERENCE])
def test_an_unknown_tool_is_an_error_with_near_names(config: SearchConfig) -> None:
    """A name that the catalog has not is refused with what it may have meant."""
    with pytest.raises(UnknownNameError, match="send_message") as caught:
        Searcher([Tool(name="send_message")], config).explain("x", "send_mesage")
    assert caught.value.suggestions == ("send_message",)


def test_a_named_tool_is_told_by_its_reason(searcher: Searcher) -> None:
    """A tool that the query names stands there for that reason."""
    assert "the query names it (exact_name)" in searcher.explain("send message", "send_message").why


def test_an_alias_is_explained_as_its_tool() -> None:
    """The tool may be named by an alias."""
    told = Searcher([Tool(name="send_message", aliases=("post",))]).explain("send", "post")
    assert (told.tool, told.found) == ("send_message", True)


@pytest.mark.parametrize("limit", [1, 2, 5])
@pytest.mark.parametrize("server", [None, "chat"])
def test_the_reference_ranking_is_explained_as_it_answers(limit: int, server: str | None) -> None:
    """A loaded tool that the ranking meets on its way takes no rank away from a result."""
    tools = [
        Tool(name="Read", description="send message"),
        Tool(name="send_message", description="send message"),
        Tool(name="message_list", server="chat", description="message"),
    ]
    searcher = Searcher(tools, REFERENCE)
    for query in ("Read", "send message", "message"):
        results = {result.name: result for result in searcher.search(query, max_results=limit, server=server).results}
        for tool in searcher.snapshot().deferred:
            told = searcher.explain(query, tool.name, max_results=limit, server=server)
            assert told.found == (tool.name in results)
            if told.found:
                assert (told.rank, told.score) == (results[tool.name].rank, results[tool.name].score)


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "5", None])
def test_a_count_that_is_none_is_refused(searcher: Searcher, count: object) -> None:
    """The number of results of an explanation is a whole number above 0."""
    with pytest.raises(UsageError, match="max_results is"):
        searcher.explain("x", "other", max_results=count)  # type: ignore[arg-type]
