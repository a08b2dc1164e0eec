"""`toolsearch dataset agreement`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolsearch_eval.cli.main import main

QUERIES = [{"query_id": f"q{number}", "text": f"text {number}\u202e"} for number in range(3)]
GRADES = {"q0": (2, 2), "q1": (0, 2), "q2": (1, 0)}


@pytest.fixture(autouse=True)
def folder(write_folder: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set with two passes over three pairs, the first by ann and the second by ben."""
    labels = [
        {"query_id": query_id, "tool": "send_mail", "grade": grade, "judge": judge, "pass": turn}
        for query_id, grades in GRADES.items()
        for turn, (judge, grade) in enumerate(zip(("ann", "ben"), grades, strict=True), 1)
    ]
    made: Path = write_folder(queries=QUERIES, judgements=labels, qrels=None)
    monkeypatch.chdir(made.parent)
    return made


def test_the_published_form(capsys: pytest.CaptureFixture[str]) -> None:
    """One object with alphas and their intervals, tables, and the widest differences first."""
    assert main(["dataset", "agreement", "set", "--json", "--worst", "1"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["raters"], form["units"], form["groups"], form["equal"]) == (["pass 1", "pass 2"], 3, 3, 1)
    assert list(form["alpha"]) == ["nominal", "ordinal"]
    # Coincidences of (2,2) (0,2) (1,0): n0 = 2, n1 = 1, n2 = 3; differing pairs 4; 1 - 5 * 4 / (2 * (2 + 6 + 3)).
    assert form["alpha"]["nominal"]["value"] == pytest.approx(1 - 20 / 22)
    assert form["confusion"][0]["counts"] == [
        {"a": 0, "b": 2, "count": 1},
        {"a": 1, "b": 0, "count": 1},
        {"a": 2, "b": 2, "count": 1},
    ]
    assert form["differences"] == 2
    assert form["worst"] == [{"query_id": "q1", "tool": "send_mail", "grades": {"pass 1": 0, "pass 2": 2}}]


def test_for_readers(capsys: pytest.CaptureFixture[str]) -> None:
    """Alpha, the table and the differences with their texts, made safe; judges by name."""
    assert main(["dataset", "agreement", "set", "--by", "judge", "--rater", "ann", "--rater", "ben"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ann, ben: 3 units in 3 groups were labelled more than once\nKrippendorff's alpha, nominal: ")
    assert "equal: 1 of 3 (33.3%)" in out
    assert (
        "ann \\ ben  2  1  0\n---------  -  -  -\n2          1  0  0\n1          0  0  1\n0          1  0  0\n" in out
    )
    assert "q1  send_mail  ann: 0, ben: 2" in out
    assert "\u202e" not in out


WRONG = [
    (["set", "--rater", "3"], "unknown pass '3'"),
    (["set", "--by", "judge", "--rater", "bne"], "unknown judge 'bne'. Did you mean 'ben'"),
    (["set", "--rounds", "0"], "--rounds is 0; it must be a whole number of at least 1"),
    (["set", "--rater", "1"], "was labelled by two raters; known: pass 1, pass 2. `toolsearch dataset pool --again`"),
]


@pytest.mark.parametrize(("arguments", "expected"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_wrong_use(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake, or nothing to compare, is told on stderr and gives 2."""
    assert main(["dataset", "agreement", *arguments]) == 2
    assert expected in capsys.readouterr().err
