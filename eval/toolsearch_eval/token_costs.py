"""What the found tools cost the model that is shown them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolsearch.catalog.rows import to_row
from toolsearch.catalog.tool import Tool
from toolsearch.tokens import TokenCounter
from toolsearch_eval.measures import Measure

SHOWN = 5
"""Results that a search shows unless asked for more."""
RECALL = Measure("Recall", SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCosts:
    """What a search costs and what it brings.

    Attributes:
        counter: What was counted with.
        per_query: Mean tokens of the definitions (name, description, schema) of the first five results.
        recall_per_1000: Mean Recall@5 for each 1,000 such tokens; None where nothing was shown.
    """

    counter: str
    per_query: float
    recall_per_1000: float | None


def definition_text(tool: Tool) -> str:
    """A tool's definition as one line of JSON, as a model is shown it.

    >>> definition_text(Tool(name="send", description="Sends.", server="chat"))
    '{"name": "send", "description": "Sends.", "input_schema": {}}'
    """
    row = to_row(tool)
    shown = {key: row.get(key, empty) for key, empty in (("name", ""), ("description", ""), ("input_schema", {}))}
    return json.dumps(shown, ensure_ascii=False)


def token_costs(
    rankings: Sequence[Sequence[str]],
    grades: Sequence[Mapping[str, int]],
    tools: Mapping[str, Tool],
    counter: TokenCounter,
) -> TokenCosts | None:
    """The costs of one ranker's rankings; None without a query.

    Args:
        rankings: Names for each query, best first.
        grades: The judged tools of each query, one of them relevant.
        tools: By name, every tool that stands in a ranking.
        counter: Counts the tokens; each definition is counted once.
    """
    if not rankings:
        return None
    names = dict.fromkeys(name for ranking in rankings for name in ranking[:SHOWN])
    sizes = {name: counter.count(definition_text(tools[name])) for name in names}
    tokens = sum(sizes[name] for ranking in rankings for name in ranking[:SHOWN])
    recall = math.fsum(RECALL.value(ranking, judged) for ranking, judged in zip(rankings, grades, strict=True))
    return TokenCosts(
        counter=counter.name,
        per_query=tokens / len(rankings),
        recall_per_1000=recall / (tokens / 1000) if tokens else None,
    )
