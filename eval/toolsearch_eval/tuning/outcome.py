"""What a user decides before tuning, and what comes out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolsearch.config import SearchConfig
from toolsearch.errors import UsageError
from toolsearch_eval.measures import DEFAULT_MEASURES, Measure
from toolsearch_eval.statistics import Difference
from toolsearch_eval.tuning.choose import Choice
from toolsearch_eval.tuning.gauges import Demands
from toolsearch_eval.tuning.loop import Done
from toolsearch_eval.tuning.nested import Nested
from toolsearch_eval.tuning.panel import LabelledSet
from toolsearch_eval.tuning.space import Space


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
        trials: All finished trials, by number; the first is the shipped profile's.
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

    def trial(self, number: int) -> Done:
        """A trial by its number; with several workers some numbers are missing."""
        return next(each for each in self.trials if each.number == number)

    @property
    def shipped(self) -> Done:
        """The trial of the profile as it ships."""
        return shipped_trial(self.trials, self.space)

    @property
    def chosen(self) -> Done:
        """The trial that was chosen; the shipped profile's where none was."""
        return self.shipped if self.choice is None else self.trial(self.choice.chosen)

    @property
    def config(self) -> SearchConfig:
        """The profile to use: the chosen one where it is accepted, else the shipped one."""
        if not self.accepted:
            return self.space.profile
        return self.space.config(self.chosen.values, name=f"{self.space.profile.name}-tuned")


def shipped_trial(trials: Sequence[Done], space: Space) -> Done:
    """The first trial of the profile as it ships; every study has one."""
    return next(each for each in trials if dict(each.values) == space.shipped)
