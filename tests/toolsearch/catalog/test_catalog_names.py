"""Which names are fit."""

from __future__ import annotations

import pytest

from toolsearch.catalog.names import MAX_NAME_LENGTH, name_fault, shown


@pytest.mark.parametrize(
    "name", ["a", "mcp__chat__send", "发送消息", "todo.add", "two words", "é", "x" * MAX_NAME_LENGTH]
)
def test_ordinary_names_of_any_script_are_fit(name: str) -> None:
    """Scripts, dots and inner blanks are no fault."""
    assert name_fault(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "a\nb",
        "a\r",
        "a\tb",
        "a\x00",
        "a\x7f",
        "a\x85b",
        "a\u2028b",
        "a\u2029",
        "a\u202eb",
        "a\u200fb",
        "a\u200bb",
        "\ufeffa",
        "\ud800",
        "x" * (MAX_NAME_LENGTH + 1),
        "a\U000e0041",
    ],
)
def test_hostile_names_have_a_fault_that_is_safe_to_print(name: str) -> None:
    """Controls, breaks, invisible marks, surrogates and over-length are faults; the message is plain."""
    fault = name_fault(name)
    assert fault is not None
    assert fault.isprintable()
    assert shown(name).isprintable()
    shown(name).encode("utf-8")
