"""What the model reads as the answer to a search, for the ranking of any ranker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from toolsearch.catalog.tool import Tool
from toolsearch.tokens import TokenCounter
from toolsearch.tools.findings import Findings, Hit
from toolsearch.tools.render import Renderer
from toolsearch.tools.search_request import DEFAULT_RESULTS, Request
from toolsearch.tools.search_tool import DEFAULT_TOKEN_BUDGET


def answer_texts(
    queries: Sequence[str],
    rankings: Sequence[Sequence[str]],
    tools: Mapping[str, Tool],
    counter: TokenCounter,
) -> Iterator[str]:
    """The texts that the search tool would answer with, if a ranker's rankings were its own.

    Each shows the first five results (what the search tool gives unless asked for more) in brief and says how many more
    there are; an empty ranking gives the text that says so. It is written by the search tool's own code; what that adds
    from elsewhere (tools that are loaded already, how servers stand) is left out.

    Args:
        queries: What was asked.
        rankings: Names for each query, best first.
        tools: By name, every tool that stands in a ranking, and the others that can be found.
        counter: Counts the tokens of an answer's budget.
    """
    renderer = Renderer(counter, token_budget=DEFAULT_TOKEN_BUDGET)
    for query, ranking in zip(queries, rankings, strict=True):
        hits = tuple(
            Hit(tool=tools[name], rank=rank, reason="score") for rank, name in enumerate(ranking[:DEFAULT_RESULTS], 1)
        )
        findings = Findings(
            request=Request(query=query, words=query),
            servers={},
            hits=hits,
            total=len(ranking),
            total_deferred=len(tools),
        )
        yield renderer.answer(findings).text


def mean_answer_tokens(
    queries: Sequence[str],
    rankings: Sequence[Sequence[str]],
    tools: Mapping[str, Tool],
    counter: TokenCounter,
) -> float | None:
    """The mean number of tokens of these answers; None without a query. The arguments are those of `answer_texts`."""
    counts = [counter.count(text) for text in answer_texts(queries, rankings, tools, counter)]
    return sum(counts) / len(counts) if counts else None
