"""`toolsearch dataset judge`: take in the grades of a sheet."""

from __future__ import annotations

import argparse
import datetime

from toolsearch.errors import DataError, UsageError
from toolsearch_eval.cli.dataset.data_argument import add_data, chosen_data
from toolsearch_eval.cli.output import print_json, say, tell_warnings

DESCRIPTION = (
    "Take the grades of a sheet, as `dataset pool` writes it, into judgements.jsonl and derive qrels.tsv anew. Rows "
    "without a grade are left for later. All faults are told at once, and then nothing is written. For each query and "
    "tool a settled label decides, else the label of the lowest pass."
)


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("file", metavar="FILE", help="the sheet with grades, .jsonl or .csv")
    add_data(parser, positional=False)
    parser.add_argument("--judge", required=True, metavar="NAME", help="who graded")
    parser.add_argument(
        "--pass", dest="turn", required=True, type=int, metavar="N", help="the labelling pass; 1 is the first"
    )
    parser.add_argument("--date", metavar="YYYY-MM-DD", help="when it was judged (default: today)")
    parser.add_argument("--settled", action="store_true", help="these grades decide where passes or judges differ")
    parser.add_argument("--pool", metavar="FILE", help="the sheet as it was written: other pairs are faults")
    parser.add_argument("--highest", type=int, default=2, metavar="G", help="the best grade (default: 2)")
    parser.add_argument("--resume", action="store_true", help="pass over rows that were taken in before")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done and write nothing")


def run(args: argparse.Namespace) -> int:
    """Take grades in; 0 good, 2 wrong use or rows that can't be taken."""
    from toolsearch.errors import Problem
    from toolsearch_eval.data import load_data
    from toolsearch_eval.judging_sheet import read_sheet
    from toolsearch_eval.label_merge import merge_labels, write_labels

    date = _date(args.date)
    data = load_data(chosen_data(args))
    problems: list[Problem] = []
    pool = None
    if args.pool is not None:
        pool = {(row.query_id, row.tool) for row in read_sheet(args.pool, problems)}
        if problems:
            raise DataError(problems)
    rows = read_sheet(args.file, problems)
    merge = merge_labels(
        data,
        rows,
        path=args.file,
        judge=args.judge,
        turn=args.turn,
        date=date,
        settled=args.settled,
        pool=pool,
        highest=args.highest,
        pass_over_known=args.resume,
        problems=problems,
    )
    if merge.labels and not args.dry_run:
        write_labels(data, merge)
    none = {query.query_id for query in data.queries if query.expect == "none"}
    answered = sorted({label.query_id for label in merge.labels if label.query_id in none and label.grade > 0})
    warnings = [f"{query_id} expects no answer and has one now; `toolsearch dataset check`" for query_id in answered]
    tell_warnings(warnings)
    if args.json:
        print_json(
            {
                "schema_version": 1,
                "data": data.name,
                "taken": len(merge.labels),
                "grades": {str(grade): count for grade, count in merge.by_grade.items()},
                "empty": merge.empty,
                "known": merge.known,
                "changed": merge.changed,
                "labels": sum(map(len, merge.grades.values())),
                "written": bool(merge.labels) and not args.dry_run,
                "warnings": warnings,
            }
        )
        return 0
    grades = ", ".join(f"grade {grade}: {count}" for grade, count in merge.by_grade.items())
    say(f"{len(merge.labels)} grades taken into {data.name}" + (f" ({grades})" if grades else ""))
    say(f"{merge.empty} rows without a grade left, {merge.known} taken in before, {merge.changed} grades changed")
    if args.dry_run:
        say("nothing was written, as --dry-run was given")
    return 0


def _date(given: str | None) -> str:
    if given is None:
        return datetime.date.today().isoformat()
    try:
        parsed = datetime.date.fromisoformat(given)
    except ValueError:
        parsed = None
    if parsed is None or parsed.isoformat() != given:
        raise UsageError(f"--date is {given!r}; a date is written as YYYY-MM-DD.")
    return given
