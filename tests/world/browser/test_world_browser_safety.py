"""What no page may do in a real browser, whatever the data say; and what every page must be for everyone."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any, Final, Literal
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from toolsearch_app.screenshots.stage import open_page, settle

LAST_PAGE: Final = "gate"
GRAVE: Final = {"serious", "critical"}
# Faults that Streamlit brings itself, by rule and by the place that they may stand in; whatever else is found is ours.
KNOWN: Final[dict[str, str]] = {}


def addresses(tab: Page, address: str) -> list[str]:
    """Every page that the dashboard lists."""
    open_page(tab, address)
    links = tab.get_by_test_id("stSidebarNavLink")
    found = [str(link.get_attribute("href")) for link in links.all()]
    assert found[-1].rstrip("/").endswith(LAST_PAGE)
    return found


@pytest.mark.parametrize("where", ["address", "closed"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_grave_on_any_page(
    tab: Page, site: Any, scheme: Literal["light", "dark"], where: Literal["address", "closed"]
) -> None:
    """In both colour schemes, with `--edit` and without, no page breaks a grave rule of accessible pages."""
    tab.emulate_media(color_scheme=scheme)
    rules = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
    found = []
    for address in addresses(tab, getattr(site, where)):
        open_page(tab, f"{address}?data=mine")
        tab.evaluate(rules)
        for fault in tab.evaluate("axe.run({resultTypes: ['violations']})")["violations"]:
            if fault["impact"] in GRAVE:
                places = [str(node["target"]) for node in fault["nodes"]]
                found += [(address, fault["id"], place) for place in places if not is_known(fault["id"], place)]
    assert found == []


def is_known(rule: str, place: str) -> bool:
    """Whether a fault is one of Streamlit's own."""
    return rule in KNOWN and re.search(KNOWN[rule], place) is not None


@pytest.mark.parametrize("width", [1280, 400])
def test_no_page_is_wider_than_its_window(tab: Page, site: Any, width: int) -> None:
    """Nothing has to be scrolled sideways, on a desk or on a telephone, and every chart keeps inside the page."""
    tab.set_viewport_size({"width": width, "height": 900})
    for address in addresses(tab, site.address):
        open_page(tab, address)
        main = tab.get_by_test_id("stMain")
        wide = main.evaluate("main => [main.scrollWidth - main.clientWidth, document.body.scrollWidth]")
        assert wide[0] <= 0, address
        assert wide[1] <= width, address
        for chart in tab.get_by_test_id("stVegaLiteChart").all():
            box = chart.bounding_box()
            assert box is not None
            assert box["x"] >= 0, address
            assert box["x"] + box["width"] <= width, address
            drawing = chart.locator("svg").first.bounding_box()
            assert drawing is not None
            assert drawing["width"] <= box["width"] + 1, address


def test_a_hostile_catalog_is_shown_as_text(tab: Page, site: Any) -> None:
    """Names, descriptions, servers, parameters and queries that are markup stand on the screen letter by letter."""
    name = "<img src=x onerror='window.harmed = true'>"
    open_page(tab, f"{site.address}/?data=hostile&q={quote('read mail ' + name)}")
    texts = tab.get_by_role("listitem")
    expect(texts.filter(has_text=name).first).to_be_visible()
    expect(texts.filter(has_text="[link](javascript:window.harmed = true)").first).to_be_visible()
    assert tab.locator("main img, main script, main a[href^='javascript']").count() == 0
    for path in (
        f"/?data=hostile&q=mail&tool={quote(name)}",
        "/health?data=hostile",
        "/evaluate?run_a=hostile&run_b=hostile&why=true",
    ):
        open_page(tab, site.address + path)
        for opener in tab.locator("main summary").all():
            if opener.evaluate("opener => !opener.parentElement.open"):
                opener.click()
        settle(tab)
        assert tab.locator("main img, main script, main a[href^='javascript']").count() == 0, path


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/evaluate", r"Run broken <svg onload=window\.harmed=true> can't be read"),
        ("/health?data=mine", r"Some runs can't be read"),
        ("/tuning", r"is no journal of studies"),
        ("/gate", r"can't be read and are left out"),
    ],
)
def test_damaged_files_are_told_as_text(tab: Page, site: Any, path: str, said: str) -> None:
    """A damaged run, study or baseline is named on its page, which shows the rest and runs nothing of it."""
    open_page(tab, site.address + path)
    expect(tab.get_by_text(re.compile(said)).first).to_be_visible()
    assert tab.locator("main svg[onload], main script").count() == 0


def test_what_the_address_names_may_be_anything(tab: Page, site: Any) -> None:
    """Ids that are not there, paths and markup in the address give a page that stands, and nothing else."""
    strange = quote("<script>window.harmed = true</script>")
    for path in (
        f"/?data={strange}&a=../../etc/passwd&b={strange}&q={strange}&n=999&x_name=-5&tool={strange}",
        f"/evaluate?run_a=../mine&ranker_a={strange}&measure={strange}&query={strange}&most=-1",
        f"/tuning?study={strange}&live={strange}",
        f"/gate?baseline=../../x&verdict={strange}",
    ):
        open_page(tab, site.address + path)
        assert tab.get_by_text("This page failed").count() == 0, path
