"""The dashboard with small data of its own, in the machine's Chromium, and a watch over what it must never do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Dialog, Page, expect

import toolsearch_datasets
from toolsearch_app.screenshots import stage
from toolsearch_eval.cli.main import main

expect.set_options(timeout=stage.SETTLE_MILLISECONDS)

HARM = "window.harmed = true"
HOSTILE_NAME = f"<img src=x onerror='{HARM}'>"
HOSTILE_TEXT = (
    f"Reads <script>{HARM}</script> mail <b>bold</b> [link](javascript:{HARM}) ![picture](http://192.0.2.1/x.png) "
    "$\\frac{1}{2}$ :red[colour] `code` **strong** \x1b[31m"
)
BROKEN_RUN = f"broken <svg onload={HARM.replace(' ', '')}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A dashboard that runs.

    Attributes:
        address: Where it is, without a slash at the end.
        closed: Where it is read-only, as most people have it.
        folder: Holds `data`, `runs`, `studies` and `baselines`.
    """

    address: str
    closed: str
    folder: Path


@dataclass(slots=True, kw_only=True)
class Watch:
    """What pages must never do; all that did happen.

    Attributes:
        outside: Requests beyond the dashboard itself.
        faults: Messages of errors in the console, and scripts that failed.
        dialogs: Dialogs that opened.
    """

    outside: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


def _own_data(folder: Path) -> None:
    """The tiny data set under another name, with the labels of its first half alone."""
    shutil.copytree(toolsearch_datasets.folder("tiny"), folder)
    described = folder / "dataset.toml"
    described.write_text(described.read_text("utf-8").replace('name = "tiny"', 'name = "mine"'), "utf-8")


def _hostile_data(folder: Path) -> None:
    """Texts that would be markup, a script, a formula or a picture from elsewhere if anything took them for that."""
    folder.mkdir()
    (folder / "dataset.toml").write_text('name = "hostile"\nversion = "1"\nlicence = "none"\ncard = "none"\n', "utf-8")
    schema = {"type": "object", "properties": {HOSTILE_NAME: {"type": "string", "description": HOSTILE_TEXT}}}
    tools = [
        {"name": name, "description": HOSTILE_TEXT, "input_schema": schema, "server": server}
        for name, server in ((HOSTILE_NAME, f"<i onmouseover='{HARM}'>"), ("read_mail", None), ("send_mail", None))
    ]
    query = {"query_id": "<b>q</b>", "text": f"read mail {HOSTILE_NAME}", "slice": "<u>s</u>", "language": "en"}
    queries = [{**query, "split": "dev", "group": "g"}]
    for name, rows in (("catalog", tools), ("queries", queries)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    (folder / "qrels.tsv").write_text("query_id\ttool\tgrade\n<b>q</b>\tread_mail\t2\n", "utf-8")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The dashboard with `--edit` and without: two data sets with a run each, and runs, studies and baselines that are damaged."""
    folder = tmp_path_factory.mktemp("dashboard")
    (folder / "data").mkdir()
    _own_data(folder / "data" / "mine")
    _hostile_data(folder / "data" / "hostile")
    for name in ("mine", "hostile"):
        command = ["eval", "--data", str(folder / "data" / name), "--split", "all", "--ranker", "reference"]
        assert main([*command, "--ranker", "default", "--out", str(folder / "runs" / name), "--json"]) == 0
    damaged = f"<script>{HARM}</script>\n"
    for path in (Path("runs", BROKEN_RUN, "manifest.json"), Path("studies", "x", "studies.journal")):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(damaged, "utf-8")
    (folder / "baselines").mkdir()
    (folder / "baselines" / "broken.json").write_text(damaged, "utf-8")
    options = [f"--{name}={folder / name}" for name in ("data", "runs", "studies", "baselines", "profiles")]
    (folder / "closed").mkdir()
    with (
        stage.dashboard(folder, ["--edit", *options]) as address,
        stage.dashboard(folder / "closed", options) as closed,
    ):
        yield Site(address=address, closed=closed, folder=folder)


# Not for the whole run: while it is open, Playwright's loop runs in this thread, and tests elsewhere have loops of their own.
@pytest.fixture(scope="module")
def context(install: Callable[[str, str], None]) -> Iterator[BrowserContext]:
    """One window of the browser, whose tabs share what they loaded."""
    install("chromium", "chromium")
    with stage.browser() as opened:
        window = opened.new_context(viewport={"width": 1280, "height": 900})
        yield window
        window.close()


@pytest.fixture
def watch() -> Watch:
    """What was seen in this test."""
    return Watch()


@pytest.fixture
def tab(context: BrowserContext, site: Site, watch: Watch) -> Iterator[Page]:
    """A tab that fails the test if a page reached beyond its server, logged an error, opened a dialog or ran a text."""

    def dismissed(dialog: Dialog) -> None:
        watch.dialogs.append(dialog.message)
        dialog.dismiss()

    page = context.new_page()
    own = (site.address, site.closed)
    allowed = (*own, *(address.replace("http:", "ws:") for address in own), "data:", "blob:")
    page.on("request", lambda sent: None if sent.url.startswith(allowed) else watch.outside.append(sent.url))
    page.on("websocket", lambda opened: None if opened.url.startswith(allowed) else watch.outside.append(opened.url))
    page.on("console", lambda said: watch.faults.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: watch.faults.append(str(error)))
    page.on("dialog", dismissed)
    yield page
    harmed = page.evaluate("window.harmed === true")
    page.close()
    assert (watch.outside, watch.faults, watch.dialogs, harmed) == ([], [], [], False)
