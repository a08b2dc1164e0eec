from __future__ import annotations

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError
from toolsearch.search.lexicon.reader import LANGUAGES, Row, file_text, read_rows
from toolsearch.search.lexicon.relations import NEAR, SAME, SHORT, TRANSLATION
from toolsearch.search.lexicon.runs import segments
from toolsearch.search.lexicon.tables import compiled, languages_of, shipped
from toolsearch.search.searcher import Searcher

EVERYTHING = frozenset(range(20))


def test_the_languages_that_are_promised_ship_their_words() -> None:
    """English, the languages written without blanks and the larger European ones have a file."""
    promised = ("en", "zh", "ja", "ko", "es", "de", "fr", "pt")
    assert [language for language in promised if language not in LANGUAGES or not file_text(language)] == []


@pytest.mark.parametrize(
    ("language", "line", "says"),
    [
        ("en", "like\ta | b", "the relation is 'like'; it must be one of same, near, short"),
        ("en", "stop\tthe", "the relation is 'stop'; it must be one of same, near, short"),
        ("en", "same\tone", "a group has at least two terms"),
        ("en", "same\tone | one | two", "'one' stands twice in one row"),
        ("en", "same\tone > two | one", "'one' is its own gloss"),
        ("en", "same\tOne | two", "the term 'One' must be lower case, in NFKC and not empty"),
        ("en", "same\tone | ", "the term '' must be lower case, in NFKC and not empty"),
        ("en", "same\ta b c d e | two", "the term 'a b c d e' has more than 4 words"),
        ("zh", "short\t库\tdb", "the relation is 'short'; it must be one of same, near, stop"),
        ("zh", "same\t删除", "a row has a column of terms and a column of English glosses"),
        ("zh", "stop\t的\tthe", "a row of stop words has one column of terms"),
        ("es", "same\tｃrear\tcreate", "the term 'ｃrear' must be lower case, in NFKC and not empty"),
    ],
)
def test_a_faulty_row_is_named_with_its_line(language: str, line: str, says: str) -> None:
    """Every fault is said with path, line and what is accepted."""
    with pytest.raises(DataError) as caught:
        read_rows(language, f"# words\n{line}\n", "file.tsv")
    assert [str(problem) for problem in caught.value.problems] == [f"file.tsv:2: {says}"]


def test_all_faults_of_a_file_come_at_once() -> None:
    """Each bad row is named, in order; comments and empty lines are none."""
    with pytest.raises(DataError) as caught:
        read_rows("en", "same\tone\n\n# fine\nsame\ta | b\nlike\ta | b\n", "f")
    assert [problem.line for problem in caught.value.problems] == [1, 5]


def test_rows_are_read_with_both_their_sides() -> None:
    """A group, a one-way group and a translation."""
    assert read_rows("en", "same\tadd | create\nnear\ttext > letter | message", "f") == [
        Row("same", ("add", "create")),
        Row("near", ("text",), ("letter", "message")),
    ]
    assert read_rows("zh", "same\t删除 | 刪除\tdelete", "f") == [Row("same", ("删除", "刪除"), ("delete",))]


def test_a_group_works_in_both_directions_and_a_one_way_group_in_one() -> None:
    """The right side of a one-way group stands in catalogs for the left side of queries, never back."""
    table = compiled({"en": read_rows("en", "near\ttext > letter\nsame\tadd | create\nshort\tpr | pull request", "f")})
    shown = {key: [(gloss.terms, gloss.kind) for gloss in glosses] for key, glosses in table.english.items()}
    assert shown == {
        ("text",): [(("letter",), NEAR)],
        ("add",): [(("creat",), SAME)],
        ("creat",): [(("add",), SAME)],
        ("pr",): [(("pull", "request"), SHORT)],
        ("pull", "request"): [(("pr",), SHORT)],
    }


def test_a_translation_works_in_both_directions() -> None:
    """A foreign word gives its glosses and the other words of its row; a gloss gives the foreign words."""
    table = compiled(
        {"zh": read_rows("zh", "same\t删除 | 移除\tdelete", "f"), "es": read_rows("es", "same\tcrear\tcreate", "g")}
    )
    assert [(gloss.text, gloss.kind) for gloss in table.runs["删除"]] == [("delete", TRANSLATION), ("移除", SAME)]
    assert [(gloss.text, gloss.kind) for gloss in table.english[("delet",)]] == [
        ("删除", TRANSLATION),
        ("移除", TRANSLATION),
    ]
    assert [gloss.text for gloss in table.spaced["es"][("cre",)]] == ["create"]


def test_the_longest_term_of_a_run_is_taken() -> None:
    """A longer term hides the shorter ones in it, from left to right; what is unknown is passed over."""
    found = segments("创建合并请求鑫", EVERYTHING)
    assert [("创建合并请求鑫"[each.start : each.end]) for each in found] == ["创建", "合并请求"]


@pytest.mark.parametrize(
    ("words", "languages"),
    [
        (["send", "a", "message"], ()),
        (["enviar", "mensaje"], ("es",)),
        (["nachricht", "loschen"], ("de",)),
        (["die", "rolling", "for", "games"], ()),
        (["supprimer"], ("fr",)),
        ([], ()),
    ],
)
def test_the_language_of_a_query_is_shown_by_its_words(words: list[str], languages: tuple[str, ...]) -> None:
    """Two words that are not English, or half of all, show a language; English text shows none."""
    assert languages_of(words) == languages


CATALOG = [
    Tool(name="send_message", description="Sends a message to a user."),
    Tool(name="delete_file", description="Removes a file."),
    Tool(name="weather_forecast", description="The weather of a city."),
    Tool(name="create_event", description="Adds an event to the calendar."),
    Tool(name="convert", description="Unit conversion."),
]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("发送消息", "send_message"),
        ("帮我删除这个文件", "delete_file"),
        ("刪除檔案", "delete_file"),
        ("天气", "weather_forecast"),
        ("メッセージを送信", "send_message"),
        ("ファイルを削除してください", "delete_file"),
        ("메시지를 보내줘", "send_message"),
        ("파일 삭제", "delete_file"),
        ("enviar un mensaje", "send_message"),
        ("eliminar el archivo", "delete_file"),
        ("eine Nachricht senden", "send_message"),
        ("Datei löschen", "delete_file"),
        ("envoyer un message", "send_message"),
        ("supprimer le fichier", "delete_file"),
        ("enviar mensagem", "send_message"),
        ("excluir o arquivo", "delete_file"),
    ],
)
def test_a_query_of_another_language_finds_a_tool_described_in_english(query: str, name: str) -> None:
    """Actions and objects meet across languages, with politeness and articles around them."""
    assert Searcher(CATALOG).search(query).results[0].name == name


def test_an_english_query_finds_a_tool_described_in_another_language() -> None:
    """The same words work back: an English query meets Chinese and Spanish texts."""
    catalog = [
        Tool(name="a", description="删除文件"),
        Tool(name="b", description="Enviar un mensaje"),
        Tool(name="c", description="天气查询"),
    ]
    asked = {"delete a file": "a", "send a message": "b", "weather": "c"}
    assert {query: Searcher(catalog).search(query).results[0].name for query in asked} == asked


def test_an_exact_chinese_text_stands_before_a_translation() -> None:
    """Of a Chinese and an English tool for one thing, a Chinese query gets the Chinese one first."""
    catalog = [Tool(name="a_english", description="delete file"), Tool(name="b_chinese", description="删除文件")]
    found = Searcher(catalog).search("删除文件").results
    assert [result.name for result in found] == ["b_chinese", "a_english"]


def test_a_translated_query_can_be_answered_with_confidence() -> None:
    """Pairs of letters that no tool has don't count against a query whose words are translated."""
    answer = Searcher(CATALOG).search("删除文件")
    assert not answer.low_confidence


def test_the_shipped_lexicon_is_read_once() -> None:
    """All searches of a process share it."""
    assert shipped() is shipped()
