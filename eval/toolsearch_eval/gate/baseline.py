"""What was blessed: every query's value and ranking, and the data that they hold for."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.formats import to_row
from toolsearch.errors import DataError, Problem, UnknownNameError, UsageError
from toolsearch_eval.data import DataSet, Query, query_row
from toolsearch_eval.evaluate import Evaluation, evaluate
from toolsearch_eval.measures import Measure, parse_measure
from toolsearch_eval.rankers import Ranker

SCHEMA_VERSION = 1
HOW_TO_BLESS = "`toolsearch bless` makes a baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlessedQuery:
    """One query as it was when the baseline was blessed.

    Attributes:
        digest: Over its text, fields and grades.
        value: Of the primary measure.
        slice: Its slice.
        group: Its group.
        ranking: The names that were found, best first.
    """

    digest: str
    value: float
    slice: str
    group: str
    ranking: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What a later state is held against.

    Attributes:
        data: The data set's name.
        fingerprint: Of the whole data set.
        split: Which queries are measured beside the must-pass ones.
        depth: Results asked for.
        measure: The measure that decides.
        ranker: The ranker that was blessed.
        tools: A digest for each tool of the catalog.
        queries: The measured queries by id, must-pass ones of other splits too.
        must_pass: Ids of queries of which none may fall.
        date: When it was blessed.
        reason: Why, in the words of whoever blessed it.
        version: Of this package.
    """

    data: str
    fingerprint: str
    split: str
    depth: int
    measure: Measure
    ranker: str
    tools: Mapping[str, str]
    queries: Mapping[str, BlessedQuery]
    must_pass: tuple[str, ...]
    date: str
    reason: str
    version: str


def make_baseline(
    data: DataSet,
    ranker: Ranker,
    *,
    split: str = "dev",
    depth: int = 10,
    measure: Measure | None = None,
    must_pass: Collection[str] = (),
    date: str,
    reason: str = "",
    version: str = "",
    progress: bool | None = None,
) -> Baseline:
    """Judge a ranker and keep what it reaches.

    Args:
        data: The data set.
        ranker: The ranker.
        split: The queries that count; a data set without a dev split needs `test` or `all`.
        depth: Results asked for, above 0.
        measure: The measure that decides; `nDCG@10` unless told otherwise.
        must_pass: Ids of queries of which none may fall later; of any split.
        date: Today.
        reason: Why it is blessed.
        version: Of this package.
        progress: As for `evaluate`.

    Raises:
        UnknownNameError: A must-pass query that the data doesn't have.
        UsageError: No query is measured, or a must-pass query can't be.
    """
    measure = measure or parse_measure("nDCG@10")
    by_id = {query.query_id: query for query in data.queries}
    for query_id in must_pass:
        if query_id not in by_id:
            raise UnknownNameError("query", query_id, by_id, "Name must-pass queries by their query_id.")
    evaluation = judge(data, ranker, split=split, depth=depth, measure=measure, must_pass=must_pass, progress=progress)
    measured = {query.query_id for query in evaluation.queries}
    unmeasured = sorted(set(must_pass) - measured)
    if unmeasured:
        raise UsageError(
            f"must-pass queries {', '.join(map(repr, unmeasured[:5]))} can't be measured: they have no text or no tool "
            "with a grade above 0. Label them first, or leave them out."
        )
    if not measured:
        raise UsageError(f"split {split!r} of {data.name} has no query to measure; accepted: dev, test, all.")
    return Baseline(
        data=data.name,
        fingerprint=data.fingerprint,
        split=split,
        depth=depth,
        measure=measure,
        ranker=ranker.name,
        tools=tool_digests(data),
        queries=_blessed(data, evaluation, ranker.name, measure),
        must_pass=tuple(sorted(set(must_pass))),
        date=date,
        reason=reason,
        version=version,
    )


def judge(
    data: DataSet,
    ranker: Ranker,
    *,
    split: str,
    depth: int,
    measure: Measure,
    must_pass: Collection[str] = (),
    progress: bool | None = None,
) -> Evaluation:
    """Judge the queries of a split and the must-pass ones; no other query is looked at."""
    chosen = tuple(query for query in data.queries if split in ("all", query.split) or query.query_id in must_pass)
    return evaluate(
        replace(data, queries=chosen), [ranker], measures=[measure], split="all", depth=depth, progress=progress
    )


def tool_digests(data: DataSet) -> dict[str, str]:
    """A digest for each tool that can be found, by name."""
    return {tool.name: _digest(to_row(tool)) for tool in data.tools if is_deferred(tool)}


def query_digest(data: DataSet, query: Query) -> str:
    """A digest over a query's text, fields and grades."""
    grades = data.judgements.get(query.query_id, {})
    return _digest([query_row(query), {name: grades[name] for name in sorted(grades)}])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("ascii")).hexdigest()[:16]


def _blessed(data: DataSet, evaluation: Evaluation, ranker: str, measure: Measure) -> dict[str, BlessedQuery]:
    values = evaluation.values(ranker, measure)
    rankings = evaluation.rankings[ranker]
    return {
        query.query_id: BlessedQuery(
            digest=query_digest(data, query),
            value=value,
            slice=query.slice,
            group=query.group,
            ranking=tuple(names),
        )
        for query, value, names in zip(evaluation.queries, values, rankings, strict=True)
    }


def write_baseline(baseline: Baseline, path: str | Path) -> None:
    """Write the file, whole or not at all; equal baselines give equal bytes.

    Raises:
        UsageError: It can't be written.
    """
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
    lines = json.dumps(form, indent=1, allow_nan=False)
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=target.parent, prefix=".baseline.", delete=False, encoding="utf-8"
        ) as part:
            part.write(lines + "\n")
        os.chmod(part.name, 0o644)
        os.replace(part.name, target)
    except OSError as error:
        raise UsageError(f"the baseline {path} can't be written: {error}.") from error


def read_baseline(path: str | Path) -> Baseline:
    """Read a baseline.

    Raises:
        UsageError: There is none.
        DataError: It can't be read, or is no baseline; every fault at once.
    """
    target = Path(path)
    if not target.exists():
        raise UsageError(f"there is no baseline {path}; {HOW_TO_BLESS}.")
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
        fault("schema_version", f"must be {SCHEMA_VERSION}")
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
    if _is_texts(form.get("must_pass")):
        values["must_pass"] = tuple(form["must_pass"])
    else:
        fault("must_pass", "must be a list of query ids")
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


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
