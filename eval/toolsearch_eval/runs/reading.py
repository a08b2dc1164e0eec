"""A run read back: checked whole, every fault with its place and all of them at once, and nothing computed anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolsearch.errors import DataError, Problem, UnknownNameError, UsageError
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.evaluate import Evaluation
from toolsearch_eval.measures import Measure
from toolsearch_eval.runs.checks import (
    checked_manifest,
    checked_summary,
    checked_times,
    digest_faults,
    read_data,
    read_json,
)
from toolsearch_eval.runs.checks_rows import read_rankings, read_values
from toolsearch_eval.runs.folder import MANIFEST, TIMES
from toolsearch_eval.selection import measured, without_answer
from toolsearch_eval.tables import means_frame, per_query_frame

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as it was written; fulfils `compare.Judged`.

    Attributes:
        folder: Where it stands.
        manifest: What was asked and what it hangs on.
        summary: The machine-readable form, times left out.
        times: By ranker, `latency_ms` and `build_ms`.
        evaluation: What came out, put together again.
        kept: By ranker and measure, one value a query.
    """

    folder: Path
    manifest: Mapping[str, Any]
    summary: Mapping[str, Any]
    times: Mapping[str, Any]
    evaluation: Evaluation
    kept: Mapping[str, Mapping[str, Sequence[float]]]

    @property
    def run_id(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def data(self) -> DataSet:
        """The data as it was used: all tools and the queries of the split, under the whole set's fingerprint."""
        return self.evaluation.data

    @property
    def split(self) -> str:
        """Which queries were judged."""
        return self.evaluation.split

    @property
    def depth(self) -> int:
        """Results asked for."""
        return self.evaluation.depth

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures whose values are kept."""
        return self.evaluation.measures

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries that were measured."""
        return self.evaluation.queries

    @property
    def rankings(self) -> Mapping[str, Sequence[Sequence[str]]]:
        """By ranker, the names for each query."""
        return self.evaluation.rankings

    @property
    def scores(self) -> Mapping[str, Sequence[Sequence[float]]]:
        """By ranker, the scores that belong to the names."""
        return self.evaluation.scores

    def values(self, ranker: str, measure: Measure) -> list[float]:
        """One value a query, in the order of `queries`: as it was written, or of another measure from the rankings."""
        found = self.kept.get(ranker, {}).get(str(measure))
        return list(found) if found is not None else self.evaluation.values(ranker, measure)

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
        """The machine-readable form as the evaluation gave it, times included."""
        form = {key: value for key, value in self.summary.items() if key != "against"}
        form["rankers"] = {
            name: {
                "measures": values["measures"],
                "slices": values["slices"],
                **self.times[name],
                **{key: value for key, value in values.items() if key not in ("measures", "slices")},
            }
            for name, values in form["rankers"].items()
        }
        return form


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """A run in a list, read from its manifest and summary alone.

    Attributes:
        run_id: The folder's name.
        created: When it was made; empty where that can't be read.
        data: The data set's name.
        split: Which queries were judged.
        measure: The first measure.
        means: By ranker, its mean.
        problem: Why it can't be read, or "".
    """

    run_id: str
    created: str = ""
    data: str = ""
    split: str = ""
    measure: str = ""
    means: Mapping[str, float | None]
    problem: str = ""


def is_run(folder: str | Path) -> bool:
    """Whether a folder looks like a run; any text may be asked about."""
    try:
        return (Path(folder) / MANIFEST).is_file()
    except (OSError, ValueError):
        return False


def read_run(folder: str | Path) -> Run:
    """Read a run.

    Raises:
        UsageError: The folder is no run.
        DataError: It is damaged or was changed; every fault of every file at once.
    """
    root = Path(folder)
    if not is_run(root):
        raise UsageError(f"{str(folder)!r} is no run: it has no {MANIFEST}. `toolsearch eval --out DIR` writes one.")
    problems: list[Problem] = []
    manifest = checked_manifest(read_json(root / MANIFEST, problems), root / MANIFEST, problems)
    if manifest is None:  # nothing else can be told without it
        raise DataError(problems)
    data = read_data(root / "data", manifest, problems)
    summary = checked_summary(read_json(root / "summary.json", problems), manifest, root / "summary.json", problems)
    times = checked_times(read_json(root / TIMES, problems), manifest, root / TIMES, problems)
    if data is not None:
        queries, _, size = measured(data, manifest.split)
        silent = without_answer(data, manifest.split)
        runs = read_rankings(root / "rankings.jsonl", manifest, data, queries, silent, times or {}, problems)
        kept = read_values(root / "per_query.csv", manifest, queries, problems)
    problems += digest_faults(root, manifest, problems)
    if problems or data is None or summary is None or times is None:
        raise DataError(problems)
    evaluation = Evaluation(
        data=data,
        split=manifest.split,
        depth=manifest.depth,
        measures=manifest.measures,
        queries=queries,
        excluded=summary["excluded"],
        size=size,
        rankings={name: ran.rankings for name, ran in runs.items()},
        no_answer=silent,
        runs=runs,
        identities=manifest.identities,
        warnings=tuple(summary["warnings"]),
    )
    return Run(folder=root, manifest=manifest.form, summary=summary, times=times, evaluation=evaluation, kept=kept)


def list_runs(root: str | Path) -> tuple[RunEntry, ...]:
    """The runs that stand right under a folder, the newest first; one that can't be read says why.

    A folder that is not there has none.
    """
    base = Path(root)
    folders = [path for path in base.iterdir() if is_run(path)] if base.is_dir() else []
    entries = sorted(map(_entry, folders), key=lambda entry: entry.run_id)
    return tuple(sorted(entries, key=lambda entry: entry.created, reverse=True))


def open_run(root: str | Path, run_id: str) -> Run:
    """One of the runs that `list_runs` gives, by its id; never a path.

    Raises:
        UnknownNameError: There is no such run; near names are given.
        DataError: It is damaged.
    """
    known = [entry.run_id for entry in list_runs(root)]
    if run_id not in known:
        raise UnknownNameError("run", run_id, known)
    return read_run(Path(root) / run_id)


def _entry(folder: Path) -> RunEntry:
    problems: list[Problem] = []
    manifest = checked_manifest(read_json(folder / MANIFEST, problems), folder / MANIFEST, problems)
    summary = None
    if manifest is not None:
        path = folder / "summary.json"
        summary = checked_summary(read_json(path, problems), manifest, path, problems)
    if manifest is None or summary is None:
        return RunEntry(run_id=folder.name, means={}, problem=str(problems[0]))
    measure = str(manifest.measures[0])
    return RunEntry(
        run_id=folder.name,
        created=manifest.form["created"],
        data=manifest.form["data"]["name"],
        split=manifest.split,
        measure=measure,
        means={name: values["measures"][measure]["mean"] for name, values in summary["rankers"].items()},
    )
