"""The figures of the README: measured, stored, written between marks, and checked.

`python -m toolsearch_eval.figures` measures and rewrites the blocks `<!-- figures:NAME -->` … `<!-- /figures -->`;
`--check` measures again and fails when README or stored figures say something else. Figures of quality must be equal.
Times differ from run to run, so they count as equal within a factor of two.

Blocks: `builtin` (the shipped set, dev and test) and `suites` (further data sets; measured when a folder is given with
`--suites`, else as they were measured last).
"""

from __future__ import annotations

import datetime
import importlib
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_eval.data import load_data
from toolsearch_eval.demo import markdown_table
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.measures import parse_measure
from toolsearch_eval.rankers import resolve_ranker

RANKERS = ("reference", "bm25f", "default")
MEASURES = ("nDCG@10", "Recall@5", "RR@10", "Success@1")
SUITE_MEASURE = "nDCG@10"
TIME_FACTOR = 2.0
"""Times that differ by less are noise."""
DIGITS = 3
_BLOCK = re.compile(r"(<!-- figures:([a-z-]+) -->\n)(.*?)(<!-- /figures -->)", re.DOTALL)

Figures = dict[str, Any]
"""One block's figures: command, date, fingerprints by data set, and lines of named values."""


def measure_builtin(data: str = "builtin", *, today: str) -> Figures:
    """The shipped set: a line for each split and ranker, means with their intervals, milliseconds a query."""
    labelled = load_data(data)
    lines = []
    splits = [split for split in ("dev", "test") if any(query.split == split for query in labelled.queries)]
    for split in splits:
        result = evaluate(
            labelled,
            [resolve_ranker(name) for name in RANKERS],
            measures=[parse_measure(text) for text in MEASURES],
            split=split,
            progress=False,
        )
        form = result.to_json()
        for name, values in form["rankers"].items():
            cells = {text: _interval(values["measures"][text]) for text in MEASURES}
            time = values["latency_ms"]["p50"]
            labels = {"split": split, "queries": form["data"]["queries"], "ranker": name}
            lines.append({**labels, **cells, "p50 ms": None if time is None else round(time, DIGITS)})
    return {
        "command": "python -m toolsearch_eval.figures",
        "date": today,
        "fingerprints": {labelled.name: labelled.fingerprint},
        "lines": lines,
    }


def measure_suites(folder: Path, *, today: str, progress: Callable[[str], None] = lambda _: None) -> Figures:
    """Every data set in a folder: a line each with the mean of every ranker, and the mean over all sets.

    Raises:
        UsageError: The folder holds no data set.
    """
    sets = sorted(path.parent for path in folder.glob("*/queries.jsonl"))
    if not sets:
        raise UsageError(f"--suites is {str(folder)!r}, which holds no folder with a queries.jsonl.")
    fingerprints: dict[str, str] = {}
    lines: list[dict[str, Any]] = []
    for path in sets:
        progress(f"judging on {path.name}")
        labelled = load_data(path)
        rankers = [resolve_ranker(name) for name in RANKERS]
        result = evaluate(
            labelled, rankers, measures=[parse_measure(SUITE_MEASURE)], split="all", progress=False
        ).to_json()
        means = {name: _rounded(result["rankers"][name]["measures"][SUITE_MEASURE]["mean"]) for name in RANKERS}
        fingerprints[labelled.name] = labelled.fingerprint
        lines.append(
            {"set": labelled.name, "tools": len(labelled.tools), "queries": result["data"]["queries"], **means}
        )
    overall = {name: _rounded(sum(line[name] or 0.0 for line in lines) / len(lines)) for name in RANKERS}
    lines.append({"set": "mean of the sets", "tools": None, "queries": None, **overall})
    return {
        "command": "python -m toolsearch_eval.figures --suites DIR",
        "date": today,
        "fingerprints": fingerprints,
        "lines": lines,
    }


def block_text(figures: Figures) -> str:
    """What stands between the marks: the table, and how it was made."""
    lines = figures["lines"]
    header = list(lines[0]) if lines else []
    rows = [[_shown(line[name]) for name in header] for line in lines]
    return f"\n{markdown_table(header, rows)}\n\nMeasured {figures['date']} by `{figures['command']}`.\n\n"


def differences(stored: Figures, measured: Figures) -> list[str]:
    """What differs beyond noise, a line each; an empty list when the figures are the same."""
    found = []
    if stored["fingerprints"] != measured["fingerprints"]:
        names = sorted(
            name
            for name in stored["fingerprints"].keys() | measured["fingerprints"].keys()
            if stored["fingerprints"].get(name) != measured["fingerprints"].get(name)
        )
        found.append(f"the data changed: {', '.join(names)}")
    if len(stored["lines"]) != len(measured["lines"]):
        found.append(f"{len(stored['lines'])} lines are stored, {len(measured['lines'])} were measured")
    for number, (old, new) in enumerate(zip(stored["lines"], measured["lines"], strict=False), start=1):
        label = " ".join(str(value) for value in list(new.values())[:3] if value is not None)
        for name in dict.fromkeys([*old, *new]):
            if not _same(name, old.get(name), new.get(name)):
                found.append(f"line {number} ({label}), {name}: stored {old.get(name)}, measured {new.get(name)}")
    return found


def rewritten(readme: str, results: Mapping[str, Figures]) -> str:
    """The README with every marked block made anew; a block without figures stays as it is."""

    def block(match: re.Match[str]) -> str:
        figures = results.get(match[2])
        return match[0] if figures is None else f"{match[1]}{block_text(figures)}{match[4]}"

    return _BLOCK.sub(block, readme)


def make_figures(
    *,
    readme_path: Path,
    results_path: Path,
    data: str = "builtin",
    suites: Path | None = None,
    check: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> int:
    """Measure, then rewrite the marked blocks or check them.

    Args:
        readme_path: The file with the marked blocks.
        results_path: Where the figures that were measured last are kept.
        data: The set of the block `builtin`.
        suites: A folder of further data sets, or None to keep their figures as they are.
        check: Write nothing and compare.
        tell: Is told what begins and what differs.

    Returns:
        0 good, 1 when the check found a difference.

    Raises:
        UsageError: The file can't be read, has no block, or one that is unknown.
        DataError: The stored figures can't be read.
    """
    try:
        readme = readme_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{readme_path} can't be read: {error}") from error
    names = [match[2] for match in _BLOCK.finditer(readme)]
    unknown = sorted(set(names) - {"builtin", "suites"})
    if not names or unknown:
        what = f"unknown block {unknown[0]!r}" if unknown else "no marked block"
        raise UsageError(f"{readme_path}: {what}; mark one with <!-- figures:builtin --> … <!-- /figures -->.")
    stored = _stored(results_path)
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    measured: dict[str, Figures] = {"builtin": measure_builtin(data, today=today)}
    if suites is not None:
        measured["suites"] = measure_suites(suites, today=today, progress=tell)
    if check:
        found = _faults(readme, names, stored, measured)
        for line in found:
            tell(line)
        if found:
            tell("`python -m toolsearch_eval.figures` makes them anew.")
        return 1 if found else 0
    # Figures that are the same keep their date and times, so that nothing changes without a reason.
    kept = {
        name: stored[name] if name in stored and not differences(stored[name], figures) else figures
        for name, figures in measured.items()
    }
    results = {**stored, **kept}
    missing = [name for name in names if name not in results]
    if missing:
        tell(f"block {missing[0]!r} has no figures yet and stays as it is; --suites DIR measures it.")
    _write(results_path, json.dumps(results, ensure_ascii=False, indent=2) + "\n")
    _write(readme_path, rewritten(readme, results))
    return 0


def _faults(
    readme: str, names: Sequence[str], stored: Mapping[str, Figures], measured: Mapping[str, Figures]
) -> list[str]:
    found = []
    for name in dict.fromkeys(names):
        if name not in stored:
            found.append(f"{name}: no figures are stored")
        elif name in measured:
            found += [f"{name}: {line}" for line in differences(stored[name], measured[name])]
    if rewritten(readme, stored) != readme:
        found.append("the README does not show the stored figures")
    return found


def _stored(path: Path) -> dict[str, Figures]:
    if not path.exists():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError([Problem(str(path), 0, "", f"can't be read as JSON: {error}")]) from error
    wanted = {"command", "date", "fingerprints", "lines"}
    if not isinstance(value, dict) or not all(
        isinstance(part, dict) and wanted <= part.keys() for part in value.values()
    ):
        message = f"must be an object whose values have {', '.join(sorted(wanted))}; remove the file to measure anew"
        raise DataError([Problem(str(path), 0, "", message)])
    return value


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _same(name: str, old: Any, new: Any) -> bool:
    if name.endswith(" ms") and isinstance(old, int | float) and isinstance(new, int | float):
        return max(old, new) <= TIME_FACTOR * min(old, new)
    return bool(old == new)


def _interval(cell: Mapping[str, float | None]) -> str:
    mean, low, high = (_shown(_rounded(cell[name])) for name in ("mean", "low", "high"))
    return mean if cell["low"] is None else f"{mean} ({low} to {high})"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.{DIGITS}f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    # Arguments are read and texts printed in the command line's folder alone.
    sys.exit(importlib.import_module("toolsearch_eval.cli.figures_entry").main())
