"""The rules that hold for every test, seen to hold."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")


def _run(folder: Path, body: str, *options: str) -> tuple[int, str]:
    """Run one test in a `world` folder under the same rules; the exit status and the output."""
    (folder / "world").mkdir()
    shutil.copy(CONFTEST, folder)
    (folder / "world" / "test_sample.py").write_text(f"import pytest\n\ndef test_sample():\n    {body}\n")
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("body", "options", "status"),
    [
        ("pass", ("--world",), pytest.ExitCode.OK),
        ("pytest.skip('no server here')", ("--world",), pytest.ExitCode.TESTS_FAILED),
        ("pytest.xfail('not yet')", ("--world",), pytest.ExitCode.TESTS_FAILED),
        ("assert False", ("--world",), pytest.ExitCode.TESTS_FAILED),
        ("pass", (), pytest.ExitCode.NO_TESTS_COLLECTED),
    ],
)
def test_world_runs_when_asked_and_skips_fail_it(
    tmp_path: Path, body: str, options: tuple[str, ...], status: int
) -> None:
    """Tests of the outside world run with `--world` alone, and one that is skipped there fails the run."""
    assert _run(tmp_path, body, *options)[0] == status


def test_skipped_world_test_is_named(tmp_path: Path) -> None:
    """A run that fails for a skipped test says which one it was."""
    output = _run(tmp_path, "pytest.skip('no server here')", "--world")[1]
    assert "world/test_sample.py::test_sample" in output.partition("counts as failed here")[2]


def test_connection_beyond_this_machine_is_refused() -> None:
    """A test that reaches for the network fails and is told what to do."""
    with socket.socket() as connection, pytest.raises(RuntimeError, match="pass in a small fake"):
        connection.connect(("192.0.2.1", 80))
