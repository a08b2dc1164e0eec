from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.search.searcher import Searcher

Strategy = st.SearchStrategy

OFF = DEFAULT.replace(server_share=0.0)
SHARED = DEFAULT.replace(server_share=0.25)
CATALOG = [
    Tool(name="create_invoice", server="office", description="Write an invoice for a customer."),
    Tool(name="find_customer", server="office", description="Look a customer up."),
    Tool(name="find_contact", server="letters", description="Look a customer up."),
    Tool(name="look_up", description="Look a customer up."),
]
BEST, LED, ALONE, FREE = "create_invoice", "find_customer", "find_contact", "look_up"


def scores(config: SearchConfig, query: str) -> dict[str, float]:
    """Scores by name."""
    return {result.name: result.score for result in Searcher(CATALOG, config).search(query).results}


def test_a_score_is_the_harmonic_mean_with_that_of_the_best_tool_of_the_server() -> None:
    """The mean of three quarters of its own score and one quarter of the best one's: 1 / (3/4 / own + 1/4 / best)."""
    own, found = scores(OFF, "invoice for a customer"), scores(SHARED, "invoice for a customer")
    assert found[LED] == pytest.approx(1 / (0.75 / own[LED] + 0.25 / own[BEST]), abs=1e-9)


def test_the_best_tool_of_a_server_keeps_its_score() -> None:
    """So does a tool that is alone on its server, and one that has no server."""
    own, found = scores(OFF, "invoice for a customer"), scores(SHARED, "invoice for a customer")
    assert [found[name] for name in (BEST, ALONE, FREE)] == [own[name] for name in (BEST, ALONE, FREE)]


def test_of_equal_tools_the_one_whose_server_fits_comes_first() -> None:
    """Two tools with one description part by what else their servers can do."""
    found = scores(DEFAULT.replace(server_share=0.25), "invoice for a customer")
    assert found[LED] > found[ALONE]


def test_a_tool_that_shares_no_word_is_not_brought_in_by_its_server() -> None:
    """Who has nothing of the query gets no share."""
    assert scores(SHARED, "invoice") == {BEST: pytest.approx(scores(OFF, "invoice")[BEST])}


def test_an_explanation_names_the_tool_that_the_share_comes_from() -> None:
    """What is gained stands as parts of its own, by arm as the best tool has it, beside the tool's own parts."""
    gained = scores(SHARED, "invoice for a customer")[LED] - scores(OFF, "invoice for a customer")[LED]
    response = Searcher(CATALOG, SHARED).search("invoice for a customer", explain=True)
    [led] = [result for result in response.results if result.name == LED]
    [best] = [result for result in response.results if result.name == BEST]
    given = {part.arm: part.value for part in led.parts if part.term == f"{BEST} (the server's best)"}
    assert given == {
        arm: pytest.approx(gained / best.score * sum(part.value for part in best.parts if part.arm == arm), abs=2e-9)
        for arm in ("keyword", "tfidf")
    }
    assert {part.field for part in led.parts if part.term.endswith("(the server's best)")} == {"server"}
    assert not any(part.term.endswith("(the server's best)") for part in best.parts)


def test_who_has_next_to_nothing_gains_next_to_nothing() -> None:
    """However good the best tool is, a score grows by no more than its share allows: 1 / (1 - share) times."""
    own, found = (
        scores(OFF, "invoice for a customer"),
        scores(DEFAULT.replace(server_share=0.5), "invoice for a customer"),
    )
    assert own[LED] < found[LED] < 2 * own[LED]


@given(data=st.data())
def test_no_share_turns_the_tools_of_one_server_around(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], queries: Strategy[str]
) -> None:
    """Whatever the weights: of two tools of one server the better one is never worse with a share than the other."""
    config, catalog, query = data.draw(configs), data.draw(catalogs), data.draw(queries)
    server = {tool.name: tool.server for tool in Searcher(catalog, config).snapshot().deferred}
    own, found = (
        {result.name: result.score for result in Searcher(catalog, each).search(query, max_results=50).results}
        for each in (config.replace(server_share=0.0), config)
    )
    assert set(own) == set(found)
    for one in own:
        for other in own:
            if server[one] is not None and server[one] == server[other] and own[one] > own[other]:
                assert found[one] >= found[other]
