"""Making the trials of a study that are not there yet, alone or beside other workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from toolsearch.errors import UsageError
from toolsearch_eval.tuning.evaluator import Evaluator
from toolsearch_eval.tuning.gauges import gauges
from toolsearch_eval.tuning.loop import Done, Plan, search
from toolsearch_eval.tuning.naming import study_name
from toolsearch_eval.tuning.objective import Objective, objective_of
from toolsearch_eval.tuning.outcome import Settings
from toolsearch_eval.tuning.panel import LabelledSet
from toolsearch_eval.tuning.propose import check_sampler
from toolsearch_eval.tuning.shared import SharedStudy, collected, share
from toolsearch_eval.tuning.space import Space
from toolsearch_eval.tuning.storage import Kept, StoredStudy

FEW_GROUPS = 80
"""Below so many groups only the narrow space is searched: a small set is learned by heart."""
TOO_FEW_GROUPS = 20
"""Below so many groups tuning makes things worse on average, and is refused."""


def work(
    sets: Sequence[LabelledSet],
    space: Space,
    settings: Settings,
    *,
    kept: Kept,
    worker: str,
    name: str | None = None,
    progress: Callable[[int, float], object] = lambda done, best: None,
) -> Searched:
    """Make trials of a shared study until it has them, and nothing else; the arguments are those of `tune`."""
    check_sampler(settings.sampler)
    space, _ = enough_groups(sets, space, force=settings.force)
    objective = objective_of(settings.demands, settings.sampler)
    beside = gauges(settings.demands, sets, space.profile)
    with Evaluator(sets, space, jobs=settings.jobs, gauges=beside) as evaluator:
        return run_study(evaluator, objective, settings, kept=kept, worker=worker, name=name, progress=progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """A study that has its trials.

    Attributes:
        name: The study's.
        trials: All that are finished, by number.
        made: How many of them were made while this ran.
        evaluated: How many different profiles were ranked here.
        seconds: How long it took, sampler and storage included.
    """

    name: str
    trials: tuple[Done, ...]
    made: int
    evaluated: int
    seconds: float


def run_study(
    evaluator: Evaluator,
    objective: Objective,
    settings: Settings,
    *,
    kept: Kept,
    worker: str = "",
    name: str | None = None,
    progress: Callable[[int, float], object] = lambda done, best: None,
) -> Searched:
    """Make the trials of a study that are not there yet; the arguments are those of `tune`."""
    space = evaluator.space
    plan = Plan(sampler=settings.sampler, seed=settings.seed, batch=settings.batch, trials=settings.trials)
    decides = {
        "sampler": settings.sampler,
        "seed": settings.seed,
        "batch": settings.batch,
        "bounds": dict(objective.bounds),
        "must_pass": sorted(settings.demands.must_pass),
        "second": objective.second,
    }
    own = study_name(space, evaluator.sets, decides, evaluator.many([space.shipped])[0].groups)
    if name is not None and name != own:
        raise UsageError(
            f"study {name!r} is another one: this space, these data and these settings make {own!r}. Give those with "
            "which it was begun, or leave --study out."
        )
    start = time.perf_counter()
    best = float("-inf")
    if kept.shared:
        shared = SharedStudy(kept, own, space, objectives=objective.count, worker=worker)
        before, _, _ = shared.counts()
        with closing(share(plan, evaluator, objective, shared, worker=worker)) as working:
            for finished in working:
                best = shared.best()
                progress(finished, best)
        seconds = time.perf_counter() - start
        trials = collected(shared, evaluator, objective)
    else:
        study = StoredStudy(kept.storage, own, space, objectives=objective.count)
        before = sum(each.scores is not None for each in study.tried())
        trials = []
        with closing(search(plan, evaluator, objective, study)) as running:
            for done in running:
                trials.append(done)
                best = max(best, done.scores[0]) if done.feasible else best
                progress(len(trials), best)
        seconds = time.perf_counter() - start
    return Searched(
        name=own, trials=tuple(trials), made=len(trials) - before, evaluated=evaluator.evaluated, seconds=seconds
    )


def enough_groups(sets: Sequence[LabelledSet], space: Space, *, force: bool) -> tuple[Space, tuple[str, ...]]:
    """The space to search with so many groups, and what to warn of.

    Raises:
        UsageError: There are too few groups and nothing is forced.
    """
    groups = sum(len(each.groups) for each in sets)
    if groups < TOO_FEW_GROUPS and not force:
        raise UsageError(
            f"{groups} groups of queries are too few to tune on: below {TOO_FEW_GROUPS} what is found is worse on "
            "average. Label more queries, or force it."
        )
    if groups >= FEW_GROUPS:
        return space, ()
    narrow = space.narrowed()
    kept = ", ".join(each.name for each in narrow.parameters)
    return narrow, (f"{groups} groups of queries are few (below {FEW_GROUPS}); only {kept} are moved",)
