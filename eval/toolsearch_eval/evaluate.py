"""Judge rankers on a data set; every query's values are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.errors import UsageError
from toolsearch.tokens import token_counter
from toolsearch_eval.abstention import Abstention, judge_abstention
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.measures import DEFAULT_MEASURES, Measure
from toolsearch_eval.progress import progress_bar
from toolsearch_eval.rankers import Ranker
from toolsearch_eval.rankers.identity import Identity, identity_of
from toolsearch_eval.rankers.run import Ran, run_ranker
from toolsearch_eval.runs.cache import RankingCache
from toolsearch_eval.runs.jobs import CannotTravelError, Crew
from toolsearch_eval.selection import data_warnings, measured, refuse_twins, without_answer
from toolsearch_eval.statistics import mean_interval
from toolsearch_eval.tables import means_frame, per_query_frame
from toolsearch_eval.token_costs import TokenCosts, token_costs

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
        no_answer: The queries without an answer that were judged by abstention.
        runs: By ranker, what it did besides: how sure it was, latency, time to build.
        identities: By ranker, what its results hang on; None where nobody can tell.
        warnings: What to know beside the numbers.
        notes: How the work was done: what was kept from before, who could not be sent to other processes. Nothing of
            it is part of the outcome.
    """

    data: DataSet
    split: str
    depth: int
    measures: tuple[Measure, ...]
    queries: tuple[Query, ...]
    excluded: Mapping[str, int]
    size: int
    rankings: Mapping[str, Sequence[Sequence[str]]]
    no_answer: tuple[Query, ...]
    runs: Mapping[str, Ran]
    identities: Mapping[str, Identity | None]
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def scores(self) -> Mapping[str, Sequence[Sequence[float]]]:
        """By ranker, the scores that belong to the names of `rankings`."""
        return {
            name: [[score for _, score in answer.results] for answer in ran.answers] for name, ran in self.runs.items()
        }

    def values(self, ranker: str, measure: Measure) -> list[float]:
        """One value a query, in the order of `queries`."""
        judged = self.data.judgements
        pairs = zip(self.queries, self.rankings[ranker], strict=True)
        return [measure.value(names, judged[query.query_id], need=query.need) for query, names in pairs]

    @property
    def latency(self) -> Mapping[str, Mapping[str, float | None]]:
        """By ranker, milliseconds p50 and p95 of single queries; None without a query."""
        return {name: ran.latency for name, ran in self.runs.items()}

    def abstention(self, ranker: str) -> Abstention:
        """How well a ranker knows that it does not know, over the measured queries and those without an answer."""
        ran = self.runs[ranker]
        right = [value > 0 for value in self.values(ranker, Measure("Success", 1))]
        return judge_abstention(ran.sureness, right, ran.no_answer)

    def token_costs(self, ranker: str) -> TokenCosts | None:
        """What the first results cost the model and what they bring; None without a query."""
        judged = [self.data.judgements[query.query_id] for query in self.queries]
        tools = {tool.name: tool for tool in self.data.tools if is_deferred(tool)}
        return token_costs(
            [query.text for query in self.queries], self.rankings[ranker], judged, tools, token_counter()
        )

    def per_query(self) -> pandas.DataFrame:
        """A row for each ranker and query with a column for each measure.

        Raises:
            UsageError: pandas is not installed.
        """
        return per_query_frame(self, self.measures)

    def table(self) -> pandas.DataFrame:
        """The means: a row for each ranker, a column for each measure.

        Raises:
            UsageError: pandas is not installed.
        """
        return means_frame(self, self.measures)

    def to_json(self) -> dict[str, Any]:
        """The machine-readable form.

        `data.queries` counts the queries of the split; those that are not `excluded` were ranked.
        """
        slices = sorted({query.slice for query in self.queries if query.slice})
        rankers: dict[str, Any] = {}
        for name in self.rankings:
            values = {str(measure): self.values(name, measure) for measure in self.measures}
            costs = self.token_costs(name)
            rankers[name] = {
                "measures": {text: self._mean(column, None) for text, column in values.items()},
                "slices": {
                    part: {text: self._mean(column, part) for text, column in values.items()} for part in slices
                },
                "latency_ms": dict(self.runs[name].latency),
                "build_ms": self.runs[name].build,
                "abstention": asdict(self.abstention(name)),
                "tokens": asdict(costs) if costs else None,
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
    jobs: int = 1,
    cache: RankingCache | None = None,
    progress: bool | None = None,
) -> Evaluation:
    """Rank every measured query with every ranker.

    Left out and counted in `excluded`, by the first reason that holds:

    - `duplicate`: its id stands before (files with such ids are refused; data made in memory may have them);
    - `no_answer`: it expects none, so there is no ranking to judge; such queries count in `abstention` alone;
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
        jobs: Processes that rank; the outcome is the same whatever their number, but for times. See `runs.jobs.Crew`.
        cache: Where rankings are kept: what is there is not ranked again, what is ranked is put there at once, so that
            an evaluation that is killed goes on where it was. Failures are never kept. None keeps nothing.
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
    if jobs < 1:
        raise UsageError(f"jobs is {jobs}; it must be a whole number above 0.")
    deep = [str(measure) for measure in measures if (measure.cutoff or 0) > depth]
    if deep:
        raise UsageError(f"{', '.join(deep)} looks deeper than the depth {depth}; use a higher --depth.")
    names = [ranker.name for ranker in rankers]
    if len(set(names)) != len(names):
        raise UsageError(f"each ranker may be named once; given: {', '.join(names)}.")
    refuse_twins(data)
    queries, excluded, size = measured(data, chosen)
    tools = [tool for tool in data.tools if is_deferred(tool)]
    silent = without_answer(data, chosen)
    runs: dict[str, Ran] = {}
    failures: list[str] = []
    notes: list[str] = []
    identities: dict[str, Identity | None] = {}
    known = frozenset(tool.name for tool in tools)
    stopped: KeyboardInterrupt | None = None
    with (
        progress_bar(len(rankers) * (len(queries) + len(silent)), shown=progress) as advance,
        Crew(jobs, tools, depth) as crew,
    ):
        for place, ranker in enumerate(rankers):
            try:
                identities[ranker.name] = identity_of(ranker)
                shelf = cache.shelf(ranker, tools, depth) if cache is not None else None
                rank = partial(
                    run_ranker, ranker, tools, queries, depth, no_answer=silent, advance=advance, shelf=shelf
                )
                try:
                    runs[ranker.name] = rank(bench=crew.bench(ranker, shelf) if jobs > 1 else None)
                except CannotTravelError as error:
                    notes.append(f"{error}; it was judged in this one.")
                    runs[ranker.name] = rank()
            except UsageError as error:  # the others go on
                failures.append(str(error))
            except KeyboardInterrupt as stop:
                failures.append(f"interrupted; not judged: {', '.join(names[place:])}")
                stopped = stop
                break
    if stopped is not None and not runs:
        raise stopped
    if failures and not runs:
        raise UsageError("\n".join(failures))
    result = Evaluation(
        data=data,
        split=chosen,
        depth=depth,
        measures=tuple(dict.fromkeys(measures)),
        queries=queries,
        excluded=excluded,
        size=size,
        rankings={name: ran.rankings for name, ran in runs.items()},
        no_answer=silent,
        runs=runs,
        identities={name: identities[name] for name in runs},
        warnings=(*failures, *data_warnings(data, queries, known)),
        notes=tuple(notes),
    )
    if stopped is not None:
        raise Interrupted(result) from stopped
    return result
