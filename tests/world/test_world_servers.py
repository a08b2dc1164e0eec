"""Search over the live `tools/list` of a real server that is not ours, fetched with the official SDK over stdio."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from toolsearch.catalog.formats import parse_catalog
from toolsearch.search.searcher import Searcher

PACKAGES = {"time": ["mcp-server-time"], "git": ["mcp-server-git"], "fetch": ["mcp-server-fetch"]}


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own with three servers from the Python registry; a failed download is tried once more."""
    folder = tmp_path_factory.mktemp("servers")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    packages = [package for names in PACKAGES.values() for package in names]
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages]
    if subprocess.run(command, check=False).returncode:
        subprocess.run(command, check=True)
    return folder


async def _tools(command: str, arguments: list[str]) -> str:
    async with (
        stdio_client(StdioServerParameters(command=command, args=arguments)) as (reading, writing),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        listed = await session.list_tools()
        return json.dumps(listed.model_dump(mode="json", by_alias=True, exclude_none=True))


def _listing(environment: Path, server: str) -> str:
    script = environment / "bin" / f"mcp-server-{server}"
    arguments = ["--local-timezone", "UTC"] if server == "time" else []
    return asyncio.run(asyncio.wait_for(_tools(str(script), arguments), 60))


def test_real_servers_are_searched_with_sensible_hits(environment: Path) -> None:
    """Plain requests find the right tool first over the live lists of three servers that are not ours."""
    tools = [tool for server in PACKAGES for tool in parse_catalog(_listing(environment, server), path=server)]
    assert len(tools) >= 10
    searcher = Searcher(tools)
    wanted = {
        "what time is it in Tokyo": "get_current_time",
        "convert a time between timezones": "convert_time",
        "commit my changes": "git_commit",
        "fetch a web page as markdown": "fetch",
        "git_status": "git_status",
    }
    for query, name in wanted.items():
        assert name in [result.name.rsplit("__", 1)[-1] for result in searcher.search(query, max_results=3).results], (
            query
        )
