"""`toolsearch dataset split`: give every group to dev or to test, for good."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from toolsearch.errors import DataError, Problem
from toolsearch_eval.cli.dataset.data_argument import add_data, chosen_data
from toolsearch_eval.cli.output import neutralise, print_json, say, tell, text_table

if TYPE_CHECKING:
    from toolsearch_eval.data import DataSet

DESCRIPTION = (
    "Give each group of queries that has no split one of dev and test, about half and half in every slice. Groups that "
    "have one keep it: nothing that is added later moves them. Exit code 1: --check found that the stored split does "
    "not hold."
)


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_data(parser)
    parser.add_argument(
        "--rule",
        choices=("hash", "balanced"),
        help="for new groups: by the hash of the name alone, or equal halves in every slice (default: as the stored "
        "ones, or balanced where there are none)",
    )
    parser.add_argument("--check", action="store_true", help="write nothing; say whether the stored split holds")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done and write nothing")


def run(args: argparse.Namespace) -> int:
    """Split or check; 0 good, 1 the stored split does not hold, 2 bad data."""
    from toolsearch_eval.data import load_data
    from toolsearch_eval.splitting import (
        check_split,
        frozen_fault,
        group_slices,
        plan_split,
        stored_splits,
        write_split,
    )

    data = load_data(chosen_data(args))
    if args.check:
        return _check(data, *check_split(data), as_json=args.json)
    stored = stored_splits(data)
    fault = frozen_fault(data, stored)
    if fault is not None:  # what was frozen must still be there before anything is added to it
        raise DataError([fault])
    slices = group_slices(data.queries)
    plan = plan_split(slices, stored, args.rule)
    if not args.dry_run:
        write_split(data, plan)
    form: dict[str, Any] = {
        "schema_version": 1,
        "data": data.name,
        "rule": plan.rule,
        "kept": plan.kept,
        "new": len(plan.new),
        "written": not args.dry_run,
        "slices": {
            name: {
                split: sum(slices[group] == name and plan.splits[group] == split for group in slices)
                for split in ("dev", "test")
            }
            for name in sorted(set(slices.values()))
        },
    }
    if args.json:
        print_json(form)
        return 0
    say(text_table(["slice (groups)", "dev", "test"], [(n, c["dev"], c["test"]) for n, c in form["slices"].items()]))
    say(f"{plan.kept} groups kept theirs, {len(plan.new)} were given one by the rule {plan.rule!r}")
    if args.dry_run:
        say("nothing was written, as --dry-run was given")
    return 0


def _check(data: DataSet, rule: str, problems: Sequence[Problem], *, as_json: bool) -> int:
    if as_json:
        errors = list(map(asdict, problems))
        print_json({"schema_version": 1, "data": data.name, "holds": not problems, "by": rule, "errors": errors})
        return 1 if problems else 0
    for problem in problems:
        tell(neutralise(str(problem)))
    held = {"hash": "every group is where its hash puts it", "frozen": "the groups are those that were frozen"}
    say(f"{data.name}: {held.get(rule, 'the split does not hold')}")
    return 1 if problems else 0
