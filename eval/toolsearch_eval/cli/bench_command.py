"""`toolsearch bench`: speed, side by side with other libraries, on synthetic catalogs."""

from __future__ import annotations

import argparse

from toolsearch.errors import UsageError
from toolsearch_eval.cli.output import print_json, say, tell, tell_warnings, text_table

DEFAULT_SIZES = "100,1000,10000,100000"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "bench",
        help="measure speed side by side",
        description="Measure build, refresh, query, start and memory on synthetic catalogs, beside other libraries, "
        "and the trials of the tuner on the shipped data, beside building and asking for each trial. "
        "All four sizes take about eight minutes on two cores; --sizes 100,1000,10000 takes one.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--sizes",
        default=DEFAULT_SIZES,
        metavar="N,N,…",
        help=f"tools of each catalog (default {DEFAULT_SIZES})",
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds; medians are reported (default 3)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of catalogs and queries (default 0)")
    parser.add_argument(
        "--gateway",
        nargs="?",
        const="20:1000",
        metavar="SERVERS:TOOLS",
        help="measure the MCP gateway instead: calls beside direct ones, start, memory, search (default 20:1000)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def read_sizes(text: str) -> tuple[int, ...]:
    """Sizes from `100,1000`; underscores are fine.

    Raises:
        UsageError: A piece is not a whole number of at least 1.
    """
    try:
        sizes = tuple(int(piece) for piece in text.split(","))
    except ValueError:
        sizes = ()
    if not sizes or min(sizes) < 1:
        raise UsageError(f"--sizes is {text[:80]!r}; accepted are whole numbers of at least 1, such as 100,1000.")
    return tuple(dict.fromkeys(sizes))


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; the exit code is 0 whatever was measured."""
    sizes = read_sizes(arguments.sizes)
    if arguments.rounds < 1:
        raise UsageError(f"--rounds is {arguments.rounds}; it must be a whole number of at least 1.")
    if arguments.seed < 0:
        raise UsageError(f"--seed is {arguments.seed}; it must be a whole number of at least 0.")
    if arguments.gateway is not None:
        return _gateway(arguments.gateway, seed=arguments.seed, as_json=arguments.json)
    from toolsearch_eval.bench.cases import run_benchmark
    from toolsearch_eval.bench.report import benchmark_json, case_rows, growth_rows

    benchmark = run_benchmark(sizes, rounds=arguments.rounds, seed=arguments.seed, progress=tell)
    tell_warnings(benchmark.warnings)
    if arguments.json:
        print_json(benchmark_json(benchmark))
        return 0
    say(text_table(*case_rows(benchmark)))
    header, rows = growth_rows(benchmark)
    if rows:
        say("\n" + text_table(header, rows))
    memory = [
        (f"{tools:,}", f"{megabytes:.1f}", f"{megabytes * 10_000 / tools:.1f}")
        for tools, megabytes in benchmark.memory.items()
    ]
    say("\n" + text_table(("memory of the index, tools", "MB", "MB per 10,000 tools"), memory))
    return 0


def read_gateway(text: str) -> tuple[int, int]:
    """Servers and tools from `20:1000`.

    Raises:
        UsageError: Not two whole numbers, or fewer tools than servers.
    """
    try:
        servers, tools = (int(piece) for piece in text.split(":"))
    except ValueError:
        servers, tools = 0, 0
    if servers < 1 or tools < servers:
        raise UsageError(f"--gateway is {text[:80]!r}; accepted are servers and tools, at least one each: 20:1000.")
    return servers, tools


def _gateway(text: str, *, seed: int, as_json: bool) -> int:
    servers, tools = read_gateway(text)
    try:
        from toolsearch_eval.bench.gateway import run_gateway_benchmark
    except ModuleNotFoundError as error:
        raise UsageError(f"bench --gateway needs {error.name}: pip install 'toolsearch[mcp]'") from None
    tell(f"{servers:,} servers with {tools:,} tools")
    measured = run_gateway_benchmark(servers, tools, seed=seed)
    if as_json:
        cases = [case.to_json() for case in measured.cases]
        print_json({"schema_version": 1, "servers": servers, "cases": cases, "megabytes": measured.megabytes})
        return 0
    header = ("case", "tools", "ours ms", "beside", "its ms", "ratio")
    rows = [
        (
            case.case,
            f"{case.tools:,}",
            f"{case.ours_ms:.2f}",
            case.other,
            "" if case.other_ms is None else f"{case.other_ms:.2f}",
            "" if case.ratio is None else f"{case.ratio:.2f}",
        )
        for case in measured.cases
    ]
    say(text_table(header, rows))
    say(f"\nmemory of the gateway, without its servers: {measured.megabytes:.1f} MB")
    return 0
