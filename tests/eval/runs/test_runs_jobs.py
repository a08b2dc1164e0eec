"""Many processes: the same outcome, the same failures, and nothing that stays behind."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet
from toolsearch_eval.evaluate import Interrupted, evaluate
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.runs.cache import RankingCache

Asked = Callable[[], list[list[str]]]


def outcome(data: DataSet, names: list[Any], **options: Any) -> Any:
    """All that comes out of an evaluation, but for times."""
    rankers = [resolve_ranker(each) if isinstance(each, str) else each for each in names]
    result = evaluate(data, rankers, **options)
    form = result.to_json()
    for values in form["rankers"].values():
        del values["latency_ms"], values["build_ms"]
    return form, {name: (list(ran.answers), list(ran.silent)) for name, ran in result.runs.items()}, result.notes


def test_the_outcome_is_the_same_whatever_the_number_of_processes(many: DataSet, rankers: ModuleType) -> None:
    """One, two and five processes give the same rankings, scores, confidences and numbers, by name and by object."""
    names = ["reference", "default", "bm25f", "bm25s"]
    alone = outcome(many, [*names, rankers.Counting()])
    assert alone[2] == ()
    for jobs in (2, 5):
        assert outcome(many, [*names, rankers.Counting()], jobs=jobs) == alone


def test_the_chunks_are_spread_and_each_is_ranked_once(many: DataSet, rankers: ModuleType, asked: Asked) -> None:
    """Three processes rank the six chunks, each chunk in one of them, and none in this one."""
    evaluate(many, [rankers.Slow()], jobs=3)
    texts = sorted(batch[0] for batch in asked())
    assert texts == sorted(f"common w{number}" for number in (0, 50, 100, 150, 200, 230))
    processes = {line.split()[0] for line in rankers.LOG.read_text(encoding="utf-8").splitlines()}
    assert 1 < len(processes) <= 3
    assert multiprocessing.active_children() == []


def test_what_other_processes_rank_is_kept(many: DataSet, rankers: ModuleType, asked: Asked, tmp_path: Path) -> None:
    """They write the cache themselves, and it serves an evaluation with any number of processes."""
    evaluate(many, [rankers.Counting()], jobs=2, cache=RankingCache(tmp_path / "cache"))
    assert len(asked()) == 6
    for jobs in (1, 3):
        result = evaluate(many, [rankers.Counting()], jobs=jobs, cache=RankingCache(tmp_path / "cache"))
        assert result.runs["counting"].reused == 250
    assert len(asked()) == 6


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_a_failure_reads_the_same(jobs: int, many: DataSet, rankers: ModuleType) -> None:
    """The ranker and the query are named, and the other rankers go on."""
    form, _, _ = outcome(many, [rankers.Failing(), "bm25f"], jobs=jobs)
    assert list(form["rankers"]) == ["bm25f"]
    assert form["warnings"][0] == "ranker 'counting' failed: query 'q120': ValueError: no"


def test_a_process_with_other_code_ranks_nothing(
    many: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the code was edited after the beginning, the evaluation fails and keeps nothing under the older code."""
    monkeypatch.setattr("toolsearch_eval.runs.jobs.code_version", lambda: "older")
    with pytest.raises(UsageError, match="the code changed since the evaluation began; begin it again"):
        evaluate(many, [resolve_ranker("bm25f")], jobs=2, cache=RankingCache(tmp_path / "cache"))
    assert list((tmp_path / "cache").iterdir()) == []


def test_failures_that_all_come_at_once_end_it(many: DataSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every process fails at the same moment while chunks are left, that is told and nobody is waited for."""

    def wait_for_all(connections: list[Connection]) -> list[Connection]:
        assert connections, "a wait for nobody never ends"
        return [each for each in connections if each.poll(None)]

    monkeypatch.setattr("toolsearch_eval.runs.jobs.wait", wait_for_all)
    monkeypatch.setattr("toolsearch_eval.runs.jobs.code_version", lambda: "older")
    with pytest.raises(UsageError, match="the code changed since the evaluation began; begin it again"):
        evaluate(many, [resolve_ranker("bm25f")], jobs=2)


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_of_several_failures_the_first_query_is_told(jobs: int, many: DataSet, rankers: ModuleType) -> None:
    """Whichever fails first by the clock, the one of the earliest chunk is named, as one process would name it."""
    with pytest.raises(UsageError, match="failed: query 'q20': ValueError: early"):
        evaluate(many, [rankers.FailingTwice()], jobs=jobs)


def test_a_process_that_ends_fails_its_ranker_alone(many: DataSet, rankers: ModuleType) -> None:
    """Where a ranker takes its process with it, the queries and the code are told, and the next ranker gets another."""
    form, _, _ = outcome(many, [rankers.Dying(), "bm25f"], jobs=2)
    assert list(form["rankers"]) == ["bm25f"]
    assert form["warnings"][0] == (
        "ranker 'counting' failed: queries 'q100' to 'q149': its process ended with the code 9"
    )


def test_an_interrupt_over_there_is_one_here(many: DataSet, rankers: ModuleType, tmp_path: Path) -> None:
    """The finished rankers can be had, what was ranked is kept, and no process stays."""
    cache = RankingCache(tmp_path / "cache")
    with pytest.raises(Interrupted) as caught:
        evaluate(many, [resolve_ranker("bm25f"), rankers.Stopping()], jobs=2, cache=cache)
    assert list(caught.value.finished.rankings) == ["bm25f"]
    assert multiprocessing.active_children() == []
    shelf = cache.shelf(rankers.Stopping(), many.tools, 10)
    assert shelf is not None
    assert shelf.read(many.queries[:50], {tool.name for tool in many.tools}) is not None


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("Homebound", "ranker 'homebound' can't be sent to another process: "),
        ("Unwelcome", "a ranker can't be taken in: ValueError: wrong house"),
    ],
)
def test_who_cannot_travel_is_judged_here(kind: str, reason: str, many: DataSet, rankers: ModuleType) -> None:
    """Its outcome is the same, and a note says why no other process took part."""
    alone = outcome(many, [getattr(rankers, kind)()])
    form, answers, notes = outcome(many, [getattr(rankers, kind)()], jobs=2)
    assert (form, answers) == alone[:2]
    assert len(notes) == 1
    assert notes[0].startswith(reason)
    assert notes[0].endswith("; it was judged in this one.")


def test_tools_with_functions_are_judged_here(many: DataSet) -> None:
    """A catalog that can't be sent is a note too."""
    tools = (replace(many.tools[0], call=lambda **_: None), *many.tools[1:])
    form, _, notes = outcome(replace(many, tools=tools), ["bm25f"], jobs=2)
    assert notes[0].startswith("the tools can't be sent to another process: ")
    assert form["rankers"]["bm25f"]["measures"] == outcome(many, ["bm25f"])[0]["rankers"]["bm25f"]["measures"]


def test_no_process_is_not_enough(many: DataSet) -> None:
    """Zero jobs are wrong use."""
    with pytest.raises(UsageError, match="jobs is 0; it must be a whole number above 0"):
        evaluate(many, [resolve_ranker("bm25f")], jobs=0)
