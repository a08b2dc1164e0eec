"""The rows of a run, checked: each ranker's answer to each query, and the value of each measure."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.names import shown
from toolsearch.errors import Problem
from toolsearch_eval.abstention import Sureness
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.data_files import read_rows, read_text
from toolsearch_eval.rankers.run import Answer, Ran, Times
from toolsearch_eval.report.escape import csv_cell
from toolsearch_eval.runs.checks import REMEDY, Manifest, faults, is_number
from toolsearch_eval.tables import KEYS


def read_rankings(
    path: Path,
    manifest: Manifest,
    data: DataSet,
    queries: Sequence[Query],
    silent: Sequence[Query],
    times: Mapping[str, Any],
    problems: list[Problem],
) -> dict[str, Ran]:
    """By ranker what it gave, each query exactly once."""
    if not path.is_file():
        problems.append(Problem(str(path), 0, "", f"is missing; {REMEDY}"))
        return {}
    known = frozenset(tool.name for tool in data.tools if is_deferred(tool))
    asked = {query.query_id for query in (*queries, *silent)}
    found: dict[str, dict[str, Answer]] = {name: {} for name in manifest.identities}
    faulty = len(problems)
    for number, row in read_rows(path, problems):

        def fault(field: str, message: str, line: int = number) -> None:
            problems.append(Problem(str(path), line, field, f"{message}; {REMEDY}"))

        ranker, query_id = row.get("ranker"), row.get("query_id")
        if not isinstance(ranker, str) or ranker not in found:
            fault("ranker", f"{ranker!r:.80} is none of the run's rankers")
        elif not isinstance(query_id, str) or query_id not in asked:
            fault("query_id", f"{query_id!r:.80} is none of the run's queries")
        elif query_id in found[ranker]:
            fault("query_id", f"{shown(query_id)} stands twice for {ranker}")
        else:
            answer = _answer(row, known, manifest.depth, fault)
            if answer is not None:
                found[ranker][query_id] = answer
    if len(problems) > faulty:
        return {}
    for ranker, answers in found.items():
        lost = sorted(asked - set(answers))
        if lost:
            message = f"lacks {len(lost)} of {len(asked)} queries of {ranker}, first {shown(lost[0])}; {REMEDY}"
            problems.append(Problem(str(path), 0, "", message))
    if len(problems) > faulty or not times:
        return {}
    return {
        ranker: Ran(
            answers=tuple(answers[query.query_id] for query in queries),
            silent=tuple(answers[query.query_id] for query in silent),
            times=Times(latency=times[ranker]["latency_ms"], build=times[ranker]["build_ms"]),
        )
        for ranker, answers in found.items()
    }


def _answer(
    row: Mapping[str, Any], known: frozenset[str], depth: int, fault: Callable[[str, str], None]
) -> Answer | None:
    confidence, flagged, results = row.get("confidence"), row.get("flagged"), row.get("results")
    if not (confidence is None or is_number(confidence)) or not (flagged is None or isinstance(flagged, bool)):
        fault("confidence", "needs a confidence (a number or null) and flagged (true, false or null)")
        return None
    if not isinstance(results, list) or len(results) > depth:
        fault("results", f"must be a list of at most {depth} names with scores")
        return None
    names = []
    for pair in results:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str) or not is_number(pair[1]):
            fault("results", f"holds {pair!r:.80}; a name and a finite score are needed")
            return None
        if pair[0] not in known or pair[0] in names:
            what = "twice" if pair[0] in names else "which is no tool of the catalog"
            fault("results", f"holds {pair[0]!r:.80}, {what}")
            return None
        names.append(pair[0])
    return Answer(
        results=tuple((name, float(score)) for name, score in results),
        sureness=Sureness(confidence=confidence, flagged=flagged),
    )


def read_values(
    path: Path, manifest: Manifest, queries: Sequence[Query], problems: list[Problem]
) -> dict[str, dict[str, list[float]]]:
    """By ranker and measure one value a query."""
    if not path.is_file():
        problems.append(Problem(str(path), 0, "", f"is missing; {REMEDY}"))
        return {}
    text = read_text(path, problems) or ""
    names = list(map(str, manifest.measures))
    found: dict[str, dict[str, list[float]]] = {ranker: {name: [] for name in names} for ranker in manifest.identities}
    reader = csv.reader(io.StringIO(text, newline=""))
    fault = faults(path, problems)
    header = next(reader, [])
    if header != [*KEYS, *names]:
        fault("", f"must begin with {','.join([*KEYS, *names])}", 1)
        return {}
    expected = [(ranker, query) for ranker in manifest.identities for query in queries]
    count = 0
    for row in reader:
        number = reader.line_num
        if count >= len(expected):
            fault("", f"holds more than {len(expected)} rows", number)
            return {}
        ranker, query = expected[count]
        count += 1
        keys = [csv_cell(cell) for cell in (ranker, query.query_id, query.slice, query.group)]
        if row[: len(KEYS)] != keys or len(row) != len(header):
            fault("", f"must be the row of {ranker} and {shown(query.query_id)} with {len(header)} cells", number)
            continue
        for name, cell in zip(names, row[len(KEYS) :], strict=True):
            value = _number_of(cell)
            if value is None:
                fault(name, f"is {cell[:40]!r}; it must be a number from 0 to 1", number)
            else:
                found[ranker][name].append(value)
    if count < len(expected):
        fault("", f"holds {count} of {len(expected)} rows")
    return found


def _number_of(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if 0 <= value <= 1 + 1e-9 else None
