"""Small catalogs and every valid configuration, for the tests of the search."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, FieldValues, SearchConfig

Strategy = st.SearchStrategy

VERBS = ("send", "list", "create", "delete", "read", "web", "the")
NOUNS = ("message", "file", "issue", "page", "server", "channel", "do")
SERVERS = (None, "chat", "mail", "web page")
EXPANSIONS = (
    "synonym_weight",
    "near_synonym_weight",
    "abbreviation_weight",
    "translation_weight",
    "loose_translation_weight",
    "filler_weight",
    "number_weight",
    "spelling_weight",
    "related_weight",
    "dictionary_weight",
    "expansion_frequency",
    "server_share",
)
SHAPES = ("{0}_{1}", "{0}-{1}", "{0}{2}", "{0}.{1}", "{0}", "{0}{1}")


@pytest.fixture(scope="session")
def configs() -> Strategy[SearchConfig]:
    """Every valid `standard` configuration, the extremes too."""
    weight = st.one_of(st.just(0.0), st.floats(0.0, 20.0), st.sampled_from([1e-9, 1e6]))
    share = st.floats(0.0, 1.0)

    def by_field(values: Strategy[float]) -> Strategy[FieldValues]:
        return st.builds(
            FieldValues,
            name=values,
            server=values,
            hint=values,
            description=values,
            parameter_names=values,
            parameter_descriptions=values,
        )

    weights = st.tuples(weight, weight).filter(lambda pair: sum(pair) > 0)
    return st.builds(
        lambda pair, **settings: DEFAULT.replace(weight_keyword=pair[0], weight_tfidf=pair[1], **settings),
        weights,
        field_weights=by_field(weight),
        keyword_points=by_field(weight),
        saturation=st.floats(0.01, 10.0),
        length_normalisation=by_field(share),
        length_cap=st.floats(1.0, 100.0),
        joined_weight=share,
        stop_word_weight=share,
        character_weight=share,
        keyword_idf_power=share,
        **{label: st.one_of(st.just(0.0), share) for label in EXPANSIONS},
        confidence_bound=share,
    )


@pytest.fixture(scope="session")
def tools() -> Strategy[Tool]:
    """One tool out of few words, so that names, servers and words meet often."""

    def tool(
        verb: str, noun: str, shape: str, server: str | None, description: str, hint: str | None, parameter: str
    ) -> Tool:
        name = shape.format(verb, noun, noun.capitalize())
        schema = {"type": "object", "properties": {parameter: {"type": "string", "description": "the " + parameter}}}
        return Tool(name=name, server=server, description=description, search_hint=hint, input_schema=schema)

    words = st.lists(st.sampled_from(VERBS + NOUNS + ("发送", "消息")), max_size=6).map(" ".join)
    return st.builds(
        tool,
        verb=st.sampled_from(VERBS),
        noun=st.sampled_from(NOUNS),
        shape=st.sampled_from(SHAPES),
        server=st.sampled_from(SERVERS),
        description=words,
        hint=st.one_of(st.none(), words),
        parameter=st.sampled_from(NOUNS),
    )


@pytest.fixture(scope="session")
def catalogs(tools: Strategy[Tool]) -> Strategy[list[Tool]]:
    """Up to 14 tools; one name may stand on several servers."""
    return st.lists(tools, max_size=14, unique_by=lambda tool: (tool.server, tool.name))


@pytest.fixture(scope="session")
def queries() -> Strategy[str]:
    """Queries of the same words, some required, written as identifiers, misspelt, foreign or unknown."""
    word = st.sampled_from(
        VERBS + NOUNS + ("messages", "webpage", "发送消息", "sendMessage", "list_file", "zzz", "mesage", "添加文件")
    )
    marked = st.one_of(word, word.map("+".__add__))
    return st.lists(marked, min_size=1, max_size=6).map(" ".join)
