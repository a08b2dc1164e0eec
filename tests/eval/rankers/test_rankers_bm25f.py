"""The yardstick against its recipe, worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch_eval.rankers.bm25f import STOP_WORDS, PlainBM25F, terms_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("readFiles", ["read", "file"]),
        ("HTTPServer2go", ["http", "server", "2", "go"]),
        ("list_all-open.issues/by:user", ["list", "all", "open", "issu", "by", "user"]),
        ("ＦＵＬＬ　ｗｉｄｔｈ", ["full", "width"]),
        ("Café Übersicht façade", ["café", "übersicht", "façad"]),
        ("APIs parseXMLDoc ΑΒΓ", ["ap", "is", "pars", "xml", "doc", "αβγ"]),
        ("٣files", ["٣", "file"]),
        ("读取文件", ["读", "取", "文", "件", "读取", "取文", "文件"]),
        ("PDF转换", ["pdf", "转", "换", "转换"]),
        ("カタカナ", ["カ", "タ", "カ", "ナ", "カタ", "タカ", "カナ"]),
        ("검색", ["검", "색", "검색"]),
        ("", []),
        ("!?. _", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    """Identifiers are split at every border, words are stemmed, characters of Han, kana and Hangul stand alone and in pairs."""
    assert terms_of(text, drop_stop_words=False) == expected


def test_stop_words_are_dropped_where_asked() -> None:
    """About ninety English words carry nothing in a query or a text; in a name they stay."""
    assert terms_of("What is the way to send it", drop_stop_words=True) == ["way", "send"]
    assert terms_of("what_is_new", drop_stop_words=False) == ["what", "is", "new"]
    assert 80 <= len(STOP_WORDS) <= 130


def test_one_score_worked_out_by_hand() -> None:
    """Two tools, one term in two fields of one of them: the score is that of the recipe on paper."""
    tools = [
        Tool(name="mail", server="post", description="mail mail box"),
        Tool(name="disk", server="file", description="store"),
    ]
    ranker = PlainBM25F()
    ranker.index(tools)
    # `mail`: once in the name (length 1 of mean 1), twice in the description (length 3 of mean 2).
    frequency = 2.5 * 1 / (1 - 0.3 + 0.3 * 1 / 1) + 1.0 * 2 / (1 - 0.75 + 0.75 * 3 / 2)
    inverse = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    expected = inverse * frequency * (1.2 + 1) / (frequency + 1.2)
    [[(name, score)]] = ranker.rank(["mail"], 5)
    assert name == "mail"
    assert score == pytest.approx(expected, abs=1e-9)
    # A word three times in a query weighs sqrt(2) of once.
    assert ranker.rank(["mail mail mail"], 5)[0][0][1] == pytest.approx(expected * math.sqrt(2), abs=1e-9)


def test_parameters_count_nested_ones_too() -> None:
    """Names, descriptions and enum values of parameters are found, at any depth and in every branch of a choice."""
    schema = {
        "properties": {
            "alpha": {"description": "bravo", "enum": ["charlie", 5]},
            "list": {"items": {"properties": {"delta": {"description": "echo"}}}},
            "choice": {"anyOf": [{"properties": {"foxtrot": {}}}, {"oneOf": [{"properties": {"golf": {}}}]}]},
        }
    }
    ranker = PlainBM25F()
    ranker.index([Tool(name="x", input_schema=schema), Tool(name="y")])
    queries = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf"]
    assert [[name for name, _ in answer] for answer in ranker.rank(queries, 5)] == [["x"]] * 7


HOSTILE: list[Any] = [
    {"properties": "text"},
    {"properties": {"a": 5, "b": None, "c": [1], "d": True}},
    {"properties": {"a": {"enum": "abc", "description": 5}}},
    {"anyOf": {"x": 1}, "oneOf": "abc", "items": [1]},
    {"properties": {"a": {"enum": list(range(20_000))}}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
]


@pytest.mark.parametrize("schema", HOSTILE, ids=range(len(HOSTILE)))
def test_odd_schemas_are_read_as_far_as_they_make_sense(schema: Any) -> None:
    """A schema that is none gives no error, and a huge one is cut."""
    ranker = PlainBM25F()
    ranker.index([Tool(name="find_me", input_schema=schema)])
    assert ranker.rank(["find me"], 5)[0][0][0] == "find_me"


def test_a_deeply_nested_schema_is_cut() -> None:
    """Nesting beyond all sense ends somewhere instead of the interpreter's stack."""
    schema: dict[str, Any] = {}
    for _ in range(5_000):
        schema = {"properties": {"deep": schema}}
    ranker = PlainBM25F()
    ranker.index([Tool(name="x", input_schema=schema)])
    assert ranker.rank(["deep"], 5)[0][0][0] == "x"


def test_long_texts_are_cut() -> None:
    """Of a description the first 400 terms count, of what is said of parameters the first 300."""
    description = " ".join(f"word{number}x" for number in range(200)) + " kilo"
    tools = [
        Tool(name="a", description=" ".join(["alpha"] * 400) + " lima"),
        Tool(name="b", description=description),
        Tool(name="c", input_schema={"properties": {"p": {"description": "bravo " * 300 + "mike"}}}),
    ]
    ranker = PlainBM25F()
    ranker.index(tools)
    found = [[name for name, _ in answer] for answer in ranker.rank(["alpha", "lima", "kilo", "bravo", "mike"], 5)]
    assert found == [["a"], [], [], ["c"], []]


@given(
    texts=st.lists(st.sampled_from(["send mail", "send a file", "mail", "file", "", "发送"]), min_size=1, max_size=8),
    query=st.sampled_from(["send", "mail file", "发送", "nothing", ""]),
    depth=st.integers(1, 9),
)
def test_a_short_answer_is_the_beginning_of_a_long_one(texts: list[str], query: str, depth: int) -> None:
    """Cutting the results changes nothing of those that stay, ties included."""
    ranker = PlainBM25F()
    ranker.index([Tool(name=f"tool{number}", description=text) for number, text in enumerate(texts)])
    [short], [full] = ranker.rank([query], depth), ranker.rank([query], 99)
    assert short == full[:depth]
    assert full == sorted(full, key=lambda result: (-result[1], result[0]))
    assert all(score > 0 for _, score in full)
