"""Servers of the npm registry over stdio, beside those of PyPI: other authors, other styles of names and schemas."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from toolsearch.catalog.formats import parse_catalog, write_catalog
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.search.searcher import Searcher
from toolsearch_eval.cli.main import main

SERVERS = ("everything", "filesystem", "memory")


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Tool, ...]]:
    """The tools of each server, listed live by the official client; a failed download is tried once more."""
    folder = tmp_path_factory.mktemp("npm")
    packages = [f"@modelcontextprotocol/server-{server}" for server in SERVERS]
    command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--silent", *packages]
    if subprocess.run(command, check=False).returncode:
        subprocess.run(command, check=True)
    programs = folder / "node_modules" / ".bin"
    return {
        server: parse_catalog(asyncio.run(_list(programs / f"mcp-server-{server}", folder)), path=server, server=server)
        for server in SERVERS
    }


async def _list(program: Path, folder: Path) -> str:
    # The folder is what the file server may read; the others take no notice of it.
    arguments = [str(folder)] if program.name.endswith("filesystem") else []
    parameters = StdioServerParameters(command=str(program), args=arguments)
    async with asyncio.timeout(60), Client(parameters) as client:
        answer = await client.list_tools()
        return json.dumps(answer.model_dump(mode="json", by_alias=True, exclude_none=True))


def test_every_listed_tool_is_held_with_its_server_and_schema(listed: dict[str, tuple[Tool, ...]]) -> None:
    """Live lists load whole: owner, description and schema are there, and nothing is quarantined."""
    registry = ToolRegistry(tool for tools in listed.values() for tool in tools)
    assert all(len(tools) >= 5 for tools in listed.values())
    assert len(registry.snapshot().deferred) == sum(map(len, listed.values()))
    assert registry.warnings == ()
    assert {tool.server for tool in registry.deferred()} == set(SERVERS)
    assert all(tool.description and tool.input_schema is not None for tool in registry.deferred())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("read the contents of a text file", "read_text_file"),
        ("create a new directory", "create_directory"),
        ("rename or move a file", "move_file"),
        ("search nodes in the knowledge graph", "search_nodes"),
        ("remember a new fact about a person", "add_observations"),
        ("add two numbers", "get-sum"),
        ("show environment variables", "get-env"),
        ("directoryTree", "directory_tree"),
    ],
)
def test_plain_requests_find_the_tool(listed: dict[str, tuple[Tool, ...]], query: str, expected: str) -> None:
    """The right tool of three servers together is among the first three."""
    searcher = Searcher([tool for tools in listed.values() for tool in tools])
    found = [result.name for result in searcher.search(query, max_results=3).results]
    assert expected in [name.rsplit("__", 1)[-1] for name in found], found


def test_the_command_line_searches_a_saved_list(
    listed: dict[str, tuple[Tool, ...]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Live lists written as a catalog file are searched by the command, one server alone."""
    path = tmp_path / "catalog.jsonl"
    write_catalog([tool for tools in listed.values() for tool in tools], path)
    assert main(["search", "list a directory", "--catalog", str(path), "--server", "filesystem", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert results
    assert {result["server"] for result in results} == {"filesystem"}
    assert "list_directory" in results[0]["name"]
