"""How much a ranking hangs on what should not matter: the catalog's order, its names, and how much else is in it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.tool import Tool, tool_id
from toolsearch_eval.evaluate import Evaluation
from toolsearch_eval.measures import Measure
from toolsearch_eval.rankers import Ranker
from toolsearch_eval.rankers.run import run_ranker
from toolsearch_eval.statistics import mean_interval

CHANGES: Final = ("shuffled", "renamed", "distractors")
"""The catalog in another order; every name with an ending that means nothing; ten times as many tools, of which nine in
ten are made of the catalog's own words and do nothing."""

_TIMES = 10
_WORD = re.compile(r"\w+")
# Letters that make no word of any language, so that an ending matches no query.
_LETTERS = "qxzvkj"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """What one change of the catalog did to one ranker.

    Attributes:
        difference: Mean of the measure after less before; below 0 where it fell. None without a query.
        low: Lower bound of its 95% interval; None with fewer than two groups.
        high: Upper bound.
        same: Share of queries whose ranking is the same, names and order. None without a query.
        overlap: Mean share of the results before that are still there; queries without results before don't count.
            None without such a query.
    """

    difference: float | None
    low: float | None
    high: float | None
    same: float | None
    overlap: float | None


def measure_stability(
    evaluation: Evaluation,
    name: str,
    make: Callable[[], Ranker],
    *,
    seed: int = 0,
    advance: Callable[[int], object] = lambda _: None,
) -> dict[str, Stability]:
    """Judge a ranker of an evaluation again on each changed catalog.

    Args:
        evaluation: What was measured on the catalog as it is; its first measure is compared.
        name: The ranker's name there.
        make: Gives it afresh, as one takes in a catalog only once.
        seed: Of order, endings and distractors; the same seed gives the same numbers.
        advance: Called after each batch with its size; `len(CHANGES)` times all queries.

    Returns:
        By change.

    Raises:
        UsageError: The ranker fails on a changed catalog.
    """
    tools = [tool for tool in evaluation.data.tools if is_deferred(tool)]
    before = evaluation.rankings[name]
    found: dict[str, Stability] = {}
    for change in CHANGES:
        changed, old_names = changed_catalog(tools, change, seed=seed)
        ran = run_ranker(make(), changed, evaluation.queries, evaluation.depth, advance=advance)
        after = [[old_names.get(each, each) for each in ranking] for ranking in ran.rankings]
        found[change] = _compared(evaluation, evaluation.measures[0], before, after)
    return found


def changed_catalog(tools: Sequence[Tool], change: str, *, seed: int = 0) -> tuple[list[Tool], Mapping[str, str]]:
    """A catalog after one of `CHANGES`, and the old name of each tool that has a new one.

    Args:
        tools: The catalog; not changed.
        change: One of `CHANGES`.
        seed: Of the generator.
    """
    source = random.Random(f"{seed} {change}")
    if change == "shuffled":
        return source.sample(tools, len(tools)), {}
    if change == "renamed":
        renamed = [_renamed(tool, source) for tool in tools]
        return renamed, {new.name: old.name for new, old in zip(renamed, tools, strict=True)}
    return [*tools, *_distractors(tools, source)], {}


def _renamed(tool: Tool, source: random.Random) -> Tool:
    leaf = f"{tool.leaf}_{''.join(source.choices(_LETTERS, k=6))}"
    whole = tool.server is not None and tool.name == tool_id(tool.server, tool.leaf)
    name = tool_id(tool.server or "", leaf) if whole else f"{tool.name}{leaf[len(tool.leaf) :]}"
    return replace(tool, name=name, leaf=leaf)


def _distractors(tools: Sequence[Tool], source: random.Random) -> list[Tool]:
    """Tools of the same lengths whose words are drawn from all names and all descriptions."""
    taken = {tool.name for tool in tools}
    name_words = sorted(word for tool in tools for word in _WORD.findall(tool.leaf.replace("_", " ")))
    words = sorted(word for tool in tools for word in _WORD.findall(tool.description or ""))
    made: list[Tool] = []
    for tool in (tool for tool in tools for _ in range(_TIMES - 1)):
        stem = "_".join(source.choices(name_words, k=2)) if name_words else "tool"
        number = len(made)
        while f"{stem}_{number}" in taken:
            number += 1
        taken.add(f"{stem}_{number}")
        length = len(_WORD.findall(tool.description or ""))
        text = " ".join(source.choices(words, k=length)) if words else ""
        made.append(Tool(name=f"{stem}_{number}", description=text))
    return made


def _compared(
    evaluation: Evaluation, measure: Measure, before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]
) -> Stability:
    judged = evaluation.data.judgements
    differences = [
        measure.value(new, judged[query.query_id], need=query.need)
        - measure.value(old, judged[query.query_id], need=query.need)
        for query, old, new in zip(evaluation.queries, before, after, strict=True)
    ]
    interval = mean_interval(differences, [query.group for query in evaluation.queries])
    pairs = list(zip(before, after, strict=True))
    shares = [len(set(old) & set(new)) / len(old) for old, new in pairs if old]
    return Stability(
        difference=interval.mean,
        low=interval.low,
        high=interval.high,
        same=sum(list(old) == list(new) for old, new in pairs) / len(pairs) if pairs else None,
        overlap=sum(shares) / len(shares) if shares else None,
    )
