"""`toolsearch dataset check|stats`: look after a labelled data set."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from toolsearch.errors import DataError
from toolsearch_eval.cli.output import neutralise, print_json, say, shortened, tell


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb and its arguments."""
    parser = subparsers.add_parser(
        "dataset",
        help="check or count a labelled data set",
        description="Check or count a labelled data set. Exit code 1: the check found errors.",
        allow_abbrev=False,
    )
    parser.add_argument("action", choices=("check", "stats"))
    parser.add_argument("--data", default="builtin", metavar="NAME|DIR", help="the data set (default: builtin)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check or count; 0 good, 1 a check failed, 2 the data can't be read."""
    from toolsearch_eval.data import load_data
    from toolsearch_eval.data_check import check_data, data_statistics

    try:
        data = load_data(args.data)
    except DataError as error:
        if not (args.json and args.action == "check"):
            raise
        print_json({"schema_version": 1, "errors": [asdict(fault) for fault in error.problems], "warnings": []})
        return 2
    if args.action == "stats":
        form = data_statistics(data)
        if args.json:
            print_json(form)
        else:
            for name, value in form.items():
                say(f"{name}: {shortened(str(value), 2000)}")
        return 0
    errors, warnings = check_data(data)
    if args.json:
        print_json(
            {
                "schema_version": 1,
                "errors": list(map(asdict, errors)),
                "warnings": list(map(asdict, warnings)),
            }
        )
    else:
        for fault in errors:
            tell(neutralise(f"{fault}"))
        for fault in warnings:
            tell(neutralise(f"warning: {fault}"))
        say(f"{data.name}: {len(errors)} errors, {len(warnings)} warnings")
    return 1 if errors else 0
