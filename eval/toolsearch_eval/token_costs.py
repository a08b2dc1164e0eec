"""What the found tools cost the model that is shown them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolsearch.catalog.rows import to_row
from toolsearch.catalog.tool import Tool
from toolsearch.tokens import TokenCounter
from toolsearch_eval.answers import mean_answer_tokens
from toolsearch_eval.measures import Measure

SHOWN = 5
"""Results that a search shows unless asked for more."""
RECALL = Measure("Recall", SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCosts:
    """What a search costs and what it brings.

    Attributes:
        counter: What was counted with.
        per_query: Mean tokens of the definitions (name, description, schema) of the first five results: what they would
            cost a provider that loads what was found.
        per_answer: Mean tokens of the text that the search tool answers with, in which they stand in brief.
        recall_per_1000: Mean Recall@5 for each 1,000 tokens of answers.
    """

    counter: str
    per_query: float
    per_answer: float
    recall_per_1000: float


def definition_text(tool: Tool) -> str:
    """A tool's definition as one line of JSON, as a model is shown it.

    >>> definition_text(Tool(name="send", description="Sends.", server="chat"))
    '{"name": "send", "description": "Sends.", "input_schema": {}}'
    """
    row = to_row(tool)
    shown = {key: row.get(key, empty) for key, empty in (("name", ""), ("description", ""), ("input_schema", {}))}
    return json.dumps(shown, ensure_ascii=False)


def token_costs(
    queries: Sequence[str],
    rankings: Sequence[Sequence[str]],
    grades: Sequence[Mapping[str, int]],
    tools: Mapping[str, Tool],
    counter: TokenCounter,
) -> TokenCosts | None:
    """The costs of one ranker's rankings; None without a query.

    Args:
        queries: What was asked.
        rankings: Names for each query, best first.
        grades: The judged tools of each query, one of them relevant.
        tools: By name, every tool that can be found.
        counter: Counts the tokens; each definition is counted once.
    """
    per_answer = mean_answer_tokens(queries, rankings, tools, counter)
    if per_answer is None:
        return None
    names = dict.fromkeys(name for ranking in rankings for name in ranking[:SHOWN])
    sizes = {name: counter.count(definition_text(tools[name])) for name in names}
    tokens = sum(sizes[name] for ranking in rankings for name in ranking[:SHOWN])
    recall = math.fsum(RECALL.value(ranking, judged) for ranking, judged in zip(rankings, grades, strict=True))
    return TokenCosts(
        counter=counter.name,
        per_query=tokens / len(rankings),
        per_answer=per_answer,
        # No answer is empty: one without a result says so.
        recall_per_1000=recall / len(rankings) / (per_answer / 1000),
    )
