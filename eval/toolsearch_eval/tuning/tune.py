"""Tuning from end to end: search on dev, choose, estimate by folds, look at the test split once for what is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet
from toolsearch_eval.tuning.choose import Scored, choose
from toolsearch_eval.tuning.evaluator import Evaluator
from toolsearch_eval.tuning.gauges import gauges
from toolsearch_eval.tuning.loop import Done, Plan
from toolsearch_eval.tuning.macro import macro_difference, macro_mean
from toolsearch_eval.tuning.nested import Nested, nested
from toolsearch_eval.tuning.objective import objective_of, pareto
from toolsearch_eval.tuning.openings import log_openings, opened_before, opening, read_openings
from toolsearch_eval.tuning.outcome import Settings, TestResult, Tuned, shipped_trial
from toolsearch_eval.tuning.panel import LabelledSet, label
from toolsearch_eval.tuning.propose import check_sampler
from toolsearch_eval.tuning.run import enough_groups, run_study
from toolsearch_eval.tuning.space import Space
from toolsearch_eval.tuning.storage import Kept


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
    kept: Kept,
    openings: str | Path,
    now: Callable[[], datetime],
    worker: str = "",
    name: str | None = None,
    progress: Callable[[int, float], object] = lambda done, best: None,
) -> Tuned:
    """Look for better weights.

    Args:
        sets: The dev queries, as `label_all` gives them.
        space: What moves.
        settings: How.
        kept: Where the study is kept; one that was stopped goes on.
        openings: The log of looks at test splits.
        now: The clock of that log.
        worker: Of a shared storage: a name that no other worker has.
        name: The study to go on with; refused where these data, space and settings make another one.
        progress: Is told after each trial how many are done and the best mean so far.

    Raises:
        UsageError: Too few groups, a sampler that is not there, or another study than the one named.
    """
    check_sampler(settings.sampler)
    space, warnings = enough_groups(sets, space, force=settings.force)
    objective = objective_of(settings.demands, settings.sampler)
    beside = gauges(settings.demands, sets, space.profile)
    with Evaluator(sets, space, jobs=settings.jobs, gauges=beside) as evaluator:
        searched = run_study(evaluator, objective, settings, kept=kept, worker=worker, name=name, progress=progress)
        trials = searched.trials
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
        shipped = shipped_trial(trials, space)
        chosen = shipped if choice is None else next(each for each in trials if each.number == choice.chosen)
        estimate = None
        if settings.folds:
            fold_plan = Plan(
                sampler=settings.sampler,
                seed=settings.seed,
                batch=settings.batch,
                trials=min(settings.trials, settings.fold_trials),
            )
            estimate = nested(evaluator, fold_plan, objective, folds=settings.folds, jobs=settings.jobs)
    test = None
    moved = dict(chosen.values) != space.shipped
    hopeful = estimate is None or float(estimate.gain.difference.mean or 0.0) > 0
    if moved and hopeful and settings.open_test:
        test = open_test(sets, space, chosen, settings, study=searched.name, openings=openings, now=now)
    accepted, verdict = judge(moved, estimate, test)
    if choice is None:
        verdict = "No trial meets the constraints, so the shipped profile stays."
    return Tuned(
        study=searched.name,
        space=space,
        sets=tuple(sets),
        settings=settings,
        trials=trials,
        choice=choice,
        dev=macro_difference(shipped.groups, chosen.groups, seed=settings.seed),
        nested=estimate,
        front=pareto(trials) if objective.count == 2 else (),
        test=test,
        accepted=accepted,
        verdict=verdict,
        made=searched.made,
        evaluated=searched.evaluated,
        seconds=searched.seconds,
        warnings=warnings,
    )


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
