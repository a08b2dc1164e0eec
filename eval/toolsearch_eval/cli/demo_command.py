"""`toolsearch demo`: the main job end to end on the shipped data."""

from __future__ import annotations

import argparse

from toolsearch_eval.cli.output import neutralise, print_json, say, shortened, tell, tell_warnings, text_table

DEFAULT_FOLDER = "runs/demo"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "demo",
        help="the main job end to end on the shipped data",
        description="Rank with explanations, judge the profiles and their peers, and write the run to a folder.",
        allow_abbrev=False,
    )
    parser.add_argument("--data", default="builtin", metavar="NAME|DIR", help="the data set (default: builtin)")
    parser.add_argument(
        "--out", default=DEFAULT_FOLDER, metavar="DIR", help=f"where the run is written (default {DEFAULT_FOLDER})"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Run, print the tables and write the run."""
    from toolsearch_eval.demo import comparison_table, evaluation_table, ranking_table, run_demo, write_run

    demo = run_demo(arguments.data, progress=tell)
    folder = write_run(demo, arguments.out)
    tell_warnings(demo.warnings)
    if arguments.json:
        print_json({**demo.to_json(), "folder": str(folder)})
        return 0
    header, rows = ranking_table(demo)
    say(text_table(header, [[shortened(cell, 90) for cell in row] for row in rows]))
    say("\n" + text_table(*evaluation_table(demo)))
    say("\n" + text_table(*comparison_table(demo)))
    say(f"\nwritten to {neutralise(str(folder))}: summary.json, report.md, per_query.csv")
    return 0
