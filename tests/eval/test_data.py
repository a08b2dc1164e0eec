"""Loading data sets: every accepted form, every fault with its place."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from toolsearch.errors import DataError, Problem, UnknownNameError
from toolsearch_datasets import names
from toolsearch_eval.data import DataSet, Query, fingerprint_of, load_data
from toolsearch_eval.judgements import Judgement

HEADER = "query_id\ttool\tgrade\n"
MAIL = {"query_id": "m", "text": "send a mail"}


def faults(folder: Path) -> list[Problem]:
    """The problems of a folder, with the file's name in place of its path."""
    with pytest.raises(DataError) as caught:
        load_data(folder)
    return [Problem(Path(each.path).name, each.line, each.field, each.message) for each in caught.value.problems]


def test_every_field_is_read(write_folder: Any) -> None:
    """What stands in the files is what the values hold; unknown fields are kept beside them."""
    full = {
        "query_id": "q",
        "text": "send it",
        "slice": "exact",
        "language": "en",
        "split": "dev",
        "group": "mail",
        "origin": "written",
        "need": "all",
        "expect": "answer",
        "must_not": ["read_file"],
        "note": {"by": "hand"},
    }
    label = {
        "query_id": "q",
        "tool": "send_mail",
        "grade": 2,
        "judge": "ann",
        "pass": 2,
        "date": "2026-01-02",
        "why": 1,
    }
    data = load_data(
        write_folder(queries=[full, MAIL], judgements=[label], qrels=None, about='name = "mine"\nversion = "1"\n')
    )
    assert data.queries == (
        Query(
            query_id="q",
            text="send it",
            slice="exact",
            language="en",
            split="dev",
            group="mail",
            origin="written",
            need="all",
            must_not=("read_file",),
            extra={"note": {"by": "hand"}},
        ),
        Query(query_id="m", text="send a mail", split="test", group="m"),
    )
    assert data.labels == (
        Judgement(query_id="q", tool="send_mail", grade=2, judge="ann", turn=2, date="2026-01-02", extra={"why": 1}),
    )
    assert data.judgements == {"q": {"send_mail": 2}}
    assert (data.name, data.about["version"], [query.line for query in data.queries]) == ("mine", "1", [1, 2])


def test_absent_and_null_fields_mean_the_same(write_folder: Any) -> None:
    """Null is as if the field were not there; a group that is empty is the query's own."""
    row = {"query_id": "q", "text": "x", "slice": None, "split": None, "must_not": None, "group": ""}
    assert load_data(write_folder(queries=[row])).queries == (Query(query_id="q", text="x", group="q"),)


@pytest.mark.parametrize(
    ("queries", "qrels"),
    [
        (b"\xef\xbb\xbf" + json.dumps(MAIL).encode() + b"\n", "\ufeff" + HEADER + "m\tsend_mail\t2\n"),
        (json.dumps(MAIL).encode() + b"\r\n\r\n", "query_id\ttool\tgrade\r\nm\tsend_mail\t2\r\n"),
        (b"\n\n  \n" + json.dumps(MAIL).encode(), "\n" + HEADER + "\n \nm\tsend_mail\t2"),
        (json.dumps(MAIL).encode(), "m\tsend_mail\t2\n"),
        (json.dumps(MAIL).encode(), "m 0 send_mail 2\n"),
        (json.dumps(MAIL).encode(), "m\t0\tsend_mail\t2\n"),
        (json.dumps(MAIL).encode(), "m Q0 send_mail 2\nm Q0 send_mail 2\n"),
    ],
    ids=[
        "byte order mark",
        "CRLF",
        "blank lines, no last line end",
        "no header",
        "TREC",
        "TREC tabs",
        "twice the same",
    ],
)
def test_accepted_forms_give_the_same(write_folder: Any, queries: bytes, qrels: str) -> None:
    """A byte order mark, CRLF, blank lines, a missing line end and TREC's form change nothing of what is read."""
    data = load_data(write_folder(queries=queries, qrels=qrels))
    assert [(query.query_id, query.text) for query in data.queries] == [("m", "send a mail")]
    assert data.judgements == {"m": {"send_mail": 2}}
    plain = load_data(write_folder(queries=[MAIL], qrels="m\tsend_mail\t2\n"))
    assert data.fingerprint == plain.fingerprint


def test_names_with_blanks_stand_between_tabs(write_folder: Any) -> None:
    """Ids and names may hold blanks in the form with tabs, with and without TREC's second column."""
    folder = write_folder(
        tools=[{"name": "send it"}], queries=[{"query_id": "a b", "text": "x"}], qrels="a b\t0\tsend it\t-1\n"
    )
    assert load_data(folder).judgements == {"a b": {"send it": -1}}


def test_empty_files_are_an_empty_set(write_folder: Any) -> None:
    """No tool, no query and no label are no fault by themselves."""
    data = load_data(write_folder(tools="", queries="", qrels=""))
    assert (data.tools, data.queries, data.judgements, data.labels) == ((), (), {}, ())
    assert data.name == "set"


def test_an_empty_file_of_judgements_leaves_the_word_to_the_qrels(write_folder: Any) -> None:
    """Without a single label in it, `judgements.jsonl` decides nothing."""
    assert load_data(write_folder(queries=[MAIL], judgements="", qrels="m 0 send_mail 2\n")).judgements == {
        "m": {"send_mail": 2}
    }


def test_hostile_but_valid_text_is_kept(write_folder: Any) -> None:
    """NUL, escape sequences, marks of direction and a very long text are a query like any other."""
    texts = ["a\x00b", "\x1b[2J", "\u202eabc", "x" * 1_000_000, "  "]
    queries = [{"query_id": f"q{number}", "text": text} for number, text in enumerate(texts)]
    assert [query.text for query in load_data(write_folder(queries=queries)).queries] == texts


QUERY_FAULTS: list[tuple[Any, int, str, str]] = [
    ("{", 1, "", "not valid JSON: Expecting property name"),
    ('{"query_id": "q", "text": "x"} {}', 1, "", "more text follows the value (column 32)"),
    ('{"query_id": "q", "query_id": "r", "text": "x"}', 1, "", "the key 'query_id' is given twice"),
    ('{"query_id": "q", "text": "x", "weight": NaN}', 1, "", "NaN is not JSON"),
    ("5", 1, "", "is the number 5; each line must be one JSON object"),
    ("[]", 1, "", "is a list; each line must be one JSON object"),
    ("[" * 100_000, 1, "", "nested too deeply"),
    ('{"a":' * 300 + "1" + "}" * 300, 1, "", "nested too deeply; at most 200 levels are accepted"),
    ({"text": "x"}, 1, "query_id", "is null; every query needs an id"),
    ({"query_id": 7, "text": "x"}, 1, "query_id", "is the number 7; every query needs an id"),
    ({"query_id": "", "text": "x"}, 1, "query_id", "is empty; an id is a text of visible characters"),
    ({"query_id": " ", "text": "x"}, 1, "query_id", "is empty"),
    ({"query_id": "a\x00", "text": "x"}, 1, "query_id", "holds a control character (U+0000)"),
    ({"query_id": "a\tb", "text": "x"}, 1, "query_id", "holds a control character (U+0009)"),
    ({"query_id": "a\u200fb", "text": "x"}, 1, "query_id", "holds an invisible format character (U+200F)"),
    ({"query_id": "a\u2028b", "text": "x"}, 1, "query_id", "holds a line break (U+2028)"),
    ('{"query_id": "a\\ud800", "text": "x"}', 1, "query_id", "holds a lone surrogate"),
    (
        '{"query_id": "q", "text": "\\ud800"}',
        1,
        "text",
        "holds a lone surrogate, which no UTF-8 text can hold; replace",
    ),
    ('{"query_id": "q", "text": "x", "note": ["\\udc00"]}', 1, "note[0]", "holds a lone surrogate"),
    ({"query_id": "q"}, 1, "text", "the query has no text; write what is asked"),
    ({"query_id": "q", "text": ["x"]}, 1, "text", "is a list; it must be a text"),
    ({"query_id": "q", "text": "x", "group": 5}, 1, "group", "is the number 5; it must be a text"),
    ({"query_id": "q", "text": "x", "split": "train"}, 1, "split", "is 'train'; accepted: dev, test"),
    ({"query_id": "q", "text": "x", "need": "most"}, 1, "need", "is 'most'; accepted: any, all"),
    ({"query_id": "q", "text": "x", "expect": True}, 1, "expect", "is true; it must be a text"),
    ({"query_id": "q", "text": "x", "expect": "nothing"}, 1, "expect", "is 'nothing'; accepted: answer, none"),
    ({"query_id": "q", "text": "x", "must_not": "t"}, 1, "must_not", "must be a list of tool names"),
    ({"query_id": "q", "text": "x", "must_not": [5]}, 1, "must_not", "must be a list of tool names"),
    (json.dumps(MAIL) + "\n\n" + json.dumps(MAIL), 3, "query_id", "'m' stands on line 1 already; ids must be unique"),
    (b'{"query_id": "caf\xe9", "text": "x"}', 1, "", "not UTF-8 at byte 18 of the line; save the file as UTF-8"),
    ("\ufeffx".encode("utf-16"), 1, "", "the file is UTF-16; save it as UTF-8"),
]


@pytest.mark.parametrize(
    ("queries", "line", "field", "message"), QUERY_FAULTS, ids=[str(row[3]) for row in QUERY_FAULTS]
)
def test_faults_of_queries(write_folder: Any, queries: Any, line: int, field: str, message: str) -> None:
    """Each fault of `queries.jsonl` is one problem with its line, its field, what is wrong and what is accepted."""
    found = faults(write_folder(queries=[queries] if isinstance(queries, dict) else queries))
    assert [(each.path, each.line, each.field) for each in found] == [("queries.jsonl", line, field)]
    assert message in found[0].message
    assert len(found[0].message) < 200


QRELS_FAULTS = [
    ("q\tt\n", 1, "", "must be query_id, tool and grade between tabs, or a TREC line (query 0 tool grade)"),
    ("q\tt\t1\t0\t5\n", 1, "", "must be query_id, tool and grade between tabs"),
    ("\tt\t1\n", 1, "grade", "must be query_id, tool and grade between tabs"),
    (HEADER + "q\tt\tgood\n", 2, "grade", "is 'good'; a grade is a whole number from -100 to 100"),
    ("q\tt\t1.0\n", 1, "grade", "is '1.0'; a grade is a whole number"),
    ("q\tt\t٢\n", 1, "grade", "a grade is a whole number"),
    ("q\tt\t" + "9" * 5000 + "\n", 1, "grade", "a grade is a whole number"),
    ("q\tt\t101\n", 1, "grade", "a grade is a whole number from -100 to 100"),
    ("q\tt\t2\n\nq 0 t 1\n", 3, "grade", "'t' of 'q' has grade 2 on line 1 and 1 here; keep one"),
    ("q\tt\u0661\n".encode("utf-16"), 1, "", "the file is UTF-16"),
]


@pytest.mark.parametrize(("qrels", "line", "field", "message"), QRELS_FAULTS, ids=[row[3][:50] for row in QRELS_FAULTS])
def test_faults_of_qrels(write_folder: Any, qrels: str | bytes, line: int, field: str, message: str) -> None:
    """Each fault of `qrels.tsv` is one problem with its line and what is accepted."""
    found = faults(write_folder(qrels=qrels))
    assert [(each.path, each.line, each.field) for each in found] == [("qrels.tsv", line, field)]
    assert message in found[0].message


LABEL = {"query_id": "m", "tool": "send_mail", "grade": 2}
LABEL_FAULTS = [
    ({"query_id": None}, "query_id", "is null; it must be a text that is not empty"),
    ({"query_id": ""}, "query_id", "is empty; it must be a text that is not empty"),
    ({"tool": 5}, "tool", "is the number 5; it must be a text"),
    ({"grade": True}, "grade", "is true; a grade is a whole number from -100 to 100"),
    ({"grade": 1.0}, "grade", "is the number 1.0; a grade is a whole number"),
    ({"grade": 101}, "grade", "is the number 101; a grade is a whole number from -100 to 100"),
    ({"judge": []}, "judge", "is a list; it must be a text"),
    ({"date": 2026}, "date", "is the number 2026; it must be a text"),
    ({"pass": 0}, "pass", "is the number 0; it must be a whole number of at least 1"),
    ({"pass": "1"}, "pass", "is a text; it must be a whole number"),
]


@pytest.mark.parametrize(("change", "field", "message"), LABEL_FAULTS, ids=[row[2][:50] for row in LABEL_FAULTS])
def test_faults_of_judgements(write_folder: Any, change: dict[str, Any], field: str, message: str) -> None:
    """Each fault of `judgements.jsonl` is one problem with its line, field and what is accepted."""
    found = faults(write_folder(queries=[MAIL], judgements=[LABEL, {**LABEL, **change}]))
    assert [(each.path, each.line, each.field) for each in found] == [("judgements.jsonl", 2, field)]
    assert message in found[0].message


@pytest.mark.parametrize(
    ("about", "field", "message"),
    [
        ("name = ", "", "is not valid TOML"),
        ("name = 5", "name", "must be a text that is not empty"),
        ('name = ""', "name", "must be a text that is not empty"),
        ("a." * 1000 + "a = 1", "", "nested too deeply"),
        (b'name = "\xff"', "", "not UTF-8 at byte 9 of the line"),
    ],
)
def test_faults_of_the_card(write_folder: Any, about: str | bytes, field: str, message: str) -> None:
    """A `dataset.toml` that can't be read is a fault of that file."""
    found = faults(write_folder(about=about))
    assert (found[0].path, found[0].field) == ("dataset.toml", field)
    assert message in found[0].message


def test_missing_files_are_named_with_what_is_needed(tmp_path: Path) -> None:
    """An empty folder lacks three files, and all three are named at once."""
    found = faults(tmp_path)
    assert [(each.path, each.line) for each in found] == [("catalog.jsonl", 0), ("queries.jsonl", 0), ("qrels.tsv", 0)]
    assert "is missing; a data set holds qrels.tsv or judgements.jsonl" in found[2].message


def test_a_folder_in_place_of_a_file_is_a_fault(write_folder: Any) -> None:
    """What can't be read says why."""
    folder = write_folder()
    (folder / "queries.jsonl").unlink()
    (folder / "queries.jsonl").mkdir()
    assert faults(folder)[0].message == "can't be read: Is a directory"


def test_all_faults_of_all_files_come_at_once_in_file_order(write_folder: Any) -> None:
    """One error names every fault of every file, in the order of files and lines."""
    folder = write_folder(
        about="name = 5",
        tools='{"name": 5}\n{"name": ""}\n',
        queries='{"query_id": "1"}\n5\n{"query_id": "2", "text": "x", "split": 1, "need": "x"}\n',
        qrels=HEADER + "1\tt\tgood\n1\n",
    )
    assert [(each.path, each.line, each.field) for each in faults(folder)] == [
        ("dataset.toml", 0, "name"),
        ("catalog.jsonl", 1, "name"),
        ("catalog.jsonl", 2, "name"),
        ("queries.jsonl", 1, "text"),
        ("queries.jsonl", 2, ""),
        ("queries.jsonl", 3, "need"),
        ("queries.jsonl", 3, "split"),
        ("qrels.tsv", 2, "grade"),
        ("qrels.tsv", 3, ""),
    ]
    with pytest.raises(DataError) as caught:
        load_data(folder)
    assert (
        str(caught.value).splitlines()[4]
        == f"{folder / 'queries.jsonl'}:2: is the number 5; each line must be one JSON object"
    )


@pytest.mark.parametrize("name", ["tinny", "no/such/folder", "a\x00b", "x" * 5000, ""])
def test_an_unknown_data_set_names_the_known_ones(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is neither shipped nor a folder is refused; near names are suggested."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownNameError, match="unknown data set") as caught:
        load_data(name)
    assert "A path must be a data set's folder." in str(caught.value)
    if name == "tinny":
        assert caught.value.suggestions == ("tiny",)


def test_the_shipped_sets_load_by_name() -> None:
    """Every set that ships can be named, and has tools, queries and labels."""
    assert {"builtin", "tiny"} <= set(names())
    for name in names():
        data = load_data(name)
        assert data.name == name
        assert all((data.tools, data.queries, data.judgements, data.labels))


def test_the_first_pass_holds_until_a_settled_label(write_folder: Any) -> None:
    """The grade is that of the settled label, else of the lowest pass, and not that of a word in qrels.tsv."""
    labels = [
        {"query_id": "m", "tool": "send_mail", "grade": 2, "pass": 2},
        {"query_id": "m", "tool": "send_mail", "grade": 0, "pass": 1},
        {"query_id": "m", "tool": "read_file", "grade": 1, "judge": "a"},
        {"query_id": "m", "tool": "read_file", "grade": 0, "judge": "b", "pass": 3, "settled": True},
    ]
    data = load_data(write_folder(queries=[MAIL], judgements=labels, qrels="m 0 gone 2\n"))
    assert data.judgements == {"m": {"send_mail": 0, "read_file": 0}}


def _tiny_with(**changes: Any) -> str:
    tiny = load_data("tiny")
    parts: dict[str, Any] = {"tools": tiny.tools, "queries": tiny.queries, "judgements": tiny.judgements, **changes}
    return fingerprint_of(parts["tools"], parts["queries"], parts["judgements"])


def test_the_fingerprint_covers_what_is_measured_and_nothing_else() -> None:
    """Any change of a tool, a query or a grade gives another fingerprint; the order of labels does not."""
    tiny: DataSet = load_data("tiny")
    shuffled = list(tiny.judgements)
    random.Random(1).shuffle(shuffled)
    assert _tiny_with() == tiny.fingerprint
    assert _tiny_with(judgements={key: tiny.judgements[key] for key in shuffled}) == tiny.fingerprint
    first = next(iter(tiny.judgements))
    changed = [
        _tiny_with(tools=tiny.tools[1:]),
        _tiny_with(tools=tiny.tools[::-1]),
        _tiny_with(queries=tiny.queries[1:]),
        _tiny_with(judgements={**tiny.judgements, first: {}}),
    ]
    assert len({tiny.fingerprint, *changed}) == 5
