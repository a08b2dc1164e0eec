"""Figures of quality: the shipped set, further sets, and how far the flag `low_confidence` can be trusted."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from toolsearch.config import DEFAULT, PROFILES, to_toml
from toolsearch.errors import UsageError
from toolsearch.search.searcher import Searcher
from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.evaluate import Evaluation, evaluate
from toolsearch_eval.figures.block import Block, Cell, Table, rounded
from toolsearch_eval.measures import parse_measure
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.rankers.resolve import EVERY
from toolsearch_eval.report.numbers import p_text
from toolsearch_eval.runs.folder import compared_with
from toolsearch_eval.statistics import FEW_GROUPS, Difference, Interval, mean_interval

COMMAND = "python -m toolsearch_eval.figures"
RANKERS = (*EVERY, "default:keyword", "default:tfidf")
"""Those of the shipped set: every ranker, and the two arms of `default` alone."""
SUITE_RANKERS = EVERY
BASELINE = "default"
"""Beside which every other ranker is put."""
PRINTED = f"the same as `toolsearch eval --ranker all --against {BASELINE}` prints for a set"
SURE = 0.05
"""A difference with a smaller p, adjusted for all rankers of a set, is counted as one."""
LIBRARIES = ("bm25s", "scikit-learn", "fastmcp", "pydantic-ai-slim", "toolpicker")
YARDSTICK = "bm25f"
"""Stands beside `default` where the table is by slice."""
PRIMARY = parse_measure("nDCG@10")
FURTHER = tuple(map(parse_measure, ("Recall@5", "RR@10", "Success@1", "Judged@10")))
FLAGGED_AT_LEAST = 0.70
"""The goal for queries that no tool answers."""
FLAGGED_AT_MOST = 0.05
"""The goal for queries that have an answer."""


def measure_builtin(data: str, *, today: str) -> Block:
    """A labelled set: for each split every ranker's means, and the two that matter most by kind of query.

    The primary measure has its 95% interval; beside it stands the difference to `default` on the same queries with its
    interval, and p by Holm's procedure: what `toolsearch eval --against default` prints.
    """
    labelled = load_data(data)
    judged = {split: _judged(labelled, RANKERS, split) for split in _splits(labelled)}
    tables = [_by_ranker(result) for result in judged.values()]
    slices = tuple(_by_slice(judged))
    if slices:
        tables.append(Table(title=f"{labelled.name}, {PRIMARY} by kind of query (slice)", lines=slices))
    return Block(
        command=COMMAND,
        date=today,
        fingerprints={labelled.name: labelled.fingerprint, **profile_fingerprints()},
        circumstances={"printed": PRINTED, **_libraries()},
        tables=tuple(tables),
    )


def _by_ranker(result: Evaluation) -> Table:
    groups = [query.group for query in result.queries]
    beside = {each.b: each.overall for each in compared_with(result, BASELINE)}
    lines: list[dict[str, Cell]] = []
    for name in RANKERS:
        values = result.values(name, PRIMARY)
        line: dict[str, Cell] = {"ranker": name, str(PRIMARY): interval_cell(mean_interval(values, groups))}
        found = beside.get(name)
        line[f"less {BASELINE}"] = interval_cell(found.difference, key="difference") if found else None
        line["p"] = p_text(found.p) if found else None
        for measure in FURTHER:
            line[str(measure)] = rounded(mean_interval(result.values(name, measure), groups).mean)
        lines.append(line)
    title = (
        f"{result.data.name}, {result.split}: {len(result.queries)} queries in {len(set(groups))} groups, "
        f"{len(result.data.tools)} tools"
    )
    return Table(title=title, lines=tuple(lines))


def _by_slice(judged: Mapping[str, Evaluation]) -> Iterator[dict[str, Cell]]:
    """A line for each slice with the means of yardstick and `default` by split."""
    slices = sorted({query.slice for result in judged.values() for query in result.queries if query.slice})
    for part in slices:
        line: dict[str, Cell] = {"slice": part}
        for split, result in judged.items():
            places = [place for place, query in enumerate(result.queries) if query.slice == part]
            groups = [result.queries[place].group for place in places]
            line[f"{split} groups"] = len(set(groups))
            for name in (YARDSTICK, "default"):
                values = result.values(name, PRIMARY)
                found = mean_interval([values[place] for place in places], groups)
                line[f"{split} {name}"] = rounded(found.mean) if found.n >= FEW_GROUPS else "too few to tell"
        yield line


def measure_suites(folder: Path, *, today: str, tell: Callable[[str], None] = lambda _: None) -> Block:
    """A line for each data set of a folder, over all of its queries, and a last one with the means over the sets.

    A second table says of each ranker how far it is from `default` on the mean of the sets, and on how many sets it is
    better or worse for sure: by p below `SURE`, adjusted for all rankers of the set.

    Raises:
        UsageError: The folder holds no data set.
    """
    sets = sorted(path.parent for path in folder.glob("*/queries.jsonl"))
    if not sets:
        raise UsageError(f"--suites is {str(folder)!r}, which holds no folder with a queries.jsonl.")
    fingerprints = profile_fingerprints()
    means: dict[str, list[float]] = {name: [] for name in SUITE_RANKERS}
    beside: dict[str, list[Difference]] = {name: [] for name in SUITE_RANKERS if name != BASELINE}
    lines: list[dict[str, Cell]] = []
    for path in sets:
        tell(f"judging on {path.name}")
        labelled = load_data(path)
        fingerprints[labelled.name] = labelled.fingerprint
        result = _judged(labelled, SUITE_RANKERS, "all")
        groups = [query.group for query in result.queries]
        found = {name: mean_interval(result.values(name, PRIMARY), groups).mean for name in SUITE_RANKERS}
        line: dict[str, Cell] = {"set": labelled.name, "tools": len(labelled.tools), "queries": len(result.queries)}
        lines.append(line | {name: rounded(mean) for name, mean in found.items()})
        for each in compared_with(result, BASELINE):
            beside[each.b].append(each.overall)
        for name, mean in found.items():
            means[name] += [] if mean is None else [mean]
    last: dict[str, Cell] = {"set": "mean of the sets", "tools": None, "queries": None}
    lines.append(last | {name: rounded(statistics.fmean(values)) if values else None for name, values in means.items()})
    second = [_over_sets(name, differences) for name, differences in beside.items()]
    return Block(
        command=f"{COMMAND} --suites DIR",
        date=today,
        fingerprints=fingerprints,
        circumstances={"printed": PRINTED, **_libraries()},
        tables=(
            Table(title=f"{PRIMARY} by set", lines=tuple(lines)),
            Table(title=f"{PRIMARY} less that of {BASELINE}, with the set as the unit", lines=tuple(second)),
        ),
    )


def _over_sets(name: str, differences: Sequence[Difference]) -> dict[str, Cell]:
    """A ranker beside the baseline over all sets."""
    values = [each.difference.mean for each in differences if each.difference.mean is not None]
    over_sets = mean_interval(values, [str(number) for number in range(len(values))])
    sure = [each.difference.mean or 0.0 for each in differences if each.p < SURE]
    return {
        "ranker": name,
        f"less {BASELINE}": interval_cell(over_sets, key="difference"),
        "sets where surely better": sum(value > 0 for value in sure),
        "surely worse": sum(value < 0 for value in sure),
        "not to be told": len(differences) - len(sure),
    }


def measure_confidence(data: str, *, today: str) -> Block:
    """How many queries the search itself flags as low in confidence, with and without an answer, by split."""
    labelled = load_data(data)
    searcher = Searcher(labelled.tools)
    lines: list[dict[str, Cell]] = []
    for split in _splits(labelled):
        for expect, wanted in (("none", True), ("answer", False)):
            texts = [
                query.text
                for query in labelled.queries
                if query.split == split and query.expect == expect and query.text.strip()
            ]
            answers = searcher.search_batch(texts)
            flagged = [answer for answer in answers if answer.low_confidence]
            share = len(flagged) / len(answers) if answers else None
            bound = FLAGGED_AT_LEAST if wanted else FLAGGED_AT_MOST
            lines.append(
                {
                    "split": split,
                    "queries that have": "no answer" if wanted else "an answer",
                    "queries": len(answers),
                    "flagged": len(flagged),
                    "of these with nothing found": sum(not answer.results for answer in flagged),
                    "share flagged": rounded(share),
                    "goal": f"{'at least' if wanted else 'at most'} {bound:.0%}",
                    "met": None if share is None else (share >= bound if wanted else share <= bound),
                }
            )
    return Block(
        command=COMMAND,
        date=today,
        fingerprints={labelled.name: labelled.fingerprint, "profile default": _fingerprint(to_toml(DEFAULT))},
        tables=(Table(lines=tuple(lines)),),
    )


def interval_cell(interval: Interval, *, key: str = "mean") -> Cell:
    """An interval as it is stored."""
    return {key: rounded(interval.mean), "low": rounded(interval.low), "high": rounded(interval.high)}


def profile_fingerprints() -> dict[str, str]:
    """Of the shipped profiles, so that figures of earlier weights are not taken for those of today's."""
    return {f"profile {name}": _fingerprint(to_toml(config)) for name, config in PROFILES.items()}


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _judged(data: DataSet, names: Sequence[str], split: str) -> Evaluation:
    """An evaluation in which every ranker worked: a table that lacks one would hide it."""
    measures = (PRIMARY, *FURTHER)
    result = evaluate(data, [resolve_ranker(name) for name in names], measures=measures, split=split, progress=False)
    if set(result.rankings) != set(names):
        raise UsageError("\n".join(result.warnings))
    return result


def _splits(data: DataSet) -> list[str]:
    return [split for split in ("dev", "test") if any(query.split == split for query in data.queries)]


def _libraries() -> dict[str, str]:
    return {"libraries": ", ".join(f"{name} {version(name)}" for name in LIBRARIES)}
