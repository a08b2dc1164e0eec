"""The peers that take whole tools: FastMCP's transforms, pydantic-ai, toolpicker, and the provider's regex as documented."""

from __future__ import annotations

import asyncio
import itertools
import logging
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch_eval.cli.main import main
from toolsearch_eval.data import load_data
from toolsearch_eval.rankers import resolve_ranker

NAMES = ("fastmcp-bm25", "fastmcp-regex", "pydantic-ai", "toolpicker", "regex")
RANKING = ("fastmcp-bm25", "pydantic-ai", "toolpicker", "regex")
BY_BM25 = ("fastmcp-bm25", "toolpicker")


def found(name: str, tools: Sequence[Tool], query: str, depth: int = 10) -> list[str]:
    """The names that one query finds, in order."""
    ranker = resolve_ranker(name)
    ranker.index(tools)
    [answer] = ranker.rank([query], depth)
    return [name for name, _ in answer]


@pytest.mark.parametrize("name", BY_BM25)
def test_bm25_orders_by_frequency_and_length(name: str) -> None:
    """With k1 1.5 and b .75: twice in three words 1.55 (1.52 without stop words), in two 1.29 (1.26), in seven .75 (.78)."""
    tools = [
        Tool(name="aa", description="red"),
        Tool(name="bb", description="red with many other words here"),
        Tool(name="cc", description="red red"),
    ]
    assert found(name, tools, "red") == ["cc", "aa", "bb"]


@pytest.mark.parametrize("name", BY_BM25)
def test_bm25_counts_a_rare_word_more(name: str) -> None:
    """Of tools as long as each other the one with the rarer word comes first."""
    tools = [Tool(name=f"tool{letter}", description="common") for letter in "abc"]
    tools.append(Tool(name="toolz", description="rare"))
    assert found(name, tools, "common rare") == ["toolz", "toola", "toolb", "toolc"]


@pytest.mark.parametrize("name", ["pydantic-ai", "regex"])
def test_counting_words_counts_each_once(name: str) -> None:
    """Two different words count more than one that stands there four times."""
    tools = [Tool(name="aa", description="red red red red"), Tool(name="bb", description="red blue")]
    assert found(name, tools, "red blue red") == ["bb", "aa"]


def test_fastmcps_regex_does_not_rank() -> None:
    """What matches comes by name and is cut, whatever else matches better."""
    tools = [Tool(name="aa", description="red"), Tool(name="bb", description="blue"), Tool(name="cc", description="x")]
    tools.append(Tool(name="red_blue", description="red blue"))
    assert found("fastmcp-regex", tools, "red or blue") == ["aa", "bb", "red_blue"]
    assert found("fastmcp-regex", tools, "red or blue", 2) == ["aa", "bb"]


SEEN = {
    "fastmcp-bm25": {"name", "description", "hint", "parameter", "described"},
    "fastmcp-regex": {"name", "description", "hint", "parameter", "described"},
    "pydantic-ai": {"name", "description", "hint"},
    "toolpicker": {"name", "description", "hint", "parameter"},
    "regex": {"name", "description", "hint", "parameter", "described"},
}


@pytest.mark.parametrize("name", NAMES)
def test_what_each_peer_reads_of_a_tool(name: str) -> None:
    """The fields are those that the documentation of the rankers says, the server is none of them."""
    tool = Tool(
        name="wordname",
        description="worddescription",
        search_hint="wordhint",
        server="wordserver",
        input_schema={"type": "object", "properties": {"wordparameter": {"description": "worddescribed"}}},
    )
    fields = ("name", "description", "hint", "parameter", "described", "server")
    assert {field for field in fields if found(name, [tool], f"word{field}")} == SEEN[name]


@pytest.mark.parametrize("name", NAMES)
def test_ties_go_by_name_whatever_the_order_of_the_catalog(name: str) -> None:
    """Every order of a catalog gives one ranking."""
    tools = [Tool(name=each, description="Read it.") for each in ("td", "ta", "tc", "tb")]
    rankings = {tuple(found(name, order, "read", 3)) for order in itertools.permutations(tools)}
    assert rankings == {("ta", "tb", "tc")}


@pytest.mark.parametrize("name", NAMES)
def test_of_tools_with_one_name_the_first_counts(name: str) -> None:
    """A name that comes twice is found once, by the text of its first tool."""
    tools = [Tool(name="same", description="red"), Tool(name="same", description="blue"), Tool(name="other")]
    assert found(name, tools, "red") == ["same"]
    assert found(name, tools, "blue") == []


ODD = ("search_tools", "call_tool", "!!!", "文件", "a b\x00c", "x" * 300, "search_tools_", "half\ud800", "\n")


@pytest.mark.parametrize("name", NAMES)
def test_odd_names_are_given_back_as_they_are(name: str) -> None:
    """Names that the libraries keep for themselves, can't write down or warn of are found under their own form."""
    tools = [Tool(name=each, description="Read it.") for each in ODD]
    assert sorted(found(name, tools, "read")) == sorted(ODD)


SCHEMAS: tuple[Any, ...] = (
    {},
    {"properties": None},
    {"properties": ["path"]},
    {"properties": {"path": None, "mode": True, "size": {"description": 7}, "kind": {"description": None}}},
    {"properties": {7: {"description": "half \ud800"}}},
    {"$ref": "#/$defs/none", "properties": {"path": {"$ref": "#/$defs/none"}}},
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
def test_odd_schemas_break_nothing(name: str, schema: Mapping[str, Any]) -> None:
    """A tool with any schema is found by its description."""
    tools = [Tool(name="reader", description="Read it.", input_schema=schema)]
    assert found(name, tools, "read") == ["reader"]


@pytest.mark.parametrize("name", NAMES)
def test_poor_queries_find_nothing(name: str) -> None:
    """A query without a word matches no tool, though an empty pattern would match every one."""
    ranker = resolve_ranker(name)
    ranker.index([Tool(name="read_file", description="Read it.")])
    assert [list(answer) for answer in ranker.rank(["", " ", "?!", "\x00", "\ud800", "(", ".*"], 10)] == [[]] * 7


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_catalog_finds_nothing(name: str) -> None:
    """No tools, no results, also after a catalog with tools."""
    ranker = resolve_ranker(name)
    ranker.index([Tool(name="read_file")])
    ranker.index([])
    assert [list(answer) for answer in ranker.rank(["read", ""], 10)] == [[], []]


@pytest.mark.parametrize("name", NAMES)
def test_the_depth_may_change_between_calls(name: str) -> None:
    """Each call gives as many results as it asks for, more than the libraries' own five or ten too."""
    ranker = resolve_ranker(name)
    ranker.index([Tool(name=f"read_{number:02}") for number in range(30)])
    assert [len(ranker.rank(["read"], depth)[0]) for depth in (1, 25, 3, 40)] == [1, 25, 3, 30]
    assert [name for name, _ in ranker.rank(["read"], 2)[0]] == ["read_00", "read_01"]


@pytest.mark.parametrize("name", NAMES)
def test_it_works_inside_a_running_loop(name: str) -> None:
    """Also where an event loop runs already, as in a notebook, results are the same."""
    tools = [Tool(name="read_file", description="Read it."), Tool(name="send_mail")]

    async def inside() -> list[str]:
        return found(name, tools, "read")

    assert asyncio.run(inside()) == ["read_file"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_said_about_names(
    name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Names outside the protocol's recommendation, which data sets hold many of, fill no screen."""
    with caplog.at_level(logging.WARNING):
        assert found(name, [Tool(name="GET /albums/{id}", description="Read it.")], "read") == ["GET /albums/{id}"]
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("mcp.shared.tool_name_validation").level == logging.NOTSET


def test_fastmcp_itself_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The results are those of FastMCP's transforms: where they find the last tool only, so do the rankers."""
    from fastmcp.server.transforms.search import BM25SearchTransform, RegexSearchTransform

    async def last(_: object, tools: Sequence[Any], query: str) -> Sequence[Any]:
        assert query
        return tools[-1:]

    monkeypatch.setattr(BM25SearchTransform, "_search", last)
    monkeypatch.setattr(RegexSearchTransform, "_search", last)
    for name in ("fastmcp-bm25", "fastmcp-regex"):
        assert found(name, [Tool(name="aa"), Tool(name="bb")], "aa") == ["bb"]


def test_pydantic_ai_itself_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The results are those of pydantic-ai's toolset: where it finds one tool, so does the ranker."""
    from pydantic_ai.capabilities import ToolSearch
    from pydantic_ai.toolsets import ExternalToolset

    wrapper = type(ToolSearch[None]().get_wrapper_toolset(ExternalToolset([])))
    calls: list[Any] = []

    async def one(_: object, name: str, arguments: Any, *__: object) -> Any:
        calls.append((name, arguments))
        return {"discovered_tools": [{"name": "bb"}]}

    monkeypatch.setattr(wrapper, "call_tool", one)
    assert found("pydantic-ai", [Tool(name="aa"), Tool(name="bb")], "aa") == ["bb"]
    assert calls[-1] == ("search_tools", {"queries": ["aa"]})


def test_toolpicker_itself_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The results are those of toolpicker's selection: where it finds the last tool only, so does the ranker."""
    from toolpicker import ToolPicker

    def last(self: Any, query: str, *, k: int) -> list[Any]:
        assert (query, k) == ("aa", 10)
        return list(self.tools[-1:])

    monkeypatch.setattr(ToolPicker, "select", last)
    assert found("toolpicker", [Tool(name="aa"), Tool(name="bb")], "aa") == ["bb"]


def test_fastmcp_finds_the_same_with_whole_schemas() -> None:
    """A server with the tools as they are, types and nested schemas too, answers as the ranker does."""
    from fastmcp import FastMCP
    from fastmcp.server.transforms.search import BM25SearchTransform
    from fastmcp.tools import Tool as FastMcpTool

    data = load_data("tiny")
    server: FastMCP[Any] = FastMCP("whole")
    for tool in sorted(data.tools, key=lambda tool: tool.name):
        description = " ".join(filter(None, [tool.description, tool.search_hint]))
        server.add_tool(FastMcpTool(name=tool.name, description=description, parameters=dict(tool.input_schema or {})))
    server.add_transform(BM25SearchTransform(max_results=10))
    queries = [query.text for query in data.queries]
    assert queries

    async def search(query: str) -> list[str]:
        answer = await server.call_tool("search_tools", {"query": query})
        return [each["name"] for each in (answer.structured_content or {})["result"]]

    expected = [asyncio.run(search(query)) for query in queries]
    ranker = resolve_ranker("fastmcp-bm25")
    ranker.index(data.tools)
    assert [[name for name, _ in answer] for answer in ranker.rank(queries, 10)] == expected
    assert any(expected)


def test_toolpicker_finds_the_same_with_whole_schemas() -> None:
    """A picker over the tools as they are, types and nested schemas too, answers as the ranker does."""
    from toolpicker import FunctionSchemaSource, ToolPicker

    data = load_data("tiny")
    tools = sorted(data.tools, key=lambda tool: tool.name)
    schemas = [
        {"name": tool.name, "description": tool.description or "", "parameters": dict(tool.input_schema or {})}
        for tool in tools
    ]
    keywords = {tool.name: [tool.search_hint] for tool in tools if tool.search_hint}
    picker = ToolPicker(FunctionSchemaSource(schemas, keywords=keywords))
    queries = [query.text for query in data.queries]
    expected = [[tool.id for tool in picker.select(query, k=10)] for query in queries]
    ranker = resolve_ranker("toolpicker")
    ranker.index(data.tools)
    assert [[name for name, _ in answer] for answer in ranker.rank(queries, 10)] == expected
    assert any(expected)


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("fastmcp-bm25", "fastmcp"),
        ("fastmcp-regex", "fastmcp"),
        ("pydantic-ai", "pydantic_ai"),
        ("toolpicker", "toolpicker"),
    ],
)
def test_without_its_library_one_line_and_the_rest_goes_on(
    name: str, library: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A peer that is not installed is told in one line, the others are judged, and the exit code says it."""
    monkeypatch.setitem(sys.modules, library, None)
    assert main(["eval", "--data", "tiny", "--split", "all", "--ranker", name, "--ranker", "regex"]) == 2
    output = capsys.readouterr()
    expected = f"the ranker {name!r} needs {library}, which is not installed; install toolsearch[peers]."
    assert [line for line in output.err.splitlines() if library in line] == [f"warning: {expected}"]
    assert "Traceback" not in output.err
    assert [line.split()[0] for line in output.out.splitlines() if line.startswith(("regex", name))] == ["regex"] * 2


def test_the_system_does_without_them() -> None:
    """Asking for a ranker of our own loads no peer's library."""
    code = (
        "import sys; from toolsearch_eval.rankers import resolve_ranker; resolve_ranker('default'); "
        "print([m for m in ('fastmcp', 'pydantic_ai', 'toolpicker', 'sentence_transformers', 'mcp') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
