"""The same conversations over catalogs of other sizes: what each strategy costs, and from which size on it pays."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch.tools.servers import ServerState
from toolsearch_eval.conversations import AssistantEvent, Conversation, ToolsChangedEvent, UserEvent, all_events
from toolsearch_eval.data import DataSet
from toolsearch_eval.sessionlab.lab import chosen_conversations, simulate, strategies_run
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.providers import ProviderProfile
from toolsearch_eval.sessionlab.replayed import Pace
from toolsearch_eval.sessionlab.strategies import BASELINE

DEFAULT_SIZES = (10, 20, 50, 100, 200, 500, 1000)
"""Catalog sizes, in deferred tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeRow:
    """One strategy over catalogs of one size.

    Attributes:
        size: Deferred tools that were asked for.
        tools: Deferred tools of a conversation's catalog, on average: more than asked for where it needs more.
        copies: Those of them that are renamed copies, on average.
        strategy: The strategy.
        sent: Tokens of all requests.
        tool_tokens: Those of them that tell the model about tools.
        cost: Money.
    """

    size: int
    tools: float
    copies: float
    strategy: str
    sent: int
    tool_tokens: int
    cost: float


def sized_catalog(tools: Sequence[Tool], conversation: Conversation, size: int, *, seed: int) -> tuple[Tool, ...]:
    """A catalog of so many deferred tools with all that a conversation touches, drawn by a seed.

    Kept are the tools that are always loaded, those that the conversation names, and one of each server that it
    speaks of; the rest is drawn. Where the
    catalog has too few, tools of its servers come again under the names of further servers (`github_2`).

    Args:
        tools: The catalog.
        conversation: Whose tools have to be there.
        size: Deferred tools, at least 1; a conversation that touches more keeps what it touches.
        seed: Of the draw; the order of the catalog has no part in it.
    """
    touched = _touched(conversation)
    free = sorted(
        (tool for tool in tools if is_deferred(tool) and tool.name not in touched),
        key=lambda tool: hashlib.sha256(f"{seed}\0{tool.name}".encode("utf-8", "surrogatepass")).digest(),
    )
    kept = [tool for tool in tools if not is_deferred(tool) or tool.name in touched]
    # A server that the conversation speaks of has a tool at least.
    for server in sorted(set(conversation.servers) - {tool.server for tool in kept if tool.server}):
        kept += [tool for tool in free if tool.server == server][:1]
    free = [tool for tool in free if tool not in kept]
    lacking = max(0, size - sum(is_deferred(tool) for tool in kept))
    drawn = free[:lacking]
    round_number = 2
    while len(drawn) < lacking and any(tool.server for tool in free):
        drawn += [_copy(tool, round_number) for tool in free if tool.server][: lacking - len(drawn)]
        round_number += 1
    return tuple(sorted([*kept, *drawn], key=lambda tool: tool.name))


def scaling(
    data: DataSet,
    strategies: Sequence[str],
    profile: ProviderProfile,
    sizes: Sizes,
    *,
    tools: Sequence[int] = DEFAULT_SIZES,
    split: str = "all",
    only: Sequence[str] = (),
    seed: int = 0,
    pace: Pace | None = None,
    progress: Callable[[int], object] = lambda done: None,
) -> tuple[SizeRow, ...]:
    """Replay conversations over catalogs of each size.

    Args:
        data: The data set with its conversations.
        strategies: Their names; `inline` is replayed too.
        profile: Whose cache and prices.
        sizes: Counts the tokens.
        tools: The sizes, in deferred tools.
        split: `dev`, `test` or `all` conversations.
        only: Names of conversations; none takes all of the split.
        seed: Of the draw.
        pace: How much time passes; the defaults if None.
        progress: Is told 1 after each conversation under each strategy.

    Raises:
        UsageError: A size is below 1, or there is no conversation.
    """
    if any(size < 1 for size in tools):
        raise UsageError(f"a catalog size is {min(tools)}; sizes are whole numbers of at least 1.")
    talks = chosen_conversations(data, split=split, only=only)
    rows: list[SizeRow] = []
    for size in sorted(set(tools)):
        found: dict[str, list[float]] = {each.name: [0, 0, 0.0] for each in strategies_run(strategies)}
        counted = copied = 0
        for talk in talks:
            catalog = sized_catalog(data.tools, talk, size, seed=seed)
            here = replace(data, tools=catalog, conversations=(replace(talk, servers=_all_servers(talk, catalog)),))
            counted += sum(map(is_deferred, catalog))
            copied += len({tool.name for tool in catalog} - {tool.name for tool in data.tools})
            given = simulate(here, strategies, profile, sizes, pace=pace, progress=progress)
            for name, sums in found.items():
                of = given.of(name)
                sums[0] += sum(row.sent for row in of)
                sums[1] += sum(row.tool_tokens for row in of)
                sums[2] += sum(row.cost for row in of)
        rows += [
            SizeRow(
                size=size,
                tools=counted / len(talks),
                copies=copied / len(talks),
                strategy=name,
                sent=int(sums[0]),
                tool_tokens=int(sums[1]),
                cost=sums[2],
            )
            for name, sums in found.items()
        ]
    return tuple(rows)


def break_even(rows: Sequence[SizeRow], strategy: str, *, against: str = BASELINE) -> float | None:
    """From how many deferred tools on a strategy costs less than another, between two sizes by a straight line.

    Returns:
        Deferred tools; the smallest size that was tried where it is cheaper there already; None where it is not
        cheaper at the largest.
    """
    own, others = (
        sorted((row.tools, row.cost) for row in rows if row.strategy == name) for name in (strategy, against)
    )
    gaps = [(size, other - cost) for (size, cost), (_, other) in zip(own, others, strict=True)]
    if not gaps or gaps[-1][1] <= 0:
        return None
    place = len(gaps) - 1
    while place and gaps[place - 1][1] > 0:
        place -= 1
    if place == 0:
        return gaps[0][0]
    (low, before), (high, after) = gaps[place - 1], gaps[place]
    return low + (high - low) * -before / (after - before)


def _touched(conversation: Conversation) -> set[str]:
    names = set(conversation.pins)
    for event in all_events(conversation.events):
        match event:
            case UserEvent():
                names.update(event.needs)
            case AssistantEvent():
                names.update(call.tool for call in event.calls)
            case ToolsChangedEvent():
                names.update(event.remove)
                names.update(entry if isinstance(entry, str) else entry.name for entry in event.add)
                names.update(tool.name for tool in event.replace)
            case _:
                names.update(getattr(event, "tools", ()))
    return names


def _all_servers(conversation: Conversation, catalog: Sequence[Tool]) -> dict[str, ServerState]:
    """The servers as the conversation has them; the others are connected, so that their tools are there."""
    servers: dict[str, ServerState] = {tool.server: "connected" for tool in catalog if tool.server}
    return {**servers, **conversation.servers}


def _copy(tool: Tool, number: int) -> Tool:
    server = f"{tool.server}_{number}"
    return replace(tool, name=f"mcp__{server}__{tool.name.split('__')[-1]}", server=server, aliases=())
