"""What a permission check or the host's callback may answer, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.tools.permissions import BEHAVIOURS, Decision, PermissionAnswer, read_answer, read_decision


@dataclass
class Answered:
    """A check's answer as an object of the host."""

    behavior: str
    message: str = ""
    updatedInput: Any = None


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        (True, Decision("allow")),
        (False, Decision("deny")),
        (None, Decision("passthrough")),
        *((each, Decision(each)) for each in BEHAVIOURS),
        ({"behavior": "ask", "message": "sure?"}, Decision("ask", "sure?")),
        ({"behaviour": "allow", "updated_input": {"a": 1}}, Decision("allow", "", {"a": 1})),
        (Answered("allow", updatedInput={}), Decision("allow", "", {})),
        (Answered("deny", "no"), Decision("deny", "no")),
        (Decision("ask"), Decision("ask")),
    ],
)
def test_every_form_of_an_answer_is_read(said: Any, decision: Decision) -> None:
    """Truth values, words, mappings and objects in either spelling mean the same."""
    assert read_decision(said) == decision


@given(
    said=st.one_of(st.text(), st.integers(), st.lists(st.none()), st.dictionaries(st.text(), st.text()), st.floats())
)
def test_what_is_no_decision_is_a_no(said: Any) -> None:
    """Nothing but a behaviour that is known can allow, and reading never raises."""
    known = said in BEHAVIOURS if isinstance(said, str) else False
    named = isinstance(said, dict) and said.get("behavior", said.get("behaviour")) in BEHAVIOURS
    assert known or named or read_decision(said).behaviour == "deny"


@pytest.mark.parametrize("said", ["ask", "passthrough", None, "yes", 1, {}])
def test_only_a_clear_yes_of_the_host_allows(said: Any) -> None:
    """A callback that asks back, has no opinion or gives anything else has not allowed."""
    assert not read_answer(said).allowed


@pytest.mark.parametrize("said", [True, "allow", {"behavior": "allow"}, PermissionAnswer(True)])
def test_a_clear_yes_of_the_host_allows(said: Any) -> None:
    """The callback's yes may have any form that a check's yes has."""
    assert read_answer(said) == PermissionAnswer(True)
