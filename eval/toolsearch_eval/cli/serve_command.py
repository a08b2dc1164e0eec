"""`toolsearch serve`: one MCP server, over stdio or HTTP, before all servers of a configuration."""

from __future__ import annotations

import argparse
import logging
import os
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING

from toolsearch.errors import DataError, Problem, UsageError
from toolsearch.session.settings import SessionSettings
from toolsearch_eval.cli.output import neutralise, tell, tell_warnings

if TYPE_CHECKING:
    from toolsearch.mcp.configuration import Configuration
    from toolsearch.mcp.gateway import Gateway
    from toolsearch.mcp.http_guard import Guard
    from toolsearch.mcp.http_server import Listener

DEFAULT_HOST = "127.0.0.1"
"""This machine alone."""

DEFAULT_PORT = 8765
"""Any number that no well-known service has."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "serve",
        help="serve the search over MCP",
        description="Stand before the MCP servers of a configuration: a client sees the pinned tools, a search and a "
        "proxy in place of all their tools. Servers may start slowly, crash and come back; answers say which are "
        "away. Without --http the client starts this command and talks to it over stdio: the standard output belongs "
        "to the protocol, messages go to the standard error, and it ends when the client goes. With --http any number "
        "of clients reach it at http://HOST:PORT/mcp, each with a conversation of its own, until Ctrl-C.",
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
    parser.add_argument(
        "--require-discovery",
        action="store_true",
        help="run no tool whose parameters a client has not been shown yet; the refusal shows them",
    )
    parser.add_argument("--profile", default="default", metavar="NAME|FILE.toml", help="the search (default: default)")
    http = parser.add_argument_group("over HTTP")
    http.add_argument("--http", action="store_true", help="serve streamable HTTP in place of stdio")
    http.add_argument(
        "--host",
        metavar="ADDRESS",
        help=f"where to listen (default: {DEFAULT_HOST}, this machine alone; others need a token)",
    )
    http.add_argument("--port", type=int, metavar="N", help=f"default: {DEFAULT_PORT}; 0 takes any free one")
    token = http.add_mutually_exclusive_group()
    token.add_argument("--token-env", metavar="NAME", help="variable with the bearer token that clients must send")
    token.add_argument("--token-file", metavar="FILE", help="file with that token")
    http.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name that clients may know it by, such as that of a proxy before it; may be repeated",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client goes or it is told to end; 0 then, 2 for wrong use or what can't be read or taken."""
    from toolsearch_eval.cli.search_command import open_profile

    try:
        from toolsearch.mcp.configuration import load_configuration
        from toolsearch.mcp.gateway import Gateway
        from toolsearch.mcp.hub import Hub
        from toolsearch.mcp.link import connector
    except ModuleNotFoundError as error:
        raise UsageError(f"serve needs {error.name}: pip install 'toolsearch[mcp]'") from None
    config, warnings = open_profile(arguments.profile)
    configuration = load_configuration(arguments.mcp_config, environ=os.environ)
    tell_warnings([*warnings, *configuration.notes])
    place = _place(arguments)
    with nullcontext() if place is None else closing(place[0].socket):
        _show(configuration, arguments)
        _quieten()
        hub = Hub(
            {entry.name: connector(entry) for entry in configuration.servers},
            disabled=configuration.disabled,
            pins=arguments.pin,
            report=lambda line: tell(neutralise(line)),
        )
        settings = SessionSettings(require_discovery=arguments.require_discovery)
        _serve(Gateway(hub, settings=settings, config=config), place)
    return 0


def _show(configuration: Configuration, arguments: argparse.Namespace) -> None:
    """Name the servers with their commands, and stop where these may not run."""
    if not configuration.servers:
        raise DataError([Problem(arguments.mcp_config, 0, "", "every server is switched off; there is none to serve")])
    for entry in configuration.servers:
        verb = "run " if entry.transport == "stdio" else "ask "
        tell(f"{verb} {neutralise(entry.name)}: {neutralise(entry.shown())}")
    if not arguments.yes and any(entry.transport == "stdio" for entry in configuration.servers):
        raise UsageError("these commands would run on this machine; give --yes to run them.")


def _place(arguments: argparse.Namespace) -> tuple[Listener, Guard] | None:
    """Where clients over HTTP come in and who may; None over stdio."""
    options = ("host", "port", "token_env", "token_file", "allow_host")
    if not arguments.http:
        # An empty name is given too: it must not be taken for no name.
        idle = [f"--{name.replace('_', '-')}" for name in options if getattr(arguments, name) not in (None, [])]
        if idle:
            raise UsageError(f"{idle[0]} says something of HTTP alone; give --http too.")
        return None
    from toolsearch.mcp.http_guard import guard_of
    from toolsearch.mcp.http_server import listen
    from toolsearch.mcp.http_token import token_of_file, token_of_variable

    token = None
    if arguments.token_env is not None:
        token = token_of_variable(arguments.token_env, os.environ)
    elif arguments.token_file is not None:
        token, warnings = token_of_file(arguments.token_file)
        tell_warnings(warnings)
    listener = listen(
        DEFAULT_HOST if arguments.host is None else arguments.host,
        DEFAULT_PORT if arguments.port is None else arguments.port,
        has_token=token is not None,
    )
    return listener, guard_of(listener.host, listener.address, names=arguments.allow_host, token=token)


def _quieten() -> None:
    # The libraries log what servers and clients send, secrets included; what matters of it is told by the hub.
    for name in ("mcp", "client", "httpx2", "uvicorn", "sse_starlette"):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False


def _serve(gateway: Gateway, place: tuple[Listener, Guard] | None) -> None:
    import anyio

    from toolsearch.mcp.stdio_server import serve_stdio
    from toolsearch.mcp.stopping import told_to_end

    async def over_http(listener: Listener, guard: Guard) -> None:
        from toolsearch.mcp.http_server import serve_http

        async with told_to_end() as told, gateway.running():
            tell(f"serving at {neutralise(listener.url)}" + (" with a token" if guard.token is not None else ""))
            await serve_http(gateway, listener, guard, told)
            tell("ending")
        tell("ended; all servers are gone")

    if place is None:
        anyio.run(serve_stdio, gateway)
    else:
        anyio.run(over_http, *place)
