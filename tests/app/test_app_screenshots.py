"""Pictures of the dashboard, as far as they can be tested without a browser."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from toolsearch.errors import UsageError
from toolsearch_app.screenshots import material, stage
from toolsearch_app.screenshots.__main__ import main
from toolsearch_app.screenshots.scenes import SCENES, Scene
from toolsearch_app.screenshots.take import LARGEST_BYTES
from toolsearch_eval.cli.main import build_parser

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
VIEWS = ROOT / "app" / "toolsearch_app" / "views"


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


def test_without_a_browser_no_picture_is_begun(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The missing browser is told before a minute of work, and no folder is made."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main([str(tmp_path / "pictures")]) == 2
    assert "apt-get install chromium" in capsys.readouterr().err
    assert not (tmp_path / "pictures").exists()


@pytest.mark.parametrize("words", [[], ["--help"], ["a", "b"]])
def test_one_folder_is_named(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else than one folder is answered with the usage."""
    assert main(words) == 2
    assert "usage:" in capsys.readouterr().err


def test_the_commands_behind_the_pictures_are_taken_by_the_command_line(tmp_path: Path) -> None:
    """Each is parsed without a fault, and none of them opens a test split."""
    verbs = [build_parser(words[0]).parse_args(list(words)) for words in material.commands(tmp_path)]
    assert [verb.verb for verb in verbs] == ["eval", "tune"]
    assert verbs[0].split is None
    assert verbs[1].keep_test_closed


def test_a_failing_command_is_told_with_its_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a command says of its failure reaches whoever wanted pictures."""
    monkeypatch.setattr(material, "RUN", ("eval", "--data", "nowhere"))
    with pytest.raises(UsageError, match=r"(?s)toolsearch eval failed with code 2.*nowhere"):
        material.make(tmp_path)


@pytest.mark.parametrize("scene", SCENES, ids=[scene.name for scene in SCENES])
def test_a_scene_is_of_a_page_that_exists_and_its_picture_is_there(scene: Scene) -> None:
    """The page has a script, and its heading; the picture is a PNG of the scene's size that a README can bear."""
    page = scene.path.partition("?")[0] or "explore"
    script = (VIEWS / f"{page}.py").read_text("utf-8")
    assert f'"{scene.heading}"' in script or not scene.heading
    picture = (PICTURES / f"{scene.name}.png").read_bytes()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", picture[16:24]) == (scene.width, scene.height)
    assert len(picture) <= LARGEST_BYTES


def test_no_other_picture_lies_there() -> None:
    """A picture whose scene went away goes with it."""
    assert {path.name for path in PICTURES.iterdir()} == {f"{scene.name}.png" for scene in SCENES}
