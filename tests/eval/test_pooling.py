"""What goes into a pool: the first results of every ranker that nobody has judged."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, UsageError
from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.pooling import Pool, PoolCounts, make_pool

NAMES = "abcdefgh"


class Fixed:
    """Gives the same names for every query, best first."""

    def __init__(self, name: str, order: str) -> None:
        self.name = name
        self.order = order

    def index(self, tools: Sequence[Tool]) -> None:
        """Take the catalog."""
        self.known = [tool.name for tool in tools]

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """The names with falling scores."""
        names = [name for name in self.order if name in self.known][:depth]
        return [[(name, 10.0 - place) for place, name in enumerate(names)] for _ in queries]


class Broken(Fixed):
    """Fails at the second chunk of queries."""

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Fail where a query says so."""
        if any("boom" in query for query in queries):
            raise ValueError("no")
        return super().rank(queries, depth)


def data_of(write_folder: Any, labels: str = "") -> DataSet:
    """Two queries of dev and two of test over eight tools, one more that is always loaded."""
    tools = [{"name": name, "description": f"does {name}"} for name in NAMES] + [{"name": "x", "always_load": True}]
    queries = [
        {"query_id": "d1", "text": "one", "split": "dev"},
        {"query_id": "t1", "text": "two", "split": "test"},
        {"query_id": "d2", "text": "three", "split": "dev", "expect": "none"},
        {"query_id": "t2", "text": " ", "split": "test"},
    ]
    return load_data(write_folder(tools=tools, queries=queries, qrels=labels))


def pairs(pool: Pool) -> dict[str, str]:
    """The tools of each query, sorted."""
    found: dict[str, list[str]] = {}
    for candidate in pool.candidates:
        found.setdefault(candidate.query_id, []).append(candidate.tool)
    return {query_id: "".join(sorted(names)) for query_id, names in found.items()}


def test_the_first_results_of_each_ranker_are_joined_to_the_depth_of_the_split(write_folder: Any) -> None:
    """Each query gets the union of the rankers' first results, those without an answer too, those without text not."""
    rankers = [Fixed("one", "abcdefgh"), Fixed("two", "hgfedcba")]
    pool = make_pool(data_of(write_folder), rankers, depths={"dev": 1, "test": 3})
    assert pairs(pool) == {"d1": "ah", "t1": "abcfgh", "d2": "ah"}
    assert pool.counts == {
        "dev": PoolCounts(queries=2, pairs=4, judged=0),
        "test": PoolCounts(queries=1, pairs=6, judged=0),
    }
    assert [candidate.query_id for candidate in pool.candidates] == ["d1"] * 2 + ["t1"] * 6 + ["d2"] * 2
    assert pool.rankers == ("one", "two")


def test_what_is_judged_is_left_out_and_counted(write_folder: Any) -> None:
    """A pair with a label of any grade is not asked for again, so that pooling goes on where it was."""
    data = data_of(write_folder, "d1\ta\t0\nt1\tb\t2\nt1\th\t1\n")
    pool = make_pool(data, [Fixed("one", "abcdefgh")], depths={"dev": 2, "test": 3})
    assert pairs(pool) == {"d1": "b", "t1": "ac", "d2": "ab"}
    assert pool.counts["test"] == PoolCounts(queries=1, pairs=3, judged=1)
    assert pool.counts["test"].unjudged == 2
    everything = {name: dict.fromkeys(NAMES, 0) for name in ("d1", "d2", "t1")}
    assert make_pool(replace(data, judgements=everything), [Fixed("one", NAMES)]).candidates == ()


def test_a_pass_made_apart_gets_the_labelled_pairs_too(write_folder: Any) -> None:
    """With `again` the pool holds what is brought and what is labelled, without grades; labels of no use stay out."""
    data = data_of(write_folder, "d1\ta\t0\nt1\th\t2\nt1\tx\t0\n")
    pool = make_pool(data, [Fixed("one", "abcdefgh")], depths={"dev": 2, "test": 2}, again=True)
    assert pairs(pool) == {"d1": "ab", "t1": "abh", "d2": "ab"}
    brought = {(each.query_id, each.tool): each.rankers for each in pool.candidates}
    assert (brought["t1", "a"], brought["t1", "h"]) == (("one",), ())


def test_tools_that_are_always_loaded_are_not_pooled(write_folder: Any) -> None:
    """They are never searched, so nobody has to judge them."""
    pool = make_pool(data_of(write_folder), [Fixed("one", "xa")], depths={"test": 5})
    assert pairs(pool) == {"t1": "a"}


def test_the_order_is_drawn_and_hangs_on_nothing_but_the_seed(write_folder: Any) -> None:
    """Order of catalog and rankers change nothing, another seed does, and by name it is sorted."""
    data = data_of(write_folder)
    rankers = [Fixed("one", "abcdefgh"), Fixed("two", "hgfedcba")]
    pool = make_pool(data, rankers)
    shuffled = list(data.tools)
    random.Random(1).shuffle(shuffled)
    again = make_pool(replace(data, tools=tuple(shuffled)), rankers[::-1])
    assert again.candidates == pool.candidates
    order = [candidate.tool for candidate in pool.candidates]
    assert order != [candidate.tool for candidate in make_pool(data, rankers, seed=1).candidates]
    by_name = [candidate.tool for candidate in make_pool(data, rankers, order="name", depths={"test": 8}).candidates]
    assert by_name == sorted(by_name)
    assert order[: len(by_name)] != by_name


def test_a_sample_is_drawn_by_seed(write_folder: Any) -> None:
    """So many queries are taken, in the data set's order; a sample beyond the set takes all of it."""
    data = data_of(write_folder)
    sizes = [len(pairs(make_pool(data, [Fixed("one", "ab")], sample=number))) for number in (1, 2, 3, 9)]
    assert sizes == [1, 2, 3, 3]
    drawn = {next(iter(pairs(make_pool(data, [Fixed("one", "ab")], sample=1, seed=seed)))) for seed in range(20)}
    assert drawn == {"d1", "d2", "t1"}


def test_a_ranker_that_fails_is_left_out_whole(write_folder: Any) -> None:
    """The others go on; nothing of the failed one is pooled; where all fail, that is an error."""
    data = data_of(write_folder)
    queries = [replace(data.queries[1], query_id=f"q{number}", text="fine") for number in range(60)]
    data = replace(data, queries=(*queries, replace(queries[0], query_id="last", text="boom")))
    pool = make_pool(data, [Broken("bad", "gh"), Fixed("good", "ab")])
    assert set(pairs(pool).values()) == {"ab"}
    assert pool.rankers == ("good",)
    assert len(pool.failures) == 1
    assert "'bad' failed" in pool.failures[0]
    with pytest.raises(UsageError, match="'bad' failed"):
        make_pool(data, [Broken("bad", "gh")])


def test_wrong_settings_are_refused(write_folder: Any) -> None:
    """Depth and sample are at least 1, and tools need names of their own."""
    data = data_of(write_folder)
    with pytest.raises(UsageError, match="the depth of dev is 0"):
        make_pool(data, [], depths={"dev": 0})
    with pytest.raises(UsageError, match="the sample is 0"):
        make_pool(data, [], sample=0)
    with pytest.raises(DataError, match="is the name of several tools"):
        make_pool(replace(data, tools=(Tool(name="a", server="s"), Tool(name="a", server="t"))), [])


def test_a_candidate_says_what_a_judge_needs(write_folder: Any) -> None:
    """Text, description and names of parameters; a schema without any, or a broken one, gives none."""
    schema = {"type": "object", "properties": {"to": {}, "body": {}}}
    tools = [
        {"name": "a", "description": "Send.", "input_schema": schema},
        {"name": "b", "input_schema": {"properties": []}},
    ]
    data = load_data(write_folder(tools=tools, queries=[{"query_id": "q", "text": "send it"}]))
    first, second = make_pool(data, [Fixed("one", "ab")], order="name").candidates
    assert (first.text, first.description, first.parameters) == ("send it", "Send.", ("to", "body"))
    assert (second.description, second.parameters) == ("", ())
