"""Judge rankers on a data set; every query's values are kept."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.names import shown
from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.extras import require
from toolsearch_eval.measures import DEFAULT_MEASURES, Measure, relevant
from toolsearch_eval.rankers import Ranker
from toolsearch_eval.rankers.run import run_ranker
from toolsearch_eval.statistics import FEW_GROUPS, mean_interval

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What came out.

    Attributes:
        data: The data set.
        split: `dev`, `test` or `all`.
        depth: Results asked for.
        measures: The measures in the order asked for.
        queries: The queries that were measured.
        excluded: How many queries were left out, by reason; see `evaluate`.
        size: How many queries the split has, measured or not.
        rankings: By ranker, the names for each query.
        latency: By ranker, milliseconds p50 and p95 of single queries; None without a query.
        build: By ranker, milliseconds to take in the catalog.
        warnings: What to know beside the numbers.
    """

    data: DataSet
    split: str
    depth: int
    measures: tuple[Measure, ...]
    queries: tuple[Query, ...]
    excluded: Mapping[str, int]
    size: int
    rankings: Mapping[str, Sequence[Sequence[str]]]
    latency: Mapping[str, Mapping[str, float | None]]
    build: Mapping[str, float]
    warnings: tuple[str, ...]

    def values(self, ranker: str, measure: Measure) -> list[float]:
        """One value a query, in the order of `queries`."""
        judged = self.data.judgements
        pairs = zip(self.queries, self.rankings[ranker], strict=True)
        return [measure.value(names, judged[query.query_id], need=query.need) for query, names in pairs]

    def per_query(self) -> pandas.DataFrame:
        """A row for each ranker and query with a column for each measure.

        Raises:
            UsageError: pandas is not installed.
        """
        require("pandas", extra="eval", purpose="a table of all queries")
        import pandas

        rows: list[dict[str, Any]] = []
        for ranker in self.rankings:
            columns = {str(measure): self.values(ranker, measure) for measure in self.measures}
            for place, query in enumerate(self.queries):
                row = {
                    "ranker": ranker,
                    "query_id": query.query_id,
                    "slice": query.slice,
                    "group": query.group,
                }
                rows.append(row | {name: column[place] for name, column in columns.items()})
        names = ["ranker", "query_id", "slice", "group", *map(str, self.measures)]
        return pandas.DataFrame(rows, columns=names)

    def table(self) -> pandas.DataFrame:
        """The means: a row for each ranker, a column for each measure.

        Raises:
            UsageError: pandas is not installed.
        """
        require("pandas", extra="eval", purpose="a table of the means")
        import pandas

        form = self.to_json()["rankers"]
        rows = {name: {text: cell["mean"] for text, cell in form[name]["measures"].items()} for name in form}
        return pandas.DataFrame.from_dict(rows, orient="index", columns=list(map(str, self.measures)))

    def to_json(self) -> dict[str, Any]:
        """The machine-readable form.

        `data.queries` counts the queries of the split; those that are not `excluded` were ranked.
        """
        slices = sorted({query.slice for query in self.queries if query.slice})
        rankers: dict[str, Any] = {}
        for name in self.rankings:
            values = {str(measure): self.values(name, measure) for measure in self.measures}
            rankers[name] = {
                "measures": {text: self._mean(column, None) for text, column in values.items()},
                "slices": {
                    part: {text: self._mean(column, part) for text, column in values.items()} for part in slices
                },
                "latency_ms": dict(self.latency[name]),
                "build_ms": self.build[name],
            }
        return {
            "schema_version": 1,
            "data": {
                "name": self.data.name,
                "fingerprint": self.data.fingerprint,
                "queries": self.size,
                "tools": len(self.data.tools),
            },
            "split": self.split,
            "depth": self.depth,
            "excluded": dict(self.excluded),
            "rankers": rankers,
            "warnings": list(self.warnings),
        }

    def _mean(self, values: Sequence[float], part: str | None) -> dict[str, Any]:
        chosen = [place for place, query in enumerate(self.queries) if part is None or query.slice == part]
        return asdict(mean_interval([values[place] for place in chosen], [self.queries[p].group for p in chosen]))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during an evaluation; `finished` holds what was judged until then."""

    def __init__(self, finished: Evaluation) -> None:
        """Keep what was finished."""
        super().__init__("interrupted")
        self.finished = finished


def evaluate(
    data: DataSet,
    rankers: Sequence[Ranker],
    *,
    measures: Sequence[Measure] = DEFAULT_MEASURES,
    split: str | None = None,
    depth: int = 10,
    progress: bool | None = None,
) -> Evaluation:
    """Rank every measured query with every ranker.

    Left out and counted in `excluded`, by the first reason that holds:

    - `duplicate`: its id stands before (files with such ids are refused; data made in memory may have them);
    - `no_answer`: it expects none, so there is no ranking to judge;
    - `empty`: it has no text;
    - `unjudged`: no tool has a grade above 0 for it.

    `missing` counts labelled ids that no query of the data has; they are in no split. A query for which a ranker gives
    nothing is measured and counts as a miss, and so does one whose tools the catalog lacks, which is a warning. A tool
    without a label counts as not relevant; `Judged` says how often that was. Ties are settled here: see
    `rankers.order`.

    Args:
        data: The data set.
        rankers: Names must differ. One that fails, or whose results can't be judged, is left out with a warning that
            names the query.
        measures: What to measure; one that comes again counts once, and a cutoff above `depth` is refused.
        split: `dev`, `test` or `all`; None takes dev, or all where there is no dev.
        depth: Results asked for, above 0.
        progress: Show a bar on stderr where tqdm is installed; None shows it on a terminal.

    Raises:
        UsageError: A setting is not valid, or every ranker failed; each failure names the ranker and the query.
        DataError: Two tools have one name.
        Interrupted: Ctrl-C after at least one ranker was done.
    """
    chosen = split or ("dev" if any(query.split == "dev" for query in data.queries) else "all")
    if chosen not in ("dev", "test", "all"):
        raise UsageError(f"split {chosen!r} is unknown; accepted: dev, test, all.")
    if depth < 1:
        raise UsageError(f"depth is {depth}; it must be a whole number above 0.")
    deep = [str(measure) for measure in measures if (measure.cutoff or 0) > depth]
    if deep:
        raise UsageError(f"{', '.join(deep)} looks deeper than the depth {depth}; use a higher --depth.")
    names = [ranker.name for ranker in rankers]
    if len(set(names)) != len(names):
        raise UsageError(f"each ranker may be named once; given: {', '.join(names)}.")
    _refuse_twins(data)
    queries, excluded, size = _measured(data, chosen)
    tools = [tool for tool in data.tools if is_deferred(tool)]
    rankings: dict[str, Sequence[Sequence[str]]] = {}
    latency: dict[str, Mapping[str, float | None]] = {}
    build: dict[str, float] = {}
    failures: list[str] = []
    known = frozenset(tool.name for tool in tools)
    stopped: KeyboardInterrupt | None = None
    with _bar(len(rankers) * len(queries), progress) as advance:
        for place, ranker in enumerate(rankers):
            try:
                ran = run_ranker(ranker, tools, queries, depth, advance=advance)
            except UsageError as error:  # the others go on
                failures.append(str(error))
                continue
            except KeyboardInterrupt as stop:
                failures.append(f"interrupted; not judged: {', '.join(names[place:])}")
                stopped = stop
                break
            rankings[ranker.name] = ran.rankings
            latency[ranker.name] = ran.latency
            build[ranker.name] = ran.build
    if stopped is not None and not rankings:
        raise stopped
    if failures and not rankings:
        raise UsageError("\n".join(failures))
    result = Evaluation(
        data=data,
        split=chosen,
        depth=depth,
        measures=tuple(dict.fromkeys(measures)),
        queries=queries,
        excluded=excluded,
        size=size,
        rankings=rankings,
        latency=latency,
        build=build,
        warnings=(*failures, *_data_warnings(data, queries, known)),
    )
    if stopped is not None:
        raise Interrupted(result) from stopped
    return result


def _refuse_twins(data: DataSet) -> None:
    twins = sorted(name for name, count in Counter(tool.name for tool in data.tools).items() if count > 1)
    if twins:
        path = os.path.join(data.path, "catalog.jsonl")
        message = "is the name of several tools; give each its full id, so that labels tell them apart"
        raise DataError([Problem(path, 0, "name", f"{shown(name)} {message}") for name in twins])


def _measured(data: DataSet, split: str) -> tuple[tuple[Query, ...], dict[str, int], int]:
    """The queries to rank, how many were left out by reason, and how many the split has."""
    seen = {query.query_id for query in data.queries}
    missing = sum(query_id not in seen for query_id in data.judgements)
    excluded = {"no_answer": 0, "empty": 0, "missing": missing, "duplicate": 0, "unjudged": 0}
    queries: dict[str, Query] = {}
    chosen = [query for query in data.queries if split in ("all", query.split)]
    done: set[str] = set()
    for query in chosen:
        if query.query_id in done:
            excluded["duplicate"] += 1
        elif query.expect == "none":
            excluded["no_answer"] += 1
        elif not query.text.strip():
            excluded["empty"] += 1
        elif not relevant(data.judgements.get(query.query_id, {})):
            excluded["unjudged"] += 1
        else:
            queries[query.query_id] = query
        done.add(query.query_id)
    return tuple(queries.values()), excluded, len(chosen)


def _data_warnings(data: DataSet, queries: Sequence[Query], known: Collection[str]) -> list[str]:
    """What makes the figures doubtful: labels that no ranker can meet, and slices that are too small."""
    if not queries:
        return ["no query was measured; see how many were left out and why"]
    warnings: list[str] = []
    lost = sum(not relevant(data.judgements[query.query_id]) <= frozenset(known) for query in queries)
    if lost:
        warnings.append(f"{lost} queries need tools that can't be found; `toolsearch dataset check` names them")
    for part in sorted({query.slice for query in queries if query.slice}):
        groups = len({query.group for query in queries if query.slice == part})
        if groups < FEW_GROUPS:
            warnings.append(f"slice {shown(part)} has {groups} groups: too few to tell")
    return warnings


@contextmanager
def _bar(total: int, progress: bool | None) -> Iterator[Callable[[int], object]]:
    """What to call after each batch, with its size."""
    visible = sys.stderr.isatty() if progress is None else progress
    if not visible or find_spec("tqdm") is None:
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(total=total, file=sys.stderr, unit="query") as bar:
        yield bar.update
