"""The pages on cache stability and token savings, on a small session of our own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import toolsearch_app
from toolsearch.tokens import token_counter
from toolsearch_app import session_data
from toolsearch_app.figures.cache import strategies_picture, timeline_picture
from toolsearch_app.figures.savings import money_picture, sizes_picture, waterfall_picture
from toolsearch_app.settings import VARIABLE
from toolsearch_app.tables import cache as cache_tables
from toolsearch_app.tables import savings as savings_tables
from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.sessionlab.blocks import Block
from toolsearch_eval.sessionlab.lab import Simulated, simulate
from toolsearch_eval.sessionlab.prefix import Sizes, prefix_break
from toolsearch_eval.sessionlab.providers import Prices, provider_profile
from toolsearch_eval.sessionlab.scaling import SizeRow
from toolsearch_eval.sessionlab.shown import Step, waterfall

MAIN = Path(toolsearch_app.__file__).parent / "main.py"
HOSTILE = "<script>alert(1)</script> **bold** $x$ :red[hot]"
SIZES = Sizes(token_counter("estimate"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of some tools and two sessions; in the first the model needs two tools one after the other."""
    root = tmp_path_factory.mktemp("sessions") / "talks"
    (root / "conversations").mkdir(parents=True)
    tools = [
        {"name": f"mcp__{server}__{verb}_{thing}", "description": f"{verb.title()} the {thing}. {HOSTILE}"}
        for server, thing in (("chat", "message"), ("art", "picture"))
        for verb in ("send", "draw", "list")
    ]
    rows = [{**tool, "server": tool["name"].split("__")[1], "input_schema": {"type": "object"}} for tool in tools]
    (root / "catalog.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (root / "queries.jsonl").write_text('{"query_id": "q", "text": "send it", "split": "dev"}\n', "utf-8")
    (root / "qrels.tsv").write_text("query_id\ttool\tgrade\nq\tmcp__chat__send_message\t2\n", "utf-8")
    for name, needed in (("two", ("mcp__chat__send_message", "mcp__art__draw_picture")), ("none", ())):
        events: list[dict[str, Any]] = [
            {"conversation": name, "catalog": "talks", "split": "dev", "pins": [],
             "servers": {"chat": "connected", "art": "connected"}}
        ]  # fmt: skip
        for tool in needed:
            events += [
                {"type": "user", "text": f"Please {HOSTILE} {tool[-12:]}", "needs": [tool]},
                {
                    "type": "assistant",
                    "text": "",
                    "calls": [{"tool": tool, "params": {}, "query": "send message draw"}],
                },
                {"type": "tool_result", "tool": tool, "text": "done"},
                {"type": "assistant", "text": "Done.", "calls": []},
            ]
        if not needed:
            events += [
                {"type": "user", "text": "Hello", "needs": []},
                {"type": "assistant", "text": "Hi.", "calls": []},
            ]
        path = root / "conversations" / f"{name}.jsonl"
        path.write_text("".join(json.dumps(event) + "\n" for event in events), "utf-8")
    return root


@pytest.fixture(scope="module")
def data(folder: Path) -> DataSet:
    """The same, loaded."""
    return load_data(folder)


@pytest.fixture(scope="module")
def found(data: DataSet) -> Simulated:
    """The first session under every strategy."""
    return simulate(data, session_data.NAMES, provider_profile("anthropic"), SIZES, only=["two"])


def _start(patch: pytest.MonkeyPatch, folder: Path, page: str, **query: str) -> AppTest:
    patch.setenv(VARIABLE, json.dumps({"data": [str(folder)], "runs": str(folder / "no-runs")}))
    st.cache_resource.clear()
    app = AppTest.from_file(str(MAIN), default_timeout=60)
    app.query_params["data"] = "talks"
    for key, value in query.items():
        app.query_params[key] = value
    app.switch_page(f"views/{page}.py")
    return app.run()


def _said(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.code, *app.info, *app.success, *app.warning, *app.error]
    return "\n".join(str(each.value) for each in parts)


@pytest.fixture(scope="module")
def cache_page(folder: Path) -> Iterator[AppTest]:
    """The page on cache stability as it opens."""
    with pytest.MonkeyPatch.context() as patch:
        yield _start(patch, folder, "cache", session="two")


@pytest.fixture(scope="module")
def savings_page(folder: Path) -> Iterator[AppTest]:
    """The page on token savings as it opens."""
    with pytest.MonkeyPatch.context() as patch:
        yield _start(patch, folder, "savings", session="two")


def test_letters_change_exactly_where_a_prefix_breaks(found: Simulated) -> None:
    """One letter from break to break, and the table's tokens add up to what was sent and to the totals."""
    rows = found.of("inject")
    breaks = cache_tables.breaks_of(rows)
    assert breaks
    table = cache_tables.requests_table(rows)
    changed = [b for a, b in pairwise(zip(table["prefix"], table["request"], strict=True)) if a[0] != b[0]]
    assert [number for _, number in changed] == breaks
    assert (table["cached"] + table["written"] + table["new"]).tolist() == table["sent"].tolist()
    assert list(table.loc[table["broken by"] != "", "request"]) == breaks
    compared = cache_tables.strategies_table(found).set_index("strategy")
    assert compared.loc["inject", "sent"] == table["sent"].sum()
    assert compared.loc["stable+delta", "breaks"] == 0


def test_pictures_of_the_cache_say_what_they_draw(found: Simulated) -> None:
    """The text alternatives name the first break and each strategy's tokens, and the chart holds every request."""
    table = cache_tables.requests_table(found.of("inject"))
    picture = timeline_picture(table, "inject", 2)
    [number] = cache_tables.breaks_of(found.of("inject"))
    why = table.loc[table["request"] == number, "broken by"].iloc[0]
    assert f"The prefix breaks 1 times: request {number} by {why}." in picture.text
    steady = timeline_picture(cache_tables.requests_table(found.of("stable+delta")), "stable+delta")
    assert "The prefix never breaks." in steady.text
    compared = cache_tables.strategies_table(found)
    assert f"inject {table['sent'].sum():,} (" in strategies_picture(compared).text
    assert strategies_picture(compared).chart.to_dict()["layer"]


def test_a_changed_byte_is_shown_between_its_neighbours() -> None:
    """The mark stands before the first byte that differs, also behind letters of several bytes, and pieces have names."""
    before = (Block("core_tools", "Read", '{"ä":1}', "tools"), Block("user", "user", "hi", "user"))
    now = (Block("core_tools", "Read", '{"ä":2}', "tools"), Block("user", "user", "hi", "user"))
    broken = prefix_break(before, now, SIZES)
    assert broken is not None
    assert broken.byte == 6
    assert cache_tables.byte_excerpts(before, now, broken) == ('{"ä":‸1}', '{"ä":‸2}')
    table = cache_tables.pieces_table(before, now, broken.place, SIZES)
    assert table["same"].tolist() == ["no", "yes"]
    assert table["now"].iloc[0].startswith("tool Read (")


def test_the_steps_lie_end_to_end(found: Simulated) -> None:
    """Each step of the waterfall begins where the one before ended, and the last is what the strategy sends."""
    steps = waterfall(found, "stable+delta")
    table = savings_tables.steps_table(steps)
    assert table["start"].tolist()[1:-1] == table["end"].tolist()[:-2]
    assert table["end"].iloc[-2] == table["end"].iloc[-1] == found.totals("stable+delta").sent
    assert set(table["kind"]) == {"sum", "more", "less"}
    assert f"inline: everything {found.totals('inline').sent:,}; " in waterfall_picture(table).text
    by_hand = savings_tables.steps_table(
        [
            Step(label="all", tokens=10, is_sum=True),
            Step(label="x", tokens=-4),
            Step(label="left", tokens=6, is_sum=True),
        ]
    )
    assert by_hand[["start", "end"]].to_numpy().tolist() == [[0, 10], [10, 6], [0, 6]]


def test_money_follows_the_prices(found: Simulated) -> None:
    """At one a million tokens for all input and nothing for output, money is the tokens that were sent."""
    table = savings_tables.money_table(found, Prices(input=1, cached=1, written=1, output=0)).set_index("strategy")
    for name in found.strategies:
        assert table.loc[name, "cost"] == pytest.approx(found.totals(name).sent / 1_000_000)
    assert table.loc["inline", "saved"] == 0
    costs = table["cost"].to_dict()
    assert table.loc["inject", "saved"] == pytest.approx(costs["inline"] - costs["inject"])
    free = savings_tables.money_table(found, Prices(input=0, cached=0, written=0, output=0))
    assert set(free["saved share"]) == {0.0}
    assert "inject 0.0000 (+0%)" in money_picture(free, "USD").text
    [session] = savings_tables.sessions_table(found, "inject", Prices(input=1, cached=1, written=1, output=0)).to_dict(
        "records"
    )
    assert (session["session"], session["cost"]) == ("two", table.loc["inject", "cost"])


def test_the_break_even_point_is_drawn_and_said() -> None:
    """Two lines that cross between 10 and 20 tools meet at 15; one that never crosses says so."""

    def row(strategy: str, tools: int, cost: float) -> SizeRow:
        return SizeRow(size=tools, tools=tools, copies=0, strategy=strategy, sent=1, tool_tokens=1, cost=cost)

    rows = [row("inline", 10, 1.0), row("inline", 20, 3.0), row("inject", 10, 2.0), row("inject", 20, 2.0)]
    assert (
        savings_tables.break_even_text(rows, "inject")
        == "inject costs less than inline from about 15 deferred tools on."
    )
    picture = sizes_picture(savings_tables.sizes_table(rows), "USD", 15.0)
    assert "inline from 1.0000 at 10 tools to 3.0000 at 20" in picture.text
    assert "They meet at about 15" in picture.text
    assert len(picture.chart.to_dict()["layer"]) == 3
    dear = [row("inline", 10, 1.0), row("inject", 10, 2.0)]
    assert "does not cost less than inline at 10" in savings_tables.break_even_text(dear, "inject")
    cheap = [row("inline", 10, 2.0), row("inject", 10, 1.0)]
    assert "from the smallest catalog tried on (10" in savings_tables.break_even_text(cheap, "inject")


def test_the_session_is_followed_to_its_break(cache_page: AppTest) -> None:
    """The page opens at the first break, names tool, piece and byte, and hostile text of the catalog stays text."""
    assert not cache_page.exception and not cache_page.error
    assert cache_page.number_input(key="request").value == 2
    assert "The prefix breaks at piece 1, byte 0" in cache_page.warning[0].value
    assert len(cache_page.get("vega_lite_chart")) == 2
    assert all(chart.proto.alt for chart in cache_page.get("vega_lite_chart"))
    assert len(cache_page.code) == 2
    assert all(each.value.startswith("‸{") for each in cache_page.code)
    assert HOSTILE not in _said(cache_page)


def test_no_view_replays_a_session_again(
    cache_page: AppTest, savings_page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests, strategies, prices and the pages themselves are views of one replay; another provider needs its own."""
    calls: list[str] = []

    def counted(data: DataSet, names: Any, profile: Any, sizes: Any, **options: Any) -> Simulated:
        calls.append(profile.name)
        return simulate(data, names, profile, sizes, **options)

    monkeypatch.setattr(session_data, "simulate", counted)
    app = cache_page
    app.number_input(key="request").set_value(1).run()
    assert "A first request has no prefix to break." in _said(app)
    next(button for button in app.button if button.label == "Next break").click().run()
    assert app.number_input(key="request").value == 2
    app.number_input(key="request").set_value(5).run()
    assert "The prefix holds." in _said(app)
    next(button for button in app.button if button.label == "Break before").click().run()
    assert app.number_input(key="request").value == 2
    app.selectbox(key="strategy").set_value("stable+delta").run()
    assert not app.exception and not app.error
    assert not app.warning
    savings_page.selectbox(key="strategy").set_value("stable+header").run()
    savings_page.number_input(key="price_anthropic_cached").set_value(5.0).run()
    assert "saved" in savings_page.dataframe[2].value.columns
    assert not savings_page.exception and not savings_page.error
    assert calls == []
    app.selectbox(key="provider").set_value("openai").run()
    assert calls == ["openai"]
    app.selectbox(key="session").set_value("none").run()
    assert not app.exception and not app.error
    assert "1 requests" in app.get("vega_lite_chart")[1].proto.alt


def test_savings_are_shown_for_one_and_for_all_sessions(savings_page: AppTest) -> None:
    """Waterfall and money with their numbers; edited prices move the money and can be put back; all sessions add up."""
    app = savings_page
    assert not app.exception and not app.error
    assert len(app.get("vega_lite_chart")) == 2
    for name in ("input", "cached", "written", "output"):
        app.number_input(key=f"price_anthropic_{name}").set_value(0.0)
    app.run()
    assert app.metric[2].value == "0.0000"
    app.button(key="listed").click().run()
    assert app.number_input(key="price_anthropic_input").value == 5.0
    assert app.metric[2].value != "0.0000"
    sent = int(app.metric[0].value.replace(",", ""))
    app.selectbox(key="session").set_value("all sessions").run()
    assert not app.exception and not app.error
    assert int(app.metric[0].value.replace(",", "")) > sent
    assert sorted(app.dataframe[-1].value["session"]) == ["none", "two"]


def test_sizes_and_providers_are_replayed_on_request(savings_page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over sizes of the catalog a third chart stands there, every provider has a row, and both stay in the next view."""
    monkeypatch.setattr(session_data, "DEFAULT_SIZES", (6, 10))
    app = savings_page
    app.selectbox(key="session").set_value("two").run()
    app.toggle(key="sizes").set_value(True)
    app.toggle(key="providers").set_value(True)
    app.run()
    assert not app.exception and not app.error
    assert len(app.get("vega_lite_chart")) == 3
    app.toggle(key="providers").set_value(False).run()
    app.toggle(key="providers").set_value(True).run()
    assert not app.exception and not app.error
    assert len(app.get("vega_lite_chart")) == 3
    assert app.dataframe[-2].value["tools"].tolist() == [6.0, 10.0, 6.0, 10.0]
    assert app.dataframe[-1].value["provider"].tolist() == ["anthropic", "openai", "gemini"]


@pytest.mark.parametrize("page", ["cache", "savings"])
def test_without_a_conversation_the_pages_say_where_they_stand(start_app: Any, page: str) -> None:
    """A data set without conversations is no error."""
    app = start_app(page, {"data": "tiny"})
    assert not app.exception and not app.error
    assert "has no conversations" in app.info[0].value


def test_a_faulty_conversation_is_told_by_its_line(start_app: Any, folder: Path, tmp_path: Path) -> None:
    """Faults of a file come as the command line says them, and nothing else of the page."""
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    with (broken / "conversations" / "two.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"type": "no such"}\n')
    app = start_app("cache", {"data": "broken"}, data=[str(broken)])
    assert not app.exception
    assert "two.jsonl:10:" in app.code[0].value
