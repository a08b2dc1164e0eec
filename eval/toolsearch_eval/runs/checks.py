"""The files of a run, checked: what has another form than it was written in is a fault with its place."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.data_files import read_text
from toolsearch_eval.measures import Measure, parse_measure
from toolsearch_eval.rankers.identity import Identity
from toolsearch_eval.runs.folder import SCHEMA_VERSION, file_digests

REMEDY: Final = "make the run anew with `toolsearch eval --out DIR`"
"""Ends every fault."""


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
        problems.append(Problem(str(path), 0, "", f"is missing; {REMEDY}"))
        return None
    text = read_text(path, problems)
    try:
        return json.loads(text or "", parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        problems.append(Problem(str(path), error.lineno, "", f"is not valid JSON: {error.msg}; {REMEDY}"))
    except (ValueError, RecursionError) as error:
        problems.append(Problem(str(path), 0, "", f"is not valid JSON: {error}; {REMEDY}"))
    return None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def checked_manifest(form: Any, path: Path, problems: list[Problem]) -> Manifest | None:
    """The manifest, or None where anything of it has another form."""
    before = len(problems)
    if form is None and problems:
        return None
    fault = faults(path, problems)
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
        problems.append(Problem(str(folder), 0, "", f"is missing; {REMEDY}"))
        return None
    about = manifest.form["data"]
    if data.fingerprint != about["used"]:
        message = f"is not the data that was used ({data.fingerprint[:12]}, then {about['used'][:12]})"
        problems.append(Problem(str(folder), 0, "", f"{message}; {REMEDY}"))
        return None
    return replace(data, fingerprint=about["fingerprint"])


def checked_summary(form: Any, manifest: Manifest, path: Path, problems: list[Problem]) -> dict[str, Any] | None:
    """The summary, or None where it has another form."""
    if form is None:
        return None
    before = len(problems)
    fault = faults(path, problems)
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
    return all(cell[key] is None or is_number(cell[key]) for key in ("mean", "low", "high"))


def checked_times(form: Any, manifest: Manifest, path: Path, problems: list[Problem]) -> dict[str, Any] | None:
    """The times by ranker, or None where they have another form."""
    if form is None:
        return None
    rankers = form.get("rankers") if isinstance(form, dict) else None
    same = isinstance(rankers, dict) and set(rankers) == set(manifest.identities)
    if isinstance(rankers, dict) and same and all(map(_are_times, rankers.values())):
        return rankers
    faults(path, problems)("rankers", "must give each ranker latency_ms (p50, p95) and build_ms")
    return None


def _are_times(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) != {"latency_ms", "build_ms"} or not is_number(value["build_ms"]):
        return False
    latency = value["latency_ms"]
    if not isinstance(latency, dict) or set(latency) != {"p50", "p95"}:
        return False
    return all(number is None or is_number(number) for number in latency.values())


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
        problems.append(Problem(path, 0, "", f"{what} since the run was written; {REMEDY}"))
    return problems


def faults(path: Path, problems: list[Problem]) -> Callable[..., None]:
    """What notes a fault of a file: field, message and, where it has one, line."""

    def fault(field: str, message: str, line: int = 0) -> None:
        problems.append(Problem(str(path), line, field, f"{message}; {REMEDY}"))

    return fault


def is_number(value: Any) -> bool:
    """Whether a value from JSON is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
