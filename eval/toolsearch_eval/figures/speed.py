"""Figures of speed: the bench's own cases, and how long a start takes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolsearch.errors import UsageError
from toolsearch_eval.bench.cases import run_benchmark
from toolsearch_eval.bench.report import benchmark_json
from toolsearch_eval.bench.timing import startup_cases
from toolsearch_eval.figures.block import Block, Cell, Table
from toolsearch_eval.figures.quality import COMMAND


def measure_start(*, today: str, rounds: int = 5) -> Block:
    """What a new process pays before it does anything; the best of several, as the bench measures it.

    `import toolsearch` loads nothing by itself, so the import that a search needs is measured too.
    """
    circumstances = machine()
    cases = [case.to_json() for case in startup_cases(rounds)]
    lines: list[dict[str, Cell]] = [
        {"what": case["case"], "best ms": _short(case["ours_ms"]), "target": case["target"], "met": case["met"]}
        for case in cases
    ]
    best = min(_import_milliseconds("toolsearch.search.searcher") for _ in range(max(3, rounds)))
    lines.insert(1, {"what": "import toolsearch.search.searcher", "best ms": _short(best), "target": None, "met": None})
    return Block(command=COMMAND, date=today, circumstances=circumstances, tables=(Table(lines=tuple(lines)),))


def measure_bench(
    sizes: Sequence[int], *, today: str, rounds: int = 3, seed: int = 0, tell: Callable[[str], None] = lambda _: None
) -> Block:
    """The bench on synthetic catalogs: cases with ratios and targets, growth, memory.

    Raises:
        UsageError: The bench could not measure beside what it should.
    """
    circumstances = machine()
    form = benchmark_json(run_benchmark(sizes, rounds=rounds, seed=seed, progress=tell))
    if form["warnings"]:
        raise UsageError("\n".join(form["warnings"]))
    tables = [
        Table(title="Side by side", lines=tuple(_case(case) for case in form["cases"] if case["tools"])),
        Table(title="Memory of the index", lines=tuple(map(_memory, form["memory"]))),
    ]
    if form["growth"]:
        tables.insert(1, Table(title="Growth", lines=tuple(map(_growth, form["growth"]))))
    return Block(
        command=f"{COMMAND} --bench",
        date=today,
        fingerprints={"synthetic catalogs": f"sizes {', '.join(map(str, sizes))}; rounds {rounds}; seed {seed}"},
        circumstances=circumstances,
        tables=tuple(tables),
    )


def machine() -> dict[str, str]:
    """The interpreter and the machine, with what else it was doing when the measuring began."""
    found = {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "processors": f"{os.cpu_count()} processors",
    }
    if hasattr(os, "getloadavg"):
        found["load"] = f"load average {os.getloadavg()[0]:.2f} before"
    return found


def _import_milliseconds(module: str) -> float:
    """How long a new process takes to import a module; it finds the packages where this one does."""
    code = (
        f"import sys, time; sys.path[:0] = {[path for path in sys.path if path]!r}; "
        f"start = time.perf_counter(); import {module}; print((time.perf_counter() - start) * 1000)"
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def _case(case: Mapping[str, Any]) -> dict[str, Cell]:
    return {
        "case": case["case"],
        "tools": case["tools"],
        "ours ms": _short(case["ours_ms"]),
        "beside": case["other"],
        "its ms": _short(case["other_ms"]),
        "ratio": _short(case["ratio"]),
        "target": case["target"],
        "met": case["met"],
    }


def _growth(line: Mapping[str, Any]) -> dict[str, Cell]:
    return {
        "growth of": line["case"],
        "from tools": line["from_tools"],
        "to tools": line["to_tools"],
        "ours x": _short(line["times_ours"]),
        "other x": _short(line["times_other"]),
    }


def _memory(line: Mapping[str, Any]) -> dict[str, Cell]:
    return {
        "tools": line["tools"],
        "index MB": _short(line["megabytes"]),
        "per 10,000 tools MB": _short(line["megabytes_per_10000_tools"]),
    }


def _short(value: float | None) -> float | None:
    """Three digits: more would be noise."""
    return None if value is None else float(f"{value:.3g}")
