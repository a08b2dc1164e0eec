"""What results cost and bring, counted by hand."""

from __future__ import annotations

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch_eval.data import load_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.token_costs import TokenCosts, definition_text, token_costs


class Letters:
    """Counts the letters of a name in place of tokens: 100 for each."""

    name = "letters"

    def count(self, text: str) -> int:
        """A hundred for each letter `x`."""
        return 100 * text.count("x")


TOOLS = {name: Tool(name=name) for name in ("x", "xx", "xxx", "xxxx", "xxxxx", "xxxxxx")}


def test_costs_by_hand() -> None:
    """Two queries show 300 and 0 tokens; the recall is 1/2 and 0, so 0.25 for each 150 tokens."""
    found = token_costs([["x", "xx"], []], [{"x": 1, "xxx": 1}, {"x": 1}], TOOLS, Letters())
    assert found is not None
    assert (found.counter, found.per_query) == ("letters", 150.0)
    assert found.recall_per_1000 == pytest.approx(0.25 / 0.15)


def test_five_results_are_shown() -> None:
    """The sixth result costs nothing and brings nothing."""
    found = token_costs([list(TOOLS)], [{"xxxxxx": 1}], TOOLS, Letters())
    assert found == TokenCosts(counter="letters", per_query=1500.0, recall_per_1000=0.0)


def test_nothing_shown_has_no_rate() -> None:
    """Without a token there is nothing to divide by, and without a query there is nothing at all."""
    assert token_costs([[]], [{"x": 1}], TOOLS, Letters()) == TokenCosts(
        counter="letters", per_query=0.0, recall_per_1000=None
    )
    assert token_costs([], [], TOOLS, Letters()) is None


def test_the_definition_is_what_a_model_is_shown() -> None:
    """Name, description and schema, and nothing that only the search or the operator sees."""
    tool = Tool(name="发送", search_hint="hidden", server="s", input_schema={"type": "object"}, meta={"secret": 1})
    assert definition_text(tool) == '{"name": "发送", "description": "", "input_schema": {"type": "object"}}'


def test_the_evaluation_counts_with_the_projects_counter() -> None:
    """Each ranker's costs stand in the evaluation, with the name of what was counted with."""
    form = evaluate(load_data("tiny"), [resolve_ranker("bm25f")]).to_json()["rankers"]["bm25f"]["tokens"]
    assert form["counter"] in ("o200k_base", "estimate")
    assert form["per_query"] > 10
    assert form["recall_per_1000"] > 0
