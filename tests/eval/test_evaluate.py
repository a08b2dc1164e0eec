"""Judging rankers: which queries count, what comes out, and that no order of anything changes it."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas
import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, UsageError
from toolsearch_eval.data import DataSet, Query, load_data
from toolsearch_eval.evaluate import Evaluation, Interrupted, evaluate
from toolsearch_eval.measures import parse_measure
from toolsearch_eval.rankers import resolve_ranker


class Fixed:
    """Gives to every query the same names, in this order."""

    def __init__(self, *names: str, name: str = "fixed") -> None:
        """Take the names that come back."""
        self.name = name
        self._names = names

    def index(self, tools: Sequence[Tool]) -> None:
        """Nothing to do."""

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """The names with falling scores."""
        return [[(name, -float(rank)) for rank, name in enumerate(self._names[:depth])] for _ in queries]


def data_set(queries: Sequence[Query], judgements: dict[str, dict[str, int]], **changes: Any) -> DataSet:
    """A data set in memory with the tools a, b, c."""
    values: dict[str, Any] = {"tools": tuple(Tool(name=name) for name in "abc"), **changes}
    return DataSet(name="n", path="p", queries=tuple(queries), judgements=judgements, fingerprint="f", **values)


def one(**fields: Any) -> Query:
    """A query with what a test is about."""
    return Query(**{"query_id": "q", "text": "x", **fields})


def means(evaluation: Evaluation, ranker: str = "fixed") -> dict[str, float]:
    """Mean by measure."""
    return {name: cell["mean"] for name, cell in evaluation.to_json()["rankers"][ranker]["measures"].items()}


def test_the_published_form() -> None:
    """The JSON form has exactly the published fields, with hand-worked numbers in them."""
    queries = [one(query_id="1", slice="s"), one(query_id="2", slice="s"), one(query_id="3", expect="none")]
    data = data_set(queries, {"1": {"a": 2}, "2": {"b": 1}})
    form = evaluate(data, [Fixed("a", "b")], measures=[parse_measure("RR@10"), parse_measure("P@2")]).to_json()
    latency = form["rankers"]["fixed"].pop("latency_ms")
    assert form["rankers"]["fixed"].pop("build_ms") >= 0
    assert list(latency) == ["p50", "p95"]
    assert 0 < latency["p50"] <= latency["p95"]
    # The third query has no answer and gets one. All are equally sure, and the first results are right, wrong, wrong: at every coverage two of three are expected to be wrong.
    assert form["rankers"]["fixed"].pop("abstention") == {
        "answerable": 2,
        "no_answer": 1,
        "area": pytest.approx(2 / 3),
        "false_answers": 1.0,
        "false_alarms": 0.0,
    }
    tokens = form["rankers"]["fixed"].pop("tokens")
    assert list(tokens) == ["counter", "per_query", "per_answer", "recall_per_1000"]
    assert tokens["recall_per_1000"] == pytest.approx(1.0 / (tokens["per_answer"] / 1000))
    # RR is 1 and 1/2: mean 3/4; with two groups the half width is t(0.975, 1) * 0.25.
    rr = {
        "mean": 0.75,
        "low": pytest.approx(0.75 - 12.7062047 * 0.25),
        "high": pytest.approx(0.75 + 12.7062047 * 0.25),
        "n": 2,
    }
    p = {"mean": 0.5, "low": 0.5, "high": 0.5, "n": 2}
    assert form == {
        "schema_version": 1,
        "data": {"name": "n", "fingerprint": "f", "queries": 3, "tools": 3},
        "split": "all",
        "depth": 10,
        "excluded": {"no_answer": 1, "empty": 0, "missing": 0, "duplicate": 0, "unjudged": 0},
        "rankers": {"fixed": {"measures": {"RR@10": rr, "P@2": p}, "slices": {"s": {"RR@10": rr, "P@2": p}}}},
        "warnings": ["slice 's' has 2 groups: too few to tell"],
    }


EXCLUDED = [
    ("an answer", one(), {"q": {"a": 1}}, None),
    ("no answer expected", one(expect="none"), {}, "no_answer"),
    ("no answer expected, labelled against", one(expect="none"), {"q": {"a": 0}}, "no_answer"),
    ("no text", one(text=" \n"), {"q": {"a": 1}}, "empty"),
    ("no label", one(), {}, "unjudged"),
    ("no relevant label", one(), {"q": {"a": 0, "b": -1}}, "unjudged"),
    ("a label without a query", one(query_id="other"), {"other": {"a": 1}, "q": {"a": 1}}, "missing"),
]


@pytest.mark.parametrize(
    ("query", "judgements", "reason"), [row[1:] for row in EXCLUDED], ids=[row[0] for row in EXCLUDED]
)
def test_what_is_left_out_is_counted_by_its_reason(query: Query, judgements: Any, reason: str | None) -> None:
    """Each query that is not measured is counted under exactly one reason, and all others are measured."""
    always = one(query_id="always")
    result = evaluate(data_set([always, query], {**judgements, "always": {"a": 1}}), [Fixed("a")])
    assert result.excluded == {
        name: int(name == reason) for name in ("no_answer", "empty", "missing", "duplicate", "unjudged")
    }
    assert len(result.queries) == (2 if reason in (None, "missing") else 1)
    assert result.to_json()["data"]["queries"] == 2
    assert means(result)["RR@10"] == 1.0


def test_an_id_that_comes_again_is_measured_once() -> None:
    """Of two queries with one id, possible only in memory, the first is measured and the second counted."""
    result = evaluate(data_set([one(), one(text="y")], {"q": {"a": 1}}), [Fixed("a")])
    assert (result.excluded["duplicate"], [query.text for query in result.queries]) == (1, ["x"])


def test_a_query_without_results_counts_as_a_miss() -> None:
    """An empty ranking is worth 0 and stays in the mean; what it shows is judged in full."""
    result = evaluate(data_set([one()], {"q": {"a": 1}}), [Fixed()])
    assert means(result) == {"nDCG@10": 0.0, "Recall@5": 0.0, "RR@10": 0.0, "Success@1": 0.0, "Judged@10": 1.0}


def test_labels_that_no_ranker_can_meet_are_warned_of() -> None:
    """A tool that is not in the catalog, or is always loaded, lowers the mean and is said."""
    tools = (Tool(name="a"), Tool(name="b", always_load=True))
    data = data_set([one(), one(query_id="r")], {"q": {"gone": 1}, "r": {"b": 1}}, tools=tools)
    result = evaluate(data, [Fixed("a")])
    assert result.warnings == ("2 queries need tools that can't be found; `toolsearch dataset check` names them",)
    assert means(result)["RR@10"] == 0.0


def test_nothing_to_measure_gives_no_number_and_says_so() -> None:
    """Without a measured query every mean is None, never 0 or NaN, and the warning says it."""
    result = evaluate(data_set([one(expect="none")], {}), [Fixed("a")])
    assert set(means(result).values()) == {None}
    assert result.latency["fixed"] == {"p50": None, "p95": None}
    assert result.warnings == ("no query was measured; see how many were left out and why",)
    assert result.table().isna().all(axis=None)
    assert len(result.per_query()) == 0


@pytest.mark.parametrize(
    ("splits", "asked", "chosen", "measured"),
    [
        (["dev", "test"], None, "dev", 1),
        (["test", "test"], None, "all", 2),
        (["dev", "test"], "all", "all", 2),
        (["dev", "test"], "test", "test", 1),
    ],
)
def test_the_split(splits: list[str], asked: str | None, chosen: str, measured: int) -> None:
    """Without further word it is dev, or all where there is no dev."""
    queries = [one(query_id=str(number), split=split) for number, split in enumerate(splits)]
    result = evaluate(data_set(queries, {"0": {"a": 1}, "1": {"a": 1}}), [Fixed("a")], split=asked)
    assert (result.split, len(result.queries)) == (chosen, measured)


def test_groups_not_queries_are_counted() -> None:
    """Three wordings of one intent are one observation."""
    queries = [one(query_id=str(number), group="g" if number < 3 else "") for number in range(4)]
    data = data_set(queries, {"0": {"a": 1}, "1": {"a": 1}, "2": {"a": 1}, "3": {"b": 1}})
    cell = evaluate(data, [Fixed("a")]).to_json()["rankers"]["fixed"]["measures"]["RR@10"]
    assert (cell["mean"], cell["n"]) == (0.5, 2)


def test_success_all_follows_what_a_query_needs() -> None:
    """A query that needs all of its tools fails with one of them; one that takes any does not."""
    queries = [one(query_id="all", need="all"), one(query_id="any")]
    data = data_set(queries, {"all": {"a": 2, "b": 2}, "any": {"a": 2, "b": 2}})
    measure = parse_measure("SuccessAll@5")
    assert evaluate(data, [Fixed("a")], measures=[measure]).values("fixed", measure) == [0.0, 1.0]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"split": "train"}, "split 'train' is unknown; accepted: dev, test, all."),
    ({"depth": 0}, "depth is 0; it must be a whole number above 0."),
    ({"depth": 9}, "nDCG@10, RR@10, Judged@10 looks deeper than the depth 9; use a higher --depth."),
    ({"rankers": [Fixed("a"), Fixed("b")]}, "each ranker may be named once; given: fixed, fixed."),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_settings_that_are_not_valid_are_refused(changes: dict[str, Any], message: str) -> None:
    """Wrong settings say what was given and what is accepted."""
    with pytest.raises(UsageError) as caught:
        evaluate(data_set([one()], {"q": {"a": 1}}), **{"rankers": [Fixed("a")], **changes})
    assert str(caught.value) == message


def test_two_tools_of_one_name_are_refused() -> None:
    """Labels could not tell them apart, so nothing is judged; each such name is one fault."""
    tools = tuple(Tool(name=name, server=server) for name in "ab" for server in (None, "s"))
    with pytest.raises(DataError) as caught:
        evaluate(data_set([one()], {"q": {"a": 1}}, tools=tools), [Fixed("a")])
    assert [(each.path, each.field) for each in caught.value.problems] == [(str(Path("p/catalog.jsonl")), "name")] * 2


def test_per_query_values_as_a_table() -> None:
    """A row for each ranker and query, a column for each measure, numbers as floats."""
    queries = [one(query_id="1", slice="s", group="g"), one(query_id="2")]
    data = data_set(queries, {"1": {"a": 1}, "2": {"b": 1}})
    result = evaluate(data, [Fixed("a", "b"), Fixed("b", name="other")], measures=[parse_measure("RR@2")])
    expected = pandas.DataFrame(
        {
            "ranker": ["fixed", "fixed", "other", "other"],
            "query_id": ["1", "2", "1", "2"],
            "slice": ["s", "", "s", ""],
            "group": ["g", "2", "g", "2"],
            "RR@2": [1.0, 0.5, 0.0, 1.0],
        }
    )
    pandas.testing.assert_frame_equal(result.per_query(), expected)
    table = pandas.DataFrame({"RR@2": [0.75, 0.5]}, index=["fixed", "other"])
    pandas.testing.assert_frame_equal(result.table(), table)


@pytest.mark.parametrize("method", ["per_query", "table"])
def test_tables_without_pandas_say_which_extra_brings_it(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers can be had without pandas, the tables can't, and the error says what to install."""
    result = evaluate(data_set([one()], {"q": {"a": 1}}), [Fixed("a")])
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert means(result)["RR@10"] == 1.0
    with pytest.raises(UsageError, match=r"needs pandas, which is not installed; install toolsearch\[eval\]"):
        getattr(result, method)()


SHUFFLED = ["default", "default:keyword", "default:tfidf", "bm25f", "bm25s", "sklearn-words", "sklearn-characters"]


@pytest.mark.parametrize("name", SHUFFLED)
def test_the_order_of_the_catalog_and_of_the_queries_changes_nothing(name: str) -> None:
    """Shuffled catalogs give the same rankings and numbers to every ranker but the reference, which keeps their order."""
    tiny = load_data("builtin")
    source = random.Random(5)
    queries = tiny.queries[::5]
    plain = evaluate(replace(tiny, queries=queries), [resolve_ranker(name)], split="all")
    for _ in range(2):
        tools, mixed = list(tiny.tools), list(queries)
        source.shuffle(tools)
        source.shuffle(mixed)
        other = evaluate(replace(tiny, tools=tuple(tools), queries=tuple(mixed)), [resolve_ranker(name)], split="all")
        by_id = dict(zip([query.query_id for query in other.queries], other.rankings[name], strict=True))
        assert [by_id[query.query_id] for query in plain.queries] == list(plain.rankings[name])
        form = other.to_json()["rankers"][name]
        assert form["measures"] == plain.to_json()["rankers"][name]["measures"]
        assert form["slices"] == plain.to_json()["rankers"][name]["slices"]


def test_ties_are_settled_by_name_whatever_the_order_of_a_ranker() -> None:
    """Equal scores stand by name; a ranker that keeps its order is left as it is."""

    class Ties(Fixed):
        def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
            return [[("b", 1.0), ("c", 2.0), ("a", 1.0 + 1e-13)] for _ in queries]

    keeps = Ties(name="keeps")
    keeps.keeps_order = True  # type: ignore[attr-defined]
    result = evaluate(data_set([one()], {"q": {"a": 1}}), [Ties(), keeps])
    assert result.rankings["fixed"] == [["c", "a", "b"]]
    assert result.rankings["keeps"] == [["b", "c", "a"]]


class Stopping(Fixed):
    """Is interrupted while it ranks."""

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Ctrl-C."""
        raise KeyboardInterrupt


def test_an_interrupt_loses_nothing_that_is_finished() -> None:
    """After Ctrl-C the rankers that were done can be had from the exception, and the others are named."""
    rankers = [Fixed("a"), Stopping(name="slow"), Fixed("b", name="later")]
    with pytest.raises(Interrupted) as caught:
        evaluate(data_set([one()], {"q": {"a": 1}}), rankers)
    finished = caught.value.finished
    assert list(finished.rankings) == ["fixed"]
    assert means(finished)["RR@10"] == 1.0
    assert finished.warnings == ("interrupted; not judged: slow, later",)


def test_an_interrupt_before_anything_is_finished_is_an_interrupt() -> None:
    """Where no ranker was done, Ctrl-C goes through as it is."""
    with pytest.raises(KeyboardInterrupt) as caught:
        evaluate(data_set([one()], {"q": {"a": 1}}), [Stopping(name="slow"), Fixed("a")])
    assert not isinstance(caught.value, Interrupted)


def test_a_measure_that_comes_again_counts_once() -> None:
    """Repeated measures make no second column."""
    measures = [parse_measure(text) for text in ("RR@2", "P@1", "RR@2")]
    assert list(means(evaluate(data_set([one()], {"q": {"a": 1}}), [Fixed("a")], measures=measures))) == ["RR@2", "P@1"]


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        """It says so."""
        return True


@pytest.mark.parametrize(
    ("stream", "progress", "shown"),
    [(Terminal(), None, True), (io.StringIO(), None, False), (Terminal(), False, False), (io.StringIO(), True, True)],
    ids=["terminal", "file", "terminal, off", "file, on"],
)
def test_the_bar_is_shown_on_a_terminal_alone(
    stream: io.StringIO, progress: bool | None, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Progress goes to stderr, and only where someone looks or it was asked for."""
    monkeypatch.setattr(sys, "stderr", stream)
    evaluate(data_set([one()], {"q": {"a": 1}}), [Fixed("a")], progress=progress)
    assert ("1/1" in stream.getvalue()) == shown
    assert bool(stream.getvalue()) == shown


def test_without_its_library_there_is_no_bar_and_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar is a comfort: without tqdm the work is done all the same."""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    assert means(evaluate(data_set([one()], {"q": {"a": 1}}), [Fixed("a")]))["RR@10"] == 1.0
    assert stream.getvalue() == ""
