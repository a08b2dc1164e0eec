"""`toolsearch fieldtest`: run field reports against the product."""

from __future__ import annotations

import argparse
import sys

from toolsearch_eval.cli.output import neutralise, print_json, say, shortened


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb and its arguments."""
    parser = subparsers.add_parser(
        "fieldtest",
        help="run the field reports",
        description="Run field reports: faults that users met, each a small catalog, steps, and what must hold. Exit "
        "code 1: a case falls. 2: a file with words that are not in the vocabulary.",
        allow_abbrev=False,
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="JSONL, one case a line (default: the shipped ones)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Run all cases; 0 when every one holds, cases marked as stretch aside."""
    import toolsearch_datasets
    from toolsearch_eval.fieldtest.cases import read_cases
    from toolsearch_eval.fieldtest.run import run_cases

    cases = read_cases(arguments.file or toolsearch_datasets.field_reports())
    if sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(total=len(cases), file=sys.stderr, unit="case") as bar:
            result = run_cases(cases, advance=bar.update)
    else:
        result = run_cases(cases)
    form = result.to_json()
    if arguments.json:
        print_json(form)
    else:
        for verdict in result.verdicts:
            mark = "holds" if verdict.passed else "stretch" if verdict.skipped else "FALLS"
            case = verdict.case
            say(f"{mark:7}  {neutralise(case.id)}  {neutralise(case.kind)}: {shortened(case.symptom, 100)}")
            for why in verdict.why:
                say(f"         {shortened(why, 300)}")
        say(
            f"{len(form['passed'])} of {form['total']} hold, {len(form['failed'])} fall, "
            f"{len(form['skipped'])} are out of reach of a search by words"
        )
    return 1 if result.failed else 0
