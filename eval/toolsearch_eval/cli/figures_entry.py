"""`python -m toolsearch_eval.figures`: make or check the figures of the README; for maintainers, so no verb."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from toolsearch.errors import ToolSearchError
from toolsearch_eval.cli.bench_command import DEFAULT_SIZES, read_sizes
from toolsearch_eval.cli.output import prepare_streams, tell


def build_parser() -> argparse.ArgumentParser:
    """The parser of the options."""
    parser = argparse.ArgumentParser(
        prog="python -m toolsearch_eval.figures",
        description="Measure the figures of the README and write them between its marks, or check that they hold. "
        "Takes as long as `make test`, whose last line is one of them; --only leaves it out.",
        allow_abbrev=False,
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a figure differs")
    parser.add_argument(
        "--only", action="append", default=[], metavar="BLOCK", help="measure this one; may be repeated"
    )
    parser.add_argument("--suites", type=Path, metavar="DIR", help="measure every data set in this folder too")
    parser.add_argument(
        "--dense",
        default="",
        metavar="st:MODEL",
        help="with --suites: a model among the rankers whose order is shown, and beside the semantic arm",
    )
    parser.add_argument(
        "--bench",
        nargs="?",
        const=DEFAULT_SIZES,
        metavar="N,N,…",
        help=f"measure speed too, on catalogs of these sizes (default {DEFAULT_SIZES}; takes about eight minutes)",
    )
    parser.add_argument(
        "--data", default="builtin", metavar="NAME|DIR", help="the labelled set of the first blocks (default: builtin)"
    )
    parser.add_argument("--readme", type=Path, default=Path("README.md"), metavar="FILE", help="default: README.md")
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("docs/results.json"),
        metavar="FILE",
        help="the figures measured last (default: docs/results.json)",
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and rewrite, or measure and check.

    Returns:
        0 good, 1 a difference or a command that failed, 2 wrong use or bad data.
    """
    prepare_streams()
    arguments = build_parser().parse_args(argv)
    from toolsearch_eval.figures.make import Task, make_figures

    try:
        task = Task(
            readme=arguments.readme,
            results=arguments.results,
            data=arguments.data,
            suites=arguments.suites,
            dense=arguments.dense,
            bench=read_sizes(arguments.bench) if arguments.bench else (),
            only=tuple(arguments.only),
            check=arguments.check,
            environment=os.environ,
        )
        return make_figures(task, tell=tell)
    except ToolSearchError as error:
        tell(f"figures: {error}")
        return 2
