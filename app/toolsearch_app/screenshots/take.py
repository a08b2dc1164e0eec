"""Photographs scenes of a dashboard that runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolsearch.errors import UsageError
from toolsearch_app.screenshots import material, stage
from toolsearch_app.screenshots.scenes import SCENES, Scene

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LARGEST_BYTES: Final = 300_000
"""A page of the README is loaded with all of its pictures."""
_MARGIN: Final = 24
# Brings a heading to the top of the column that scrolls.
_SCROLL: Final = """([heading, margin]) => {
  const all = [...document.querySelectorAll('[data-testid="stMain"] :is(h1, h2, h3)')];
  const found = all.find(each => each.innerText.trim() === heading);
  if (!found) return false;
  const column = document.querySelector('[data-testid="stMain"]');
  const bar = document.querySelector('[data-testid="stHeader"]');
  const top = bar ? bar.getBoundingClientRect().bottom : 0;
  column.scrollTop += found.getBoundingClientRect().top - top - margin;
  return true;
}"""


def take(opened: Browser, address: str, scene: Scene, folder: Path) -> Path:
    """One picture as PNG, in the scene's size.

    Args:
        opened: The browser.
        address: Of the dashboard, without a slash at the end.
        scene: What is photographed.
        folder: Where the file is put, which is written over.

    Returns:
        The file.

    Raises:
        UsageError: The page does not stand within a minute, the heading is not on it, or the file is larger than
            `LARGEST_BYTES`.
    """
    from playwright.sync_api import Error

    page = opened.new_page(
        viewport={"width": scene.width, "height": scene.height}, color_scheme=scene.scheme, reduced_motion="reduce"
    )
    try:
        stage.open_page(page, f"{address}/{scene.path}")
        if scene.heading and not page.evaluate(_SCROLL, [scene.heading, _MARGIN]):
            raise UsageError(f"the page {scene.path!r} has no heading {scene.heading!r}; name one that it has.")
        stage.settle(page)
        path = folder / f"{scene.name}.png"
        page.screenshot(path=path, animations="disabled", caret="hide")
    except Error as error:
        raise UsageError(f"the page {scene.path!r} can't be photographed: {error.message}") from error
    finally:
        page.close()
    if (size := path.stat().st_size) > LARGEST_BYTES:
        raise UsageError(f"{path} has {size:,} bytes; at most {LARGEST_BYTES:,} are good for a README.")
    return path


def take_all(folder: Path, *, tell: Callable[[str], None], scenes: Iterable[Scene] = SCENES) -> None:
    """All pictures, of a dashboard with the shipped data that is started for them and ended again.

    Args:
        folder: Where the files are put; made if it is not there.
        tell: Says what is done.
        scenes: What is photographed.

    Raises:
        UsageError: No browser is there, or something failed.
    """
    stage.find_browser()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        tell("a run and a study on the shipped data…")
        material.make(place)
        options = [f"--{kind}={place / kind}" for kind in ("runs", "studies", "profiles", "baselines")]
        with stage.dashboard(place, options) as address, stage.browser() as opened:
            for scene in scenes:
                path = take(opened, address, scene, folder)
                tell(f"{path}: {path.stat().st_size:,} bytes")
