"""`toolsearch demo`: the main job end to end on the shipped data."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolsearch_eval.cli.output import neutralise, print_json, say, shortened, tell, tell_warnings, text_table

if TYPE_CHECKING:
    from toolsearch_eval.demo import Demo

DEFAULT_FOLDER = "runs/demo"
WIDTH = 100
"""No line is longer, so that nothing wraps in an ordinary terminal."""
_NAME = 37
_TERM = 16
_BAR = 12
_SHOWN_TERMS = 5


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "demo",
        help="the main job end to end on the shipped data",
        description="Rank with explanations, judge the profiles and their peers, compare them query by query, tune "
        "briefly, and write the run to a folder.",
        allow_abbrev=False,
    )
    parser.add_argument("--data", default="builtin", metavar="NAME|DIR", help="the data set (default: builtin)")
    parser.add_argument(
        "--out", default=DEFAULT_FOLDER, metavar="DIR", help=f"where the run is written (default {DEFAULT_FOLDER})"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Run, print what was found and write the run."""
    from toolsearch_eval.demo import run_demo
    from toolsearch_eval.demo_files import write_run

    demo = run_demo(arguments.data, progress=tell)
    folder = write_run(demo, arguments.out)
    tell_warnings(demo.warnings)
    if arguments.json:
        print_json({**demo.to_json(), "folder": str(folder)})
        return 0
    say("\n" + "\n\n".join((rankings_text(demo), judged_text(demo), compared_text(demo), tuned_text(demo))))
    say(f"\nWritten to {neutralise(str(folder))}: summary.json, report.md, per_query.csv")
    return 0


def rankings_text(demo: Demo) -> str:
    """The first results of both profiles side by side, and why the first of `default` has its score."""
    tools = len(demo.evaluation.data.tools)
    lines = [f"1. RANK AND EXPLAIN: {tools} tools; the first results of the reference ranking and of default"]
    for reference, default in zip(demo.rankings[::2], demo.rankings[1::2], strict=True):
        lines += ["", f"   {shortened(reference['query'], WIDTH - 3)}"]
        columns = [_column(ranking) for ranking in (reference, default)]
        width = max(len(line) for line in columns[0])
        for number in range(max(map(len, columns))):
            left, right = (column[number] if number < len(column) else "" for column in columns)
            place = str(number) if number else ""
            lines.append(f"   {place:<3}{left:<{width}}   {right}".rstrip())
        lines += _why(default)
    return "\n".join(lines)


def judged_text(demo: Demo) -> str:
    """The means of every ranker; the primary one with its interval."""
    from toolsearch_eval.demo_files import interval_text, number_text

    evaluation = demo.evaluation
    primary, *others = evaluation.measures
    groups = len({query.group for query in evaluation.queries})
    rows = []
    for name in evaluation.rankings:
        mean = demo.mean(name, primary)
        further = [number_text(demo.mean(name, measure).mean) for measure in others]
        rows.append((name, interval_text(mean.mean, mean.low, mean.high), *further))
    return "\n".join(
        [
            f"2. JUDGE: {len(evaluation.queries)} labelled queries in {groups} groups (split {evaluation.split}); "
            f"{primary} with its 95% interval",
            "",
            _indented(text_table(("ranker", str(primary), *map(str, others)), rows)),
            "",
            *_note("Judged@10 is the share of the shown tools that have a label; the others count as wrong."),
        ]
    )


def compared_text(demo: Demo) -> str:
    """`default` less each other ranker, paired."""
    from toolsearch_eval.demo_files import comparison_table

    header, rows = comparison_table(demo)
    return "\n".join(
        [
            "3. COMPARE: default less each other ranker, group by group",
            "",
            _indented(text_table(header, rows)),
            "",
            *_note(
                "better, equal, worse: in how many groups. p: how often chance alone gives as much. The last column: "
                "the smallest difference that so many groups show four times out of five."
            ),
        ]
    )


def tuned_text(demo: Demo) -> str:
    """What moving the weights of the reference ranking gives, where it was chosen and where it was not."""
    from toolsearch_eval.demo_files import tuning_table

    table = tuning_table(demo)
    if table is None or isinstance(demo.tuning, str):
        return "\n".join(["4. TUNE: nothing was tuned", "", *_note(str(demo.tuning))])
    said = f"{demo.tuning['verdict']} Its weights stay as they are: it is the fixed point that others are measured by."
    return "\n".join(
        [
            f"4. TUNE: {demo.tuning['trials']} trials with the weights of {demo.tuning['profile']}",
            "",
            _indented(text_table(*table)),
            "",
            *_note(said),
        ]
    )


def _column(ranking: Mapping[str, Any]) -> list[str]:
    lines = [ranking["profile"]]
    for result in ranking["results"]:
        # A name of any length is cut where its column ends; the run's files hold it in full.
        lines.append(f"{shortened(result['name'], _NAME):<{_NAME}}  {result['score']:.3f}")
    return lines if len(lines) > 1 else [*lines, f"{'(nothing found)':<{_NAME}}       "]


def _why(ranking: Mapping[str, Any]) -> list[str]:
    from toolsearch_eval.demo import by_term

    if not ranking["results"]:
        return []
    first = ranking["results"][0]
    arms = " + ".join(f"{arm} {value:.3f}" for arm, value in first["arms"].items())
    named = "" if first["reason"] == "score" else f"; stands first by {first['reason']}, not by its score"
    lines = [f"      default's first: {first['score']:.3f} = {arms}{named}"]
    terms = by_term(first["parts"])
    highest = terms[0][1] if terms else 0.0
    for term, value, fields in terms[:_SHOWN_TERMS]:
        bar = "#" * max(1, round(_BAR * value / highest)) if highest > 0 else ""
        places = ", ".join(f"{name} {given:.2f}" for name, given in fields)
        line = f"      {shortened(term, _TERM):<{_TERM}} {value:.3f}  {bar:<{_BAR}}  {places}"
        lines.append(shortened_right(line, WIDTH))
    rest = terms[_SHOWN_TERMS:]
    if rest:
        lines.append(f"      {f'{len(rest)} more':<{_TERM}} {sum(value for _, value, _ in rest):.3f}")
    if ranking["low_confidence"]:
        lines.append("      low confidence: the catalog may have no tool for this")
    return lines


def shortened_right(line: str, limit: int) -> str:
    """The line without blanks at its end, cut with a visible mark; unlike `shortened`, blanks inside stay.

    >>> shortened_right("a  b  ", 9), shortened_right("a  b  cdefg", 9)
    ('a  b', 'a  b  c …')
    """
    line = line.rstrip()
    return line if len(line) <= limit else line[: limit - 2].rstrip() + " …"


def _indented(table: str) -> str:
    return textwrap.indent(table, "   ")


def _note(text: str) -> Sequence[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="   ", subsequent_indent="   ")
