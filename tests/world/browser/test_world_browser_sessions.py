"""The two pages on sessions in a real browser: to the byte that breaks a prefix, and down the waterfall of tokens."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from toolsearch_app.screenshots.stage import open_page, settle


def test_a_session_is_followed_to_the_break_of_its_prefix(tab: Page, site: Any) -> None:
    """Turn by turn: the first break is shown at first, the button leads to the next, the arrow to a turn that holds."""
    open_page(tab, f"{site.address}/cache?data=builtin&session=analyst-afternoon&strategy=inject")
    request = tab.get_by_role("spinbutton", name=re.compile(r"^Request \(1 to \d+\)"))
    first = int(request.input_value())
    broken = tab.get_by_text(re.compile(r"The prefix breaks at piece \d+, byte [\d,]+ .*: tool \w+ added"))
    expect(broken).to_be_visible()
    assert first > 1
    tab.get_by_role("button", name="Next break").click()
    expect(request).not_to_have_value(str(first))
    settle(tab)
    second = int(request.input_value())
    assert second > first
    expect(broken).to_be_visible()
    assert f"request={second}" in tab.url
    request.fill(str(second - 1))
    request.press("Enter")
    expect(tab.get_by_text("The prefix holds.")).to_be_visible()
    timeline = tab.locator(f'[role="graphics-document"][aria-label*="{second}"]')
    assert timeline.count() > 0


def test_a_stable_array_holds_its_prefix_in_every_turn(tab: Page, site: Any) -> None:
    """The same session under the strategy whose array never changes has no break after its first request but by text."""
    open_page(tab, f"{site.address}/cache?data=builtin&session=analyst-afternoon&strategy=stable%2Bdelta&request=2")
    expect(tab.get_by_text("The prefix holds.")).to_be_visible()
    expect(tab.get_by_text(re.compile("tool .* added"))).to_have_count(0)


def test_the_waterfall_goes_from_all_tools_to_what_is_sent(tab: Page, site: Any) -> None:
    """Its bars add up to the tokens that are sent, catalogs of other sizes stay once asked for; another strategy is another sum."""
    open_page(tab, f"{site.address}/savings?data=builtin&session=analyst-afternoon&strategy=stable%2Bdelta")
    metrics = tab.get_by_test_id("stMetricValue")
    sent = metrics.nth(0).inner_text()
    bars = tab.get_by_test_id("stVegaLiteChart").first.locator("text").all_text_contents()
    numbers = [int(text.replace(",", "").replace("−", "-")) for text in bars if re.fullmatch(r"[+−-]?[\d,]+", text)]
    assert len(numbers) > 5
    assert numbers[0] + sum(numbers[1:-1]) == numbers[-1]
    assert f"{numbers[-1]:,}" == sent
    tab.get_by_text("Replay over catalogs of 10 to 1,000 tools").click()
    sizes = tab.locator('[role="graphics-document"][aria-label^="Money in USD over the size of the catalog"]')
    expect(sizes).to_be_visible(timeout=120_000)
    tab.get_by_text("Hold the providers side by side").click()
    settle(tab)
    expect(sizes).to_be_visible()
    open_page(tab, f"{site.address}/savings?data=builtin&session=analyst-afternoon&strategy=inject")
    assert metrics.nth(0).inner_text() != sent
