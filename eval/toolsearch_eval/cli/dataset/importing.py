"""`toolsearch dataset import`: a data set made from files of another form."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from toolsearch.errors import DataError
from toolsearch_eval.cli.output import neutralise, print_json, say, tell, tell_warnings
from toolsearch_eval.importers.forms import FORMS

DESCRIPTION = (
    "Read a data set of another form and write it as one of ours. What was decided on\n"
    "the way is told as warnings. Exit code 2: the files hold faults, all of which are\n"
    "told, or are not there.\n\nforms:\n" + "\n".join(f"  {form:13} {what}" for form, what in FORMS.items())
)


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("form", metavar="FORM", help="the form of the files, see above")
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="files, or folders that hold them")
    parser.add_argument("--out", required=True, metavar="DIR", help="the data set to write")
    parser.add_argument("--name", metavar="NAME", help="its name (default: that of the form)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Read, write and say what came out; the problems that `dataset check` would find are counted."""
    from toolsearch_eval.data import load_data
    from toolsearch_eval.data_check import check_data
    from toolsearch_eval.data_write import write_data
    from toolsearch_eval.importers.forms import import_data

    try:
        imported = import_data(args.form, args.sources, name=args.name)
    except DataError as error:
        if not args.json:
            raise
        print_json({"schema_version": 1, "errors": [asdict(fault) for fault in error.problems], "warnings": []})
        return 2
    folder = write_data(imported.data, args.out)
    data = load_data(folder)
    errors, doubts = check_data(data)
    form = {
        "schema_version": 1,
        "name": data.name,
        "folder": str(args.out),
        "fingerprint": data.fingerprint,
        "tools": len(data.tools),
        "queries": len(data.queries),
        "labels": sum(map(len, data.judgements.values())),
        "no_answer": sum(query.expect == "none" for query in data.queries),
        "need_all": sum(query.need == "all" for query in data.queries),
        "check": {"errors": len(errors), "warnings": len(doubts)},
        "warnings": list(imported.warnings),
    }
    tell_warnings(imported.warnings)
    if args.json:
        print_json(form)
        return 0
    say(
        f"{neutralise(data.name)}: {form['tools']} tools, {form['queries']} queries ({form['need_all']} need all of "
        f"their tools, {form['no_answer']} have no answer), {form['labels']} labels"
    )
    if errors or doubts:
        tell(f"`toolsearch dataset check` finds {len(errors)} errors and {len(doubts)} doubtful lines in it")
    say(f"written to {neutralise(str(args.out))}")
    return 0
