"""Rank labelled queries with and without each part, and compare.

Every profile is ranked by the tuner's evaluator, which is the product's own scoring path; every comparison is that of
`toolsearch compare`, and over several sets that of the tuner, which counts each set alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolsearch.catalog.names import shown
from toolsearch.config import SearchConfig
from toolsearch.errors import UsageError
from toolsearch.search.lexicon.relations import active
from toolsearch_eval.ablation.parts import Variant, added, bare, left_out
from toolsearch_eval.compare import holm
from toolsearch_eval.data import DataSet
from toolsearch_eval.measures import Measure
from toolsearch_eval.statistics import FEW_GROUPS, Difference, Interval, mean_interval, paired_difference
from toolsearch_eval.tuning.evaluator import Evaluator
from toolsearch_eval.tuning.macro import macro_difference, macro_interval
from toolsearch_eval.tuning.panel import LabelledSet, label
from toolsearch_eval.tuning.parameters import parameter_names, parameter_value
from toolsearch_eval.tuning.space import Parameter, Space

Floats = NDArray[np.float64]

SURE = 0.05
"""A difference with a smaller p, adjusted for all parts of its table, is counted as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A variant beside the profile that it differs from in one part.

    Attributes:
        mean: The variant's own mean over groups, with its interval.
        difference: The variant less that profile, group by group, with p as it is for this comparison alone.
        adjusted: p by Holm's procedure over all parts of the table.
    """

    mean: Interval
    difference: Difference
    adjusted: float

    @property
    def verdict(self) -> str:
        """`better` or `worse` where the adjusted p is below `SURE`, `same` where no group differs, else `unsure`."""
        found = self.difference
        if not found.wins and not found.losses:
            return "same"
        if self.adjusted >= SURE:
            return "unsure"
        return "better" if (found.difference.mean or 0.0) > 0 else "worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One part.

    Attributes:
        variant: The profile without it, or the bare one with it.
        sets: By data set, in their order.
        overall: Over all sets, each counting alike; with one set that one's.
    """

    variant: Variant
    sets: Mapping[str, Beside]
    overall: Beside


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A profile by itself.

    Attributes:
        config: The profile.
        sets: Its mean by data set.
        overall: Over all sets, each counting alike.
    """

    config: SearchConfig
    sets: Mapping[str, Interval]
    overall: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMeasured:
    """What was measured on.

    Attributes:
        name: The data set's name.
        fingerprint: Of its files.
        split: `dev`, `test` or `all`.
        tools: How many tools it has.
        queries: How many were measured.
        groups: In how many groups.
    """

    name: str
    fingerprint: str
    split: str
    tools: int
    queries: int
    groups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """What came out.

    Attributes:
        measure: What was measured.
        depth: Results asked for.
        seed: Of the sign flips.
        sets: The data sets, in the order given.
        whole: The profile as it is.
        left_out: A row for each part: the profile without it, less the whole one.
        bare: The profile without all that it can be without.
        added: A row for each part: the bare profile with it, less the bare one.
    """

    measure: Measure
    depth: int
    seed: int
    sets: tuple[SetMeasured, ...]
    whole: Measured
    left_out: tuple[Row, ...]
    bare: Measured
    added: tuple[Row, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know beside the figures."""
        found = [
            f"{shown(each.name)} has {each.groups} groups: too few to tell"
            for each in self.sets
            if each.groups < FEW_GROUPS
        ]
        if any(each.split == "test" for each in self.sets):
            found.append("this is the test split: parts that are chosen by it can't be tested by it any more")
        return tuple(found)

    @property
    def not_worse(self) -> tuple[Row, ...]:
        """The parts without which the mean over all sets is as high or higher, best first: what has to show its use."""
        free = [row for row in self.left_out if (row.overall.difference.difference.mean or 0.0) >= 0]
        return tuple(sorted(free, key=lambda row: -(row.overall.difference.difference.mean or 0.0)))


def choose_split(data: DataSet, split: str | None) -> str:
    """The split that was asked for; without one, dev, and all of a set that has no dev."""
    if split is not None:
        return split
    return "dev" if any(query.split == "dev" for query in data.queries) else "all"


def ablate(
    config: SearchConfig,
    data: Sequence[DataSet],
    measure: Measure,
    *,
    split: str | None = None,
    depth: int = 10,
    jobs: int = 1,
    seed: int = 0,
    advance: Callable[[int], object] = lambda _: None,
) -> Ablation:
    """Measure a profile whole, without each part, bare, and bare with each part.

    Args:
        config: The profile.
        data: The data sets, each once.
        measure: What decides.
        split: `dev`, `test` or `all`; None takes dev, and all of a set without dev.
        depth: Where rankings are cut, at least the measure's cutoff.
        jobs: How many processes rank, at least 1; changes no result.
        seed: Of the sign flips.
        advance: Is told of queries that were ranked.

    Raises:
        UsageError: A set is given twice or has nothing to measure, the profile can't be stripped bare, or a number is
            out of range.
        DataError: Two tools of a set have one name.
    """
    if jobs < 1:
        raise UsageError(f"--jobs is {jobs}; it must be a whole number of at least 1.")
    names = [each.name for each in data]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"a data set may be given once; given several times: {', '.join(twice)}.")
    stripped = bare(config)
    without, alone = left_out(config), added(config)
    sets = [label(each, choose_split(each, split), measure, depth=depth) for each in data]
    configs = [config, *(each.config for each in without), stripped, *(each.config for each in alone)]
    # By profile, the values of each set's groups.
    values: list[list[Floats]] = [[] for _ in configs]
    for each in sets:
        for place, found in enumerate(_group_values(each, configs, jobs)):
            values[place].append(found)
        advance(len(each.queries))
    end = len(without) + 1
    return Ablation(
        measure=measure,
        depth=depth,
        seed=seed,
        sets=tuple(_described(each) for each in sets),
        whole=_measured(config, sets, values[0]),
        left_out=_rows(without, sets, values[0], values[1:end], seed),
        bare=_measured(stripped, sets, values[end]),
        added=_rows(alone, sets, values[end], values[end + 1 :], seed),
    )


def _group_values(labelled: LabelledSet, configs: Sequence[SearchConfig], jobs: int) -> list[Floats]:
    """Values of a set's groups under each profile, in their order."""
    # Profiles that look up the same kinds of expansion share what their queries meet, so they follow each other.
    order = sorted(range(len(configs)), key=lambda place: sorted(active(configs[place])))
    moved = [
        name for name in parameter_names(configs[0]) if len({parameter_value(config, name) for config in configs}) > 1
    ]
    numbers = {name: [parameter_value(config, name) for config in configs] for name in moved}
    parameters = tuple(Parameter(name=name, low=min(tried), high=max(tried)) for name, tried in numbers.items())
    proposals = [{name: numbers[name][place] for name in moved} for place in order]
    with Evaluator([labelled], Space(profile=configs[0], parameters=parameters), jobs=jobs) as evaluator:
        found = evaluator.many(proposals)
    values = {place: measured.groups[0] for place, measured in zip(order, found, strict=True)}
    return [values[place] for place in range(len(configs))]


def _described(labelled: LabelledSet) -> SetMeasured:
    return SetMeasured(
        name=labelled.name,
        fingerprint=labelled.data.fingerprint,
        split=labelled.split,
        tools=len(labelled.data.tools),
        queries=len(labelled.queries),
        groups=len(labelled.groups),
    )


def _measured(config: SearchConfig, sets: Sequence[LabelledSet], values: Sequence[Floats]) -> Measured:
    means = {each.name: mean_interval(found.tolist(), each.groups) for each, found in zip(sets, values, strict=True)}
    return Measured(config=config, sets=means, overall=_overall(means, values))


def _overall(means: Mapping[str, Interval], values: Sequence[Floats]) -> Interval:
    return macro_interval(values) if len(values) > 1 else next(iter(means.values()))


def _rows(
    variants: Sequence[Variant],
    sets: Sequence[LabelledSet],
    base: Sequence[Floats],
    values: Sequence[Sequence[Floats]],
    seed: int,
) -> tuple[Row, ...]:
    """A row for each variant; p values are adjusted over all of them, set by set and over all sets."""
    keys = [variant.part.key for variant in variants]
    columns: list[list[Difference]] = []
    for number, each in enumerate(sets):
        columns.append(
            [
                paired_difference(base[number].tolist(), found[number].tolist(), each.groups, seed=seed)
                for found in values
            ]
        )
    if len(sets) > 1:
        columns.append([macro_difference(base, found, seed=seed) for found in values])
    adjusted = [holm({key: each.p for key, each in zip(keys, column, strict=True)}) for column in columns]
    rows = []
    for place, variant in enumerate(variants):
        own = _measured(variant.config, sets, values[place])
        means = [own.sets[each.name] for each in sets] + [own.overall] * (len(sets) > 1)
        cells = [
            Beside(mean=mean, difference=column[place], adjusted=by_key[keys[place]])
            for mean, column, by_key in zip(means, columns, adjusted, strict=True)
        ]
        by_set = {each.name: cell for each, cell in zip(sets, cells, strict=False)}
        rows.append(Row(variant=variant, sets=by_set, overall=cells[-1]))
    return tuple(rows)
