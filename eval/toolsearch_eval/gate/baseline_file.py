"""The file of a baseline: written whole or not at all, read with every fault at once."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.errors import DataError, Problem, UnknownNameError, UsageError
from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.gate.baseline import HOW_TO_BLESS, Baseline, BlessedQuery
from toolsearch_eval.gate.blessing import blessing_from
from toolsearch_eval.gate.budgets import Limits, Spent
from toolsearch_eval.gate.tools_array import ArrayVariants
from toolsearch_eval.measures import parse_measure

SCHEMA_VERSION = 2


def write_baseline(baseline: Baseline, path: str | Path) -> None:
    """Write the file, whole or not at all; equal baselines give equal bytes, and a query is a line of its own.

    Raises:
        UsageError: It can't be written.
    """
    limits, spent = baseline.limits, baseline.spent
    form = {
        "schema_version": SCHEMA_VERSION,
        "data": baseline.data,
        "fingerprint": baseline.fingerprint,
        "split": baseline.split,
        "depth": baseline.depth,
        "measure": str(baseline.measure),
        "ranker": baseline.ranker,
        "date": baseline.date,
        "reason": baseline.reason,
        "version": baseline.version,
        "budgets": {
            "counter": limits.counter,
            "answer_tokens": spent.answer_tokens,
            "token_margin": limits.token_margin,
            "most_tokens": limits.most_tokens,
            "array_variants": spent.array.variants if spent.array else None,
            "array_requests": spent.array.requests if spent.array else None,
            "yardstick": limits.yardstick,
            "p95_ratio": spent.p95_ratio,
            "most_p95_ratio": limits.most_p95_ratio,
        },
        # Left out where there is none, so that a first baseline is the same as before there were histories.
        **({"history": [each.to_row() for each in baseline.history]} if baseline.history else {}),
        "must_pass": list(baseline.must_pass),
        "tools": dict(sorted(baseline.tools.items())),
        "queries": {
            query_id: {
                "digest": query.digest,
                "value": query.value,
                "slice": query.slice,
                "group": query.group,
                "ranking": list(query.ranking),
            }
            for query_id, query in sorted(baseline.queries.items())
        },
    }
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=target.parent, prefix=".baseline.", delete=False, encoding="utf-8"
        ) as part:
            part.write(_laid_out(form))
        os.chmod(part.name, 0o644)
        os.replace(part.name, target)
    except OSError as error:
        raise UsageError(f"the baseline {path} can't be written: {error}.") from error


def _laid_out(form: Mapping[str, Any]) -> str:
    """JSON in which each query, tool and must-pass id has a line, so that a review shows what changed."""

    def block(value: Any) -> str:
        brackets = "{}" if isinstance(value, dict) else "[]"
        pairs = (
            [f"{json.dumps(key)}: {json.dumps(item, allow_nan=False)}" for key, item in value.items()]
            if (isinstance(value, dict))
            else [json.dumps(item) for item in value]
        )
        return brackets if not pairs else f"{brackets[0]}\n  " + ",\n  ".join(pairs) + f"\n {brackets[1]}"

    lines = [
        f" {json.dumps(key)}: {block(value) if isinstance(value, dict | list) else json.dumps(value, allow_nan=False)}"
        for key, value in form.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_baseline(path: str | Path) -> Baseline:
    """Read a baseline.

    Raises:
        UsageError: There is none.
        DataError: It can't be read, or is no baseline; every fault at once.
    """
    target = Path(path)
    if not target.exists():
        example = f"toolsearch bless --data DIR --ranker NAME --baseline {target.name} --must-pass best"
        raise UsageError(f"there is no baseline {path}; {HOW_TO_BLESS}, such as: {example}")
    try:
        form = json.loads(target.read_text(encoding="utf-8"), object_pairs_hook=_without_twins)
    except (OSError, ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 0
        raise DataError(
            [Problem(str(path), line, "", f"can't be read as a baseline: {error}; {HOW_TO_BLESS}")]
        ) from error
    problems: list[Problem] = []
    values = _checked(form, str(path), problems)
    if problems:
        raise DataError(problems)
    return Baseline(**values)


def load_blessed_data(baseline: Baseline, given: str | Path | None) -> DataSet:
    """The data to judge on: what was given, else the data set of the name that was blessed.

    Raises:
        UsageError: Nothing was given, and no data set of that name is here.
        UnknownNameError: What was given is no data set.
        DataError: It can't be read.
    """
    if given is not None:
        return load_data(given)
    try:
        return load_data(baseline.data)
    except UnknownNameError as error:
        raise UsageError(
            f"the data set {baseline.data!r} that was blessed does not ship with this package and is no folder here; "
            "say where it is: --data DIR, or data= in pytest."
        ) from error


def _without_twins(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twin!r} stands twice in one object")
    return found


_TEXTS = ("data", "fingerprint", "split", "ranker", "date", "reason", "version")


def _checked(form: Any, path: str, problems: list[Problem]) -> dict[str, Any]:
    def fault(field: str, message: str) -> None:
        problems.append(Problem(path, 0, field, f"{message}; {HOW_TO_BLESS}"))

    if not isinstance(form, dict) or form.get("schema_version") != SCHEMA_VERSION:
        fault("schema_version", f"must be {SCHEMA_VERSION}, that of this version of the package")
        return {}
    values: dict[str, Any] = {}
    for name in _TEXTS:
        if isinstance(form.get(name), str):
            values[name] = form[name]
        else:
            fault(name, "must be a text")
    if type(form.get("depth")) is int and form["depth"] > 0:
        values["depth"] = form["depth"]
    else:
        fault("depth", "must be a whole number above 0")
    try:
        values["measure"] = parse_measure(str(form.get("measure")))
    except UsageError as error:
        fault("measure", str(error))
    if form.get("split") not in ("dev", "test", "all"):
        fault("split", "must be dev, test or all")
    _budgets(form.get("budgets"), values, fault)
    if _is_texts(form.get("must_pass")):
        values["must_pass"] = tuple(form["must_pass"])
    else:
        fault("must_pass", "must be a list of query ids")
    history = [blessing_from(row) for row in _listed(form.get("history", []))]
    if isinstance(form.get("history", []), list) and all(history):
        values["history"] = tuple(history)
    else:
        fault("history", "must be a list of earlier blessings, as they were written")
    tools = form.get("tools")
    if isinstance(tools, dict) and all(isinstance(digest, str) for digest in tools.values()):
        values["tools"] = tools
    else:
        fault("tools", "must give each tool its digest")
    queries = form.get("queries")
    values["queries"] = {}
    for query_id, row in queries.items() if isinstance(queries, dict) else ():
        query = _query(row)
        if query is None:
            fault(f"queries.{query_id}", "needs digest, slice, group (texts), value (a number from 0 to 1) and ranking")
        else:
            values["queries"][query_id] = query
    if not isinstance(queries, dict) or not queries:
        fault("queries", "must hold at least one query")
    for query_id in values.get("must_pass", ()):
        if isinstance(queries, dict) and query_id not in queries:
            fault("must_pass", f"{query_id!r} is not among the queries")
    return values


def _budgets(form: Any, values: dict[str, Any], fault: Callable[[str, str], None]) -> None:
    """Limits and what was spent."""
    if not isinstance(form, dict):
        fault("budgets", "must be an object")
        return
    faults = [
        name
        for name in ("answer_tokens", "most_tokens", "p95_ratio", "most_p95_ratio", "array_variants", "array_requests")
        if not (form.get(name) is None or _is_number(form[name]))
    ]
    faults += [name for name in ("counter", "yardstick") if not isinstance(form.get(name), str)]
    faults += [] if _is_number(form.get("token_margin")) else ["token_margin"]
    for name in faults:
        fault(f"budgets.{name}", "must be a number that is not negative, a name, or null where nothing was measured")
    if faults:
        return
    try:
        values["limits"] = Limits(
            counter=form["counter"],
            token_margin=form["token_margin"],
            most_tokens=form.get("most_tokens"),
            yardstick=form["yardstick"],
            most_p95_ratio=form.get("most_p95_ratio"),
        )
    except UsageError as error:
        fault("budgets", str(error).rstrip("."))
    variants = form.get("array_variants")
    values["spent"] = Spent(
        answer_tokens=form.get("answer_tokens"),
        array=None
        if variants is None
        else ArrayVariants(variants=int(variants), requests=int(form.get("array_requests") or 0), broken_by=""),
        p95_ratio=form.get("p95_ratio"),
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _query(row: Any) -> BlessedQuery | None:
    if not isinstance(row, dict) or not _is_texts(row.get("ranking")):
        return None
    value = row.get("value")
    # NaN fails the comparison.
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1 + 1e-9:
        return None
    if not all(isinstance(row.get(name), str) for name in ("digest", "slice", "group")):
        return None
    return BlessedQuery(
        digest=row["digest"], value=float(value), slice=row["slice"], group=row["group"], ranking=tuple(row["ranking"])
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
