"""A small labelled set with a dev and a test split, for the tests of tuning."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from toolsearch_eval.data import DataSet, Query, load_data
from toolsearch_eval.tuning.outcome import Settings, Tuned
from toolsearch_eval.tuning.panel import LabelledSet
from toolsearch_eval.tuning.space import Space, read_space
from toolsearch_eval.tuning.storage import Kept, journal
from toolsearch_eval.tuning.tune import label_all, tune

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(scope="session")
def small() -> DataSet:
    """A part of the shipped dev queries in 100 groups, of which every fourth group is called test here."""
    data = load_data("builtin")
    groups: dict[str, list[Query]] = {}
    for query in data.queries:
        if query.split == "dev" and query.expect != "none":
            groups.setdefault(query.group, []).append(query)
    chosen = list(groups.values())[:134]
    queries = [
        dataclasses.replace(query, split="test" if number % 4 == 3 else "dev")
        for number, group in enumerate(chosen)
        for query in group[:1]
    ]
    needed = {name for query in queries for name in data.judgements[query.query_id]}
    tools = tuple(tool for place, tool in enumerate(data.tools) if place % 5 == 0 or tool.name in needed)
    return dataclasses.replace(data, name="small", tools=tools, queries=tuple(queries), fingerprint="small")


@pytest.fixture(scope="session")
def space() -> Space:
    """Three parameters of the profile `reference`, which leave much to gain."""
    return read_space(
        'profile = "reference"\nnarrow = ["weight_keyword"]\n[parameters]\n'
        "weight_keyword = { low = 0.02, high = 3.0, log = true }\n"
        '"field_weights.name" = { low = 0.3, high = 20.0, log = true }\n'
        "confidence_bound = { low = 0.0, high = 0.3, step = 0.02 }\n"
    )


@pytest.fixture
def tune_small(small: DataSet, space: Space, tmp_path: Path) -> Callable[..., Tuned]:
    """Tunes on the small set, with its journal and its log of openings in the test's folder."""
    moved = space

    def run(
        settings: Settings,
        *,
        journal_name: str = "study",
        space: Space | None = None,
        sets: Sequence[LabelledSet] | None = None,
    ) -> Tuned:
        return tune(
            sets or label_all([small], [], settings),
            space or moved,
            settings,
            kept=Kept(storage=journal(str(tmp_path / f"{journal_name}.journal"))),
            openings=tmp_path / "openings.jsonl",
            now=lambda: NOW,
        )

    return run


@pytest.fixture
def stop_after() -> Callable[[int], Callable[[int, float], None]]:
    """A progress function that interrupts as Ctrl-C does, after that many trials."""

    def make(trials: int) -> Callable[[int, float], None]:
        def progress(done: int, best: float) -> None:
            if done >= trials:
                raise KeyboardInterrupt

        return progress

    return make
