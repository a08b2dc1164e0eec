"""The advice as a terminal shows it: two tables, the arithmetic of single tools, and what the replay said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolsearch_eval.cli.output import neutralise, say, text_table

_HEADER = ("tool", "now", "used by", "of", "calls", "searches", "tokens", "pinned", "deferred", "saves", "pays from")
_KINDS = ("written", "cached", "new", "output")
_PARTS = (
    ("announced", "its name in {announced:,.0f} lists"),
    ("searching", "{searches:,.1f} round trips to find it"),
    ("calling", "{calls:,.0f} calls through the proxy"),
)


def print_advice(form: Mapping[str, Any], *, tools: Sequence[str], top: int) -> None:
    """Print it.

    Args:
        form: The JSON form.
        tools: The tools whose arithmetic is shown; none takes the first that is pinned.
        top: Lines of each table.
    """
    source = f"counts of {form['usage']}" if form["usage"] else f"{form['conversations']} conversations"
    say(
        f"{neutralise(form['data'])}, {neutralise(source)}: {form['sessions']:,} sessions, {form['requests']:,.0f} "
        f"requests. {form['model']} ({form['provider']}), prices in {form['currency']} of {form['prices_as_of']}; "
        f"tokens by {form['tokenizer']}; names by {form['announcements']}."
    )
    rows = form["arithmetic"]
    pins, defers = form["pin"], form["defer"]
    used = [name for name in defers if rows[name]["use"]["users"] or rows[name]["now"] == "pinned"]
    say(f"\nPin {len(pins)} tools; by this arithmetic that saves {sum(rows[name]['saves'] for name in pins):,.4f}.")
    _table(pins[:top], rows, len(pins))
    say(f"\nDefer {len(defers)} tools: {len(defers) - len(used)} that nobody used, and {len(used)} that were.")
    _table(used[:top], rows, len(used))
    shown = list(tools) or pins[:1]
    for name in shown:
        _arithmetic(name, form)
    if form["measured"]:
        _measured(form["measured"], form["currency"])


def _table(names: Sequence[str], rows: Mapping[str, Any], total: int) -> None:
    if not names:
        return
    say(text_table(_HEADER, [_line(name, rows[name]) for name in names]))
    if total > len(names):
        say(f"… and {total - len(names)} more (--top N shows more, --json all)")


def _line(name: str, row: Mapping[str, Any]) -> list[str]:
    use = row["use"]
    pays = "" if row["pays_from"] is None else f"{row['pays_from']:,.1f}"
    money = (f"{value:,.4f}" for value in (row["pinned"]["cost"], row["deferred"]["cost"], row["saves"]))
    return [
        name,
        row["now"],
        f"{use['users']:,.0f}",
        f"{use['agents']:,.0f}",
        f"{use['calls']:,.0f}",
        f"{use['searches']:,.1f}",
        f"{row['definition_tokens']:,}",
        *money,
        pays,
    ]


def _arithmetic(name: str, form: Mapping[str, Any]) -> None:
    row, prices = form["arithmetic"][name], form["prices_per_million"]
    use = row["use"]
    say(f"\n{neutralise(name)}: {row['advice']}. Tokens × price of a million:")
    say(
        f"  pinned    {row['definition_tokens']:,} tokens in {use['requests']:,.1f} requests of {use['agents']:,.0f} "
        f"sessions: {_sum(row['pinned'], prices)}"
    )
    for part, words in _PARTS:
        say(f"  deferred  {words.format(**use)}: {_sum(row['deferred'][part], prices)}")
    if form["round_trip"]:
        waiting = form["round_trip"] * use["searches"]
        say(f"  deferred  {use['searches']:,.1f} round trips × {form['round_trip']:g} = {waiting:,.6f}")
    say(
        f"  deferred {row['deferred']['cost']:,.6f} less pinned {row['pinned']['cost']:,.6f}: pinning saves "
        f"{row['saves']:,.6f}"
    )


def _sum(bill: Mapping[str, float], prices: Mapping[str, float]) -> str:
    terms = [f"{bill[kind]:,.0f} {kind} × {prices[kind]:g}" for kind in _KINDS if bill[kind]]
    return f"{' + '.join(terms) or 'none'} = {bill['cost']:,.6f}"


def _measured(measured: Mapping[str, Any], currency: str) -> None:
    say(f"\nReplayed under {measured['strategy']}:")
    lines = []
    for key, label in (
        ("same_conversations", "these pins, on the conversations that they come from"),
        ("left_out_conversations", "pins from all other conversations, on the one left out"),
    ):
        before, after = measured[key]["before"], measured[key]["after"]
        share = measured[key]["saved"] / before["cost"] if before["cost"] else 0.0
        lines.append(
            [
                label,
                f"{before['searches']:,} → {after['searches']:,}",
                f"{before['tokens_sent']:,} → {after['tokens_sent']:,}",
                f"{before['cost']:,.4f} → {after['cost']:,.4f}",
                f"{measured[key]['saved']:+,.4f} ({share:+.1%})",
            ]
        )
    say(text_table(("pins", "searches", "tokens sent", currency, "saved"), lines))


def print_prefetch(form: Mapping[str, Any]) -> None:
    """Print what settings of recommendations come to."""
    header = ("at most", "confidence", "precision", "recall", "silent on small talk", "tokens", "searches", "cost")

    def lines(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
        return [
            [
                f"{row['limit']}",
                f"{row['confidence']:.2f}",
                *("" if row[name] is None else f"{row[name]:.3f}" for name in ("precision", "recall")),
                f"{row['silent']} of {row['quiet_turns']}",
                f"{row['tokens']:,}",
                f"{row['searches']:,}",
                f"{row['cost']:,.4f}",
            ]
            for row in rows
        ]

    say(
        f"{neutralise(form['data'])}, {form['strategy']}; prices of {form['provider']} in {form['currency']} of "
        f"{form['prices_as_of']}; tokens by {form['tokenizer']}.\n\nTried on the dev conversations:"
    )
    say(text_table(header, lines(form["dev"])))
    shipped, cheapest, difference = form["shipped"], form["cheapest"], form["difference"]
    low, high = difference["low"], difference["high"]
    around = "" if low is None else f" ({low:+.4f} to {high:+.4f})"
    say(
        f"\nShipped: at most {shipped['limit']} from {shipped['confidence']:g} on. Cheapest of those as silent: "
        f"at most {cheapest['limit']} from {cheapest['confidence']:g} on, {difference['mean']:+.4f}{around} for a "
        f"conversation: {'clearly cheaper' if form['clear'] else 'not clearly cheaper, so what ships stays'}."
    )
    say("\nThe test conversations, without any, as it ships, and with the cheapest:")
    say(text_table(header, lines(form["test"])))
