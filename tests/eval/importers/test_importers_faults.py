"""Bad files: every fault with its file, its line and what to do, all of them at once, by the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolsearch_eval.cli.main import main
from toolsearch_eval.data import load_data


def _lines(*rows: Any) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


GOOD_CORPUS = _lines({"_id": "a", "text": "A"}, {"_id": "b", "text": "B"})
GOOD_QUERIES = _lines({"_id": "1", "text": "one"}, {"_id": "2", "text": "two"})
HEADER = "query-id\tcorpus-id\tscore\n"

CASES: list[tuple[str, dict[str, str], list[str]]] = [
    (
        "beir",
        {
            "corpus.jsonl": _lines({"_id": "a", "text": "A"}, {"_id": 5, "text": "B"}, {"_id": "a", "text": "C"}, "{"),
            "queries.jsonl": _lines(
                {"_id": "1"}, {"_id": "\u200b", "text": "x"}, {"_id": "1", "text": "y", "metadata": 3}
            ),
            "qrels/dev.tsv": HEADER + "1\ta\t1\n2\ta\n3\ta\t1.5\n",
            "qrels/test.tsv": HEADER + "1\ta\t0\n",
        },
        [
            "corpus.jsonl:2: _id: is the number 5; it must be a text",
            "corpus.jsonl:3: name: 'a' stands on line 1 of corpus.jsonl already",
            "corpus.jsonl:4: not valid JSON",
            "queries.jsonl:1: text: is missing; it must be a text",
            "queries.jsonl:2: query_id: ",
            "queries.jsonl:3: metadata: must be an object",
            "dev.tsv:3: must be query-id, corpus-id and score, a whole number, between tabs",
            "dev.tsv:4: must be query-id, corpus-id and score, a whole number, between tabs",
            "test.tsv:2: query-id: '1' is in dev.tsv too; a query has one split here",
        ],
    ),
    (
        "beir",
        {
            "corpus.jsonl": _lines({"_id": "a", "text": "A", "metadata": {"toolsearch": {"name": 1, "server": 2}}}),
            "queries.jsonl": _lines(
                {
                    "_id": "1",
                    "text": "x",
                    "metadata": {"toolsearch": {"query_id": "1", "split": "train", "must_not": "a"}},
                }
            ),
            "qrels/dev.tsv": HEADER + "1\ta\t1\n",
            "dataset.toml": "name = 5\n",
            "judgements.jsonl": _lines({"query_id": "1", "tool": "a", "grade": "2"}),
        },
        [
            "corpus.jsonl:1: toolsearch.name: is ",
            "queries.jsonl:1: toolsearch.split: is not accepted; accepted: dev, test",
            "queries.jsonl:1: toolsearch.must_not: is not accepted",
            "dataset.toml:0: name: must be a text that is not empty",
            "judgements.jsonl:1: must hold query_id and tool (texts)",
        ],
    ),
    (
        "trec",
        {
            "topics.txt": "<top>\n<title> no number\n</top>\n<top>\n<num> 1\n<title> a\n</top>\n<top>\n<num> 1\n<title> b\n</top>\n",
            "docs.txt": "<DOC>\n<TEXT>x</TEXT>\n</DOC>\n<DOC><DOCNO>d</DOCNO></DOC>\n",
            "qrels.txt": "1 0 d\n1 0 d x\n1 0 d 2\n1 0 d 1\n",
        },
        [
            "topics.txt:1: a topic needs <num> and <title>",
            "topics.txt:8: query_id: '1' stands on line 4 of topics.txt already",
            "docs.txt:1: DOCNO: a document needs a <DOCNO>",
            "qrels.txt:1: must be query, iteration, document and grade between blanks",
            "qrels.txt:2: must be query, iteration, document and grade between blanks",
            "qrels.txt:4: grade: 'd' of '1' is 1 here and 2 on line 3 of qrels.txt; keep one",
        ],
    ),
    (
        "csv",
        {
            "catalog.csv": "name,descriptoin\na,A\nb\n",
            "queries.csv": "text,tools,split\nhello,a|z,dev\n,a,dev\nbye,a,train\n",
            "labels.csv": "query_id,tool,grade\nq1,a,good\nq9,a,1\n",
        },
        [
            "catalog.csv:1: descriptoin: is no column here; accepted: name, description, server, search_hint, input_schema",
            "catalog.csv:3: has 1 cells and the header 2; write as many",
            "queries.csv:2: tool: 'a' is no tool of the catalog; check the spelling",
            "queries.csv:2: tool: 'z' is no tool of the catalog; check the spelling",
            "queries.csv:3: text: is empty; write what is asked",
            "queries.csv:4: split: is 'train'; accepted: dev, test",
            "labels.csv:2: grade: is 'good'; a grade is a whole number from -100 to 100",
            "labels.csv:3: query_id: 'q9' is no query; check the spelling",
        ],
    ),
    (
        "csv",
        {"catalog.csv": 'name,input_schema\na,"{"\nb,[]\n', "queries.csv": "txet\nhello\n"},
        [
            "catalog.csv:2: input_schema: not valid JSON",
            "catalog.csv:3: input_schema: must be a JSON object",
            "queries.csv:1: has no column text; the columns are txet",
        ],
    ),
    (
        "metatool",
        {
            "plugin_des.json": '{"a": 1}',
            "data/all_clean_data.csv": 'Query,Tool\n"open',
            "data/multi_tool_query_golden.json": '[\n{"query": "x", "tool": "a"},\n{"tool": ["a"]}\n]',
        },
        [
            "plugin_des.json:1: a: must be a text",
            "all_clean_data.csv:2: is no table of cells: unexpected end of data; check the quotation marks",
            "multi_tool_query_golden.json:2: tool: must be a list of names",
            "multi_tool_query_golden.json:3: query: is missing; it must be a text",
        ],
    ),
    (
        "toolbench",
        {
            "G1.json": '[\n{"query": "x"},\n{"query": 1, "query_id": 2, "api_list": [{"tool_name": "t"}], "relevant APIs": []},'
            '\n{"query": "x", "query_id": null, "api_list": [], "relevant APIs": []}\n]'
        },
        [
            "G1.json:2: api_list: must be a list",
            "G1.json:3: query: is the number 1; it must be a text",
            "G1.json:3: api_name: is missing; it must be a text",
            "G1.json:4: query_id: must be a number or a text",
        ],
    ),
    (
        "ultratool",
        {"test.json": _lines({"question": "x", "tools": [{}], "plan": []}, {"question": "y", "tools": []})},
        ["test.json:1: tools: each tool must be an object with a name", "test.json:2: plan: must be a list"],
    ),
    (
        "apibank",
        {
            "apis/broken.py": "class A(:\n",
            "lv1-lv2-samples/l/d.jsonl": _lines({"role": "Robot"}, {"role": "User"}, {"role": "API", "api_name": 3}),
        },
        [
            "broken.py:1: is no Python",
            "d.jsonl:1: role: must be User, AI or API",
            "d.jsonl:2: text: is missing; it must be a text",
            "d.jsonl:3: api_name: is the number 3; it must be a text",
        ],
    ),
    (
        "livemcpbench",
        {
            "tools.json": '[{"tools": []},\n{"tools": {"s": {"tools": [{"name": 1}]}}}]',
            "all_annotations.json": '[{"task_id": "t", "Question": "q"}]',
        },
        [
            "tools.json:1: tools: must be an object with an entry for each server",
            "tools.json:2: tools.s: each tool must be an object with a name",
            "all_annotations.json:1: Annotator Metadata.Tools: must be a text with a name a line",
        ],
    ),
    (
        "bfcl",
        {
            "BFCL_v4_simple_x.json": _lines({"id": "a", "function": [{}], "question": "?"}, {"function": []}),
            "possible_answer/BFCL_v4_simple_x.json": _lines({"id": "a", "ground_truth": [{}]}, {"id": "b"}),
        },
        [
            "BFCL_v4_simple_x.json:1: function: each function must be an object with a name",
            "BFCL_v4_simple_x.json:1: question: must be a list of turns, each a list of messages",
            "BFCL_v4_simple_x.json:2: id: is missing; it must be a text",
            "BFCL_v4_simple_x.json:2: ground_truth: must be a list of calls",
        ],
    ),
    (
        "toolret",
        {
            "tools.jsonl": _lines({"id": "t", "doc": {}}, {"id": "t", "doc": {}}),
            "queries.jsonl": _lines(
                {"id": "q", "query": "x", "labels": "[{"}, {"id": "r", "query": "y", "labels": [{"id": 1}]}
            ),
        },
        [
            "tools.jsonl:2: id: 't' stands there twice",
            "queries.jsonl:1: labels: not valid JSON",
            "queries.jsonl:1: labels: must be a list of objects with id and relevance, or its JSON text",
            "queries.jsonl:2: labels: each label must have an id (a text) and a relevance (a whole number)",
        ],
    ),
    (
        "sealtools",
        {
            "tool.jsonl": _lines({"api_name": "a", "parameters": []}, {"api_description": "x"}),
            "dev.jsonl": _lines([1, 2], {"query": "q", "calling": [{}]}),
        },
        [
            "tool.jsonl:1: parameters: must be an object, and required a list",
            "tool.jsonl:2: api_name: is missing; it must be a text",
            "dev.jsonl:1: must be an object with query and calling, or a list of calls and the query",
            "dev.jsonl:2: calling: each call must be an object with api, a name",
        ],
    ),
    (
        "mcpproxy",
        {
            "corpus_v1.json": '{"tools": [{"server": "s"}]}',
            "retrieval_golden_v1.json": '{"queries": [{"id": "a", "query": "x", "labels": [{"tool_id": "t"}]}, {"id": "b"}]}',
        },
        [
            "corpus_v1.json:1: tool: is missing; it must be a text",
            "retrieval_golden_v1.json:1: labels: a: tool_id must be a text and relevance a whole number",
            "retrieval_golden_v1.json:1: query: is missing; it must be a text",
            "retrieval_golden_v1.json:1: labels: must be a list of objects with tool_id and relevance",
        ],
    ),
]


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("form", "files", "expected"), CASES, ids=[f"{form}-{number}" for number, (form, *_) in enumerate(CASES)]
)
def test_every_fault_is_told_at_once_with_its_place(
    tmp_path: Path, form: str, files: dict[str, str], expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, a line for each fault as `path:line: field: what is wrong`, and nothing is written."""
    folder = _write(tmp_path / "raw", files)
    assert main(["dataset", "import", form, str(folder), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr()
    lines = said.err.splitlines()
    for each in expected:
        assert any(each in line for line in lines), (each, lines)
    assert all(line.startswith(str(folder)) for line in lines)
    assert said.out == ""
    assert not (tmp_path / "out").exists()


def test_faults_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One object on stdout, as of `dataset check`."""
    form, files, _ = CASES[0]
    folder = _write(tmp_path / "raw", files)
    assert main(["dataset", "import", form, str(folder), "--out", str(tmp_path / "out"), "--json"]) == 2
    errors = json.loads(capsys.readouterr().out)["errors"]
    assert errors[0] == {
        "path": str(folder / "corpus.jsonl"),
        "line": 2,
        "field": "_id",
        "message": "is the number 5; it must be a text",
    }
    assert len(errors) == 9


def test_a_set_is_imported_checked_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder holds a data set of ours, and what was decided on the way is on stderr."""
    folder = _write(
        tmp_path / "raw",
        {
            "corpus.jsonl": GOOD_CORPUS,
            "queries.jsonl": GOOD_QUERIES,
            "qrels/train.tsv": HEADER + "1\ta\t1\n",
        },
    )
    out = tmp_path / "out"
    assert main(["dataset", "import", "beir", str(folder), "--out", str(out), "--name", "mine", "--json"]) == 0
    said = capsys.readouterr()
    form = json.loads(said.out)
    assert (form["name"], form["tools"], form["queries"], form["labels"]) == ("mine", 2, 2, 1)
    assert (form["no_answer"], form["need_all"], form["check"]["errors"]) == (0, 0, 1)
    assert form["warnings"] == [
        "the split train is taken for dev",
        "queries have no relevant tool; label them, or say that they expect none (1): 2",
    ]
    assert "warning: the split train is taken for dev" in said.err
    assert load_data(out).fingerprint == form["fingerprint"]


def test_text_from_files_can_not_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names that stand in warnings are neutralised."""
    folder = _write(
        tmp_path / "raw",
        {
            "plugin_des.json": json.dumps({"a": "A"}),
            "data/all_clean_data.csv": 'Query,Tool\nhello,a\nbye,"x\x1b[31m"\n',
        },
    )
    assert main(["dataset", "import", "metatool", str(folder), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert "x\\x1b[31m" in said.err


def test_an_export_by_the_command_comes_back_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Out as BEIR and as TREC, and in again."""
    for form in ("beir", "trec"):
        assert main(["dataset", "export", form, "tiny", "--out", str(tmp_path / form)]) == 0
        assert main(["dataset", "import", form, str(tmp_path / form), "--out", str(tmp_path / f"{form}-back")]) == 0
        assert load_data(tmp_path / f"{form}-back").fingerprint == load_data("tiny").fingerprint
    assert "written to" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["import", "beer", "x", "--out", "y"], "unknown form 'beer'. Did you mean 'beir'?"),
        (["import", "beir", "gone", "--out", "y"], "gone:0: there is no such file or folder"),
        (["import", "csv", ".", "--out", "y"], "there is no catalog.csv or tools.csv in .: the tools."),
        (["export", "beir", "gone", "--out", "y"], "unknown data set 'gone'"),
    ],
)
def test_wrong_use_is_told_in_a_line(
    arguments: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 2, and what is accepted."""
    monkeypatch.chdir(tmp_path)
    assert main(["dataset", *arguments]) == 2
    assert expected in capsys.readouterr().err
