"""The `reference` profile equals the recorded behaviour of the observed system."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.config import REFERENCE, from_env
from toolsearch.search.analysis.reference import STOP_WORDS, parse_name, terms, tokens
from toolsearch.search.reference.formulas import cosine, inverse_frequencies, relative_counts, weighted_frequencies
from toolsearch.search.reference.plain import PlainReference
from toolsearch.search.reference.ranker import ReferenceRanker
from toolsearch.search.reference.ranking import IndexedReference

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


def catalog(name: str) -> tuple[list[Tool], list[Tool]]:
    """The deferred tools and all tools of a recorded catalog, in its order."""
    tools = [
        Tool(
            name=row["name"],
            description=row["description"],
            search_hint=row["searchHint"],
            always_load=row["alwaysLoad"],
        )
        for row in vectors(name)["tools"]
    ]
    return [tool for tool in tools if not tool.always_load and tool.name not in OBSERVED_CORE], tools


Ranking = IndexedReference | PlainReference
RANKINGS = pytest.mark.parametrize("made", [IndexedReference, PlainReference], ids=["indexed", "plain"])


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
            assert terms(text)[: len(case["stems_first"])] == case["stems_first"]


def test_stems_of_single_words_equal_the_recorded_ones() -> None:
    """Every recorded word gives the recorded stem."""
    for case in vectors("stems")["cases"]:
        assert terms(case["word"]) == case["out"], case


def test_the_stop_words_are_exactly_the_observed_ones() -> None:
    """The probed words that were dropped are the stop words, all 114, and no other word is dropped."""
    cases = vectors("stopwords_observed")["cases"]
    assert {case["word"] for case in cases if case["dropped"]} == STOP_WORDS
    assert len(STOP_WORDS) == 114
    for case in cases:
        assert (tokens(case["word"]) == []) == case["dropped"], case


def test_names_are_parsed_as_recorded() -> None:
    """Every recorded name gives the recorded parts."""
    for case in vectors("parse_name")["cases"]:
        parsed = parse_name(case["name"])
        assert [list(parsed.parts), parsed.full, parsed.of_server] == [case["parts"], case["full"], case["isMcp"]]


def test_the_arithmetic_equals_the_recorded_values() -> None:
    """Weighted frequencies, inverse frequencies and cosines equal the recorded ones to the last bit, in their order."""
    recorded = vectors("math")
    for case in recorded["weighted_tf"]:
        found = weighted_frequencies([(relative_counts(field["tokens"]), field["weight"]) for field in case["fields"]])
        assert list(found.items()) == list(case["out"].items())
    for case in recorded["idf"]:
        assert inverse_frequencies([frozenset(document["tokens"]) for document in case["docs"]]) == case["out"]
    for case in recorded["cosine"]:
        assert cosine(case["q"], case["d"]) == case["out"]


def test_the_index_equals_the_recorded_one() -> None:
    """Names, terms, vectors in their order, and inverse document frequencies of all 58 deferred tools."""
    recorded = vectors("index")
    ranking = IndexedReference(*catalog("catalog"), REFERENCE)
    index = ranking.index
    assert len(index.tools) == recorded["n"] == len(recorded["entries"])
    assert index.rarity == pytest.approx(recorded["idf"], abs=1e-12)
    by_number = list(index.terms)
    term_of = [by_number[number] for number in np.repeat(np.arange(len(by_number)), np.diff(index.starts))]
    found: list[dict[str, float]] = [{} for _ in index.tools]
    for posting in index.reading_order.tolist():
        found[int(index.places[posting])][term_of[posting]] = float(ranking.vectors.values[posting])
    for place, entry in enumerate(recorded["entries"]):
        assert (index.tools[place].name, index.names[place].full) == (entry["name"], entry["normalizedName"])
        assert list(found[place]) == list(dict.fromkeys(entry["tokens"])) == list(entry["vector"])
        assert found[place] == pytest.approx(entry["vector"], abs=1e-12)
        length = math.sqrt(math.fsum(value * value for value in entry["vector"].values()))
        assert ranking.vectors.norms[place] == pytest.approx(length, abs=1e-12)


@RANKINGS
def test_both_arms_and_their_merge_equal_every_recorded_search(made: type[Ranking]) -> None:
    """Points are the recorded ones exactly, scores within 1e-12; lists whole, cut and merged have the recorded order."""
    recorded = vectors("search")
    assert (REFERENCE.weight_keyword, REFERENCE.weight_tfidf) == tuple(recorded["weights"].values())
    ranking = made(*catalog("catalog"), REFERENCE)
    for case in recorded["cases"]:
        query, limit = case["query"], int(case["max_results"])
        whole = ranking.keyword(query, None)
        assert case["keyword_fast_path"] == (case["keyword_all"] is None)
        if case["keyword_fast_path"]:
            assert whole, query
            assert all(points == 0.0 for _, points in whole), query
        else:
            assert named(whole) == [(row["name"], row["score"]) for row in case["keyword_all"]], query
        assert [tool.name for tool, _ in ranking.keyword(query, limit)] == case["keyword_list"], query
        same(ranking.tfidf(query, None), case["tfidf_all"], query)
        same(ranking.tfidf(query, limit), case["tfidf"], query)
        same(ranking.hybrid(query, limit), case["hybrid"], query)


def test_answers_equal_every_recorded_output() -> None:
    """Results and loaded tools are the recorded ones, the loaded ones apart from the ranks."""
    deferred, tools = catalog("catalog")
    ranker = ReferenceRanker(deferred, tools, REFERENCE)
    checked = 0
    for case in vectors("search")["cases"]:
        output, limit = case["output"], case["max_results"]
        assert output["query"] == case["query"]
        assert output["total_deferred_tools"] == len(deferred)
        if limit >= 1 and limit == int(limit):  # the project's own search asks for nothing else
            answer = ranker.answer(case["query"], limit, None, False)
            loaded = output.get("already_loaded", [])
            assert list(answer.already_loaded) == loaded
            assert [result.name for result in answer.results] == [
                name for name in output["matches"] if name not in loaded
            ]
            checked += 1
    assert checked == 71


@RANKINGS
def test_the_tie_order_over_304_tools_equals_the_recorded_one(made: type[Ranking]) -> None:
    """Among many equal scores the catalog's order decides, as recorded."""
    ranking = made(*catalog("large300"), REFERENCE)
    tied = 0
    for case in vectors("large300")["cases"]:
        query, top = case["query"], case["keyword_top20"]
        if top is not None:  # the query begins names: the arm gives no points
            assert named(ranking.keyword(query, 20)) == [tuple(row) for row in top], query
            tied += len(top) - len({points for _, points in top})
        assert [tool.name for tool, _ in ranking.keyword(query, 5)] == case["keyword_list"], query
        same(ranking.tfidf(query, 20), case["tfidf_top20"], query)
        assert [tool.name for tool, _ in ranking.hybrid(query, 5)] == case["output"], query
    assert tied > 300


SETTINGS = {
    "SEARCH_EXTRA_TOOLS_WEIGHT_KEYWORD": "weight_keyword",
    "SEARCH_EXTRA_TOOLS_WEIGHT_TFIDF": "weight_tfidf",
    "SEARCH_EXTRA_TOOLS_DISPLAY_MIN_SCORE": "confidence_bound",
}
CASES = vectors("env_weights")["cases"]
USABLE = [case for case in CASES if not {"abc", "", "-1", "Infinity"} & set(case["env"].values())]
UNUSABLE = [case for case in CASES if case not in USABLE]


def _id(case: Any) -> str:
    return " ".join(f"{name.rsplit('_', 2)[-1]}={value!r}" for name, value in case["env"].items()) or "none"


@RANKINGS
@pytest.mark.parametrize("case", USABLE, ids=_id)
def test_usable_settings_of_the_environment_rank_as_recorded(case: Any, made: type[Ranking]) -> None:
    """A finite number that is not negative is taken without a warning and gives the recorded order."""
    config, warnings = from_env(case["env"], REFERENCE)
    assert warnings == ()
    assert config == REFERENCE.replace(**{SETTINGS[name]: float(value) for name, value in case["env"].items()})
    ranks_as(case, made(*catalog("catalog"), config))


@pytest.mark.parametrize("case", UNUSABLE, ids=_id)
def test_any_other_setting_is_named_in_a_warning_and_changes_nothing(case: Any) -> None:
    """No number, none at all, a negative or an infinite one: the profile keeps its own value and says whose is wrong."""
    config, warnings = from_env(case["env"], REFERENCE)
    assert config == REFERENCE
    [(variable, value)] = case["env"].items()
    [warning] = warnings
    assert warning.startswith(f"{variable} is {value!r}; ")
    assert f"The profile's own value {getattr(REFERENCE, SETTINGS[variable]):g} is used." in warning


def test_every_recorded_setting_is_looked_at() -> None:
    """Six settings are usable, seven are not, and none is left out."""
    assert (len(USABLE), len(UNUSABLE), len(CASES)) == (6, 7, 13)


def ranks_as(case: Any, ranking: Ranking) -> None:
    """The recorded orders of a case; `discover:` asks the TF-IDF arm alone."""
    for query, expected in case["matches"].items():
        asked = query.removeprefix("discover:")
        listed = ranking.tfidf(asked, 5) if query != asked else ranking.hybrid(asked, 5)
        assert [tool.name for tool, _ in listed] == expected, query


def named(listed: list[tuple[Tool, float]]) -> list[tuple[str, float]]:
    """The same by name."""
    return [(tool.name, value) for tool, value in listed]


def same(listed: list[tuple[Tool, float]], expected: list[list[Any]], query: str) -> None:
    """The recorded names in the recorded order, values within 1e-12."""
    assert [name for name, _ in named(listed)] == [name for name, _ in expected], query
    assert [value for _, value in listed] == pytest.approx([value for _, value in expected], rel=0, abs=1e-12), query
