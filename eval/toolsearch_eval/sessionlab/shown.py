"""What is shown of a simulation, as rows: a line for each request, the way from all tools to what is sent, money."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolsearch_eval.sessionlab.accounting import RequestRow
from toolsearch_eval.sessionlab.blocks import PARTS, Part
from toolsearch_eval.sessionlab.lab import Simulated, totals
from toolsearch_eval.sessionlab.providers import Prices
from toolsearch_eval.sessionlab.strategies import BASELINE

TABLE_HEADER = (
    "conversation",
    "strategy",
    "agent",
    "turn",
    "request",
    "seconds",
    "sent",
    "cached",
    "written",
    "new",
    "output",
    "cost",
    "prefix",
    "array",
    "prefix_tokens",
    "common_tokens",
    "common_bytes",
    "broken_by",
    "cause",
    "lost_tokens",
    "searches",
    "failed",
    "recommended",
    *PARTS,
)
"""The columns of the table of requests; those of the parts add up to `sent`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step from what all tools would take to what is sent.

    Attributes:
        label: What it is.
        tokens: By how much it moves the sum; the first and the last step are the sums themselves.
        is_sum: Whether it is one of these.
    """

    label: str
    tokens: int
    is_sum: bool = False


def table_row(row: RequestRow) -> tuple[str | int | float, ...]:
    """The cells of one request, in the order of `TABLE_HEADER`."""
    broken = row.broken_by
    return (
        row.conversation,
        row.strategy,
        row.agent,
        row.turn,
        row.request,
        row.seconds,
        row.sent,
        row.use.cached,
        row.use.written,
        row.use.new,
        row.output,
        row.cost,
        row.prefix,
        row.array,
        row.prefix_tokens,
        row.common_tokens,
        row.common_bytes,
        "" if broken is None else str(broken),
        "" if row.cause is None else f"{row.cause.kind}: {row.cause.words}",
        0 if broken is None else broken.lost_tokens,
        row.searches,
        row.failed,
        " ".join(row.recommended),
        *(row.parts.get(part, 0) for part in PARTS),
    )


def waterfall(simulated: Simulated, strategy: str, conversation: str | None = None) -> tuple[Step, ...]:
    """The steps from the tokens that `inline` sends to those of a strategy, part by part; they add up exactly.

    Parts that move nothing are left out.
    """
    before = totals(simulated.of(BASELINE, conversation), ())
    after = totals(simulated.of(strategy, conversation), ())
    words: dict[Part, str] = {
        "core_tools": "definitions of core tools",
        "deferred_tools": "definitions of all other tools",
        "own_tools": "definitions of search and proxy",
        "search_answers": "answers of the search",
        "announcements": "names of deferred tools",
        "recommendations": "recommended tools",
    }
    steps = [Step(label=f"{BASELINE}: everything", tokens=before.sent, is_sum=True)]
    for part in PARTS:
        moved = after.parts.get(part, 0) - before.parts.get(part, 0)
        if moved:
            steps.append(Step(label=words.get(part, part.replace("_", " ")), tokens=moved))
    return (*steps, Step(label=f"{strategy}: sent", tokens=after.sent, is_sum=True))


def repriced(rows: Sequence[RequestRow], prices: Prices) -> tuple[RequestRow, ...]:
    """The same requests at other prices; what the cache did stays as it was."""
    return tuple(
        replace(
            row,
            cost=prices.of(cached=row.use.cached, written=row.use.written, new=row.use.new, output=row.output),
        )
        for row in rows
    )
