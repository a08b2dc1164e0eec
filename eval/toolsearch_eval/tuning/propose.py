"""Which values to try next, worked out anew for each batch from what is finished.

A proposal depends on the seed, the batch's number, and the trials that are finished or running, and on nothing else: no
state of a sampler is kept, so a study that was stopped goes on as if it had not been.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.extras import require
from toolsearch_eval.tuning.space import Space

if TYPE_CHECKING:
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


def propose(
    space: Space, sampler: str, tried: Sequence[Tried], *, seed: int, batch: int, count: int, objectives: int = 1
) -> list[dict[str, float]]:
    """The next values to try, in canonical form.

    Args:
        space: What moves.
        sampler: One of `SAMPLERS` that is none of `STEPWISE`.
        tried: What is finished or running, by number.
        seed: Of the study.
        batch: The number of the batch.
        count: How many values are wanted.
        objectives: How many scores a trial has.

    Returns:
        `count` proposals; the very first of a study is the profile as it ships.
    """
    import optuna

    study = _memory(optuna, _sampler(sampler, _seed(seed, batch), count), objectives)
    ranges = distributions(space)
    study.add_trials([_frozen(optuna, each, ranges) for each in sorted(tried, key=lambda each: each.number)])
    if not tried:
        study.enqueue_trial(space.shipped)
    return [space.canonical(study.ask(ranges).params) for _ in range(count)]


def _memory(optuna, sampler: BaseSampler, objectives: int):  # type: ignore[no-untyped-def]
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(directions=["maximize"] * objectives, sampler=sampler)


def _frozen(optuna, tried: Tried, ranges: Mapping[str, BaseDistribution]):  # type: ignore[no-untyped-def]
    states = optuna.trial.TrialState
    return optuna.trial.create_trial(
        state=states.RUNNING if tried.scores is None else states.COMPLETE,
        values=None if tried.scores is None else list(tried.scores),
        params=dict(tried.values),
        distributions=dict(ranges),
        constraints=dict(tried.constraints) if tried.constraints else None,
    )


def _seed(seed: int, batch: int) -> int:
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
