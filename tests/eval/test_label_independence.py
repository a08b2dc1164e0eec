"""Labels that only repeat a ranker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import roc_curve

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.cli.main import main
from toolsearch_eval.data import load_data
from toolsearch_eval.label_independence import check_independence, followed

TOOLS = [{"name": f"tool_{number}", "description": f"words number{number}"} for number in range(8)]
QUERIES = [{"query_id": f"q{number}", "text": f"ask {number}"} for number in range(10)]


class Numbers:
    """Gives tool n the score 8 - n, for every query."""

    name = "numbers"

    def index(self, tools: Sequence[Tool]) -> None:
        """Nothing to read."""

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """The same for all."""
        return [[(f"tool_{number}", 8.0 - number) for number in range(8)][:depth] for _ in queries]


def labels(grades: Any) -> list[dict[str, Any]]:
    """A pass in which the grade of tool n for query m is what the function gives."""
    return [
        {"query_id": f"q{query}", "tool": f"tool_{tool}", "grade": grades(query, tool), "pass": 1}
        for query in range(10)
        for tool in range(8)
    ]


def write(write_folder: Any, grades: Any) -> Path:
    """A data set with these grades."""
    rows = labels(grades)
    qrels = "query_id\ttool\tgrade\n" + "".join(f"{row['query_id']}\t{row['tool']}\t{row['grade']}\n" for row in rows)
    made: Path = write_folder(tools=TOOLS, queries=QUERIES, judgements=rows, qrels=qrels)
    return made


def test_a_threshold_is_the_best_point_of_the_roc_curve() -> None:
    """The share is the mean of both rates at their best, as scikit-learn's curve gives it; ties stay together."""
    values = [9.0, 7.0, 7.0, 5.0, 4.0, 4.0, 2.0, 1.0]
    high = [True, True, False, True, False, False, True, False]
    wrong, right, _ = roc_curve(high, values)
    assert followed(values, high) == pytest.approx(float(((right + 1 - wrong) / 2).max()))
    assert followed([1.0, 1.0, 1.0], [True, False, False]) == 0.5


def test_one_kind_of_label_can_not_be_parted() -> None:
    """There is nothing to tell apart."""
    with pytest.raises(UsageError, match="only one"):
        followed([1.0, 2.0], [True, True])


def test_grades_made_from_a_ranker_are_found(write_folder: Any) -> None:
    """The first three of the ranker are graded 2: every grade follows a threshold between ranks 3 and 4."""
    data = load_data(str(write(write_folder, lambda _, tool: 2 if tool < 3 else 0)))
    found = check_independence(data, [Numbers()])
    assert {(each.turn, each.by, each.grade, each.share, each.labels) for each in found} == {
        (1, by, grade, 1.0, (30, 50)) for by in ("score", "rank") for grade in (1, 2)
    }
    assert all(each.follows for each in found)


def test_grades_of_a_reader_do_not_follow(write_folder: Any) -> None:
    """Right tools that stand anywhere: at best 30 of 30 high at rank 7 or above, and 20 of 50 others below.

    Query m has the tools m, m + 2 and m + 4 (modulo 8); no threshold parts more than a part of them.
    """
    data = load_data(str(write(write_folder, lambda query, tool: 2 if (tool - query) % 8 in (0, 2, 4) else 0)))
    found = check_independence(data, [Numbers()])
    assert found and not any(each.follows for each in found)


def test_the_command_fails_and_names_pass_ranker_and_threshold(
    write_folder: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Exit code 1 with the file; without --rankers, or with grades of a reader, the same set is good."""
    folder = write(write_folder, lambda _, tool: 2 if tool < 3 else 0)
    (tmp_path / "planted_numbers.py").write_text(
        "class Numbers:\n"
        "    name = 'numbers'\n"
        "    def index(self, tools): pass\n"
        "    def rank(self, queries, depth):\n"
        "        return [[(f'tool_{n}', 8.0 - n) for n in range(8)][:depth] for _ in queries]\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["dataset", "check", str(folder)]) == 0
    assert main(["dataset", "check", str(folder), "--rankers", "planted_numbers:Numbers"]) == 1
    said = capsys.readouterr()
    assert "judgements.jsonl" in said.err
    assert "pass 1: 100.0% of the grades follow one threshold of" in said.err
    assert main(["dataset", "check", str(folder), "--rankers", "regex"]) == 0
    assert "pass 1: 50.0% of the grades follow" in capsys.readouterr().out
