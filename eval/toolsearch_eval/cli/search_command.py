"""`toolsearch search TEXT`: ranked tools as text or as one JSON object."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.cli.output import neutralise, print_json, say, shortened, tell_warnings

if TYPE_CHECKING:
    from toolsearch.catalog.tool import Tool
    from toolsearch.config import SearchConfig

SCHEMA_VERSION = 1
"""Of the JSON form; grows when a field changes its meaning or goes away."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "search",
        help="search a catalog",
        description="Search a catalog, as the tool does that a model calls. A word with + before it must be met by "
        "every result. select:NAME,NAME gives tools by name and discover:WORDS by words, both with their schemas; "
        "list:SERVER gives the tools of a server.",
        allow_abbrev=False,
    )
    add_query_arguments(parser)
    parser.add_argument("--server", metavar="S", help="only tools of this server, exactly")
    parser.add_argument(
        "--max-results",
        type=int,
        metavar="N",
        help="1 to 50; a number outside is moved inside (default 5; 50 for list:)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_query_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that `search` and `explain` share: the query, the catalog, the profile."""
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what is wanted; several words are one query")
    add_catalog_argument(parser)
    parser.add_argument(
        "--profile",
        default="default",
        metavar="NAME|FILE.toml",
        help="a shipped profile or a TOML file (default: default)",
    )


def add_catalog_argument(parser: argparse.ArgumentParser) -> None:
    """The option `--catalog`."""
    parser.add_argument(
        "--catalog",
        metavar="FILE|python:MODULE:NAME",
        help="a file of tools, or tools made by a Python module, which is imported (default: the built-in catalog)",
    )


def open_catalog(source: str | None) -> tuple[Tool, ...]:
    """The tools of a file, of a Python module that was named on purpose, or the built-in ones.

    Args:
        source: None, a path, or `python:module:name` with the name of a list of tools, of a registry, or of a function
            without arguments that gives one of these.

    Raises:
        UsageError: The module or the name can't be used.
        DataError: The file can't be read or holds bad rows.
    """
    if source is None:
        from toolsearch.catalog.builtin import builtin_catalog

        return builtin_catalog()
    if source.startswith("python:"):
        return _from_python(source)
    from toolsearch.catalog.formats import load_catalog

    return load_catalog(source)


def _from_python(source: str) -> tuple[Tool, ...]:
    import importlib
    import sys

    from toolsearch.catalog.registry import Snapshot, ToolRegistry
    from toolsearch.catalog.tool import Tool

    parts = source.split(":")
    if len(parts) != 3 or not all(parts):
        raise UsageError(
            f"--catalog is {source!r}; the accepted form is python:MODULE:NAME, such as python:agent.tools:ALL."
        )
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(parts[1])
    except Exception as error:  # the module is the user's own: whatever it raises is theirs to see, in one line
        raise UsageError(f"--catalog {source}: module {parts[1]!r} can't be imported: {error}") from error
    if not hasattr(module, parts[2]):
        raise UnknownNameError(
            f"name in module {parts[1]}", parts[2], (name for name in vars(module) if name[0] != "_")
        )
    value = getattr(module, parts[2])
    if callable(value):
        value = value()
    if isinstance(value, ToolRegistry):
        value = value.snapshot()
    if isinstance(value, Snapshot):
        value = value.tools
    tools = tuple(value) if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str) else (value,)
    wrong = [type(tool).__name__ for tool in tools if not isinstance(tool, Tool)]
    if wrong:
        raise UsageError(f"--catalog {source}: holds {wrong[0]}; accepted is a list of Tool, or a ToolRegistry.")
    return tools


def open_profile(source: str) -> tuple[SearchConfig, tuple[str, ...]]:
    """A profile with the settings of the environment applied, and the warnings about those."""
    from toolsearch.config import from_env, load_profile

    return from_env(os.environ, load_profile(source))


def read_text(words: Sequence[str]) -> str:
    """The words of the command line as one query.

    Raises:
        UsageError: There is nothing to search.
    """
    text = " ".join(words)
    if not text.strip(" +\t\n"):
        raise UsageError('the query is empty; type what the tool should do, such as "send a message".')
    return text


def run(arguments: argparse.Namespace) -> int:
    """Search and print; 0 also when nothing was found."""
    text = read_text(arguments.text)
    config, warnings = open_profile(arguments.profile)
    from toolsearch.catalog.registry import ToolRegistry
    from toolsearch.search.searcher import Searcher
    from toolsearch.tools.search_tool import SearchTool

    registry = ToolRegistry(open_catalog(arguments.catalog))
    snapshot = registry.snapshot()
    servers = {tool.server for tool in snapshot.tools if tool.server}
    if arguments.server is not None and arguments.server not in servers:
        raise UnknownNameError("server", arguments.server, servers)
    given = {"query": text, "max_results": arguments.max_results, "server": arguments.server}
    found = SearchTool(Searcher(snapshot, config)).call(
        {key: value for key, value in given.items() if value is not None}
    )
    if found.is_error:
        raise UsageError(found.text)
    answer = found.to_json()
    answer["warnings"] = [*warnings, *registry.warnings, *answer["warnings"]]
    tell_warnings(answer["warnings"])
    if arguments.json:
        print_json(answer)
    else:
        say(_as_text(answer, deferred=found.total_deferred))
    return 0


def _as_text(answer: Mapping[str, Any], *, deferred: int) -> str:
    from toolsearch.tools.schema_text import full_text

    lines = []
    for result in answer["results"]:
        arms = ", ".join(f"{arm} {value:.3f}" for arm, value in result["arms"].items())
        reason = "" if result["reason"] == "score" else f"  [{result['reason']}]"
        score = f"  {result['score']:.3f}  ({arms})" if arms else ""
        lines.append(f"{result['rank']:>2}. {neutralise(result['name'])}{score}{reason}")
        if result["description"]:
            lines.append(f"    {shortened(result['description'], 160)}")
        shown = ", ".join(
            f"{shortened(item['name'], 60)}: {shortened(item['type'], 60)}{'' if item['required'] else '?'}"
            for item in result["parameters"][:12]
        )
        rest = len(result["parameters"]) - 12
        schema = full_text(result["input_schema"]) if "input_schema" in result else None
        if schema is not None:
            lines.append(f"    schema: {neutralise(schema)}")
        elif shown:
            lines.append(f"    parameters: {shown}{f' and {rest} more' if rest > 0 else ''}")
    for missing in answer["missing"]:
        near = ", ".join(map(neutralise, missing["suggestions"]))
        lines.append(f"not found: {shortened(missing['name'], 80)}{f'; did you mean {near}?' if near else ''}")
    if answer["already_loaded"]:
        lines.append(f"already loaded, call directly: {', '.join(map(neutralise, answer['already_loaded']))}")
    if not answer["results"] and not answer["missing"] and not answer["already_loaded"]:
        lines.append(f"nothing found among {deferred} searchable tools; try other words, or fewer of them.")
    elif answer["results"] and answer["low_confidence"]:
        lines.append("low confidence: the catalog may have no tool for this.")
    if answer["truncated"]:
        after = answer.get("next_cursor")
        more = f"add after:{neutralise(after)} to see more" if after else "--max-results shows more"
        lines.append(f"{len(answer['results'])} of {answer['total_matches']} matching tools are shown; {more}.")
    return "\n".join(lines)
