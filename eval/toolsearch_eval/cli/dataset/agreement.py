"""`toolsearch dataset agreement`: how far passes or judges agree, and where they differ most."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.cli.dataset.data_argument import add_data, chosen_data
from toolsearch_eval.cli.output import print_json, say, shortened, text_table

if TYPE_CHECKING:
    from toolsearch_eval.agreement import Agreement, Alpha, Confusion

DESCRIPTION = (
    "Krippendorff's alpha between labelling passes, or judges, with a 95% interval by query group; tables of the "
    "grades side by side; the largest differences. Settled labels are left out."
)


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_data(parser)
    parser.add_argument("--by", choices=("pass", "judge"), default="pass", help="who is compared (default: pass)")
    parser.add_argument(
        "--rater",
        action="append",
        metavar="NAME",
        help="a pass by number or a judge by name; may be given several times (default: all)",
    )
    parser.add_argument("--worst", type=int, default=10, metavar="N", help="differences that are shown (default: 10)")
    parser.add_argument("--rounds", type=int, default=10_000, metavar="N", help="draws for the interval")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the draws (default: 0)")


def run(args: argparse.Namespace) -> int:
    """Compare; 0 where anything could be compared, else 2."""
    from toolsearch_eval.agreement import agreement, rater_by_judge, rater_by_pass
    from toolsearch_eval.data import load_data

    for name, value, least in (("--rounds", args.rounds, 1), ("--worst", args.worst, 0), ("--seed", args.seed, 0)):
        if value < least:
            raise UsageError(f"{name} is {value}; it must be a whole number of at least {least}.")
    data = load_data(chosen_data(args))
    rater = rater_by_pass if args.by == "pass" else rater_by_judge
    known = sorted({rater(label) for label in data.labels if not label.settled})
    only = None
    if args.rater:
        only = [f"pass {name}" if args.by == "pass" and f"pass {name}" in known else name for name in args.rater]
        for name in only:
            if name not in known:
                raise UnknownNameError(args.by, name, known)
    found = agreement(
        data.labels,
        {query.query_id: query.group for query in data.queries},
        rater=rater,
        only=only,
        rounds=args.rounds,
        seed=args.seed,
    )
    if not found.units:
        raise UsageError(
            f"no pair of query and tool in {data.name} was labelled by two raters; known: "
            f"{', '.join(known) or 'none'}. `toolsearch dataset pool --again` writes a sheet for a pass made apart."
        )
    if args.json:
        print_json(_form(found, data.name, args.by, args.worst))
    else:
        _print(found, {query.query_id: query.text for query in data.queries}, args.worst)
    return 0


def _form(found: Agreement, name: str, by: str, worst: int) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "data": name,
        "by": by,
        "raters": list(found.raters),
        "units": found.units,
        "groups": found.groups,
        "single": found.single,
        "equal": found.equal,
        "repeats": found.repeats,
        "alpha": {
            level: {
                "value": alpha.value,
                "low": alpha.low,
                "high": alpha.high,
                "undefined": alpha.undefined,
                "why": alpha.why,
            }
            for level, alpha in found.alphas.items()
        },
        "confusion": [
            {
                "a": table.a,
                "b": table.b,
                "counts": [{"a": a, "b": b, "count": count} for (a, b), count in table.counts.items()],
            }
            for table in found.confusions
        ],
        "differences": len(found.disputes),
        "worst": [
            {"query_id": each.query_id, "tool": each.tool, "grades": dict(each.grades)}
            for each in found.disputes[:worst]
        ],
        "warnings": _warnings(found),
    }


def _warnings(found: Agreement) -> list[str]:
    return [f"{found.repeats} labels repeat a unit of the same rater; the first counts"] if found.repeats else []


def _print(found: Agreement, texts: dict[str, str], worst: int) -> None:
    say(f"{', '.join(found.raters)}: {found.units} units in {found.groups} groups were labelled more than once")
    for level, alpha in found.alphas.items():
        say(f"Krippendorff's alpha, {level}: {_said(alpha)}")
    say(f"equal: {found.equal} of {found.units} ({found.equal / found.units:.1%})")
    for line in _warnings(found):
        say(line)
    for table in found.confusions:
        say("")
        say(_table(table))
    shown = found.disputes[:worst]
    if shown:
        say(f"\n{len(found.disputes)} differences, the largest:")
    for each in shown:
        grades = ", ".join(f"{rater}: {grade}" for rater, grade in each.grades.items())
        say(f"  {shortened(each.query_id, 40)}  {shortened(each.tool, 80)}  {shortened(grades, 80)}")
        say(f"    {shortened(texts.get(each.query_id, ''), 100)}")


def _said(alpha: Alpha) -> str:
    if alpha.value is None:
        return f"not defined: {alpha.why}"
    if alpha.low is None or alpha.high is None:
        return f"{alpha.value:.3f} (one group: no interval)"
    left = f", {alpha.undefined} draws without a value left out" if alpha.undefined else ""
    return f"{alpha.value:.3f} (95% {alpha.low:.3f} to {alpha.high:.3f}{left})"


def _table(table: Confusion) -> str:
    grades = sorted({grade for pair in table.counts for grade in pair}, reverse=True)
    header = [f"{table.a} \\ {table.b}", *map(str, grades)]
    return text_table(header, [[a, *(table.counts.get((a, b), 0) for b in grades)] for a in grades])
