"""`toolsearch dataset pool`: write out what rankers bring and nobody has judged."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from toolsearch.errors import UsageError
from toolsearch_eval.cli.dataset.data_argument import add_data, chosen_data
from toolsearch_eval.cli.output import print_json, say, tell_warnings, text_table

if TYPE_CHECKING:
    from toolsearch_eval.pooling import Pool

DESCRIPTION = (
    "Ask rankers about every query and write what they bring and nobody has judged to a sheet. Fill in `grade` by "
    "reading (2 does the job, 1 acceptable or a part, 0 does not) and take it in with `dataset judge`. Running this "
    "again gives what is still unjudged. Exit code 2: a ranker failed, and the rest was written."
)


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_data(parser)
    parser.add_argument(
        "--ranker",
        action="append",
        metavar="NAME|FILE.toml|MODULE:FACTORY",
        help="who is asked; may be given several times (default: every ranker that can run here)",
    )
    parser.add_argument("--split", choices=("dev", "test", "all"), default="all", help="default: all")
    parser.add_argument(
        "--depth", type=int, metavar="N", help="results of each ranker that are pooled (default: 10 on test, 5 on dev)"
    )
    parser.add_argument(
        "--out", default="pool.jsonl", metavar="FILE", help="the sheet, .jsonl or .csv (default: pool.jsonl)"
    )
    parser.add_argument("--force", action="store_true", help="write over the sheet, with the grades that it may hold")
    parser.add_argument(
        "--again", action="store_true", help="for a pass made apart: labelled pairs too, without their grades"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="N queries, drawn by --seed, in place of all")
    parser.add_argument("--order", choices=("shuffled", "name"), default="shuffled", help="of the tools of a query")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the draws (default: 0)")
    parser.add_argument("--show-rankers", action="store_true", help="say who brings a tool; a judge is better without")


def run(args: argparse.Namespace) -> int:
    """Pool; 0 good, 2 wrong use or a ranker that failed while the rest was written."""
    from toolsearch_eval.cli.judging import resolved
    from toolsearch_eval.data import load_data
    from toolsearch_eval.judging_sheet import check_sheet, write_sheet
    from toolsearch_eval.pooling import DEPTHS, make_pool
    from toolsearch_eval.progress import progress_bar
    from toolsearch_eval.rankers.resolve import KNOWN

    data = load_data(chosen_data(args))
    check_sheet(args.out, replace=args.force)  # before the work, not after it
    depths = {split: args.depth or depth for split, depth in DEPTHS.items() if args.split in (split, "all")}
    if args.depth is not None and args.depth < 1:
        raise UsageError(f"--depth is {args.depth}; it must be a whole number above 0.")
    with redirect_stdout(sys.stderr):  # a ranker may be anyone's; what it prints must not stand among our results
        rankers, missing = resolved(list(dict.fromkeys(args.ranker or KNOWN)))
        total = len(rankers) * sum(query.split in depths for query in data.queries)
        with progress_bar(min(total, len(rankers) * (args.sample or total))) as advance:
            pool = make_pool(
                data,
                rankers,
                depths=depths,
                again=args.again,
                sample=args.sample,
                order=args.order,
                seed=args.seed,
                advance=advance,
            )
    write_sheet(pool.candidates, args.out, show_rankers=args.show_rankers, replace=args.force)
    form = _form(pool, data.name, args.out, depths, missing)
    tell_warnings(form["warnings"])
    if args.json:
        print_json(form)
    else:
        rows = [
            (split, depths[split], part["queries"], part["pairs"], part["judged"], part["unjudged"])
            for split, part in form["splits"].items()
        ]
        say(text_table(["split", "depth", "queries", "pairs", "judged", "unjudged"], rows))
        say(f"{len(pool.candidates)} rows written to {args.out}, from {len(pool.rankers)} rankers")
    # What is not installed here is said and is no fault where nobody asked for it by name.
    return 2 if pool.failures or (missing and args.ranker) else 0


def _form(pool: Pool, name: str, out: str, depths: dict[str, int], missing: list[str]) -> dict[str, Any]:
    splits = {
        split: {
            "depth": depths[split],
            "queries": part.queries,
            "pairs": part.pairs,
            "judged": part.judged,
            "unjudged": part.unjudged,
        }
        for split, part in pool.counts.items()
    }
    return {
        "schema_version": 1,
        "data": name,
        "file": out,
        "rows": len(pool.candidates),
        "rankers": list(pool.rankers),
        "splits": splits,
        "warnings": [*missing, *pool.failures],
    }
