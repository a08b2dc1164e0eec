"""`toolsearch compare`: two rankers or two runs, query by query."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolsearch.errors import UsageError
from toolsearch_eval.cli.judging import add_work_arguments, open_cache, tell_kept
from toolsearch_eval.cli.output import neutralise, print_json, say, shortened, tell, tell_warnings, text_table

if TYPE_CHECKING:
    from toolsearch_eval.compare import Comparison, Judged, Moved
    from toolsearch_eval.measures import Measure
    from toolsearch_eval.reasons import Reason
    from toolsearch_eval.runs.reading import Run
    from toolsearch_eval.runs.sides import Named

_SHOWN_RANKS = 5
"""Ranks of each ranking that are printed; the JSON form and the report have all."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb and its arguments."""
    parser = subparsers.add_parser(
        "compare",
        help="compare two rankers query by query",
        description="Compare two rankers, or two runs that `toolsearch eval --out` wrote: the difference with its "
        "interval and p, slice by slice, and the queries that moved most with both rankings and the reason. A side is "
        "a ranker (as for eval), the folder of a run, or one ranker of a run: DIR:RANKER. A ranker beside a run is "
        "judged on the run's own data.",
        allow_abbrev=False,
    )
    parser.add_argument("--a", required=True, metavar="RANKER|DIR|DIR:RANKER", help="the side that is counted from")
    parser.add_argument("--b", required=True, metavar="RANKER|DIR|DIR:RANKER", help="the side beside it")
    parser.add_argument("--data", metavar="NAME|DIR", help="the data set (default: that of the run, else builtin)")
    parser.add_argument("--split", choices=("dev", "test", "all"), help="default: that of the run, else as for eval")
    parser.add_argument("--depth", type=int, metavar="N", help="results asked for (default: that of the run, else 10)")
    parser.add_argument("--measure", metavar="M", help="what is compared (default: nDCG@10)")
    parser.add_argument(
        "--top", type=int, default=5, metavar="N", help="queries that moved most, with their reasons (default: 5)"
    )
    parser.add_argument("--out", metavar="DIR", help="write the comparison and a report with pictures to this folder")
    add_work_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Compare and print; 0 once both sides could be judged, 130 after Ctrl-C."""
    from toolsearch_eval.cli.main import INTERRUPTED
    from toolsearch_eval.compare import PRIMARY, compare
    from toolsearch_eval.measures import parse_measure
    from toolsearch_eval.reasons import reasons_for
    from toolsearch_eval.report.comparison import DRAWN_QUERIES
    from toolsearch_eval.runs.folder import check_free
    from toolsearch_eval.runs.sides import explain_side, named_side

    if args.top < 0:
        raise UsageError(f"--top is {args.top}; it must be a whole number of at least 0.")
    if args.out is not None:
        check_free(args.out)
    measure = parse_measure(args.measure) if args.measure else PRIMARY
    opened: dict[str, Run] = {}
    a, b = (named_side(text, opened) for text in (args.a, args.b))
    cache = open_cache(args)
    with redirect_stdout(sys.stderr):  # a ranker may be anyone's
        try:
            first, second, warnings = _judge(a, b, measure, args, cache)
            most = max(args.top, DRAWN_QUERIES)
            drawn = compare(first, a.ranker, second, b.ranker, measure=measure, moved=most)
            drawn = replace(drawn, a=a.label(b), b=b.label(a))
            found = replace(drawn, moved=drawn.moved[: args.top])
            asks = explain_side(a, first), explain_side(b, second)
            reasons = [reasons_for(moved, *asks) for moved in found.moved]
        except KeyboardInterrupt:
            tell_kept(cache)
            return INTERRUPTED
    form = _form(found, reasons, first, warnings)
    tell_warnings(warnings)
    if args.json:
        print_json(form)
    else:
        _print(found, reasons)
    if args.out is not None:
        _write(args.out, form, drawn, reasons, first)
    return 0


def _judge(
    a: Named, b: Named, measure: Measure, args: argparse.Namespace, cache: Any
) -> tuple[Judged, Judged, list[str]]:
    """Both sides judged, and what to know beside the numbers.

    Raises:
        UsageError: A ranker failed, or the settings are not those of the run.
    """
    from toolsearch_eval.data import load_data
    from toolsearch_eval.evaluate import evaluate
    from toolsearch_eval.rankers import resolve_ranker

    run = a.run or b.run
    names = list(dict.fromkeys(side.ranker for side in (a, b) if side.run is None))
    if not names and (args.data or args.split or args.depth):
        raise UsageError("--data, --split and --depth say how rankers are judged; both sides are runs already.")
    if a.run is not None and b.run is not None:
        warnings = dict.fromkeys([*a.run.summary["warnings"], *b.run.summary["warnings"]])
        return a.run, b.run, list(warnings)
    data = run.data if run is not None and args.data is None else load_data(args.data or "builtin")
    result = evaluate(
        data,
        [resolve_ranker(name) for name in names],
        measures=[measure],
        split=args.split or (run.split if run is not None else None),
        depth=args.depth or (run.depth if run is not None else 10),
        jobs=args.jobs,
        cache=cache,
    )
    if set(result.rankings) != set(names):
        raise UsageError("\n".join(result.warnings))
    if not result.queries:
        raise UsageError(f"no query of split {result.split} of {data.name} can be measured.")
    for note in result.notes:
        tell(f"note: {note}")
    return a.run or result, b.run or result, list(result.warnings)


def _form(
    found: Comparison, reasons: Sequence[Sequence[Reason]], judged: Judged, warnings: Sequence[str]
) -> dict[str, Any]:
    form = found.to_json()
    for moved, why in zip(form["moved"], reasons, strict=True):
        moved["reasons"] = [reason.to_json() for reason in why]
    form["data"] = {"name": judged.data.name, "fingerprint": judged.data.fingerprint}
    return {**form, "split": judged.split, "depth": judged.depth, "warnings": list(warnings)}


def _print(found: Comparison, reasons: Sequence[Sequence[Reason]]) -> None:
    from toolsearch_eval.report.characters import WIDTH, forest_lines
    from toolsearch_eval.report.comparison import forest_grid, headline
    from toolsearch_eval.report.rows import forest_rows

    say(neutralise(headline(found)))
    rows = forest_rows(found)
    grid = forest_grid(rows, "slice")
    plots = forest_lines([row.found.difference for row in rows])
    table = [[*cells, plot.ljust(WIDTH)] for cells, plot in zip(grid.rows, plots, strict=True)]
    say("\n" + text_table([*grid.header, "worse | better".center(WIDTH)], table))
    for moved, why in zip(found.moved, reasons, strict=True):
        _print_moved(found, moved, why)


def _print_moved(found: Comparison, moved: Moved, reasons: Sequence[Reason]) -> None:
    from toolsearch_eval.report.comparison import rank_changes, reason_lines
    from toolsearch_eval.report.numbers import number_text

    part = f" ({neutralise(moved.query.slice)})" if moved.query.slice else ""
    say(
        f"\n{neutralise(moved.query.query_id)}{part}: {number_text(moved.a)} to {number_text(moved.b)}: "
        f"{shortened(moved.query.text, 100)}"
    )
    changes = rank_changes(moved)
    if changes:
        say(_indented(text_table(("rank", found.a, found.b, "change", "grade"), changes[:_SHOWN_RANKS])))
    for line in reason_lines(reasons, found.a, found.b):
        say(f"  {neutralise(line)}")


def _indented(table: str) -> str:
    return "\n".join(f"  {line}" for line in table.splitlines())


def _write(
    folder: str, form: dict[str, Any], found: Comparison, reasons: Sequence[Sequence[Reason]], judged: Judged
) -> None:
    from toolsearch_eval.report.comparison import comparison_pieces
    from toolsearch_eval.runs.sides import write_comparison

    about = (
        f"Data {judged.data.name}, split {judged.split}, {found.queries} queries, fingerprint "
        f"{judged.data.fingerprint[:12]}.",
        f"Each side was asked for {judged.depth} results.",
    )
    pieces = comparison_pieces(found, reasons, about)
    written = write_comparison(folder, form, f"{found.b} beside {found.a}", pieces)
    tell(f"the comparison is in {written}")
