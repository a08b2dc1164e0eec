"""Trials as array work give what building and querying for each trial gives."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import PROFILES, SearchConfig
from toolsearch.search.batch import PreparedQueries
from toolsearch.search.index import IndexStore
from toolsearch.search.reference.batch import PreparedReference
from toolsearch.search.searcher import Searcher
from toolsearch_eval.data import DataSet, Query, load_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.measures import KINDS, Measure
from toolsearch_eval.rankers.profiles import ProfileRanker
from toolsearch_eval.tuning.gains import Gains
from toolsearch_eval.tuning.panel import label
from toolsearch_eval.tuning.space import Space, load_space

CONFIGS = 200
PRIMARY = Measure("nDCG", 10)
PREPARED: dict[str, type[PreparedQueries] | type[PreparedReference]] = {
    "default": PreparedQueries,
    "reference": PreparedReference,
}
SPECIAL = (
    "",
    "   ",
    "the of and",
    "zzzz qqqq",
    "+file read",
    "+nosuchword file",
    "+mcp send",
    "发送邮件给同事",
    "天气",
    "メールを送る",
    "web page webpage",
    "brief",
    "mcp__",
    "Read",
    "regex:.*",
)
"""Queries of every kind: without words, of stop words, with required words, of other scripts, closed and open."""


@cache
def _small(profile: str) -> DataSet:
    """A part of the shipped data: every sixth tool with those that its queries look for."""
    data = load_data("builtin")
    queries = [query for query in data.queries if query.split == "dev" and query.expect != "none"][::14]
    needed = {name for query in queries[::2] for name, grade in data.judgements[query.query_id].items() if grade > 1}
    tools = tuple(tool for place, tool in enumerate(data.tools) if place % 6 == 0 or tool.name in needed)
    return dataclasses.replace(data, tools=tools, queries=tuple(queries))


def _random_configs(space: Space, count: int) -> list[SearchConfig]:
    """Profiles drawn evenly from the whole space on its own scales; some numbers at the ends of their range."""
    source = np.random.default_rng(5)
    configs = []
    for _ in range(count):
        values = {}
        for each in space.parameters:
            share = float(np.clip(source.random() * 1.1 - 0.05, 0.0, 1.0))
            values[each.name] = (
                each.low * (each.high / each.low) ** share if each.log else each.low + (each.high - each.low) * share
            )
        configs.append(space.config(space.canonical(values)))
    return configs


def _texts(data: DataSet) -> list[str]:
    tools = [tool for tool in data.tools if is_deferred(tool)]
    owned = next(tool for tool in tools if tool.server)
    names = [tools[0].name, tools[3].name, owned.leaf, f"{tools[1].name}, {tools[5].name}", owned.server or ""]
    begun = [f"mcp__{owned.server}", owned.name[:-2]]
    return [*(query.text for query in data.queries[::2]), *SPECIAL, *names, *begun]


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_trials_equal_building_and_querying_for_each(profile: str) -> None:
    """On 200 random profiles of the shipped space every ranking and every score is that of a search built anew."""
    data = _small(profile)
    texts = _texts(data)
    snapshot = ToolRegistry(data.tools).snapshot()  # of the catalog, no profile changes anything in it
    prepared = PREPARED[profile](snapshot, texts)
    names = [tool.name for tool in prepared.tools]
    different = 0
    before: list[list[str]] = []
    for config in [PROFILES[profile], *_random_configs(load_space(None, profile), CONFIGS)]:
        searcher = Searcher(snapshot, config, store=IndexStore())
        answers = [searcher.search(text, max_results=10).results for text in texts]
        found, scores = prepared.ranked(config, 10)
        rankings = [[names[tool] for tool in row if tool >= 0] for row in found.tolist()]
        assert rankings == [[result.name for result in results] for results in answers], config
        assert [row[: len(results)] for row, results in zip(scores.tolist(), answers, strict=True)] == [
            [result.score for result in results] for results in answers
        ], config
        different += rankings != before
        before = rankings
    assert different > CONFIGS // 2  # the profiles differ in what they rank, or the test shows nothing


@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("limit", [1, 3, 50])
def test_any_depth_is_that_of_the_search(profile: str, limit: int) -> None:
    """Cut after one, three or fifty results the rankings are those of the search."""
    data = _small(profile)
    texts = _texts(data)
    prepared = PREPARED[profile](ToolRegistry(data.tools).snapshot(), texts)
    searcher = Searcher(ToolRegistry(data.tools), PROFILES[profile], store=IndexStore())
    found, _ = prepared.ranked(PROFILES[profile], limit)
    for text, row in zip(texts, found.tolist(), strict=True):
        results = searcher.search(text, max_results=limit).results
        assert [prepared.tools[tool].name for tool in row if tool >= 0] == [result.name for result in results], text


def test_a_reference_without_a_bound_lists_every_tool() -> None:
    """With a lowest cosine of 0 even tools that share nothing are listed, in catalog order, as the search does it."""
    data = _small("reference")
    texts = _texts(data)
    config = PROFILES["reference"].replace(confidence_bound=0.0)
    prepared = PreparedReference(ToolRegistry(data.tools).snapshot(), texts)
    searcher = Searcher(ToolRegistry(data.tools), config, store=IndexStore())
    found, _ = prepared.ranked(config, 10)
    for text, row in zip(texts, found.tolist(), strict=True):
        results = searcher.search(text, max_results=10).results
        assert [prepared.tools[tool].name for tool in row if tool >= 0] == [result.name for result in results], text


@pytest.mark.parametrize("prepare", [PreparedQueries, PreparedReference])
def test_no_tools_and_no_queries_give_empty_rankings(prepare: type[PreparedQueries] | type[PreparedReference]) -> None:
    """An empty catalog lists nothing, and without queries there is no row."""
    config = PROFILES["reference" if prepare is PreparedReference else "default"]
    empty = prepare(ToolRegistry([]).snapshot(), ["send mail", ""])
    assert empty.ranked(config, 3)[0].tolist() == [[-1, -1, -1], [-1, -1, -1]]
    tools = [Tool(name="send_mail", description="Send a mail.")]
    assert prepare(ToolRegistry(tools).snapshot(), []).ranked(config, 3)[0].shape == (0, 3)


@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("kind", KINDS)
def test_every_measure_is_that_of_the_evaluation(profile: str, kind: str) -> None:
    """For each measure the value of every query is what `evaluate` gives for the same profile."""
    data = _small(profile)
    measure = Measure(kind, 5)
    judged = evaluate(data, [ProfileRanker("p", PROFILES[profile])], measures=[measure], split="dev", progress=False)
    values = label(data, "dev", measure).values(PROFILES[profile])
    assert values.tolist() == pytest.approx(judged.values("p", measure), abs=1e-12)


def test_group_values_are_means_of_their_queries() -> None:
    """Two wordings of one intent count once, as their mean; groups stand in the order of their names."""
    queries = (
        Query(query_id="1", text="send mail", group="b", split="dev"),
        Query(query_id="2", text="mail", group="a", split="dev"),
        Query(query_id="3", text="weave a carpet", group="b", split="dev"),
    )
    tools = (Tool(name="send_mail", description="Send a mail."), Tool(name="read_file", description="Read a file."))
    judgements = {query.query_id: {"send_mail": 2} for query in queries}
    data = DataSet(name="d", path="d", tools=tools, queries=queries, judgements=judgements, fingerprint="f")
    labelled = label(data, "dev", PRIMARY)
    values = labelled.values(PROFILES["default"])
    assert values.tolist() == [1.0, 1.0, 0.0]
    assert labelled.groups == ("a", "b")
    assert labelled.group_values(values).tolist() == [1.0, 0.5]


@given(
    st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(-1, 3), max_size=6), min_size=1, max_size=4),
    st.lists(st.permutations(range(6)), min_size=4, max_size=4),
    st.integers(0, 6),
    st.sampled_from(["nDCG", "nDCG(gains=exp)"]),
    st.integers(1, 6),
)
def test_many_rankings_at_once_are_judged_as_one_is(
    grades: list[dict[str, int]], orders: list[list[int]], shown: int, kind: str, cutoff: int
) -> None:
    """For any labels and rankings, cut short or not, the look-up gives what the measure gives for each."""
    judged = [{**each, "a": 2} for each in grades]
    queries = [Query(query_id=str(place), text="t") for place in range(len(judged))]
    judgements = {str(place): each for place, each in enumerate(judged)}
    measure = Measure(kind, cutoff)
    best = np.array([[*order[:shown], *([-1] * (6 - shown))] for order in orders[: len(judged)]], dtype=np.int64)
    found = Gains(queries, judgements, list("abcdef"), measure, 6).values(best)
    expected = [
        measure.value(["abcdef"[tool] for tool in row if tool >= 0], each)
        for row, each in zip(best, judged, strict=True)
    ]
    assert found.tolist() == pytest.approx(expected, abs=1e-12)
