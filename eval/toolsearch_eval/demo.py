"""The main job end to end on the shipped data: rank with explanations, judge, write the run."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.config import DEFAULT, REFERENCE
from toolsearch.errors import UsageError
from toolsearch.search.results import Result
from toolsearch.search.searcher import Searcher
from toolsearch_eval.bench.peers import installed_peers
from toolsearch_eval.data import load_data
from toolsearch_eval.evaluate import Evaluation, evaluate
from toolsearch_eval.measures import Measure, parse_measure
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.statistics import paired_difference

QUERIES = (
    "post an answer in the slack thread",
    "run a prompt every morning",
    "定时任务",
    "+notebook change a cell",
)
"""What is ranked for show: a service's task, a paraphrase, a Chinese query, and one with a required word."""

PRIMARY = "nDCG@10"
SUMMARY_FILE = "summary.json"
_SHOWN_RESULTS = 3
_SHOWN_PARTS = 4
_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What the demo found.

    Attributes:
        rankings: For each query and profile, the first results with the parts of their scores.
        evaluation: The judged rankers.
        comparisons: `default` beside each other ranker on the primary measure.
        warnings: What to know beside the numbers.
    """

    rankings: tuple[dict[str, Any], ...]
    evaluation: Evaluation
    comparisons: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """All of it as one object, with what is needed to make it again."""
        return {
            "schema_version": 1,
            "manifest": {
                "versions": {name: _version(name) for name in ("toolsearch", "numpy", "bm25s", "scikit-learn")},
                "python": platform.python_version(),
                "seed": _SEED,
                "data": self.evaluation.data.fingerprint,
            },
            "rankings": list(self.rankings),
            "evaluation": self.evaluation.to_json(),
            "comparisons": list(self.comparisons),
            "warnings": list(self.warnings),
        }


def run_demo(data: str = "builtin", *, progress: Callable[[str], None] = lambda _: None) -> Demo:
    """Rank a few queries with both profiles, then judge profiles and peers on the dev split.

    Args:
        data: A shipped data set or a folder.
        progress: Is told what begins.
    """
    progress("ranking a few queries with both profiles")
    labelled = load_data(data)
    searchers = [Searcher(ToolRegistry(labelled.tools), config) for config in (REFERENCE, DEFAULT)]
    rankings = tuple(_ranking(query, searcher) for query in QUERIES for searcher in searchers)
    progress(f"judging on {data}")
    peers = installed_peers()
    rankers = [*(resolve_ranker(name) for name in ("reference", "default", "bm25f")), *peers]
    evaluation = evaluate(labelled, rankers, progress=False)
    progress("comparing query by query")
    primary = parse_measure(PRIMARY)
    comparisons = tuple(_comparison(evaluation, primary, name) for name in evaluation.rankings if name != "default")
    missing = {"bm25s", "sklearn"} - {peer.name for peer in peers}
    notes = tuple(f"{name} is not installed; the extra `peers` brings it." for name in sorted(missing))
    return Demo(
        rankings=rankings,
        evaluation=evaluation,
        comparisons=comparisons,
        warnings=(*notes, *evaluation.warnings),
    )


def _ranking(query: str, searcher: Searcher) -> dict[str, Any]:
    response = searcher.search(query, max_results=_SHOWN_RESULTS, explain=True)
    return {
        "query": query,
        "profile": searcher.config.name,
        "low_confidence": response.low_confidence,
        "results": [_result(result) for result in response.results],
    }


def _result(result: Result) -> dict[str, Any]:
    strongest = sorted(result.parts, key=lambda part: (-part.value, part.arm, part.field, part.term))
    return {
        "name": result.name,
        "score": result.score,
        "reason": result.reason,
        "arms": dict(result.arms),
        "parts": [{"arm": part.arm, "field": part.field, "term": part.term, "value": part.value} for part in strongest],
    }


def _comparison(evaluation: Evaluation, measure: Measure, other: str) -> dict[str, Any]:
    groups = [query.group for query in evaluation.queries]
    found = paired_difference(
        evaluation.values(other, measure), evaluation.values("default", measure), groups, seed=_SEED
    )
    return {
        "measure": str(measure),
        "a": other,
        "b": "default",
        "difference": found.difference.mean,
        "low": found.difference.low,
        "high": found.difference.high,
        "p": found.p,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "detectable": found.detectable,
    }


Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Header and rows."""


def ranking_table(demo: Demo) -> Table:
    """The shown rankings: query, profile, tool, score and the strongest parts of the score."""
    rows: list[tuple[str, ...]] = []
    for ranking in demo.rankings:
        if not ranking["results"]:
            rows.append((ranking["query"], ranking["profile"], "(nothing found)", "", ""))
        for result in ranking["results"]:
            parts = " ".join(
                f"{part['arm']}:{part['field'] or '-'}:{part['term'] or '-'}={part['value']:.2f}"
                for part in result["parts"][:_SHOWN_PARTS]
            )
            rows.append((ranking["query"], ranking["profile"], result["name"], f"{result['score']:.3f}", parts))
    return ("query", "profile", "tool", "score", "strongest parts"), rows


def evaluation_table(demo: Demo) -> Table:
    """The judged rankers with the 95% interval of each mean."""
    form = demo.evaluation.to_json()["rankers"]
    header = ("ranker", *map(str, demo.evaluation.measures), "p50 ms")
    rows = [
        (
            name,
            *(_interval(cell["mean"], cell["low"], cell["high"]) for cell in values["measures"].values()),
            _number(values["latency_ms"]["p50"]),
        )
        for name, values in form.items()
    ]
    return header, rows


def comparison_table(demo: Demo) -> Table:
    """`default` less each other ranker, paired by query."""
    header: tuple[str, ...] = (
        "default less",
        f"difference in {PRIMARY}",
        "p",
        "better",
        "equal",
        "worse",
        "could be seen from",
    )
    rows: list[tuple[str, ...]] = [
        (
            line["a"],
            _interval(line["difference"], line["low"], line["high"]),
            f"{line['p']:.4f}",
            str(line["wins"]),
            str(line["ties"]),
            str(line["losses"]),
            _number(line["detectable"]),
        )
        for line in demo.comparisons
    ]
    return header, rows


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


def report(demo: Demo) -> str:
    """The three tables as Markdown; text from data is escaped."""
    form = demo.evaluation.to_json()
    lines = [
        "# Demo",
        "",
        f"Data {_markdown(form['data']['name'])}, {form['data']['queries']} queries of the split {form['split']}, "
        f"{form['data']['tools']} tools, fingerprint `{form['data']['fingerprint'][:12]}`.",
    ]
    for title, table in (
        ("Rankings", ranking_table(demo)),
        ("Rankers", evaluation_table(demo)),
        ("Default beside the others", comparison_table(demo)),
    ):
        header, rows = table
        lines += ["", f"## {title}", "", markdown_table(header, rows)]
    if demo.warnings:
        lines += ["", "## Warnings", "", *(f"- {_markdown(warning)}" for warning in demo.warnings)]
    return "\n".join(lines) + "\n"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""A Markdown table; cells are escaped, so that text from data can't break out of its cell.

    >>> print(markdown_table(["name"], [["a|b"], ["<i>"]]))
    | name |
    | --- |
    | a\|b |
    | &lt;i&gt; |
    """
    lines = ["| " + " | ".join(map(_markdown, header)) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(map(_markdown, row)) + " |" for row in rows]
    return "\n".join(lines)


def per_query_csv(evaluation: Evaluation) -> str:
    """A row for each ranker and query; a text that a spreadsheet would run as a formula gets a quote before it."""
    frame = evaluation.per_query()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(frame.columns)
    for row in frame.itertuples(index=False):
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _markdown(text: str) -> str:
    flat = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for character in "\\`|*_[]":
        flat = flat.replace(character, f"\\{character}")
    return flat


def _interval(mean: float | None, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return _number(mean)
    return f"{_number(mean)} [{_number(low)}, {_number(high)}]"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
