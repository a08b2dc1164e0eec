"""Do the labels of a pass only repeat what a ranker said? Labels that do would crown that ranker and nobody else."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet
from toolsearch_eval.judgements import Judgement
from toolsearch_eval.rankers.protocol import Ranker
from toolsearch_eval.rankers.run import CHUNK, AtWork
from toolsearch_eval.selection import refuse_twins

BOUND = 0.9
"""Above this share the grades of a pass are taken to follow the ranker."""
FEWEST = 20
"""Labels that are needed on either side of a grade; with fewer a threshold parts them by chance."""
_DEPTH = 50
"""Results that are asked for; what a ranker doesn't bring stands below all that it does."""

By = Literal["score", "rank"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """How far one pass follows one ranker: the best threshold that there is.

    Attributes:
        turn: The pass.
        ranker: Whose scores.
        by: The ranker's score, one threshold for all queries; or its rank within the query.
        grade: The threshold parts the labels of this grade and above from those below it.
        share: See `followed`; 0.5 to 1.
        labels: Labels of the pass, those at or above the grade and those below.
    """

    turn: int
    ranker: str
    by: By
    grade: int
    share: float
    labels: tuple[int, int]

    @property
    def follows(self) -> bool:
        """Whether the share is above `BOUND`."""
        return self.share > BOUND

    def __str__(self) -> str:
        """A sentence for a report."""
        return (
            f"pass {self.turn}: {self.share:.1%} of the grades follow one threshold of {self.ranker}'s {self.by} "
            f"(grade {self.grade} and above: {self.labels[0]} labels; below: {self.labels[1]})"
        )


def followed(values: Sequence[float], high: Sequence[bool]) -> float:
    """The best that one threshold on the values does at telling high labels from the others, 0.5 to 1.

    The share of the high labels at or above the threshold and the share of the others below it, their mean. Both
    kinds count the same, because in a pool nineteen of twenty labels are 0, and a threshold above everything would
    repeat 95 % of them without knowing anything. Where the kinds are equally many, it is the plain share of the labels.

    >>> followed([3, 2, 1, 0], [True, True, False, False])
    1.0
    >>> followed([3, 2, 1, 0], [True, False, True, False])
    0.75

    Raises:
        UsageError: One of the kinds is missing.
    """
    order = np.argsort(-np.asarray(values, dtype=float), kind="stable")
    marks = np.asarray(high, dtype=bool)[order]
    ordered = np.asarray(values, dtype=float)[order]
    highs, others = int(marks.sum()), int((~marks).sum())
    if not highs or not others:
        raise UsageError("a threshold parts two kinds of labels; here there is only one.")
    # A threshold may lie after the last of equal values only.
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    above = np.cumsum(marks)[ends] / highs
    below = 1 - np.cumsum(~marks)[ends] / others
    return float(max(0.5, ((above + below) / 2).max()))


def check_independence(
    data: DataSet, rankers: Sequence[Ranker], *, advance: Callable[[int], object] = lambda _: None
) -> tuple[Following, ...]:
    """For each pass, ranker, and grade how far the labels follow the ranker, by score and by rank within the query.

    Only labels of tools that can be found count. A grade with fewer than `FEWEST` labels on either side is left out.

    Args:
        data: The data set; without `judgements.jsonl` its grades are one pass.
        rankers: Who is asked, each about every query that has a label.
        advance: Called after each chunk of queries with its size.

    Raises:
        UsageError: A ranker failed.
        DataError: Two tools have one name.
    """
    refuse_twins(data)
    tools = {tool.name: tool for tool in data.tools if is_deferred(tool)}
    passes = {turn: _labels(data, turn, tools) for turn in sorted({label.turn for label in data.labels} or {1})}
    labelled = {query_id for labels in passes.values() for query_id, _ in labels}
    queries = [query for query in data.queries if query.query_id in labelled and query.text.strip()]
    found: list[Following] = []
    for ranker in rankers:
        work = AtWork(ranker, list(tools.values()), _DEPTH)
        scores: dict[tuple[str, str], tuple[float, int]] = {}
        for start in range(0, len(queries), CHUNK):
            chunk = queries[start : start + CHUNK]
            for query, answer in zip(chunk, work.answers(chunk), strict=True):
                for rank, (name, score) in enumerate(answer.results, start=1):
                    scores[query.query_id, name] = (score, rank)
            advance(len(chunk))
        for turn, labels in passes.items():
            found += _best(turn, ranker.name, labels, scores)
    return tuple(found)


def _labels(data: DataSet, turn: int, known: Mapping[str, object]) -> dict[tuple[str, str], int]:
    """Grade of each pair of one pass; what was settled afterwards is no judge's own reading."""
    if not data.labels:
        return {
            (query_id, tool): grade
            for query_id, grades in data.judgements.items()
            for tool, grade in grades.items()
            if tool in known
        }
    own: list[Judgement] = [label for label in data.labels if label.turn == turn and not label.settled]
    return {(label.query_id, label.tool): label.grade for label in own if label.tool in known}


def _best(
    turn: int,
    ranker: str,
    labels: Mapping[tuple[str, str], int],
    scores: Mapping[tuple[str, str], tuple[float, int]],
) -> list[Following]:
    grades = list(labels.values())
    missing = (-math.inf, _DEPTH + 1)
    values = [scores.get(pair, missing) for pair in labels]
    result = []
    for grade in (1, 2):
        high = [each >= grade for each in grades]
        counts = sum(high), len(high) - sum(high)
        if min(counts) < FEWEST:
            continue
        kinds: tuple[tuple[By, list[float]], ...] = (
            ("score", [score for score, _ in values]),
            ("rank", [-float(rank) for _, rank in values]),
        )
        for by, of in kinds:
            share = followed(of, high)
            result.append(Following(turn=turn, ranker=ranker, by=by, grade=grade, share=share, labels=counts))
    return result
