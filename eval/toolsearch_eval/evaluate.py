"""Judge rankers on a data set; every query's values are kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.extras import require
from toolsearch_eval.measures import DEFAULT_MEASURES, Measure, relevant
from toolsearch_eval.rankers import Ranker
from toolsearch_eval.rankers.order import settled
from toolsearch_eval.statistics import FEW_GROUPS, mean_interval

if TYPE_CHECKING:
    import pandas

_TIMED_QUERIES = 100
_BATCH = 200
"""Queries ranked between two steps of the progress bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What came out.

    Attributes:
        data: The data set.
        split: `dev`, `test` or `all`.
        depth: Results asked for.
        measures: The measures in the order asked for.
        queries: The queries that were measured.
        excluded: How many queries were left out, by reason.
        rankings: By ranker, the names for each query.
        latency: By ranker, milliseconds p50 and p95 of single queries; None without a query.
        warnings: What to know beside the numbers.
    """

    data: DataSet
    split: str
    depth: int
    measures: tuple[Measure, ...]
    queries: tuple[Query, ...]
    excluded: Mapping[str, int]
    rankings: Mapping[str, Sequence[Sequence[str]]]
    latency: Mapping[str, Mapping[str, float | None]]
    warnings: tuple[str, ...]

    def values(self, ranker: str, measure: Measure) -> list[float]:
        """One value a query, in the order of `queries`."""
        judged = self.data.judgements
        pairs = zip(self.queries, self.rankings[ranker], strict=True)
        return [measure.value(names, judged[query.query_id]) for query, names in pairs]

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

        `data.queries` counts the queries of the split; `measured` of them were ranked, the others are `excluded`.
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
            }
        return {
            "schema_version": 1,
            "data": {
                "name": self.data.name,
                "fingerprint": self.data.fingerprint,
                "queries": len(self.queries) + sum(self.excluded.values()),
                "tools": len(self.data.tools),
            },
            "measured": len(self.queries),
            "split": self.split,
            "depth": self.depth,
            "excluded": dict(self.excluded),
            "rankers": rankers,
            "warnings": list(self.warnings),
        }

    def _mean(self, values: Sequence[float], part: str | None) -> dict[str, Any]:
        chosen = [place for place, query in enumerate(self.queries) if part is None or query.slice == part]
        return asdict(mean_interval([values[place] for place in chosen], [self.queries[p].group for p in chosen]))


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

    Queries that expect no answer, are empty or have no relevant label are left out and counted. A query for which a
    ranker gives nothing counts as a miss. Ties are settled here: see `rankers.order`.

    Args:
        data: The data set.
        rankers: Names must differ. One that fails, or whose results can't be judged, is left out with a warning.
        measures: What to measure; a cutoff above `depth` is refused.
        split: `dev`, `test` or `all`; None takes dev, or all where there is no dev.
        depth: Results asked for, above 0.
        progress: Show a bar on stderr where tqdm is installed; None shows it on a terminal.

    Raises:
        UsageError: A setting is not valid, or every ranker failed.
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
    queries, excluded = _measured(data, chosen)
    tools = [tool for tool in data.tools if is_deferred(tool)]
    rankings: dict[str, list[list[str]]] = {}
    latency: dict[str, dict[str, float | None]] = {}
    warnings: list[str] = []
    known = frozenset(tool.name for tool in tools)
    with _bar(len(rankers) * len(queries), progress) as advance:
        for ranker in rankers:
            try:
                ranker.index(tools)
                names_of_ranker = list(_ranked(ranker, queries, depth, known, advance))
                latency[ranker.name] = _latency(ranker, queries, depth)
            except Exception as error:  # a ranker of someone else may fail in any way; the others go on
                kind = "" if isinstance(error, UsageError) else f"{type(error).__name__}: "
                warnings.append(f"ranker {ranker.name!r} failed: {kind}{error}")
                continue
            rankings[ranker.name] = names_of_ranker
    if warnings and not rankings:
        raise UsageError("\n".join(warnings))
    for part in sorted({query.slice for query in queries if query.slice}):
        size = len({query.group for query in queries if query.slice == part})
        if size < FEW_GROUPS:
            warnings.append(f"slice {part!r} has {size} groups: too few to tell")
    return Evaluation(
        data=data,
        split=chosen,
        depth=depth,
        measures=tuple(measures),
        queries=queries,
        excluded=excluded,
        rankings=rankings,
        latency=latency,
        warnings=tuple(warnings),
    )


def _measured(data: DataSet, split: str) -> tuple[tuple[Query, ...], dict[str, int]]:
    excluded = {"no_answer": 0, "empty": 0, "unjudged": 0}
    queries: list[Query] = []
    for query in data.queries:
        if split not in ("all", query.split):
            continue
        if query.expect == "none":
            excluded["no_answer"] += 1
        elif not query.text.strip():
            excluded["empty"] += 1
        elif not relevant(data.judgements.get(query.query_id, {})):
            excluded["unjudged"] += 1
        else:
            queries.append(query)
    return tuple(queries), excluded


def _latency(ranker: Ranker, queries: Sequence[Query], depth: int) -> dict[str, float | None]:
    times: list[float] = []
    for query in queries[:_TIMED_QUERIES]:
        start = time.perf_counter()
        ranker.rank([query.text], depth)
        times.append((time.perf_counter() - start) * 1000)
    if not times:
        return {"p50": None, "p95": None}
    return {"p50": float(np.percentile(times, 50)), "p95": float(np.percentile(times, 95))}


def _ranked(
    ranker: Ranker, queries: Sequence[Query], depth: int, known: Collection[str], advance: Callable[[int], object]
) -> Iterator[list[str]]:
    keeps_order = bool(getattr(ranker, "keeps_order", False))
    for start in range(0, len(queries), _BATCH):
        batch = queries[start : start + _BATCH]
        answers = ranker.rank([query.text for query in batch], depth)
        if len(answers) != len(batch):
            raise UsageError(f"gave {len(answers)} rankings for {len(batch)} queries")
        for query, answer in zip(batch, answers, strict=True):
            yield settled(answer, depth, known=known, query_id=query.query_id, keeps_order=keeps_order)
        advance(len(batch))


@contextmanager
def _bar(total: int, progress: bool | None) -> Iterator[Callable[[int], object]]:
    """What to call after each batch, with its size."""
    shown = sys.stderr.isatty() if progress is None else progress
    if not shown or find_spec("tqdm") is None:
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(total=total, file=sys.stderr, unit="query") as bar:
        yield bar.update
