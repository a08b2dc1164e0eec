"""What pins would have saved: the same conversations replayed without and with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from toolsearch.catalog.tool import Tool
from toolsearch_eval.conversations import Conversation
from toolsearch_eval.sessionlab.accounting import RequestRow, account
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.providers import ProviderProfile
from toolsearch_eval.sessionlab.replay import replay
from toolsearch_eval.sessionlab.strategies import Strategy

Pins = Callable[[Conversation], Sequence[str]]
"""Gives the names to pin in a conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """All requests of a number of replays.

    Attributes:
        requests: How many.
        searches: How many searches the model asked for.
        sent: Tokens that were sent.
        cost: What it all cost, in the profile's currency.
    """

    requests: int
    searches: int
    sent: int
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PinEffect:
    """The same conversations as they are and with other pins.

    Attributes:
        before: With the pins that they have.
        after: With the others.
    """

    before: Totals
    after: Totals

    @property
    def saved(self) -> float:
        """The money that the pins save; negative where they cost more."""
        return self.before.cost - self.after.cost


def pin_effects(
    conversations: Iterable[Conversation],
    tools: Sequence[Tool],
    choices: Mapping[str, Pins],
    strategy: Strategy,
    profile: ProviderProfile,
    sizes: Sizes,
) -> dict[str, PinEffect]:
    """Replay each conversation as it is, and with each choice of pins instead of its own.

    Args:
        conversations: Without faults.
        tools: The catalog; with other pins, `always_load` is set aside too.
        choices: By a name for it, what gives the pins of a conversation; names that it has no tool for are left out.
        strategy: How tools reach the model.
        profile: The provider.
        sizes: Counts the tokens.
    """
    before: list[RequestRow] = []
    after: dict[str, list[RequestRow]] = {label: [] for label in choices}
    free = [replace(tool, always_load=False) for tool in tools]
    for conversation in conversations:
        before += _rows(conversation, tools, strategy, profile, sizes)
        for label, pins in choices.items():
            pinned = replace(conversation, pins=tuple(pins(conversation)))
            after[label] += _rows(pinned, free, strategy, profile, sizes)
    return {label: PinEffect(before=_totals(before), after=_totals(rows)) for label, rows in after.items()}


def _rows(
    conversation: Conversation, tools: Sequence[Tool], strategy: Strategy, profile: ProviderProfile, sizes: Sizes
) -> tuple[RequestRow, ...]:
    return account(replay(conversation, tools, strategy, api=profile.api, counter=sizes.counter), profile, sizes)


def effect_form(effect: PinEffect) -> dict[str, object]:
    """The effect as plain data."""
    return {"before": _form(effect.before), "after": _form(effect.after), "saved": effect.saved}


def _totals(rows: Sequence[RequestRow]) -> Totals:
    return Totals(
        requests=len(rows),
        searches=sum(row.searches for row in rows),
        sent=sum(row.sent for row in rows),
        cost=math.fsum(row.cost for row in rows),
    )


def _form(totals: Totals) -> Mapping[str, float]:
    return {
        "requests": totals.requests,
        "searches": totals.searches,
        "tokens_sent": totals.sent,
        "cost": totals.cost,
    }
