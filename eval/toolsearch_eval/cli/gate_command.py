"""`toolsearch gate`: fail when search quality falls below a baseline."""

from __future__ import annotations

import argparse
import datetime
import sys
from contextlib import redirect_stdout
from pathlib import Path

from toolsearch.errors import DataError, UsageError
from toolsearch_eval.cli.output import neutralise, print_json, say, tell, tell_warnings

INCONCLUSIVE = 3
"""The exit code of `--strict` where a regression can't be ruled out."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb and its arguments."""
    parser = subparsers.add_parser(
        "gate",
        help="fail when search quality falls below a baseline",
        description="Judge a ranker and hold it against a blessed baseline. Exit code 0: no regression. 1: the "
        "interval of the paired difference lies wholly below -margin, overall or in a slice, a must-pass query fell, "
        "or a budget is broken: tokens per answer, a stable tools array, and p95 where the baseline asks for it. 2: "
        "wrong use, no baseline, or other data than was blessed. 3 (with --strict): a regression can't be ruled out.",
        allow_abbrev=False,
    )
    parser.add_argument("--baseline", required=True, metavar="FILE", help="what `toolsearch bless` wrote")
    parser.add_argument("--data", metavar="NAME|DIR", help="the data set (default: the one that was blessed)")
    parser.add_argument(
        "--ranker", metavar="NAME|FILE.toml|module:factory", help="default: the ranker that was blessed"
    )
    parser.add_argument("--split", choices=("dev", "test", "all"), help="refused unless it is the blessed one")
    parser.add_argument("--margin", type=float, metavar="X", help="how far a mean may fall, 0..1 (default: 0.01)")
    parser.add_argument("--strict", action="store_true", help="exit with 3 where a regression can't be ruled out")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML")
    parser.add_argument("--github", action="store_true", help="print annotations as GitHub's workflow commands")
    parser.add_argument("--step-summary", metavar="FILE", help="append a summary in Markdown to this file")
    parser.add_argument("--log", metavar="FILE", help="add a line to this log, which the dashboard shows over time")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Judge, say the verdict in the forms asked for, and give its exit code."""
    from toolsearch_eval.cli.main import package_version
    from toolsearch_eval.gate.baseline_file import load_blessed_data, read_baseline
    from toolsearch_eval.gate.log import append_record, record_of_verdict
    from toolsearch_eval.gate.outputs.github import fault_annotations, step_summary, verdict_annotations
    from toolsearch_eval.gate.outputs.junit import junit_xml
    from toolsearch_eval.gate.outputs.text import verdict_lines
    from toolsearch_eval.gate.verdict import MARGIN, gate
    from toolsearch_eval.rankers import resolve_ranker

    baseline = read_baseline(arguments.baseline)
    if arguments.split and arguments.split != baseline.split:
        raise UsageError(
            f"--split is {arguments.split}, but {arguments.baseline} was blessed on {baseline.split}; bless another "
            "baseline for another split."
        )
    try:
        with redirect_stdout(sys.stderr):  # a ranker may be anyone's
            verdict = gate(
                baseline,
                load_blessed_data(baseline, arguments.data),
                resolve_ranker(arguments.ranker or baseline.ranker),
                margin=MARGIN if arguments.margin is None else arguments.margin,
                path=arguments.baseline,
            )
    except DataError as error:
        if arguments.github:
            for line in fault_annotations(error.problems):
                tell(line)
        raise
    tell_warnings(verdict.warnings)
    if arguments.junit:
        _write(arguments.junit, junit_xml(verdict))
    if arguments.github:
        for line in verdict_annotations(verdict, path=arguments.baseline):
            (tell if arguments.json else say)(line)
    if arguments.step_summary:
        _append(arguments.step_summary, step_summary(verdict))
    if arguments.log:
        moment = datetime.datetime.now(tz=datetime.UTC)
        record = record_of_verdict(verdict, path=arguments.baseline, now=moment, version=package_version())
        append_record(arguments.log, record)
    if arguments.json:
        print_json(verdict.to_json())
    else:
        say("\n".join(neutralise(line) for line in verdict_lines(verdict)))
    if verdict.outcome == "fail":
        return 1
    return INCONCLUSIVE if verdict.outcome == "inconclusive" and arguments.strict else 0


def _append(path: str, text: str) -> None:
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"the step summary {path} can't be written: {error}.") from error


def _write(path: str, text: str) -> None:
    target = Path(path)
    part = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(target)
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error}.") from error
