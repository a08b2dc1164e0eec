"""Why a query moved: which tools are spoken of, and that the parts add up to the score that was judged."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.config import PROFILES
from toolsearch.errors import UnknownNameError
from toolsearch.search.results import Part
from toolsearch_eval.compare import Moved
from toolsearch_eval.data import Query, load_data
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.rankers.profiles import ProfileRanker
from toolsearch_eval.rankers.resolve import SHIPPED
from toolsearch_eval.reasons import (
    MOST_TOOLS,
    Side,
    explainer,
    reasons_for,
    side_text,
    silent_explainer,
    tools_concerned,
)


def moved(a: Sequence[str], b: Sequence[str], grades: dict[str, int]) -> Moved:
    """A query with two rankings."""
    return Moved(
        query=Query(query_id="q", text="t"), a=0.0, b=1.0, ranking_a=tuple(a), ranking_b=tuple(b), grades=grades
    )


CASES = [
    ("needed first, then what stands on top", "xa", "ax", {"a": 2}, "ax"),
    ("a tool that stayed is not why", "axb", "abx", {"a": 2, "b": 1}, "ba"),
    ("what came and what went", "xy", "za", {"a": 2, "y": 1}, "ayxz"),
    ("a lower grade after what does the job", "xab", "bxa", {"a": 2, "b": 1}, "abx"),
    ("nothing on one side", "", "a", {"a": 2}, "a"),
    ("never more than a few", "", "abcdefgh", dict.fromkeys("abcdefgh", 2), "abcd"),
    ("a grade of 0 is not why", "xn", "nx", {"a": 2, "n": 0}, "xn"),
]


@pytest.mark.parametrize(("a", "b", "grades", "expected"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_the_tools_that_a_move_is_about(a: str, b: str, grades: dict[str, int], expected: str) -> None:
    """What is needed and moved, then other judged tools that moved, then what stands first on either side."""
    assert "".join(tools_concerned(moved(a, b, grades))) == expected


@given(
    st.permutations("abcdef"), st.permutations("abcdef"), st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 2))
)
def test_the_tools_concerned_are_few_and_each_once(a: list[str], b: list[str], grades: dict[str, int]) -> None:
    """Whatever moved, at most a few tools of the two rankings are named."""
    names = tools_concerned(moved(a, b, grades))
    assert 0 < len(names) <= MOST_TOOLS
    assert len(set(names)) == len(names)
    assert set(names) <= set(a) | set(b)


@pytest.mark.parametrize("name", ["reference", "default", "reference:tfidf", "default:keyword"])
def test_the_parts_add_up_to_the_score_that_was_judged(name: str) -> None:
    """For every query of a set, shallow and deep, and every tool that was found, the parts' sum is the ranking's score, to the last bit."""
    data = load_data("tiny")
    ranker = resolve_ranker(name)
    ranker.index(data.tools)
    texts = [query.text for query in data.queries]
    seen = 0
    for depth in (1, 3, 10):
        ask = explainer(ranker, depth)
        for text, results in zip(texts, ranker.rank(texts, depth), strict=True):
            for tool, score in results:
                side = ask(text, tool)
                assert side.score == score
                assert math.fsum(part.value for part in side.parts) == score
                seen += 1
    assert seen > 50


def test_a_tool_that_was_not_found_has_words_and_no_score_to_speak_of() -> None:
    """The explanation says why it was not found; a tool that is not there is told with near names."""
    ranker = ProfileRanker("default", PROFILES["default"])
    ranker.index([Tool(name="send_mail", description="Sends a mail."), Tool(name="read_file", description="Reads.")])
    side = explainer(ranker, 10)("zebra quagga", "read_file")
    assert (side.score, side.parts) == (0.0, ())
    assert side.why.startswith("read_file was not found: it shares no term with the query")
    with pytest.raises(UnknownNameError, match="unknown tool 'read_fil'"):
        ranker.explain("x", "read_fil")


def test_names_are_those_that_the_catalog_has() -> None:
    """A server's tool whose name is reserved is searched under its full id, and is explained under its own name."""
    ranker = ProfileRanker("default", PROFILES["default"])
    ranker.index([Tool(name="Bash", server="shell", description="Runs commands."), Tool(name="other")])
    [[(name, score)]] = ranker.rank(["runs commands"], 10)
    found = ranker.explain("runs commands", name)
    assert (name, found.tool, found.score) == ("Bash", "Bash", score)


@pytest.mark.parametrize("name", [name for name in SHIPPED if name in ("bm25f", "regex")])
def test_who_cannot_explain_says_so(name: str) -> None:
    """A ranker without explanations gives no parts and a line."""
    assert explainer(resolve_ranker(name), 10)("x", "y") == Side(why=f"{name} can't say what a score is made of")


def test_a_reason_has_the_rank_on_both_sides() -> None:
    """The rank is that of the ranking which was judged, or none; the grade is the label's."""
    found = reasons_for(moved("xa", "a", {"a": 2}), silent_explainer("one"), silent_explainer("two"))
    assert [reason.to_json() for reason in found] == [
        {
            "tool": "a",
            "grade": 2,
            "a": {"rank": 2, "score": None, "why": "one", "parts": None},
            "b": {"rank": 1, "score": None, "why": "two", "parts": None},
        },
        {
            "tool": "x",
            "grade": None,
            "a": {"rank": 1, "score": None, "why": "one", "parts": None},
            "b": {"rank": None, "score": None, "why": "two", "parts": None},
        },
    ]


def test_a_line_shows_the_largest_parts_and_counts_the_rest() -> None:
    """Of many parts the first few are written out."""
    parts = tuple(Part(arm="tfidf", field="", term=term, value=0.1) for term in "abcdef")
    assert side_text(Side(rank=1, score=0.6, parts=parts)) == (
        "rank 1, 0.600 = tfidf a 0.100 + tfidf b 0.100 + tfidf c 0.100 + tfidf d 0.100 + 2 more"
    )
    assert side_text(Side()) == "no rank"
