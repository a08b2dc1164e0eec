from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT
from toolsearch.errors import DataError, UnknownNameError, UsageError
from toolsearch_eval.data import DataSet, Query, fingerprint_of, load_data
from toolsearch_eval.gate.baseline import Baseline, make_baseline
from toolsearch_eval.gate.baseline_file import read_baseline, write_baseline
from toolsearch_eval.gate.verdict import gate
from toolsearch_eval.rankers.profiles import ProfileRanker

TOOLS = tuple(Tool(name=name) for name in "abcdef")
DATE = "2026-01-02"


class Placed:
    """A ranker that puts the right tool of each query at a given rank."""

    def __init__(self, ranks: dict[str, int], name: str = "placed") -> None:
        """Take the rank of tool `a` for each query text; 1 where none is given."""
        self.name = name
        self._ranks = ranks

    def index(self, tools: Sequence[Tool]) -> None:
        """Nothing to read."""

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Tool `a` at its rank among the others."""
        rankings = []
        for query in queries:
            names = list("bcdef")
            names.insert(self._ranks.get(query, 1) - 1, "a")
            rankings.append([(name, float(-place)) for place, name in enumerate(names[:depth])])
        return rankings


def made(count: int = 40, *, slices: int = 2, splits: Callable[[int], str] = lambda _: "dev") -> DataSet:
    """Queries `q0` … whose right tool is `a`."""
    queries = tuple(
        Query(query_id=f"q{number}", text=f"q{number}", slice=f"s{number % slices}", split=splits(number))
        for number in range(count)
    )
    return with_fingerprint(
        DataSet(
            name="made",
            path="",
            tools=TOOLS,
            queries=queries,
            judgements={query.query_id: {"a": 2} for query in queries},
            fingerprint="",
            about={"name": "made"},
        )
    )


def with_fingerprint(data: DataSet) -> DataSet:
    """The data under the fingerprint of what it holds."""
    return replace(data, fingerprint=fingerprint_of(data.tools, data.queries, data.judgements))


def blessed(data: DataSet, must_pass: Sequence[str] = (), split: str = "dev") -> Baseline:
    """A baseline at which every right tool has rank 1."""
    return make_baseline(data, Placed({}), must_pass=must_pass, date=DATE, split=split)


def test_the_same_ranker_passes_however_often() -> None:
    """Fifty reruns without a change never fire, and there is nothing to say."""
    data = load_data("tiny")
    ranker = ProfileRanker("default", DEFAULT)
    baseline = make_baseline(data, ranker, split="all", date=DATE)
    for seed in range(50):
        verdict = gate(baseline, data, ranker, margin=0.0, seed=seed)
        assert (verdict.outcome, verdict.reasons, verdict.fallen) == ("pass", (), ())


def test_a_fall_of_the_mean_beyond_the_margin_fails() -> None:
    """Half of the queries fall from 1 to 1/log2(3) = .631: a difference of -.185 is seen and the queries are named."""
    data = made()
    verdict = gate(blessed(data), data, Placed({f"q{number}": 2 for number in range(0, 40, 2)}))
    assert verdict.outcome == "fail"
    assert verdict.overall.difference.mean == pytest.approx(-0.369070 / 2, abs=1e-6)
    assert verdict.reasons[0].startswith("overall: -0.185 [")
    assert len(verdict.fallen) == 20
    assert verdict.fallen[0].why == "a was rank 1 and is rank 2 now, behind b"


def test_a_fall_in_one_slice_alone_fails() -> None:
    """Where the whole hardly moves, a slice with enough groups still fires."""
    data = made(400, slices=20)
    verdict = gate(blessed(data), data, Placed({f"q{number}": 6 for number in range(0, 400, 20)}), margin=0.05)
    assert [reason.partition(":")[0] for reason in verdict.reasons] == ["slice s0"]


def test_a_slice_with_few_groups_can_not_fire() -> None:
    """Nine groups are too few to tell."""
    data = made(90, slices=10)
    verdict = gate(blessed(data), data, Placed({f"q{number}": 6 for number in range(0, 90, 10)}), margin=0.2)
    assert verdict.reasons == ()


def test_a_must_pass_query_that_falls_fails_alone() -> None:
    """One query of many is no fall of the mean, but it was named."""
    data = made()
    verdict = gate(blessed(data, ["q7"]), data, Placed({"q7": 2}))
    assert verdict.reasons == ("must-pass queries that fell: q7",)
    assert verdict.fallen[0].must_pass


def test_one_query_that_falls_without_being_named_passes() -> None:
    """A single fall lies within the margin; it is listed all the same, and the verdict may be unsure."""
    data = made()
    verdict = gate(blessed(data, ["q8"]), data, Placed({"q7": 2}), margin=0.05)
    assert verdict.outcome == "pass"
    assert [each.query_id for each in verdict.fallen] == ["q7"]
    assert gate(blessed(data), data, Placed({"q7": 6}), margin=0.01).outcome == "inconclusive"


def test_the_test_split_stays_closed_but_for_must_pass_queries() -> None:
    """Of the other split only the named query is ranked, and it counts for no mean."""
    data = made(40, splits=lambda number: "dev" if number < 20 else "test")
    asked: list[str] = []

    class Listening(Placed):
        def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
            asked.extend(queries)
            return super().rank(queries, depth)

    baseline = blessed(data, ["q30"])
    verdict = gate(baseline, data, Listening({"q30": 3}))
    assert set(asked) == {*(f"q{number}" for number in range(20)), "q30"}
    assert verdict.overall.difference.n == 20
    assert verdict.reasons == ("must-pass queries that fell: q30",)


def changed(data: DataSet, name: str) -> DataSet:
    """The data with one planted change."""
    queries, tools, judgements = data.queries, data.tools, dict(data.judgements)
    if name == "removed":
        queries = queries[1:]
        judgements.pop("q0")
    elif name == "added":
        queries = (*queries, Query(query_id="new", text="new", split="dev"))
        judgements["new"] = {"a": 2}
    elif name == "doubled":
        queries = (*queries, queries[0])
    elif name == "reworded":
        queries = (replace(queries[0], text="other"), *queries[1:])
    elif name == "relabelled":
        judgements["q0"] = {"b": 2}
    elif name == "unlabelled":
        judgements.pop("q0")
    elif name == "renamed":
        tools = (*tools[:5], Tool(name="z"))
    elif name == "described":
        tools = (*tools[:5], Tool(name="f", description="new"))
    elif name == "elsewhere":
        queries = (*queries, Query(query_id="none", text="none", split="dev", expect="none"))
    return with_fingerprint(replace(data, queries=queries, tools=tools, judgements=judgements))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("removed", ["queries that are missing: q0."]),
        ("added", ["new queries: new."]),
        ("doubled", ["queries that stand more than once: q0."]),
        ("reworded", ["queries with another text, field or label: q0."]),
        ("relabelled", ["queries with another text, field or label: q0."]),
        ("unlabelled", ["queries that are no longer measured (split, text or labels changed): q0."]),
        ("renamed", ["tools that are gone: f.", "new tools: z."]),
        ("described", ["tools that changed: f."]),
        ("elsewhere", ["data 'made' is not the 'made' that was blessed, outside of what is measured"]),
    ],
)
def test_other_data_is_an_error_that_lists_what_changed(name: str, expected: list[str]) -> None:
    """Nothing is measured on data that was not blessed; each kind of change is a line with a remedy."""
    data = made()
    with pytest.raises(DataError) as error:
        gate(blessed(data), changed(data, name), Placed({}), path="b.json")
    lines = str(error.value).splitlines()
    assert len(lines) == len(expected)
    for line, part in zip(lines, expected, strict=True):
        assert line.startswith("b.json:0: ")
        assert part in line
        assert "bless anew" in line


def test_a_baseline_is_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    """Nothing is lost, and writing what was read gives the same bytes."""
    baseline = blessed(made(), ["q3"])
    write_baseline(baseline, tmp_path / "a.json")
    again = read_baseline(tmp_path / "a.json")
    assert again == baseline
    write_baseline(again, tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_without_a_baseline_the_way_to_one_is_told(tmp_path: Path) -> None:
    """Only `bless` makes one."""
    with pytest.raises(UsageError, match=r"there is no baseline .*; `toolsearch bless` makes a baseline"):
        read_baseline(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ":1: can't be read as a baseline"),
        ("{", ":1: can't be read as a baseline"),
        ("[]", "schema_version: must be 2"),
        ('{"schema_version": 1}', "schema_version: must be 2"),
        ('{"schema_version": 2}', "queries: must hold at least one query"),
        ('{"schema_version": 2, "depth": 0}', "depth: must be a whole number above 0"),
        ('{"schema_version": 2, "measure": "nDGC@10"}', "measure: unknown measure 'nDGC'"),
        ('{"schema_version": 2, "queries": {"q": {}}}', "queries.q: needs digest"),
        ('{"schema_version": 2, "queries": {"q": 1, "q": 2}}', "'q' stands twice in one object"),
        ("[" * 100_000, "can't be read as a baseline"),
    ],
)
def test_a_file_that_is_no_baseline_is_bad_data(tmp_path: Path, text: str, expected: str) -> None:
    """Every fault comes with its place and the way to a good file."""
    path = tmp_path / "b.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_baseline(path)
    assert expected in str(error.value)
    assert "`toolsearch bless` makes a baseline" in str(error.value)


def test_must_pass_queries_have_to_be_there_and_measured() -> None:
    """An id that the data lacks gives near names; one without a label can't be measured."""
    data = made()
    with pytest.raises(UnknownNameError, match="unknown query 'q400'"):
        blessed(data, ["q400"])
    with pytest.raises(UsageError, match="must-pass queries 'q0' can't be measured"):
        blessed(changed(data, "unlabelled"), ["q0"])


def test_a_split_without_queries_can_not_be_blessed() -> None:
    """There is nothing to hold anything against."""
    with pytest.raises(UsageError, match="split 'test' of made has no query to measure"):
        blessed(made(), split="test")


@pytest.mark.parametrize("margin", [-0.1, 1.5, float("nan")])
def test_a_margin_outside_of_its_range_is_refused(margin: float) -> None:
    """Accepted are 0 to 1."""
    data = made()
    with pytest.raises(UsageError, match=r"it must lie in 0..1"):
        gate(blessed(data), data, Placed({}), margin=margin)
