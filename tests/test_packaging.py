"""What an installation puts on a machine."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "toolsearch": ROOT / "toolsearch" / "toolsearch",
    "toolsearch_eval": ROOT / "eval" / "toolsearch_eval",
    "toolsearch_datasets": ROOT / "datasets" / "toolsearch_datasets",
    "toolsearch_app": ROOT / "app" / "toolsearch_app",
}
DATA_SUFFIXES = {".json", ".jsonl", ".toml", ".tsv", ".csv", ".txt"}


@pytest.fixture(scope="session")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The paths inside a wheel that was built from this tree, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_wheel_holds_the_four_packages_and_nothing_else(wheel_names: list[str]) -> None:
    """An installation adds four uniquely named packages, never a bare `eval`, `app`, `datasets` or `tests`."""
    top = {PurePosixPath(name).parts[0] for name in wheel_names}
    assert {name for name in top if not name.endswith(".dist-info")} == set(PACKAGES)
    assert [name for name in top if name.endswith(".dist-info")] == ["toolsearch-0.1.0.dist-info"]


def test_wheel_holds_no_tests(wheel_names: list[str]) -> None:
    """Tests stay in the repository."""
    assert [name for name in wheel_names if "tests" in PurePosixPath(name).parts or "/test_" in name] == []


def test_wheel_holds_every_module_and_every_data_file(wheel_names: list[str]) -> None:
    """What the packages read at run time is installed with them, each file of the tree at its place."""
    expected = {
        f"{package}/{path.relative_to(folder).as_posix()}"
        for package, folder in PACKAGES.items()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in DATA_SUFFIXES | {".py"}
    }
    assert "toolsearch/catalog/builtin_tools.jsonl" in expected
    assert expected - set(wheel_names) == set()


def test_wheel_offers_the_command(wheel_names: list[str]) -> None:
    """The installation brings a `toolsearch` command and the licence."""
    inside = {PurePosixPath(name).name for name in wheel_names if ".dist-info/" in name}
    assert {"entry_points.txt", "LICENSE", "METADATA"} <= inside


@pytest.mark.parametrize("folder", ["toolsearch", "eval", "datasets", "app"])
def test_source_roots_are_no_packages(folder: str) -> None:
    """A source root holds a package and is none, so that its own name can't be imported by accident."""
    assert not (ROOT / folder / "__init__.py").exists()
