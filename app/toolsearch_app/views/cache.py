"""Cache stability: a session followed request by request, to the tool and the byte at which its prefix breaks."""

from __future__ import annotations

import streamlit as st

from toolsearch.tokens import token_counter
from toolsearch_app import controls, session_data, text
from toolsearch_app.figures import cache as figures
from toolsearch_app.tables import cache as tables
from toolsearch_eval.data import DataSet
from toolsearch_eval.sessionlab.accounting import RequestRow
from toolsearch_eval.sessionlab.prefix import Sizes


def choices(data: DataSet) -> tuple[str, str, str]:
    """The session, the strategy and the provider."""
    talk_column, strategy_column, provider_column = st.columns(3)
    with talk_column:
        talk = controls.choose("Session", [talk.name for talk in data.conversations], key="session")
    with strategy_column:
        strategy = controls.choose(
            "Strategy",
            session_data.NAMES,
            key="strategy",
            default="inject",
            note="How tools reach the model: all of them (inline), discovered ones added to the array (inject), or an "
            "array that never changes (stable), with or without recommended tools (prefetch).",
        )
    with provider_column:
        provider = controls.choose("Provider", session_data.PROVIDERS, key="provider")
    return talk, strategy, provider


def go_to(number: int) -> None:
    """Look at another request."""
    st.session_state["request"] = number


def choose_request(rows: tuple[RequestRow, ...]) -> RequestRow:
    """The request that is looked at; the first that broke the prefix at first."""
    last = len(rows)
    breaks = tables.breaks_of(rows)
    kept = st.session_state.get("request")
    if kept is not None and not 1 <= kept <= last:
        del st.session_state["request"]
    number_column, back_column, on_column = st.columns((2, 1, 1), vertical_alignment="bottom")
    with number_column:
        number = st.number_input(
            f"Request (1 to {last})", 1, last, breaks[0] if breaks else 1, key="request", bind="query-params"
        )
    earlier = [each for each in breaks if each < number]
    later = [each for each in breaks if each > number]
    with back_column:
        st.button("Break before", disabled=not earlier, on_click=go_to, args=earlier[-1:], width="stretch")
    with on_column:
        st.button("Next break", disabled=not later, on_click=go_to, args=later[:1], width="stretch")
    return rows[int(number) - 1]


def show_request(row: RequestRow) -> None:
    """One request: whose, what the cache did, and what it is made of."""
    st.markdown(f"**Request {row.request}**, turn {row.turn} of {text.plain(row.agent)}, after {row.seconds:,.0f} s")
    controls.show_figures(
        (
            ("Sent", f"{row.sent:,}"),
            ("Read from the cache", f"{row.use.cached:,}"),
            ("Written to it", f"{row.use.written:,}"),
            ("New", f"{row.use.new:,}"),
        )
    )
    st.caption(
        f"Prefix {row.prefix}: {row.prefix_tokens:,} tokens up to the last cache mark; tools array "
        f"{row.array or 'none'}. "
        + (
            "It is the first request of its agent."
            if row.is_first
            else f"The first {row.common_tokens:,} tokens ({row.common_bytes:,} bytes) are those of the request before."
        )
    )


def show_break(row: RequestRow, data: DataSet, provider: str) -> None:
    """What broke the prefix, with the pieces and the byte; or that it held."""
    broken = row.broken_by
    if broken is None:
        st.success("The prefix holds." if not row.is_first else "A first request has no prefix to break.")
        return
    st.warning(
        f"The prefix breaks at piece {broken.place}, byte {broken.byte:,} ({broken.request_byte:,} of the request): "
        f"{text.plain(tables.break_text(broken))}. {broken.lost_tokens:,} tokens of it are lost."
    )
    requests = session_data.requests(data, row.conversation, row.strategy, provider)
    before, now = tables.before_and_now(requests, row.request)
    sizes = Sizes(token_counter())
    controls.show_table(tables.pieces_table(before, now, broken.place, sizes), "The pieces around the break")
    for label, excerpt in zip(("before", "now"), tables.byte_excerpts(before, now, broken), strict=True):
        st.caption(f"Piece {broken.place}, {label}; ‸ stands before the byte:")
        st.code(text.block(excerpt) or "nothing", language=None, wrap_lines=True)


controls.show_title(
    "Cache stability", "A session turn by turn: what the provider's cache keeps of each request, and what breaks it."
)
held = controls.choose_data_with_conversations()
chosen_talk, chosen_strategy, chosen_provider = choices(held)
found = session_data.simulated(held, chosen_talk, chosen_provider)
profile = found.profile
st.caption(
    f"{text.plain(profile.name)} ({text.plain(profile.model)}), prices in {profile.currency} of "
    f"{profile.prices_as_of}; tokens by {text.plain(found.tokenizer)}."
)
st.header("Strategies side by side", anchor=False)
compared = tables.strategies_table(found)
controls.show_picture(figures.strategies_picture(compared), compared)
st.header("Turn by turn", anchor=False)
sent = found.of(chosen_strategy)
listed = tables.requests_table(sent)
place_of_chart = st.container()
looked_at = choose_request(sent)
with place_of_chart:
    controls.show_picture(figures.timeline_picture(listed, chosen_strategy, looked_at.request), listed)
    st.caption(
        "Below the bars is the prefix of each request: its colour and letter change where it breaks (a cross), and a "
        "sub-agent has its own."
    )
show_request(looked_at)
show_break(looked_at, held, chosen_provider)
with st.expander("What this request is made of"):
    controls.show_table(tables.parts_table(looked_at), "What this request is made of")
for warning in found.warnings:
    st.caption(f"Warning: {text.plain(warning)}")
