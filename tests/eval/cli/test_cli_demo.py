from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from toolsearch.errors import UsageError
from toolsearch_eval.cli.demo_command import WIDTH, compared_text, judged_text, rankings_text, tuned_text
from toolsearch_eval.cli.main import main
from toolsearch_eval.data import load_data
from toolsearch_eval.demo import QUERIES, Demo, by_term, run_demo
from toolsearch_eval.demo_files import comparison_table, per_query_csv, report, tuning_table, write_run
from toolsearch_eval.demo_tuning import brief_tuning

LONG_NAME = "post_" + "very_" * 20 + "long"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small set whose texts are hostile to tables, terminals and spreadsheets."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "catalog.jsonl").write_text(
        '{"name": "send_message", "description": "Send a message."}\n'
        f'{{"name": "{LONG_NAME}", "description": "Post an answer in a thread."}}\n'
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
    return folder


@pytest.fixture(scope="module")
def demo(folder: Path) -> Demo:
    """The demo on that set."""
    return run_demo(str(folder))


def test_the_demo_ranks_judges_and_compares(demo: Demo) -> None:
    """Each query is ranked by both profiles, five rankers are judged, and four are compared with `default`."""
    assert [(line["query"], line["profile"]) for line in demo.rankings[:2]] == [
        (QUERIES[0], "reference"),
        (QUERIES[0], "default"),
    ]
    assert list(demo.evaluation.rankings) == ["reference", "default", "bm25f", "bm25s", "sklearn-words"]
    assert [line["a"] for line in demo.comparisons] == ["reference", "bm25f", "bm25s", "sklearn-words"]
    form = demo.evaluation.to_json()["rankers"]["default"]["measures"]
    assert form["nDCG@10"]["mean"] == 1.0
    assert comparison_table(demo)[1][1][3:6] == ("0", "2", "0")


def test_the_parts_of_each_shown_score_add_up(demo: Demo) -> None:
    """What stands under a shown result sums to its score, part by part and term by term."""
    results = [result for ranking in demo.rankings for result in ranking["results"]]
    assert results
    for result in results:
        assert sum(part["value"] for part in result["parts"]) == pytest.approx(result["score"], abs=1e-8)
        assert sum(value for _, value, _ in by_term(result["parts"])) == pytest.approx(result["score"], abs=1e-8)


def test_the_printed_demo_fits_a_terminal_of_100_columns(demo: Demo) -> None:
    """No line is wider than stated, also with a name of 109 characters, which is cut with a visible mark."""
    text = "\n".join((rankings_text(demo), judged_text(demo), compared_text(demo), tuned_text(demo)))
    assert max(map(len, text.split("\n"))) <= WIDTH == 100
    assert LONG_NAME not in text
    assert LONG_NAME[:30] in text and "…" in text


def test_the_printed_demo_shows_every_query_and_why(demo: Demo) -> None:
    """Both profiles stand side by side; under them the first result's score as a sum of words and fields."""
    text = rankings_text(demo)
    assert all(f"   {query}\n" in text for query in QUERIES)
    block = text.partition(QUERIES[0])[2].partition(QUERIES[1])[0]
    assert block.split("\n")[1].split() == ["reference", "default"]
    [first] = [line for line in block.split("\n") if "default's first" in line]
    score = float(first.split(":")[1].split("=")[0])
    shown = [float(line.split()[1]) for line in block.split("\n") if "#" in line]
    assert sum(shown) == pytest.approx(score, abs=0.003)


def test_a_query_that_finds_nothing_and_one_in_doubt_say_so(demo: Demo) -> None:
    """An empty column says that nothing was found, and an answer in doubt that it is."""
    text = rankings_text(demo)
    taxi = text.partition(QUERIES[-1])[2]
    assert taxi.split("\n")[2].split("   ") != []
    assert "low confidence" in taxi
    assert "(nothing found)" in text


def test_the_shipped_set_has_a_flagged_and_a_named_example() -> None:
    """Among the shown queries one is flagged as low in confidence and one is found by its name."""
    from toolsearch.search.searcher import Searcher

    answers = Searcher(load_data("builtin").tools).search_batch(QUERIES)
    assert answers[-1].low_confidence
    assert answers[2].results[0].reason == "leaf_name"
    assert [result.name for result in answers[3].results] == ["NotebookRun"]


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


def test_the_demo_command_prints_its_parts_and_where_the_run_is(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output has the parts in their order and ends with the folder; what begins is told on stderr."""
    out = tmp_path / "run"
    assert main(["demo", "--data", str(folder), "--out", str(out)]) == 0
    streams = capsys.readouterr()
    places = [
        streams.out.index(part) for part in ("1. RANK AND EXPLAIN", "2. JUDGE", "3. COMPARE", "4. TUNE", f"to {out}")
    ]
    assert places == sorted(places)
    assert "judging on" in streams.err


def test_two_groups_are_too_few_to_tune_on_and_that_is_said(demo: Demo) -> None:
    """There is no table then; the report and the output give the reason."""
    assert tuning_table(demo) is None
    assert "2 groups of queries are too few to tune on" in " ".join(tuned_text(demo).split())
    assert "2 groups of queries are too few to tune on" in report(demo)


def test_a_short_tuning_is_checked_on_queries_that_it_had_not_seen() -> None:
    """On the shipped set: the gain on dev, on folds and on test, all from one study of a few trials; twice the same."""
    data = load_data("builtin")
    first = brief_tuning(data, trials=4, now=lambda: datetime(2026, 1, 2, tzinfo=UTC))
    assert isinstance(first, dict)
    assert first["profile"] == "reference" and first["trials"] == 4
    assert first["dev"]["groups"] == first["nested"]["groups"] == 301
    assert first["test"] is None or first["test"]["openings"] == 1
    assert first == brief_tuning(data, trials=4, now=lambda: datetime(2027, 1, 2, tzinfo=UTC))


def test_the_demo_command_names_unknown_data(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Data that is not there gives 2 and near names, and nothing is written."""
    assert main(["demo", "--data", "bultin", "--out", str(tmp_path / "run")]) == 2
    assert "Did you mean 'builtin'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
