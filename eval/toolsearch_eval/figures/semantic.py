"""Figures of the semantic arm: what it brings, beside a model alone and a fusion of ranks, and what it costs."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.figures.block import Block, Cell, Table, rounded
from toolsearch_eval.figures.orders import shown_ranker
from toolsearch_eval.figures.quality import COMMAND, PRIMARY, interval_cell, profile_fingerprints
from toolsearch_eval.figures.speed import machine
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.rankers.order import best_first
from toolsearch_eval.rankers.protocol import Ranker
from toolsearch_eval.runs.folder import compared_with
from toolsearch_eval.statistics import mean_interval

PROFILES = ("default", "default+semantic")
"""The profile without the arm, which the other is put beside, and the one with it."""
FUSION_CONSTANT = 60
FUSION_DEPTH = 100


class RankFusion:
    """Reciprocal rank fusion of two rankers, the common way to join words and vectors.

    A tool scores 1 / (60 + rank) in each ranking that holds it among its first 100 (Cormack, Clarke and Büttcher 2009).
    """

    def __init__(self, left: Ranker, right: Ranker) -> None:
        """Take two rankers."""
        self.name = f"{shown_ranker(right.name)} and {left.name}, ranks fused"
        self._both = (left, right)

    def index(self, tools: Sequence[Tool]) -> None:
        """Index the catalog in both."""
        for ranker in self._both:
            ranker.index(tools)

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Names with fused scores, best first, ties by name."""
        rankings = [ranker.rank(queries, max(depth, FUSION_DEPTH)) for ranker in self._both]
        fused = []
        for pair in zip(*rankings, strict=True):
            scores: dict[str, float] = {}
            for ranking in pair:
                for rank, (name, _) in enumerate(ranking, 1):
                    scores[name] = scores.get(name, 0.0) + 1 / (FUSION_CONSTANT + rank)
            fused.append(best_first(scores.items(), depth))
        return fused


def semantic_rankers(dense: str) -> tuple[Ranker, ...]:
    """The two profiles, a model alone, and its fusion with BM25F.

    Raises:
        UsageError: The model can't be loaded, or the extra `semantic` is not installed.
    """
    model = resolve_ranker(dense)
    return (*map(resolve_ranker, PROFILES), model, RankFusion(resolve_ranker("bm25f"), model))


def measure_semantic(
    data: str,
    folder: Path,
    rankers: Sequence[Ranker],
    *,
    today: str,
    tell: Callable[[str], None],
    cost: Callable[[str], Mapping[str, float]] | None = None,
) -> Block:
    """A line for a labelled set's test split and for each set of a folder; then what a profile costs in a process.

    Args:
        data: The labelled set; all of its queries are judged where it has no test split.
        folder: Holds other sets; all of their queries are judged.
        rankers: The first is the one that the second is put beside; all of them get a column.
        today: The date to write.
        tell: Is told what begins.
        cost: What a profile costs on the labelled set, by what the columns are called; None leaves that table out.

    Raises:
        UsageError: The folder holds no data set, or a ranker can't work.
    """
    sets = sorted(path.parent for path in folder.glob("*/queries.jsonl"))
    if not sets:
        raise UsageError(f"--suites is {str(folder)!r}, which holds no folder with a queries.jsonl.")
    labelled = load_data(data)
    split = "test" if any(query.split == "test" for query in labelled.queries) else "all"
    tell(f"judging on {labelled.name}")
    lines = [_line(labelled, rankers, split)]
    fingerprints = {**profile_fingerprints(), labelled.name: labelled.fingerprint}
    others = []
    for path in sets:
        tell(f"judging on {path.name}")
        other = load_data(path)
        fingerprints[other.name] = other.fingerprint
        others.append(_line(other, rankers, "all"))
    tables = [Table(title=f"{PRIMARY} by set", lines=(*lines, *others, _mean(others, len(sets))))]
    if cost is not None:
        costs: tuple[dict[str, Cell], ...] = tuple({"profile": name, **cost(name)} for name in PROFILES)
        tables.append(Table(title=f"What a profile costs, {len(labelled.tools)} tools, one process", lines=costs))
    return Block(
        command=f"{COMMAND} --suites DIR --dense st:MODEL",
        date=today,
        fingerprints=fingerprints,
        circumstances=machine(),
        tables=tuple(tables),
    )


def _line(data: DataSet, rankers: Sequence[Ranker], split: str) -> dict[str, Cell]:
    result = evaluate(data, rankers, measures=(PRIMARY,), split=split, progress=False)
    names = [ranker.name for ranker in rankers]
    if set(result.rankings) != set(names):
        raise UsageError("\n".join(result.warnings))
    groups = [query.group for query in result.queries]
    line: dict[str, Cell] = {"set": data.name if split == "all" else f"{data.name}, {split}"}
    for name in names:
        line[shown_ranker(name)] = rounded(mean_interval(result.values(name, PRIMARY), groups).mean)
    first, second = names[:2]
    beside = next(each for each in compared_with(result, first) if each.b == second)
    return line | {f"{second} less {first}": interval_cell(beside.overall.difference, key="difference")}


def _mean(lines: Sequence[Mapping[str, Cell]], sets: int) -> dict[str, Cell]:
    """The mean of each column; of the differences with the set as the unit."""
    last: dict[str, Cell] = {"set": f"mean of {sets} sets"}
    for column, cell in lines[0].items():
        if column == "set":
            continue
        values = [_middle(line[column]) for line in lines]
        over_sets = mean_interval(values, [str(number) for number in range(len(values))])
        last[column] = (
            interval_cell(over_sets, key="difference") if isinstance(cell, Mapping) else rounded(over_sets.mean)
        )
    return last


def _middle(cell: Cell) -> float:
    value = cell["difference"] if isinstance(cell, Mapping) else cell
    return float(value) if isinstance(value, int | float) else 0.0


_COST = """
import json, resource, statistics, sys, time
from pathlib import Path
sys.path[:0] = json.loads(sys.argv[3])
from toolsearch.config import load_profile
from toolsearch.folders import keep_caches
from toolsearch.search.searcher import Searcher
from toolsearch_eval.data import load_data
keep_caches(Path(sys.argv[4]))
data = load_data(sys.argv[1])
start = time.perf_counter()
searcher = Searcher(data.tools, load_profile(sys.argv[2]))
searcher.search("send a message")
first = time.perf_counter() - start
times = []
for query in data.queries[:200]:
    start = time.perf_counter()
    searcher.search(query.text)
    times.append(time.perf_counter() - start)
# Linux hands the peak of the process that started this one down in ru_maxrss; VmHWM begins anew.
status = Path("/proc/self/status")
peak = (
    int(status.read_text().split("VmHWM:")[1].split()[0])
    if status.exists()
    else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
) / 1024
print(json.dumps({"first": first * 1000, "search": statistics.median(times) * 1000, "memory": peak}))
"""


def profile_cost(data: str) -> Callable[[str], Mapping[str, float]]:
    """What a profile costs in a process of its own: its start, a search, and the most memory that the process had.

    Then the start of another process that finds the vectors which the first one kept.
    """

    def cost(profile: str) -> Mapping[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            first = _cost(data, profile, folder)
            again = _cost(data, profile, folder)
        return {
            "load, build and first search ms": first["first"],
            "in the next process ms": again["first"],
            "search p50 ms": first["search"],
            "process MB": first["memory"],
        }

    return cost


def _cost(data: str, profile: str, folder: str) -> dict[str, float]:
    paths = json.dumps([path for path in sys.path if path])
    arguments = [sys.executable, "-c", _COST, data, profile, paths, folder]
    told = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    return {name: round(value, 1) for name, value in json.loads(told.splitlines()[-1]).items()}
