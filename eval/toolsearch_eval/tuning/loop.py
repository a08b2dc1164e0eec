"""The search itself: batch by batch, propose, evaluate, write down."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from toolsearch.errors import UsageError
from toolsearch_eval.tuning.evaluator import Evaluator, Measured, Values
from toolsearch_eval.tuning.propose import STEPWISE, Proposer, Tried


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What decides which trials are made.

    Attributes:
        sampler: One of `propose.SAMPLERS`.
        seed: Of the proposals.
        batch: Trials that are proposed at once; how many run at once changes nothing.
        trials: How many trials the study has in the end.
    """

    sampler: str
    seed: int
    batch: int
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A finished trial with all that it gave.

    Attributes:
        number: In the study.
        values: What was tried.
        scores: What each objective gave, larger is better.
        constraints: Each met where it is at most 0.
        groups: A value for each group of each data set.
        gauges: What was measured beside the quality.
    """

    number: int
    values: Mapping[str, float]
    scores: tuple[float, ...]
    constraints: Mapping[str, float]
    groups: Values
    gauges: Mapping[str, float]

    @property
    def feasible(self) -> bool:
        """It meets every constraint."""
        return all(value <= 0 for value in self.constraints.values())


class Book(Protocol):
    """Where trials are written down."""

    def tried(self) -> list[Tried]:
        """All trials that are finished or running, by number."""

    def begin(self, proposals: Sequence[Mapping[str, float]]) -> list[Tried]:
        """Write down what is tried next."""

    def finish(self, number: int, scores: Sequence[float], *, constraints: Mapping[str, float] | None = None) -> None:
        """Write down what a running trial gave."""


class Notebook:
    """A book that lasts as long as the process, for the studies within a fold."""

    def __init__(self) -> None:
        """An empty one."""
        self._tried: list[Tried] = []

    def tried(self) -> list[Tried]:
        """All trials, by number."""
        return list(self._tried)

    def begin(self, proposals: Sequence[Mapping[str, float]]) -> list[Tried]:
        """Number the proposals."""
        new = [Tried(number=len(self._tried) + place, values=dict(values)) for place, values in enumerate(proposals)]
        self._tried += new
        return new

    def finish(self, number: int, scores: Sequence[float], *, constraints: Mapping[str, float] | None = None) -> None:
        """Keep the scores."""
        before = self._tried[number]
        self._tried[number] = Tried(
            number=number, values=before.values, scores=tuple(scores), constraints=constraints or None
        )


class Aim(Protocol):
    """What is made as large as can be."""

    @property
    def count(self) -> int:
        """How many scores a trial has."""

    def judge(self, measured: Measured) -> tuple[tuple[float, ...], dict[str, float]]:
        """Scores, larger is better, and constraints, each met where it is at most 0."""


def search(plan: Plan, evaluator: Evaluator, objective: Aim, book: Book) -> Generator[Done, None, None]:
    """Make the trials that the book lacks, and give all of the study one after another, by number.

    Trials that were running when a study was stopped are made first, so that it goes on as if it had not been.

    Raises:
        UsageError: The book's trials are not those that the plan makes, or gave something else than they give now.
    """
    tried = {each.number: each for each in book.tried()}
    proposer = Proposer(
        evaluator.space, plan.sampler, seed=plan.seed, population=plan.batch, objectives=objective.count
    )
    number = 0
    while number < max(plan.trials, len(tried)):
        batch = [tried[place] for place in range(number, number + plan.batch) if place in tried]
        wanted = min(plan.trials - number, plan.batch)
        asked = plan.sampler in STEPWISE or len(batch) < wanted or any(each.scores is None for each in batch)
        if asked:
            # Always the whole batch from what came before it, also where a part of it had begun when a study was
            # stopped, or is left for a larger budget: so every trial is what it would have been without a stop.
            proposals = proposer.ask(number // plan.batch, plan.batch)
            _check_same(batch, proposals)
            batch += book.begin(proposals[len(batch) : wanted])
        for place, measured in enumerate(evaluator.many([each.values for each in batch])):
            each = batch[place]
            scores, constraints = objective.judge(measured)
            if each.scores is None:
                book.finish(each.number, scores, constraints=constraints)
            else:
                _check_score(each, scores)
                # What was timed is not timed again: the sampler goes on from what it knew.
                scores, constraints = each.scores, dict(each.constraints or {})
            finished = Tried(number=each.number, values=each.values, scores=scores, constraints=constraints or None)
            if asked:
                proposer.tell(place, scores, constraints)
            else:
                proposer.add([finished])
            yield Done(
                number=each.number,
                values=each.values,
                scores=scores,
                constraints=constraints,
                groups=measured.groups,
                gauges=measured.gauges,
            )
        number += len(batch)


def _check_same(batch: Sequence[Tried], proposals: Sequence[Mapping[str, float]]) -> None:
    for each, values in zip(batch, proposals, strict=False):
        if dict(each.values) != dict(values):
            raise UsageError(
                f"trial {each.number} of the study is not the one that its seed gives: it was made by another version "
                "of Optuna or by several workers at once; begin a new study, or go on as it was begun."
            )


def _check_score(each: Tried, scores: Sequence[float]) -> None:
    before = each.scores or ()
    if len(before) != len(scores) or any(abs(a - b) >= 1e-9 for a, b in zip(before, scores, strict=True)):
        raise UsageError(
            f"trial {each.number} was written down with {_shown(before)} and gives {_shown(scores)} now: the study was "
            "made with another version of the search; begin a new one."
        )


def _shown(scores: Sequence[float]) -> str:
    return ", ".join(f"{score:.6f}" for score in scores)
