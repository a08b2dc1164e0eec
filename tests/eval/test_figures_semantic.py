from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_datasets import folder
from toolsearch_eval.cli.figures_entry import main
from toolsearch_eval.data import load_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.figures.block import Cell
from toolsearch_eval.figures.quality import PRIMARY
from toolsearch_eval.figures.semantic import RankFusion, measure_semantic, profile_cost
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.runs.folder import compared_with

RANKERS = ("default", "bm25f", "reference")


class Fixed:
    """Ranks the same names whatever is asked."""

    def __init__(self, name: str, *names: str) -> None:
        self.name = name
        self.indexed: list[str] = []
        self._names = names

    def index(self, tools: Sequence[Tool]) -> None:
        """Note the catalog."""
        self.indexed = [tool.name for tool in tools]

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """The same names for each query, as deep as asked."""
        return [[(name, 1.0) for name in self._names[:depth]] for _ in queries]


def test_ranks_are_fused_by_their_reciprocals() -> None:
    """A tool that both rank gets 1/61 + 1/62 and so on; ties stand by name, and the depth cuts what was fused."""
    fusion = RankFusion(Fixed("words", "a", "b", "c"), Fixed("model", "c", "a", "d"))
    (ranking,) = fusion.rank(["anything"], 10)
    assert [name for name, _ in ranking] == ["a", "c", "b", "d"]
    assert dict(ranking) == pytest.approx({"a": 1 / 61 + 1 / 62, "c": 1 / 63 + 1 / 61, "b": 1 / 62, "d": 1 / 63})
    assert fusion.rank(["anything"], 2) == [ranking[:2]]
    (even,) = RankFusion(Fixed("words", "b"), Fixed("model", "a")).rank(["anything"], 10)
    assert [name for name, _ in even] == ["a", "b"]


def test_a_fusion_looks_deeper_than_it_is_asked_to() -> None:
    """What stands second in both rankings comes first where each has another one before it, though one is asked for."""
    fusion = RankFusion(Fixed("words", "a", "b"), Fixed("model", "c", "b"))
    assert [[name for name, _ in ranking] for ranking in fusion.rank(["one", "two"], 1)] == [["b"], ["b"]]


def test_a_fusion_indexes_both_and_names_both() -> None:
    """Both rankers get the catalog; the name holds no folder of the machine."""
    left, right = Fixed("words"), Fixed("st:/somewhere/all_minilm")
    fusion = RankFusion(left, right)
    fusion.index([Tool(name="read_file", description="Read a file.", input_schema={})])
    assert left.indexed == right.indexed == ["read_file"]
    assert fusion.name == "st:all_minilm and words, ranks fused"


def test_each_set_gets_a_line_with_every_ranker_and_the_second_beside_the_first(tmp_path: Path) -> None:
    """Means and the paired difference are those of `evaluate`: the labelled set by its test split, the others whole."""
    shutil.copytree(folder("tiny"), tmp_path / "copy")
    rankers = [resolve_ranker(name) for name in RANKERS]
    block = measure_semantic("tiny", tmp_path, rankers, today="2026-01-02", tell=lambda _: None)
    (table,) = block.tables
    for line, split in zip(table.lines, ("test", "all"), strict=False):
        data = load_data("tiny")
        result = evaluate(data, rankers, measures=(PRIMARY,), split=split, progress=False)
        groups: dict[str, list[int]] = {}
        for place, query in enumerate(result.queries):
            groups.setdefault(query.group, []).append(place)
        for name in RANKERS:
            values = result.values(name, PRIMARY)
            means = [sum(values[place] for place in places) / len(places) for places in groups.values()]
            assert line[name] == round(sum(means) / len(means), 3)
        (beside,) = [each for each in compared_with(result, "default") if each.b == "bm25f"]
        found = beside.overall.difference
        assert found.mean is not None and found.low is not None and found.high is not None
        assert line["bm25f less default"] == {
            "difference": round(found.mean, 3),
            "low": round(found.low, 3),
            "high": round(found.high, 3),
        }
    assert [line["set"] for line in table.lines] == ["tiny, test", "tiny", "mean of 1 sets"]


def test_the_last_line_is_the_mean_over_sets_without_the_labelled_one(tmp_path: Path) -> None:
    """Two sets of different difficulty are averaged as two, whatever the labelled set says."""
    shutil.copytree(folder("tiny"), tmp_path / "whole")
    shutil.copytree(folder("tiny"), tmp_path / "half")
    queries = (tmp_path / "half/queries.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [line for line in queries if '"dev"' in line]
    assert 0 < len(kept) < len(queries)
    (tmp_path / "half/queries.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    rankers = [resolve_ranker(name) for name in RANKERS]
    block = measure_semantic("tiny", tmp_path, rankers, today="2026-01-02", tell=lambda _: None)
    _, half, whole, mean = block.tables[0].lines

    def both(column: str) -> float:
        return (number(half[column]) + number(whole[column])) / 2

    assert half["reference"] != whole["reference"]
    for name in RANKERS:
        assert mean[name] == pytest.approx(both(name), abs=0.001)
    assert number(mean["bm25f less default"]) == pytest.approx(both("bm25f less default"), abs=0.001)


def number(cell: Cell) -> float:
    """A mean, or the middle of a difference."""
    value = cell["difference"] if isinstance(cell, dict) else cell
    assert isinstance(value, float | int)
    return value


def test_a_ranker_that_cannot_work_is_told_and_not_left_out(tmp_path: Path) -> None:
    """A table without one of its rankers would hide it."""
    shutil.copytree(folder("tiny"), tmp_path / "copy")

    class Broken(Fixed):
        def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
            """Fail."""
            raise UsageError("the model is gone")

    rankers = [resolve_ranker("default"), Broken("broken")]
    with pytest.raises(UsageError, match="the model is gone"):
        measure_semantic("tiny", tmp_path, rankers, today="2026-01-02", tell=lambda _: None)


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    """Where no data set lies in the folder, nothing is measured and the folder is named."""
    with pytest.raises(UsageError, match=tmp_path.name):
        measure_semantic("tiny", tmp_path, [], today="2026-01-02", tell=lambda _: None)


def test_a_profile_costs_time_and_memory_in_a_process_of_its_own() -> None:
    """A start, that of the next process, a search and the most memory that the process had are told."""
    cost = profile_cost("tiny")("default")
    assert list(cost) == [
        "load, build and first search ms",
        "in the next process ms",
        "search p50 ms",
        "process MB",
    ]
    assert all(value > 0 for value in cost.values())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells Linux's own figure of memory")
def test_the_memory_of_a_profile_is_not_that_of_the_process_that_asks() -> None:
    """A large process that measures a small profile tells the small figure."""
    megabytes = 700
    held = bytearray(b"x") * (megabytes * 2**20)
    assert profile_cost("tiny")("default")["process MB"] < megabytes
    assert len(held) == megabytes * 2**20


def test_the_block_is_measured_only_with_sets_and_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With `--suites` alone it stays as it is, and the options that measure it are told."""
    shutil.copytree(folder("tiny"), tmp_path / "sets/copy")
    monkeypatch.chdir(tmp_path)
    text = "<!-- figures:semantic -->\nold\n<!-- /figures -->\n"
    Path("README.md").write_text(text, encoding="utf-8")
    assert main(["--data", "tiny", "--suites", "sets"]) == 0
    told = capsys.readouterr().err
    assert "'semantic' has no figures yet and stays as it is; --suites DIR --dense st:MODEL measures it." in told
    assert Path("README.md").read_text(encoding="utf-8") == text
