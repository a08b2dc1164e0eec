"""From all tools to what is sent, in tokens and in money, for each strategy, provider and size of catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pandas

from toolsearch_app.text import line
from toolsearch_eval.sessionlab.lab import Simulated, totals
from toolsearch_eval.sessionlab.providers import Prices, ProviderProfile
from toolsearch_eval.sessionlab.scaling import SizeRow, break_even
from toolsearch_eval.sessionlab.shown import Step, repriced
from toolsearch_eval.sessionlab.strategies import BASELINE

SUM: Final = "sum"
MORE: Final = "more"
LESS: Final = "less"


def steps_table(steps: Sequence[Step]) -> pandas.DataFrame:
    """The steps of a waterfall, each with where it begins and ends.

    Returns:
        `step`, `tokens` (signed; of the first and the last step the sum), `kind` (`sum`, `more` or `less`), `start`
        and `end`. Each step begins where the one before ended, so that the last `end` is what is sent.
    """
    rows = []
    reached = 0
    for step in steps:
        start, end = (0, step.tokens) if step.is_sum else (reached, reached + step.tokens)
        kind = SUM if step.is_sum else MORE if step.tokens > 0 else LESS
        rows.append({"step": line(step.label, 80), "tokens": step.tokens, "kind": kind, "start": start, "end": end})
        reached = end
    return pandas.DataFrame(rows, columns=["step", "tokens", "kind", "start", "end"])


def money_table(simulated: Simulated, prices: Prices, conversation: str | None = None) -> pandas.DataFrame:
    """A row for each strategy: tokens, what they cost at these prices, and both against `inline`.

    Args:
        simulated: What was simulated.
        prices: What tokens cost; what the cache did stays as it was.
        conversation: Only this one; all if None.

    Returns:
        `strategy`, `requests`, `sent`, `about tools` (tokens that tell the model about tools), `tokens saved` (of
        these, against `inline`), `output`, `cost`, `saved` (money) and `saved share` (0..1; 0 where inline costs
        nothing). Negative where a strategy takes more than inline.
    """
    base = repriced(simulated.of(BASELINE, conversation), prices)
    base_cost = totals(base, ()).cost
    base_tools = sum(row.tool_tokens for row in base)
    rows = []
    for name in simulated.strategies:
        of = repriced(simulated.of(name, conversation), prices)
        found = totals(of, ())
        about = sum(row.tool_tokens for row in of)
        saved = base_cost - found.cost
        rows.append(
            {
                "strategy": name,
                "requests": found.requests,
                "sent": found.sent,
                "about tools": about,
                "tokens saved": base_tools - about,
                "output": found.output,
                "cost": found.cost,
                "saved": saved,
                "saved share": saved / base_cost if base_cost else 0.0,
            }
        )
    columns = ["strategy", "requests", "sent", "about tools", "tokens saved", "output", "cost", "saved", "saved share"]
    return pandas.DataFrame(rows, columns=columns)


def providers_table(by_provider: Mapping[str, Simulated], strategy: str) -> pandas.DataFrame:
    """One strategy under every provider's cache and prices: a row for each.

    Returns:
        `provider`, `model`, `currency`, `prices of`, `inline` and `strategy` (money), and `saved share` (0..1; 0 where
        inline costs nothing).
    """
    rows = []
    for name, simulated in by_provider.items():
        inline, own = (totals(simulated.of(each), ()).cost for each in (BASELINE, strategy))
        rows.append(
            {
                "provider": line(name, 60),
                "model": line(simulated.profile.model, 60),
                "currency": line(simulated.profile.currency, 20),
                "prices of": line(simulated.profile.prices_as_of, 20),
                BASELINE: inline,
                strategy: own,
                "saved share": (inline - own) / inline if inline else 0.0,
            }
        )
    columns = ["provider", "model", "currency", "prices of", *dict.fromkeys((BASELINE, strategy)), "saved share"]
    return pandas.DataFrame(rows, columns=columns)


def sessions_table(simulated: Simulated, strategy: str, prices: Prices) -> pandas.DataFrame:
    """A row for each conversation: tokens about tools and money under `inline` and a strategy, most saved first."""
    rows = []
    for name in simulated.conversations:
        inline, own = (repriced(simulated.of(each, name), prices) for each in (BASELINE, strategy))
        before, after = totals(inline, ()).cost, totals(own, ()).cost
        rows.append(
            {
                "session": line(name, 80),
                "requests": len(own),
                "tokens inline": sum(row.tool_tokens for row in inline),
                "tokens": sum(row.tool_tokens for row in own),
                "cost inline": before,
                "cost": after,
                "saved share": (before - after) / before if before else 0.0,
            }
        )
    columns = ["session", "requests", "tokens inline", "tokens", "cost inline", "cost", "saved share"]
    table = pandas.DataFrame(rows, columns=columns)
    return table.sort_values(["saved share", "session"], ascending=[False, True], ignore_index=True)


def sizes_table(rows: Sequence[SizeRow]) -> pandas.DataFrame:
    """A row for each strategy and size of the catalog.

    Returns:
        `strategy`, `tools` (deferred, on average), `renamed copies` (of these), `sent`, `about tools` (tokens) and
        `cost`; by strategy, then by size.
    """
    found = [
        {
            "strategy": row.strategy,
            "tools": row.tools,
            "renamed copies": row.copies,
            "sent": row.sent,
            "about tools": row.tool_tokens,
            "cost": row.cost,
        }
        for row in sorted(rows, key=lambda row: (row.strategy, row.tools))
    ]
    return pandas.DataFrame(found, columns=["strategy", "tools", "renamed copies", "sent", "about tools", "cost"])


def break_even_text(rows: Sequence[SizeRow], strategy: str) -> str:
    """From how many deferred tools on a strategy costs less than `inline`, in a sentence."""
    if strategy == BASELINE:
        return f"{BASELINE} is what the others are held against."
    found = break_even(rows, strategy)
    tried = [row.tools for row in rows if row.strategy == strategy]
    if found is None:
        return f"{strategy} does not cost less than {BASELINE} at {max(tried):,.0f} deferred tools, the most tried."
    if found <= min(tried):
        return (
            f"{strategy} costs less than {BASELINE} from the smallest catalog tried on ({found:,.0f} deferred tools)."
        )
    return f"{strategy} costs less than {BASELINE} from about {found:,.0f} deferred tools on."


def sources_table(profile: ProviderProfile) -> pandas.DataFrame:
    """Where a profile's figures come from, and what no source says: `what`, `where`, `seen`."""
    rows = [(line(each.what), line(each.where), line(each.seen)) for each in profile.sources]
    rows += [(line(each), "assumption", "") for each in profile.assumptions]
    return pandas.DataFrame(rows, columns=["what", "where", "seen"])
