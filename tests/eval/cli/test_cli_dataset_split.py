"""`toolsearch dataset split`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolsearch_eval.cli.main import main
from toolsearch_eval.data import load_data

QUERIES = [{"query_id": f"q{number}", "text": f"text {number}", "slice": "ab"[number % 2]} for number in range(8)]


@pytest.fixture(autouse=True)
def folder(write_folder: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set without any split."""
    made: Path = write_folder(queries=QUERIES)
    monkeypatch.chdir(made.parent)
    return made


def test_splitting_is_for_good(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Halves in every slice, then nothing moves; queries that are added later get theirs, and the check holds."""
    assert main(["dataset", "split", "set", "--check"]) == 1
    assert "queries.jsonl:1: split: 'q0' has none" in capsys.readouterr().err
    assert main(["dataset", "split", "set", "--json", "--dry-run"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["rule"], form["kept"], form["new"], form["written"]) == ("balanced", 0, 8, False)
    assert form["slices"] == {"a": {"dev": 2, "test": 2}, "b": {"dev": 2, "test": 2}}
    assert main(["dataset", "split", "set"]) == 0
    assert "0 groups kept theirs, 8 were given one by the rule 'balanced'" in capsys.readouterr().out
    before = {query.query_id: query.split for query in load_data(folder).queries}
    with (folder / "queries.jsonl").open("a") as file:
        file.write('{"query_id": "new", "text": "more", "slice": "a"}\n')
    assert main(["dataset", "split", "set", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["new"] == 1
    after = {query.query_id: query.split for query in load_data(folder).queries}
    assert before.items() <= after.items()
    assert main(["dataset", "split", "set", "--check", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["holds"], form["by"], form["errors"]) == (True, "frozen", [])


def test_a_frozen_split_that_was_changed_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The check fails with the place, and nothing is added to it."""
    assert main(["dataset", "split", "set"]) == 0
    text = (folder / "queries.jsonl").read_text()
    changed = text.replace('"dev"', '"x"').replace('"test"', '"dev"').replace('"x"', '"test"')
    (folder / "queries.jsonl").write_text(changed)
    for arguments, code in (["--check"], 1), ([], 2):
        assert main(["dataset", "split", "set", *arguments]) == code
        assert "dataset.toml:0: split_digest: does not fit the groups" in capsys.readouterr().err
    assert (folder / "queries.jsonl").read_text() == changed


def test_the_shipped_split_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """The split of the shipped set is the hash's, and splitting it again would move nothing."""
    assert main(["dataset", "split", "builtin", "--check"]) == 0
    assert "builtin: every group is where its hash puts it" in capsys.readouterr().out
    assert main(["dataset", "split", "builtin", "--dry-run", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["rule"], form["new"]) == ("hash", 0)


def test_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown rule is told with the known ones and gives 2."""
    assert main(["dataset", "split", "set", "--rule", "coin"]) == 2
    assert "invalid choice: 'coin'" in capsys.readouterr().err
