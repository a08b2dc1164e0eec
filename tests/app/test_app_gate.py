"""The page on the gate's history: baselines, verdicts, and files that are damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from toolsearch_app.figures.gate import history_picture
from toolsearch_app.tables.gate import history_table, names
from toolsearch_eval.data import load_data
from toolsearch_eval.gate.baseline import make_baseline
from toolsearch_eval.gate.baseline_file import write_baseline
from toolsearch_eval.gate.history import gate_history
from toolsearch_eval.gate.log import FallenRow, GateRecord, append_record
from toolsearch_eval.rankers import resolve_ranker

HOSTILE = "<script>alert(1)</script> **x** $y$"
VERDICT = GateRecord(
    date="2026-03-01T00:00:00+00:00",
    outcome="fail",
    baseline="somewhere/main.json",
    data="tiny",
    fingerprint="f",
    split="all",
    measure="nDCG@10",
    ranker=HOSTILE,
    version="1",
    before=0.75,
    now=0.5,
    difference=-0.25,
    low=-0.375,
    high=-0.125,
    margin=0.01,
    reasons=(f"overall: {HOSTILE}",),
    fallen_count=1,
    fallen=(FallenRow(query_id=HOSTILE, before=1.0, now=0.0, must_pass=True, why=HOSTILE),),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baseline that was blessed twice, a log with two verdicts and a damaged line, and a damaged baseline."""
    root = tmp_path_factory.mktemp("gates")
    first = make_baseline(load_data("tiny"), resolve_ranker("bm25f"), split="all", date="2026-01-02", reason="one")
    second = replace(first, history=(first.blessing,), date="2026-02-03", reason=HOSTILE)
    write_baseline(second, root / "main.json")
    append_record(root / "gate-log.jsonl", VERDICT)
    later = replace(VERDICT, date="2026-04-01T00:00:00+00:00", outcome="pass", reasons=(), fallen=(), fallen_count=0)
    append_record(root / "gate-log.jsonl", later)
    with open(root / "gate-log.jsonl", "a", encoding="utf-8") as log:
        log.write('{"schema_version": 1}\n')
    (root / "broken.json").write_text("{", "utf-8")
    return root


def _said(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.code, *app.info, *app.success, *app.warning, *app.error]
    return "\n".join(str(each.value) for each in parts)


def test_history_is_read_past_what_is_damaged(folder: Path) -> None:
    """Good files and lines are there in order of time; each fault is told with its file."""
    history = gate_history(folder)
    assert [(each.name, [blessing.reason for blessing in each.blessings]) for each in history.baselines] == [
        ("main", ["one", HOSTILE])
    ]
    assert [each.outcome for each in history.records] == ["fail", "pass"]
    assert sorted(Path(each.path).name for each in history.problems) == ["broken.json", "gate-log.jsonl"]
    assert names(history) == ("main",)
    assert gate_history(folder / "nowhere").baselines == ()


def test_blessings_and_verdicts_stand_on_one_line_of_time(folder: Path) -> None:
    """The interval of a verdict is that of the difference about the blessed mean: 0.75 less 0.375 and 0.125."""
    history = gate_history(folder)
    table = history_table(history.baselines[0], history.records)
    assert list(table["outcome"]) == ["blessed", "blessed", "fail", "pass"]
    assert tuple(table.loc[2, ["mean", "low", "high"]]) == (0.5, 0.375, 0.625)
    text = history_picture(table, "nDCG@10").text
    assert "1 pass, 1 fail, 2 blessed" in text
    assert "The last is pass on 2026-04-01 with 0.500" in text


def test_the_page_shows_the_chosen_verdict_as_text(start_app: Any, folder: Path) -> None:
    """The newest verdict is shown first; choosing the one before shows why it failed, and markup stays text."""
    app = start_app("gate", baselines=str(folder))
    assert not app.exception
    assert app.selectbox(key="baseline").options == ["main"]
    assert "No guard fired." in _said(app)
    assert "broken.json" in _said(app)
    app.selectbox(key="verdict").set_value("1").run()
    assert not app.exception
    said = _said(app)
    assert "overall" in said
    assert HOSTILE not in said
    assert len(app.get("vega_lite_chart")) == 1


def test_without_a_baseline_the_page_says_how_to_bless_one(start_app: Any) -> None:
    """The command names the folder of the start."""
    app = start_app("gate")
    assert not app.exception
    assert "toolsearch bless --baseline" in _said(app)
