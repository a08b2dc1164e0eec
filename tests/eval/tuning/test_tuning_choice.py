"""Choosing, macro-averages, nested folds, openings of the test split, and the verdict."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from toolsearch.config import REFERENCE, load_profile
from toolsearch.errors import DataError, UnknownNameError, UsageError
from toolsearch_eval.data import DataSet
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.statistics import paired_difference
from toolsearch_eval.tuning.choose import Scored, choose
from toolsearch_eval.tuning.evaluator import Evaluator, Measured
from toolsearch_eval.tuning.gauges import Demands, Tokens, gauges
from toolsearch_eval.tuning.loop import Done, Plan
from toolsearch_eval.tuning.macro import macro_difference, macro_interval, macro_mean, standard_error
from toolsearch_eval.tuning.nested import nested
from toolsearch_eval.tuning.objective import Objective, objective_of, pareto
from toolsearch_eval.tuning.openings import log_openings, opened_before, opening, read_openings
from toolsearch_eval.tuning.outcome import Settings, Tuned
from toolsearch_eval.tuning.profile_file import tuned_toml
from toolsearch_eval.tuning.space import Space
from toolsearch_eval.tuning.tune import judge, label_all

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
BASE = Settings(trials=40, batch=8, folds=0, open_test=False)


def _scored(number: int, values: list[float], distance: float, *, feasible: bool = True) -> Scored:
    return Scored(number=number, values=(np.array(values),), distance=distance, feasible=feasible)


def test_the_nearest_within_one_standard_error_is_taken() -> None:
    """Differences to the best of 1, 0, 0, 0 have mean and error .25, so that trial is as good; it is nearer, so taken."""
    best = _scored(2, [1.0, 1.0, 1.0, 1.0], 0.9)
    near = _scored(1, [0.0, 1.0, 1.0, 1.0], 0.3)
    shipped = _scored(0, [0.0, 0.0, 1.0, 1.0], 0.0)  # mean .5, error .289: not as good
    choice = choose([shipped, near, best])
    assert choice is not None
    assert (choice.best, choice.chosen, choice.as_good) == (2, 1, 2)
    assert (choice.loss, choice.error) == (0.25, 0.25)


def test_of_equal_trials_the_first_is_the_best() -> None:
    """Equal means and distances leave the lower number."""
    choice = choose([_scored(3, [0.5, 0.5], 0.2), _scored(1, [0.5, 0.5], 0.2)])
    assert choice is not None
    assert (choice.best, choice.chosen) == (1, 1)


def test_only_trials_that_meet_the_constraints_are_chosen_from() -> None:
    """The best of all is passed over where it breaks a constraint; where all do, nothing is chosen."""
    trials = [_scored(0, [0.2, 0.3], 0.0), _scored(1, [0.9, 0.8], 0.4, feasible=False)]
    choice = choose(trials)
    assert choice is not None
    assert (choice.best, choice.chosen) == (0, 0)
    assert choose(trials[1:]) is None


def test_one_set_is_what_the_statistics_say() -> None:
    """With a single data set mean, interval and p are those of the paired comparison."""
    source = np.random.default_rng(1)
    a, b = source.random(30), source.random(30)
    ours = macro_difference([a], [b], seed=3)
    assert ours == paired_difference(a.tolist(), b.tolist(), [str(place) for place in range(30)], seed=3)


def test_two_sets_count_alike_with_welchs_interval() -> None:
    """The interval of two sets' mean is that of Welch's comparison of one with the negative of the other, halved."""
    first, second = np.array([0.3, 0.5, 0.1, 0.4]), np.array([0.2, -0.1, 0.0, 0.3, 0.4, 0.1])
    found = macro_interval([first, second])
    assert found.mean == pytest.approx((first.mean() + second.mean()) / 2)
    welch = scipy.stats.ttest_ind(first, -second, equal_var=False)
    assert standard_error([first, second]) == pytest.approx((first.mean() + second.mean()) / 2 / welch.statistic)
    half = scipy.stats.t.ppf(0.975, math.floor(welch.df)) * standard_error([first, second])
    assert [found.low, found.high] == pytest.approx([found.mean - half, found.mean + half])


def test_a_large_set_does_not_drown_a_small_one() -> None:
    """A hundred groups that gain nothing and four that gain .4 are a gain of .2, with the signs' chance 2 in 2^4."""
    many, few = np.zeros(100), np.zeros(4)
    found = macro_difference([many, few], [many, few + 0.4])
    assert found.difference.mean == pytest.approx(0.2)
    assert (found.wins, found.ties, found.losses) == (4, 100, 0)
    assert found.p == pytest.approx(2 / 2**4, abs=0.01)


def test_a_set_of_one_group_gives_no_interval() -> None:
    """One group has no spread, so the mean of several sets with it has no interval and no effect size."""
    found = macro_difference([np.array([0.0]), np.zeros(3)], [np.array([1.0]), np.ones(3)])
    assert found.difference.mean == 1.0
    assert (found.difference.low, found.detectable, found.effect_size) == (None, None, None)


def test_nested_folds_judge_each_group_by_what_had_not_seen_it(small: DataSet, space: Space) -> None:
    """Every group's gain is that of the fold that left it out, and the folds' choices are found on the others."""
    settings = Settings(trials=24, batch=8)
    sets = label_all([small], [], settings)
    plan = Plan(sampler="tpe", seed=3, batch=8, trials=24)
    with Evaluator(sets, space) as evaluator:
        found = nested(evaluator, plan, Objective(), folds=4)
        again = nested(evaluator, plan, Objective(), folds=4, jobs=3)
        shipped = evaluator.many([space.shipped])[0].groups[0]
        chosen = [evaluator.many([fold.chosen])[0].groups[0] for fold in found.folds]
    assert found == again
    order = np.random.default_rng([3, len(shipped)]).permutation(len(shipped))
    gains = np.empty(len(shipped))
    for place, group in enumerate(order):
        gains[group] = (chosen[place % 4] - shipped)[group]
    assert found.gain.difference.mean == pytest.approx(gains.mean())
    assert found.gain.difference.n == len(shipped)
    assert found.seen > 0
    assert found.optimism == pytest.approx(found.seen - gains.mean())


def test_the_test_split_is_opened_once_for_what_was_chosen_and_logged(
    tune_small: Callable[..., Tuned], tmp_path: Path
) -> None:
    """Dev decides; then the test queries are judged for the chosen profile alone, and date and values are written."""
    tuned = tune_small(dataclasses.replace(BASE, open_test=True))
    log = read_openings(tmp_path / "openings.jsonl")
    assert tuned.chosen.number != 0
    assert tuned.test is not None
    [only] = log
    assert (only.date, only.data, only.study) == ("2026-01-02T03:04:05+00:00", "small", tuned.study)
    assert dict(only.config) == dict(tuned.chosen.values)
    assert tuned.test.openings == 1
    assert tuned.test.gain.difference.n == 33  # every fourth of 134 groups
    again = tune_small(dataclasses.replace(BASE, open_test=True, trials=41, seed=9))
    assert again.test is not None
    assert again.test.openings == (2 if dict(again.chosen.values) != dict(tuned.chosen.values) else 1)


def test_the_test_split_stays_closed_where_nothing_was_chosen(tune_small: Callable[..., Tuned], tmp_path: Path) -> None:
    """With the shipped profile as the only trial there is nothing to look at, and the honest verdict is no gain."""
    tuned = tune_small(dataclasses.replace(BASE, trials=1, open_test=True))
    assert not (tmp_path / "openings.jsonl").exists()
    assert (tuned.test, tuned.accepted) == (None, False)
    assert tuned.verdict.startswith("No significant gain")
    assert tuned.config == REFERENCE


def test_openings_are_counted_by_configuration_and_data(tmp_path: Path) -> None:
    """The same profile twice is one look; other data do not count; a broken log is told line by line."""
    path = tmp_path / "deep" / "openings.jsonl"
    rows = [
        opening(NOW, data="d", fingerprint="f", study="s", config={"a": 1.0}),
        opening(NOW, data="d", fingerprint="f", study="t", config={"a": 1.0}),
        opening(NOW, data="d", fingerprint="f", study="s", config={"a": 2.0}),
        opening(NOW, data="e", fingerprint="g", study="s", config={"a": 3.0}),
    ]
    assert read_openings(path) == ()
    log_openings(path, rows[:3])
    log_openings(path, rows[3:])
    assert list(read_openings(path)) == rows
    assert opened_before(read_openings(path), "f") == 2
    path.write_text('{"date": 1}\nnothing\n', "utf-8")
    with pytest.raises(DataError) as caught:
        read_openings(path)
    assert [problem.line for problem in caught.value.problems] == [1, 2]


def test_a_log_that_cannot_be_written_keeps_the_split_closed(tmp_path: Path) -> None:
    """Where the opening can't be written down nothing is opened."""
    with pytest.raises(UsageError, match="can't be written down"):
        log_openings(tmp_path, [opening(NOW, data="d", fingerprint="f", study="s", config={})])


def test_the_verdict_follows_the_evidence(tune_small: Callable[..., Tuned]) -> None:
    """A gain counts where its interval lies above 0 on test, or on unseen folds where no test was looked at."""
    tuned = tune_small(dataclasses.replace(BASE, folds=2, open_test=True))
    assert tuned.nested is not None
    gain = tuned.nested.gain
    sure = dataclasses.replace(gain, difference=dataclasses.replace(gain.difference, low=0.01))
    unsure = dataclasses.replace(gain, difference=dataclasses.replace(gain.difference, low=-0.01))
    folds = {low: dataclasses.replace(tuned.nested, gain=each) for low, each in ((True, sure), (False, unsure))}
    assert tuned.test is not None
    tests = {low: dataclasses.replace(tuned.test, gain=each) for low, each in ((True, sure), (False, unsure))}
    assert judge(False, folds[True], None)[0] is False
    assert judge(True, folds[True], None)[0] is True
    assert judge(True, folds[False], None)[0] is False
    assert judge(True, None, None)[0] is False
    assert judge(True, folds[False], tests[True])[0] is True
    assert judge(True, folds[True], tests[False])[0] is False


@pytest.mark.parametrize(("groups", "narrow"), [(79, True), (80, False)])
def test_few_groups_narrow_the_space_with_a_warning(
    tune_small: Callable[..., Tuned], small: DataSet, groups: int, narrow: bool
) -> None:
    """Below 80 groups only the narrow space is searched and this is said."""
    dev = [query for query in small.queries if query.split == "dev"][:groups]
    sets = label_all([dataclasses.replace(small, queries=tuple(dev))], [], BASE)
    tuned = tune_small(dataclasses.replace(BASE, trials=2), sets=sets)
    assert [each.name for each in tuned.space.parameters] == (
        ["weight_keyword"] if narrow else ["weight_keyword", "field_weights.name", "confidence_bound"]
    )
    assert bool(tuned.warnings) is narrow


def test_too_few_groups_are_refused_unless_forced(tune_small: Callable[..., Tuned], small: DataSet) -> None:
    """Below 20 groups tuning is refused; forced, it runs."""
    dev = [query for query in small.queries if query.split == "dev"][:19]
    sets = label_all([dataclasses.replace(small, queries=tuple(dev))], [], BASE)
    with pytest.raises(UsageError, match="19 groups of queries are too few"):
        tune_small(BASE, sets=sets)
    assert len(tune_small(dataclasses.replace(BASE, trials=2, force=True), sets=sets).trials) == 2


def test_a_set_without_a_dev_split_needs_to_be_given_as_a_whole(small: DataSet) -> None:
    """What has no dev split is refused as such, and used in full where it is named for development."""
    tests = tuple(dataclasses.replace(query, split="test") for query in small.queries)
    without = dataclasses.replace(small, queries=tests)
    with pytest.raises(UsageError, match="has no dev split"):
        label_all([without], [], BASE)
    [whole] = label_all([], [without], BASE)
    assert len(whole.queries) == len(small.queries)
    with pytest.raises(UsageError, match="given several times: small"):
        label_all([small], [without], BASE)


def test_several_sets_are_averaged_set_by_set(tune_small: Callable[..., Tuned], small: DataSet, space: Space) -> None:
    """The score of a trial is the mean of the sets' means, and each set keeps its own values."""
    half = tuple(query for query in small.queries if query.split == "dev")[:30]
    other = dataclasses.replace(small, name="other", queries=half, fingerprint="other")
    tuned = tune_small(dataclasses.replace(BASE, trials=3), sets=label_all([small], [other], BASE))
    for trial in tuned.trials:
        assert trial.scores[0] == pytest.approx((trial.groups[0].mean() + trial.groups[1].mean()) / 2)
    assert [len(each) for each in tuned.shipped.groups] == [101, 30]


def test_must_pass_queries_never_become_worse(tune_small: Callable[..., Tuned], small: DataSet) -> None:
    """With every query that the shipped profile answers named, nothing is chosen under which one of them falls."""
    [labelled] = label_all([small], [], BASE)
    values = labelled.values(REFERENCE)
    good = tuple(query.query_id for query, value in zip(labelled.queries, values, strict=True) if value == 1.0)
    assert len(good) > 10
    tuned = tune_small(dataclasses.replace(BASE, demands=Demands(must_pass=good)))
    assert tuned.shipped.constraints == {"must_pass": 0.0}
    broken = [trial for trial in tuned.trials if not trial.feasible]
    assert broken
    assert tuned.chosen.feasible
    held = labelled.values(tuned.space.config(tuned.chosen.values))
    assert all(held[place] == 1.0 for place, query in enumerate(labelled.queries) if query.query_id in good)


def test_a_token_budget_that_nothing_meets_leaves_the_shipped_profile(tune_small: Callable[..., Tuned]) -> None:
    """Where every trial costs more than is allowed, none is chosen and this is said."""
    tuned = tune_small(dataclasses.replace(BASE, trials=8, demands=Demands(max_tokens=1.0)))
    assert tuned.choice is None
    assert tuned.chosen is tuned.shipped
    assert tuned.verdict == "No trial meets the constraints, so the shipped profile stays."
    assert tuned.shipped.gauges["tokens"] == tuned.shipped.constraints["tokens"] + 1.0


def test_tokens_are_those_of_the_evaluation(small: DataSet) -> None:
    """The mean tokens of the first results' definitions are what `evaluate` reports for the same ranker."""
    from toolsearch_eval.evaluate import evaluate

    judged = evaluate(small, [resolve_ranker("reference")], split="dev", progress=False).token_costs("reference")
    assert judged is not None
    sets = label_all([small], [], BASE)
    assert Tokens().read(sets, REFERENCE) == pytest.approx(judged.per_query)


def test_a_latency_bound_is_a_constraint_in_milliseconds(tune_small: Callable[..., Tuned]) -> None:
    """Every search takes less than an hour and more than a nanosecond."""
    settings = dataclasses.replace(BASE, trials=2)
    assert tune_small(dataclasses.replace(settings, demands=Demands(max_p95_ms=3.6e6))).choice is not None
    assert tune_small(dataclasses.replace(settings, demands=Demands(max_p95_ms=1e-6))).choice is None


def test_two_objectives_give_a_front_that_nothing_beats(tune_small: Callable[..., Tuned]) -> None:
    """No feasible trial is at least as good in both and better in one than a trial of the front."""
    tuned = tune_small(dataclasses.replace(BASE, demands=Demands(second="tokens")))
    assert len(tuned.front) > 1
    for number in tuned.front:
        quality, tokens = tuned.trial(number).scores
        assert not any(
            other.scores[0] >= quality and other.scores[1] >= tokens and other.scores != (quality, tokens)
            for other in tuned.trials
        )
    assert [-tuned.trial(number).scores[1] for number in tuned.front] == sorted(
        (-tuned.trial(number).scores[1] for number in tuned.front), reverse=True
    )


def test_the_front_of_equal_and_beaten_trials() -> None:
    """Of equal trials the first stands; what is beaten in both, or breaks a constraint, does not."""

    def done(number: int, *scores: float, constraint: float = 0.0) -> Done:
        return Done(number=number, values={}, scores=scores, constraints={"c": constraint}, groups=(), gauges={})

    trials = [
        done(0, 0.5, 0.5),
        done(1, 0.5, 0.5),
        done(2, 0.4, 0.4),
        done(3, 0.9, 0.1),
        done(4, 0.1, 0.9),
        done(5, 1.0, 1.0, constraint=0.1),
    ]
    assert pareto(trials) == (3, 0, 4)


@pytest.mark.parametrize(
    ("demands", "error", "message"),
    [
        (Demands(max_tokens=0.0), UsageError, "the bound of tokens is 0"),
        (Demands(max_tokens=math.nan), UsageError, "the bound of tokens is nan"),
        (Demands(max_p95_ms=-1.0), UsageError, "the bound of p95 is -1"),
        (Demands(must_pass=("nowhere",)), UnknownNameError, "unknown must-pass query 'nowhere'"),
        (Demands(second="nDGC@10"), UnknownNameError, "Did you mean 'nDCG'"),
        (Demands(second="nDCG@10"), UsageError, "is the first objective already"),
        (Demands(second="Recall@50"), UsageError, "looks deeper than the depth 10"),
    ],
)
def test_demands_that_make_no_sense_are_refused(
    small: DataSet, demands: Demands, error: type[Exception], message: str
) -> None:
    """Bounds, names and measures are checked before the first trial."""
    with pytest.raises(error, match=message):
        gauges(demands, label_all([small], [], BASE), REFERENCE)


def test_a_sampler_of_one_objective_refuses_two() -> None:
    """CMA-ES follows one objective, so two are refused up front; the sign of tokens makes fewer better."""
    with pytest.raises(UsageError, match="'cmaes' follows one objective"):
        objective_of(Demands(second="tokens"), "cmaes")
    measured = Measured((np.array([0.5]),), {"tokens": 70.0})
    assert objective_of(Demands(second="tokens"), "tpe").judge(measured) == ((0.5, -70.0), {})
    assert objective_of(Demands(max_tokens=50.0), "cmaes").judge(measured) == ((0.5,), {"tokens": 20.0})
    assert macro_mean(measured.groups) == 0.5


def test_the_tuned_profile_is_one_that_everything_reads(
    tune_small: Callable[..., Tuned], small: DataSet, tmp_path: Path
) -> None:
    """The file loads as a profile and as a ranker, ranks as the trial did, and says where it comes from."""
    import tomllib

    tuned = dataclasses.replace(tune_small(dataclasses.replace(BASE, folds=2)), accepted=True)
    path = tmp_path / "tuned.toml"
    path.write_text(tuned_toml(tuned, NOW), "utf-8")
    profile = load_profile(str(path))
    assert profile == tuned.space.config(tuned.chosen.values, name="reference-tuned")
    ranker = resolve_ranker(str(path))
    ranker.index(small.tools)
    text = small.queries[0].text
    [labelled] = label_all([small], [], BASE)
    expected = [labelled.names(profile)[tool] for tool in labelled.rankings(profile)[0].tolist() if tool >= 0]
    assert [name for name, _ in ranker.rank([text], 10)[0]] == expected
    provenance = tomllib.loads(path.read_text("utf-8"))["provenance"]
    assert (provenance["study"], provenance["trial"]) == (tuned.study, tuned.chosen.number)
    assert (provenance["seed"], provenance["space"]) == (0, tuned.space.fingerprint)
    assert provenance["data"][0].startswith("small (dev): ")
    assert len(provenance["dev_gain"]) == len(provenance["nested_gain"]) == 3
    json.dumps(provenance)
