from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.search.arms import PostingValues, posting_values
from toolsearch.search.evidence import gather
from toolsearch.search.fusion import score
from toolsearch.search.index import build
from toolsearch.search.lexicon.relations import active
from toolsearch.search.query import read_query
from toolsearch.search.searcher import Searcher

Strategy = st.SearchStrategy


@given(data=st.data(), limit=st.integers(1, 9))
def test_a_batch_answers_as_single_searches_do(
    data: st.DataObject,
    configs: Strategy[SearchConfig],
    catalogs: Strategy[list[Tool]],
    queries: Strategy[str],
    limit: int,
) -> None:
    """Each query of a batch has the very response of a search of its own, to the last bit, parts included."""
    searcher = Searcher(data.draw(catalogs), data.draw(configs))
    asked = data.draw(st.lists(queries, max_size=6))
    server = data.draw(st.sampled_from([None, "chat"]))
    batch = searcher.search_batch(asked, max_results=limit, server=server, explain=True)
    assert batch == [searcher.search(query, max_results=limit, server=server, explain=True) for query in asked]


def test_a_batch_longer_than_one_block_is_answered_in_order() -> None:
    """Hundreds of queries come back one answer each, in their order."""
    tools = [Tool(name=f"tool_{number}", description=f"word{number}") for number in range(50)]
    asked = [f"tool {number % 50}" for number in range(333)]
    answers = Searcher(tools).search_batch(asked, max_results=1)
    assert [answer.query for answer in answers] == asked
    assert [answer.results[0].name for answer in answers] == [f"tool_{number % 50}" for number in range(333)]


@given(data=st.data())
def test_the_worth_of_some_postings_is_that_of_all_to_the_last_bit(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]]
) -> None:
    """What a tuner computes for the postings that it needs is what a search computes for all."""
    index, config = build(data.draw(catalogs), "1"), data.draw(configs)
    everything = posting_values(index, config)
    count = len(index.postings_start)
    chosen = data.draw(st.lists(st.integers(0, count - 1), max_size=30)) if count else []
    postings = np.array(chosen, dtype=np.int64)
    some = posting_values(index, config, postings)
    assert some.keyword.tobytes() == everything.keyword[postings].tobytes()
    assert some.tfidf.tobytes() == everything.tfidf[postings].tobytes()


@given(data=st.data())
def test_scores_of_a_tuner_are_those_of_the_search(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], queries: Strategy[str]
) -> None:
    """Evidence gathered once and scored under another configuration gives the scores of a search with it."""
    catalog = data.draw(catalogs)
    asked = data.draw(st.lists(queries, min_size=1, max_size=4))
    index = build(catalog_of(catalog), "1")
    for config in (DEFAULT, data.draw(configs)):
        evidence = gather(index, [read_query(query) for query in asked], active(config))
        values = posting_values(index, config, evidence.postings())
        totals = score(evidence, config, PostingValues(values.keyword, values.tfidf)).total
        scored = {
            (int(query), index.tools[int(tool)].name): float(total)
            for query, tool, total in zip(evidence.pair_query, evidence.pair_tool, totals, strict=True)
        }
        searcher = Searcher(catalog, config)
        for number, query in enumerate(asked):
            for result in searcher.search(query, max_results=50).results:
                assert result.score == scored.get((number, result.name), 0.0)


def catalog_of(tools: list[Tool]) -> tuple[Tool, ...]:
    """The tools under their final names."""
    return Searcher(tools).snapshot().deferred
