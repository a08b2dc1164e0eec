"""Catalogs of other sizes, break-even points, and the rows that are shown."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.errors import UsageError
from toolsearch.tokens import token_counter
from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.sessionlab.lab import Simulated, chosen_conversations, simulate
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.providers import Prices, provider_profile
from toolsearch_eval.sessionlab.report import length_lines, requests_csv, saving_lines, write_simulation
from toolsearch_eval.sessionlab.scaling import SizeRow, break_even, scaling, sized_catalog
from toolsearch_eval.sessionlab.shown import repriced, waterfall

TALK = "quick-refund"
SIZES = Sizes(token_counter("estimate"))


@pytest.fixture(scope="module")
def data() -> DataSet:
    """The shipped set."""
    return load_data("builtin")


@pytest.fixture(scope="module")
def simulated(data: DataSet) -> Simulated:
    """A short conversation under two strategies and the baseline."""
    return simulate(data, ["stable+delta", "stable+header"], provider_profile("anthropic"), SIZES, only=[TALK])


def row(strategy: str, tools: int, cost: float) -> SizeRow:
    """A row by hand."""
    return SizeRow(size=tools, tools=tools, copies=0, strategy=strategy, sent=0, tool_tokens=0, cost=cost)


def test_a_sized_catalog_has_so_many_deferred_tools_and_all_that_is_touched(data: DataSet) -> None:
    """The draw hangs on the seed and not on the order of the catalog."""
    [talk] = chosen_conversations(data, split="all", only=[TALK])
    drawn = sized_catalog(data.tools, talk, 60, seed=1)
    assert sum(map(is_deferred, drawn)) == 60
    assert drawn == sized_catalog(data.tools[::-1], talk, 60, seed=1)
    assert {tool.name for tool in drawn} != {tool.name for tool in sized_catalog(data.tools, talk, 60, seed=2)}
    needed = {call.tool for event in talk.events for call in getattr(event, "calls", ())}
    assert needed and needed <= {tool.name for tool in drawn}


def test_beyond_the_catalog_there_are_renamed_copies(data: DataSet) -> None:
    """A thousand deferred tools of 486: every name is another one, and copies stand under another server."""
    [talk] = chosen_conversations(data, split="all", only=[TALK])
    drawn = sized_catalog(data.tools, talk, 1000, seed=0)
    names = [tool.name for tool in drawn]
    copies = [tool for tool in drawn if tool.name not in {each.name for each in data.tools}]
    assert len(set(names)) == len(names)
    assert sum(map(is_deferred, drawn)) == 1000
    assert copies and all(tool.server and re.search(r"_\d$", tool.server) for tool in copies)


def test_the_break_even_point_lies_on_the_line_between_two_sizes() -> None:
    """Dearer by 1 at 10 tools and cheaper by 3 at 50: a quarter of the way, 20 tools."""
    rows = [row("a", 10, 3.0), row("inline", 10, 2.0), row("a", 50, 4.0), row("inline", 50, 7.0)]
    assert break_even(rows, "a") == pytest.approx(20.0)
    assert break_even([row("a", 10, 1.0), row("inline", 10, 2.0)], "a") == 10
    assert break_even([row("a", 10, 3.0), row("inline", 10, 2.0)], "a") is None


def test_sizes_are_at_least_one(data: DataSet) -> None:
    """Zero tools are no catalog."""
    with pytest.raises(UsageError, match="at least 1"):
        scaling(data, ["inject"], provider_profile("openai"), SIZES, tools=[0], only=[TALK])


def test_two_sizes_are_replayed_under_the_strategy_and_the_baseline(data: DataSet) -> None:
    """With more tools `inline` sends more tokens about tools; the stable array hardly does."""
    rows = scaling(data, ["stable+delta"], provider_profile("openai"), SIZES, tools=[30, 90], only=[TALK])
    assert [(each.size, each.strategy) for each in rows] == [
        (30, "stable+delta"),
        (30, "inline"),
        (90, "stable+delta"),
        (90, "inline"),
    ]
    tokens = {(each.size, each.strategy): each.tool_tokens for each in rows}
    stable = tokens[90, "stable+delta"] - tokens[30, "stable+delta"]
    assert 0 < stable < (tokens[90, "inline"] - tokens[30, "inline"]) / 2


def test_the_steps_of_the_waterfall_add_up(simulated: Simulated) -> None:
    """From everything inline to what is sent, part by part, without a rest; also for one conversation."""
    for talk in (None, TALK):
        first, *steps, last = waterfall(simulated, "stable+delta", talk)
        assert first.is_sum and last.is_sum
        assert first.tokens + sum(step.tokens for step in steps) == last.tokens
        assert last.tokens == simulated.totals("stable+delta").sent


def test_other_prices_change_the_money_and_nothing_else(simulated: Simulated) -> None:
    """Input at 1 and all else for nothing: a millionth of the new tokens."""
    rows = simulated.of("stable+header")
    priced = repriced(rows, Prices(input=1, cached=0, written=0, output=0))
    assert [each.use for each in priced] == [each.use for each in rows]
    assert sum(each.cost for each in priced) == pytest.approx(sum(each.use.new for each in rows) / 1_000_000)


def test_what_is_saved_is_said_in_words(simulated: Simulated) -> None:
    """A line for each strategy with shares that follow from the totals; length counts only where both strategies ran."""
    inline, header = simulated.totals("inline"), simulated.totals("stable+header")
    assert (inline.prefix_kept, header.prefix_kept) == (1.0, 1.0)
    assert saving_lines(simulated)[1] == (
        f"stable+header: {100 * (1 - header.tool_tokens / inline.tool_tokens):.1f} % fewer tokens about tools than "
        f"inline, {100 * (1 - header.cost / inline.cost):.1f} % less money, keeps 100.0 % of the prefix"
    )
    by_turn, by_request = length_lines(simulated)
    assert by_turn == "stable+delta costs less than stable+header from turn 2 on (mean over conversations)"
    assert by_request == "stable+delta costs less than stable+header from request 2 on (mean over conversations)"
    assert length_lines(replace(simulated, strategies=("stable+delta",))) == ()


def test_a_simulation_is_written_whole_or_not_at_all(simulated: Simulated, tmp_path: Path) -> None:
    """Four files; every request is a line whose parts add up to what was sent; a folder with things in it is refused."""
    target = write_simulation(simulated, (), simulated.to_json(), tmp_path / "run")
    assert sorted(path.name for path in target.iterdir()) == [
        "report.html",
        "report.md",
        "requests.csv",
        "summary.json",
    ]
    assert json.loads((target / "summary.json").read_text())["strategies"]["stable+delta"]["tools_array_variants"] == 1
    lines = list(csv.DictReader(io.StringIO(requests_csv(simulated))))
    assert len(lines) == len(simulated.rows)
    parts = list(lines[0])[list(lines[0]).index("recommended") + 1 :]
    for line in lines:
        assert sum(int(line[part]) for part in parts) == int(line["sent"])
        assert int(line["cached"]) + int(line["written"]) + int(line["new"]) == int(line["sent"])
    with pytest.raises(UsageError, match="is there already"):
        write_simulation(simulated, (), simulated.to_json(), target)
