"""`toolsearch ablate`: what each part of a ranking is worth."""

from __future__ import annotations

import argparse
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from toolsearch.errors import UsageError
from toolsearch_eval.cli.output import neutralise, print_json, say, tell, tell_warnings, text_table

if TYPE_CHECKING:
    from toolsearch_eval.ablation.measure import Ablation


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb and its arguments."""
    parser = subparsers.add_parser(
        "ablate",
        help="measure what each part of a ranking is worth",
        description="Rank labelled queries with a profile, with the profile without each of its parts, with a bare "
        "profile, and with the bare one and each part alone; paired differences with 95% intervals and p, adjusted for "
        "all parts, by data set and over all sets. Exit code 0 whatever comes out.",
        allow_abbrev=False,
    )
    parser.add_argument("--profile", default="default", metavar="NAME|FILE.toml", help="default: default")
    parser.add_argument(
        "--data",
        nargs="+",
        action="extend",
        metavar="NAME|DIR",
        help="one data set or several, each of which counts alike (default: builtin)",
    )
    parser.add_argument(
        "--split", choices=("dev", "test", "all"), help="default: dev, and all queries of a set without dev"
    )
    parser.add_argument("--measure", default="nDCG@10", metavar="M", help="what is measured (default: nDCG@10)")
    parser.add_argument("--depth", type=int, default=10, metavar="N", help="results asked for (default: 10)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; changes no result (default: 1)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the sign flips (default: 0)")
    parser.add_argument("--markdown", metavar="FILE.md", help="write the tables as a document")
    parser.add_argument("--csv", metavar="FILE.csv", help="write a line for each part, table and set")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print and write; 0 once all was measured, 130 after Ctrl-C."""
    from toolsearch.config import load_profile
    from toolsearch_eval.ablation.forms import ablation_csv, ablation_json
    from toolsearch_eval.ablation.measure import ablate
    from toolsearch_eval.cli.main import INTERRUPTED
    from toolsearch_eval.data import load_data
    from toolsearch_eval.figures.store import write_whole
    from toolsearch_eval.measures import parse_measure
    from toolsearch_eval.progress import progress_bar

    _check(arguments)
    measure = parse_measure(arguments.measure)
    config = load_profile(arguments.profile)
    sets = [load_data(each) for each in arguments.data or ["builtin"]]
    try:
        with progress_bar(sum(len(each.queries) for each in sets)) as advance:
            found = ablate(
                config,
                sets,
                measure,
                split=arguments.split,
                depth=arguments.depth,
                jobs=arguments.jobs,
                seed=arguments.seed,
                advance=advance,
            )
    except KeyboardInterrupt:
        tell("interrupted; nothing was written.")
        return INTERRUPTED
    tell_warnings(found.warnings)
    if arguments.json:
        print_json(ablation_json(found))
    else:
        _print(found)
    if arguments.csv is not None:
        write_whole(Path(arguments.csv), ablation_csv(found))
        tell(f"Written to {neutralise(arguments.csv)}")
    if arguments.markdown is not None:
        write_whole(Path(arguments.markdown), _document(found, arguments))
        tell(f"Written to {neutralise(arguments.markdown)}")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what can't be before anything is ranked.

    Raises:
        UsageError: A number is out of range, or a file has another ending.
    """
    for name, least in (("jobs", 1), ("depth", 1), ("seed", 0)):
        value = getattr(arguments, name)
        if value < least:
            raise UsageError(f"--{name} is {value}; it must be a whole number of at least {least}.")
    for name, ending in (("markdown", ".md"), ("csv", ".csv")):
        path = getattr(arguments, name)
        if path is not None and not path.endswith(ending):
            raise UsageError(f"--{name} is {path[:80]!r}; the file's name must end in {ending}.")


def _print(found: Ablation) -> None:
    from toolsearch_eval.ablation.document import tables
    from toolsearch_eval.figures.block import shown_cell

    for table in tables(found):
        header = list(table.lines[0])
        say(f"{neutralise(table.title)}\n")
        say(text_table(header, [[shown_cell(line[name]) for name in header] for line in table.lines]))
        say("")


def _document(found: Ablation, arguments: argparse.Namespace) -> str:
    from toolsearch_eval.ablation.document import ablation_block, document

    command = ["toolsearch", "ablate", "--profile", arguments.profile, "--data", *(arguments.data or ["builtin"])]
    for name, usual in (("split", None), ("measure", "nDCG@10"), ("depth", 10), ("seed", 0)):
        value = getattr(arguments, name)
        if value != usual:
            command += [f"--{name}", str(value)]
    written = " ".join(neutralise(shlex.join(command)).replace("`", "'").split())
    today = datetime.now(UTC).date().isoformat()
    return document([ablation_block(found, command=written, today=today)], commands=[written])
