"""A walk through the dashboard in a real browser: what a person does there, and what then stands on the screen."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from toolsearch_app.screenshots.stage import open_page, settle

QUERY = "open a new issue"
TOOL = "mcp__tracker__create_issue"


def opened(tab: Page, label: str) -> Locator:
    """The field of a list, with the list open; it stands in the middle first, as scrolling closes it.

    A page that is still moving closes it too, so it is opened until it stays.
    """
    field = tab.get_by_role("combobox", name=label, exact=True)
    for _ in range(10):
        field.evaluate("field => field.scrollIntoView({block: 'center'})")
        tab.wait_for_timeout(300)
        field.click()
        tab.wait_for_timeout(300)
        if field.get_attribute("aria-expanded") == "true":
            break
    expect(field).to_have_attribute("aria-expanded", "true")
    return field


def choose(tab: Page, label: str, option: str) -> None:
    """Choose in a list as one types: name the option, and take it with Enter."""
    field = opened(tab, label)
    tab.keyboard.press("Control+A")
    tab.keyboard.type(option)
    tab.get_by_role("option", name=option, exact=True).first.wait_for()
    field.press("Enter")
    expect(field).to_have_value(option)
    settle(tab)


def offered(tab: Page, label: str) -> list[str]:
    """What a list offers; it is closed again."""
    field = opened(tab, label)
    names = tab.get_by_role("option").all_inner_texts()
    field.press("Escape")
    return names


def chart(tab: Page, begins: str) -> Locator:
    """The chart whose text alternative begins so."""
    return tab.locator(f'[role="graphics-document"][aria-label^="{begins}"]')


def test_a_query_is_searched_by_keyboard_and_explained(tab: Page, site: Any) -> None:
    """Tab leads to the query, Enter searches, the address keeps both, and a tool says why it stands where it does."""
    open_page(tab, f"{site.address}/?data=mine")
    query = tab.get_by_role("textbox", name="Query", exact=True)
    for _ in range(20):
        tab.keyboard.press("Tab")
        if query.evaluate("field => field === document.activeElement"):
            break
    expect(query).to_be_focused()
    tab.keyboard.press("Control+A")
    tab.keyboard.type(QUERY)
    tab.keyboard.press("Enter")
    expect(chart(tab, f"Scores of ranking B and what they are made of: 1. {TOOL}")).to_be_visible()
    assert "data=mine" in tab.url
    assert "q=open+a+new+issue" in tab.url
    settle(tab)
    expect(tab.get_by_role("listitem").filter(has_text=TOOL).locator("mark").first).to_be_visible()
    choose(tab, "Tool", TOOL)
    expect(tab.get_by_text(re.compile(r"^A: .*rank")).first).to_be_visible()
    expect(tab.get_by_text(re.compile(r"^B: .*rank")).first).to_be_visible()
    open_page(tab, tab.url)
    expect(tab.get_by_role("textbox", name="Query", exact=True)).to_have_value(QUERY)


def test_a_moved_weight_changes_the_ranking(tab: Page, site: Any) -> None:
    """The slider of the name's weight at zero gives another ranking B; the button puts it back."""
    open_page(tab, f"{site.address}/?data=mine&q=create+issue")
    ranking = chart(tab, "Scores of ranking B")
    before = ranking.get_attribute("aria-label")
    tab.get_by_text("Move the weights of B").click()
    slider = tab.locator('input[type="range"][aria-label="name"]')
    slider.press("Home")
    expect(ranking).not_to_have_attribute("aria-label", before or "")
    settle(tab)
    assert "name" not in re.findall(r"from ([a-z ]+)", ranking.get_attribute("aria-label") or "")
    assert "x_name=0" in tab.url
    tab.get_by_role("button", name="Back to the profile").click()
    expect(ranking).to_have_attribute("aria-label", before or "")


def test_two_rankings_are_compared_down_to_one_query(tab: Page, site: Any) -> None:
    """The headline names both, a query is chosen among those that moved, and both sides say why."""
    open_page(tab, f"{site.address}/evaluate?run_a=mine&run_b=mine")
    expect(tab.get_by_text(re.compile("default less reference in nDCG@10"))).to_be_visible()
    choose(tab, "Ranker of A", "default")
    choose(tab, "Ranker of B", "reference")
    expect(tab.get_by_text(re.compile("reference less default in nDCG@10"))).to_be_visible()
    last = offered(tab, "Query")[-1]
    choose(tab, "Query", last)
    assert f"query={last.partition(':')[0]}" in tab.url
    expect(tab.get_by_text("Asked:")).to_be_visible()
    reasons = tab.get_by_role("listitem").filter(has_text=re.compile(r"^[AB]: "))
    expect(reasons).to_have_count(0)
    tab.get_by_text("Say why").click()
    expect(reasons.filter(has_text=re.compile(r"^A: .*rank")).first).to_be_visible()
    expect(reasons.filter(has_text=re.compile(r"^B: .*rank")).first).to_be_visible()


def test_a_short_tune_is_started_and_watched_to_its_end(tab: Page, site: Any) -> None:
    """Trials are counted while they run, without a reload, and the outcome comes by itself."""
    open_page(tab, f"{site.address}/tuning")
    tab.get_by_text("Start a short tune").click()
    choose(tab, "Data set", "builtin")
    choose(tab, "Profile to begin with", "reference")
    tab.get_by_role("spinbutton", name="Trials").fill("400")
    tab.get_by_role("button", name="Start", exact=True).click()
    expect(tab.get_by_text("A tuning runs.")).to_be_visible()
    watched = tab.get_by_text(re.compile(r"\d+ trials are finished, \d+ have begun"))
    expect(watched).to_be_visible()
    expect(tab.get_by_text("The tuning is done.")).to_be_visible(timeout=240_000)
    settle(tab)
    expect(tab.get_by_text("400 trials are finished.")).to_be_visible()
    expect(chart(tab, "400 trials by their mean on dev")).to_be_visible()
    with tab.expect_download() as download:
        tab.get_by_role("button", name=re.compile("Export TOML")).click()
    assert "[provenance]" in download.value.path().read_text("utf-8")


def test_a_pooled_candidate_is_judged_into_the_file(tab: Page, site: Any) -> None:
    """The grade that is given on the page stands in the data set's file with its judge, and the pair is asked no more."""
    open_page(tab, f"{site.address}/health?data=mine")
    unjudged = tab.get_by_test_id("stMetric").filter(has_text="Unjudged pairs").get_by_test_id("stMetricValue")
    before = int(unjudged.inner_text())
    labels = site.folder / "data" / "mine" / "judgements.jsonl"
    lines = len(labels.read_text("utf-8").splitlines())
    form = tab.get_by_test_id("stForm")
    form.get_by_role("radiogroup").first.get_by_text("1: a part").click()
    form.get_by_role("textbox", name="Judge").fill("walker")
    form.get_by_role("button", name="Save grades").click()
    expect(tab.get_by_text(re.compile("1 grades of .* are in judgements.jsonl"))).to_be_visible()
    settle(tab)
    assert int(unjudged.inner_text()) == before - 1
    written = [json.loads(line) for line in labels.read_text("utf-8").splitlines()]
    assert len(written) == lines + 1
    [own] = [each for each in written if each["judge"] == "walker"]
    assert (own["grade"], own["pass"]) == (1, 1)
