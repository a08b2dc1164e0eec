from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.builtin import builtin_catalog
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.search.searcher import Searcher
from toolsearch.tokens import ESTIMATE, TokenCounter, token_counter
from toolsearch.tools.found import SearchAnswer
from toolsearch.tools.render import SMALLEST_BUDGET
from toolsearch.tools.search_tool import SearchTool
from toolsearch.tools.servers import SERVER_STATES, ServerStatus

WILD = st.text(
    st.one_of(
        st.characters(), st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), st.sampled_from("<>/\"',+:\n ")
    ),
    max_size=60,
)
WORDS = st.lists(
    st.sampled_from(
        [
            "send",
            "message",
            "cron",
            "Create",
            "the",
            "+list",
            "+x",
            "file",
            "Read",
            "发送",
            "select:",
            "discover:",
            "list:",
            "chat",
        ]
    ),
    max_size=6,
).map(" ".join)
NAMES = st.sampled_from(["CronCreate", "Read", "send_message", "list", "nope", "a,b", '"', "mcp__chat__list", "<b>"])
QUERIES = st.one_of(
    WILD,
    WORDS,
    st.tuples(st.sampled_from(["select:", " SELECT :", "discover:", "list:", "+", ""]), WILD).map("".join),
    st.lists(NAMES, max_size=5).map(lambda names: "select:" + ",".join(names)),
    st.sampled_from(["chat", "mail", "web page"]).map("list:".__add__),
)
SCHEMAS = st.one_of(
    st.none(),
    st.dictionaries(
        st.one_of(WILD, st.just("to")),
        st.fixed_dictionaries({}, optional={"type": st.sampled_from(["string", "</tool>"]), "description": WILD}),
        max_size=5,
    ).flatmap(
        lambda properties: st.lists(st.sampled_from([*properties, "to"]), max_size=3).map(
            lambda required: {"type": "object", "properties": properties, "required": required}
        )
    ),
)
TOOLS = st.lists(
    st.builds(
        lambda name, server, description, schema: Tool(
            name=name, server=server, description=description, input_schema=schema
        ),
        name=st.one_of(NAMES, WILD.filter(lambda name: bool(name.strip()))),
        server=st.sampled_from([None, "chat", "mail", "web page", "</tool>"]),
        description=st.one_of(st.none(), WORDS, WILD),
        schema=SCHEMAS,
    ),
    max_size=8,
    unique_by=lambda tool: (tool.server, tool.name),
)
STATES = st.dictionaries(
    st.sampled_from(["chat", "mail", "other", "bad\nname"]),
    st.builds(ServerStatus, st.sampled_from(SERVER_STATES), WILD),
    max_size=3,
)
BLOCK = re.compile(r"<tool name=(\"(?:[^\"\\]|\\.)*\")[^\n]*>\n(.*?)\n</tool>", re.DOTALL)


def shown_blocks(answer: SearchAnswer) -> dict[str, str]:
    """The blocks of a text by the tool's name; a test may read the text, the program never does."""
    return {json.loads(match[1]): match[2] for match in BLOCK.finditer(answer.text)}


def check(answer: SearchAnswer, tool: SearchTool, counter: TokenCounter, budget: int) -> None:
    """What holds for every answer."""
    assert counter.count(answer.text) <= budget
    assert {unicodedata.category(each) for each in answer.text if each != "\n"}.isdisjoint(
        {"Cc", "Cf", "Cs", "Zl", "Zp"}
    )
    assert answer.text.count("</") == answer.text.count("\n</tool>") == answer.text.count("<tool ")
    blocks = shown_blocks(answer)
    assert set(blocks) <= {result.name for result in answer.results}
    with_parameters = {name for name, block in blocks.items() if "\nparameters: too many to be shown" not in block}
    assert set(answer.discovered) == with_parameters
    json.dumps(answer.to_json())
    suggested = {
        name for each in answer.missing if each.reason in ("unknown", "ambiguous") for name in each.suggestions
    }
    for name in {*(result.name for result in answer.results), *answer.already_loaded, *suggested}:
        again = tool.call({"query": f"select:{json.dumps(name)}"})
        assert name in [result.name for result in again.results] or name in again.already_loaded


@given(TOOLS, STATES, QUERIES, st.one_of(st.none(), st.integers(-5, 60)), st.sampled_from([SMALLEST_BUDGET, 5000]))
def test_any_query_over_any_catalog_gives_a_sound_answer(
    tools: list[Tool], states: dict[str, ServerStatus], query: str, count: int | None, budget: int
) -> None:
    """No error; within the budget; nothing unseen or forged; discovered is what is shown; every name can be selected."""
    tool = SearchTool(Searcher(ToolRegistry(tools)), servers=lambda: states, token_budget=budget)
    arguments: dict[str, Any] = {"query": query} if count is None else {"query": query, "max_results": count}
    answer = tool.call(arguments)
    check(answer, tool, ESTIMATE, budget)
    assert answer.query == query
    assert tool.call(arguments) == answer
    off = tool.call(arguments, enabled=False)
    assert (off.is_error, off.discovered, ESTIMATE.count(off.text) <= budget) == (True, (), True)


@pytest.fixture(scope="module")
def builtin() -> SearchTool:
    """The search over the built-in tools, counted with the real encoding where it is installed."""
    return SearchTool(Searcher(ToolRegistry(builtin_catalog())), counter=token_counter())


@given(query=QUERIES)
def test_any_query_over_the_shipped_catalog_gives_a_sound_answer(builtin: SearchTool, query: str) -> None:
    """The same over the built-in tools, with real counts of tokens."""
    check(builtin.call({"query": query}), builtin, token_counter(), 5000)


@pytest.mark.parametrize(
    "query",
    [
        "message " * 12_500,
        "".join(chr(0x4E00 + number % 20_000) for number in range(100_000)),
        " ".join(f"word{number}" for number in range(12_000)),
        "select:" + ",".join(f"word{number}" for number in range(12_000)),
        "x" * 100_000,
        "+" * 100_000,
        "\ud800" * 100_000,
        "\x00" * 100_000,
        "\u202e" * 100_000,
        "discover:" + "🎈" * 100_000,
        "list:" + "a" * 100_000,
        "(" * 100_000,
    ],
    ids=range(12),
)
def test_a_query_of_a_hundred_thousand_characters_is_answered(builtin: SearchTool, query: str) -> None:
    """Endless queries of every kind give a sound answer that keeps the query as it was."""
    answer = builtin.call({"query": query})
    check(answer, builtin, token_counter(), 5000)
    assert answer.query == query
