"""Settings of recommendations, tried by replaying."""

from __future__ import annotations

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.session.settings import SessionSettings
from toolsearch.tokens import ESTIMATE
from toolsearch_eval.conversations import AssistantEvent, Call, Conversation, ToolResultEvent, UserEvent
from toolsearch_eval.sessionlab.prefetch_tuning import (
    CONFIDENCES,
    LIMITS,
    PrefetchTuning,
    Setting,
    shipped_setting,
    try_setting,
    tune_prefetch,
    tuning_form,
)
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.providers import provider_profile
from toolsearch_eval.sessionlab.strategies import strategy

REFUND = Tool(name="mcp__pay__create_refund", description="Refund a payment to the customer.", server="pay")
CATALOG = (
    Tool(name="Bash", description="Run a command."),
    REFUND,
    Tool(name="mcp__pay__list_invoices", description="List the invoices of a customer.", server="pay"),
    Tool(name="mcp__mail__send_mail", description="Send a mail.", server="mail"),
)
HOW = strategy("stable+header+prefetch")
MINE = provider_profile("anthropic")


def conversation(name: str, split: str) -> Conversation:
    """Small talk, then a turn that names what it needs."""
    return Conversation(
        name=name,
        catalog="c",
        split=split,  # type: ignore[arg-type]
        servers={"pay": "connected", "mail": "connected"},
        events=(
            UserEvent(text="Morning!"),
            AssistantEvent(text="Good morning."),
            UserEvent(text="Create a refund of this payment for the customer.", needs=(REFUND.name,)),
            AssistantEvent(calls=(Call(tool=REFUND.name, query="refund payment"),)),
            ToolResultEvent(tool=REFUND.name, text="done"),
        ),
    )


TALKS = [conversation("a", "dev"), conversation("b", "dev"), conversation("c", "test")]


@pytest.fixture(scope="module")
def tuning() -> PrefetchTuning:
    """A small grid on three conversations."""
    return tune_prefetch(TALKS, CATALOG, HOW, MINE, Sizes(ESTIMATE), confidences=(0.0, 1.0), limits=(1,))


def test_each_setting_is_replayed_by_hand() -> None:
    """Sure enough: the tool is recommended and no search is needed; never sure or none allowed: it is searched for."""
    some = try_setting(Setting(1, 0.1), TALKS, CATALOG, HOW, MINE, Sizes(ESTIMATE))
    assert (some.figures.recommended, some.figures.right, some.figures.needed, some.figures.found) == (3, 3, 3, 3)
    assert (some.figures.quiet_turns, some.figures.silent, some.searches) == (3, 3, 0)
    assert some.tokens > 0
    assert sorted(some.costs) == ["a", "b", "c"]
    for setting in Setting(1, 1.0), Setting(0, 0.1):
        none = try_setting(setting, TALKS, CATALOG, HOW, MINE, Sizes(ESTIMATE))
        assert (none.figures.recommended, none.figures.silent, none.searches, none.tokens) == (0, 3, 3, 0)


def test_the_cheapest_that_is_as_silent_is_chosen_on_dev(tuning: PrefetchTuning) -> None:
    """No setting among those that are as silent costs less; only dev conversations were looked at."""
    now = next(tried for tried in tuning.dev if tried.setting == tuning.shipped)
    chosen = next(tried for tried in tuning.dev if tried.setting == tuning.cheapest)
    quiet = [tried for tried in tuning.dev if tried.figures.silent >= now.figures.silent]
    assert chosen.cost == min(tried.cost for tried in quiet)
    assert {name for tried in tuning.dev for name in tried.costs} == {"a", "b"}
    assert tuning.difference.mean == pytest.approx((chosen.cost - now.cost) / 2)
    assert tuning.is_clear == (tuning.difference.high is not None and tuning.difference.high < 0)


def test_the_test_conversations_show_none_shipped_and_cheapest(tuning: PrefetchTuning) -> None:
    """Each once, and the form holds the same."""
    settings = [tried.setting for tried in tuning.test]
    assert settings[:2] == [Setting(0, tuning.shipped.confidence), tuning.shipped]
    assert set(settings[2:]) | {tuning.shipped} == {tuning.cheapest, tuning.shipped}
    assert {name for tried in tuning.test for name in tried.costs} == {"c"}
    form = tuning_form(tuning)
    assert form["clear"] is tuning.is_clear
    assert form["shipped"] == {"limit": 3, "confidence": SessionSettings().prefetch_confidence}


def test_what_ships_is_among_what_is_tried() -> None:
    """The grid holds the shipped setting, with steps below and above its bound."""
    shipped = shipped_setting()
    assert shipped.limit in LIMITS
    assert min(CONFIDENCES) < shipped.confidence < max(CONFIDENCES)
    assert shipped.confidence in CONFIDENCES
