"""The gateway: one server of the protocol before all others, with search and proxy in place of their tools."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any

import anyio
import anyio.to_thread
from mcp import MCPError
from mcp.server import NotificationOptions
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.models import InitializationOptions
from mcp.server.runner import serve_loop
from mcp_types import (
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolRequestParams,
    CallToolResult,
    DiscoverResult,
    ListToolsResult,
    PaginatedRequestParams,
    RequestParams,
    TextContent,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.mcp.clients import EXECUTE, SEARCH, Client
from toolsearch.mcp.http_clients import ClientTable
from toolsearch.mcp.hub import Hub
from toolsearch.mcp.relay import Relay, passed_meta
from toolsearch.mcp.transports import client_info
from toolsearch.session.providers import ToolCall, ToolOutcome
from toolsearch.session.settings import SessionSettings
from toolsearch.tools.search_tool import SearchTool

SESSION_HEADER = "mcp-session-id"
"""Names a client's session in its requests over HTTP."""

ANSWER_KEY = "toolsearch/answer"
"""Where a result keeps the search's answer as JSON: in its meta data, which hosts don't show to the model."""

CODE_KEY = "toolsearch/code"
"""Where a failed call's result keeps its code."""

# The library checks results against its own idea of them and drops what it does not know. Results of servers go
# around that: the handler leaves the answer here, and the middleware above the check gives it back whole.
_UNCHANGED: ContextVar[list[dict[str, Any]] | None] = ContextVar("unchanged result", default=None)


class _Server(Server[Any]):
    """Says in every handshake that its list of tools may change."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """As ever, with changes of tools unless other options are given."""
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


class Gateway:
    """Serves any number of clients, each with a conversation of its own."""

    def __init__(
        self,
        hub: Hub,
        *,
        settings: SessionSettings | None = None,
        config: SearchConfig = DEFAULT,
        start_wait: float = 10.0,
        forget: float = 3600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the servers and the settings of conversations.

        Args:
            hub: The servers.
            settings: Of each conversation; its mode is set here: without search there is no gateway.
            config: The search profile.
            start_wait: Seconds that the first list of tools waits for servers, where tools are pinned.
            forget: Seconds after which a client over HTTP without an open request is forgotten.
            clock: Gives seconds.
        """
        self.hub = hub
        self._settings = (settings or SessionSettings()).replace(mode="true", kill_switch=None, prefetch=False)
        self._config = config
        self._start_wait = start_wait
        self.sessions = ClientTable(self._new_client, forget=forget, clock=clock)
        self._single: list[Client] = []

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Keep the servers connected and tell clients of changes inside of the block."""
        async with self.hub.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._tell_changes)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    def instructions(self) -> str:
        """What the client's model is told of the gateway: always the same for one configuration."""
        names = ", ".join(upstream.name for upstream in self.hub.upstreams)
        return SearchTool.usage_guidance() + (f"\nServers: {names}." if names else "")

    async def serve(self, reading: Any, writing: Any) -> None:
        """Serve one client over two streams of messages, until it goes away."""
        client = self._new_client()
        self._single.append(client)
        try:
            server = self._server(lambda _ctx: client)
            # The handshake only: a connection that opens in another way would have no conversation.
            await serve_loop(server, reading, writing, lifespan_state={})
        finally:
            self._single.remove(client)

    def many_clients(self) -> Server[Any]:
        """A server for clients over HTTP, told apart by their sessions."""
        return self._server(self._client_of_session)

    async def tell_session(self, session_id: str) -> None:
        """Tell a client over HTTP, which listens from now on, if its list has changed before it did."""
        client = self.sessions.known(session_id)
        if client is not None:
            await _tell(client)

    @property
    def clients(self) -> int:
        """How many clients are known."""
        return len(self.sessions) + len(self._single)

    # Who asks

    def _new_client(self) -> Client:
        return Client(self.hub, self._settings, self._config)

    def _client_of_session(self, ctx: ServerRequestContext[Any, Any]) -> Client:
        headers: Mapping[str, str] = ctx.request.headers if ctx.request is not None else {}
        return self.sessions.of(headers.get(SESSION_HEADER, ""))

    # What is asked

    def _server(self, client_of: Callable[[ServerRequestContext[Any, Any]], Client]) -> Server[Any]:
        async def list_tools(
            ctx: ServerRequestContext[Any, Any], _params: PaginatedRequestParams | None
        ) -> ListToolsResult:
            client = client_of(ctx)
            client.peer = ctx.session
            if self.hub.pins and not client.given:
                await self.hub.settled(self._start_wait)
            return ListToolsResult.model_validate({"tools": client.tools()})

        async def call_tool(ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
            client = client_of(ctx)
            client.peer = ctx.session
            return await self._call(client, ctx, params)

        info = client_info()
        server = _Server(
            "toolsearch",
            version=info.version,
            instructions=self.instructions(),
            on_list_tools=list_tools,
            on_call_tool=call_tool,
        )
        server.add_request_handler("server/discover", RequestParams, self._discover)
        server.middleware.append(_handshake_only)
        server.middleware.append(_whole_results)
        return server

    async def _discover(self, _ctx: ServerRequestContext[Any, Any], _params: RequestParams) -> DiscoverResult:
        # A conversation needs a connection that is told apart from others, which only the handshake gives.
        return DiscoverResult(
            supported_versions=list(HANDSHAKE_PROTOCOL_VERSIONS),
            capabilities=Server("toolsearch").get_capabilities(),
            instructions=self.instructions(),
        )

    async def _call(
        self, client: Client, ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult:
        call = ToolCall(str(ctx.request_id), params.name, params.arguments or {})
        if params.name == SEARCH:
            # In a thread: the first search after a change builds an index, and other clients must not wait for it.
            found = await anyio.to_thread.run_sync(client.session.handle, call)
            meta = {ANSWER_KEY: found.answer.to_json()} if found.answer is not None else {}
            return CallToolResult(
                content=[TextContent(type="text", text=found.text)], is_error=found.is_error, _meta=meta
            )
        meta_data = (ctx.params or {}).get("_meta")
        wants_progress = isinstance(meta_data, Mapping) and "progressToken" in meta_data
        relay = Relay(
            progress=ctx.session.report_progress if wants_progress else None,
            meta=passed_meta(meta_data if isinstance(meta_data, Mapping) else None),
        )
        outcome = await client.session.handle_async(call, context=relay)
        if relay.result is not None:
            return _as_it_came(relay.result)
        if relay.error is not None and params.name != EXECUTE:
            raise relay.error
        return _explained(outcome)

    async def _tell_changes(self) -> None:
        """Tell each client whose own list has changed, and nobody else."""
        while True:
            change = self.hub.next_change()
            # At once: a client that doesn't read, or has just gone, must not keep the news from others.
            async with anyio.create_task_group() as tasks:
                for client in [*self._single, *self.sessions]:
                    tasks.start_soon(_tell, client)
            await change.wait()


async def _tell(client: Client) -> None:
    if client.peer is not None and client.is_outdated():
        with anyio.move_on_after(5), suppress(Exception):
            await client.peer.send_tool_list_changed()


def _as_it_came(result: dict[str, Any]) -> CallToolResult:
    kept = _UNCHANGED.get()
    if kept is not None:
        kept.append(result)
    return CallToolResult.model_validate(result, by_name=False)


def _explained(outcome: ToolOutcome) -> CallToolResult:
    code = getattr(outcome.answer, "code", None) or ("tool_error" if outcome.is_error else None)
    meta = {CODE_KEY: code} if code else {}
    return CallToolResult(content=[TextContent(type="text", text=outcome.text)], is_error=outcome.is_error, _meta=meta)


async def _handshake_only(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Refuse requests of the kind that belongs to no connection, and say which versions are spoken."""
    if (
        ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        and ctx.method != "server/discover"
        and ctx.request_id is not None
    ):
        raise MCPError(
            code=UNSUPPORTED_PROTOCOL_VERSION,
            message="each client has a conversation of its own here: begin with initialize",
            data={"supported": list(HANDSHAKE_PROTOCOL_VERSIONS), "requested": ctx.protocol_version},
        )
    return await call_next(ctx)


async def _whole_results(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Give the results of servers back as they came."""
    if ctx.method != "tools/call":
        return await call_next(ctx)
    kept: list[dict[str, Any]] = []
    token = _UNCHANGED.set(kept)
    try:
        checked = await call_next(ctx)
    finally:
        _UNCHANGED.reset(token)
    return kept[0] if kept else checked
