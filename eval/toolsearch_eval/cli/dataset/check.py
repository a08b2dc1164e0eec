"""`toolsearch dataset check`: every error and every doubtful line of a data set, at once."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from toolsearch.errors import DataError
from toolsearch_eval.cli.dataset.data_argument import add_data, chosen_data
from toolsearch_eval.cli.output import neutralise, print_json, say, tell

DESCRIPTION = "Report every error and every doubtful line. Exit code 1: there are errors; 2: it can't be read."


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_data(parser)


def run(args: argparse.Namespace) -> int:
    """Check; 0 good, 1 there are errors, 2 the data can't be read."""
    from toolsearch_eval.data import load_data
    from toolsearch_eval.data_check import check_data

    try:
        data = load_data(chosen_data(args))
    except DataError as error:
        if not args.json:
            raise
        print_json({"schema_version": 1, "errors": [asdict(fault) for fault in error.problems], "warnings": []})
        return 2
    errors, warnings = check_data(data)
    if args.json:
        print_json({"schema_version": 1, "errors": list(map(asdict, errors)), "warnings": list(map(asdict, warnings))})
    else:
        for fault in errors:
            tell(neutralise(f"{fault}"))
        for fault in warnings:
            tell(neutralise(f"warning: {fault}"))
        say(f"{data.name}: {len(errors)} errors, {len(warnings)} warnings")
    return 1 if errors else 0
