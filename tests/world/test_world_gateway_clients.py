"""Clients that are not ours before `toolsearch serve`, over stdio and HTTP, with a server behind it that is not ours."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import fastmcp
import httpx2
import pytest
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

SECRET = "a-token-of-some-length"
PIN = "mcp__again__get-structured-content"
CLIENTS = ("session of the official library", "client of the official library", "client of fastmcp")
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("get-tiny-image", {}),
    ("get-structured-content", {"location": "Chicago"}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-resource-links", {"count": 3}),
    ("get-sum", {"a": 2, "b": 3}),
    ("get-sum", {"a": "no number"}),
)
"""Calls that a server answers the same way each time: pictures, structured content, annotations, links, an error."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server that shows every feature of the protocol; a failed download is tried once more."""
    folder = tmp_path_factory.mktemp("npm")
    command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--silent"]
    command.append("@modelcontextprotocol/server-everything")
    if subprocess.run(command, check=False).returncode:
        subprocess.run(command, check=True)
    return folder / "node_modules" / ".bin" / "mcp-server-everything"


@pytest.fixture(scope="module")
def direct(program: Path) -> list[dict[str, Any]]:
    """What the server answers to each call without anything in between."""

    async def ask() -> list[dict[str, Any]]:
        with open(os.devnull, "w") as silent:
            parameters = StdioServerParameters(command=str(program), args=[])
            async with (
                stdio_client(parameters, errlog=silent) as (reading, writing),
                ClientSession(reading, writing) as session,
            ):
                await session.initialize()
                return [_as_sent(await session.call_tool(name, arguments)) for name, arguments in CALLS]

    return anyio.run(ask)


@pytest.fixture(scope="module")
def arguments(program: Path) -> list[str]:
    """The gateway's command before that server twice: one tool of the second is pinned, and not run by the proxy then."""
    path = program.parents[2] / "mcp.json"
    path.write_text(
        json.dumps({"mcpServers": {name: {"command": str(program)} for name in ("everything", "again")}}),
        encoding="utf-8",
    )
    return ["-m", "toolsearch_eval.cli.main", "serve", "--mcp-config", str(path), "--yes", "--pin", PIN]


@pytest.fixture(scope="module")
def url(arguments: list[str]) -> Generator[str]:
    """Where the gateway serves HTTP; it asks for a token."""
    process = subprocess.Popen(
        [sys.executable, *arguments, "--http", "--port", "0", "--token-env", "GATE"],
        env={**os.environ, "GATE": SECRET},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    yield next(line.split()[2] for line in process.stderr if line.startswith("serving at"))
    process.send_signal(signal.SIGTERM)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 0, told


def _as_sent(result: CallToolResult) -> dict[str, Any]:
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


@dataclass(slots=True)
class _Asked:
    """One way to ask, whatever the client is."""

    list_tools: Callable[[], Any]
    call: Callable[..., Any]


@asynccontextmanager
async def _connected(client: str, transport: str, arguments: list[str], url: str) -> AsyncGenerator[_Asked]:
    """A client, connected in its own way."""
    if client.endswith("fastmcp"):
        way: Any = (
            StdioTransport(sys.executable, arguments, env=dict(os.environ), keep_alive=False, log_file=Path(os.devnull))
            if transport == "stdio"
            else StreamableHttpTransport(url, auth=SECRET)
        )
        async with fastmcp.Client(way) as other:

            async def list_tools() -> list[Any]:
                return list(await other.list_tools())

            async def call(name: str, params: dict[str, Any], progress: Any = None) -> Any:
                return await other.call_tool_mcp(name, params, progress_handler=progress)

            yield _Asked(list_tools, call)
        return
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    with open(os.devnull, "w") as silent:
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {SECRET}"}) as http:
            streams = (
                stdio_client(parameters, errlog=silent)
                if transport == "stdio"
                else streamable_http_client(url, http_client=http)
            )
            if client.startswith("session"):
                async with streams as (reading, writing), ClientSession(reading, writing) as session:
                    await session.initialize()
                    yield _of_library(session)
            else:
                # It first tries the newest kind of the protocol, which belongs to no connection.
                async with Client(streams) as newest:
                    yield _of_library(newest)


def _of_library(session: Any) -> _Asked:
    async def list_tools() -> list[Any]:
        return list((await session.list_tools()).tools)

    async def call(name: str, params: dict[str, Any], progress: Any = None) -> Any:
        return await session.call_tool(name, params, progress_callback=progress)

    return _Asked(list_tools, call)


def _text(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_lists_searches_and_runs_tools(
    client: str, transport: str, arguments: list[str], url: str, direct: list[dict[str, Any]]
) -> None:
    """Pinned tool, search and proxy are listed; what a search finds runs; every kind of result is as without a gateway."""
    steps: list[float] = []

    async def progress(done: float, _total: float | None, _message: str | None) -> None:
        steps.append(done)

    async def main() -> None:
        async with _connected(client, transport, arguments, url) as asked:
            listed = await asked.list_tools()
            assert [tool.name for tool in listed] == [PIN, "SearchExtraTools", "ExecuteExtraTool"]
            found = await asked.call("SearchExtraTools", {"query": "add two numbers"})
            assert "mcp__everything__get-sum" in _text(found)
            answers = []
            for name, params in CALLS:
                call = {"tool_name": f"mcp__everything__{name}", "params": params}
                answers.append(_as_sent(await asked.call("ExecuteExtraTool", call)))
            assert answers[:-1] == direct[:-1]
            # The proxy checks arguments against the schema itself, so the server is spared the bad ones.
            assert answers[-1]["isError"]
            assert direct[-1]["isError"]
            assert _as_sent(await asked.call(PIN, CALLS[1][1])) == direct[1]
            long = {
                "tool_name": "mcp__everything__trigger-long-running-operation",
                "params": {"duration": 1, "steps": 2},
            }
            assert "completed" in _text(await asked.call("ExecuteExtraTool", long, progress))
            assert sorted(steps) == [1, 2]

    anyio.run(main)


def test_the_answers_are_of_all_kinds(direct: list[dict[str, Any]]) -> None:
    """What is compared holds a picture, structured content, annotations and links."""
    kinds = {block["type"] for answer in direct for block in answer["content"]}
    assert {"text", "image", "resource_link"} <= kinds
    assert "structuredContent" in direct[1]
    assert any("annotations" in block for block in direct[2]["content"])
