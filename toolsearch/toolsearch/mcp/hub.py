"""All servers behind the gateway, and the one catalog of their tools."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch.mcp.link import Connect
from toolsearch.mcp.server_tools import Listed
from toolsearch.mcp.upstream import Patience, Upstream
from toolsearch.session.server_table import ServerTable
from toolsearch.tools.servers import ServerState


class Hub:
    """The servers, their states and their tools; tools of a server that is away stay known until it says otherwise."""

    def __init__(
        self,
        servers: Mapping[str, Connect],
        *,
        disabled: Sequence[str] = (),
        pins: Sequence[str] = (),
        deny: Sequence[str] = (),
        patience: Patience | None = None,
        report: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """Take the servers by name.

        Args:
            servers: What connects to each.
            disabled: Servers that are switched off; said so in answers, never connected.
            pins: Tools that clients have in their list, by `mcp__<server>__<name>`.
            deny: Patterns of tools that nobody sees.
            patience: How long things may take with a server.
            report: Told, a line each, what the operator should know.

        Raises:
            UsageError: A name is among both, or empty.
        """
        both = sorted(set(servers) & set(disabled))
        if both or "" in servers:
            raise UsageError(f"servers that are both there and disabled, or without a name: {both or ['']}.")
        self.registry = ToolRegistry(synthetic_tools(), pins=pins, deny=deny)
        self.table = ServerTable()
        self.pins = tuple(pins)
        self._report = report
        self._definitions: dict[str, Mapping[str, Mapping[str, Any]]] = {}
        self._changed = anyio.Event()
        self.upstreams = tuple(
            Upstream(name, connect, self, patience=patience) for name, connect in sorted(servers.items())
        )
        for name in servers:
            self.table.set(name, "pending")
        for name in disabled:
            self.table.set(name, "disabled")

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Keep every server connected inside of the block; after it all of them are gone."""
        async with anyio.create_task_group() as tasks:
            for upstream in self.upstreams:
                tasks.start_soon(upstream.run)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def settled(self, seconds: float) -> bool:
        """Wait until every server was tried once, at most so long; whether all were."""
        with anyio.move_on_after(seconds):
            for upstream in self.upstreams:
                await upstream.settled.wait()
            return True
        return False

    def next_change(self) -> anyio.Event:
        """What is set when the catalog or the state of a server changes from now on."""
        return self._changed

    def definition(self, tool: Tool) -> Mapping[str, Any] | None:
        """A tool as its server described it, or None for one that is ours or gone."""
        return self._definitions.get(tool.server or "", {}).get(tool.leaf)

    # What servers report

    def stands(self, server: str, state: ServerState, reason: str) -> None:
        """A server's state is now this one."""
        self.table.set(server, state, reason)
        self._report(f"server {server}: {state}" + (f": {reason}" if reason else ""))
        self._ring()

    def has(self, server: str, listed: Listed) -> None:
        """These are now the server's tools; the catalog changes in one step, and only if something did."""
        for warning in listed.warnings:
            self._report(f"warning: {warning}")
        same = json.dumps(self._definitions.get(server), sort_keys=True) == json.dumps(
            listed.definitions, sort_keys=True
        )
        if same and server in self._definitions:
            return
        self._definitions[server] = listed.definitions
        self.registry.replace(listed.tools, server=server, source=server)
        self._ring()

    def _ring(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
