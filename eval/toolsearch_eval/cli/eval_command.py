"""`toolsearch eval`: judge rankers on a labelled data set."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from toolsearch.errors import ConfigError, UnknownNameError, UsageError
from toolsearch_eval.cli.output import neutralise, print_json, say, tell_warnings, text_table

if TYPE_CHECKING:
    from toolsearch_eval.evaluate import Evaluation
    from toolsearch_eval.rankers import Ranker
    from toolsearch_eval.stability import Stability


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb and its arguments."""
    parser = subparsers.add_parser(
        "eval",
        help="judge rankers on a labelled data set",
        description="Judge rankers on a labelled data set. Exit code 2: a ranker failed; the others are shown.",
        allow_abbrev=False,
    )
    parser.add_argument("--data", default="builtin", metavar="NAME|DIR", help="the data set (default: builtin)")
    parser.add_argument(
        "--ranker",
        action="append",
        metavar="NAME|FILE.toml|module:factory",
        help="may be repeated (default: reference, default and bm25f); also default:keyword, default:tfidf, regex; "
        "with the extra peers bm25s, sklearn-words, sklearn-characters, fastmcp-bm25, fastmcp-regex, pydantic-ai, "
        "toolpicker; with the extra semantic st:NAME|PATH, a model of sentence-transformers",
    )
    parser.add_argument("--measure", action="append", metavar="M", help="such as nDCG@10; may be repeated")
    parser.add_argument("--split", choices=("dev", "test", "all"), help="default: dev, or all where there is no dev")
    parser.add_argument("--depth", type=int, default=10, metavar="N", help="results asked for (default: 10)")
    parser.add_argument(
        "--stability",
        action="store_true",
        help="judge again on the catalog shuffled, renamed and with ten times as many tools",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Judge and print; 0 when every ranker worked, 2 when one failed or can't be had, which is said on stderr.

    After Ctrl-C what was done is printed and the code is 130.
    """
    from toolsearch_eval.cli.main import INTERRUPTED
    from toolsearch_eval.data import load_data
    from toolsearch_eval.evaluate import Interrupted, evaluate
    from toolsearch_eval.measures import DEFAULT_MEASURES, parse_measure

    specs = args.ranker or ["reference", "default", "bm25f"]
    measures = tuple(map(parse_measure, args.measure)) if args.measure else DEFAULT_MEASURES
    stability: dict[str, dict[str, Stability]] = {}
    # Rankers may be anyone's; what they print must not stand among our results.
    with redirect_stdout(sys.stderr):
        rankers, faults = _resolved(specs)
        interrupted = False
        try:
            result = evaluate(load_data(args.data), rankers, measures=measures, split=args.split, depth=args.depth)
        except Interrupted as stop:
            result, interrupted = stop.finished, True
        _refuse_nothing(result, args.data)
        if args.stability and not interrupted:
            try:
                _measure_stability(result, stability, faults)
            except KeyboardInterrupt:
                interrupted = True
                faults.append(f"interrupted; stability is measured for: {', '.join(stability) or 'none'}")
    form = result.to_json()
    for name, changes in stability.items():
        form["rankers"][name]["stability"] = {change: asdict(values) for change, values in changes.items()}
    form["warnings"] = [*faults, *form["warnings"]]
    tell_warnings(form["warnings"])
    if args.json:
        print_json(form)
    else:
        _print_tables(result, form)
    if interrupted:
        return INTERRUPTED
    return 2 if faults or len(result.rankings) < len(specs) else 0


def _resolved(specs: Sequence[str]) -> tuple[list[Ranker], list[str]]:
    """The rankers that can be had, and a line for each that can't."""
    from toolsearch_eval.rankers import resolve_ranker

    rankers: list[Ranker] = []
    faults: list[str] = []
    for spec in specs:
        try:
            rankers.append(resolve_ranker(spec))
        except (UnknownNameError, ConfigError):
            raise  # a slip of the pen: said at once, before the others take their time
        except UsageError as error:
            faults.append(str(error))
    if not rankers:
        raise UsageError("\n".join(faults))
    return rankers, faults


def _refuse_nothing(result: Evaluation, data: str) -> None:
    """Measuring nothing is wrong use: whoever reads the exit code alone must not take it for a good result."""
    if result.queries:
        return
    left_out = ", ".join(f"{count} {reason}" for reason, count in result.excluded.items() if count)
    splits = ", ".join(sorted({query.split for query in result.data.queries})) or "none"
    raise UsageError(
        f"{data}: no query of split {result.split} can be measured: of {result.size} queries left out: "
        f"{left_out or 'none'}. The data has the splits: {splits}."
    )


def _measure_stability(result: Evaluation, found: dict[str, dict[str, Stability]], faults: list[str]) -> None:
    """Add what is found of each ranker as soon as it is known."""
    from toolsearch_eval.progress import progress_bar
    from toolsearch_eval.rankers import resolve_ranker
    from toolsearch_eval.stability import CHANGES, measure_stability

    with progress_bar(len(CHANGES) * len(result.rankings) * len(result.queries)) as advance:
        for name in result.rankings:
            try:
                found[name] = measure_stability(result, name, partial(resolve_ranker, name), advance=advance)
            except UsageError as error:
                faults.append(str(error))


def _print_tables(result: Evaluation, form: Mapping[str, Any]) -> None:
    left_out = ", ".join(f"{count} {reason}" for reason, count in form["excluded"].items())
    counts = f"{len(result.queries)} of {form['data']['queries']} queries (split {result.split})"
    say(f"{neutralise(form['data']['name'])}: {counts}, left out: {left_out}")
    header = ["ranker", *map(str, result.measures), "p50 ms"]
    rows = [
        [name, *map(_cell, part["measures"].values()), _number(part["latency_ms"]["p50"])]
        for name, part in form["rankers"].items()
    ]
    say(text_table(header, rows))
    header = ["ranker", "risk-coverage", "false answers", "false alarms", "tokens an answer", "Recall@5 per 1,000"]
    beside = [[name, *_beside(part)] for name, part in form["rankers"].items()]
    say("\n" + text_table(header, beside))
    counters = sorted({part["tokens"]["counter"] for part in form["rankers"].values() if part["tokens"]})
    if counters:
        say(f"Tokens are those of the search tool's answer with five results, counted by: {', '.join(counters)}.")
    header = ["ranker", "catalog", str(result.measures[0]), "low", "high", "same ranking", "overlap"]
    changed = [
        [name, change, *map(_number, values.values())]
        for name, part in form["rankers"].items()
        for change, values in part.get("stability", {}).items()
    ]
    if changed:
        say("\n" + text_table(header, changed))


def _beside(part: Mapping[str, Any]) -> list[str]:
    """What stands beside the quality: how well a ranker abstains, and what its results cost."""
    abstention, tokens = part["abstention"], part["tokens"] or {"per_answer": None, "recall_per_1000": None}
    shares = [_number(abstention[key]) for key in ("area", "false_answers", "false_alarms")]
    cost = "-" if tokens["per_answer"] is None else f"{tokens['per_answer']:.0f}"
    return [*shares, cost, _number(tokens["recall_per_1000"])]


def _cell(value: dict[str, float | None]) -> str:
    if value["low"] is None:
        return _number(value["mean"])
    return f"{_number(value['mean'])} [{_number(value['low'])}, {_number(value['high'])}]"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{round(value, 3) + 0.0:.3f}"  # without the sign of a zero
