"""What a trial of the tuner costs, beside building the index and asking every query for each trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.config import SearchConfig
from toolsearch.search.index import IndexStore
from toolsearch.search.searcher import Searcher
from toolsearch_eval.bench.timing import Case, interleaved
from toolsearch_eval.data import load_data
from toolsearch_eval.measures import DEFAULT_MEASURES
from toolsearch_eval.tuning.panel import LabelledSet, label
from toolsearch_eval.tuning.space import Space, load_space

_DATA = "builtin"
_TRIALS = 20
"""Trials of ours in a round: one alone takes too short a time to be measured."""
_WEIGHTS = ("weight_", "field_weights.", "keyword_points.", "keyword_substring_points")
_OTHER = "build, then query by query"
CASES = (
    ("trial, weights move", "default", True, 50.0),
    ("trial, saturation and length too", "default", False, 20.0),
    ("trial of the reference", "reference", False, 20.0),
)
"""Each case: its name, its profile, whether only weights move, and the factor that we aim at."""


def tuner_cases(rounds: int, *, seed: int = 0, progress: Callable[[str], None] = lambda _: None) -> list[Case]:
    """The time of one trial over all dev queries of the shipped data, scoring and measure, without sampler and storage.

    Args:
        rounds: How often each side runs; the median is reported.
        seed: Of the profiles that are tried.
        progress: Is told what begins.
    """
    data = load_data(_DATA)
    progress(f"trials of the tuner on {_DATA}")
    cases = []
    for name, profile, weights, target in CASES:
        space = load_space(None, profile)
        moves = [each.name for each in space.parameters if not weights or each.name.startswith(_WEIGHTS)]
        configs = _configs(space, moves, _TRIALS * (rounds + 1), seed)
        labelled = label(data, "dev", DEFAULT_MEASURES[0])
        ours, other = _times(labelled, configs, rounds)
        cases.append(
            Case(
                case=name,
                tools=len(labelled.tools(configs[0])),
                ours_ms=ours,
                other=_OTHER,
                other_ms=other,
                target=target,
                at_least=True,
            )
        )
    return cases


def _times(labelled: LabelledSet, configs: Sequence[SearchConfig], rounds: int) -> tuple[float, float]:
    """Milliseconds of a trial, ours and the plain way."""
    tools = [tool for tool in labelled.data.tools if is_deferred(tool)]
    left = iter(configs)

    def ours() -> None:
        for _ in range(_TRIALS):
            labelled.values(next(left))

    def plain() -> None:
        searcher = Searcher(ToolRegistry(tools), configs[0], store=IndexStore())
        judged = labelled.data.judgements
        for query in labelled.queries:
            names = [result.name for result in searcher.search(query.text, max_results=labelled.depth).results]
            labelled.measure.value(names, judged[query.query_id], need=query.need)

    ours()  # prepares the queries: done once for a study, however many trials it has
    together, alone = interleaved(rounds, ours, plain)
    return together / _TRIALS, alone


def _configs(space: Space, moves: Sequence[str], count: int, seed: int) -> list[SearchConfig]:
    """That many profiles, drawn evenly on the scales of what moves."""
    source = np.random.default_rng([seed, count])
    found = []
    for _ in range(count):
        values = dict(space.shipped)
        for each in space.parameters:
            if each.name in moves:
                share = float(source.random())
                ratio = each.high / each.low if each.log else 0.0
                values[each.name] = each.low * ratio**share if each.log else each.low + (each.high - each.low) * share
        found.append(space.config(space.canonical(values)))
    return found
