"""`toolsearch dataset export`: a data set in the form of others."""

from __future__ import annotations

import argparse
from pathlib import Path

from toolsearch_eval.cli.dataset.data_argument import add_data, chosen_data
from toolsearch_eval.cli.output import neutralise, print_json, say

DESCRIPTION = (
    "Write a data set in the form of BEIR or of TREC. `toolsearch dataset import` gives it back as it was: what the "
    "form has no place for is kept in files beside. Exit code 2: the form can't hold it."
)


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("form", choices=("beir", "trec"), help="the form to write")
    add_data(parser)
    parser.add_argument("--out", required=True, metavar="DIR", help="a new folder")


def run(args: argparse.Namespace) -> int:
    """Write and say where."""
    from toolsearch_eval.data import load_data
    from toolsearch_eval.exporters.beir import write_beir
    from toolsearch_eval.exporters.trec import write_trec

    data = load_data(chosen_data(args))
    folder = (write_beir if args.form == "beir" else write_trec)(data, args.out)
    if args.json:
        print_json({"schema_version": 1, "name": data.name, "form": args.form, "folder": str(args.out), "warnings": []})
    else:
        say(f"{neutralise(data.name)}: written to {neutralise(str(args.out))}: {', '.join(sorted(_names(folder)))}")
    return 0


def _names(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
