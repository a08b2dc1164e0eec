"""What `dataset check` finds in a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolsearch.errors import Problem
from toolsearch_datasets import names
from toolsearch_eval.data import load_data
from toolsearch_eval.data_check import check_data

TEN = [{"query_id": f"ok-{number}", "text": f"mail number {number}", "slice": "fine"} for number in range(10)]
TEN_LABELS = [{"query_id": row["query_id"], "tool": "send_mail", "grade": 2} for row in TEN]


def found(problems: list[Problem]) -> list[tuple[str, int, str, str]]:
    """The problems with the file's name in place of its path."""
    return [(Path(each.path).name, each.line, each.field, each.message) for each in problems]


def q(query_id: str, text: str, **fields: Any) -> dict[str, Any]:
    """A row of queries.jsonl in the slice that is large enough."""
    return {"query_id": query_id, "text": text, "slice": "fine", **fields}


def label(query_id: str, tool: str, grade: int, **fields: Any) -> dict[str, Any]:
    """A row of judgements.jsonl."""
    return {"query_id": query_id, "tool": tool, "grade": grade, **fields}


SENTENCE = "lists every file of a folder and all folders inside"
HANZI = "列出一个文件夹中的所有文件和子文件夹"
TOOLS: list[dict[str, Any]] = [
    {"name": "send_mail", "description": "Send a mail.", "search_hint": "post letter"},
    {"name": "list_files", "description": SENTENCE.capitalize() + ", sorted."},
    {"name": "列表", "description": HANZI + "。"},
    {"name": "pinned", "always_load": True},
    {"name": "od\u200bd"},
]

ERRORS: list[tuple[str, list[dict[str, Any]], list[dict[str, Any]], list[tuple[str, int, str, str]]]] = [
    (
        "a tool that does not exist",
        [q("a", "x y")],
        [label("a", "gone", 2)],
        [("queries.jsonl", 11, "tool", "'gone' of query 'a' is not in the catalog")],
    ),
    (
        "a forbidden tool that does not exist",
        [q("a", "x y", must_not=["gone"])],
        [label("a", "send_mail", 2)],
        [("queries.jsonl", 11, "tool", "'gone' of query 'a' is not in the catalog")],
    ),
    (
        "a tool that is always loaded",
        [q("a", "x y")],
        [label("a", "pinned", 2)],
        [("queries.jsonl", 11, "tool", "'pinned' of query 'a' is always loaded, so it is never searched")],
    ),
    (
        "a tool that is never shown",
        [q("a", "x y")],
        [label("a", "od\u200bd", 2)],
        [
            (
                "queries.jsonl",
                11,
                "tool",
                "'od\\u200bd' of query 'a' is never shown, as its name holds an invisible format character "
                "(U+200B); rename it",
            )
        ],
    ),
    (
        "no text",
        [q("a", " \n")],
        [label("a", "send_mail", 2)],
        [("queries.jsonl", 11, "text", "is empty; write what is asked")],
    ),
    (
        "no label",
        [q("a", "x y")],
        [label("a", "send_mail", 0)],
        [("queries.jsonl", 11, "query_id", "'a' has no relevant label; label it or set expect to none")],
    ),
    (
        "no answer expected and one labelled",
        [q("a", "x y", expect="none")],
        [label("a", "send_mail", 1)],
        [("queries.jsonl", 11, "expect", "is none, but there are answers with labels: 'send_mail'")],
    ),
    (
        "an answer that must not come",
        [q("a", "x y", must_not=["send_mail"])],
        [label("a", "send_mail", 2)],
        [("queries.jsonl", 11, "must_not", "names tools that are labelled as answers: 'send_mail'")],
    ),
    (
        "labels without a query",
        [],
        [label("a", "send_mail", 2), label("a", "list_files", 2)],
        [
            (
                "judgements.jsonl",
                11,
                "query_id",
                "'a' has labels and no row in queries.jsonl; add the query or remove the labels",
            )
        ],
    ),
    (
        "one judge, two grades",
        [q("a", "x y")],
        [label("a", "send_mail", 2, judge="ann"), label("a", "send_mail", 1, judge="ann")],
        [
            (
                "judgements.jsonl",
                12,
                "grade",
                "'send_mail' of 'a' is 1 here and 2 on line 11; one judge gives one grade in a pass: keep one",
            )
        ],
    ),
    (
        "a group in both splits",
        [q("a", "x y", group="g", split="dev"), q("b", "y x", group="g", split="test")],
        [label("a", "send_mail", 2), label("b", "send_mail", 2)],
        [("queries.jsonl", 12, "group", "'g' stands in dev and in test; a group belongs to one split")],
    ),
    (
        "a text in both splits",
        [q("a", "X, y!", split="dev"), q("b", "x  Y", split="test")],
        [label("a", "send_mail", 2), label("b", "send_mail", 2)],
        [("queries.jsonl", 12, "split", "same text as query 'a' on line 11, which is in dev; keep one")],
    ),
    (
        "one text, two answers",
        [q("a", "x y"), q("b", "x y")],
        [label("a", "send_mail", 2), label("b", "list_files", 2)],
        [("queries.jsonl", 12, "text", "same text as query 'a' on line 11, but the labels are conflicting")],
    ),
]


@pytest.mark.parametrize(("queries", "labels", "expected"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_errors(write_folder: Any, queries: Any, labels: Any, expected: list[tuple[str, int, str, str]]) -> None:
    """Each fault of the labels or the splits is one error with its file, line and field; nothing else is reported."""
    folder = write_folder(tools=TOOLS, queries=TEN + queries, judgements=TEN_LABELS + labels, qrels=None)
    errors, warnings = check_data(load_data(folder))
    assert found(errors) == expected
    assert warnings == []


WARNINGS: list[tuple[str, list[dict[str, Any]], list[tuple[int, str, str]]]] = [
    (
        "a text twice",
        [q("a", "x y"), q("b", "X y.")],
        [(12, "text", "same text as query 'a' on line 11; keep one, or give both one group")],
    ),
    (
        "a description inside of a query",
        [q("a", f"please: {SENTENCE}, SORTED, thanks")],
        [(11, "text", "is copied from the description of 'list_files', or it from this; write it anew")],
    ),
    (
        "a query inside of a description",
        [q("a", "file of a folder and all")],
        [(11, "text", "is copied from the description of 'list_files', or it from this; write it anew")],
    ),
    ("five words alone", [q("a", "file of a folder and")], []),
    ("six words with another between", [q("a", "file of a big folder and all")], []),
    ("half of a word is no word", [q("a", "ile of a folder and all")], []),
    (
        "a query in Chinese inside of a description",
        [q("a", "文件夹中的所有文件和子文件夹")],
        [(11, "text", "is copied from the description of '列表', or it from this; write it anew")],
    ),
    ("some characters alone", [q("a", "所有文件和子文件夹")], []),
    (
        "a query that is a hint",
        [q("a", "Post letter")],
        [(11, "text", "is copied from the search hint of 'send_mail', or it from this; write it anew")],
    ),
    ("a hint with a word more", [q("a", "post letter now")], []),
    ("a short description", [q("a", "send a mail")], []),
    (
        "an unknown field",
        [q("a", "x y", weight=3)],
        [(11, "weight", "is no field of a query; it is kept and has no effect")],
    ),
    ("a small slice", [q("a", "x y", slice="few")], [(0, "slice", "'few' has 1 groups: too few to tell")]),
]


@pytest.mark.parametrize(("queries", "expected"), [row[1:] for row in WARNINGS], ids=[row[0] for row in WARNINGS])
def test_warnings(write_folder: Any, queries: Any, expected: list[tuple[int, str, str]]) -> None:
    """Copies, repeated texts, unknown fields and small slices are warnings, and no errors."""
    labels = TEN_LABELS + [label(row["query_id"], "send_mail", 2) for row in queries]
    errors, warnings = check_data(load_data(write_folder(tools=TOOLS, queries=TEN + queries, judgements=labels)))
    # The qrels that were written beside are empty, which is one error of its own.
    assert found(errors) == [("qrels.tsv", 0, "", "does not follow from judgements.jsonl; derive it anew")]
    assert [(each.line, each.field, each.message) for each in warnings] == expected


def test_wordings_of_one_intent_make_a_slice_no_larger(write_folder: Any) -> None:
    """Ten queries of one group are one group, which is too few to tell."""
    queries = [{**row, "group": "one"} for row in TEN]
    _, warnings = check_data(load_data(write_folder(tools=TOOLS, queries=queries, judgements=TEN_LABELS, qrels=None)))
    assert [each.message for each in warnings] == ["'fine' has 1 groups: too few to tell"]


def test_judges_who_disagree_are_a_warning_until_it_is_settled(write_folder: Any) -> None:
    """Two judges of one pass may differ; a settled label ends it, and another pass made apart is no conflict."""
    labels = [label("ok-0", "list_files", 0, judge="ann"), label("ok-0", "list_files", 1, judge="ben")]
    folder = write_folder(tools=TOOLS, queries=TEN, judgements=TEN_LABELS + labels, qrels=None)
    assert [each.message for each in check_data(load_data(folder))[1]] == [
        "'list_files' of 'ok-0' is 1 here and 0 on line 11; a label with settled: true decides"
    ]
    for end in (
        [*labels, label("ok-0", "list_files", 1, settled=True)],
        [labels[0], label("ok-0", "list_files", 1, judge="ann", **{"pass": 2})],
    ):
        folder = write_folder(tools=TOOLS, queries=TEN, judgements=TEN_LABELS + end, qrels=None)
        assert check_data(load_data(folder)) == ([], [])


def test_a_label_that_stands_twice_is_a_warning(write_folder: Any) -> None:
    """The same judge, pass, query, tool and grade on two lines is told with the other line."""
    labels = [label("ok-0", "list_files", 0), label("ok-0", "list_files", 0)]
    folder = write_folder(tools=TOOLS, queries=TEN, judgements=TEN_LABELS + labels, qrels=None)
    assert found(check_data(load_data(folder))[1]) == [("judgements.jsonl", 12, "", "repeats line 11; keep one")]


def test_one_name_on_two_servers_is_an_error(write_folder: Any) -> None:
    """Labels can't tell two tools of one name apart."""
    tools = [*TOOLS, {"name": "send_mail", "server": "other"}]
    errors, _ = check_data(load_data(write_folder(tools=tools, queries=TEN, judgements=TEN_LABELS, qrels=None)))
    assert found(errors) == [
        (
            "catalog.jsonl",
            0,
            "name",
            "'send_mail' is the name of 2 tools; give each its full id, so that labels tell them apart",
        )
    ]


def test_qrels_that_follow_are_fine_and_broken_ones_are_reported(write_folder: Any) -> None:
    """Grades derived from the labels pass, in any order; faults of the derived file are errors of the check."""
    rows = [f"{row['query_id']}\t{row['tool']}\t{row['grade']}" for row in TEN_LABELS]
    good = write_folder(tools=TOOLS, queries=TEN, judgements=TEN_LABELS, qrels="\n".join(rows[::-1]))
    assert check_data(load_data(good)) == ([], [])
    bad = write_folder(tools=TOOLS, queries=TEN, judgements=TEN_LABELS, qrels="\n".join([*rows, "nonsense"]))
    assert [(each.line, each.message[:20]) for each in check_data(load_data(bad))[0]] == [(11, "must be query_id, to")]


def test_errors_come_in_file_order(write_folder: Any) -> None:
    """Errors of the queries come first, by line, then those of the labels."""
    queries = [q("b", "x y", split="dev"), q("a", ""), q("c", "x y")]
    labels = [label("nobody", "send_mail", 1), label("b", "gone", 2)]
    errors, _ = check_data(load_data(write_folder(tools=TOOLS, queries=queries, judgements=labels, qrels=None)))
    assert [(place, line, field) for place, line, field, _ in found(errors)] == [
        ("queries.jsonl", 1, "tool"),
        ("queries.jsonl", 2, "text"),
        ("queries.jsonl", 2, "query_id"),
        ("queries.jsonl", 3, "query_id"),
        ("queries.jsonl", 3, "split"),
        ("queries.jsonl", 3, "text"),
        ("judgements.jsonl", 1, "query_id"),
    ]


@pytest.mark.parametrize("name", names())
def test_the_shipped_sets_are_clean(name: str) -> None:
    """No error in any set that ships; the tiny one is too small in every slice and has no other warning."""
    errors, warnings = check_data(load_data(name))
    assert errors == []
    assert {each.field for each in warnings} <= ({"slice"} if name == "tiny" else set())


def test_an_empty_set_is_nothing_to_complain_about(write_folder: Any) -> None:
    """Without tools, queries and labels there is no error and no warning."""
    data = load_data(write_folder(tools=""))
    assert check_data(data) == ([], [])
