"""Data sets written and read back."""

from __future__ import annotations

import datetime
import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_datasets import names
from toolsearch_eval.conversations import Conversation, UserEvent
from toolsearch_eval.data import DataSet, Query, fingerprint_of, load_data
from toolsearch_eval.data_write import write_data
from toolsearch_eval.judgements import Judgement, derived_grades

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
"""Anything that UTF-8 can hold: control characters, line separators and marks of direction too."""
NAME = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"]), min_size=1, max_size=8).filter(
    lambda text: bool(text.strip())
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
EXTRA = st.dictionaries(TEXT.map(lambda text: f"x-{text}"), JSON.filter(lambda value: value is not None), max_size=2)
TOML = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | TEXT
    | st.dates()
    | st.times()
    | st.datetimes(timezones=st.sampled_from([None, datetime.UTC, datetime.timezone(datetime.timedelta(minutes=-90))])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def data_sets(draw: st.DrawFn) -> DataSet:
    """A data set with odd texts everywhere where the layout allows them."""
    tool_names = draw(st.lists(NAME, max_size=4, unique=True))
    queries = [
        Query(
            query_id=query_id,
            text=draw(TEXT),
            slice=draw(TEXT),
            language=draw(TEXT),
            split=draw(st.sampled_from(["dev", "test"])),
            group=draw(TEXT),
            origin=draw(TEXT),
            need=draw(st.sampled_from(["any", "all"])),
            expect=draw(st.sampled_from(["answer", "none"])),
            must_not=tuple(draw(st.lists(TEXT, max_size=2))),
            extra=draw(EXTRA),
        )
        for query_id in draw(st.lists(NAME, max_size=4, unique=True))
    ]
    labels = tuple(
        Judgement(
            query_id=draw(st.sampled_from([query.query_id for query in queries])),
            tool=draw(NAME),
            grade=draw(st.integers(-100, 100)),
            judge=draw(TEXT),
            turn=draw(st.integers(1, 5)),
            date=draw(TEXT),
            settled=draw(st.booleans()),
            extra=draw(EXTRA),
        )
        for _ in range(draw(st.integers(0, 4)) if queries else 0)
    )
    tools = tuple(Tool(name=name, description=draw(st.none() | TEXT)) for name in tool_names)
    about = {**draw(st.dictionaries(TEXT, TOML, max_size=3)), "name": draw(NAME)}
    about.pop("card", None)
    judgements = derived_grades(labels)
    return DataSet(
        name=str(about["name"]),
        path="",
        tools=tools,
        queries=tuple(queries),
        judgements=judgements,
        fingerprint=fingerprint_of(tools, queries, judgements),
        labels=labels if draw(st.booleans()) else (),
        about=about,
    )


def without_path(data: DataSet) -> DataSet:
    """The data set with all but where it lies."""
    return replace(data, path="")


@given(data=data_sets())
def test_what_is_written_reads_back_equal(data: DataSet, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tools, queries, labels, grades, the card and the fingerprint come back as they were, whatever the texts."""
    folder = write_data(data, tmp_path_factory.mktemp("written") / "set")
    assert without_path(load_data(folder)) == data


@pytest.mark.parametrize("name", names())
def test_the_shipped_sets_survive_writing(name: str, tmp_path: Path) -> None:
    """A shipped set, written and read, is equal, and its grades still follow from its labels byte for byte."""
    data = load_data(name)
    folder = write_data(data, tmp_path / "copy")
    copy = load_data(folder)
    assert without_path(copy) == without_path(data)
    assert [tool.meta for tool in copy.tools] == [tool.meta for tool in data.tools]
    for file in ("queries.jsonl", "judgements.jsonl", "qrels.tsv"):
        assert (folder / file).read_bytes() == (Path(data.path) / file).read_bytes(), file
    assert (folder / "DATASHEET.md").is_file()


def test_fields_with_their_default_value_are_not_written(write_folder: Any, tmp_path: Path) -> None:
    """A row holds only what differs from the defaults."""
    data = load_data(write_folder(queries='{"text": "x", "need": "any", "expect": "answer", "query_id": "q"}'))
    folder = write_data(data, tmp_path / "out")
    assert (folder / "queries.jsonl").read_text() == '{"query_id": "q", "text": "x", "split": "test", "group": "q"}\n'


def test_a_set_is_replaced_and_what_else_lies_there_stays(write_folder: Any) -> None:
    """The five files are written anew; other files, also of the same names deeper inside, are left as they are."""
    folder = write_folder(queries=[{"query_id": "q", "text": "x"}], judgements='{"query_id":"q","tool":"t","grade":1}')
    (folder / "conversations" / "old").mkdir(parents=True)
    (folder / "conversations" / "old" / "queries.jsonl").write_text("mine")
    (folder / "notes.md").write_text("mine")
    data = load_data(folder)
    write_data(replace(data, labels=(), queries=()), folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "catalog.jsonl",
        "conversations",
        "dataset.toml",
        "notes.md",
        "qrels.tsv",
        "queries.jsonl",
    ]
    assert (folder / "conversations" / "old" / "queries.jsonl").read_text() == "mine"
    assert load_data(folder).judgements == {"q": {"t": 1}}
    assert [path.name for path in folder.parent.iterdir()] == ["set"]


def test_a_copy_brings_card_licence_and_conversations(write_folder: Any, tmp_path: Path) -> None:
    """What belongs to a set goes with it into a new folder; a link that leads out of the folder doesn't."""
    folder = write_folder(about='name = "n"\ncard = "CARD.md"\n')
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (folder / "CARD.md").write_text("about")
    (folder / "LICENSE").symlink_to(secret)
    (folder / "conversations").mkdir()
    lines = '{"conversation":"one","catalog":"n","split":"dev"}\n{"type":"user","text":"hi","needs":[]}\n'
    (folder / "conversations" / "one.jsonl").write_text(lines)
    copy = write_data(load_data(folder), tmp_path / "deep" / "copy")
    assert (copy / "CARD.md").read_text() == "about"
    assert [each.events for each in load_data(copy).conversations] == [(UserEvent(text="hi"),)]
    assert [path.name for path in (copy / "conversations").iterdir()] == ["one.jsonl"]
    assert not (copy / "LICENSE").exists()


def test_the_conversations_of_a_set_are_replaced_with_the_others(write_folder: Any) -> None:
    """A conversation that the data holds no more is gone from the folder after writing."""
    folder = write_folder()
    (folder / "conversations").mkdir()
    for name in ("one", "two"):
        row = f'{{"conversation":"{name}","catalog":"set","split":"test"}}\n'
        (folder / "conversations" / f"{name}.jsonl").write_text(row)
    data = load_data(folder)
    write_data(replace(data, conversations=data.conversations[1:]), folder)
    assert [each.name for each in load_data(folder).conversations] == ["two"]


@pytest.mark.parametrize("names", [["a", "a"], ["../a"], [".a"], [""]])
def test_conversations_without_a_name_of_their_own_are_refused(names: list[str], tmp_path: Path) -> None:
    """Each name becomes a file's name, so it must be one, and no two may be the same."""
    conversations = tuple(Conversation(name=name, catalog="n") for name in names)
    data = DataSet(name="n", path="", tools=(), queries=(), judgements={}, fingerprint="", conversations=conversations)
    with pytest.raises(UsageError, match="its name must be unique and a file's name"):
        write_data(data, tmp_path / "set")
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize("card", ["../secret", "a text with\nlines", 5, "queries.jsonl"])
def test_a_card_that_is_no_file_of_the_folder_is_not_copied(write_folder: Any, tmp_path: Path, card: object) -> None:
    """Only a plain file name is followed."""
    (tmp_path / "secret").write_text("secret")
    data = load_data(write_folder())
    copy = write_data(replace(data, about={"name": "n", "card": card}, name="n"), tmp_path / "copy")
    assert sorted(path.name for path in copy.iterdir()) == [
        "catalog.jsonl",
        "dataset.toml",
        "qrels.tsv",
        "queries.jsonl",
    ]
    assert load_data(copy).about["card"] == card


BASE = DataSet(name="n", path="", tools=(), queries=(), judgements={}, fingerprint="", about={"name": "n"})


def _query(**values: Any) -> DataSet:
    return replace(BASE, queries=(Query(**{"query_id": "q", "text": "x", **values}),))


REFUSED: list[tuple[DataSet, str]] = [
    (_query(query_id="a\tb"), "the query id 'a\\tb' can't be written: it holds a control character"),
    (_query(query_id=""), "the query id '' can't be written: it is empty"),
    (replace(BASE, queries=_query().queries * 2), "the query id 'q' can't be written: it comes twice"),
    (_query(text="\ud800"), "surrogates not allowed"),
    (_query(extra={"x": math.nan}), "Out of range float values are not JSON compliant"),
    (_query(extra={"x": object()}), "not JSON serializable"),
    (replace(BASE, judgements={"q": {"a\nb": 1}}), "'a\\nb' can't stand in qrels.tsv"),
    (replace(BASE, judgements={"": {"a": 1}}), "'' can't stand in qrels.tsv"),
    (replace(BASE, judgements={"q": {"\udc00": 1}}), "surrogates not allowed"),
    (replace(BASE, judgements={"q": {"t": 101}}), "query 'q' has grade 101; accepted: -100 to 100"),
    (
        replace(BASE, labels=(Judgement(query_id="q", tool="t", grade=2),), judgements={"q": {"t": 1}}),
        "the labels give other grades than the judgements",
    ),
    (replace(BASE, about={"name": "n", "x": None}), "dataset.toml can't hold NoneType"),
    (replace(BASE, tools=(Tool(name="t", input_schema={"x": {1}}),)), "its schema or meta is not JSON"),
]


@pytest.mark.parametrize(("data", "message"), REFUSED, ids=[row[1][:40] for row in REFUSED])
def test_what_has_no_place_in_the_files_is_refused_and_nothing_is_written(
    data: DataSet, message: str, tmp_path: Path
) -> None:
    """A value that the files can't hold is an error, and the set that was there stays as it was."""
    kept = write_data(_query(), tmp_path / "set")
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    with pytest.raises(UsageError) as caught:
        write_data(data, kept)
    assert message in str(caught.value)
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    """A folder that is no data set, and a file, are left alone."""
    (tmp_path / "thesis.txt").write_text("precious")
    for place in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(UsageError, match="is there already and is no data set"):
            write_data(BASE, place)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_place_where_nothing_can_be_written_is_refused(tmp_path: Path) -> None:
    """A parent that is a file is an error that names the folder."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="can't be written"):
        write_data(BASE, tmp_path / "file" / "set")


def test_a_fault_while_the_folders_are_swapped_brings_the_old_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the new folder can't be put in its place, the old one stands there again."""
    folder = write_data(_query(), tmp_path / "set")
    move = os.replace

    def replace_but_not_the_new(source: Any, target: Any) -> None:
        if Path(source).name == "new":
            raise OSError("no space left")
        move(source, target)

    monkeypatch.setattr("toolsearch_eval.data_write.os.replace", replace_but_not_the_new)
    with pytest.raises(UsageError, match="no space left"):
        write_data(BASE, folder)
    monkeypatch.undo()
    assert [query.query_id for query in load_data(folder).queries] == ["q"]


def test_the_card_is_valid_toml_of_one_line_a_key(tmp_path: Path) -> None:
    """Tables and lists are written inside of their line, and odd keys are quoted."""
    about: Mapping[str, Any] = {"name": "n", "a b": {"": [1, {"x": "\x7f"}]}, "when": datetime.date(2026, 1, 2)}
    folder = write_data(replace(BASE, about=about), tmp_path / "set")
    text = (folder / "dataset.toml").read_text()
    assert text == 'name = "n"\n"a b" = {"" = [1, {x = "\\u007f"}]}\nwhen = 2026-01-02\n'
    assert tomllib.loads(text) == about
