"""`toolsearch catalog check|stats|convert|pull`: look after a catalog of tools."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, Problem
from toolsearch_eval.cli import catalog_pull
from toolsearch_eval.cli.output import neutralise, print_json, say, tell, text_table
from toolsearch_eval.cli.search_command import SCHEMA_VERSION, open_catalog


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb and its actions."""
    parser = subparsers.add_parser(
        "catalog",
        help="check, count, convert or fetch a catalog of tools",
        description="Check, count, convert or fetch a catalog of tools.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    check = actions.add_parser("check", help="report every error and every doubtful row", allow_abbrev=False)
    stats = actions.add_parser("stats", help="count tools, servers, parameters, lengths", allow_abbrev=False)
    for action in (check, stats):
        action.add_argument(
            "catalog",
            nargs="?",
            metavar="FILE|python:MODULE:NAME",
            help="the catalog (default: the built-in one)",
        )
        action.add_argument("--json", action="store_true", help="print one JSON object")
    check.add_argument(
        "--gains",
        action="store_true",
        help="also search for every tool in its own words, and say what mending each finding brings (slower)",
    )
    convert = actions.add_parser(
        "convert",
        help="rewrite any accepted form as rows of JSON",
        description="Rewrite a catalog as rows of JSON (an MCP tools/list result, arrays of provider tools, our rows).",
        allow_abbrev=False,
    )
    convert.add_argument("source", metavar="FILE", help="the catalog to read")
    convert.add_argument("target", metavar="OUT.jsonl", help="the file to write")
    convert.add_argument("--format", metavar="NAME", help="the form of FILE (default: found by its content)")
    convert.add_argument("--json", action="store_true", help="print one JSON object")
    catalog_pull.add_action(actions)


def run(arguments: argparse.Namespace) -> int:
    """Run one action; bad data is 2, warnings alone are 0."""
    if arguments.action == "check":
        return _check(arguments.catalog, gains=arguments.gains, as_json=arguments.json)
    if arguments.action == "pull":
        return catalog_pull.run(arguments)
    if arguments.action == "stats":
        return _stats(arguments.catalog, as_json=arguments.json)
    return _convert(arguments.source, arguments.target, arguments.format, as_json=arguments.json)


def _check(source: str | None, *, gains: bool, as_json: bool) -> int:
    from toolsearch.catalog.lint import check_catalog

    errors: Sequence[Any] = ()
    warnings: Sequence[Any] = ()
    count = 0
    try:
        tools = open_catalog(source)
    except DataError as error:
        errors = error.problems
    else:
        count = len(tools)
        warnings = check_catalog(tools, path=source or "<built-in>")
        if gains:
            warnings = [*warnings, *_gains(tools, source or "<built-in>")]
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "errors": [_problem(problem) for problem in errors],
                "warnings": [_problem(problem) for problem in warnings],
            }
        )
    else:
        for problem in warnings:
            say(f"warning: {neutralise(str(problem))}")
        say(f"{count} tools, {len(errors)} errors, {len(warnings)} warnings")
    for problem in errors:
        tell(f"error: {neutralise(str(problem))}")
    return 2 if errors else 0


def _gains(tools: Sequence[Tool], path: str) -> list[Problem]:
    from toolsearch.catalog.names import shown
    from toolsearch_eval.catalog_findings import catalog_findings

    return [
        Problem(path, 0, f"{shown(finding.tool)}.{finding.part}", f"{finding.message} [gain: {finding.gain}]")
        for finding in catalog_findings(tools)
    ]


def _problem(problem: Any) -> dict[str, Any]:
    return {name: getattr(problem, name) for name in ("path", "line", "field", "message")}


def _stats(source: str | None, *, as_json: bool) -> int:
    from toolsearch.catalog.lint import catalog_statistics

    tools = open_catalog(source)
    statistics = _as_mapping(catalog_statistics(tools))
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, **statistics})
    else:
        say(text_table(("what", "value"), _flat(statistics)))
    return 0


def _as_mapping(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return dict(value)


def _flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{prefix}{name}.")
        else:
            shown = f"{value:.1f}" if isinstance(value, float) else value
            rows.append(
                (
                    f"{prefix}{name}",
                    shown if not isinstance(value, list | tuple) else ", ".join(map(str, value)),
                )
            )
    return rows


def _convert(source: str, target: str, form: str | None, *, as_json: bool) -> int:
    from toolsearch.catalog.formats import load_catalog, write_catalog

    tools = load_catalog(source, format=form)
    write_catalog(tools, target)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "source": source, "target": target, "tools": len(tools)})
    else:
        say(f"{len(tools)} tools written to {neutralise(target)}")
    return 0
