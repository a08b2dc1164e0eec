"""The dashboard as `toolsearch app` serves it, and the machine's own Chromium before it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolsearch.errors import UsageError
from toolsearch_eval.extras import require

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
"""The programs that are looked for, in this order."""
START_SECONDS: Final = 60.0
SETTLE_MILLISECONDS: Final = 60_000
_GRACE_SECONDS: Final = 20

# A page stands when the script has run to its end, nothing is greyed out as old, and every chart is drawn.
_SETTLED: Final = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  if (!app || app.getAttribute('data-test-script-state') !== 'notRunning') return false;
  if (!document.querySelector('[data-testid="stMain"] h1')) return false;
  if (document.querySelector('[data-testid="stSkeleton"], [data-stale="true"]')) return false;
  const drawn = chart => chart.querySelector('canvas, svg');
  return [...document.querySelectorAll('[data-testid="stVegaLiteChart"]')].every(drawn);
}"""
# Streamlit's own column scrolls, not the document; its height is that of the whole page.
_HEIGHT: Final = "() => document.querySelector('[data-testid=\"stMain\"]').scrollHeight"


def find_browser() -> str:
    """The path of the machine's Chromium.

    Raises:
        UsageError: There is none, or the library that drives it is not installed.
    """
    require("playwright", extra="dev", purpose="a picture of the dashboard")
    for name in BROWSERS:
        if (path := shutil.which(name)) is not None:
            return path
    raise UsageError(
        f"a picture of the dashboard needs a browser, and none of {', '.join(BROWSERS)} is on the PATH; "
        "install one, on Debian with: apt-get install chromium."
    )


@contextmanager
def browser() -> Iterator[Browser]:
    """The machine's Chromium without a window, closed in the end.

    Raises:
        UsageError: There is none, or the library that drives it is not installed.
    """
    path = find_browser()
    from playwright.sync_api import sync_playwright

    # Chromium refuses its sandbox to root, and the pages are ours.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=path, args=options)
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def dashboard(folder: Path, options: Sequence[str] = ()) -> Iterator[str]:
    """The dashboard in a process of its own, ended in the end.

    Args:
        folder: Where it is started; the folders with runs, profiles, studies and baselines are looked for there unless
            the options name others. What the server says is kept there in `dashboard.log`.
        options: More for `toolsearch app`.

    Yields:
        Its address, without a slash at the end.

    Raises:
        UsageError: It ended at once, or did not answer within a minute; with what it said.
    """
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "toolsearch_eval.cli.main", "app", "--headless", "--port", str(port), *options]
    log = folder / "dashboard.log"
    with open(log, "wb") as said:
        server = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            _wait_for(f"{address}/_stcore/health", server, log)
            yield address
        finally:
            server.terminate()
            try:
                server.wait(_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def settle(page: Page) -> None:
    """Wait until the page stands: its script has ended, nothing on it is old, and its height stays the same.

    Raises:
        playwright.sync_api.TimeoutError: It did not within a minute.
    """
    before = -1
    while True:
        page.wait_for_function(_SETTLED, timeout=SETTLE_MILLISECONDS)
        height = int(page.evaluate(_HEIGHT))
        if height == before:
            return
        before = height
        page.wait_for_timeout(250)


def open_page(page: Page, address: str) -> None:
    """Go to an address of the dashboard and wait until it stands."""
    page.goto(address)
    settle(page)


def whole_height(page: Page) -> int:
    """How high the page is that stands there, in pixels, with what has to be scrolled to."""
    return int(page.evaluate(_HEIGHT))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            if server.poll() is not None or time.monotonic() > until:
                said = log.read_text("utf-8", errors="replace")[-2000:]
                raise UsageError(f"the dashboard did not start; it said: {said}") from None
            time.sleep(0.1)
