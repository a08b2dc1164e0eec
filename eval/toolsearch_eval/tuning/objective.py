"""What is made as large as can be: quality, quality within constraints, or two objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolsearch.errors import UsageError
from toolsearch_eval.tuning.evaluator import Measured
from toolsearch_eval.tuning.gauges import TOKENS, Demands
from toolsearch_eval.tuning.loop import Done
from toolsearch_eval.tuning.macro import macro_mean

ONE_OBJECTIVE = ("cmaes",)
"""Samplers that can't follow two objectives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """From what a profile gave to scores and constraints.

    Attributes:
        bounds: What each constraint's gauge must not exceed.
        second: The gauge of the second objective, or "".
    """

    bounds: Mapping[str, float] = field(default_factory=dict)
    second: str = ""

    @property
    def count(self) -> int:
        """How many objectives there are."""
        return 2 if self.second else 1

    def judge(self, measured: Measured) -> tuple[tuple[float, ...], dict[str, float]]:
        """Scores, larger is better, and constraints, each met where it is at most 0."""
        return self.scores(macro_mean(measured.groups), measured), self.constraints(measured)

    def scores(self, quality: float, measured: Measured) -> tuple[float, ...]:
        """The quality, and the second objective with the sign that makes larger better."""
        if not self.second:
            return (quality,)
        other = measured.gauges[self.second]
        return quality, -other if self.second == TOKENS else other

    def constraints(self, measured: Measured) -> dict[str, float]:
        """How far each gauge lies above its bound."""
        return {name: measured.gauges[name] - bound for name, bound in self.bounds.items()}


def objective_of(demands: Demands, sampler: str) -> Objective:
    """The objective that some demands make.

    Raises:
        UsageError: The sampler can't follow two objectives.
    """
    if demands.second and sampler in ONE_OBJECTIVE:
        raise UsageError(f"sampler {sampler!r} follows one objective; for two take tpe, nsgaii, random or gp.")
    return Objective(bounds=demands.bounds, second=demands.second or "")


def pareto(trials: Sequence[Done]) -> tuple[int, ...]:
    """The trials that no other one beats in both objectives, best in the first one first; equal ones once.

    Only trials that meet every constraint are looked at.
    """
    front: list[Done] = []
    highest = float("-inf")
    feasible = [trial for trial in trials if trial.feasible]
    for trial in sorted(feasible, key=lambda each: (-each.scores[0], -each.scores[-1], each.number)):
        if trial.scores[-1] > highest:
            front.append(trial)
            highest = trial.scores[-1]
    return tuple(trial.number for trial in front)
