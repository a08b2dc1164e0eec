"""The ablation among the project's documents, by the command of the figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from toolsearch_eval.ablation.kept import DEVELOPMENT, written
from toolsearch_eval.cli.figures_entry import main
from toolsearch_eval.figures.store import read_results

ROOT = Path(__file__).parents[3]
README = "<!-- figures:confidence -->\nold\n<!-- /figures -->\n"
TOOLS = {"send_mail": "Send a letter.", "read_file": "Read a text."}
QUERIES = [("letter", "send_mail"), ("text", "read_file")]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run the command for the ablation alone, on the set `tiny`, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_text(README, encoding="utf-8")
    return lambda *arguments: main(["--only", "ablation", "--data", "tiny", *arguments])


def test_the_document_is_made_then_holds_then_falls(
    make: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """What was measured passes the check; a figure changed by hand fails it, in the document and in its data."""
    assert main(["--only", "confidence", "--data", "tiny"]) == 0
    readme = Path("README.md").read_text(encoding="utf-8")
    assert make("--check") == 1
    assert "ablation: no figures are stored" in capsys.readouterr().err
    assert make() == 0
    text = Path("docs/ablation.md").read_text(encoding="utf-8")
    assert "| built-in translations | 0.8088 | -0.1000 (" in text
    assert make("--check") == 0
    assert Path("README.md").read_text(encoding="utf-8") == readme
    Path("docs/ablation.md").write_text(text.replace("-0.1000", "-0.1001"), encoding="utf-8")
    capsys.readouterr()
    assert make("--check") == 1
    assert "docs/ablation.md does not show the stored figures" in capsys.readouterr().err
    store = Path("docs/ablation.json")
    store.write_text(store.read_text(encoding="utf-8").replace("-0.1000", "-0.1001"), encoding="utf-8")
    assert make("--check") == 1
    assert "ablation, dev: line " in capsys.readouterr().err


def test_figures_of_another_profile_fall_without_being_measured(
    make: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """A check that does not name the ablation tells that it was measured with other weights than today's."""
    assert make() == 0
    store = Path("docs/ablation.json")
    form = json.loads(store.read_text(encoding="utf-8"))
    form["dev"]["fingerprints"]["profile default"] = "0"
    store.write_text(json.dumps(form), encoding="utf-8")
    capsys.readouterr()
    assert main(["--only", "confidence", "--data", "tiny", "--check"]) == 1
    told = capsys.readouterr().err
    assert "ablation, dev: measured with another profile default" in told
    assert "measuring ablation" not in told


def test_of_a_folder_of_sets_only_those_for_development_are_opened(
    make: Callable[..., int], make_set: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A held-back set beside them may be unreadable: it is not looked at; without the folder its figures stay."""
    make_set("suites/metatool", TOOLS, QUERIES, "test")
    held = make_set("suites/apibank", TOOLS, QUERIES, "test")
    (held / "queries.jsonl").write_text("no JSON", encoding="utf-8")
    assert make("--suites", "suites") == 0
    text = Path("docs/ablation.md").read_text(encoding="utf-8")
    assert "## Measured on tiny\n" in text
    assert "## Measured on tiny, metatool\n" in text
    assert "apibank" not in text
    assert make() == 0
    assert Path("docs/ablation.md").read_text(encoding="utf-8") == text


def test_a_folder_without_a_development_set_is_refused(
    make: Callable[..., int], make_set: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the sets that are looked for, and nothing is written."""
    make_set("suites/apibank", TOOLS, QUERIES, "test")
    assert make("--suites", "suites") == 2
    told = capsys.readouterr().err
    assert "suites holds none of the development sets" in told
    assert all(name in told for name in DEVELOPMENT)
    assert not Path("docs").exists()


def test_the_shipped_document_shows_what_is_kept() -> None:
    """Document and data say the same to the letter: on the shipped set, and over it and the development sets."""
    stored = read_results(ROOT / "docs" / "ablation.json")
    assert set(stored) == {"dev", "suites"}
    assert set(stored["suites"].fingerprints) == {"builtin", *DEVELOPMENT, "profile default"}
    assert (ROOT / "docs" / "ablation.md").read_text(encoding="utf-8") == written(stored)
