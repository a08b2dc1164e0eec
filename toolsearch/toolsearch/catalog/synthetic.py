"""The three synthetic tools: the way to the deferred tools, and structured answers."""

from __future__ import annotations

from typing import Any

from toolsearch.catalog.tool import Tool

_SEARCH_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": (
                "What the tool should do, in a few words; `+word` makes a word required. `select:A,B` gives the tools "
                "of these names with full schemas, `discover:words` the best ones for words with full schemas, "
                "`list:server` all tools of a server."
            ),
        },
        "max_results": {
            "type": "integer",
            "description": "How many tools to give at most.",
            "default": 5,
            "minimum": 1,
            "maximum": 50,
        },
        "server": {"type": "string", "description": "Only tools of the server of exactly this name."},
    },
    "required": ["query"],
    "additionalProperties": False,
}

_EXECUTE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tool_name": {"type": "string", "description": "The exact name of a tool that a search has shown."},
        "params": {
            "type": "object",
            "description": "The arguments of that tool, as its parameters ask for them.",
            "additionalProperties": True,
        },
    },
    "required": ["tool_name", "params"],
    "additionalProperties": False,
}

_OUTPUT_SCHEMA: dict[str, Any] = {"type": "object", "additionalProperties": True}


def synthetic_tools() -> tuple[Tool, ...]:
    """`SearchExtraTools`, `ExecuteExtraTool` and `SyntheticOutput`, each with description and schema."""
    return (
        Tool(
            name="SearchExtraTools",
            description=(
                "Find tools that are available but not in your list. Say what you want to do, or give names; the "
                "answer shows tools with their parameters. Run one with ExecuteExtraTool. A tool in your list needs no "
                "search: call it directly."
            ),
            search_hint="find more tools by task",
            input_schema=_SEARCH_SCHEMA,
            read_only=True,
        ),
        Tool(
            name="ExecuteExtraTool",
            description=(
                "Run a tool that SearchExtraTools has shown. Give its exact name and its arguments; the "
                "answer is that tool's own answer."
            ),
            search_hint="run a tool found by search",
            input_schema=_EXECUTE_SCHEMA,
        ),
        Tool(
            name="SyntheticOutput",
            description="Give the final answer as one JSON object in the shape that the caller asked for.",
            search_hint="return a structured final answer",
            input_schema=_OUTPUT_SCHEMA,
            read_only=True,
        ),
    )
