"""`toolsearch catalog pull`: the tools of live servers, written as a catalog."""

from __future__ import annotations

import argparse
import functools
import logging
import math
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolsearch.catalog.names import name_fault
from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_eval.cli.output import neutralise, print_json, say, tell, tell_warnings
from toolsearch_eval.cli.search_command import SCHEMA_VERSION

if TYPE_CHECKING:
    from toolsearch.mcp.pull import Pulled
    from toolsearch.mcp.server_entry import ServerEntry


def add_action(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the action."""
    parser = actions.add_parser(
        "pull",
        help="write the tools of live MCP servers as a catalog",
        description="Ask MCP servers for their tools and write them as a catalog. The commands that this runs are "
        "shown, and run after a yes. A server that fails is named, the rest is written, and the exit code is 1.",
        allow_abbrev=False,
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--mcp-config", metavar="FILE", help="a file with mcpServers, for instance .mcp.json")
    source.add_argument("--stdio", metavar="COMMAND", help="one server: the command that starts it, in quotes")
    source.add_argument("--http", metavar="URL", help="one server: its streamable HTTP address")
    parser.add_argument("-o", "--output", required=True, metavar="OUT.jsonl", help="the file to write")
    parser.add_argument("--name", metavar="NAME", help="the server's name with --stdio and --http (default: server)")
    parser.add_argument("--yes", action="store_true", help="run the commands without asking")
    parser.add_argument(
        "--timeout", type=float, default=60.0, metavar="S", help="seconds for each server (default: 60)"
    )
    parser.add_argument("--parallel", type=int, default=8, metavar="N", help="servers asked at once (default: 8)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Pull; 0 when every server answered, 1 when one failed, 2 for wrong use."""
    if not (math.isfinite(arguments.timeout) and arguments.timeout > 0):
        raise UsageError(f"--timeout {arguments.timeout:g}: give the seconds for each server, above 0.")
    if arguments.parallel < 1:
        raise UsageError(f"--parallel {arguments.parallel}: give a number of servers, at least 1.")
    entries = _entries(arguments)
    try:
        import anyio

        from toolsearch.mcp.pull import pull
    except ModuleNotFoundError as error:
        raise UsageError(f"catalog pull needs {error.name}: pip install 'toolsearch[mcp]'") from None
    _confirm(entries, yes=arguments.yes)
    # The library logs what servers send, secrets included; what matters of it is in the report.
    for logger in ("mcp", "client", "httpx2"):
        logging.getLogger(logger).addHandler(logging.NullHandler())
        logging.getLogger(logger).propagate = False
    done = 0

    def progress(outcome: Pulled) -> None:
        nonlocal done
        done += 1
        words = outcome.failure.reason if outcome.failure else f"{len(outcome.tools)} tools"
        tell(f"[{done}/{len(entries)}] {neutralise(outcome.server)}: {neutralise(words)}")

    ask = functools.partial(pull, entries, timeout=arguments.timeout, parallel=arguments.parallel, progress=progress)
    return _report(anyio.run(ask), arguments.output, as_json=arguments.json)


def _entries(arguments: argparse.Namespace) -> Sequence[ServerEntry]:
    from toolsearch.mcp.configuration import entry_from_address, entry_from_command, load_configuration

    if arguments.mcp_config is None:
        name = arguments.name or "server"
        fault = name_fault(name)
        if fault:
            raise UsageError(f"--name: the server's name {fault}; give another one.")
        if arguments.stdio is not None:
            return [entry_from_command(arguments.stdio, name=name, environ=os.environ)]
        return [entry_from_address(arguments.http, name=name)]
    if arguments.name is not None:
        raise UsageError("--name goes with --stdio or --http; a file names its servers itself.")
    configuration = load_configuration(arguments.mcp_config, environ=os.environ)
    tell_warnings(configuration.notes)
    for name in configuration.disabled:
        tell(f"{neutralise(name)}: switched off in the file, not asked")
    if not configuration.servers:
        raise DataError([Problem(arguments.mcp_config, 0, "", "every server is switched off; there is none to ask")])
    return configuration.servers


def _confirm(entries: Sequence[ServerEntry], *, yes: bool) -> None:
    """Show what will be run and reached; go on after a yes, which is needed only where commands are run."""
    for entry in entries:
        verb = "run " if entry.transport == "stdio" else "ask "
        variables = f"  (sets {', '.join(sorted(entry.env))})" if entry.env else ""
        tell(f"{verb} {neutralise(entry.name)}: {neutralise(entry.shown() + variables)}")
    if yes or all(entry.transport == "http" for entry in entries):
        return
    if not sys.stdin.isatty():
        raise UsageError("these commands run on this machine, and nobody can be asked here; give --yes to run them.")
    sys.stderr.write("Run these commands? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
        raise UsageError("nothing was run.")


def _report(outcomes: Sequence[Pulled], target: str, *, as_json: bool) -> int:
    from toolsearch.catalog.formats import write_catalog

    failures = [outcome.failure for outcome in outcomes if outcome.failure is not None]
    tools = [tool for outcome in outcomes for tool in outcome.tools]
    written = len(failures) < len(outcomes)
    if written:
        write_catalog(tools, target)
    for failure in failures:
        tell(f"error: server {neutralise(failure.server)}: {neutralise(failure.reason)}")
        for line in failure.stderr_tail.splitlines():
            tell(f"    | {neutralise(line)}")
    if as_json:
        servers = [
            {
                "server": outcome.server,
                "tools": len(outcome.tools),
                "error": outcome.failure.reason if outcome.failure else None,
                "stderr": outcome.failure.stderr_tail if outcome.failure else "",
            }
            for outcome in outcomes
        ]
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "target": target if written else None,
                "tools": len(tools),
                "servers": servers,
            }
        )
    elif written:
        good = len(outcomes) - len(failures)
        say(f"{len(tools)} tools of {good} of {len(outcomes)} servers written to {neutralise(target)}")
    else:
        tell("toolsearch: no server answered; nothing was written.")
    return 1 if failures else 0
