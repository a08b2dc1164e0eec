"""What the bench says: plain data, and a text table with targets and the growth curve."""

from __future__ import annotations

import itertools
from typing import Any

from toolsearch_eval.bench.cases import Benchmark
from toolsearch_eval.bench.timing import Case


def benchmark_json(benchmark: Benchmark) -> dict[str, Any]:
    """All lines as one object; times in milliseconds, memory in megabytes."""
    return {
        "schema_version": 1,
        "cases": [case.to_json() for case in benchmark.cases],
        "memory": [
            {"tools": tools, "megabytes": megabytes, "megabytes_per_10000_tools": megabytes * 10_000 / tools}
            for tools, megabytes in benchmark.memory.items()
        ],
        "growth": growth(benchmark.cases),
        "warnings": list(benchmark.warnings),
    }


def growth(cases: tuple[Case, ...]) -> list[dict[str, Any]]:
    """How time grows: for each case and pair of neighbouring sizes, the factor for a factor of tools.

    A factor of time near the factor of tools is linear growth; 1 is none.
    """
    by_case: dict[str, list[Case]] = {}
    for case in cases:
        if case.tools:
            by_case.setdefault(case.case, []).append(case)
    curve = []
    for name, lines in by_case.items():
        lines = sorted(lines, key=lambda line: line.tools)
        for smaller, larger in itertools.pairwise(lines):
            curve.append(
                {
                    "case": name,
                    "from_tools": smaller.tools,
                    "to_tools": larger.tools,
                    "times_tools": larger.tools / smaller.tools,
                    "times_ours": larger.ours_ms / smaller.ours_ms if smaller.ours_ms else None,
                    "times_other": (
                        larger.other_ms / smaller.other_ms if smaller.other_ms and larger.other_ms else None
                    ),
                }
            )
    return curve


def case_rows(benchmark: Benchmark) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of the table of cases."""
    header: tuple[str, ...] = ("case", "tools", "ours ms", "beside", "its ms", "ratio", "target", "met")
    rows: list[tuple[str, ...]] = [
        (
            case.case,
            f"{case.tools:,}" if case.tools else "",
            _number(case.ours_ms),
            case.other,
            _number(case.other_ms),
            _number(case.ratio),
            case.target_text(),
            {True: "yes", False: "NO", None: ""}[case.met],
        )
        for case in benchmark.cases
    ]
    return header, rows


def growth_rows(benchmark: Benchmark) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of the growth curve."""
    header: tuple[str, ...] = ("growth of", "from", "to", "ours x", "other x")
    rows: list[tuple[str, ...]] = [
        (
            line["case"],
            f"{line['from_tools']:,}",
            f"{line['to_tools']:,}",
            _number(line["times_ours"]),
            _number(line["times_other"]),
        )
        for line in growth(benchmark.cases)
    ]
    return header, rows


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
