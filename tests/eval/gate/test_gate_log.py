"""What is written down of the gate's verdicts and of blessings, and what reading it back refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_eval.cli.main import main
from toolsearch_eval.data import load_data
from toolsearch_eval.gate.baseline import Baseline, make_baseline
from toolsearch_eval.gate.baseline_file import read_baseline, write_baseline
from toolsearch_eval.gate.log import MOST_FALLEN, append_record, read_log, record_of_blessing, record_of_verdict
from toolsearch_eval.gate.verdict import gate
from toolsearch_eval.rankers import resolve_ranker

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.fixture(scope="module")
def baseline() -> Baseline:
    """The plain yardstick, blessed on the small shipped set."""
    ranker = resolve_ranker("bm25f")
    return make_baseline(load_data("tiny"), ranker, split="all", date="2026-01-02", reason="the first", version="1")


def test_a_verdict_comes_back_from_the_log_as_it_was_written(baseline: Baseline, tmp_path: Path) -> None:
    """Every field of the line is what the verdict said, and lines stand in the order in which they were added."""
    verdict = gate(baseline, load_data("tiny"), resolve_ranker("regex"))
    record = record_of_verdict(verdict, path="baseline.json", now=NOW, version="2")
    log = tmp_path / "deep" / "gate-log.jsonl"
    append_record(log, record)
    append_record(log, replace(record, outcome="pass"))
    problems: list[Problem] = []
    first, second = read_log(log, problems)
    assert problems == []
    assert (first, second.outcome) == (record, "pass")
    assert first.date == "2026-03-04T05:06:07+00:00"
    assert (first.before, first.now) == (verdict.mean_before, verdict.mean_now)
    assert (first.difference, first.low, first.high) == (
        verdict.overall.difference.mean,
        verdict.overall.difference.low,
        verdict.overall.difference.high,
    )
    assert first.fallen_count == len(verdict.fallen) > 0
    assert [each.query_id for each in first.fallen] == [each.query_id for each in verdict.fallen[:MOST_FALLEN]]
    assert [(each.name, each.now, each.kept) for each in first.budgets] == [
        (each.name, each.now, each.kept) for each in verdict.budgets
    ]


def test_a_blessing_is_a_line_with_the_mean_before_and_the_reason(baseline: Baseline) -> None:
    """The first blessing has nothing before it; a later one has the old mean."""
    first = record_of_blessing(baseline, None, path="b.json", now=NOW)
    assert (first.outcome, first.before, first.now) == ("blessed", None, baseline.blessing.mean)
    assert first.reasons == ("the first",)
    lower = {name: replace(query, value=query.value / 2) for name, query in baseline.queries.items()}
    later = record_of_blessing(replace(baseline, queries=lower, reason=""), baseline, path="b.json", now=NOW)
    assert (later.before, later.reasons) == (baseline.blessing.mean, ())
    assert later.now == pytest.approx((baseline.blessing.mean or 0) / 2)


def _damages() -> list[dict[str, Any]]:
    return [
        {"schema_version": 2},
        {"outcome": "passed"},
        {"date": "yesterday"},
        {"date": "2026-01-02"},
        {"now": "0.5"},
        {"low": True},
        {"reasons": "one"},
        {"reasons": [1]},
        {"fallen_count": 1.5},
        {"fallen": [{"query_id": "q"}]},
        {"fallen": [{"query_id": "q", "before": None, "now": 0.0, "must_pass": False, "why": ""}]},
        {"budgets": [{"name": "n", "unit": "u", "now": 1, "limit": 1, "kept": "yes"}]},
        {"extra": 1},
    ]


@pytest.mark.parametrize("damage", _damages(), ids=lambda damage: next(iter(damage)))
def test_a_damaged_line_is_told_and_the_others_are_read(
    damage: dict[str, Any], baseline: Baseline, tmp_path: Path
) -> None:
    """A line of another form is a problem with its number; what stands before and after it is kept."""
    record = record_of_blessing(baseline, None, path="b.json", now=NOW)
    good = json.dumps(record.to_row())
    bad = json.dumps({**record.to_row(), **damage})
    log = tmp_path / "gate-log.jsonl"
    log.write_text(f"{good}\n{bad}\n{good}\n", "utf-8")
    problems: list[Problem] = []
    assert read_log(log, problems) == (record, record)
    assert [(problem.line, "gate's log" in problem.message) for problem in problems] == [(2, True)]


def test_a_log_that_is_not_text_is_told(tmp_path: Path) -> None:
    """A missing file and one that holds anything else are problems, never an exception."""
    for content in (None, b"\xff\xfe\x00", b"[1]\n", b"{"):
        log = tmp_path / "gate-log.jsonl"
        if content is not None:
            log.write_bytes(content)
        problems: list[Problem] = []
        assert read_log(log, problems) == ()
        assert problems


def test_a_log_that_cannot_be_written_is_an_error(baseline: Baseline, tmp_path: Path) -> None:
    """A folder in the file's place is told with its name."""
    with pytest.raises(UsageError, match="can't be written"):
        append_record(tmp_path, record_of_blessing(baseline, None, path="b.json", now=NOW))


def test_a_baseline_remembers_the_ones_before_it(
    baseline: Baseline, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Blessing anew in the same place adds what stood there to the history, which is read back as it was."""
    path, log = tmp_path / "baseline.json", tmp_path / "gate-log.jsonl"
    bless = ["bless", "--data", "tiny", "--baseline", str(path), "--log", str(log)]
    assert main([*bless, "--ranker", "bm25f", "--reason", "one"]) == 0
    first = read_baseline(path)
    assert first.history == ()
    assert "history" not in json.loads(path.read_text("utf-8"))
    assert main([*bless, "--ranker", "reference", "--reason", "two"]) == 0
    second = read_baseline(path)
    assert second.history == (first.blessing,)
    assert (second.history[0].reason, second.history[0].ranker) == ("one", "bm25f")
    assert main([*bless, "--reason", "three"]) == 0
    assert [each.reason for each in read_baseline(path).history] == ["one", "two"]
    assert main(["gate", "--baseline", str(path), "--log", str(log)]) == 0
    capsys.readouterr()
    records = read_log(log, [])
    assert [(each.outcome, each.reasons) for each in records] == [
        ("blessed", ("one",)),
        ("blessed", ("two",)),
        ("blessed", ("three",)),
        ("pass", ()),
    ]
    assert (records[1].before, records[1].now) == (first.blessing.mean, second.blessing.mean)


@pytest.mark.parametrize("history", ["x", [1], [{"date": "2026-01-02"}]], ids=["text", "number", "incomplete"])
def test_a_baseline_with_a_damaged_history_is_refused(history: Any, baseline: Baseline, tmp_path: Path) -> None:
    """The field is named; nothing of the file is used."""
    path = tmp_path / "baseline.json"
    write_baseline(baseline, path)
    form = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**form, "history": history}), "utf-8")
    with pytest.raises(DataError, match="history: must be a list of earlier blessings"):
        read_baseline(path)
