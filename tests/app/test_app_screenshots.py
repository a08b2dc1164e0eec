"""Pictures of the dashboard, as far as they can be tested without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolsearch.errors import UsageError
from toolsearch_app.screenshots import stage


def test_without_a_browser_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where no Chromium is on the PATH the message names the programs and a way to one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="apt-get install chromium"):
        stage.find_browser()


def test_the_first_browser_of_the_path_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program of a later name is found too, and one that can't be run is none."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, mode in (("chromium", 0o644), ("google-chrome", 0o755)):
        (tmp_path / name).write_text("#!/bin/sh\n", "utf-8")
        (tmp_path / name).chmod(mode)
    assert stage.find_browser() == str(tmp_path / "google-chrome")


def test_a_dashboard_that_does_not_start_is_told_with_its_words(tmp_path: Path) -> None:
    """What the command says of a wrong option reaches whoever wanted the dashboard."""
    with (
        pytest.raises(UsageError, match=r"(?s)did not start.*which is no folder"),
        stage.dashboard(tmp_path, ["--data", str(tmp_path / "missing")]),
    ):
        raise AssertionError("it started")
