from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.tools.untrusted import CUT_MARK, neutralise, safe_json, shown_name

HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]),
        st.sampled_from("</>tolsyem-rd＜﹤\n\r\t \ufe0f\U000e0041\u3164"),
    ),
    max_size=200,
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | HOSTILE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HOSTILE, inner, max_size=3),
    max_leaves=8,
)


def unfit(text: str, allowed: str = "") -> list[str]:
    """The characters of a text that must not be shown."""
    return [
        character
        for character in text
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in allowed
    ]


@pytest.mark.parametrize(
    "forged",
    [
        "</tool>",
        "</ tool >",
        "<\n/tool>",
        "< / system-reminder>",
        "</SYSTEM-REMINDER>",
        "<system-reminder>",
        "</available-deferred-tools>",
        "</s\u00adystem-reminder>",
        "<\u200b/tool>",
        "<\x00/tool>",
        "\uff1c/tool\uff1e",
        "<|im_start|>",
        "<!-- ",
        "<",
    ],
)
def test_no_tag_can_be_opened_or_closed(forged: str) -> None:
    """A `<` that could begin a tag, in any spelling, is written as `&lt;`."""
    shown = neutralise(f"before {forged} after", limit=200).text if forged != "<" else neutralise("<", limit=200).text
    assert not set("<＜﹤") & set(shown)
    assert "&lt;" in shown


@pytest.mark.parametrize("text", ["if a <5", "x <= y", "a < 0.5", "a <-> b"])
def test_a_comparison_stays_as_it_is(text: str) -> None:
    """A `<` before a number or a sign of comparison opens no tag and is kept."""
    assert neutralise(text, limit=80).text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x00\x1bb", "a\ufffdb"),
        ("a\u202eb", "a\ufffdb"),
        ("a\ud800b", "a\ufffdb"),
        ("\U000e0049\U000e0047hidden", "\ufffdhidden"),
        ("so\u00adft na\u200dme\ufeff", "soft name"),
        ("a\u2028b\u2029c\x0bd\x85e", "a b c d e"),
        ("a \t  b\r\nc\rd", "a b c d"),
        ("e\ufe0f\ufe01x", "e\ufffdx"),
    ],
)
def test_what_can_not_be_seen_is_marked_or_gone(text: str, expected: str) -> None:
    """Controls, direction marks, tags and half surrogates become one mark; joiners go; breaks become blanks."""
    assert neutralise(text, limit=80).text == expected


def test_lines_are_kept_where_they_are_asked_for() -> None:
    """With `lines`, line breaks stay, blank lines and outer blanks of a line go."""
    assert neutralise(" one \r\n\r\n  two\tthree\r four ", limit=80, lines=True).text == "one\ntwo three\nfour"


def test_a_cut_is_visible_and_a_field_says_so() -> None:
    """A text over the limit ends with the mark, keeps whole words where it can, and is flagged."""
    cut = neutralise("alpha beta gamma delta", limit=20)
    assert (cut.text, cut.cut) == ("alpha beta… [cut]", True)
    unbroken = neutralise("x" * 50, limit=20)
    assert (unbroken.text, unbroken.cut) == ("x" * 13 + CUT_MARK, True)
    whole = neutralise("x" * 20, limit=20)
    assert (whole.text, whole.cut) == ("x" * 20, False)


def test_a_text_of_invisible_characters_alone_is_said_to_be_cut() -> None:
    """What is dropped unseen because of its length is flagged, even if nothing of it could be shown."""
    shown = neutralise("a" + "\u200d" * 100_000 + "b", limit=40)
    assert (shown.text, shown.cut) == ("a" + CUT_MARK, True)


@given(HOSTILE, st.integers(0, 60), st.booleans())
def test_any_text_comes_out_bounded_and_clean(text: str, limit: int, lines: bool) -> None:
    """Whatever goes in: nothing unseen, no opening of a tag, no more than the limit, and a second pass changes nothing."""
    shown = neutralise(text, limit=limit, lines=lines)
    assert not unfit(shown.text, "\n" if lines else "")
    assert "</" not in shown.text
    assert len(shown.text) <= max(limit, 16)
    if not shown.cut:
        assert neutralise(shown.text, limit=limit, lines=lines) == shown


@given(JSON_VALUES)
def test_safe_json_is_the_same_value_in_clean_text(value: object) -> None:
    """The JSON reads back as the value, on one line, without a raw control character or an opening of a tag."""
    text = safe_json(value)
    assert json.loads(text) == value
    assert not unfit(text)
    assert "</" not in text


@given(st.text(min_size=1, max_size=60))
def test_a_shown_name_gives_the_name_back(name: str) -> None:
    """A name stands as it is when it is plain, else as a JSON string that reads back as the name."""
    shown = shown_name(name)
    assert shown == name or json.loads(shown) == name
    assert not unfit(shown)
    assert "<" not in shown or "<" in name
    assert "</" not in shown
