from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.errors import UsageError
from toolsearch.search.analysis.standard import STOP_WORDS, stem
from toolsearch.search.fusion import confidence
from toolsearch.search.searcher import Searcher

Strategy = st.SearchStrategy


@given(data=st.data(), limit=st.integers(1, 6))
def test_total_matches_is_what_a_count_by_hand_gives(
    data: st.DataObject, configs: Strategy[SearchConfig], limit: int
) -> None:
    """The tools that share a non-stop word with the query are counted one by one."""
    vocabulary = ["sends", "message", "files", "the", "of", "issue", "zebra", "is"]
    texts = data.draw(st.lists(st.lists(st.sampled_from(vocabulary), max_size=5).map(" ".join), max_size=10))
    asked = data.draw(st.lists(st.sampled_from(vocabulary), min_size=1, max_size=4))
    tools = [Tool(name=f"x{number}", description=text) for number, text in enumerate(texts)]
    wanted = {stem(word) for word in asked if word not in STOP_WORDS}
    expected = sum(bool(wanted & {stem(word) for word in text.split()}) for text in texts)
    config = data.draw(configs).replace(related_weight=0.0)
    response = Searcher(tools, config).search(" ".join(asked), max_results=limit)
    assert response.total_matches == expected
    assert len(response.results) == min(limit, expected)
    assert response.truncated == (expected > limit)


@given(data=st.data())
def test_results_are_never_more_than_matched(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], queries: Strategy[str]
) -> None:
    """A list is cut to what was asked for, names no tool twice and is cut exactly when more matched."""
    searcher, query = Searcher(data.draw(catalogs), data.draw(configs)), data.draw(queries)
    limit = data.draw(st.integers(1, 20))
    response = searcher.search(query, max_results=limit)
    names = [result.name for result in response.results]
    assert len(names) == len(set(names)) == min(limit, response.total_matches)
    assert response.truncated == (response.total_matches > len(names))
    whole = [result.name for result in searcher.search(query, max_results=50).results]
    assert names == whole[: len(names)]


@given(data=st.data())
def test_the_confidence_bound_moves_a_flag_and_hides_nothing(
    data: st.DataObject, catalogs: Strategy[list[Tool]], queries: Strategy[str]
) -> None:
    """Whatever the bound, the same results come back; flagged is what scores below it and is not named."""
    catalog, query = data.draw(catalogs), data.draw(queries)
    low, high = (Searcher(catalog, DEFAULT.replace(confidence_bound=bound)) for bound in (0.0, 2.0))
    sure, unsure = low.search(query), high.search(query)
    assert sure.results == unsure.results
    assert sure.low_confidence == (not sure.results)
    assert unsure.low_confidence == all(result.reason == "score" for result in unsure.results)


@pytest.mark.parametrize(
    ("given_count", "used", "clamped"), [(0, 1, True), (-7, 1, True), (1, 1, False), (50, 50, False), (51, 50, True)]
)
def test_a_count_outside_1_to_50_is_moved_and_said_so(given_count: int, used: int, clamped: bool) -> None:
    """A number of results that is too small or too large is moved to the nearest bound."""
    response = Searcher(Tool(name=f"tool_{number}") for number in range(60)).search("tool", max_results=given_count)
    assert (len(response.results), response.clamped) == (used, clamped)
    assert response.total_matches == 60


@pytest.mark.parametrize("count", [2.5, True, "5", None])
def test_a_count_that_is_no_whole_number_is_an_error(count: object) -> None:
    """A count of another kind is refused, not guessed at."""
    with pytest.raises(UsageError, match="whole number"):
        Searcher([]).search("x", max_results=count)  # type: ignore[arg-type]


def test_a_server_that_does_not_exist_is_reported_with_near_names() -> None:
    """The answer is empty and says which server may have been meant."""
    response = Searcher([Tool(name="send", server="chat")]).search("send", server="chatt")
    assert response.results == ()
    assert "Did you mean 'chat'?" in response.warnings[0]


def test_a_query_keeps_its_very_text() -> None:
    """The response carries the query as it was given."""
    assert Searcher([]).search("  +Ｓend\t").query == "  +Ｓend\t"


def test_core_tools_are_never_results() -> None:
    """A loaded tool that is named is reported apart from the results."""
    response = Searcher([Tool(name="Read", description="read"), Tool(name="read_file")]).search("Read")
    assert [result.name for result in response.results] == ["read_file"]
    assert response.already_loaded == ("Read",)


def test_quarantined_tools_are_never_results() -> None:
    """A tool whose name is not fit to be shown is not found."""
    registry = ToolRegistry([Tool(name="send\u202emessage", description="send"), Tool(name="send_it")])
    assert [result.name for result in Searcher(registry).search("send message").results] == ["send_it"]


def test_confidence_is_the_share_covered_or_the_evidence_whichever_is_more() -> None:
    """A covered query is sure by its score; a long one by what it found: 3 rare words' worth make 3 of 4."""
    assert confidence(0.6, 1.0) == 0.6
    assert confidence(0.1, 30.0) == pytest.approx(3 / 4)
    assert confidence(0.0, 30.0) == 0.0


def test_a_named_tool_is_sure() -> None:
    """An answer that the query names has full confidence."""
    response = Searcher([Tool(name="send_message"), Tool(name="read_file")]).search("send_message")
    assert response.confidence == 1.0
    assert not response.low_confidence
