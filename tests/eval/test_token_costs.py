"""What results cost and bring, counted by hand."""

from __future__ import annotations

import pytest

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT
from toolsearch.search.searcher import Searcher
from toolsearch.tokens import ESTIMATE
from toolsearch.tools.search_tool import SearchTool
from toolsearch_eval.answers import answer_texts, mean_answer_tokens
from toolsearch_eval.data import load_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.token_costs import definition_text, token_costs


class Letters:
    """Counts the letters of a name in place of tokens: 100 for each."""

    name = "letters"

    def count(self, text: str) -> int:
        """A hundred for each letter `z`, which stands in no sentence of an answer."""
        return 100 * text.count("z")


TOOLS = {name: Tool(name=name) for name in ("z", "zz", "zzz", "zzzz", "zzzzz", "zzzzzz")}


def test_costs_by_hand() -> None:
    """Two queries show 300 and 0 tokens; the recall is 1/2 and 0, so 0.25 for each 150 tokens."""
    found = token_costs(["a", "b"], [["z", "zz"], []], [{"z": 1, "zzz": 1}, {"z": 1}], TOOLS, Letters())
    assert found is not None
    assert (found.counter, found.per_query, found.per_answer) == ("letters", 150.0, 150.0)
    assert found.recall_per_1000 == pytest.approx(0.25 / 0.15)


def test_five_results_are_shown() -> None:
    """The sixth result costs nothing and brings nothing."""
    found = token_costs(["a"], [list(TOOLS)], [{"zzzzzz": 1}], TOOLS, Letters())
    assert found is not None
    assert (found.per_query, found.per_answer, found.recall_per_1000) == (1500.0, 1500.0, 0.0)


def test_an_answer_without_a_result_costs_its_sentence() -> None:
    """No definition is shown, but the model reads that nothing was found; without a query there is nothing at all."""
    found = token_costs(["fizz"], [[]], [{"z": 1}], TOOLS, Letters())
    assert found is not None
    assert (found.per_query, found.per_answer, found.recall_per_1000) == (0.0, 200.0, 0.0)
    assert token_costs([], [], [], TOOLS, Letters()) is None
    assert mean_answer_tokens([], [], TOOLS, Letters()) is None


def test_the_definition_is_what_a_model_is_shown() -> None:
    """Name, description and schema, and nothing that only the search or the operator sees."""
    tool = Tool(name="发送", search_hint="hidden", server="s", input_schema={"type": "object"}, meta={"secret": 1})
    assert definition_text(tool) == '{"name": "发送", "description": "", "input_schema": {"type": "object"}}'


@pytest.mark.parametrize("query", ["create a ticket", "xylophone"])
def test_the_answer_is_that_of_the_search_tool(query: str) -> None:
    """With the search's own results it is the search tool's own text, letter by letter."""
    tools = [
        Tool(
            name="ticket_add", description="Create a ticket", input_schema={"properties": {"title": {"type": "string"}}}
        ),
        Tool(name="ticket_list", description="List tickets"),
        Tool(name="mcp__m__t", server="m", description="Nothing of that\nkind"),
    ]
    searcher = Searcher(ToolRegistry(tools), DEFAULT)
    names = [result.name for result in searcher.search(query, max_results=10).results]
    said = SearchTool(searcher).call({"query": query}).text
    assert list(answer_texts([query], [names], {tool.name: tool for tool in tools}, ESTIMATE)) == [said]


def test_the_evaluation_counts_with_the_projects_counter() -> None:
    """Each ranker's costs stand in the evaluation, with the name of what was counted with."""
    form = evaluate(load_data("tiny"), [resolve_ranker("bm25f")]).to_json()["rankers"]["bm25f"]["tokens"]
    assert form["counter"] in ("o200k_base", "estimate")
    assert form["per_query"] > form["per_answer"] > 10
    assert form["recall_per_1000"] > 0
