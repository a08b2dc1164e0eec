"""A verdict for GitHub: workflow commands that annotate, and a step summary in Markdown.

Source of the escapes: GitHub's documentation of workflow commands (`%25`, `%0D`, `%0A`, and in properties also `%3A`
and `%2C`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolsearch.errors import Problem
from toolsearch_eval.gate.outputs.text import judged
from toolsearch_eval.gate.verdict import Verdict
from toolsearch_eval.statistics import Interval

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~>@:/])")
_MOST_ANNOTATIONS = 10
"""GitHub shows no more of one kind for a step."""


def verdict_annotations(verdict: Verdict, *, path: str) -> list[str]:
    """Workflow commands: an error for each guard that fired, with the queries that fell most.

    Args:
        verdict: What the gate said.
        path: The baseline's file, where the annotation is shown.
    """
    lines = [_command("error", path, "toolsearch gate", reason) for reason in verdict.reasons]
    if verdict.reasons:
        for each in verdict.fallen:
            message = f"{each.query_id}: {each.before:.3f} -> {each.now:.3f}: {each.text[:200]}: {each.why}"
            lines.append(_command("error" if each.must_pass else "warning", path, "query that fell", message))
    elif verdict.outcome == "inconclusive":
        lines.append(_command("notice", path, "toolsearch gate", "a regression can't be ruled out"))
    return lines[:_MOST_ANNOTATIONS]


def fault_annotations(problems: Sequence[Problem]) -> list[str]:
    """Workflow commands for data that is not what was blessed, or can't be read."""
    lines = [_command("error", each.path, "toolsearch gate", each.message, line=each.line) for each in problems]
    return lines[:_MOST_ANNOTATIONS]


def step_summary(verdict: Verdict, *, most: int = 20) -> str:
    """Markdown with the verdict, the means, the slices, the budgets and the queries that fell."""
    baseline = verdict.baseline
    interval = verdict.overall.difference
    lines = [
        f"### toolsearch gate: {verdict.outcome}",
        "",
        f"{escape_markdown(judged(verdict))} on {escape_markdown(baseline.data)} ({baseline.split}), margin "
        f"{verdict.margin:g}",
        "",
        "| part | blessed | now | difference | 95% interval | groups |",
        "|---|---|---|---|---|---|",
        f"| {escape_markdown(str(baseline.measure))} overall | {_number(verdict.mean_before)} | "
        f"{_number(verdict.mean_now)} | {_cells(interval)} |",
    ]
    for name, found in verdict.slices:
        lines.append(f"| slice {escape_markdown(name)} | | | {_cells(found.difference)} |")
    if verdict.budgets:
        lines += ["", "| budget | blessed | now | limit | unit |", "|---|---|---|---|---|"]
    for budget in verdict.budgets:
        figures = " | ".join(_budget_figure(value) for value in (budget.blessed, budget.now, budget.limit))
        name = budget.name if budget.kept else f"{budget.name} (broken)"
        lines.append(f"| {escape_markdown(name)} | {figures} | {escape_markdown(budget.unit)} |")
    lines += ["", *(f"- {escape_markdown(reason)}" for reason in verdict.reasons)]
    if verdict.fallen:
        lines += ["", "| query | asks | before | now | why |", "|---|---|---|---|---|"]
    for each in verdict.fallen[:most]:
        name = f"{each.query_id} (must pass)" if each.must_pass else each.query_id
        lines.append(
            f"| {escape_markdown(name)} | {escape_markdown(each.text[:200])} | {each.before:.3f} | {each.now:.3f} | "
            f"{escape_markdown(each.why)} |"
        )
    if len(verdict.fallen) > most:
        lines += ["", f"… and {len(verdict.fallen) - most} more"]
    return "\n".join(lines) + "\n"


def escape_markdown(text: str) -> str:
    r"""Text from data as it may stand in a cell of a Markdown table: no markup, no HTML, no mention, one line.

    >>> escape_markdown("a|b <img> @team\n# x")
    'a\\|b &lt;img&gt; \\@team \\# x'
    """
    flat = _CONTROL.sub(lambda match: " " if match[0] in "\n\r\t\u2028\u2029" else "\ufffd", text)
    marked = _MARKDOWN.sub(r"\\\1", flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "\0"))
    return marked.replace("\0", "&gt;")


def _command(level: str, path: str, title: str, message: str, *, line: int = 0) -> str:
    values = {"file": path, **({"line": str(line)} if line else {}), "title": title}
    properties = ",".join(f"{key}={_property(value)}" for key, value in values.items())
    return f"::{level} {properties}::{_data(message)}"


def _data(text: str) -> str:
    clean = _CONTROL.sub(lambda match: match[0] if match[0] in "\n\r" else "\ufffd", text)
    return clean.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _cells(interval: Interval) -> str:
    bounds = f"{_signed(interval.low)} to {_signed(interval.high)}" if interval.low is not None else ""
    return f"{_signed(interval.mean)} | {bounds} | {interval.n}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _budget_figure(value: float | None) -> str:
    return "" if value is None else f"{value:g}" if float(value).is_integer() else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.4f}"
