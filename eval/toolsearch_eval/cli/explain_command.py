"""`toolsearch explain TEXT --tool NAME`: why a tool stands where it stands for a query, or was not found."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from toolsearch_eval.cli.output import neutralise, print_json, say, tell_warnings, text_table
from toolsearch_eval.cli.search_command import (
    SCHEMA_VERSION,
    add_query_arguments,
    open_catalog,
    open_profile,
    read_text,
)

if TYPE_CHECKING:
    from toolsearch.search.results import Explanation


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "explain",
        help="say why a tool stands where it stands for a query",
        description="Say what every arm, field and word gave a tool for a query, also for a tool that was not found.",
        allow_abbrev=False,
    )
    add_query_arguments(parser)
    parser.add_argument("--tool", required=True, metavar="NAME", help="the tool's full name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Explain and print; 0 also for a tool that was not found, which is an answer too."""
    text = read_text(arguments.text)
    config, warnings = open_profile(arguments.profile)
    from toolsearch.catalog.registry import ToolRegistry
    from toolsearch.search.searcher import Searcher

    registry = ToolRegistry(open_catalog(arguments.catalog))
    explanation = Searcher(registry.snapshot(), config).explain(text, arguments.tool)
    answer = explain_answer(explanation, (*warnings, *registry.warnings))
    tell_warnings(answer["warnings"])
    if arguments.json:
        print_json(answer)
    else:
        say(_as_text(answer))
    return 0


def explain_answer(explanation: Explanation, warnings: tuple[str, ...] = ()) -> dict[str, Any]:
    """The JSON form of an explanation; the parts add up to the score."""
    return {
        "schema_version": SCHEMA_VERSION,
        "query": explanation.query,
        "tool": explanation.tool,
        "found": explanation.found,
        "rank": explanation.rank,
        "score": explanation.score,
        "why": explanation.why,
        "parts": [
            {"arm": part.arm, "field": part.field, "term": part.term, "value": part.value} for part in explanation.parts
        ],
        "warnings": list(warnings),
    }


def _as_text(answer: dict[str, Any]) -> str:
    place = "without a rank" if answer["rank"] is None else f"rank {answer['rank']}, score {answer['score']:.4f}"
    lines = [f"{neutralise(answer['tool'])}: {place}", neutralise(answer["why"])]
    if answer["parts"]:
        rows = [
            (part["arm"], part["field"] or "-", part["term"], f"{part['value']:.4f}")
            for part in sorted(answer["parts"], key=lambda part: -part["value"])
        ]
        lines += [
            "",
            text_table(("arm", "field", "term", "value"), [*rows, ("sum", "", "", f"{answer['score']:.4f}")]),
        ]
    return "\n".join(lines)
