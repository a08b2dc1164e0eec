"""`toolsearch dataset check`: every error and every doubtful line of a data set, at once."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from toolsearch.errors import DataError, Problem
from toolsearch_eval.cli.dataset.data_argument import add_data, chosen_data
from toolsearch_eval.cli.output import neutralise, print_json, say, tell, tell_warnings

if TYPE_CHECKING:
    from toolsearch_eval.data import DataSet
    from toolsearch_eval.label_independence import Following

DESCRIPTION = "Report every error and every doubtful line. Exit code 1: there are errors; 2: it can't be read."


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_data(parser)
    parser.add_argument(
        "--rankers",
        nargs="*",
        metavar="NAME|FILE.toml|MODULE:FACTORY",
        help="fail also where more than 90 %% of a pass's grades follow one threshold of the score or rank of any of "
        "these; without a name, of every ranker that can run here",
    )


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
    following = () if args.rankers is None else _following(data, args.rankers)
    errors += [_problem(data, each) for each in following if each.follows]
    if args.json:
        form = {"schema_version": 1, "errors": list(map(asdict, errors)), "warnings": list(map(asdict, warnings))}
        if args.rankers is not None:
            form["following"] = list(map(asdict, following))
        print_json(form)
    else:
        for each in _nearest(following):
            say(f"{each}")
        for fault in errors:
            tell(neutralise(f"{fault}"))
        for fault in warnings:
            tell(neutralise(f"warning: {fault}"))
        say(f"{data.name}: {len(errors)} errors, {len(warnings)} warnings")
    return 1 if errors else 0


def _following(data: DataSet, specs: list[str]) -> tuple[Following, ...]:
    from toolsearch_eval.cli.judging import resolved
    from toolsearch_eval.label_independence import check_independence
    from toolsearch_eval.progress import progress_bar
    from toolsearch_eval.rankers.resolve import KNOWN

    with redirect_stdout(sys.stderr):  # a ranker may be anyone's; what it prints must not stand among our results
        rankers, missing = resolved(list(dict.fromkeys(specs or KNOWN)))
        tell_warnings(missing)
        with progress_bar(len(rankers) * len(data.queries)) as advance:
            return check_independence(data, rankers, advance=advance)


def _problem(data: DataSet, each: Following) -> Problem:
    path = Path(data.path) / ("judgements.jsonl" if data.labels else "qrels.tsv")
    return Problem(str(path), 0, "grade", f"{each}; judge by reading, from the pool of several rankers")


def _nearest(following: tuple[Following, ...]) -> list[Following]:
    """The ranker that each pass follows furthest."""
    passes = sorted({each.turn for each in following})
    return [max((each for each in following if each.turn == turn), key=lambda each: each.share) for turn in passes]
