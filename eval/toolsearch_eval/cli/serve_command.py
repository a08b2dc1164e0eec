"""`toolsearch serve`: one MCP server over stdio before all servers of a configuration."""

from __future__ import annotations

import argparse
import logging
import os
from typing import TYPE_CHECKING

from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_eval.cli.output import neutralise, tell, tell_warnings

if TYPE_CHECKING:
    from toolsearch.mcp.gateway import Gateway


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "serve",
        help="serve the search over MCP",
        description="Stand before the MCP servers of a configuration: a client that starts this command over stdio "
        "sees the pinned tools, a search and a proxy in place of all their tools. Servers may start slowly, crash "
        "and come back; answers say which are away. The standard output belongs to the protocol, messages go to "
        "the standard error. It ends when the client goes.",
        allow_abbrev=False,
    )
    parser.add_argument("--mcp-config", required=True, metavar="FILE", help="a file with mcpServers, such as .mcp.json")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="run the commands of the file; without it they are only shown, as nobody can be asked over stdio",
    )
    parser.add_argument(
        "--pin", action="append", default=[], metavar="TOOL", help="always in the client's list; may be repeated"
    )
    parser.add_argument("--profile", default="default", metavar="NAME|FILE.toml", help="the search (default: default)")


def run(arguments: argparse.Namespace) -> int:
    """Serve one client until it goes; 0 then, 2 for wrong use or a configuration that can't be read."""
    from toolsearch.mcp.configuration import load_configuration
    from toolsearch_eval.cli.search_command import open_profile

    try:
        import anyio
        from mcp.server.stdio import stdio_server

        from toolsearch.mcp.gateway import Gateway
        from toolsearch.mcp.hub import Hub
        from toolsearch.mcp.link import connector
    except ModuleNotFoundError as error:
        raise UsageError(f"serve needs {error.name}: pip install 'toolsearch[mcp]'") from None
    config, warnings = open_profile(arguments.profile)
    configuration = load_configuration(arguments.mcp_config, environ=os.environ)
    tell_warnings([*warnings, *configuration.notes])
    if not configuration.servers:
        raise DataError([Problem(arguments.mcp_config, 0, "", "every server is switched off; there is none to serve")])
    for entry in configuration.servers:
        verb = "run " if entry.transport == "stdio" else "ask "
        tell(f"{verb} {neutralise(entry.name)}: {neutralise(entry.shown())}")
    if not arguments.yes and any(entry.transport == "stdio" for entry in configuration.servers):
        raise UsageError("these commands would run on this machine; give --yes to run them.")
    # The library logs what servers send, secrets included; what matters of it is told by the hub.
    for logger in ("mcp", "client", "httpx2"):
        logging.getLogger(logger).addHandler(logging.NullHandler())
        logging.getLogger(logger).propagate = False
    hub = Hub(
        {entry.name: connector(entry) for entry in configuration.servers},
        disabled=configuration.disabled,
        pins=arguments.pin,
        report=lambda line: tell(neutralise(line)),
    )

    async def serve(gateway: Gateway) -> None:
        async with gateway.running(), stdio_server() as (reading, writing):
            await gateway.serve(reading, writing)

    anyio.run(serve, Gateway(hub, config=config))
    return 0
