"""Does the shipped set put rankers in the order in which other people's sets put them?"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.figures.block import Block, Cell, Table, rounded
from toolsearch_eval.figures.quality import COMMAND, PRIMARY, profile_fingerprints
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.statistics import mean_interval

COMPARED = ("bm25s", "sklearn-words", "reference", "bm25f", "default")
"""The rankers whose order is looked at; one of sentence vectors may be added."""


def measure_orders(data: str, folder: Path, dense: str, *, today: str, tell: Callable[[str], None]) -> Block:
    """Each ranker's mean and place on the test split of a labelled set, and on the mean of a folder's sets.

    Args:
        data: The labelled set; its test split is judged, or all of it where it has none.
        folder: Holds other sets; all of their queries are judged.
        dense: A further ranker (`st:NAME|PATH`), or "". Its model's name stands in the table.
        today: The date to write.
        tell: Is told what begins.

    Raises:
        UsageError: The folder holds no data set, or a ranker can't work.
    """
    sets = sorted(path.parent for path in folder.glob("*/queries.jsonl"))
    if not sets:
        raise UsageError(f"--suites is {str(folder)!r}, which holds no folder with a queries.jsonl.")
    names = (*COMPARED, dense) if dense else COMPARED
    labelled = load_data(data)
    split = "test" if any(query.split == "test" for query in labelled.queries) else "all"
    here = _means(labelled, names, split)
    there: list[list[float]] = []
    fingerprints = {**profile_fingerprints(), labelled.name: labelled.fingerprint}
    for path in sets:
        tell(f"judging on {path.name}")
        other = load_data(path)
        fingerprints[other.name] = other.fingerprint
        there.append(_means(other, names, "all"))
    macro = [statistics.fmean(column) for column in zip(*there, strict=True)]
    lines: list[dict[str, Cell]] = []
    for place in sorted(range(len(names)), key=lambda place: (-here[place], names[place])):
        lines.append(
            {
                "ranker": shown_ranker(names[place]),
                f"{labelled.name} {split}": rounded(here[place]),
                "place": _place(here, place),
                f"mean of {len(sets)} sets": rounded(macro[place]),
                "place there": _place(macro, place),
            }
        )
    correlation: dict[str, Cell] = {
        "rank correlation": "Spearman",
        "value": rounded(spearman(here, macro)),
        "rankers": len(names),
    }
    return Block(
        command=f"{COMMAND} --suites DIR --dense st:MODEL" if dense else f"{COMMAND} --suites DIR",
        date=today,
        fingerprints=fingerprints,
        tables=(Table(lines=tuple(lines)), Table(lines=(correlation,))),
    )


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Spearman's rank correlation: Pearson's over the ranks, equal values sharing the mean of theirs.

    Returns:
        Between -1 and 1; None for fewer than two values, or where one side does not vary.

    Example:
        >>> spearman([0.1, 0.2, 0.3], [10, 20, 15])
        0.5
    """
    if len(left) != len(right):
        raise ValueError(f"{len(left)} values on the left and {len(right)} on the right; there must be a pair for each")
    if len(left) < 2 or len(set(left)) < 2 or len(set(right)) < 2:
        return None
    return round(statistics.correlation(_ranks(left), _ranks(right)), 12)


def _ranks(values: Sequence[float]) -> list[float]:
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]


def _place(values: Sequence[float], place: int) -> int:
    return 1 + sum(other > values[place] for other in values)


def shown_ranker(name: str) -> str:
    """A model's path would name the machine: of a package's folder the package, else the last part."""
    if not name.startswith("st:"):
        return name
    parts = [part for part in Path(name.removeprefix("st:")).parts if part not in ("model", "/")]
    return f"st:{parts[-1] if parts else name}"


def _means(data: DataSet, names: Sequence[str], split: str) -> list[float]:
    result = evaluate(data, [resolve_ranker(name) for name in names], measures=(PRIMARY,), split=split, progress=False)
    if set(result.rankings) != set(names):
        raise UsageError("\n".join(result.warnings))
    groups = [query.group for query in result.queries]
    # By group, as every other table has it; a set without a measured query counts as 0 for all.
    return [mean_interval(result.values(name, PRIMARY), groups).mean or 0.0 for name in names]
