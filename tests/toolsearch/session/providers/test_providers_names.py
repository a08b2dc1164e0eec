"""Names are mapped so that every provider accepts them, and back without loss."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.session.providers.names import (
    ANTHROPIC_NAMES,
    ANTHROPIC_PARAMETERS,
    GEMINI_NAMES,
    GEMINI_PARAMETERS,
    OPENAI_NAMES,
    NameMap,
    NameRule,
    map_names,
)

RULES = {
    "anthropic": (ANTHROPIC_NAMES, r"[a-zA-Z0-9_-]{1,128}"),
    "openai": (OPENAI_NAMES, r"[a-zA-Z0-9_-]{1,64}"),
    "gemini": (GEMINI_NAMES, r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}"),
    "anthropic parameters": (ANTHROPIC_PARAMETERS, r"[a-zA-Z0-9_.-]{1,64}"),
    "gemini parameters": (GEMINI_PARAMETERS, r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"),
}
ALPHABET = "abzAZ09_-.: 发é\n\ud800"
many = st.lists(st.text(ALPHABET, min_size=1, max_size=6), max_size=12)


@pytest.mark.parametrize("rule", RULES)
@given(names=many, long=st.integers(60, 140))
def test_every_name_is_accepted_and_no_two_are_one(rule: str, names: list[str], long: int) -> None:
    """Whatever the names, the provider's pattern holds, and each name has one of its own."""
    accepted, pattern = RULES[rule]
    names = [*names, "a" * long, "a" * (long + 1)]
    sent = map_names(names, accepted)
    assert sent.keys() == set(names)
    assert all(re.fullmatch(pattern, name) for name in sent.values())
    assert len(set(sent.values())) == len(sent)


@pytest.mark.parametrize("rule", RULES)
@given(names=many)
def test_a_fit_name_stays_and_order_and_company_change_nothing(rule: str, names: list[str]) -> None:
    """A name that fits goes as it is; reversed, the same names are called the same."""
    accepted, pattern = RULES[rule]
    sent = map_names(names, accepted)
    assert map_names(reversed(names), accepted) == sent
    assert all(sent[name] == name for name in names if re.fullmatch(pattern, name))
    assert all(map_names([name], accepted)[name] == sent[name] for name in names if accepted.mapped(name) not in names)


def test_a_name_made_to_look_like_a_mapped_one_takes_nothing_from_it() -> None:
    """A server that names its tool as another one's mapped form gets that name, and the other a third."""
    stolen = OPENAI_NAMES.mapped("todo.add")
    names = NameMap(map_names(["todo.add", stolen], OPENAI_NAMES))
    assert names.to_sent(stolen) == stolen
    assert names.to_sent("todo.add") != stolen
    assert [names.to_tool(names.to_sent(name)) for name in ("todo.add", stolen)] == ["todo.add", stolen]


def test_names_equal_after_cleaning_stay_apart() -> None:
    """`todo.add`, `todo/add` and `todo add` are three tools."""
    assert len(set(map_names(["todo.add", "todo/add", "todo add", "todo_add"], OPENAI_NAMES).values())) == 4


def test_a_mapped_name_stays_readable() -> None:
    """What is readable of a name comes first, for the model and for whoever reads a log."""
    assert map_names(["mcp__web page__get.it"], OPENAI_NAMES)["mcp__web page__get.it"].startswith(
        "mcp__web_page__get_it_"
    )
    assert GEMINI_NAMES.mapped("7 days").startswith("t_7_days_")
    assert re.fullmatch(r"t_[0-9a-f]{10}", ANTHROPIC_NAMES.mapped("发送"))


def test_a_name_that_was_not_mapped_passes() -> None:
    """A model that calls what is not in the request is understood by the name it used."""
    assert NameMap().to_sent("x.y") == "x.y"
    assert NameMap().to_tool("x.y") == "x.y"


def test_arguments_come_back_under_their_real_names() -> None:
    """A mapped parameter is renamed in a call; the real name wins over it; a raw string is left alone."""
    names = NameMap({}, {"list": {"filter_id_1": "filter[id]"}})
    assert names.arguments("list", {"filter_id_1": 1, "a": 2}) == {"filter[id]": 1, "a": 2}
    assert names.arguments("list", {"filter_id_1": 1, "filter[id]": 2}) == {"filter[id]": 2}
    assert names.arguments("list", "raw") == "raw"
    assert names.arguments("other", {"filter_id_1": 1}) == {"filter_id_1": 1}


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", "auto"),
        ({"type": "tool", "name": "todo.add"}, {"type": "tool", "name": "SENT"}),
        (
            {"type": "function", "function": {"name": "todo.add"}},
            {"type": "function", "function": {"name": "SENT"}},
        ),
        (
            {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["todo.add", "x"]}},
            {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["SENT", "x"]}},
        ),
        (
            {"type": "allowed_tools", "tools": [{"name": "todo.add"}]},
            {"type": "allowed_tools", "tools": [{"name": "SENT"}]},
        ),
    ],
)
def test_a_choice_of_tools_is_sent_under_the_providers_names(choice: object, sent: object) -> None:
    """The host names a tool as it knows it, in every form of the option."""
    assert NameMap({"todo.add": "SENT"}).choice(choice) == sent


def test_a_digit_first_is_fit_where_it_may_be() -> None:
    """Only a rule that wants a letter first maps a name for its first character."""
    assert NameRule("_-", 64).fits("7days")
    assert not NameRule("_-", 64, first=True).fits("7days")
