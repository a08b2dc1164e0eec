"""A simulated conversation request by request: what the cache did, what broke the prefix, and every strategy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas

from toolsearch_app.text import line
from toolsearch_eval.sessionlab.accounting import RequestRow
from toolsearch_eval.sessionlab.blocks import DEFINITIONS, Block
from toolsearch_eval.sessionlab.lab import Simulated, totals
from toolsearch_eval.sessionlab.prefix import PrefixBreak, Sizes, is_same
from toolsearch_eval.sessionlab.replayed import Sent

_HASH_DIGITS: Final = 8
_AROUND: Final = 2
"""Pieces that are shown before and behind the one at which a prefix broke."""
_EXCERPT: Final = 60
"""Characters that are shown before and behind the byte at which a piece changed."""


def prefix_lines(rows: Sequence[RequestRow]) -> list[str]:
    """For each request the letter of its prefix: a request that goes on from the one before keeps that one's letter.

    Args:
        rows: The requests of one conversation under one strategy; each agent has its own prefix.

    Returns:
        `A` to `Z`, then `AA` and so on, in the order in which prefixes begin.
    """
    letters: list[str] = []
    held: dict[str, str] = {}
    begun = 0
    for row in rows:
        if row.agent not in held or row.broken_by is not None:
            held[row.agent] = _letter(begun)
            begun += 1
        letters.append(held[row.agent])
    return letters


def requests_table(rows: Sequence[RequestRow]) -> pandas.DataFrame:
    """A row for each request of one conversation under one strategy, in their order.

    Returns:
        `request` (1-based), `turn`, `agent`, `second`, the tokens `cached`, `written`, `new`, which add up to `sent`,
        `same start` (tokens that it has in common with the agent's request before), `prefix` (its letter), `hash` (of
        the request up to its last cache mark), `broken by` ("" where the prefix held), `lost` tokens, `searches` and
        `cost`.
    """
    found = [
        {
            "request": row.request,
            "turn": row.turn,
            "agent": line(row.agent, 60),
            "second": round(row.seconds),
            "cached": row.use.cached,
            "written": row.use.written,
            "new": row.use.new,
            "sent": row.sent,
            "same start": row.common_tokens,
            "prefix": letter,
            "hash": row.prefix[:_HASH_DIGITS],
            "broken by": "" if row.broken_by is None else line(break_text(row.broken_by), 160),
            "lost": 0 if row.broken_by is None else row.broken_by.lost_tokens,
            "searches": row.searches,
            "cost": row.cost,
        }
        for row, letter in zip(rows, prefix_lines(rows), strict=True)
    ]
    columns = ["request", "turn", "agent", "second", "cached", "written", "new", "sent", "same start", "prefix", "hash"]
    return pandas.DataFrame(found, columns=[*columns, "broken by", "lost", "searches", "cost"])


def break_text(broken: PrefixBreak) -> str:
    """What broke a prefix, in words that stand alone."""
    what = f"tool {broken.name}" if broken.part in DEFINITIONS else broken.name
    return f"{what} {broken.change}"


def breaks_of(rows: Sequence[RequestRow]) -> list[int]:
    """The numbers of the requests whose prefix broke, ascending."""
    return [row.request for row in rows if row.broken_by is not None]


def strategies_table(simulated: Simulated, conversation: str | None = None) -> pandas.DataFrame:
    """A row for each strategy in its order.

    Args:
        simulated: What was simulated.
        conversation: Only this one; all if None.

    Returns:
        `strategy`, `requests`, the tokens `cached`, `written`, `new`, `sent`, `cached share` (of what was sent, 0..1;
        0 where nothing was), `breaks`, `tool lists` (the most different tools arrays of one agent), `searches`, `cost`.
    """
    rows = []
    for name in simulated.strategies:
        found = totals(simulated.of(name, conversation), ())
        rows.append(
            {
                "strategy": name,
                "requests": found.requests,
                "cached": found.cached,
                "written": found.written,
                "new": found.new,
                "sent": found.sent,
                "cached share": found.cached / found.sent if found.sent else 0.0,
                "breaks": found.prefix_breaks,
                "tool lists": found.array_variants,
                "searches": found.searches,
                "cost": found.cost,
            }
        )
    columns = ["strategy", "requests", "cached", "written", "new", "sent", "cached share", "breaks", "tool lists"]
    return pandas.DataFrame(rows, columns=[*columns, "searches", "cost"])


def parts_table(row: RequestRow) -> pandas.DataFrame:
    """What one request is made of: `part`, `tokens`, `share` (0..1), in the order in which it is sent."""
    sent = row.sent
    rows = [
        {"part": part.replace("_", " "), "tokens": tokens, "share": tokens / sent} for part, tokens in row.parts.items()
    ]
    return pandas.DataFrame(rows, columns=["part", "tokens", "share"])


def before_and_now(requests: Sequence[Sent], number: int) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """The pieces of the same agent's request before, none for its first, and those of a request.

    Args:
        requests: All of one conversation under one strategy.
        number: 1-based.
    """
    now = requests[number - 1]
    earlier = [each for each in requests[: number - 1] if each.agent == now.agent]
    return (earlier[-1].blocks if earlier else ()), now.blocks


def pieces_table(before: Sequence[Block], now: Sequence[Block], place: int, sizes: Sizes) -> pandas.DataFrame:
    """The pieces around a place in two requests beside each other: `piece` (1-based), `before`, `now`, `same`.

    Args:
        before: The request before.
        now: The request.
        place: The 1-based piece in the middle.
        sizes: Counts the tokens.
    """
    rows = []
    for piece in range(max(1, place - _AROUND), min(max(len(before), len(now)), place + _AROUND) + 1):
        old = before[piece - 1] if piece <= len(before) else None
        new = now[piece - 1] if piece <= len(now) else None
        rows.append(
            {
                "piece": piece,
                "before": _named(old, sizes),
                "now": _named(new, sizes),
                "same": "yes" if old is not None and new is not None and is_same(old, new) else "no",
            }
        )
    return pandas.DataFrame(rows, columns=["piece", "before", "now", "same"])


def byte_excerpts(before: Sequence[Block], now: Sequence[Block], broken: PrefixBreak) -> tuple[str, str]:
    """The text of both requests around the byte from which on they differ; "" where there is none.

    A mark ‸ stands before that byte. The texts are as they were sent, so they have to be made safe.
    """
    old, new = (blocks[broken.place - 1].text if broken.place <= len(blocks) else "" for blocks in (before, now))
    return _around(old, broken.byte) if old else "", _around(new, broken.byte) if new else ""


def _around(text: str, byte: int) -> str:
    encoded = text.encode("utf-8", "surrogatepass")
    start = encoded[:byte].decode("utf-8", "replace")
    rest = text[len(start) :]
    head = start if len(start) <= _EXCERPT else f"…{start[-_EXCERPT:]}"
    return f"{head}‸{rest if len(rest) <= _EXCERPT else f'{rest[:_EXCERPT]}…'}"


def _named(block: Block | None, sizes: Sizes) -> str:
    if block is None:
        return "nothing"
    what = f"tool {block.label}" if block.part in DEFINITIONS else block.label
    return f"{line(what, 100)} ({sizes.tokens(block.text):,} tokens)"


def _letter(number: int) -> str:
    """`A` for 0, `AA` for 26.

    >>> _letter(0), _letter(25), _letter(26), _letter(702)
    ('A', 'Z', 'AA', 'AAA')
    """
    letters = ""
    number += 1
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters
