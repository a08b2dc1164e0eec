from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from toolsearch.errors import UsageError
from toolsearch_datasets import folder
from toolsearch_eval.data import load_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.figures.orders import COMPARED, measure_orders, spearman
from toolsearch_eval.figures.quality import PRIMARY
from toolsearch_eval.rankers import resolve_ranker

VALUES = st.lists(st.integers(0, 5).map(float), min_size=2, max_size=8)


@given(VALUES, st.randoms(use_true_random=False))
def test_the_rank_correlation_is_that_of_scipy(left: list[float], random: object) -> None:
    """Spearman's coefficient equals scipy's on random values with ties, and is None where one side does not vary."""
    right = list(left)
    random.shuffle(right)  # type: ignore[attr-defined]
    found = spearman(left, right)
    if len(set(left)) < 2:
        assert found is None
    else:
        assert found == pytest.approx(spearmanr(left, right).statistic)


def test_values_without_a_partner_are_refused() -> None:
    """Two lists of different lengths are no pairs."""
    with pytest.raises(ValueError, match="2 values on the left and 1"):
        spearman([1.0, 2.0], [1.0])


def test_rankers_stand_by_their_means_here_with_their_places_there(tmp_path: Path) -> None:
    """Lines fall by the mean on the test split; a place is one more than the number of better rankers, here and there."""
    shutil.copytree(folder("tiny"), tmp_path / "copy")
    block = measure_orders("tiny", tmp_path, "", today="2026-01-02", tell=lambda _: None)
    lines = block.tables[0].lines
    assert {line["ranker"] for line in lines} == set(COMPARED)
    for mean, place in (("tiny test", "place"), ("mean of 1 sets", "place there")):
        values = [line[mean] for line in lines]
        for line in lines:
            better = [value for value in values if value > line[mean]]  # type: ignore[operator]
            assert line[place] == 1 + len(better)
    result = evaluate(load_data("tiny"), [resolve_ranker("default")], measures=(PRIMARY,), split="test", progress=False)
    groups = [query.group for query in result.queries]
    by_group = {group: [] for group in groups}  # type: dict[str, list[float]]
    for group, value in zip(groups, result.values("default", PRIMARY), strict=True):
        by_group[group].append(value)
    expected = sum(sum(values) / len(values) for values in by_group.values()) / len(by_group)
    assert next(line["tiny test"] for line in lines if line["ranker"] == "default") == pytest.approx(
        expected, abs=0.0005
    )
    assert [line["place"] for line in lines] == sorted(line["place"] for line in lines)  # type: ignore[type-var]
    assert block.tables[1].lines[0]["rankers"] == len(COMPARED)


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    """Where no data set lies in the folder, nothing is measured and the folder is named."""
    with pytest.raises(UsageError, match=tmp_path.name):
        measure_orders("tiny", tmp_path, "", today="2026-01-02", tell=lambda _: None)
