"""`toolsearch bless`: make or change a baseline, and say what changes by it."""

from __future__ import annotations

import argparse
import datetime
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from toolsearch.errors import DataError, UsageError
from toolsearch_eval.cli.output import neutralise, print_json, say, tell_warnings

if TYPE_CHECKING:
    from toolsearch_eval.gate.baseline import Baseline
    from toolsearch_eval.gate.budgets import Limits


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb and its arguments."""
    parser = subparsers.add_parser(
        "bless",
        help="make or change a baseline",
        description="Judge a ranker and write what it reaches as the baseline of `toolsearch gate`. Nothing else makes "
        "or changes a baseline. What an old baseline says is taken over where no option says otherwise.",
        allow_abbrev=False,
    )
    parser.add_argument("--baseline", required=True, metavar="FILE", help="the file to write")
    parser.add_argument("--data", metavar="NAME|DIR", help="the data set (default: builtin)")
    parser.add_argument("--ranker", metavar="NAME|FILE.toml|module:factory", help="default: default")
    parser.add_argument("--split", choices=("dev", "test", "all"), help="default: dev, or all where there is no dev")
    parser.add_argument("--depth", type=int, metavar="N", help="results asked for (default: 10)")
    parser.add_argument("--measure", metavar="M", help="the measure that decides (default: nDCG@10)")
    parser.add_argument(
        "--must-pass",
        action="append",
        metavar="QUERY_ID|@FILE|best",
        help="queries of which none may fall; may be repeated. @FILE: one id a line. best: all that have the best "
        "possible value now",
    )
    parser.add_argument("--counter", choices=("auto", "bpe", "estimate"), help="counts the tokens (default: auto)")
    parser.add_argument(
        "--token-margin",
        type=float,
        metavar="X",
        help="how much the mean tokens of an answer may rise, as a share of what is blessed (default: 0.05)",
    )
    parser.add_argument("--most-tokens", type=_number_or_off, metavar="N|off", help="the mean may never be above this")
    parser.add_argument(
        "--most-p95-ratio",
        type=_number_or_off,
        metavar="X|off",
        help="time the ranker and the yardstick side by side; its p95 may be X times the yardstick's (default: off)",
    )
    parser.add_argument("--yardstick", metavar="RANKER", help="the ranker that is timed beside it (default: bm25f)")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; it is kept in the file")
    parser.add_argument("--log", metavar="FILE", help="add a line to this log, which the dashboard shows over time")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Judge, write the baseline, and say what changed."""
    from toolsearch_eval.cli.main import package_version
    from toolsearch_eval.data import load_data
    from toolsearch_eval.gate.baseline import make_baseline
    from toolsearch_eval.gate.baseline_file import read_baseline, write_baseline
    from toolsearch_eval.gate.log import append_record, record_of_blessing
    from toolsearch_eval.measures import parse_measure
    from toolsearch_eval.rankers import resolve_ranker

    old: Baseline | None = None
    warnings: list[str] = []
    if Path(arguments.baseline).exists():
        try:
            old = read_baseline(arguments.baseline)
        except DataError as error:
            warnings.append(f"the old baseline can't be read and is replaced: {error}")
    data_name = arguments.data or (old.data if old else "builtin")
    data = load_data(data_name)
    has_dev = any(query.split == "dev" for query in data.queries)
    measure = parse_measure(arguments.measure) if arguments.measure else old.measure if old else None
    now = datetime.datetime.now(tz=datetime.UTC)
    today = now.date().isoformat()
    with redirect_stdout(sys.stderr):
        ranker = resolve_ranker(arguments.ranker or (old.ranker if old else "default"))

        def blessed(must_pass: tuple[str, ...]) -> Baseline:
            return make_baseline(
                data,
                ranker,
                split=arguments.split or (old.split if old else "dev" if has_dev else "all"),
                depth=arguments.depth or (old.depth if old else 10),
                measure=measure,
                must_pass=must_pass,
                limits=limits,
                date=today,
                reason=arguments.reason,
                version=package_version(),
            )

        limits = _limits(arguments, old)
        ids, best = _must_pass(arguments.must_pass)
        if arguments.must_pass is None and old:
            known = {query.query_id for query in data.queries}
            ids = [query_id for query_id in old.must_pass if query_id in known]
            lost = sorted(set(old.must_pass) - known)
            if lost:
                warnings.append(f"must-pass queries that the data no longer has are dropped: {', '.join(lost)}")
        fresh = blessed(tuple(ids))
        if best:
            perfect = [query_id for query_id, query in fresh.queries.items() if query.value >= 1 - 1e-9]
            fresh = blessed((*ids, *perfect))
    if old:
        fresh = replace(fresh, history=(*old.history, old.blessing))
    write_baseline(fresh, arguments.baseline)
    if arguments.log:
        append_record(arguments.log, record_of_blessing(fresh, old, path=arguments.baseline, now=now))
    answer = {"schema_version": 1, "baseline": arguments.baseline, **_changes(old, fresh), "warnings": warnings}
    tell_warnings(warnings)
    if arguments.json:
        print_json(answer)
    else:
        say("\n".join(map(neutralise, _lines(answer))))
    return 0


def _number_or_off(text: str) -> float | Literal["off"]:
    try:
        return "off" if text == "off" else float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no number; give one, or off") from error


def _limits(arguments: argparse.Namespace, old: Baseline | None) -> Limits:
    """The budgets that were asked for; those of the old baseline where no option says otherwise."""
    from toolsearch_eval.gate.budgets import Limits, counter_name
    from toolsearch_eval.rankers import resolve_ranker

    chosen: dict[str, Any] = {}
    for name in ("token_margin", "most_tokens", "most_p95_ratio", "yardstick"):
        value = getattr(arguments, name)
        if value is not None:
            chosen[name] = None if value == "off" else value
    if "yardstick" in chosen:
        resolve_ranker(chosen["yardstick"])  # a slip of the pen is told now, not when it is first needed
    if arguments.counter is not None or old is None:
        chosen["counter"] = counter_name(arguments.counter or "auto")
    return Limits(**chosen) if old is None else replace(old.limits, **chosen)


def _must_pass(given: list[str] | None) -> tuple[list[str], bool]:
    """The ids that were named, and whether `best` was."""
    ids: list[str] = []
    best = False
    for value in given or []:
        if value == "best":
            best = True
        elif value.startswith("@"):
            try:
                lines = Path(value[1:]).read_text(encoding="utf-8-sig").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                raise UsageError(f"--must-pass {value}: the file can't be read: {error}.") from error
            ids += [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        else:
            ids.append(value)
    return ids, best


def _changes(old: Baseline | None, fresh: Baseline) -> dict[str, Any]:
    from toolsearch_eval.gate.budgets import held_against

    before = old.queries if old else {}
    budgets = held_against(fresh.limits, fresh.spent, fresh.spent)
    earlier = {each.name: each.now for each in held_against(old.limits, old.spent, old.spent)} if old else {}
    both = [query_id for query_id in fresh.queries if query_id in before]
    return {
        "data": fresh.data,
        "ranker": fresh.ranker,
        "split": fresh.split,
        "measure": str(fresh.measure),
        "queries": len(fresh.queries),
        "must_pass": list(fresh.must_pass),
        "before": old.blessing.mean if old else None,
        "now": fresh.blessing.mean,
        "budgets": [
            {"name": each.name, "unit": each.unit, "before": before, "now": each.now, "limit": each.limit}
            for each, before in zip(budgets, (earlier.get(each.name) for each in budgets), strict=True)
        ],
        "changed": {
            "new_queries": sorted(set(fresh.queries) - set(before)) if old else [],
            "gone_queries": sorted(set(before) - set(fresh.queries)),
            "better": sorted(each for each in both if fresh.queries[each].value > before[each].value + 1e-9),
            "worse": sorted(each for each in both if fresh.queries[each].value < before[each].value - 1e-9),
            "new_tools": sorted(set(fresh.tools) - set(old.tools)) if old else [],
            "gone_tools": sorted(set(old.tools) - set(fresh.tools)) if old else [],
            "changed_tools": sorted(
                name for name, digest in fresh.tools.items() if old and old.tools.get(name, digest) != digest
            ),
        },
    }


def _lines(answer: dict[str, Any]) -> list[str]:
    before = "a new baseline" if answer["before"] is None else f"{answer['before']:.4f} before"
    now = "no mean" if answer["now"] is None else f"{answer['now']:.4f} now"
    lines = [
        f"blessed: {answer['ranker']} on {answer['data']} ({answer['split']}), {answer['queries']} queries, "
        f"{len(answer['must_pass'])} of them must pass",
        f"{answer['measure']}: {now}, {before}",
    ]
    for budget in answer["budgets"]:
        was = "" if budget["before"] is None else f", {budget['before']:.4g} before"
        lines.append(
            f"{budget['name']}: {budget['now']:.4g} {budget['unit']} now{was}, at most {budget['limit']:.4g} allowed"
        )
    for what, names in answer["changed"].items():
        if names:
            more = f" and {len(names) - 8} more" if len(names) > 8 else ""
            lines.append(f"{what.replace('_', ' ')} ({len(names)}): {', '.join(names[:8])}{more}")
    lines.append(f"written to {answer['baseline']}")
    return lines
