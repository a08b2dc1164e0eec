"""What holds for every test: the same examples every time, no network unless asked for, no skips where it is."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

WORLD = Path(__file__).parent / "world"
"""The tests that need the outside world; they run with `--world` alone, as `make check-world` does."""

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

_skipped: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--world`: run the tests that need the outside world too, and take a skipped test for a failure."""
    parser.addoption("--world", action="store_true", help="run tests/world too; a skipped test is a failure then")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests of the outside world unless they were asked for."""
    return True if collection_path == WORLD and not config.getoption("--world") else None


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Remember a file that was skipped as a whole."""
    if report.skipped:
        _skipped.append(report.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember a test that was skipped, or that was expected to fail and did."""
    if report.skipped:
        _skipped.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run against the outside world in which something was skipped: what did not run proves nothing."""
    if session.config.getoption("--world") and _skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Name the skipped tests that made the run fail."""
    if config.getoption("--world") and _skipped:
        terminalreporter.section("skipped, which counts as failed here", red=True)
        for name in _skipped:
            terminalreporter.line(name)


def _is_local(address: object) -> bool:
    """Whether a socket address stays on this machine: a Unix socket, `localhost` or a loopback address."""
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Refuse connections beyond this machine, so that a test that needs the network fails wherever it runs."""
    if WORLD in request.path.parents:
        yield
        return
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if not _is_local(address):
            raise RuntimeError(f"a test outside tests/world tried to reach {address!r}; pass in a small fake instead")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    yield
