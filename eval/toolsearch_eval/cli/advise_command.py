"""`toolsearch advise`: which tools to pin and which to defer, with the arithmetic."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.cli.output import print_json, tell_warnings

if TYPE_CHECKING:
    from toolsearch.catalog.tool import Tool
    from toolsearch_eval.conversations import Conversation
    from toolsearch_eval.data import DataSet
    from toolsearch_eval.sessionlab.advise import ToolAdvice
    from toolsearch_eval.sessionlab.pin_effect import Pins
    from toolsearch_eval.sessionlab.prefix import Sizes
    from toolsearch_eval.sessionlab.providers import ProviderProfile
    from toolsearch_eval.sessionlab.tool_use import Observed, ToolUse, Typical

SCHEMA_VERSION = 1
_FEW = 3
"""A tool that fewer agents used than this is pinned on thin evidence, which is said."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb and its arguments."""
    parser = subparsers.add_parser(
        "advise",
        help="say which tools to pin or to defer",
        description="Say which tools cost less pinned (their definitions in every request) and which deferred (listed "
        "by name, and a round trip to find them), from how conversations use them or from your own counts, with the "
        "arithmetic; then replay the conversations with these pins.",
        allow_abbrev=False,
    )
    parser.add_argument("--data", default="builtin", metavar="NAME|DIR", help="the data set (default: builtin)")
    parser.add_argument("--split", choices=("dev", "test", "all"), default="all", help="which conversations")
    parser.add_argument(
        "--provider", default="anthropic", metavar="NAME|FILE.toml", help="whose cache and prices (default: anthropic)"
    )
    parser.add_argument(
        "--announcements",
        choices=("header", "delta"),
        default="header",
        help="how deferred tools are listed: anew in each request (default), or once in the history",
    )
    parser.add_argument(
        "--round-trip",
        type=float,
        default=0.0,
        metavar="MONEY",
        help="what waiting for one more request is worth to you beside its tokens (default: 0)",
    )
    parser.add_argument(
        "--usage",
        metavar="FILE",
        help="your own counts instead of those of the conversations: CSV or JSON lines with tool, count and, if you "
        "have it, sessions; what a search costs is then the average over the conversations",
    )
    parser.add_argument("--sessions", type=int, metavar="N", help="with --usage: the sessions that were counted")
    parser.add_argument(
        "--requests",
        type=float,
        metavar="N",
        help="with --usage: requests of a session (default: the average of the conversations)",
    )
    parser.add_argument("--catalog", metavar="FILE", help="with --usage: your catalog (default: that of the data set)")
    parser.add_argument("--pinned", action="append", default=[], metavar="TOOL", help="is pinned now; may be repeated")
    parser.add_argument("--tool", action="append", default=[], metavar="TOOL", help="show the arithmetic of this one")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="lines of each table (default: 10)")
    parser.add_argument(
        "--prefetch",
        action="store_true",
        help="instead: how many tools to recommend unasked and how sure that has to be, tried on the dev conversations "
        "and reported on the test ones",
    )
    parser.add_argument("--no-replay", action="store_true", help="the arithmetic alone")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Work the advice out and print it; 0."""
    from toolsearch.tokens import token_counter
    from toolsearch_eval.cli.advise_text import print_advice
    from toolsearch_eval.data import load_data
    from toolsearch_eval.sessionlab.advise import advise
    from toolsearch_eval.sessionlab.observe import observe
    from toolsearch_eval.sessionlab.prefix import Sizes
    from toolsearch_eval.sessionlab.providers import provider_profile
    from toolsearch_eval.sessionlab.tool_use import together

    _check(args)
    profile = provider_profile(args.provider)
    data = load_data(args.data)
    if args.prefetch:
        return _prefetch(args, data, profile)
    talks = _conversations(data, args.split)
    tools = _catalog(args, data)
    names = {tool.name for tool in tools}
    pinned = {*args.pinned, *(name for talk in talks for name in talk.pins if args.usage is None)}
    for name in [*args.pinned, *args.tool]:
        if name not in names:
            raise UnknownNameError("tool", name, names)
    sizes = Sizes(token_counter())
    each = observe(talks, data.tools, api=profile.api, counter=sizes.counter)
    seen = together(each)
    uses, agents, requests, usual = _uses(args, seen, tools)
    found = advise(
        tools,
        uses,
        profile,
        sizes,
        announcements=args.announcements,
        round_trip=args.round_trip,
        pinned=pinned,
    )
    warnings = _warnings(found)
    measured = None
    if args.usage is None and not args.no_replay:
        measured = _measured(args, data, talks, each, found, profile, sizes)
    form: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "data": data.name,
        "split": args.split,
        "conversations": len(talks),
        "usage": args.usage,
        "tokenizer": sizes.counter.name,
        "provider": profile.name,
        "model": profile.model,
        "currency": profile.currency,
        "prices_as_of": profile.prices_as_of,
        "prices_per_million": {
            "cached": profile.prices.cached,
            "written": profile.prices.written,
            "new": profile.prices.input,
            "output": profile.prices.output,
        },
        "announcements": args.announcements,
        "round_trip": args.round_trip,
        "sessions": agents,
        "requests": requests,
        "assumed": usual,
        "pin": [advice.tool for advice in found if advice.advice == "pin"],
        "defer": [advice.tool for advice in found if advice.advice == "defer"],
        "arithmetic": {advice.tool: _arithmetic(advice, profile) for advice in found},
        "measured": measured,
        "warnings": warnings,
    }
    if args.json:
        print_json(form)
    else:
        print_advice(form, tools=args.tool, top=args.top)
    tell_warnings(warnings)
    return 0


def _check(args: argparse.Namespace) -> None:
    if not math.isfinite(args.round_trip) or args.round_trip < 0:
        raise UsageError(f"--round-trip is {args.round_trip:g}; it must be a sum of money, at least 0.")
    if args.top < 0:
        raise UsageError(f"--top is {args.top}; it must be a whole number of at least 0.")
    if args.prefetch and (args.usage is not None or args.tool or args.pinned or args.split != "all"):
        raise UsageError(
            "--prefetch takes --data, --provider, --announcements and --json; the splits have their parts."
        )
    if args.usage is None:
        for name in ("sessions", "requests", "catalog"):
            if getattr(args, name) is not None:
                raise UsageError(f"--{name} goes with --usage; conversations say that themselves.")
        return
    if args.sessions is None:
        raise UsageError("--usage needs --sessions N: a pinned tool costs in each session, so their number counts.")
    if not 1 <= args.sessions <= 10**12:
        raise UsageError(f"--sessions is {args.sessions}; it must be a whole number of at least 1.")
    if args.requests is not None and not 1 <= args.requests <= 10**6:
        raise UsageError(f"--requests is {args.requests:g}; it must be a number of at least 1.")


def _prefetch(args: argparse.Namespace, data: DataSet, profile: ProviderProfile) -> int:
    from toolsearch.tokens import token_counter
    from toolsearch_eval.cli.advise_text import print_prefetch
    from toolsearch_eval.sessionlab.prefetch_tuning import tune_prefetch, tuning_form
    from toolsearch_eval.sessionlab.prefix import Sizes
    from toolsearch_eval.sessionlab.strategies import strategy

    for split in ("dev", "test"):
        _conversations(data, split)  # both have to be there
    sizes = Sizes(token_counter())
    chosen = strategy(f"stable+{args.announcements}+prefetch")
    tuning = tune_prefetch(data.conversations, data.tools, chosen, profile, sizes)
    form: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "data": data.name,
        "strategy": chosen.name,
        "tokenizer": sizes.counter.name,
        "provider": profile.name,
        "currency": profile.currency,
        "prices_as_of": profile.prices_as_of,
        **tuning_form(tuning),
    }
    if args.json:
        print_json(form)
    else:
        print_prefetch(form)
    return 0


def _conversations(data: DataSet, split: str) -> list[Conversation]:
    from toolsearch.errors import DataError
    from toolsearch_eval.conversation_check import check_conversation

    if not data.conversations:
        raise UsageError(f"{data.name} has no conversations; advice needs some, to see what a search costs.")
    problems = [problem for talk in data.conversations for problem in check_conversation(talk, data.tools)]
    if problems:
        raise DataError(problems)
    chosen = [talk for talk in data.conversations if split in ("all", talk.split)]
    if not chosen:
        raise UsageError(f"no conversation of {data.name} is in the split {split}; --split all takes every one.")
    return chosen


def _catalog(args: argparse.Namespace, data: DataSet) -> Sequence[Tool]:
    from toolsearch_eval.cli.search_command import open_catalog

    return data.tools if args.catalog is None else open_catalog(args.catalog)


def _uses(
    args: argparse.Namespace, seen: Observed, tools: Sequence[Tool]
) -> tuple[Mapping[str, ToolUse], int, float, dict[str, float] | None]:
    """Use by tool, the sessions, their requests in all, and what was assumed where only counts are known."""
    from dataclasses import asdict

    from toolsearch_eval.sessionlab.tool_use import assumed_use, typical
    from toolsearch_eval.sessionlab.usage_file import Counted, read_usage

    if args.usage is None:
        return seen.uses, seen.agents, seen.requests, None
    usual: Typical | None = typical(seen)
    if usual is None:
        raise UsageError("nothing is searched for in these conversations, so what a search costs can't be told.")
    requests = args.requests if args.requests is not None else usual.requests
    counts = read_usage(Path(args.usage), {tool.name for tool in tools}, sessions=args.sessions)
    uses = {}
    for tool in tools:
        counted = counts.get(tool.name, Counted(calls=0, sessions=0))
        users = min(counted.calls, args.sessions) if counted.sessions is None else counted.sessions
        uses[tool.name] = assumed_use(counted.calls, users, agents=args.sessions, requests=requests, usual=usual)
    return uses, args.sessions, args.sessions * requests, {**asdict(usual), "requests": requests}


def _warnings(found: Sequence[ToolAdvice]) -> list[str]:
    pins = [each for each in found if each.advice == "pin"]
    thin = sum(each.use.users < _FEW for each in pins)
    listed = sum(not each.use.users and each.saves > 0 for each in found)
    warnings = []
    if thin:
        warnings.append(f"{thin} of {len(pins)} pins rest on fewer than {_FEW} sessions that used the tool.")
    if listed:
        warnings.append(
            f"{listed} tools that nobody used would cost less pinned than listed by name in each request; they stay "
            "deferred, as listing them once (--announcements delta) costs less still."
        )
    return warnings


def _arithmetic(advice: ToolAdvice, profile: ProviderProfile) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "server": advice.server,
        "now": advice.now,
        "advice": advice.advice,
        "definition_tokens": advice.definition_tokens,
        "name_tokens": advice.name_tokens,
        "use": asdict(advice.use),
        "pinned": {**asdict(advice.pinned), "cost": advice.cost_pinned},
        "deferred": {
            "announced": {**asdict(advice.announced), "cost": advice.announced.cost(profile)},
            "searching": {**asdict(advice.searching), "cost": advice.searching.cost(profile)},
            "calling": {**asdict(advice.calling), "cost": advice.calling.cost(profile)},
            "cost": advice.cost_deferred,
        },
        "saves": advice.saves,
        "pays_from": advice.pays_from,
    }


def _measured(
    args: argparse.Namespace,
    data: DataSet,
    talks: Sequence[Conversation],
    each: Sequence[Observed],
    found: Sequence[ToolAdvice],
    profile: ProviderProfile,
    sizes: Sizes,
) -> dict[str, Any]:
    """The conversations replayed with the pins, and with pins that come from the other conversations alone."""
    from toolsearch_eval.sessionlab.advise import advise
    from toolsearch_eval.sessionlab.pin_effect import effect_form, pin_effects
    from toolsearch_eval.sessionlab.strategies import strategy
    from toolsearch_eval.sessionlab.tool_use import together

    chosen = strategy(f"stable+{args.announcements}")
    pins = [advice.tool for advice in found if advice.advice == "pin"]
    others: dict[str, list[str]] = {}
    for place, talk in enumerate(talks):
        rest = together([*each[:place], *each[place + 1 :]])
        apart = advise(
            data.tools, rest.uses, profile, sizes, announcements=args.announcements, round_trip=args.round_trip
        )
        others[talk.name] = [advice.tool for advice in apart if advice.advice == "pin"]

    choices: dict[str, Pins] = {
        "same_conversations": lambda talk: pins,
        "left_out_conversations": lambda talk: others[talk.name],
    }
    effects = pin_effects(talks, data.tools, choices, chosen, profile, sizes)
    return {"strategy": chosen.name, **{label: effect_form(effect) for label, effect in effects.items()}}
