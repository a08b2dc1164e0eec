"""The demo's run as a folder: summary, report in Markdown, values of every query."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import tempfile
from pathlib import Path

from toolsearch.errors import UsageError
from toolsearch_eval.demo import PRIMARY, Demo, by_term
from toolsearch_eval.evaluate import Evaluation
from toolsearch_eval.markdown import markdown_table, markdown_text

SUMMARY_FILE = "summary.json"
_SHOWN_TERMS = 4

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Header and rows."""


def ranking_table(demo: Demo) -> Table:
    """The shown rankings: query, profile, tool, score, and what the strongest terms gave by field."""
    rows: list[tuple[str, ...]] = []
    for ranking in demo.rankings:
        if not ranking["results"]:
            rows.append((ranking["query"], ranking["profile"], "(nothing found)", "", ""))
        for result in ranking["results"]:
            terms = [
                f"{term} {value:.2f}" + (f" ({', '.join(name for name, _ in fields)})" if fields else "")
                for term, value, fields in by_term(result["parts"])[:_SHOWN_TERMS]
            ]
            rows.append(
                (ranking["query"], ranking["profile"], result["name"], f"{result['score']:.3f}", "; ".join(terms))
            )
    return ("query", "profile", "tool", "score", "strongest terms"), rows


def evaluation_table(demo: Demo) -> Table:
    """The judged rankers with the 95% interval of each mean, and the milliseconds of a query."""
    header = ("ranker", *map(str, demo.evaluation.measures), "p50 ms")
    rows = []
    for name in demo.evaluation.rankings:
        means = [demo.mean(name, measure) for measure in demo.evaluation.measures]
        cells = [interval_text(mean.mean, mean.low, mean.high) for mean in means]
        rows.append((name, *cells, number_text(demo.evaluation.latency[name]["p50"])))
    return header, rows


def comparison_table(demo: Demo) -> Table:
    """`default` less each other ranker, paired by query."""
    header = ("default less", f"difference in {PRIMARY}", "p", "better", "equal", "worse", "could be seen from")
    rows: list[tuple[str, ...]] = [
        (
            line["a"],
            interval_text(line["difference"], line["low"], line["high"]),
            f"{line['p']:.4f}",
            str(line["wins"]),
            str(line["ties"]),
            str(line["losses"]),
            number_text(line["detectable"]),
        )
        for line in demo.comparisons
    ]
    return header, rows


def tuning_table(demo: Demo) -> Table | None:
    """The gain of the tuned weights: on the queries they were chosen by, on unseen folds of them, and on test."""
    if isinstance(demo.tuning, str):
        return None
    rows: list[tuple[str, ...]] = []
    for name, part in (
        ("dev: chosen by these", demo.tuning["dev"]),
        ("dev: folds not seen", demo.tuning["nested"]),
        ("test: not seen", demo.tuning["test"]),
    ):
        if part is None or part.get("difference") is None:
            continue
        gain = interval_text(part["difference"], part["low"], part["high"])
        before, after = (number_text(part.get(key)) for key in ("before", "after"))
        rows.append((name, before, after, gain, f"{part['p']:.4f}", str(part["groups"])))
    return ("queries", "as shipped", "tuned", f"gain in {PRIMARY}", "p", "groups"), rows


def report(demo: Demo) -> str:
    """The tables as Markdown; text from data is escaped."""
    evaluation = demo.evaluation
    lines = [
        "# Demo",
        "",
        f"Data {markdown_text(evaluation.data.name)}, {len(evaluation.queries)} measured queries of the split "
        f"{evaluation.split}, {len(evaluation.data.tools)} tools, fingerprint `{evaluation.data.fingerprint[:12]}`.",
    ]
    for title, table in (
        ("Rankings", ranking_table(demo)),
        ("Rankers", evaluation_table(demo)),
        ("Default beside the others", comparison_table(demo)),
        ("The reference ranking, tuned", tuning_table(demo)),
    ):
        if table is not None:
            lines += ["", f"## {title}", "", markdown_table(*table)]
    lines += ["", markdown_text(demo.tuning if isinstance(demo.tuning, str) else demo.tuning["verdict"])]
    if demo.warnings:
        lines += ["", "## Warnings", "", *(f"- {markdown_text(warning)}" for warning in demo.warnings)]
    return "\n".join(lines) + "\n"


def per_query_csv(evaluation: Evaluation) -> str:
    """A row for each ranker and query; a text that a spreadsheet would run as a formula gets a quote before it."""
    frame = evaluation.per_query()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(frame.columns)
    for row in frame.itertuples(index=False):
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def interval_text(mean: float | None, low: float | None, high: float | None) -> str:
    """A mean with its interval in square brackets; without one, the mean alone.

    >>> interval_text(0.5, 0.4, 0.6), interval_text(0.5, None, None), interval_text(None, None, None)
    ('0.500 [0.400, 0.600]', '0.500', '-')
    """
    if low is None or high is None:
        return number_text(mean)
    return f"{number_text(mean)} [{number_text(low)}, {number_text(high)}]"


def number_text(value: float | None) -> str:
    """Three decimals, or a dash for no value."""
    return "-" if value is None else f"{value:.3f}"


def write_run(demo: Demo, folder: str | Path) -> Path:
    """Write summary, report and per-query values to a folder, which appears whole or not at all.

    Args:
        demo: What was found.
        folder: A new folder, an empty one, or that of an earlier run, which is replaced.

    Raises:
        UsageError: The folder holds something else, or can't be written.
    """
    target = Path(folder)
    if target.exists() and not (target.is_dir() and (not any(target.iterdir()) or (target / SUMMARY_FILE).is_file())):
        raise UsageError(f"{folder} is there already and is no run; name a new folder.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
        try:
            fresh.chmod(0o755)
            summary = json.dumps(demo.to_json(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
            (fresh / SUMMARY_FILE).write_text(summary, encoding="utf-8")
            (fresh / "report.md").write_text(report(demo), encoding="utf-8")
            (fresh / "per_query.csv").write_text(per_query_csv(demo.evaluation), encoding="utf-8", newline="")
            _swap(fresh, target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise UsageError(f"{folder} can't be written: {error.strerror or error}.") from error
    return target


def _swap(fresh: Path, target: Path) -> None:
    """Put a folder in the place of another; on a fault the old one is put back."""
    if not target.exists():
        os.replace(fresh, target)
        return
    old = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.old."))
    os.replace(target, old)
    try:
        os.replace(fresh, target)
    except OSError:
        os.replace(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
