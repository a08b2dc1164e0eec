from __future__ import annotations

from pathlib import Path

import pytest

from toolsearch_eval.cli.figures_entry import main
from toolsearch_eval.figures import block_text, differences, rewritten

LINE = {"split": "dev", "queries": 1200, "ranker": "default", "nDCG@10": "0.500 (0.400 to 0.600)", "p50 ms": 0.4}
FIGURES = {"command": "make figures", "date": "2026-01-02", "fingerprints": {"tiny": "abc"}, "lines": [LINE]}
README = "before\n<!-- figures:builtin -->\nold\n<!-- /figures -->\nafter\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a README that has one marked block, as the current one."""
    (tmp_path / "README.md").write_text(README, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_block_shows_the_table_and_how_it_was_made() -> None:
    """Names of the values are the header; numbers are written out; date and command follow."""
    text = block_text(FIGURES)
    assert "| split | queries | ranker | nDCG@10 | p50 ms |" in text
    assert "| dev | 1,200 | default | 0.500 (0.400 to 0.600) | 0.400 |" in text
    assert "Measured 2026-01-02 by `make figures`." in text


def test_only_marked_blocks_with_figures_are_rewritten() -> None:
    """The text around a block and a block without figures stay as they are; a second time changes nothing."""
    once = rewritten(README, {"builtin": FIGURES})
    assert once.startswith("before\n<!-- figures:builtin -->\n\n| split")
    assert once.endswith("<!-- /figures -->\nafter\n")
    assert rewritten(once, {"builtin": FIGURES}) == once
    assert rewritten(README, {"suites": FIGURES}) == README


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"p50 ms": 0.8}, []),
        ({"p50 ms": 0.2}, []),
        ({"p50 ms": 0.81}, ["line 1 (dev 1200 default), p50 ms: stored 0.4, measured 0.81"]),
        ({"queries": 1201}, ["line 1 (dev 1201 default), queries: stored 1200, measured 1201"]),
    ],
)
def test_quality_must_be_equal_and_times_within_a_factor_of_two(change: dict[str, object], expected: list[str]) -> None:
    """A doubled time is noise, more is not, and any other value must be the same."""
    assert differences(FIGURES, {**FIGURES, "lines": [{**LINE, **change}]}) == expected


def test_changed_data_and_missing_lines_are_differences() -> None:
    """Another fingerprint is named by its set, and so is another number of lines."""
    found = differences(FIGURES, {**FIGURES, "fingerprints": {"tiny": "abd"}, "lines": []})
    assert found == ["the data changed: tiny", "1 lines are stored, 0 were measured"]


def test_figures_are_made_then_hold_then_fall(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was made passes the check; one changed by hand in the README fails it."""
    monkeypatch.setattr("toolsearch_eval.figures.TIME_FACTOR", float("inf"))  # times are of no concern here
    assert main(["--data", "tiny", "--check"]) == 1
    assert main(["--data", "tiny"]) == 0
    assert main(["--data", "tiny", "--check"]) == 0
    made = (folder / "README.md").read_text(encoding="utf-8")
    assert "default" in made
    (folder / "README.md").write_text(made.replace("default", "defualt"), encoding="utf-8")
    assert main(["--data", "tiny", "--check"]) == 1
    assert "does not show the stored figures" in capsys.readouterr().err


def test_a_folder_of_suites_is_measured_and_kept(folder: Path, tmp_path: Path) -> None:
    """Each set has its line and the mean over the sets comes last; without the folder the stored block stays."""
    (folder / "README.md").write_text(README.replace("figures:builtin", "figures:suites"), encoding="utf-8")
    suite = tmp_path / "suites" / "one"
    suite.mkdir(parents=True)
    (suite / "catalog.jsonl").write_text('{"name": "send_message"}\n', encoding="utf-8")
    (suite / "queries.jsonl").write_text('{"query_id": "q", "text": "send a message"}\n', encoding="utf-8")
    (suite / "qrels.tsv").write_text("query_id\ttool\tgrade\nq\tsend_message\t1\n", encoding="utf-8")
    assert main(["--data", "tiny", "--suites", str(suite.parent)]) == 0
    made = (folder / "README.md").read_text(encoding="utf-8")
    assert "| one | 1 | 1 | 1.000 | 1.000 | 1.000 |" in made
    assert "| mean of the sets |  |  | 1.000 | 1.000 | 1.000 |" in made
    assert main(["--data", "tiny"]) == 0
    assert (folder / "README.md").read_text(encoding="utf-8") == made


@pytest.mark.parametrize(
    ("readme", "store", "arguments", "expected"),
    [
        ("nothing marked\n", None, [], "no marked block"),
        (README.replace("builtin", "speed"), None, [], "unknown block 'speed'"),
        (README, "not json", [], "can't be read as JSON"),
        (README, "[]", [], "must be an object"),
        (README, None, ["--suites", "empty"], "holds no folder"),
        (README, None, ["--readme", "missing.md"], "missing.md can't be read"),
    ],
)
def test_wrong_use_is_one_text_and_exit_code_2(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    readme: str,
    store: str | None,
    arguments: list[str],
    expected: str,
) -> None:
    """A README without blocks, a broken store or an empty folder say what is wrong and change nothing."""
    (folder / "README.md").write_text(readme, encoding="utf-8")
    if store is not None:
        (folder / "docs").mkdir()
        (folder / "docs" / "results.json").write_text(store, encoding="utf-8")
    assert main(["--data", "tiny", *arguments]) == 2
    assert expected in capsys.readouterr().err
    assert (folder / "README.md").read_text(encoding="utf-8") == readme
