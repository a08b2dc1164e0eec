"""The `reference` profile equals the recorded behaviour of the observed system."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.config import REFERENCE, from_env
from toolsearch.search.analysis.reference import STOP_WORDS, parse_name, terms, tokens
from toolsearch.search.reference.index import (
    ReferenceIndex,
    build_reference,
    cosine,
    document_vectors,
    inverse_frequencies,
    relative_counts,
    weighted_frequencies,
)
from toolsearch.search.reference.ranking import hybrid_search, keyword_search, tfidf_search

OBSERVED_CORE = frozenset(
    [
        "Bash",
        "PowerShell",
        "Read",
        "Edit",
        "Write",
        "Glob",
        "Grep",
        "NotebookEdit",
        "Agent",
        "AskUserQuestion",
        "TaskOutput",
        "TaskStop",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskUpdate",
        "TodoWrite",
        "EnterPlanMode",
        "ExitPlanMode",
        "VerifyPlanExecution",
        "WebFetch",
        "WebSearch",
        "LSP",
        "Skill",
        "Sleep",
        "SearchExtraTools",
        "ExecuteExtraTool",
        "StructuredOutput",
    ]
)
"""The observed system's core names; its vectors were made with them."""


def vectors(name: str) -> Any:
    """A file of recorded vectors."""
    return json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))


def index_of(name: str) -> ReferenceIndex:
    """The index over a recorded catalog, in its order."""
    tools = [
        Tool(
            name=row["name"],
            description=row["description"],
            search_hint=row["searchHint"],
            always_load=row["alwaysLoad"],
        )
        for row in vectors(name)["tools"]
    ]
    deferred = [tool for tool in tools if not tool.always_load and tool.name not in OBSERVED_CORE]
    return build_reference(deferred, tools)


@pytest.fixture(scope="module")
def index() -> ReferenceIndex:
    """The catalog of 66 tools."""
    return index_of("catalog")


def test_tokens_and_stems_equal_the_recorded_ones() -> None:
    """Every recorded text gives the recorded tokens and stems."""
    for case in vectors("tokenizer")["cases"]:
        if "input" in case:
            assert tokens(case["input"]) == case["tokens"], case
            assert terms(case["input"]) == case["stems"], case
        else:
            text = case["input_repeat"]["unit"] * case["input_repeat"]["times"]
            assert len(tokens(text)) == case["count"]
            assert tokens(text)[: len(case["first"])] == case["first"]
            assert tokens(text)[-len(case["last"]) :] == case["last"]


def test_stems_of_single_words_equal_the_recorded_ones() -> None:
    """Every recorded word gives the recorded stem."""
    for case in vectors("stems")["cases"]:
        assert terms(case["word"]) == case["out"], case


def test_the_stop_words_are_exactly_the_observed_ones() -> None:
    """The probed words that were dropped are the stop words, and no other is."""
    cases = vectors("stopwords_observed")["cases"]
    assert {case["word"] for case in cases if case["dropped"]} == STOP_WORDS


def test_names_are_parsed_as_recorded() -> None:
    """Every recorded name gives the recorded parts."""
    for case in vectors("parse_name")["cases"]:
        parsed = parse_name(case["name"])
        assert [list(parsed.parts), parsed.full, parsed.of_server] == [case["parts"], case["full"], case["isMcp"]]


def test_the_arithmetic_equals_the_recorded_values() -> None:
    """Weighted frequencies, inverse frequencies and cosines equal the recorded ones."""
    recorded = vectors("math")
    for case in recorded["weighted_tf"]:
        fields = [(relative_counts(field["tokens"]), field["weight"]) for field in case["fields"]]
        assert weighted_frequencies(fields) == pytest.approx(case["out"], abs=1e-12)
    for case in recorded["idf"]:
        found = inverse_frequencies([frozenset(document["tokens"]) for document in case["docs"]])
        assert found == pytest.approx(case["out"], abs=1e-12)
    for case in recorded["cosine"]:
        assert cosine(case["q"], case["d"]) == pytest.approx(case["out"], abs=1e-12)


def test_the_index_equals_the_recorded_one(index: ReferenceIndex) -> None:
    """Vectors and inverse document frequencies of all 58 deferred tools equal the recorded ones."""
    recorded = vectors("index")
    assert [entry.tool.name for entry in index.entries] == [entry["name"] for entry in recorded["entries"]]
    assert index.rarity == pytest.approx(recorded["idf"], abs=1e-12)
    for vector, entry in zip(document_vectors(index, REFERENCE), recorded["entries"], strict=True):
        assert vector == pytest.approx(entry["vector"], abs=1e-12)


def test_both_arms_and_their_merge_equal_every_recorded_search(index: ReferenceIndex) -> None:
    """Ranks are the recorded ones exactly, scores within 1e-12."""
    for case in vectors("search")["cases"]:
        query, limit = case["query"], int(case["max_results"])
        every = [(tool.name, value) for tool, value in tfidf_search(index, query, REFERENCE, None)]
        _same(every, case.get("tfidf_all"), query)
        assert [tool.name for tool, _ in keyword_search(index, query, REFERENCE, limit)] == case["keyword_list"], query
        merged = [(item.tool.name, item.score) for item in hybrid_search(index, query, REFERENCE, limit)]
        _same(merged, case["hybrid"], query)


def test_the_tie_order_over_304_tools_equals_the_recorded_one() -> None:
    """Among many equal scores the catalog's order decides, as recorded."""
    large = index_of("large300")
    for case in vectors("large300")["cases"]:
        query = case["query"]
        if case.get("keyword_top20") is not None:
            _same(
                [(tool.name, points) for tool, points in keyword_search(large, query, REFERENCE, 20)],
                case["keyword_top20"],
                query,
            )
        _same(
            [(tool.name, value) for tool, value in tfidf_search(large, query, REFERENCE, 20)],
            case["tfidf_top20"],
            query,
        )
        assert [item.tool.name for item in hybrid_search(large, query, REFERENCE, 5)] == case["output"], query


def test_settings_of_the_environment_rank_as_recorded_or_warn(index: ReferenceIndex) -> None:
    """A usable setting gives the recorded order; any other a warning and the profile's own values."""
    usable = 0
    for case in vectors("env_weights")["cases"]:
        config, warnings = from_env(case["env"], REFERENCE)
        valid = all(_usable(value) for value in case["env"].values())
        assert bool(warnings) == (not valid), case["env"]
        if not valid:
            assert config == REFERENCE or all(_usable(value) for value in list(case["env"].values())[:1])
            continue
        usable += 1
        for query, expected in case["matches"].items():
            if query.startswith("discover:"):
                found = [tool.name for tool, _ in tfidf_search(index, query.removeprefix("discover:"), config, 5)]
            else:
                found = [item.tool.name for item in hybrid_search(index, query, config, 5)]
            assert found == expected, (case["env"], query)
    assert usable >= 5


def _usable(value: str) -> bool:
    try:
        return value.strip() != "" and 0 <= float(value) < float("inf")
    except ValueError:
        return False


def _same(found: list[tuple[str, float]], expected: Any, query: str) -> None:
    if expected is None:
        return
    pairs = [(row["name"], row["score"]) if isinstance(row, dict) else (row[0], row[1]) for row in expected]
    assert [name for name, _ in found] == [name for name, _ in pairs], query
    assert [value for _, value in found] == pytest.approx([value for _, value in pairs], abs=1e-12), query
