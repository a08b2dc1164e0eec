from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from toolsearch.errors import UsageError
from toolsearch_eval.cli.main import main
from toolsearch_eval.demo import QUERIES, Demo, comparison_table, per_query_csv, report, run_demo, write_run


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo on a small set whose texts are hostile to tables and spreadsheets."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "catalog.jsonl").write_text(
        '{"name": "send_message", "description": "Send a message."}\n'
        '{"name": "create_issue", "description": "Open an issue."}\n',
        encoding="utf-8",
    )
    (folder / "queries.jsonl").write_text(
        '{"query_id": "=1+1", "text": "send a message", "slice": "a|b", "split": "dev"}\n'
        '{"query_id": "q2", "text": "open an issue", "slice": "<b>", "split": "dev"}\n',
        encoding="utf-8",
    )
    (folder / "qrels.tsv").write_text(
        "query_id\ttool\tgrade\n=1+1\tsend_message\t2\nq2\tcreate_issue\t2\n", encoding="utf-8"
    )
    return run_demo(str(folder))


def test_the_demo_ranks_judges_and_compares(demo: Demo) -> None:
    """Each query is ranked by both profiles, five rankers are judged, and four are compared with `default`."""
    assert [(line["query"], line["profile"]) for line in demo.rankings[:2]] == [
        (QUERIES[0], "reference"),
        (QUERIES[0], "default"),
    ]
    assert list(demo.evaluation.rankings) == ["reference", "default", "bm25f", "bm25s", "sklearn"]
    assert [line["a"] for line in demo.comparisons] == ["reference", "bm25f", "bm25s", "sklearn"]
    form = demo.evaluation.to_json()["rankers"]["default"]["measures"]
    assert form["nDCG@10"]["mean"] == 1.0
    assert comparison_table(demo)[1][1][3:6] == ("0", "2", "0")


def test_the_parts_of_each_shown_score_add_up(demo: Demo) -> None:
    """What stands under a shown result sums to its score."""
    results = [result for ranking in demo.rankings for result in ranking["results"]]
    assert results
    for result in results:
        assert sum(part["value"] for part in result["parts"]) == pytest.approx(result["score"], abs=1e-8)


def test_a_run_holds_summary_report_and_values_and_replaces_an_earlier_run(demo: Demo, tmp_path: Path) -> None:
    """The three files are written, a second run takes the place of the first, and nothing else is left behind."""
    folder = tmp_path / "runs" / "demo"
    write_run(demo, folder)
    (folder / "stale.txt").write_text("old", encoding="utf-8")
    write_run(demo, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["per_query.csv", "report.md", "summary.json"]
    assert [path.name for path in folder.parent.iterdir()] == ["demo"]
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["manifest"]["data"] == demo.evaluation.data.fingerprint


def test_a_folder_that_is_no_run_is_left_alone(demo: Demo, tmp_path: Path) -> None:
    """A folder with other files in it is refused and stays as it was."""
    (tmp_path / "thesis.txt").write_text("precious", encoding="utf-8")
    with pytest.raises(UsageError, match="is no run"):
        write_run(demo, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_text_from_data_is_escaped_in_the_report_and_the_values(demo: Demo) -> None:
    """A cell that a spreadsheet would run gets a quote; Markdown keeps no raw tags."""
    rows = list(csv.DictReader(per_query_csv(demo.evaluation).splitlines()))
    assert {row["query_id"] for row in rows} == {"'=1+1", "q2"}
    assert len(rows) == 10
    assert "<b>" not in report(demo)


def test_the_demo_command_names_unknown_data(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Data that is not there gives 2 and near names, and nothing is written."""
    assert main(["demo", "--data", "bultin", "--out", str(tmp_path / "run")]) == 2
    assert "Did you mean 'builtin'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
