"""`catalog pull` from six servers that are not ours, at once, as a user would: by a configuration file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from toolsearch.catalog.formats import load_catalog
from toolsearch.catalog.tool import Tool
from toolsearch.search.searcher import Searcher
from toolsearch_eval.cli.main import main

NPM = ("everything", "filesystem", "memory")
PYPI = ("git", "time", "fetch")


def _install(command: list[str]) -> None:
    """Run an installation; a failed download is tried once more."""
    if subprocess.run(command, check=False).returncode:
        subprocess.run(command, check=True)


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with all six servers, installed in folders of their own, and one that does not exist."""
    folder = tmp_path_factory.mktemp("pull")
    packages = [f"@modelcontextprotocol/server-{server}" for server in NPM]
    _install(["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--silent", *packages])
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = str(folder / "venv" / "bin" / "python")
    _install([python, "-m", "pip", "install", "--quiet", *(f"mcp-server-{server}" for server in PYPI)])
    programs = folder / "node_modules" / ".bin"
    # The file server wants a folder that it may read; the others take no notice of it.
    arguments = ["${DOCUMENTS:-.}"]
    rows: dict[str, dict[str, object]] = {
        server: {"command": str(programs / f"mcp-server-{server}"), "args": arguments if server == "filesystem" else []}
        for server in NPM
    }
    rows |= {server: {"command": python, "args": ["-m", f"mcp_server_{server}"]} for server in PYPI}
    rows["gone"] = {"command": str(folder / "no-such-server"), "env": {"API_KEY": "never-to-be-seen"}}
    path = folder / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": rows}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def pulled(configuration: Path) -> tuple[tuple[Tool, ...], int]:
    """The catalog that the command has written, and its exit code."""
    target = configuration.parent / "catalog.jsonl"
    code = main(["catalog", "pull", "--mcp-config", str(configuration), "-o", str(target), "--yes", "--timeout", "120"])
    return load_catalog(target), code


def test_every_server_that_exists_is_in_the_catalog(pulled: tuple[tuple[Tool, ...], int]) -> None:
    """Six servers of two registries are pulled whole, and the one that can't be started costs only itself."""
    tools, code = pulled
    assert code == 1
    assert {tool.server for tool in tools} == {*NPM, *PYPI}
    assert all(tool.description and tool.input_schema is not None for tool in tools)
    assert len(tools) >= 40


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what time is it in Tokyo", "get_current_time"),
        ("commit my changes", "git_commit"),
        ("fetch a web page as markdown", "fetch"),
        ("create a new directory", "create_directory"),
        ("search nodes in the knowledge graph", "search_nodes"),
    ],
)
def test_what_was_pulled_is_found(pulled: tuple[tuple[Tool, ...], int], query: str, expected: str) -> None:
    """The right tool of six servers together is among the first three."""
    found = [result.name for result in Searcher(pulled[0]).search(query, max_results=3).results]
    assert expected in [name.rsplit("__", 1)[-1] for name in found], found


def test_what_was_pulled_is_checked(configuration: Path, pulled: tuple[tuple[Tool, ...], int]) -> None:
    """The check takes the catalog without errors."""
    assert pulled
    assert main(["catalog", "check", str(configuration.parent / "catalog.jsonl")]) == 0
