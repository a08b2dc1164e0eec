from __future__ import annotations

import pytest

from toolsearch.search.dictionary.senses import senses


@pytest.mark.parametrize(
    ("definitions", "plain", "loose"),
    [
        ("weather", ["weather"], []),
        ("to check/to inquire/to consult (a document etc)/query", ["check", "inquire", "consult"], ["query"]),
        ("to submit to sb; to be handed over", ["submit", "handed over"], []),
        ("(scheduled) flight; (scheduled) sailing", ["flight", "sailing"], []),
        ("surname Li/CL:個|个[ge4]/variant of 里[li3]/see 裡[li3]", [], []),
        ("(literary) to dispatch/(old) courier/(dialect) parcel/letter", ["letter"], []),
        ("to have the honour of being asked to come along", [], []),
        ("open source software", [], ["open source software"]),
        ("I; me; my", [], []),
        ("the same", [], []),
        ("", [], []),
    ],
)
def test_glosses_are_short_words_of_today_without_remarks(definitions: str, plain: list[str], loose: list[str]) -> None:
    """Plain are those of one or two words among the first three senses; asides, labels and function words go."""
    found = senses(definitions)
    assert [sense.text for sense in found if sense.plain] == plain
    assert [sense.text for sense in found if not sense.plain] == loose


def test_many_glosses_are_cut_to_ten() -> None:
    """Six plain ones and four others at most, each once."""
    found = senses("one; two/" + "/".join(f"{letter * 3}; {letter * 4}" for letter in "abcdefgh"))
    assert [sense.text for sense in found] == ["two", "aaa", "aaaa", "bbb", "bbbb", "ccc", "cccc", "ddd", "dddd"]
    assert len(senses(";".join(letter * 3 for letter in "abcdefgh") + "/a b c; d e f; aaa bbb ccc; ddd eee fff")) == 8
