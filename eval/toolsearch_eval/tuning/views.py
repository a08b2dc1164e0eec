"""What the pictures of a study show, as plain data: made here, drawn elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from toolsearch_eval.statistics import FEW_GROUPS, mean_interval, paired_difference
from toolsearch_eval.tuning.evaluator import Evaluator
from toolsearch_eval.tuning.macro import macro_difference
from toolsearch_eval.tuning.outcome import Tuned
from toolsearch_eval.tuning.propose import distributions

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

STEP = 0.1
"""How far a neighbour's one number lies from the chosen one's: a tenth of it, up and down."""
_FEWEST_TRIALS = 10
"""With fewer trials nothing can be said of importances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One trial in the history.

    Attributes:
        trial: Its number.
        score: Its mean on dev.
        best: The best mean up to it, of trials that meet the constraints; None before there is one.
        feasible: It meets every constraint.
    """

    trial: int
    score: float
    best: float | None
    feasible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """How much of the difference between good and other trials a parameter explains, 0..1; all add up to 1."""

    parameter: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One trial in parallel coordinates.

    Attributes:
        trial: Its number.
        score: Its mean on dev.
        positions: By parameter where its value lies between the bounds, 0..1, on the parameter's own scale.
        kind: `shipped`, `chosen`, `best` or "".
    """

    trial: int
    score: float
    positions: tuple[float, ...]
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """The chosen profile with one number a tenth lower or higher.

    Attributes:
        parameter: Which number.
        higher: It is higher than the chosen one's.
        value: What it is.
        difference: The neighbour's mean on dev less the chosen one's.
        low: The lower bound of its 95% interval; None with too few groups.
        high: The upper bound.
    """

    parameter: str
    higher: bool
    value: float
    difference: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One slice of one data set, on dev.

    Attributes:
        data: The data set.
        name: The slice; "" for the whole set.
        queries: How many.
        before: The shipped profile's mean.
        after: The chosen one's.
        low: The lower bound of the difference's 95% interval; None with fewer than two groups.
        high: The upper bound.
        few: Too few groups to tell anything.
    """

    data: str
    name: str
    queries: int
    before: float
    after: float
    low: float | None
    high: float | None
    few: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """All that a report or a dashboard shows of a study.

    Attributes:
        history: The trials by number.
        parameters: Their names, in the order of the positions in `lines`.
        bounds: By parameter the lowest and the highest value, and whether its scale is logarithmic.
        importances: Largest first; empty with too few trials to say anything.
        lines: The trials by score, the best last.
        neighbours: Two for each parameter, unless a bound leaves no room.
        slices: Each data set as a whole, then its slices by name.
        front: With two objectives both scores of each trial of the front.
    """

    history: tuple[Point, ...]
    parameters: tuple[str, ...]
    bounds: tuple[tuple[float, float, bool], ...]
    importances: tuple[Importance, ...]
    lines: tuple[Line, ...]
    neighbours: tuple[Neighbour, ...]
    slices: tuple[Slice, ...]
    front: tuple[tuple[int, float, float], ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def views_of(tuned: Tuned) -> Views:
    """The data of all pictures; ranks the dev queries under the neighbours of the chosen profile."""
    return Views(
        history=_history(tuned),
        parameters=tuple(each.name for each in tuned.space.parameters),
        bounds=tuple((each.low, each.high, each.log) for each in tuned.space.parameters),
        importances=importances(tuned),
        lines=_lines(tuned),
        neighbours=neighbours(tuned),
        slices=slices(tuned),
        front=tuple((number, *tuned.trial(number).scores) for number in tuned.front),  # type: ignore[misc]
    )


def _history(tuned: Tuned) -> tuple[Point, ...]:
    points = []
    best: float | None = None
    for trial in tuned.trials:
        if trial.feasible and (best is None or trial.scores[0] > best):
            best = trial.scores[0]
        points.append(Point(trial=trial.number, score=trial.scores[0], best=best, feasible=trial.feasible))
    return tuple(points)


def importances(tuned: Tuned) -> tuple[Importance, ...]:
    """By PED-ANOVA on the first objective; empty with fewer than ten trials, or where all scores are equal.

    Source: Watanabe, Bansal and Hutter, "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary
    Subspaces" (2023), as Optuna has it.
    """
    return shares(
        [trial.scores[0] for trial in tuned.trials],
        [trial.values for trial in tuned.trials],
        distributions(tuned.space),
    )


def shares(
    scores: Sequence[float], values: Sequence[Mapping[str, float]], ranges: Mapping[str, BaseDistribution]
) -> tuple[Importance, ...]:
    """The same for trials that are at hand in another form.

    Args:
        scores: The first objective of each trial.
        values: What was tried, in the same order.
        ranges: By parameter, where it moves in Optuna's terms.
    """
    import optuna

    if len(scores) < _FEWEST_TRIALS or max(scores) == min(scores):
        return ()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize")
    study.add_trials(
        [
            optuna.trial.create_trial(value=score, params=dict(tried), distributions=dict(ranges))
            for score, tried in zip(scores, values, strict=True)
        ]
    )
    found = optuna.importance.get_param_importances(study)
    return tuple(
        Importance(parameter=name, share=float(share))
        for name, share in sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    )


def _lines(tuned: Tuned) -> tuple[Line, ...]:
    kinds = {tuned.shipped.number: "shipped"}
    if tuned.choice is not None:
        kinds = {tuned.choice.best: "best", **kinds, tuned.choice.chosen: "chosen"}
    lines = [
        Line(
            trial=trial.number,
            score=trial.scores[0],
            positions=tuple(each.position(trial.values[each.name]) for each in tuned.space.parameters),
            kind=kinds.get(trial.number, ""),
        )
        for trial in tuned.trials
    ]
    return tuple(sorted(lines, key=lambda line: (line.score, -line.trial)))


def neighbours(tuned: Tuned) -> tuple[Neighbour, ...]:
    """How the mean on dev changes where one number of the chosen profile is a tenth lower or higher."""
    chosen = dict(tuned.chosen.values)
    moved: list[tuple[str, float]] = []
    for each in tuned.space.parameters:
        # A number of 0 has no tenth: a tenth of its range stands in.
        width = STEP * (chosen[each.name] or each.high - each.low)
        for value in (chosen[each.name] - width, chosen[each.name] + width):
            kept = min(max(value, each.low), each.high)
            if kept != chosen[each.name]:
                moved.append((each.name, kept))
    evaluator = Evaluator(tuned.sets, tuned.space)
    found = evaluator.many([{**chosen, name: value} for name, value in moved])
    result = []
    for (name, value), measured in zip(moved, found, strict=True):
        gain = macro_difference(tuned.chosen.groups, measured.groups).difference
        way = value > chosen[name]
        mean = gain.mean or 0.0
        result.append(Neighbour(parameter=name, higher=way, value=value, difference=mean, low=gain.low, high=gain.high))
    return tuple(result)


def slices(tuned: Tuned) -> tuple[Slice, ...]:
    """Each data set as a whole and slice by slice, under the shipped profile and the chosen one."""
    configs = (tuned.space.profile, tuned.space.config(tuned.chosen.values))
    found = []
    for each in tuned.sets:
        before, after = (each.values(config).tolist() for config in configs)
        names = sorted({query.slice for query in each.queries if query.slice})
        for name in ("", *names):
            places = [place for place, query in enumerate(each.queries) if not name or query.slice == name]
            found.append(
                _slice(
                    each.name,
                    name,
                    [before[place] for place in places],
                    [after[place] for place in places],
                    [each.queries[place].group for place in places],
                )
            )
    return tuple(found)


def _slice(data: str, name: str, before: Sequence[float], after: Sequence[float], groups: Sequence[str]) -> Slice:
    gain = paired_difference(before, after, groups, rounds=1).difference
    return Slice(
        data=data,
        name=name,
        queries=len(before),
        before=mean_interval(before, groups).mean or 0.0,
        after=mean_interval(after, groups).mean or 0.0,
        low=gain.low,
        high=gain.high,
        few=gain.n < FEW_GROUPS,
    )
