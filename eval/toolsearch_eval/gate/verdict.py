"""Whether a ranker still reaches what was blessed: the data first, then the two guards and the budgets."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolsearch.errors import DataError, UsageError
from toolsearch_eval.compare import difference_json
from toolsearch_eval.data import DataSet
from toolsearch_eval.gate.baseline import Baseline, judge, spent_by
from toolsearch_eval.gate.budgets import BudgetResult, held_against
from toolsearch_eval.gate.differences import data_differences, listed
from toolsearch_eval.gate.tools_array import MakeSession, plain_session
from toolsearch_eval.measures import relevant
from toolsearch_eval.rankers import Ranker
from toolsearch_eval.statistics import FEW_GROUPS, Difference, mean_interval, paired_difference

MARGIN = 0.01
"""How far a mean may fall before it counts as a regression."""
Outcome = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallen:
    """A query that does worse than it was blessed with.

    Attributes:
        query_id: The query.
        text: What it asks.
        slice: Its slice.
        before: Its blessed value.
        now: Its value now.
        must_pass: It may not fall.
        why: What happened to the tools that it needs.
        ranking_before: The blessed names.
        ranking_now: The names now.
    """

    query_id: str
    text: str
    slice: str
    before: float
    now: float
    must_pass: bool
    why: str
    ranking_before: tuple[str, ...]
    ranking_now: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the gate says.

    Attributes:
        outcome: `fail` when a guard fires or a budget is broken. `inconclusive`: none does, but the overall interval
            reaches below the margin, so that a regression can't be ruled out.
        reasons: Which guards fired and which budgets are broken, a line each; empty unless it fails.
        baseline: What it was held against.
        ranker: The ranker that was judged.
        mean_before: The blessed mean over groups; None where only must-pass queries are measured.
        mean_now: The mean now.
        overall: Now less before, over the queries of the split.
        slices: The same by slice, in the order of their names.
        fallen: Queries that do worse, must-pass ones first, then by how far they fell.
        budgets: What it costs beside being right, held against what was blessed.
        margin: How far a mean may fall.
        warnings: What to know beside the numbers.
    """

    outcome: Outcome
    reasons: tuple[str, ...]
    baseline: Baseline
    ranker: str
    mean_before: float | None
    mean_now: float | None
    overall: Difference
    slices: tuple[tuple[str, Difference], ...]
    fallen: tuple[Fallen, ...]
    budgets: tuple[BudgetResult, ...]
    margin: float
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The machine-readable form."""
        return {
            "schema_version": 1,
            "verdict": self.outcome,
            "reasons": list(self.reasons),
            "data": self.baseline.data,
            "ranker": self.ranker,
            "blessed": {"ranker": self.baseline.ranker, "date": self.baseline.date, "reason": self.baseline.reason},
            "margin": self.margin,
            "measures": {
                str(self.baseline.measure): {
                    "before": self.mean_before,
                    "now": self.mean_now,
                    **difference_json(self.overall),
                    "slices": {name: difference_json(found) for name, found in self.slices},
                }
            },
            "budgets": [
                {
                    "name": each.name,
                    "unit": each.unit,
                    "blessed": each.blessed,
                    "now": each.now,
                    "limit": each.limit,
                    "kept": each.kept,
                    "detail": each.detail,
                }
                for each in self.budgets
            ],
            "fallen": [
                {
                    "query_id": each.query_id,
                    "text": each.text,
                    "slice": each.slice,
                    "before": each.before,
                    "now": each.now,
                    "must_pass": each.must_pass,
                    "why": each.why,
                    "ranking_before": list(each.ranking_before),
                    "ranking_now": list(each.ranking_now),
                }
                for each in self.fallen
            ],
            "warnings": list(self.warnings),
        }


def gate(
    baseline: Baseline,
    data: DataSet,
    ranker: Ranker,
    *,
    margin: float = MARGIN,
    seed: int = 0,
    path: str = "",
    make_session: MakeSession = plain_session,
    clock: Callable[[], float] = time.perf_counter,
    progress: bool | None = None,
) -> Verdict:
    """Judge a ranker as the baseline says and hold it against what was blessed.

    Two guards: the 95% interval of the paired difference lies wholly below −margin (overall, or in a slice with enough
    groups to tell), or a must-pass query does worse. Budgets: an answer has more tokens than the baseline allows, the
    tools array of a scripted conversation changes, or the ranker is slower than allowed.

    Args:
        baseline: What was blessed.
        data: The same data set.
        ranker: Any ranker; it may have another name than the one that was blessed.
        margin: 0..1.
        seed: Of the sign flips.
        path: The baseline's file, for messages.
        make_session: The session whose tools array is watched.
        clock: For the times, where the baseline asks for them.
        progress: As for `evaluate`.

    Raises:
        DataError: The data is not what was blessed; lists queries that are missing, new, doubled or relabelled, and
            tools that are gone, new or changed.
        UsageError: The margin is none, the ranker fails, or the baseline's token counter or yardstick can't be had.
    """
    if not 0 <= margin <= 1:
        raise UsageError(f"the margin is {margin}; it must lie in 0..1.")
    problems = data_differences(baseline, data, path=path or "<baseline>")
    if problems:
        raise DataError(problems)
    must_pass = frozenset(baseline.must_pass)
    evaluation = judge(
        data,
        ranker,
        split=baseline.split,
        depth=baseline.depth,
        measure=baseline.measure,
        must_pass=must_pass,
        progress=progress,
    )
    values = evaluation.values(ranker.name, baseline.measure)
    places = [place for place, query in enumerate(evaluation.queries) if baseline.split in ("all", query.split)]
    groups = [evaluation.queries[place].group for place in places]
    blessed = [baseline.queries[query.query_id] for query in evaluation.queries]

    def difference(chosen: Sequence[int]) -> Difference:
        return paired_difference(
            [blessed[place].value for place in chosen],
            [values[place] for place in chosen],
            [evaluation.queries[place].group for place in chosen],
            seed=seed,
        )

    overall = difference(places)
    slices = tuple(
        (name, difference([place for place in places if evaluation.queries[place].slice == name]))
        for name in sorted({evaluation.queries[place].slice for place in places} - {""})
    )
    fallen = []
    for place, query in enumerate(evaluation.queries):
        if values[place] < blessed[place].value - 1e-9:
            now = tuple(evaluation.rankings[ranker.name][place])
            fallen.append(
                Fallen(
                    query_id=query.query_id,
                    text=query.text,
                    slice=query.slice,
                    before=blessed[place].value,
                    now=values[place],
                    must_pass=query.query_id in must_pass,
                    why=_why(data.judgements[query.query_id], blessed[place].ranking, now),
                    ranking_before=blessed[place].ranking,
                    ranking_now=now,
                )
            )
    fallen.sort(key=lambda each: (not each.must_pass, each.now - each.before, each.query_id))
    limits = baseline.limits
    spent = spent_by(
        data, ranker, evaluation, split=baseline.split, limits=limits, make_session=make_session, clock=clock
    )
    budgets = held_against(limits, baseline.spent, spent)
    reasons = _reasons(overall, slices, fallen, margin)
    reasons += [f"budget {each.name}: {each.sentence}" for each in budgets if not each.kept]
    low = overall.difference.low
    unsure = low is None or low < -margin
    return Verdict(
        outcome="fail" if reasons else "inconclusive" if unsure else "pass",
        reasons=tuple(reasons),
        baseline=baseline,
        ranker=ranker.name,
        mean_before=mean_interval([blessed[place].value for place in places], groups).mean,
        mean_now=mean_interval([values[place] for place in places], groups).mean,
        overall=overall,
        slices=slices,
        fallen=tuple(fallen),
        budgets=budgets,
        margin=margin,
        warnings=(*evaluation.warnings, *spent.warnings),
    )


def _reasons(
    overall: Difference, slices: Sequence[tuple[str, Difference]], fallen: Sequence[Fallen], margin: float
) -> list[str]:
    reasons = []
    if _below(overall, margin):
        reasons.append(f"overall: {_sentence(overall)}, wholly below -{margin:g}")
    reasons += [
        f"slice {name}: {_sentence(found)}, wholly below -{margin:g}"
        for name, found in slices
        if found.difference.n >= FEW_GROUPS and _below(found, margin)
    ]
    lost = [each.query_id for each in fallen if each.must_pass]
    if lost:
        reasons.append(f"must-pass queries that fell: {listed(lost)}")
    return reasons


def _below(found: Difference, margin: float) -> bool:
    high = found.difference.high
    return high is not None and high < -margin


def _sentence(found: Difference) -> str:
    interval = found.difference
    return (
        f"{interval.mean:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}] over {interval.n} groups "
        f"({found.losses} worse, {found.wins} better)"
    )


def _why(grades: Mapping[str, int], before: Sequence[str], now: Sequence[str]) -> str:
    """What happened to the right tools that stood higher before."""
    parts = []
    for name in sorted(
        relevant(grades), key=lambda each: (before.index(each) if each in before else len(before), each)
    ):
        old = before.index(name) + 1 if name in before else None
        new = now.index(name) + 1 if name in now else None
        if old is None or (new is not None and new <= old):
            continue
        if new is None:
            parts.append(f"{name} was rank {old} and is not found now")
            continue
        passed = [other for other in now[: new - 1] if other not in before[: old - 1]]
        parts.append(f"{name} was rank {old} and is rank {new} now, behind {listed(passed)}")
    return "; ".join(parts) or "a tool of a lower grade stands lower"
