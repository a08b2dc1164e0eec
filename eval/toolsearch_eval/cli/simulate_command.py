"""`toolsearch simulate`: conversations replayed under strategies, with tokens, cache and money."""

from __future__ import annotations

import argparse
import math
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from toolsearch.errors import UsageError
from toolsearch_eval.cli.output import neutralise, print_json, say, tell, tell_warnings, text_table

if TYPE_CHECKING:
    from toolsearch_eval.sessionlab.lab import Simulated
    from toolsearch_eval.sessionlab.scaling import SizeRow


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "simulate",
        help="replay conversations and count tokens and cache",
        description="Replay scripted conversations through the real session under strategies that differ in how tools "
        "reach the model: inline, inject, stable+header, stable+delta, all but inline also with +prefetch. Every "
        "request is built and held against the one before it; what is saved is counted against inline.",
        allow_abbrev=False,
    )
    parser.add_argument("--data", default="builtin", metavar="NAME|DIR", help="the data set (default: builtin)")
    parser.add_argument("--strategy", action="append", metavar="S", help="may be given again (default: all)")
    parser.add_argument(
        "--provider",
        default="anthropic",
        metavar="P|FILE.toml",
        help="whose cache and prices: anthropic, openai, gemini or a file of that form (default: anthropic)",
    )
    parser.add_argument("--split", choices=("dev", "test", "all"), default="all", help="conversations (default: all)")
    parser.add_argument("--conversation", action="append", metavar="NAME", help="only this one; may be given again")
    parser.add_argument(
        "--tokens", choices=("auto", "bpe", "estimate"), default="auto", help="how tokens are counted (default: auto)"
    )
    parser.add_argument(
        "--pause",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="how long a user takes before speaking again; beyond a cache's lifetime it is empty (default: 60)",
    )
    parser.add_argument("--teams", action="store_true", help="agent teams are on: their tools are always loaded")
    parser.add_argument(
        "--pin",
        action="append",
        metavar="TOOL",
        help="this tool is always loaded; may be given again (not for --sizes)",
    )
    parser.add_argument(
        "--sizes", metavar="N,N,…", help="over catalogs of so many deferred tools too, and from which size on it pays"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draw of these catalogs (default: 0)")
    parser.add_argument(
        "--out", metavar="DIR", help="write summary, every request as CSV, and a report with pictures to this folder"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Replay and print; the exit code is 0 whatever was measured."""
    from toolsearch.tokens import token_counter
    from toolsearch_eval.data import load_data
    from toolsearch_eval.progress import progress_bar
    from toolsearch_eval.runs.folder import check_free
    from toolsearch_eval.sessionlab.lab import chosen_conversations, simulate, strategies_run
    from toolsearch_eval.sessionlab.prefix import Sizes
    from toolsearch_eval.sessionlab.providers import provider_profile
    from toolsearch_eval.sessionlab.replayed import Pace
    from toolsearch_eval.sessionlab.report import write_simulation
    from toolsearch_eval.sessionlab.scaling import scaling
    from toolsearch_eval.sessionlab.strategies import STRATEGIES

    tools = read_sizes(args.sizes)
    if args.seed < 0:
        raise UsageError(f"--seed is {args.seed}; it must be a whole number of at least 0.")
    if not 0 <= args.pause < math.inf:
        raise UsageError(f"--pause is {args.pause}; it must be a number of seconds of at least 0.")
    pace = Pace(between_turns=args.pause)
    if args.out is not None:
        check_free(args.out)
    names = args.strategy or list(STRATEGIES)
    profile = provider_profile(args.provider)
    runs = len(strategies_run(names))
    sizes = Sizes(token_counter(args.tokens))
    data = load_data(args.data)
    only = args.conversation or ()
    talks = len(chosen_conversations(data, split=args.split, only=only))
    rows: tuple[SizeRow, ...] = ()
    with redirect_stdout(sys.stderr), progress_bar(runs * talks * (1 + len(tools))) as advance:
        found = simulate(
            data,
            names,
            profile,
            sizes,
            split=args.split,
            only=only,
            teams=args.teams,
            pins=args.pin or (),
            pace=pace,
            progress=advance,
        )
        if tools:
            rows = scaling(
                data,
                names,
                profile,
                sizes,
                tools=tools,
                split=args.split,
                only=only,
                seed=args.seed,
                pace=pace,
                progress=advance,
            )
    form = found.to_json()
    if rows:
        form["sizes"] = [
            {"size": row.size, "tools": row.tools, "copies": row.copies, "strategy": row.strategy}
            | {"tokens": {"sent": row.sent, "about_tools": row.tool_tokens}, "cost": row.cost}
            for row in rows
        ]
    tell_warnings(found.warnings)
    if args.json:
        print_json(form)
    else:
        _print(found, rows)
    if args.out is not None:
        tell(f"the simulation is in {write_simulation(found, rows, form, args.out)}")
    return 0


def read_sizes(text: str | None) -> tuple[int, ...]:
    """Catalog sizes from `10,100`, each once; none without a text.

    Raises:
        UsageError: A piece is not a whole number of at least 1.

    >>> read_sizes("10,100,10"), read_sizes(None)
    ((10, 100), ())
    """
    if text is None:
        return ()
    try:
        sizes = tuple(int(piece) for piece in text.split(","))
    except ValueError:
        sizes = ()
    if not sizes or min(sizes) < 1:
        raise UsageError(f"--sizes is {text[:80]!r}; accepted are whole numbers of at least 1, such as 10,100,1000.")
    return tuple(dict.fromkeys(sizes))


def _print(found: Simulated, rows: tuple[SizeRow, ...]) -> None:
    from toolsearch_eval.sessionlab.report import (
        break_even_lines,
        break_lines,
        length_lines,
        saving_lines,
        size_grid,
        strategy_grid,
    )

    talks = len(found.conversations)
    say(
        f"{talks} conversation{'' if talks == 1 else 's'} of {neutralise(found.data)}, "
        f"{neutralise(found.profile.name)} ({neutralise(found.profile.model)}), tokens by {found.tokenizer}, prices in "
        f"{neutralise(found.profile.currency)} of {neutralise(found.profile.prices_as_of)}"
    )
    grid = strategy_grid(found)
    say("\n" + text_table(grid.header, grid.rows) + "\n")
    for line in (*saving_lines(found), *break_lines(found), *length_lines(found)):
        say(neutralise(line))
    if rows:
        by_size = size_grid(rows, found.profile.currency)
        say("\n" + text_table(by_size.header, by_size.rows))
        for line in break_even_lines(rows):
            say(neutralise(line))
    for name in found.strategies:
        broken = next((row for row in found.of(name) if row.broken_by is not None), None)
        if broken is not None and broken.cause is not None:
            tell(
                f"{name} breaks first in {broken.conversation}, request {broken.request}: {broken.broken_by}; "
                f"{broken.cause.words}"
            )
