"""BEIR and TREC, out and back: nothing is lost, whatever stands in a set, and what can't be held is refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet, Judgement, Query, fingerprint_of, latest_grades, load_data
from toolsearch_eval.data_files import id_fault
from toolsearch_eval.exporters.beir import write_beir
from toolsearch_eval.exporters.trec import write_trec
from toolsearch_eval.importers.forms import import_data

WRITERS = {"beir": write_beir, "trec": write_trec}
EDGES = st.sampled_from(
    [
        "<top>",
        "</DOC>",
        "&amp;lt;",
        "Topic: x",
        "Number: 7",
        "a\tb",
        "a\nb",
        "a\r\nb",
        "  blank  ",
        "\u2028",
        "\x0b",
        "问题",
        "%20",
        "\ufeff",
    ]
)
TEXTS = st.one_of(EDGES, st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.lists(EDGES).map("".join))
IDS = st.one_of(
    st.sampled_from(
        ["q 1", "50%", "%20", "a b", "<num>", "&", "GET /albums/{id}", "query-id", "0", '"', "问题 1", "#"]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"]), min_size=1, max_size=8),
).filter(lambda text: id_fault(text) is None)
SCHEMAS = st.none() | st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(TEXTS, st.just({}), max_size=2)}
)


@st.composite
def data_sets(draw: st.DrawFn) -> DataSet:
    """A set with odd texts, ids, grades, labels of things that are not there, and every field of a query."""
    names = draw(st.lists(IDS, min_size=1, max_size=4, unique=True))
    tools = tuple(
        Tool(
            name=name,
            description=draw(st.none() | TEXTS),
            search_hint=draw(st.none() | TEXTS),
            input_schema=draw(SCHEMAS),
            server=draw(st.sampled_from([None, "s"])),
            meta=draw(st.sampled_from([{}, {"k": ["v", 1]}])),
        )
        for name in names
    )
    queries = tuple(
        Query(
            query_id=query_id,
            text=draw(TEXTS),
            slice=draw(st.sampled_from(["", "s"])),
            language=draw(st.sampled_from(["", "zh"])),
            split=draw(st.sampled_from(["dev", "test"])),
            group=draw(st.sampled_from(["", "g"])),
            origin=draw(st.sampled_from(["", "o\t"])),
            need=draw(st.sampled_from(["any", "all"])),
            expect=draw(st.sampled_from(["answer", "none"])),
            must_not=tuple(draw(st.lists(TEXTS, max_size=2))),
            extra=draw(st.sampled_from([{}, {"note": {"a": None}}])),
        )
        for query_id in draw(st.lists(IDS, min_size=1, max_size=4, unique=True))
    )
    pairs = st.tuples(
        st.one_of(st.sampled_from([query.query_id for query in queries]), IDS), st.one_of(st.sampled_from(names), IDS)
    )
    grades = draw(st.dictionaries(pairs, st.integers(-100, 100), max_size=6))
    judged_twice = draw(st.booleans())
    labels: tuple[Judgement, ...] = ()
    if grades and judged_twice:
        labels = tuple(
            Judgement(query_id=query_id, tool=tool, grade=grade, judge="j", turn=turn, date="2026-01-01")
            for (query_id, tool), grade in grades.items()
            for turn in (1, 2)
        )
        judgements = latest_grades(labels)
    else:
        judgements = {}
        for (query_id, tool), grade in grades.items():
            judgements.setdefault(query_id, {})[tool] = grade
    return DataSet(
        name=draw(st.sampled_from(["mine", 'odd "name"\n'])),
        path="",
        tools=tools,
        queries=queries,
        judgements=judgements,
        fingerprint=fingerprint_of(tools, queries, judgements),
        labels=labels,
    )


def _named(data: DataSet) -> DataSet:
    return replace(data, about={**data.about, "name": data.name})


@pytest.mark.parametrize("form", WRITERS)
@given(data=data_sets())
@settings(max_examples=150)
def test_nothing_is_lost_on_the_way_out_and_back(form: str, data: DataSet) -> None:
    """Tools, queries, grades, labels with their judges and the card are equal after an export and an import."""
    with TemporaryDirectory() as beside:
        folder = WRITERS[form](data, Path(beside) / "out")
        found = import_data(form, [folder])
        again = found.data
        assert again.tools == data.tools
        assert again.queries == data.queries
        assert again.judgements == data.judgements
        assert again.labels == data.labels
        assert again.fingerprint == data.fingerprint
        assert (again.name, again.about) == (data.name, _named(data).about)


@pytest.mark.parametrize("form", WRITERS)
def test_the_shipped_set_comes_back_as_it_was(form: str, tmp_path: Path) -> None:
    """Every one of its tools, queries, labels and the card."""
    data = load_data("builtin")
    again = import_data(form, [WRITERS[form](data, tmp_path / "out")]).data
    assert (again.fingerprint, again.labels, again.about) == (data.fingerprint, data.labels, data.about)


def _own(text: str = "send it") -> DataSet:
    tools = (Tool(name="send", description="Sends <all> & more"), Tool(name="GET /x y", description="Gets"))
    queries = (Query(query_id="q 1", text=text, split="dev"), Query(query_id="q2", text="get", must_not=("send",)))
    judgements = {"q 1": {"send": 2, "GET /x y": 0}, "q2": {"GET /x y": 1}}
    return DataSet(name="own", path="", tools=tools, queries=queries, judgements=judgements, fingerprint="")


def test_the_files_of_beir_say_it_in_beirs_own_fields(tmp_path: Path) -> None:
    """A program that knows nothing of us reads ids, texts and scores."""
    folder = write_beir(_own(), tmp_path / "out")
    corpus = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines()]
    assert [(row["_id"], row["title"], row["text"]) for row in corpus] == [
        ("send", "send", "Sends <all> & more"),
        ("GET /x y", "GET /x y", "Gets"),
    ]
    assert (folder / "qrels" / "dev.tsv").read_text("utf-8") == (
        "query-id\tcorpus-id\tscore\nq 1\tsend\t2\nq 1\tGET /x y\t0\n"
    )
    assert (folder / "qrels" / "test.tsv").read_text("utf-8") == "query-id\tcorpus-id\tscore\nq2\tGET /x y\t1\n"


def test_the_files_of_trec_say_it_in_trecs_own_fields(tmp_path: Path) -> None:
    """Blanks in ids are written as %20, so that a line of labels has four words."""
    folder = write_trec(_own(), tmp_path / "out")
    assert (folder / "qrels.dev.txt").read_text("utf-8") == "q%201 0 send 2\nq%201 0 GET%20/x%20y 0\n"
    assert "<num> Number: q%201\n<title> send it\n" in (folder / "topics.txt").read_text("utf-8")
    assert "<DOCNO>send</DOCNO>\n<TEXT>\nSends &lt;all&gt; &amp; more\n</TEXT>" in (folder / "docs.txt").read_text(
        "utf-8"
    )


@pytest.mark.parametrize(
    ("form", "names", "ids"),
    [("beir", ["send", "GET /x y"], ["q 1", "q2"]), ("trec", ["send", "GET%20/x%20y"], ["q%201", "q2"])],
)
def test_without_our_own_files_the_form_alone_still_holds_ids_texts_and_grades(
    tmp_path: Path, form: str, names: list[str], ids: list[str]
) -> None:
    """What stands beside is needed for our own fields only."""
    folder = WRITERS[form](_own(), tmp_path / "out")
    for name in ("toolsearch.jsonl", "dataset.toml"):
        (folder / name).unlink(missing_ok=True)
    for path in folder.glob("*.jsonl"):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        path.write_text("".join(json.dumps({**row, "metadata": {}}) + "\n" for row in rows), "utf-8")
    again = import_data(form, [folder]).data
    assert [(tool.name, tool.description) for tool in again.tools] == [
        (names[0], "Sends <all> & more"),
        (names[1], "Gets"),
    ]
    assert [(query.query_id, query.text, query.split) for query in again.queries] == [
        (ids[0], "send it", "dev"),
        (ids[1], "get", "test"),
    ]
    assert again.judgements == {ids[0]: {names[0]: 2, names[1]: 0}, ids[1]: {names[1]: 1}}


@pytest.mark.parametrize(("form", "file"), [("beir", "queries.jsonl"), ("trec", "topics.txt")])
def test_what_was_changed_after_the_export_counts_as_it_is_now(tmp_path: Path, form: str, file: str) -> None:
    """The form's own field wins over what stands beside, and it is told."""
    folder = WRITERS[form](_own(), tmp_path / "out")
    path = folder / file
    changed = path.read_text("utf-8").replace("send it", "send that", 1)
    path.write_text(changed, "utf-8")
    found = import_data(form, [folder])
    assert found.data.queries[0].text == "send that"
    assert found.data.queries[0].split == "dev"
    assert any("changed after the export are taken as they are now (1): q" in warning for warning in found.warnings)


def test_labels_beside_that_no_longer_fit_are_not_taken(tmp_path: Path) -> None:
    """The form's own labels count."""
    data = _own()
    labels = tuple(
        Judgement(query_id=query_id, tool=tool, grade=grade, judge="j")
        for query_id, grades in data.judgements.items()
        for tool, grade in grades.items()
    )
    folder = write_beir(replace(data, labels=labels), tmp_path / "out")
    path = folder / "qrels" / "test.tsv"
    path.write_text(path.read_text("utf-8").replace("\t1\n", "\t2\n"), "utf-8")
    found = import_data("beir", [folder])
    assert found.data.labels == ()
    assert found.data.judgements["q2"] == {"GET /x y": 2}
    assert "judgements.jsonl gives other grades than the qrels and is not taken; the qrels count" in found.warnings


def test_a_foreign_set_goes_through_us_and_comes_out_as_it_was(tmp_path: Path) -> None:
    """_id, title, text and metadata of every document, the queries and the scores."""
    raw = tmp_path / "raw"
    (raw / "qrels").mkdir(parents=True)
    documents: list[dict[str, Any]] = [
        {"_id": "d1", "title": "A title", "text": "Some text", "metadata": {"url": "u", "n": [1]}},
        {"_id": "d2", "title": "", "text": "two\nlines", "metadata": {}},
    ]
    (raw / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents), "utf-8")
    (raw / "queries.jsonl").write_text(json.dumps({"_id": "1", "text": "what?"}) + "\n", "utf-8")
    (raw / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td2\t3\n", "utf-8")
    folder = write_beir(import_data("beir", [raw]).data, tmp_path / "out")
    for old, line in zip(documents, (folder / "corpus.jsonl").read_text("utf-8").splitlines(), strict=True):
        row = json.loads(line)
        del row["metadata"]["toolsearch"]
        assert row == old
    assert (folder / "qrels" / "test.tsv").read_bytes() == (raw / "qrels" / "test.tsv").read_bytes()
    assert import_data("beir", [folder]).data.fingerprint == import_data("beir", [raw]).data.fingerprint


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tools": (Tool(name="a"), Tool(name="a", server="s"))}, "'a' is the name of 2 tools"),
        ({"tools": (Tool(name="a\tb"),)}, "holds a tab or a line break"),
        ({"judgements": {"q2": {"x\ny": 1}}}, "holds a tab or a line break"),
        ({"queries": (Query(query_id="q", text=""),) * 2}, "'q' is the id of 2 queries"),
        ({"queries": (Query(query_id="q", text="\ud800"),)}, "surrogate"),
    ],
)
def test_what_the_form_can_not_hold_is_refused(
    tmp_path: Path, form: str, changes: dict[str, Any], expected: str
) -> None:
    """With a clear message, and nothing is written."""
    with pytest.raises(UsageError, match=expected):
        WRITERS[form](replace(_own(), **changes), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", WRITERS)
def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, form: str) -> None:
    """An export makes a new folder, or fills an empty one."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty; name a new folder"):
        WRITERS[form](_own(), tmp_path / "full")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]
    shutil.rmtree(tmp_path / "full")
    (tmp_path / "full").mkdir()
    assert WRITERS[form](_own(), tmp_path / "full") == tmp_path / "full"
