"""The files of a run, checked: what has another form than it was written in is a fault with its place."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.names import shown
from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_eval.abstention import Sureness
from toolsearch_eval.data import DataSet, Query, load_data
from toolsearch_eval.data_files import read_rows, read_text
from toolsearch_eval.measures import Measure, parse_measure
from toolsearch_eval.rankers.identity import Identity
from toolsearch_eval.rankers.run import Answer, Ran, Times
from toolsearch_eval.report.escape import csv_cell
from toolsearch_eval.runs.folder import SCHEMA_VERSION, file_digests
from toolsearch_eval.tables import KEYS

_REMEDY = "make the run anew with `toolsearch eval --out DIR`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What of a manifest the reading needs, and all of it as `form`."""

    form: Mapping[str, Any]
    split: str
    depth: int
    measures: tuple[Measure, ...]
    identities: Mapping[str, Identity | None]


def read_json(path: Path, problems: list[Problem]) -> Any:
    """The JSON of a file; None, with a problem, where it can't be had."""
    if not path.is_file():
        problems.append(Problem(str(path), 0, "", f"is missing; {_REMEDY}"))
        return None
    text = read_text(path, problems)
    try:
        return json.loads(text or "", parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        problems.append(Problem(str(path), error.lineno, "", f"is not valid JSON: {error.msg}; {_REMEDY}"))
    except (ValueError, RecursionError) as error:
        problems.append(Problem(str(path), 0, "", f"is not valid JSON: {error}; {_REMEDY}"))
    return None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def checked_manifest(form: Any, path: Path, problems: list[Problem]) -> Manifest | None:
    """The manifest, or None where anything of it has another form."""
    before = len(problems)
    if form is None and problems:
        return None
    fault = _faults(path, problems)
    if not isinstance(form, dict) or form.get("schema_version") != SCHEMA_VERSION:
        fault("schema_version", f"must be {SCHEMA_VERSION}, the form that this version reads")
        return None
    for name in ("created", "code"):
        if not isinstance(form.get(name), str):
            fault(name, "must be a text")
    if form.get("split") not in ("dev", "test", "all"):
        fault("split", "must be dev, test or all")
    if type(form.get("depth")) is not int or form["depth"] < 1:
        fault("depth", "must be a whole number above 0")
    measures: list[Measure] = []
    given = form.get("measures")
    if not isinstance(given, list) or not given:
        fault("measures", "must be a list of measures")
    for each in given if isinstance(given, list) else ():
        try:
            measures.append(parse_measure(str(each)))
        except UsageError as error:
            fault("measures", str(error))
    about = form.get("data")
    if not isinstance(about, dict) or not all(
        isinstance(about.get(key), str) for key in ("name", "fingerprint", "used")
    ):
        fault("data", "must hold name, fingerprint and used")
    rankers, files = form.get("rankers"), form.get("files")
    if not isinstance(rankers, dict) or not all(map(_is_ranker, rankers.values())):
        fault("rankers", "must give each ranker its kind, fingerprint, settings and packages")
    if not isinstance(files, dict) or not all(isinstance(value, str) for value in files.values()):
        fault("files", "must give each file its digest")
    if len(problems) > before:
        return None
    code = form["code"]
    identities = {
        name: Identity(kind=each["kind"], settings=each["settings"], packages=each["packages"], code=code)
        if each["fingerprint"]
        else None
        for name, each in form["rankers"].items()
    }
    return Manifest(
        form=form, split=form["split"], depth=form["depth"], measures=tuple(measures), identities=identities
    )


def _is_ranker(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("kind"), str)
        and (value.get("fingerprint") is None or isinstance(value["fingerprint"], str))
        and all(isinstance(value.get(key), dict) for key in ("settings", "packages"))
    )


def read_data(folder: Path, manifest: Manifest, problems: list[Problem]) -> DataSet | None:
    """The data as it was used, under the fingerprint of the whole set."""
    try:
        data = load_data(folder)
    except DataError as error:
        problems += error.problems
        return None
    except UsageError:
        problems.append(Problem(str(folder), 0, "", f"is missing; {_REMEDY}"))
        return None
    about = manifest.form["data"]
    if data.fingerprint != about["used"]:
        message = f"is not the data that was used ({data.fingerprint[:12]}, then {about['used'][:12]})"
        problems.append(Problem(str(folder), 0, "", f"{message}; {_REMEDY}"))
        return None
    return replace(data, fingerprint=about["fingerprint"])


def checked_summary(form: Any, manifest: Manifest, path: Path, problems: list[Problem]) -> dict[str, Any] | None:
    """The summary, or None where it has another form."""
    if form is None:
        return None
    before = len(problems)
    fault = _faults(path, problems)
    if not isinstance(form, dict) or not isinstance(form.get("rankers"), dict):
        fault("rankers", "must give each ranker its values")
        return None
    if set(form["rankers"]) != set(manifest.identities):
        fault("rankers", f"must be those of the manifest: {', '.join(manifest.identities)}")
    names = set(map(str, manifest.measures))
    for name, values in form["rankers"].items():
        cells = values.get("measures") if isinstance(values, dict) else None
        if not isinstance(cells, dict) or set(cells) != names or not all(map(_is_cell, cells.values())):
            fault(f"rankers.{name}", "must give each measure mean, low, high and n")
        elif not all(isinstance(values.get(key), dict) for key in ("slices", "abstention")) or "tokens" not in values:
            fault(f"rankers.{name}", "must hold slices, abstention and tokens")
    if not isinstance(form.get("excluded"), dict) or not isinstance(form.get("data"), dict):
        fault("", "must hold data and excluded")
    warnings = form.get("warnings")
    if not isinstance(warnings, list) or not all(isinstance(warning, str) for warning in warnings):
        fault("warnings", "must be a list of texts")
    return form if len(problems) == before else None


def _is_cell(cell: Any) -> bool:
    if not isinstance(cell, dict) or set(cell) != {"mean", "low", "high", "n"} or type(cell["n"]) is not int:
        return False
    return all(cell[key] is None or _is_number(cell[key]) for key in ("mean", "low", "high"))


def checked_times(form: Any, manifest: Manifest, path: Path, problems: list[Problem]) -> dict[str, Any] | None:
    """The times by ranker, or None where they have another form."""
    if form is None:
        return None
    rankers = form.get("rankers") if isinstance(form, dict) else None
    same = isinstance(rankers, dict) and set(rankers) == set(manifest.identities)
    if isinstance(rankers, dict) and same and all(map(_are_times, rankers.values())):
        return rankers
    _faults(path, problems)("rankers", "must give each ranker latency_ms (p50, p95) and build_ms")
    return None


def _are_times(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) != {"latency_ms", "build_ms"} or not _is_number(value["build_ms"]):
        return False
    latency = value["latency_ms"]
    if not isinstance(latency, dict) or set(latency) != {"p50", "p95"}:
        return False
    return all(number is None or _is_number(number) for number in latency.values())


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
        problems.append(Problem(str(path), 0, "", f"is missing; {_REMEDY}"))
        return {}
    known = frozenset(tool.name for tool in data.tools if is_deferred(tool))
    asked = {query.query_id for query in (*queries, *silent)}
    found: dict[str, dict[str, Answer]] = {name: {} for name in manifest.identities}
    faulty = len(problems)
    for number, row in read_rows(path, problems):

        def fault(field: str, message: str, line: int = number) -> None:
            problems.append(Problem(str(path), line, field, f"{message}; {_REMEDY}"))

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
            message = f"lacks {len(lost)} of {len(asked)} queries of {ranker}, first {shown(lost[0])}; {_REMEDY}"
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
    if not (confidence is None or _is_number(confidence)) or not (flagged is None or isinstance(flagged, bool)):
        fault("confidence", "needs a confidence (a number or null) and flagged (true, false or null)")
        return None
    if not isinstance(results, list) or len(results) > depth:
        fault("results", f"must be a list of at most {depth} names with scores")
        return None
    names = []
    for pair in results:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str) or not _is_number(pair[1]):
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
        problems.append(Problem(str(path), 0, "", f"is missing; {_REMEDY}"))
        return {}
    text = read_text(path, problems) or ""
    names = list(map(str, manifest.measures))
    found: dict[str, dict[str, list[float]]] = {ranker: {name: [] for name in names} for ranker in manifest.identities}
    reader = csv.reader(io.StringIO(text, newline=""))
    fault = _faults(path, problems)
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


def digest_faults(root: Path, manifest: Manifest, told: Sequence[Problem]) -> list[Problem]:
    """Files that are not as they were written and have no other fault yet."""
    files = manifest.form["files"]
    now = file_digests(root)
    problems = []
    for name in sorted(files.keys() | now.keys()):
        path = str(root / name)
        if files.get(name) == now.get(name) or any(problem.path == path for problem in told):
            continue
        what = "is missing" if name not in now else "does not belong to the run" if name not in files else "was changed"
        problems.append(Problem(path, 0, "", f"{what} since the run was written; {_REMEDY}"))
    return problems


def _faults(path: Path, problems: list[Problem]) -> Callable[..., None]:
    def fault(field: str, message: str, line: int = 0) -> None:
        problems.append(Problem(str(path), line, field, f"{message}; {_REMEDY}"))

    return fault


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
