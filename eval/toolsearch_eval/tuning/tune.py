"""Tuning from end to end: search on dev, choose, estimate by folds, look at the test split once for what is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from toolsearch.config import SearchConfig
from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet
from toolsearch_eval.measures import DEFAULT_MEASURES, Measure
from toolsearch_eval.statistics import Difference
from toolsearch_eval.tuning.choose import Choice, Scored, choose
from toolsearch_eval.tuning.evaluator import Evaluator
from toolsearch_eval.tuning.gauges import Demands, gauges
from toolsearch_eval.tuning.loop import Done, Plan, search
from toolsearch_eval.tuning.macro import macro_difference, macro_mean
from toolsearch_eval.tuning.naming import study_name
from toolsearch_eval.tuning.nested import Nested, nested
from toolsearch_eval.tuning.objective import objective_of, pareto
from toolsearch_eval.tuning.openings import log_openings, opened_before, opening, read_openings
from toolsearch_eval.tuning.panel import LabelledSet, label
from toolsearch_eval.tuning.propose import check_sampler
from toolsearch_eval.tuning.space import Space
from toolsearch_eval.tuning.storage import StoredStudy

if TYPE_CHECKING:
    import optuna

FEW_GROUPS = 80
"""Below so many groups only the narrow space is searched: a small set is learned by heart."""
TOO_FEW_GROUPS = 20
"""Below so many groups tuning makes things worse on average, and is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a user decides.

    Attributes:
        trials: Of the study, those made earlier counted.
        seed: The same seed gives the same study.
        sampler: One of `propose.SAMPLERS`.
        batch: Trials that are proposed at once.
        jobs: Processes; changes no result.
        measure: What is made as large as can be.
        depth: Where rankings are cut.
        folds: Of nested cross-validation; 0 leaves it out.
        fold_trials: The most trials of each fold's study.
        force: Tune also where there are too few groups.
        open_test: Look at the test split for what was chosen.
        demands: What is asked for beside quality.
    """

    trials: int = 200
    seed: int = 0
    sampler: str = "tpe"
    batch: int = 16
    jobs: int = 1
    measure: Measure = DEFAULT_MEASURES[0]
    depth: int = 10
    folds: int = 5
    fold_trials: int = 200
    force: bool = False
    open_test: bool = True
    demands: Demands = field(default_factory=Demands)

    def __post_init__(self) -> None:
        """Check every number; all problems at once.

        Raises:
            UsageError: A setting is not valid.
        """
        problems = [
            f"{name} is {value}; it must be a whole number of at least {least}"
            for name, value, least in (
                ("trials", self.trials, 1),
                ("seed", self.seed, 0),
                ("batch", self.batch, 1),
                ("jobs", self.jobs, 1),
                ("depth", self.depth, 1),
                ("folds", self.folds, 0),
                ("fold trials", self.fold_trials, 1),
            )
            if value < least
        ]
        if self.folds == 1:
            problems.append("folds is 1; it must be 0 (none) or at least 2")
        if problems:
            raise UsageError("\n".join(problems))


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """What the test split says of the chosen profile.

    Attributes:
        before: The shipped profile's mean.
        after: The chosen one's.
        gain: The paired difference.
        openings: How many configurations have seen these queries, this one too.
    """

    __test__ = False  # no test of pytest's

    before: float
    after: float
    gain: Difference
    openings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What came out.

    Attributes:
        study: The study's name.
        space: What moved.
        sets: The dev queries.
        settings: What was asked for.
        trials: All trials, by number; the first is the shipped profile.
        choice: What was chosen among them; None where no trial meets the constraints.
        dev: The chosen profile less the shipped one on dev, where it was chosen: too good to be true.
        nested: What tuning is worth on unseen queries; None where it was not asked for.
        front: With two objectives the trials that no other one beats in both, best in the first one first.
        test: What the test split says; None where it stayed closed.
        accepted: The chosen profile is better than the shipped one as far as can be told.
        verdict: Why, in a sentence.
        made: How many trials were made now.
        evaluated: How many different profiles were ranked for that.
        seconds: How long those took, sampler and storage included.
        warnings: What to know beside the numbers.
    """

    study: str
    space: Space
    sets: tuple[LabelledSet, ...]
    settings: Settings
    trials: tuple[Done, ...]
    choice: Choice | None
    dev: Difference | None
    nested: Nested | None
    front: tuple[int, ...]
    test: TestResult | None
    accepted: bool
    verdict: str
    made: int
    evaluated: int
    seconds: float
    warnings: tuple[str, ...]

    @property
    def chosen(self) -> Done:
        """The trial that was chosen; the shipped profile's where none was."""
        return self.trials[self.choice.chosen if self.choice else 0]

    @property
    def config(self) -> SearchConfig:
        """The profile to use: the chosen one where it is accepted, else the shipped one."""
        if not self.accepted:
            return self.space.profile
        return self.space.config(self.chosen.values, name=f"{self.space.profile.name}-tuned")


def label_all(data: Sequence[DataSet], whole: Sequence[DataSet], settings: Settings) -> tuple[LabelledSet, ...]:
    """The queries that may be seen: the dev split of the first sets, and all of the others.

    Raises:
        UsageError: A set has no dev split, or nothing to measure.
        DataError: Two tools of a set have one name.
    """
    for each in data:
        if all(query.split != "dev" for query in each.queries):
            raise UsageError(
                f"{each.name} has no dev split, and tuning sees nothing else. Split it with `toolsearch dataset "
                "split`, or give it with --whole: then all of it is for development and no test is left."
            )
    found = [
        *(label(each, "dev", settings.measure, depth=settings.depth) for each in data),
        *(label(each, "all", settings.measure, depth=settings.depth) for each in whole),
    ]
    names = [each.name for each in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"a data set may be given once; given several times: {', '.join(twice)}.")
    return tuple(found)


def tune(
    sets: Sequence[LabelledSet],
    space: Space,
    settings: Settings,
    *,
    storage: optuna.storages.BaseStorage,
    openings: str | Path,
    now: Callable[[], datetime],
    progress: Callable[[int, float], object] = lambda done, best: None,
) -> Tuned:
    """Look for better weights.

    Args:
        sets: The dev queries, as `label_all` gives them.
        space: What moves.
        settings: How.
        storage: Where the study is kept; one that was stopped goes on.
        openings: The log of looks at test splits.
        now: The clock of that log.
        progress: Is told after each trial how many are done and the best mean so far.

    Raises:
        UsageError: Too few groups, or a sampler that is not there.
    """
    check_sampler(settings.sampler)
    space, warnings = enough_groups(sets, space, force=settings.force)
    objective = objective_of(settings.demands, settings.sampler)
    beside = gauges(settings.demands, sets, space.profile)
    plan = Plan(sampler=settings.sampler, seed=settings.seed, batch=settings.batch, trials=settings.trials)
    with Evaluator(sets, space, jobs=settings.jobs, gauges=beside) as evaluator:
        shipped = evaluator.many([space.shipped])[0].groups
        name = study_name(
            space,
            sets,
            {
                "sampler": settings.sampler,
                "seed": settings.seed,
                "batch": settings.batch,
                "bounds": dict(objective.bounds),
                "must_pass": sorted(settings.demands.must_pass),
                "second": objective.second,
            },
            shipped,
        )
        study = StoredStudy(storage, name, space, objectives=objective.count)
        before = sum(each.scores is not None for each in study.tried())
        start = time.perf_counter()
        trials: list[Done] = []
        best = -1.0
        with closing(search(plan, evaluator, objective, study)) as running:
            for done in running:
                trials.append(done)
                best = max(best, done.scores[0]) if done.feasible else best
                progress(len(trials), best)
        seconds = time.perf_counter() - start
        evaluated = evaluator.evaluated
        choice = choose(
            [
                Scored(
                    number=each.number,
                    values=each.groups,
                    distance=space.distance(each.values),
                    feasible=each.feasible,
                )
                for each in trials
            ]
        )
        chosen = trials[choice.chosen if choice else 0]
        estimate = None
        if settings.folds:
            fold_plan = Plan(
                sampler=settings.sampler,
                seed=settings.seed,
                batch=settings.batch,
                trials=min(settings.trials, settings.fold_trials),
            )
            estimate = nested(evaluator, fold_plan, objective, folds=settings.folds, jobs=settings.jobs)
    dev = macro_difference(shipped, chosen.groups, seed=settings.seed)
    test = None
    moved = chosen.values != space.shipped
    hopeful = estimate is None or float(estimate.gain.difference.mean or 0.0) > 0
    if moved and hopeful and settings.open_test:
        test = open_test(sets, space, chosen, settings, study=name, openings=openings, now=now)
    accepted, verdict = judge(moved, estimate, test)
    if choice is None:
        verdict = "No trial meets the constraints, so the shipped profile stays."
    return Tuned(
        study=name,
        space=space,
        sets=tuple(sets),
        settings=settings,
        trials=tuple(trials),
        choice=choice,
        dev=dev,
        nested=estimate,
        front=pareto(trials) if objective.count == 2 else (),
        test=test,
        accepted=accepted,
        verdict=verdict,
        made=len(trials) - before,
        evaluated=evaluated,
        seconds=seconds,
        warnings=warnings,
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


def open_test(
    sets: Sequence[LabelledSet],
    space: Space,
    chosen: Done,
    settings: Settings,
    *,
    study: str,
    openings: str | Path,
    now: Callable[[], datetime],
) -> TestResult | None:
    """Judge the chosen profile on the test splits, each opening written down before; None where there is none."""
    closed = [
        label(each.data, "test", settings.measure, depth=settings.depth)
        for each in sets
        if each.split == "dev" and any(query.split == "test" for query in each.data.queries)
    ]
    if not closed:
        return None
    read_openings(openings)  # a log that can't be read is said before anything is opened
    log_openings(
        openings,
        [
            opening(now(), data=each.name, fingerprint=each.fingerprint, study=study, config=chosen.values)
            for each in closed
        ],
    )
    configs = (space.profile, space.config(chosen.values))
    before, after = (tuple(each.group_values(each.values(config)) for each in closed) for config in configs)
    known = read_openings(openings)
    return TestResult(
        before=macro_mean(before),
        after=macro_mean(after),
        gain=macro_difference(before, after, seed=settings.seed),
        openings=max(opened_before(known, each.fingerprint) for each in closed),
    )


def judge(moved: bool, estimate: Nested | None, test: TestResult | None) -> tuple[bool, str]:
    """Whether the chosen profile is kept, and why.

    Args:
        moved: It differs from the shipped profile.
        estimate: Nested cross-validation.
        test: What the test split says.
    """
    if not moved:
        return False, "No significant gain: of all trials as good as the best, the shipped profile is the nearest."
    if test is not None:
        low = test.gain.difference.low
        if low is not None and low > 0:
            return True, "The gain holds on the test split, which the search had not seen."
        return False, "No significant gain: the test split does not confirm what was found on dev."
    if estimate is None:
        return False, "No significant gain is shown: neither folds nor a test split were looked at."
    low = estimate.gain.difference.low
    if low is not None and low > 0:
        return True, "Nested cross-validation shows a gain on unseen queries; no test split was opened."
    return False, "No significant gain: nested cross-validation shows none on unseen queries."
