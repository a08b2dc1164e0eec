"""Which tools to pin and which to defer: what either way costs, counted in tokens and priced by a provider's rules.

A pinned tool stands in every request of every session, used or not. A deferred tool is listed by name; when it is
needed it takes a round trip to find, which sends the whole conversation once more, an answer that stays in the requests
after it, and a call through the proxy that is a little longer than a direct one. Whatever costs less is the advice.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.session.providers import provider_for
from toolsearch.session.settings import Announcements
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.providers import ProviderProfile
from toolsearch_eval.sessionlab.tool_use import ToolUse

Choice = Literal["pin", "defer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """Tokens by what is charged for them.

    Attributes:
        cached: Read from the cache.
        written: Written to it, where that is charged apart.
        new: Sent without the cache having a part in it.
        output: Written by the model.
    """

    cached: float = 0.0
    written: float = 0.0
    new: float = 0.0
    output: float = 0.0

    def cost(self, profile: ProviderProfile) -> float:
        """What they cost, in the profile's currency."""
        prices = profile.prices
        parts = (
            prices.cached * self.cached,
            prices.written * self.written,
            prices.input * self.new,
            prices.output * self.output,
        )
        return math.fsum(parts) / 1_000_000

    def lines(self, profile: ProviderProfile) -> tuple[tuple[str, float, float], ...]:
        """Kind, tokens and price of a million for each kind that has any tokens."""
        prices = profile.prices
        named = (
            ("cached", self.cached, prices.cached),
            ("written", self.written, prices.written),
            ("new", self.new, prices.input),
            ("output", self.output, prices.output),
        )
        return tuple(line for line in named if line[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAdvice:
    """What one tool costs pinned and deferred, over everything that its use was counted in.

    Attributes:
        tool: Its name.
        server: Whose it is; None for none.
        now: How it stands without the advice.
        advice: What costs less; `defer` where both cost the same, and where nobody used it.
        use: How it is used.
        definition_tokens: Tokens of its definition, as it stands in the array.
        name_tokens: Tokens of its name in the list of deferred tools.
        pinned: Pinned: its definition in every request.
        announced: Deferred: its name in the lists.
        searching: Deferred: the round trips to find it.
        calling: Deferred: what calls through the proxy take more.
        cost_pinned: What the first costs.
        cost_deferred: What the three others cost together, with what a round trip costs beside its tokens.
        pays_from: How many of its `use.agents` would have to use it, each as those that did, before pinning it costs
            less; None where nobody used it.
    """

    tool: str
    server: str | None
    now: Literal["pinned", "deferred"]
    advice: Choice
    use: ToolUse
    definition_tokens: int
    name_tokens: int
    pinned: Bill
    announced: Bill
    searching: Bill
    calling: Bill
    cost_pinned: float
    cost_deferred: float
    pays_from: float | None

    @property
    def saves(self) -> float:
        """What pinning it saves; negative where it costs more."""
        return self.cost_deferred - self.cost_pinned


def advise(
    tools: Iterable[Tool],
    uses: Mapping[str, ToolUse],
    profile: ProviderProfile,
    sizes: Sizes,
    *,
    announcements: Announcements = "header",
    round_trip: float = 0.0,
    pinned: Iterable[str] = (),
) -> tuple[ToolAdvice, ...]:
    """Advice for every tool that is not a core one, what pinning saves most first, then by name.

    Args:
        tools: The catalog.
        uses: Use by tool; a tool that is not in it was never there.
        profile: The cache rules and prices.
        sizes: Counts the tokens.
        announcements: How deferred tools are listed: anew in each request, or once in the history.
        round_trip: What waiting for one more request costs beside its tokens, in the profile's currency, at least 0.
        pinned: Names that are pinned now; a tool with `always_load` is too.
    """
    tools = tuple(tools)
    now = {*pinned, *(tool.name for tool in tools if tool.always_load)}
    free = ToolRegistry(replace(tool, always_load=False) for tool in tools).deferred()
    found = [
        _advice(tool, uses.get(tool.name, ToolUse()), tool.name in now, profile, sizes, announcements, round_trip)
        for tool in free
    ]
    return tuple(sorted(found, key=lambda each: (-round(each.saves, 12), each.tool)))


def definition_text(tool: Tool, api: str) -> str:
    """A tool as it stands in the array of a request: one line of JSON."""
    array: Sequence[Mapping[str, Any]] = provider_for(api).tools([tool]).array
    entry = array[0]
    declared = entry.get("function_declarations")
    return json.dumps(declared[0] if declared else entry, ensure_ascii=False, separators=(",", ":"))


def _advice(
    tool: Tool,
    use: ToolUse,
    is_pinned: bool,
    profile: ProviderProfile,
    sizes: Sizes,
    announcements: Announcements,
    round_trip: float,
) -> ToolAdvice:
    definition = sizes.tokens(definition_text(tool, profile.api))
    name = sizes.tokens(f"{tool.name}\n")
    pinned = _first(profile, definition * use.agents, cached=definition * (use.requests - use.agents))
    if announcements == "header":
        announced = Bill(new=name * use.announced)
    else:
        later = use.announced - use.first_announced
        announced = _first(profile, name * use.first_announced, cached=name * later)
    listed = use.listed if announcements == "header" else 0.0
    searching = _first(profile, use.asked + use.answered, cached=use.reread + use.kept, new=listed, output=use.asked)
    calling = _first(profile, use.wrapped, cached=use.wrapped_kept, output=use.wrapped)
    cost_pinned = pinned.cost(profile)
    per_use = [searching.cost(profile), calling.cost(profile), round_trip * use.searches]
    cost_deferred = math.fsum([announced.cost(profile), *per_use])
    used = math.fsum(per_use)
    pays_from = None
    if use.users and used > 0:
        pays_from = max(0.0, (cost_pinned - announced.cost(profile)) / (used / use.users))
    return ToolAdvice(
        tool=tool.name,
        server=tool.server,
        now="pinned" if is_pinned else "deferred",
        # Where names are sent anew in each request, a cached definition can cost less than its own name. That is a
        # reason for other announcements, not for an array full of tools that nobody calls.
        advice="pin" if use.users and cost_deferred > cost_pinned else "defer",
        use=use,
        definition_tokens=definition,
        name_tokens=name,
        pinned=pinned,
        announced=announced,
        searching=searching,
        calling=calling,
        cost_pinned=cost_pinned,
        cost_deferred=cost_deferred,
        pays_from=pays_from,
    )


def _first(profile: ProviderProfile, tokens: float, *, cached: float, new: float = 0.0, output: float = 0.0) -> Bill:
    """A bill in which some tokens are sent for the first time: written where the provider charges that apart."""
    if profile.cache.kind == "marks":
        return Bill(written=tokens, cached=cached, new=new, output=output)
    return Bill(new=tokens + new, cached=cached, output=output)
