"""All conversations under all strategies, and what they come to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.errors import DataError, UnknownNameError, UsageError
from toolsearch_eval.conversation_check import check_conversation
from toolsearch_eval.conversations import Conversation
from toolsearch_eval.data import DataSet
from toolsearch_eval.sessionlab.accounting import RequestRow, account, kept_share
from toolsearch_eval.sessionlab.blocks import PARTS, Part
from toolsearch_eval.sessionlab.happenings import KINDS, Kind
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.providers import ProviderProfile
from toolsearch_eval.sessionlab.recommended import PrefetchFigures, prefetch_figures
from toolsearch_eval.sessionlab.replay import replay
from toolsearch_eval.sessionlab.replayed import Pace, Turn
from toolsearch_eval.sessionlab.strategies import BASELINE, Strategy, strategy

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What the requests of one strategy come to.

    Attributes:
        requests: How many.
        parts: Tokens by part; parts without tokens are not in it.
        cached: Tokens that were read from the cache.
        written: Tokens that were written to it.
        new: Tokens that the cache had no part in; the three add up to `sent`.
        tool_tokens: Tokens that tell the model about tools.
        output: Tokens that the model wrote.
        cost: Money, in the profile's currency.
        prefix_kept: See `kept_share`.
        prefix_breaks: Requests that don't begin like the agent's request before, up to that one's last cache mark.
        causes: How many of these breaks have which cause; kinds without one are not in it.
        array_variants: The most different tools arrays that one agent of one conversation sent.
        searches: Round trips to search.
        failed: Calls that failed.
        prefetch: How good the recommendations were.
    """

    requests: int
    parts: Mapping[Part, int]
    cached: int
    written: int
    new: int
    tool_tokens: int
    output: int
    cost: float
    prefix_kept: float | None
    prefix_breaks: int
    causes: Mapping[Kind, int]
    array_variants: int
    searches: int
    failed: int
    prefetch: PrefetchFigures

    @property
    def sent(self) -> int:
        """All tokens of the requests."""
        return self.cached + self.written + self.new


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What a simulation gave.

    Attributes:
        data: The data set.
        conversations: Which were replayed, by name.
        profile: Whose cache and prices.
        tokenizer: What tokens are counted with.
        strategies: Those that were asked for, in that order.
        rows: Every request of these and of `inline`, which savings are counted against.
        turns: The turns by strategy.
        warnings: What the sessions warned about, each once.
    """

    data: str
    conversations: tuple[str, ...]
    profile: ProviderProfile
    tokenizer: str
    strategies: tuple[str, ...]
    rows: tuple[RequestRow, ...]
    turns: Mapping[str, tuple[Turn, ...]]
    warnings: tuple[str, ...]

    def of(self, name: str, conversation: str | None = None) -> tuple[RequestRow, ...]:
        """The requests of one strategy, in order; with a conversation, those of it alone."""
        return tuple(row for row in self.rows if row.strategy == name and conversation in (None, row.conversation))

    def totals(self, name: str) -> Totals:
        """What one strategy comes to."""
        return totals(self.of(name), self.turns[name])

    def to_json(self) -> dict[str, Any]:
        """The machine-readable form."""
        inline = self.totals(BASELINE).tool_tokens
        found = {name: self.totals(name) for name in self.strategies}
        return {
            "schema_version": SCHEMA_VERSION,
            "data": self.data,
            "conversations": list(self.conversations),
            "provider": self.profile.name,
            "model": self.profile.model,
            "tokenizer": self.tokenizer,
            "currency": self.profile.currency,
            "prices_as_of": self.profile.prices_as_of,
            "assumptions": list(self.profile.assumptions),
            "strategies": {name: _form(each, inline) for name, each in found.items()},
            "warnings": list(self.warnings),
        }


def simulate(
    data: DataSet,
    strategies: Sequence[str],
    profile: ProviderProfile,
    sizes: Sizes,
    *,
    split: str = "all",
    only: Sequence[str] = (),
    tools: Sequence[Tool] | None = None,
    config: SearchConfig = DEFAULT,
    teams: bool = False,
    pins: Sequence[str] = (),
    pace: Pace | None = None,
    progress: Callable[[int], object] = lambda done: None,
) -> Simulated:
    """Replay conversations under strategies; `inline` is replayed too, as savings are counted against it.

    Args:
        data: The data set with its conversations.
        strategies: Their names.
        profile: Whose cache and prices.
        sizes: Counts the tokens.
        split: `dev`, `test` or `all` conversations.
        only: Names of conversations; none takes all of the split.
        tools: Another catalog; that of the data set if None.
        config: The search profile.
        teams: Agent teams are on.
        pins: Tools that stand in every array from the beginning, beside the pins of a conversation.
        pace: How much time passes; the defaults if None.
        progress: Is told 1 after each conversation under each strategy.

    Raises:
        UnknownNameError: There is no such strategy, conversation or pinned tool.
        UsageError: There is no conversation to replay.
        DataError: Conversations hold faults; all of them at once.
    """
    chosen = [strategy(name) for name in dict.fromkeys(strategies)]
    run = [*chosen, *([] if any(each.name == BASELINE for each in chosen) else [strategy(BASELINE)])]
    talks = chosen_conversations(data, split=split, only=only)
    catalog = data.tools if tools is None else tools
    known = [tool.name for tool in catalog]
    for name in pins:
        if name not in known:
            raise UnknownNameError("tool", name, known)
    rows: list[RequestRow] = []
    turns: dict[str, list[Turn]] = {each.name: [] for each in run}
    warnings: list[str] = []
    for talk in talks:
        for each in run:
            replayed = replay(
                talk,
                catalog,
                each,
                api=profile.api,
                counter=sizes.counter,
                config=config,
                teams=teams,
                pins=pins,
                pace=pace,
            )
            rows += account(replayed, profile, sizes)
            turns[each.name] += replayed.turns
            warnings += replayed.warnings
            progress(1)
    return Simulated(
        data=data.name,
        conversations=tuple(talk.name for talk in talks),
        profile=profile,
        tokenizer=sizes.counter.name,
        strategies=tuple(each.name for each in chosen),
        rows=tuple(rows),
        turns={name: tuple(each) for name, each in turns.items()},
        warnings=tuple(dict.fromkeys(warnings)),
    )


def strategies_run(names: Sequence[str]) -> tuple[Strategy, ...]:
    """The strategies that a simulation of these replays: they and the baseline."""
    return tuple(strategy(name) for name in dict.fromkeys((*names, BASELINE)))


def chosen_conversations(data: DataSet, *, split: str, only: Sequence[str] = ()) -> tuple[Conversation, ...]:
    """The conversations to replay, in the data set's order, after a check of all of them.

    Raises:
        UnknownNameError: There is no conversation of a name.
        UsageError: There is none to replay.
        DataError: Any of them holds a fault; all at once.
    """
    if not data.conversations:
        raise UsageError(f"{data.name} has no conversations; a data set keeps them in conversations/*.jsonl.")
    problems = [problem for talk in data.conversations for problem in check_conversation(talk, data.tools)]
    if problems:
        raise DataError(problems)
    names = [talk.name for talk in data.conversations]
    for name in only:
        if name not in names:
            raise UnknownNameError("conversation", name, names)
    found = tuple(
        talk for talk in data.conversations if split in ("all", talk.split) and (not only or talk.name in only)
    )
    if not found:
        raise UsageError(f"no conversation of {data.name} that was asked for is in the split {split}.")
    return found


def totals(rows: Sequence[RequestRow], turns: Sequence[Turn]) -> Totals:
    """What requests of one strategy come to; nothing but zeros without any."""
    parts: dict[Part, int] = {}
    causes = Counter(row.cause.kind for row in rows if row.cause is not None)
    arrays: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        for part, tokens in row.parts.items():
            parts[part] = parts.get(part, 0) + tokens
        arrays.setdefault((row.conversation, row.agent), set()).add(row.array)
    return Totals(
        requests=len(rows),
        parts={part: parts[part] for part in PARTS if part in parts},
        cached=sum(row.use.cached for row in rows),
        written=sum(row.use.written for row in rows),
        new=sum(row.use.new for row in rows),
        tool_tokens=sum(row.tool_tokens for row in rows),
        output=sum(row.output for row in rows),
        cost=math.fsum(row.cost for row in rows),
        prefix_kept=kept_share(rows),
        prefix_breaks=sum(row.broken_by is not None for row in rows),
        causes={kind: causes[kind] for kind in KINDS if causes[kind]},
        array_variants=max(map(len, arrays.values()), default=0),
        searches=sum(row.searches for row in rows),
        failed=sum(row.failed for row in rows),
        prefetch=prefetch_figures(turns),
    )


def _form(found: Totals, inline: int) -> dict[str, Any]:
    prefetch = found.prefetch
    return {
        "requests": found.requests,
        "tokens": {"sent": found.sent, "cached": found.cached, "written": found.written, "new": found.new},
        "output_tokens": found.output,
        "parts": dict(found.parts),
        "cost": found.cost,
        "prefix_kept": found.prefix_kept,
        "prefix_breaks": found.prefix_breaks,
        "prefix_breaks_by_cause": dict(found.causes),
        "tools_array_variants": found.array_variants,
        "tool_tokens": found.tool_tokens,
        "tool_tokens_saved": inline - found.tool_tokens,
        "searches": found.searches,
        "failed_calls": found.failed,
        "prefetch": {
            "recommended": prefetch.recommended,
            "precision": prefetch.precision,
            "recall": prefetch.recall,
            "quiet_turns": prefetch.quiet_turns,
            "silent": prefetch.silent,
            "tokens": found.parts.get("recommendations", 0),
        },
    }
