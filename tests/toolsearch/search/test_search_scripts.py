from __future__ import annotations

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.search.analysis.standard import fold, joined_key, normalise, words
from toolsearch.search.searcher import Searcher


def found(query: str, *texts: str) -> list[str]:
    """Which of the texts, as descriptions of tools `0`, `1` and so on, are found."""
    tools = [Tool(name=f"tool{number}", description=text) for number, text in enumerate(texts)]
    return [result.name for result in Searcher(tools).search(query).results]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("发", "发送消息给用户"),
        ("发送", "发送消息给用户"),
        ("发送消息", "发送消息给用户"),
        ("请帮我发送一条消息", "发送消息给用户"),
        ("送信", "メッセージを送信する"),
        ("メッセージ", "メッセージを送信する"),
        ("ﾒｯｾｰｼﾞ", "メッセージを送信する"),
        ("する", "メッセージを送信する"),
        ("메시지", "메시지를 보내다"),
        ("보", "메시지를 보내다"),
        ("сообщение", "отправить сообщение"),
        ("ОТПРАВИТЬ", "отправить сообщение"),
        ("μήνυμα", "στείλε ΜΗΝΥΜΑ"),
        ("رسالة", "أرسل رسالة"),
        ("ارسل", "أرسل رسالة"),
        ("رِسَالَة", "أرسل رسالة"),
        ("ข้อความ", "ส่งข้อความ"),
        ("ส่ง", "ส่งข้อความ"),
        ("संदेश", "संदेश भेजें।"),
        ("भेजें", "संदेश भेजें।"),
        ("שלום", "שָׁלוֹם עולם"),
        ("resume", "Résumé naïf"),
        ("RÉSUMÉ", "resume"),
        ("re\u0301sume\u0301", "résumé"),
        ("Strasse", "die Straße"),
        ("istanbul", "İSTANBUL"),
        ("ｓｅｎｄ", "send it"),
        ("send", "ＳＥＮＤ it"),
        ("file", "ﬁle"),
        ("发送email", "发送 email"),
        ("email", "发送email消息"),
    ],
)
def test_a_query_of_any_script_finds_its_text_alone(query: str, text: str) -> None:
    """Every script yields terms, whatever the case, width, accents or composition."""
    assert found(query, "zzz qqq", text) == ["tool1"]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_han_text_is_found_by_any_number_of_its_characters(count: int) -> None:
    """One, two or many Chinese characters in a row find the text that has them."""
    text = "创建日历事件"
    for start in range(len(text) - count + 1):
        assert found(text[start : start + count], "删除旧货", text) == ["tool1"]


def test_more_characters_in_the_right_order_rank_higher() -> None:
    """A text with the query's characters side by side is ahead of one with the characters apart."""
    assert found("发送消息", "消失的休息地点，送达后发出", "发送消息")[0] == "tool1"


@pytest.mark.parametrize("invisible", ["\u200f", "\u200e", "\u00ad", "\u200d", "\u200c", "\ufeff", "\u202e", "\u2066"])
def test_invisible_characters_change_nothing(invisible: str) -> None:
    """Direction marks, joiners, soft hyphens and byte order marks neither part words nor hide a plus sign."""
    assert normalise(f"{invisible}se{invisible}nd{invisible}") == "send"
    assert found(f"{invisible}+me{invisible}ssage", "send", "mes" + invisible + "sage") == ["tool1"]


def test_a_zero_width_space_parts_words() -> None:
    """The zero-width space stands between words."""
    assert [word.plain for word in words("send\u200bmessage")] == ["send", "message"]


@pytest.mark.parametrize(("one", "other"), [("กิ", "ก"), ("की", "का"), ("отправить", "отправит"), ("発", "发")])
def test_names_of_other_letters_stay_apart(one: str, other: str) -> None:
    """Two names are equal after splitting only when their letters, signs and digits are equal."""
    assert joined_key(one) != joined_key(other)


@pytest.mark.parametrize("text", ["sendMessage", "Ünï-Çøde", "Straße", "İstanbul", "ΣΊΣΥΦΟΣ", "ｶﾞｷﾞ", "أرسل", "Việt"])
def test_folding_twice_is_folding_once(text: str) -> None:
    """Folded text stays as it is."""
    assert fold(fold(text)) == fold(text)
