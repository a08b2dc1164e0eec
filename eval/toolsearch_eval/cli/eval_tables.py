"""The tables that `toolsearch eval` prints for readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolsearch_eval.cli.output import neutralise, say, text_table
from toolsearch_eval.report.numbers import interval_text, number_text, p_text
from toolsearch_eval.statistics import Interval

if TYPE_CHECKING:
    from toolsearch_eval.evaluate import Evaluation


def print_evaluation(result: Evaluation, form: Mapping[str, Any]) -> None:
    """Print what was measured of one data set, for readers.

    Args:
        result: The evaluation.
        form: Its machine-readable form, with what was asked for besides.
    """
    left_out = ", ".join(f"{count} {reason}" for reason, count in form["excluded"].items())
    counts = f"{len(result.queries)} of {form['data']['queries']} queries (split {result.split})"
    say(f"{neutralise(form['data']['name'])}: {counts}, left out: {left_out}")
    header = ["ranker", *map(str, result.measures), "p50 ms"]
    rows = [
        [
            name,
            *(interval_text(Interval(**cell)) for cell in part["measures"].values()),
            number_text(part["latency_ms"]["p50"]),
        ]
        for name, part in form["rankers"].items()
    ]
    say(text_table(header, rows))
    header = ["ranker", "risk-coverage", "false answers", "false alarms", "tokens an answer", "Recall@5 per 1,000"]
    beside = [[name, *_beside(part)] for name, part in form["rankers"].items()]
    say("\n" + text_table(header, beside))
    counters = sorted({part["tokens"]["counter"] for part in form["rankers"].values() if part["tokens"]})
    if counters:
        say(f"Tokens are those of the search tool's answer with five results, counted by: {', '.join(counters)}.")
    if "against" in form:
        _print_against(form["against"])
    header = ["ranker", "catalog", str(result.measures[0]), "low", "high", "same ranking", "overlap"]
    changed = [
        [name, change, *map(number_text, values.values())]
        for name, part in form["rankers"].items()
        for change, values in part.get("stability", {}).items()
    ]
    if changed:
        say("\n" + text_table(header, changed))


def _print_against(form: Mapping[str, Any]) -> None:
    say(
        f"\n{form['measure']} less that of {neutralise(form['ranker'])}; p by sign flips, adjusted by Holm's procedure:"
    )
    header = ["ranker", "difference", "p", "better", "equal", "worse", "detectable"]
    rows = [
        [
            name,
            interval_text(Interval(found["difference"], found["low"], found["high"], found["groups"]), signed=True),
            p_text(found["p"]),
            found["wins"],
            found["ties"],
            found["losses"],
            number_text(found["detectable"]),
        ]
        for name, found in form["rankers"].items()
    ]
    say(text_table(header, rows))


def _beside(part: Mapping[str, Any]) -> list[str]:
    """What stands beside the quality: how well a ranker abstains, and what its results cost."""
    abstention, tokens = part["abstention"], part["tokens"] or {"per_answer": None, "recall_per_1000": None}
    shares = [number_text(abstention[key]) for key in ("area", "false_answers", "false_alarms")]
    cost = "-" if tokens["per_answer"] is None else f"{tokens['per_answer']:.0f}"
    return [*shares, cost, number_text(tokens["recall_per_1000"])]
