"""`toolsearch dataset stats`: what a data set holds, counted."""

from __future__ import annotations

import argparse

from toolsearch_eval.cli.dataset.data_argument import add_data, chosen_data
from toolsearch_eval.cli.output import print_json, say, shortened

DESCRIPTION = "Count what a data set holds."


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_data(parser)


def run(args: argparse.Namespace) -> int:
    """Count; always 0 where the data can be read."""
    from toolsearch_eval.data import load_data
    from toolsearch_eval.data_check import data_statistics

    form = data_statistics(load_data(chosen_data(args)))
    if args.json:
        print_json(form)
        return 0
    for name, value in form.items():
        say(f"{name}: {shortened(str(value), 2000)}")
    return 0
