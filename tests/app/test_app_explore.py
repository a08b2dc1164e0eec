from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pandas
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import toolsearch_app
import toolsearch_datasets
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, REFERENCE
from toolsearch.errors import UsageError
from toolsearch.search.results import SearchResponse
from toolsearch.search.searcher import Searcher
from toolsearch_app import text, weights
from toolsearch_app.editing import next_query_id, with_query
from toolsearch_app.figures.explore import score_picture
from toolsearch_app.settings import VARIABLE
from toolsearch_app.tables.explore import (
    OTHER_WORDS,
    By,
    explanation_table,
    part_names,
    parts_table,
    places_table,
    ranking_table,
)
from toolsearch_app.tables.settings import setting_differences
from toolsearch_app.tables.words import LED
from toolsearch_eval.data import Query, load_data

TOOLS = (
    Tool(name="send_message", description="Sends a message to a channel of the chat."),
    Tool(name="read_messages", description="Reads the messages of a channel."),
    Tool(name="spin_gyroscope", description="Spins a gyroscope."),
)
HOSTILE = "<script>alert(1)</script> **bold** $x$ :red[y]\x1b[31m"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the small shipped set, with a tool whose text is hostile, in a folder of one's own."""
    target = tmp_path_factory.mktemp("data") / "mine"
    shutil.copytree(toolsearch_datasets.folder("tiny"), target)
    row = {"name": "evil_markup", "description": f"Evil markup tool. {HOSTILE}", "input_schema": {"type": "object"}}
    with (target / "catalog.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    return target


@pytest.fixture(scope="module")
def app(folder: Path) -> Iterator[AppTest]:
    """The page as it opens with `--edit` and the folder, asked for something in the URL."""
    with pytest.MonkeyPatch.context() as patch:
        missing = {name: str(folder / f"no-{name}") for name in ("runs", "profiles", "studies", "baselines")}
        patch.setenv(VARIABLE, json.dumps({**missing, "data": [str(folder)], "edit": True}))
        st.cache_resource.clear()
        page = AppTest.from_file(str(Path(toolsearch_app.__file__).parent / "main.py"), default_timeout=60)
        page.query_params["data"] = "mine"
        page.query_params["q"] = "evil markup tool"
        yield page.run()


def _heads(app: AppTest) -> list[str]:
    return [head.value for head in app.header]


def test_parts_lie_end_to_end_up_to_the_score() -> None:
    """However a score is cut, the parts join without a gap and end exactly at it, and every tool has its own."""
    response = Searcher(TOOLS, DEFAULT).search("send a message to the channel", explain=True)
    for by in ("field", "word", "arm"):
        table = parts_table(response, by, part_names([response], by))
        assert set(table["rank"]) == {1, 2}
        for _, rows in table.groupby("rank"):
            assert rows["start"].iloc[0] == 0.0
            assert rows["end"].iloc[-1] == rows["score"].iloc[0]
            assert list(rows["start"].iloc[1:]) == list(rows["end"].iloc[:-1])
            assert math.isclose(math.fsum(rows["value"]), rows["score"].iloc[0])


def test_many_words_keep_their_colours_apart() -> None:
    """Seven words have a colour of their own, and all others share one, so that no two parts look alike."""
    words = "alpha bravo charlie delta echo foxtrot golf hotel india"
    response = Searcher([Tool(name="every", description=words)], DEFAULT).search(words, explain=True)
    names = part_names([response], "word")
    assert len(names) == 8
    assert names[-1] == OTHER_WORDS
    drawn = score_picture(parts_table(response, "word", names), names, side="A").chart.to_dict()
    assert len(set(drawn["layer"][0]["encoding"]["color"]["scale"]["range"])) == 8


def _near_and_led() -> SearchResponse:
    """The answer to a query that meets a word by its meaning, and a tool that the best one of its server vouches for."""
    tools = [
        Tool(name="book_flight", server="travel", description="Books a flight to an airport."),
        Tool(name="find_airport", server="travel", description="Finds an airport."),
        Tool(name="look_up", description="Looks a flight up."),
    ]
    return Searcher(tools, DEFAULT).search("book a flight", explain=True)


def test_evidence_of_every_kind_has_a_part_and_all_add_up() -> None:
    """A related word and what the server's best tool gives are parts like others; bars and numbers end at the score."""
    response = _near_and_led()
    terms = {part.term for result in response.results for part in result.parts}
    assert any(term.endswith("(related word)") for term in terms)
    assert any(term.endswith("(the server's best)") for term in terms)
    for by in get_args(By):
        names = part_names([response], by)
        assert (LED in names) == (by != "arm")
        parts = parts_table(response, by, names)
        assert parts.groupby("rank")["end"].last().tolist() == [result.score for result in response.results]
        numbers = ranking_table(response, dict.fromkeys(("book_flight", "find_airport", "look_up"), 1), parts=parts)
        made = [str(column) for column in numbers if str(column)[:2] in ("= ", "+ ")]
        assert [column[2:] for column in made] == list(names)
        assert made[0].startswith("=")
        assert not any(column.startswith("=") for column in made[1:])
        for row in numbers.to_dict("records"):
            assert math.isclose(math.fsum(row[column] for column in made), row["score"], abs_tol=1e-12)


def test_what_the_servers_best_tool_gives_is_told_by_that_tools_name() -> None:
    """The reasons of one tool name the tool that vouches for it, and no field of the catalog for its part."""
    searcher = Searcher(
        [
            Tool(name="book_flight", server="travel", description="Books a flight to an airport."),
            Tool(name="find_airport", server="travel", description="Finds an airport."),
        ],
        DEFAULT,
    )
    table = explanation_table(searcher.explain("book a flight", "find_airport"))
    led = table[table["field"] == LED]
    assert set(led["word or tool"]) == {"book_flight"}
    assert set(led["arm"]) <= {"keyword arm", "TF-IDF arm"}
    assert math.isclose(math.fsum(table["value"]), searcher.explain("book a flight", "find_airport").score)


def test_both_sides_share_colours_and_the_height_of_the_legend() -> None:
    """A part has one colour on both sides, where one side lacks it too, and the bars begin at one height."""
    tools = [
        Tool(name="send_message", server="chat", description="Sends a message."),
        Tool(name="read_messages", server="chat", description="Reads messages."),
    ]
    few, many = (Searcher(tools, profile).search("send chat message", explain=True) for profile in (REFERENCE, DEFAULT))
    names = part_names([few, many], "field")
    assert set(names) > {part.field for result in few.results for part in result.parts}
    scales, legends, frames = [], [], []
    for response in (few, many):
        drawn = score_picture(parts_table(response, "field", names), names, side="a ranking").chart.to_dict()
        colour = drawn["layer"][0]["encoding"]["color"]
        scales.append(colour["scale"])
        legends.append(colour["legend"])
        frames.append(drawn["height"] - 46 * len(response.results))
    assert scales[0] == scales[1] == {"domain": list(names), "range": scales[0]["range"]}
    assert len(set(scales[0]["range"])) == len(names)
    assert legends[0] == legends[1]
    assert frames[0] == frames[1]


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (("name", "server", "search hint", "description"), 3),
        (("time ← team (translation)", "chat", "message ← chat"), 2),
        (("x" * 60,), 1),
    ],
)
def test_the_legend_has_as_many_columns_as_leave_names_whole(names: tuple[str, ...], columns: int) -> None:
    """Short names stand three in a row on a telephone, long ones below each other."""
    rows = [
        {"rank": 1, "tool": "t", "score": 1.0, "part": name, "value": 0.5, "start": 0.0, "end": 0.5} for name in names
    ]
    drawn = score_picture(pandas.DataFrame(rows), names, side="A").chart.to_dict()
    assert drawn["layer"][0]["encoding"]["color"]["legend"]["columns"] == columns


def test_picture_says_what_it_shows() -> None:
    """The text of the bars holds the tools in their order with what their scores are made of."""
    response = Searcher(TOOLS, DEFAULT).search("send a message", explain=True)
    names = part_names([response], "arm")
    picture = score_picture(parts_table(response, "arm", names), names, side="ranking A")
    first = response.results[0]
    assert picture.text.startswith(
        f"Scores of ranking A and what they are made of: 1. send_message  {first.score:.3f} from "
    )
    assert f"keyword arm {first.arms['keyword']:.3f}" in picture.text


def test_ranking_table_holds_costs_and_labels() -> None:
    """Each result stands with its tokens and its label, and one without a label says so."""
    response = Searcher(TOOLS, DEFAULT).search("send a message", explain=True)
    costs = {tool.name: 10 * place for place, tool in enumerate(TOOLS, 1)}
    table = ranking_table(response, costs, {"send_message": 2})
    assert table["tool"].tolist() == ["send_message", "read_messages"]
    assert table["tokens"].tolist() == [10, 20]
    assert table["grade"].tolist() == ["2", "unlabelled"]


def test_places_say_what_changed() -> None:
    """Each tool of either side has both ranks and how it moved."""
    searcher = Searcher(TOOLS, DEFAULT)
    a = searcher.search("send a message").results
    b = searcher.search("read the messages").results
    rows = places_table(a, b, dict.fromkeys(("send_message", "read_messages"), 1)).to_dict("records")
    assert {row["tool"]: (row["rank in A"], row["rank in B"], row["change"]) for row in rows}["read_messages"] == (
        "2",
        "1",
        "up 1",
    )
    assert places_table(a, (), {"send_message": 1, "read_messages": 1})["change"].tolist() == ["only in A"] * 2


def test_factors_move_weights_and_only_those_that_count() -> None:
    """A factor multiplies the weight of its field in both arms; the reference has no server to move."""
    changed = weights.moved(DEFAULT, {"server": 2.0, "keyword_arm": 0.5})
    table = setting_differences(DEFAULT, changed).set_index("setting")
    assert table["B"].to_dict() == {
        "weight_keyword": "0.075",
        "field_weights.server": "4",
        "keyword_points.server": "16",
    }
    assert weights.moved(REFERENCE, {"server": 3.0}) is REFERENCE
    assert weights.moved(DEFAULT, {"server": 1.0}) is DEFAULT


def test_marks_are_tags_of_our_own_alone() -> None:
    """Matched words are marked, also inside of a name, and whatever the text holds stays text."""
    assert text.marked("mcp__chat__sendMessage", {"messag"}) == "mcp__chat__send<mark>Message</mark>"
    assert text.marked(HOSTILE, {"alert"}).startswith("&lt;script&gt;<mark>alert</mark>(1)&lt;/script&gt;")
    assert text.marked("发送消息", {"消息"}) == "发送<mark>消息</mark>"


@pytest.mark.parametrize(
    ("query", "grades", "fault"),
    [
        (Query(query_id="own-1", text=""), {"chat": 2}, "empty"),
        (Query(query_id="own-1", text="new"), {}, "no tool is labelled"),
        (Query(query_id="own-1", text="new"), {"no_such": 2}, "no tool 'no_such'"),
        (Query(query_id="a\nb", text="new"), {}, "control character"),
    ],
)
def test_a_query_that_can_not_be_labelled_is_refused(query: Query, grades: dict[str, int], fault: str) -> None:
    """What would make the data set wrong is refused with the reason, and nothing changes."""
    with pytest.raises(UsageError, match=fault):
        with_query(load_data("tiny"), query, grades, date="2026-01-01")


def test_own_catalog_with_markup_is_shown_as_text(app: AppTest) -> None:
    """A tool whose text is markup and control characters is found and shown, and nothing of it becomes a tag."""
    assert not app.exception and not app.error
    [shown] = [each for each in app.get("html") if "mark" in each.proto.body]
    assert "<script" not in shown.proto.body
    assert "&lt;script&gt;" in shown.proto.body
    assert "\x1b" not in shown.proto.body


def test_charts_have_texts_and_numbers(app: AppTest) -> None:
    """Both rankings are drawn, each with a text alternative and a table."""
    charts = app.get("vega_lite_chart")
    assert [chart.proto.alt.split(" and")[0] for chart in charts] == ["Scores of ranking A", "Scores of ranking B"]
    assert [table.value["tool"].iloc[0] for table in app.dataframe[:2]] == ["evil_markup", "evil_markup"]


def test_every_control_changes_what_is_shown(app: AppTest) -> None:
    """Profiles, number of results, the cut of the bars, the sliders, their reset and the tool each do their part."""
    app.selectbox(key="a").set_value("default")
    app.number_input(key="n").set_value(1)
    app.slider(key="x_name").set_value(3.0)
    app.selectbox(key="tool").set_value("evil_markup")
    app.segmented_control(key="by").set_value("by arm")
    app.run()
    assert not app.exception
    assert _heads(app)[:2] == ["A: default", "B: default, moved"]
    assert [len(table.value) for table in app.dataframe[1:3]] == [1, 1]
    assert any("rank 1 of" in each.value for each in app.markdown)
    next(button for button in app.button if button.label == "Back to the profile").click().run()
    assert _heads(app)[1] == "B: default"
    app.selectbox(key="data").set_value("builtin")
    app.selectbox(key="b").set_value("reference")
    app.text_input(key="q").set_value("xyzzyq").run()
    assert [each.value for each in app.info] == [
        f"{side} finds nothing: no tool of this catalog shares a word with the query." for side in "AB"
    ]
    app.text_input(key="q").set_value("").run()
    assert "Type what the tool should do" in app.info[0].value


def test_saved_query_is_in_the_file(app: AppTest, folder: Path) -> None:
    """With --edit a query is written with its labels to the folder of one's own, which still loads."""
    app.selectbox(key="data").set_value("mine")
    app.text_input(key="q").set_value("run the evil markup").run()
    app.text_input(key="save_slice").set_value("own")
    app.multiselect(key="save_full").set_value(["evil_markup"])
    next(button for button in app.button if button.label == "Save").click().run()
    assert [each.value for each in app.error] == []
    assert app.success
    data = load_data(folder)
    saved = data.queries[-1]
    assert (saved.query_id, saved.text, saved.slice) == ("own-1", "run the evil markup", "own")
    assert data.judgements["own-1"] == {"evil_markup": 2}
    assert next_query_id(data) == "own-2"


def test_uploaded_catalog_is_searched_and_a_broken_one_is_told(app: AppTest) -> None:
    """A file of tools becomes a data set of this session; a broken file shows its faults as text and takes it away."""
    good = b'{"name": "grind_coffee", "description": "Grinds coffee beans."}'
    app.file_uploader(key="upload").set_value([("mine.jsonl", good, "application/json")]).run()
    app.selectbox(key="data").set_value("uploaded")
    app.text_input(key="q").set_value("grind coffee").run()
    assert not app.exception and not app.error
    assert any("1 tools, 0 queries" in each.value for each in app.success)
    assert app.dataframe[0].value["tool"].tolist() == ["grind_coffee"]
    app.file_uploader(key="upload").set_value([("mine.jsonl", b"{", "application/json")]).run()
    assert [each.value.partition(" ")[0] for each in app.sidebar.code][:1] == ["mine.jsonl:1:"]
    assert "uploaded" not in app.selectbox(key="data").options


def test_hostile_names_are_text_on_every_page(app: AppTest) -> None:
    """Names of files, tools, servers and slices that are markup break no page, and stand nowhere as markup."""
    name = "<img src=x onerror=alert(1)>**b**$x$"
    tool = {"name": name, "server": name, "description": "Grinds coffee.", "input_schema": {"type": "object"}}
    query = {"query_id": name, "text": f"grind coffee {HOSTILE}", "slice": name, "split": "dev"}
    files = {
        "catalog.jsonl": json.dumps(tool),
        "queries.jsonl": json.dumps(query),
        "qrels.tsv": f"query_id\ttool\tgrade\n{name}\t{name}\t2",
    }
    given = [(file, f"{content}\n".encode(), "application/json") for file, content in files.items()]
    app.file_uploader(key="upload").set_value(given).run()
    app.selectbox(key="data").set_value("uploaded")
    app.text_input(key="q").set_value("grind coffee").run()
    app.selectbox(key="tool").set_value(name).run()
    for page in ("explore", "health", "cache", "savings", "tuning", "gate", "evaluate"):
        app.switch_page(f"views/{page}.py").run()
        assert not app.exception
        shown = [*app.markdown, *app.caption, *app.success, *app.info, *app.warning, *app.error]
        assert not any(name in each.value for each in shown)
        assert not any("<img" in each.proto.body for each in app.get("html"))
    app.file_uploader(key="upload").set_value([(f"{name}.toml", b"", "application/toml")]).run()
    assert any(name in each.value and "no place in a data set" in each.value for each in app.sidebar.code)
