"""Token savings: the way from all tools to what is sent, in tokens and in money."""

from __future__ import annotations

import streamlit as st

from toolsearch_app import controls, session_data, text
from toolsearch_app.figures import savings as figures
from toolsearch_app.tables import savings as tables
from toolsearch_eval.data import DataSet
from toolsearch_eval.sessionlab.lab import Simulated
from toolsearch_eval.sessionlab.providers import Prices, ProviderProfile
from toolsearch_eval.sessionlab.scaling import break_even
from toolsearch_eval.sessionlab.shown import waterfall
from toolsearch_eval.sessionlab.strategies import BASELINE

EVERY = "all sessions"
PRICES = {"input": "New input", "cached": "Read from the cache", "written": "Written to the cache", "output": "Output"}
STRATEGIES = tuple(name for name in session_data.NAMES if name != BASELINE)


def choices(data: DataSet) -> tuple[str, str, str]:
    """The session or all of them, the strategy and the provider."""
    talk_column, strategy_column, provider_column = st.columns(3)
    with talk_column:
        talk = controls.choose("Session", [*(talk.name for talk in data.conversations), EVERY], key="session")
    with strategy_column:
        strategy = controls.choose("Strategy", STRATEGIES, key="strategy", default="stable+delta")
    with provider_column:
        provider = controls.choose("Provider", session_data.PROVIDERS, key="provider")
    return talk, strategy, provider


def simulated(data: DataSet, talk: str, provider: str) -> Simulated:
    """The session, or all with a bar that says how far it is."""
    if talk != EVERY:
        return session_data.simulated(data, talk, provider)
    total = len(data.conversations)
    done = 0
    bar = st.progress(0.0, "Replaying the sessions…")

    def told(more: int) -> None:
        nonlocal done
        done += more
        bar.progress(done / total, f"Replaying the sessions: {done} of {total}")

    found = session_data.simulated_all(data, provider, told)
    bar.empty()
    return found


def edited_prices(profile: ProviderProfile) -> Prices:
    """The profile's prices as they were edited; each provider's are kept apart."""
    keys = {name: f"price_{profile.name}_{name}" for name in PRICES}
    listed = {name: float(getattr(profile.prices, name)) for name in PRICES}
    touched = controls.are_moved({key: listed[name] for name, key in keys.items()})
    with st.expander("Prices", expanded=touched):
        st.caption(f"{text.plain(profile.currency)} for a million tokens; listed on {profile.prices_as_of}.")
        given = {}
        for place, (name, label) in zip(st.columns(len(PRICES)), PRICES.items(), strict=True):
            given[name] = float(
                place.number_input(
                    label, 0.0, 10_000.0, listed[name], 0.05, "%.3f", key=keys[name], bind="query-params"
                )
            )
        st.button(
            "Back to the listed prices", on_click=reset, args=(keys, listed), disabled=given == listed, key="listed"
        )
        controls.show_table(tables.sources_table(profile), "Where the figures come from")
    return Prices(**given)


def reset(keys: dict[str, str], listed: dict[str, float]) -> None:
    """Put the prices back."""
    for name, key in keys.items():
        st.session_state[key] = listed[name]


def show_sizes(data: DataSet, talk: str, strategy: str, provider: str, prices: Prices, currency: str) -> None:
    """Money over sizes of the catalog, on request: each size is a replay."""
    st.header("Over catalog sizes", anchor=False)
    if talk == EVERY:
        st.caption(
            "Choose one session for this; over all of them the command line does it: "
            "`toolsearch simulate --sizes 10,100,1000`."
        )
        return
    if not st.toggle(
        "Replay over catalogs of 10 to 1,000 tools", key="sizes", bind="query-params", help="Takes some seconds, once."
    ):
        return
    total = session_data.steps_over_sizes()
    done = 0
    bar = st.progress(0.0, "Replaying over every size…")

    def told(more: int) -> None:
        nonlocal done
        done += more
        bar.progress(min(1.0, done / total), f"Replaying over every size: {done} of {total}")

    rows = session_data.over_sizes(data, talk, strategy, provider, prices, told)
    bar.empty()
    st.markdown(text.plain(tables.break_even_text(rows, strategy)))
    table = tables.sizes_table(rows)
    controls.show_picture(figures.sizes_picture(table, currency, break_even(rows, strategy)), table)
    st.caption(
        "Drawn from the catalog with all that the session touches; beyond its size, its tools come again as renamed "
        "copies."
    )


def show_providers(data: DataSet, talk: str, strategy: str) -> None:
    """The same session under every provider, on request."""
    st.header("Under every provider", anchor=False)
    if talk == EVERY:
        st.caption("Choose one session for this.")
        return
    if st.toggle(
        "Hold the providers side by side", key="providers", bind="query-params", help="At the listed prices of each."
    ):
        found = {name: session_data.simulated(data, talk, name) for name in session_data.PROVIDERS}
        controls.show_table(tables.providers_table(found, strategy), "Money under every provider")


controls.show_title(
    "Token savings", "What a session's requests cost with all tools in them, and what is left of it with search."
)
held = controls.choose_data_with_conversations()
chosen_talk, chosen_strategy, chosen_provider = choices(held)
found = simulated(held, chosen_talk, chosen_provider)
profile = found.profile
money = text.line(profile.currency, 20)
st.caption(
    f"{text.plain(profile.name)} ({text.plain(profile.model)}), prices in {text.plain(money)} of "
    f"{profile.prices_as_of}; tokens by {text.plain(found.tokenizer)}."
)
paid = edited_prices(profile)
strategies = tables.money_table(found, paid)
[chosen] = strategies[strategies["strategy"] == chosen_strategy].to_dict("records")
controls.show_figures(
    (
        ("Tokens sent", f"{chosen['sent']:,}"),
        ("Tokens about tools saved", f"{chosen['tokens saved']:,}"),
        (f"Cost in {money}", f"{chosen['cost']:.4f}"),
        ("Saved against inline", f"{chosen['saved share']:.0%}"),
    )
)
st.header("From all tools to what is sent", anchor=False)
steps = tables.steps_table(waterfall(found, chosen_strategy))
controls.show_picture(figures.waterfall_picture(steps), steps)
st.header("Money", anchor=False)
controls.show_picture(figures.money_picture(strategies, money), strategies)
if chosen_talk == EVERY:
    st.header("By session", anchor=False)
    controls.show_table(tables.sessions_table(found, chosen_strategy, paid), "By session")
show_sizes(held, chosen_talk, chosen_strategy, chosen_provider, paid, money)
show_providers(held, chosen_talk, chosen_strategy)
for warning in found.warnings:
    st.caption(f"Warning: {text.plain(warning)}")
