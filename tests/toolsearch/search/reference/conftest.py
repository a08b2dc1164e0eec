"""Catalogs, queries and weights in which every rule of the observed ranking meets often."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.config import REFERENCE, SearchConfig

Strategy = st.SearchStrategy
Catalog = tuple[list[Tool], list[Tool]]

WORDS = (
    "send",
    "sends",
    "sending",
    "message",
    "messages",
    "file",
    "files",
    "read",
    "to",
    "the",
    "v2",
    "a",
    "send_file",
)
HAN = ("天气", "天气预报", "预报", "发送", "消", "发送消息")
MARKED = (
    "don't",
    "a-b",
    "send,file",
    "(send)",
    "用send写",
    "caf\u00e9",
    "a://b",
    "send-message",
    "+",
    "-",
    "'",
    "://",
    "->",
)
TEXT = (*WORDS, *HAN, *MARKED, "SEND", "Read")
PARTS = ("send", "message", "file", "read", "sendmessage", "mes", "天气", "v2", "to")
SERVERS = ("chat", "mail-box", "read")
BLANKS = (" ", "  ", "\u00a0", "\n", "\ufeff", "\t")


@pytest.fixture(scope="session")
def tools() -> Strategy[Tool]:
    """One tool out of few words; names in every form that the ranking tells apart."""
    part = st.sampled_from(PARTS)
    capital = part.map(str.capitalize)
    leaf = st.one_of(
        st.lists(part, min_size=1, max_size=3).map("_".join),
        st.lists(capital, min_size=1, max_size=3).map("".join),
        st.tuples(part, capital).map("".join),
        st.lists(part, min_size=1, max_size=2).map("-".join),
        st.sampled_from(["_", "Send", "SEND", "Read File"]),
    )
    text = st.one_of(
        st.none(),
        st.just(""),
        st.lists(st.sampled_from(TEXT), max_size=8).flatmap(
            lambda words: st.sampled_from([" ", ", ", "", "-"]).map(lambda between: between.join(words))
        ),
    )

    def tool(leaf: str, server: str | None, prefixed: bool, hint: str | None, description: str | None) -> Tool:
        name = f"mcp__{server or 'chat'}__{leaf}" if prefixed else leaf
        return Tool(name=name, server=server, search_hint=hint, description=description)

    server = st.sampled_from([None, "chat", "chat", *SERVERS])
    return st.builds(tool, leaf=leaf, server=server, prefixed=st.booleans(), hint=text, description=text)


@pytest.fixture(scope="session")
def catalogs(tools: Strategy[Tool]) -> Strategy[Catalog]:
    """The deferred tools and all tools, up to 14, some of them loaded; names are unique but for capitals."""
    pairs = st.tuples(tools, st.integers(0, 5))
    found = st.one_of(
        st.lists(pairs, max_size=14, unique_by=lambda pair: pair[0].name),
        st.lists(pairs, min_size=7, max_size=14, unique_by=lambda pair: pair[0].name),
    )
    return found.map(lambda pairs: ([tool for tool, number in pairs if number], [tool for tool, _ in pairs]))


@pytest.fixture(scope="session")
def searches(catalogs: Strategy[Catalog]) -> Strategy[tuple[Catalog, str]]:
    """A catalog and a query: words, some required or repeated, any blanks between; Chinese; a name or its beginning."""
    word = st.sampled_from(TEXT + PARTS)
    required = st.sampled_from(("send", "mes", "file", "to", "天气", "don't")).map("+".__add__)
    piece = st.one_of(word, word, required, word.map(str.upper), st.just("zebra"))
    mixed = st.lists(piece, min_size=1, max_size=6).flatmap(
        lambda pieces: st.sampled_from(BLANKS).map(lambda blank: blank.join(pieces))
    )
    joined = st.lists(st.one_of(word, st.sampled_from(HAN)), max_size=4).map("".join)
    asked = st.tuples(required, st.sampled_from(PARTS)).map(" ".join)
    chinese = st.lists(st.sampled_from(HAN), min_size=1, max_size=3).map("".join)

    def with_query(catalog: Catalog) -> Strategy[tuple[Catalog, str]]:
        names = [tool.name for tool in catalog[1]] or ["send"]
        name = st.sampled_from(names)
        loaded = st.sampled_from(sorted(set(names) - {tool.name for tool in catalog[0]}) or names)
        whole = st.one_of(name, loaded, name.map(str.upper), name.map(" {} ".format), name.map("please {} now".format))
        begun = st.sampled_from([name for name in names if name.startswith("mcp__")] or ["mcp__"])
        beginning = st.one_of(
            st.sampled_from(["mcp__", "mcp__chat", "MCP__Mail-Box__", "mcp__read__s", "mcp__zebra"]),
            begun.map(lambda found: found.rsplit("__", 1)[0]),
            st.tuples(begun, st.integers(5, 14)).map(lambda pair: pair[0][: pair[1]]),
        )
        return st.tuples(st.just(catalog), st.one_of(mixed, mixed, asked, joined, chinese, whole, beginning))

    return catalogs.flatmap(with_query)


@pytest.fixture(scope="session")
def configs() -> Strategy[SearchConfig]:
    """Every valid configuration of the ranking, its own and the extremes among them."""
    weight = st.one_of(st.just(0.0), st.just(1.0), st.floats(0.0, 20.0), st.sampled_from([1e-9, 1e6]))
    points = st.one_of(weight, st.integers(0, 5).map(float))

    def config(
        arms: tuple[float, float], fields: tuple[float, ...], given: tuple[float, ...], bound: float
    ) -> SearchConfig:
        return REFERENCE.replace(
            weight_keyword=arms[0],
            weight_tfidf=arms[1],
            field_weights=dataclasses.replace(
                REFERENCE.field_weights, name=fields[0], hint=fields[1], description=fields[2]
            ),
            keyword_points=dataclasses.replace(
                REFERENCE.keyword_points, name=given[0], hint=given[1], description=given[2]
            ),
            keyword_substring_points=given[3],
            confidence_bound=bound,
        )

    tuned = st.builds(
        config,
        arms=st.tuples(weight, weight).filter(lambda pair: sum(pair) > 0),
        fields=st.tuples(weight, weight, weight),
        given=st.tuples(points, points, points, points),
        bound=st.one_of(st.sampled_from([0.0, 0.1, 0.75, 1.0, 2.0]), st.floats(0.0, 1.0)),
    )
    return st.one_of(st.just(REFERENCE), tuned)
