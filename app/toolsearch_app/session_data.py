"""Simulated conversations for the pages on cache and savings: replayed once, kept until the data change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from toolsearch.config import DEFAULT
from toolsearch.tokens import token_counter
from toolsearch_eval.data import DataSet
from toolsearch_eval.sessionlab.lab import Simulated, chosen_conversations, simulate
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.providers import SHIPPED, Prices, ProviderProfile, provider_profile
from toolsearch_eval.sessionlab.replay import replay
from toolsearch_eval.sessionlab.replayed import Sent
from toolsearch_eval.sessionlab.scaling import DEFAULT_SIZES, SizeRow, scaling
from toolsearch_eval.sessionlab.strategies import STRATEGIES, strategy

PROVIDERS: Final = SHIPPED
NAMES: Final = tuple(STRATEGIES)
"""The strategies, in their order."""

Told = Callable[[int], object]
"""Is told how much more is done."""


def _nothing(done: int) -> None:
    """Nobody wants to know."""


def provider(name: str) -> ProviderProfile:
    """A shipped provider profile.

    Raises:
        UnknownNameError: There is none of that name.
    """
    return provider_profile(name)


def simulated(data: DataSet, conversation: str, provider_name: str) -> Simulated:
    """One conversation under every strategy.

    Raises:
        UnknownNameError: There is no such conversation or provider.
        DataError: Conversations hold faults; all of them at once.
    """
    return _simulated(_state(data, conversation), conversation, provider_name, data)


def simulated_all(data: DataSet, provider_name: str, told: Told = _nothing) -> Simulated:
    """Every conversation under every strategy; each is kept by itself.

    Args:
        data: The data set, with a conversation at least.
        provider_name: Whose cache and prices.
        told: Is told 1 after each conversation.

    Raises:
        UnknownNameError: There is no such provider.
        DataError: Conversations hold faults; all of them at once.
    """
    found = []
    for talk in data.conversations:
        found.append(simulated(data, talk.name, provider_name))
        told(1)
    return together(found)


def together(found: Sequence[Simulated]) -> Simulated:
    """Simulations of several conversations of one data set, under the same strategies, as one; at least one."""
    first = found[0]
    return replace(
        first,
        conversations=tuple(name for each in found for name in each.conversations),
        rows=tuple(row for each in found for row in each.rows),
        turns={name: tuple(turn for each in found for turn in each.turns[name]) for name in first.turns},
        warnings=tuple(dict.fromkeys(warning for each in found for warning in each.warnings)),
    )


def requests(data: DataSet, conversation: str, strategy_name: str, provider_name: str) -> tuple[Sent, ...]:
    """The requests of one conversation under one strategy, with all their pieces.

    Raises:
        UnknownNameError: There is no such conversation, strategy or provider.
    """
    return _requests(_state(data, conversation), conversation, strategy_name, provider_name, data)


def over_sizes(
    data: DataSet, conversation: str, strategy_name: str, provider_name: str, prices: Prices, told: Told = _nothing
) -> tuple[SizeRow, ...]:
    """One conversation under a strategy and `inline`, over catalogs of every size.

    Args:
        data: The data set.
        conversation: Its name.
        strategy_name: Its name.
        provider_name: Whose cache.
        prices: What tokens cost.
        told: Is told 1 after each size.

    Raises:
        UnknownNameError: There is no such conversation, strategy or provider.
        DataError: Conversations hold faults; all of them at once.
    """
    state = _state(data, conversation)
    key = (prices.input, prices.cached, prices.written, prices.output)
    rows: list[SizeRow] = []
    for size in DEFAULT_SIZES:
        rows += _at_size(state, conversation, strategy_name, provider_name, key, size, data, prices)
        # Told here, not in what is kept: Streamlit would play what a kept function shows again, on a bar that is gone.
        told(1)
    return tuple(rows)


def steps_over_sizes() -> int:
    """How often `over_sizes` tells that one more is done."""
    return len(DEFAULT_SIZES)


def _state(data: DataSet, conversation: str) -> str:
    """A mark of what a replay depends on: the catalog and the conversation's own text."""
    talks = [talk for talk in data.conversations if talk.name == conversation]
    return hashlib.sha256(repr((data.fingerprint, talks)).encode("utf-8", "surrogatepass")).hexdigest()


@st.cache_resource(max_entries=128, show_spinner="Replaying the session under every strategy…")
def _simulated(state: str, conversation: str, provider_name: str, _data: DataSet) -> Simulated:
    return simulate(_data, NAMES, provider_profile(provider_name), Sizes(token_counter()), only=(conversation,))


@st.cache_resource(max_entries=8, show_spinner="Building the requests…")
def _requests(
    state: str, conversation: str, strategy_name: str, provider_name: str, _data: DataSet
) -> tuple[Sent, ...]:
    [talk] = chosen_conversations(_data, split="all", only=(conversation,))
    api = provider_profile(provider_name).api
    chosen = strategy(strategy_name)
    return replay(talk, _data.tools, chosen, api=api, counter=token_counter(), config=DEFAULT, teams=False).requests


@st.cache_resource(max_entries=256, show_spinner=False)
def _at_size(
    state: str,
    conversation: str,
    strategy_name: str,
    provider_name: str,
    price_key: tuple[float, ...],
    size: int,
    _data: DataSet,
    _prices: Prices,
) -> tuple[SizeRow, ...]:
    profile = replace(provider_profile(provider_name), prices=_prices)
    return scaling(_data, (strategy_name,), profile, Sizes(token_counter()), tools=(size,), only=(conversation,))
