"""Which values to try next, worked out anew for each batch.

A batch depends on the study's seed, the batch's number and the trials before it, and on nothing else: each batch has a
sampler of its own, so no sampler's state is kept, and a study that was stopped goes on as if it had not been. Samplers
that build on their own earlier proposals get these made again in order; what they keep never leaves the process.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.extras import require
from toolsearch_eval.tuning.space import Space

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler

SAMPLERS: Mapping[str, tuple[str, ...]] = {
    "tpe": (),
    "cmaes": ("cmaes",),
    "nsgaii": (),
    "random": (),
    "gp": ("torch", "scipy"),
}
"""The samplers, each with the libraries that it needs beside Optuna; the first is the one that is taken."""
STEPWISE = ("cmaes", "nsgaii")
"""Samplers that build on their own earlier proposals, generation by generation: these are made again in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A trial as a sampler sees it.

    Attributes:
        number: In the study.
        values: What was tried.
        scores: What each objective gave, larger is better; None while it runs.
        constraints: Each met where it is at most 0.
    """

    number: int
    values: Mapping[str, float]
    scores: tuple[float, ...] | None = None
    constraints: Mapping[str, float] | None = None


def check_sampler(name: str) -> None:
    """Do nothing where a sampler can be used.

    Raises:
        UnknownNameError: There is no such sampler.
        UsageError: A library that it needs is not installed.
    """
    if name not in SAMPLERS:
        raise UnknownNameError("sampler", name, SAMPLERS)
    require("optuna", extra="eval", purpose="tuning")
    missing = [library for library in SAMPLERS[name] if find_spec(library) is None]
    if missing:
        usable = [other for other, needs in SAMPLERS.items() if all(find_spec(library) for library in needs)]
        raise UsageError(
            f"sampler {name!r} needs {' and '.join(missing)}, which is not installed; install it, "
            f"or take one of {', '.join(usable)}."
        )


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """The space in Optuna's terms."""
    from optuna.distributions import FloatDistribution

    return {
        each.name: FloatDistribution(each.low, each.high, log=each.log, step=each.step) for each in space.parameters
    }


class Proposer:
    """What has been tried, as a sampler sees it; it lives in memory, beside wherever the study is kept."""

    def __init__(self, space: Space, sampler: str, *, seed: int, population: int, objectives: int = 1) -> None:
        """Nothing tried yet.

        Args:
            space: What moves.
            sampler: One of `SAMPLERS`.
            seed: Of the study.
            population: Trials of a generation, for samplers that have such.
            objectives: How many scores a trial has.
        """
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna = optuna
        self._space = space
        self._sampler = sampler
        self._seed = seed
        self._population = population
        self._ranges = distributions(space)
        self._study = optuna.create_study(directions=["maximize"] * objectives)
        self._asked: list[optuna.trial.Trial] = []

    def add(self, tried: Iterable[Tried]) -> None:
        """Take in trials that were made elsewhere or before, finished or running."""
        states = self._optuna.trial.TrialState
        self._study.add_trials(
            [
                self._optuna.trial.create_trial(
                    state=states.RUNNING if each.scores is None else states.COMPLETE,
                    values=None if each.scores is None else list(each.scores),
                    params=dict(each.values),
                    distributions=self._ranges,
                    constraints=dict(each.constraints) if each.constraints else None,
                )
                for each in tried
            ]
        )

    def ask(self, batch: int, count: int) -> list[dict[str, float]]:
        """The next values to try, in canonical form; the very first are the profile's as it ships.

        Args:
            batch: The number of the batch, which with the study's seed is all that is random.
            count: How many.
        """
        self._study.sampler = canonical_sampler(
            _sampler(self._sampler, _batch_seed(self._seed, batch), self._population), self._space
        )
        if not self._study.get_trials(deepcopy=False):
            self._study.enqueue_trial(self._space.shipped)
        self._asked = [self._study.ask(self._ranges) for _ in range(count)]
        return [{name: float(trial.params[name]) for name in self._ranges} for trial in self._asked]

    def tell(self, place: int, scores: Sequence[float], constraints: Mapping[str, float]) -> None:
        """Take in what one of the values asked for last gave.

        Args:
            place: Its place in what `ask` gave.
            scores: Larger is better.
            constraints: Each met where it is at most 0.
        """
        for name, value in constraints.items():
            self._asked[place].set_constraint(name, value)
        self._study.tell(self._asked[place], list(scores))


def canonical_sampler(inner: BaseSampler, space: Space) -> BaseSampler:
    """A sampler whose values are in canonical form already, so that what is asked for is what is tried."""
    from optuna.samplers import BaseSampler as Base

    ranges = {each.name: each for each in space.parameters}

    class Canonical(Base):
        """Rounds what another sampler gives."""

        def infer_relative_search_space(self, study: Any, trial: Any) -> Any:
            return inner.infer_relative_search_space(study, trial)

        def sample_relative(self, study: Any, trial: Any, search_space: Any) -> Any:
            found = inner.sample_relative(study, trial, search_space)
            return {name: ranges[name].canonical(value) for name, value in found.items()}

        def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
            return ranges[param_name].canonical(inner.sample_independent(study, trial, param_name, param_distribution))

        def before_trial(self, study: Any, trial: Any) -> None:
            inner.before_trial(study, trial)

        def after_trial(self, study: Any, trial: Any, state: Any, values: Any) -> None:
            inner.after_trial(study, trial, state, values)

    return Canonical()


def _batch_seed(seed: int, batch: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{batch}".encode()).digest()[:4], "big")


def _sampler(name: str, seed: int, population: int) -> BaseSampler:
    from optuna import samplers

    with warnings.catch_warnings():
        # What is still marked as experimental is tested here with the version that is pinned.
        warnings.simplefilter("ignore")
        match name:
            case "random":
                return samplers.RandomSampler(seed=seed)
            case "gp":
                return samplers.GPSampler(seed=seed)
            case "cmaes":
                return samplers.CmaEsSampler(seed=seed, popsize=population)
            case "nsgaii":
                return samplers.NSGAIISampler(seed=seed, population_size=population)
            case _:
                return samplers.TPESampler(seed=seed)
