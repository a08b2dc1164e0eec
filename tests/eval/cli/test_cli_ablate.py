"""`toolsearch ablate`: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from toolsearch_eval.cli.main import INTERRUPTED, main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_published_form(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON object has the published fields; of seven queries in five groups one needs the built-in translations."""
    assert main(["ablate", "--data", "tiny", "--json"]) == 0
    out, err = capsys.readouterr()
    form: dict[str, Any] = json.loads(out)
    assert list(form) == [
        "schema_version", "profile", "measure", "depth", "seed", "data", "whole", "left_out", "bare", "added",
        "not_worse_without", "no_part", "no_switch", "warnings",
    ]  # fmt: skip
    assert [form["data"][0][name] for name in ("name", "split", "tools", "queries", "groups")] == [
        "tiny",
        "dev",
        12,
        7,
        5,
    ]
    parts = {each["part"]: each for each in form["left_out"]}
    assert parts["translations"]["overall"]["wins"] == 0
    assert parts["translations"]["overall"]["losses"] == 1
    assert parts["translations"]["overall"]["difference"] < 0
    assert "translations" not in form["not_worse_without"]
    assert form["warnings"] == ["'tiny' has 5 groups: too few to tell"]
    assert err == "warning: 'tiny' has 5 groups: too few to tell\n"


def test_what_is_printed_and_written_is_the_same_with_any_number_of_jobs(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """Tables, document and CSV do not differ by a byte; the document says how it was made."""
    outcomes = []
    for jobs in ("1", "2"):
        files = ["--markdown", "out.md", "--csv", "out.csv"]
        assert main(["ablate", "--data", "tiny", "--split", "all", "--jobs", jobs, *files]) == 0
        outcomes.append((capsys.readouterr().out, (folder / "out.md").read_text(), (folder / "out.csv").read_text()))
    assert outcomes[0] == outcomes[1]
    printed, document, lines = outcomes[0]
    assert "default without each part: nDCG@10, tiny, all" in printed
    assert "`toolsearch ablate --profile default --data tiny --split all`" in document
    assert {line["table"] for line in csv.DictReader(lines.splitlines())} == {"left_out", "added"}


def test_a_profile_of_ones_own_is_taken_apart(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """A TOML file with one arm has parts of this arm alone."""
    (folder / "own.toml").write_text('name = "own"\nweight_keyword = 0.0\n', encoding="utf-8")
    assert main(["ablate", "--data", "tiny", "--profile", "own.toml", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert form["profile"] == "own"
    keys = {each["part"] for each in form["left_out"]}
    assert "saturation" in keys
    assert not {"keyword-arm", "tfidf-arm"} & keys


WRONG: list[tuple[list[str], str]] = [
    (["--data", "tinny"], "'tinny'. Did you mean 'tiny'?"),
    (["--data", "tiny", "tiny"], "given several times: tiny"),
    (["--profile", "defalt"], "'defalt'. Did you mean 'default'?"),
    (["--data", "tiny", "--measure", "nDGC@10"], "nDGC"),
    (["--data", "tiny", "--depth", "5"], "nDCG@10 looks deeper than the depth 5"),
    (["--data", "tiny", "--depth", "0"], "--depth is 0; it must be a whole number of at least 1."),
    (["--data", "tiny", "--jobs", "0"], "--jobs is 0; it must be a whole number of at least 1."),
    (["--data", "tiny", "--seed", "-1"], "--seed is -1; it must be a whole number of at least 0."),
    (["--data", "tiny", "--markdown", "out.txt"], "--markdown is 'out.txt'; the file's name must end in .md."),
    (["--data", "tiny", "--csv", "out"], "--csv is 'out'; the file's name must end in .csv."),
    (["--data", "tiny", "--split", "train"], "invalid choice: 'train'"),
    (["--dat", "tiny"], "unrecognized arguments"),
]


@pytest.mark.parametrize(("arguments", "expected"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_wrong_use_is_one_text_and_exit_code_2(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A slip of the pen says what was given and what is accepted, and nothing is printed on stdout."""
    assert main(["ablate", *arguments]) == 2
    out, err = capsys.readouterr()
    assert expected in err
    assert "Traceback" not in err
    assert out == ""


def test_an_interrupt_says_that_nothing_was_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """Ctrl-C leaves no half file."""

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("toolsearch_eval.ablation.measure.ablate", stopped)
    assert main(["ablate", "--data", "tiny", "--csv", "out.csv"]) == INTERRUPTED
    assert "nothing was written" in capsys.readouterr().err
    assert list(folder.iterdir()) == []
