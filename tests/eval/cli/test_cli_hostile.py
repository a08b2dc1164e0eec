"""Hostile input on the command line: a clear fault with its place, or a good answer; never a traceback or raw marks."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from toolsearch_eval.cli.main import main

RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""What may steer a terminal, turn its writing direction or hide in it."""
GOOD = '{"name": "send_mail", "description": "Send a mail.", "input_schema": {"properties": {"to": {}}}}\n'
QUERY = '{"query_id": "q", "text": "send a mail"}\n'


def nested(opening: str, closing: str, count: int) -> str:
    """A tool whose schema holds itself so many times over."""
    return '{"name": "deep", "description": "mail", "input_schema": ' + opening * count + "{}" + closing * count + "}\n"


def tool(**fields: object) -> str:
    """A row of a catalog, all marks escaped."""
    return json.dumps({"name": "other", "description": "mail", **fields}) + "\n"


BAD: list[tuple[str, str | bytes, str]] = [
    ("malformed JSON", GOOD + '{"name": "x", \n', ":2: not valid JSON: Expecting property name"),
    ("text after the value", GOOD + '{"name": "x"} x\n', ":2: not valid JSON: more text follows"),
    ("a number as a name", GOOD + tool(name=5), ":2: name: is the number 5; a name must be a text"),
    ("a list as a description", GOOD + tool(description=[1]), ":2: description: is a list; it must be a text or null"),
    ("a text as a schema", GOOD + tool(input_schema="x"), ":2: input_schema: is a text; it must be an object or null"),
    ("a text as a flag", GOOD + tool(always_load="yes"), ":2: always_load: is a text; it must be true or false"),
    ("no object", GOOD + "7\n", ":2: a tool must be an object, not 7"),
    ("duplicate names", GOOD + GOOD, ":2: name: duplicate_tool_name: 'send_mail'"),
    ("a key twice", GOOD + '{"name": "x", "name": "y"}\n', ":2: not acceptable JSON: the key 'name' is given twice"),
    ("NaN", GOOD + '{"name": "x", "n": NaN}\n', ":2: not acceptable JSON: NaN is not JSON; use a number or null"),
    (
        "a number without end",
        GOOD + '{"name": "x", "n": ' + "9" * 5000 + "}\n",
        ":2: not acceptable JSON: a whole number",
    ),
    ("a lone surrogate", GOOD + tool(description="a\ud800"), ":2: description: holds a lone surrogate, which no UTF-8"),
    (
        "a lone surrogate deep inside",
        GOOD + tool(input_schema={"a": ["\udc00"]}),
        ":2: input_schema.a[0]: holds a lone",
    ),
    ("a surrogate in bytes", GOOD.encode() + b'{"name": "\xed\xa0\x80"}\n', ":2: not UTF-8 at byte 11 of the line"),
    ("a raw NUL", GOOD + '{"name": "a\x00b"}\n', ":2: not valid JSON: Invalid control character"),
    (
        "no UTF-8",
        GOOD.encode() + b'{"name": "caf\xe9"}\n',
        ":2: not UTF-8 at byte 14 of the line; save the file as UTF-8",
    ),
    ("UTF-16", GOOD.encode("utf-16"), ":1: the file is UTF-16; save it as UTF-8"),
    ("10,000 objects inside one another", GOOD + nested('{"a":', "}", 10_000), ":2: nested too deeply; at most 200"),
    ("10,000 lists inside one another", "[" * 10_000, ":1: nested too deeply; at most 200 levels are accepted"),
    ("250 levels", GOOD + nested('{"items":', "}", 250), ":2: nested too deeply; at most 200 levels are accepted"),
    ("bytes of all kinds", bytes(range(256)), ":1: not valid JSON"),
    ("a list in place of tools", '{"tools": null}', ":1: tools: must be a list of tools"),
    ("an object without a name", "{}", ":1: name: the tool has no name; every tool needs one"),
]
ACCEPTED: list[tuple[str, str]] = [
    ("a description of ten million characters", GOOD + tool(description="x" * 10_000_000)),
    ("marks in names", GOOD + tool(name="a\x00b") + tool(name="c\u202ed") + tool(name="e\ud800f") + tool(name="g\nh")),
    ("marks in a server's name", GOOD + tool(server="s\u202e\x1b[2J")),
    (
        "marks in texts",
        GOOD + tool(description="mail \x1b[31m \x00 \u202e \x9b2J \U000e0041", search_hint="\x1b]0;x\x07"),
    ),
    (
        "marks in parameters",
        GOOD + tool(input_schema={"properties": {"p\u202e\x1b[2J": {"type": "s\x07", "description": "\u2066"}}}),
    ),
    ("a name of 100,000 characters", GOOD + tool(name="n" * 100_000)),
    ("a parameter of 100,000 characters", GOOD + tool(input_schema={"properties": {"p" * 100_000: {}}})),
    (
        "references in a circle",
        GOOD + tool(input_schema={"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/a"}}}}}),
    ),
    ("a schema that refers to itself", GOOD + tool(input_schema={"$ref": "#", "properties": {"x": {"$ref": "#"}}})),
    ("a schema of a server far away", GOOD + tool(input_schema={"$ref": "https://198.51.100.1/x.json"})),
    ("50,000 numbers to choose from", GOOD + tool(input_schema={"properties": {"x": {"enum": list(range(50_000))}}})),
    ("2,000 parameters", GOOD + tool(input_schema={"properties": {f"p{number}": {} for number in range(5000)}})),
    (
        "a schema that makes no sense",
        GOOD
        + tool(input_schema={"type": [5, None], "required": [5, {}], "properties": {"x": {"type": {}, "enum": 5}}}),
    ),
    ("190 levels", GOOD + nested('{"properties":{"a":', "}}", 95)),
    ("a byte order mark and CRLF", "\ufeff" + GOOD.replace("\n", "\r\n\r\n")),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    (tmp_path / "set").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_set(
    catalog: str | bytes = GOOD, queries: str = QUERY, qrels: str = "q\tsend_mail\t2\n", **files: str
) -> None:
    """A data set in the folder `set`."""
    content = catalog if isinstance(catalog, bytes) else catalog.encode("utf-8")
    Path("set/catalog.jsonl").write_bytes(content)
    Path("set/queries.jsonl").write_text(queries, encoding="utf-8")
    Path("set/qrels.tsv").write_text(qrels, encoding="utf-8")
    for name, text in files.items():
        Path(f"set/{name.replace('__', '.')}").write_text(text, encoding="utf-8")


CATALOG = "set/catalog.jsonl"
COMMANDS: list[list[str]] = [
    ["search", "mail", "--catalog", CATALOG],
    ["search", "mail", "--catalog", CATALOG, "--json"],
    ["explain", "mail", "--tool", "send_mail", "--catalog", CATALOG],
    ["explain", "mail", "--tool", "send_mail", "--catalog", CATALOG, "--json"],
    ["catalog", "check", CATALOG],
    ["catalog", "check", CATALOG, "--json"],
    ["catalog", "stats", CATALOG],
    ["catalog", "stats", CATALOG, "--json"],
    ["catalog", "convert", CATALOG, "out.jsonl"],
    ["eval", "--data", "set", "--ranker", "default", "--ranker", "bm25f"],
    ["eval", "--data", "set", "--ranker", "bm25f", "--json"],
    ["dataset", "check", "--data", "set"],
    ["dataset", "check", "--data", "set", "--json"],
    ["dataset", "stats", "--data", "set"],
]


def ran(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, which printed nothing raw and no line without end."""
    code = main(list(arguments))
    streams = capsys.readouterr()
    for text in (streams.out, streams.err):
        assert not RAW.search(text), arguments
        assert "Traceback" not in text
        if "--json" not in arguments:
            assert max(map(len, text.splitlines()), default=0) < 3000, arguments
    if "--json" in arguments and streams.out:
        json.loads(streams.out)
    return code, streams.out, streams.err


@pytest.mark.parametrize(("catalog", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_catalog_that_cannot_be_read(catalog: str | bytes, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Through every command the fault is told with file, line, field and remedy, and the code is 2."""
    write_set(catalog)
    for arguments in COMMANDS:
        code, out, err = ran(arguments, capsys)
        assert code == 2, arguments
        if "check" in arguments and "--json" in arguments:
            problem = json.loads(out)["errors"][0]
            place = ": ".join(filter(None, [f":{problem['line']}", problem["field"], problem["message"]]))
            assert message in place
        else:
            assert f"{CATALOG}{message}" in err, arguments
    assert not Path("out.jsonl").exists()


@pytest.mark.parametrize("catalog", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_a_catalog_that_is_hostile_and_valid(catalog: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Through every command there is a good answer, and the good tool is found beside the hostile one."""
    write_set(catalog)
    for arguments in COMMANDS:
        code, out, err = ran(arguments, capsys)
        assert code == 0, (arguments, err)
        if arguments[0] == "search" and "--json" in arguments:
            assert "send_mail" in [result["name"] for result in json.loads(out)["results"]]
        if arguments[0] == "eval" and "--json" in arguments:
            assert json.loads(out)["rankers"]["bm25f"]["measures"]["Success@1"]["n"] == 1
    assert Path("out.jsonl").read_text(encoding="utf-8").startswith('{"name": "send_mail"')


@pytest.mark.parametrize(
    "catalog", ["", "\n \n", "[]", "\ufeff"], ids=["empty", "blank", "an empty list", "a mark alone"]
)
def test_an_empty_catalog(catalog: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is found in nothing, which is an answer; only what names a tool is an error."""
    write_set(catalog)
    expected = {"explain": 2, "dataset check": 1}
    for arguments in COMMANDS:
        code, _, err = ran(arguments, capsys)
        assert code == expected.get(arguments[0], expected.get(" ".join(arguments[:2]), 0)), (arguments, err)
        if arguments[0] == "explain":
            assert "unknown tool 'send_mail'" in err
        if arguments[0] == "eval":
            assert "1 queries need tools that can't be found" in err
    assert Path("out.jsonl").read_bytes() == b""


QUERIES = {
    "100,000 letters": "x" * 100_000,
    "100,000 letters in words": "mail " * 20_000,
    "100,000 letters without borders": "camelCase" * 11_112,
    "100,000 characters of Chinese": "发送邮件" * 25_000,
    "100,000 marks on letters": "a\u0301" * 50_000,
    "50,000 plus signs and a word": "+ " * 50_000 + "mail",
    "100,000 dots and a word": "." * 100_000 + " mail",
    "NUL": "mail \x00 a\x00b",
    "a lone surrogate": "mail \ud800",
    "escape sequences and marks": "mail \u202e\x1b[2J\u2066 \x9b",
    "a pattern that explodes": "(a+)+$ mail " + "a" * 1000,
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_a_hostile_query(query: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Any text is searched and explained; what the query holds is never printed raw."""
    write_set()
    for arguments in (
        ["search", query, "--catalog", CATALOG],
        ["search", query, "--catalog", CATALOG, "--json"],
        ["explain", query, "--tool", "send_mail", "--catalog", CATALOG, "--json"],
    ):
        code, out, err = ran(arguments, capsys)
        assert code == 0, err
        if "mail" in query and "--json" in arguments and arguments[0] == "search":
            assert [result["name"] for result in json.loads(out)["results"]] == ["send_mail"]


PATHS = ["\x00", "a\x00b.toml", "\ud800", "\u202e\x1b[2J", "x" * 1000, "."]
WITH_PATH: list[list[str]] = [
    ["search", "mail", "--catalog", "PATH"],
    ["search", "mail", "--profile", "PATH"],
    ["search", "mail", "--profile", "PATH.toml"],
    ["search", "mail", "--server", "PATH"],
    ["explain", "mail", "--tool", "PATH"],
    ["catalog", "check", "PATH"],
    ["catalog", "stats", "PATH"],
    ["catalog", "convert", "PATH", "out.jsonl"],
    ["catalog", "convert", CATALOG, "PATH/x/y"],
    ["catalog", "convert", CATALOG, "out.jsonl", "--format", "PATH"],
    ["eval", "--data", "PATH"],
    ["eval", "--data", "set", "--ranker", "PATH"],
    ["eval", "--data", "set", "--ranker", "PATH.toml"],
    ["eval", "--data", "set", "--ranker", "PATH:make"],
    ["eval", "--data", "set", "--measure", "PATH"],
    ["dataset", "check", "--data", "PATH"],
    ["PATH"],
]


@pytest.mark.parametrize("path", PATHS, ids=["NUL", "NUL inside", "surrogate", "marks", "long", "folder"])
def test_a_hostile_name_or_path(path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What names nothing is a text on stderr and 2, whatever its characters."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    write_set()
    for form in WITH_PATH:
        arguments = [argument.replace("PATH", path) for argument in form]
        code, out, err = ran(arguments, capsys)
        assert (code, out) == (2, "") or form[1] == "check", arguments
        assert code == 2, arguments
        assert err
    assert not Path("out.jsonl").exists()


DATA: list[tuple[str, dict[str, str], int, str]] = [
    ("deep query", {"queries": QUERY + '{"query_id": "r", "a": ' + "[" * 10_000}, 2, "set/queries.jsonl:2: nested too"),
    ("surrogate", {"queries": '{"query_id": "q", "text": "\\ud800"}\n'}, 2, "set/queries.jsonl:1: text: holds a lone"),
    ("mark in an id", {"queries": '{"query_id": "q\u202e", "text": "x"}\n'}, 2, "query_id: holds an invisible format"),
    ("marks in labels", {"qrels": "q\tm\x1b[2J\u202e\tx\u202e\n"}, 2, "set/qrels.tsv:1: grade: is 'x\\u202e'; a grade"),
    ("deep label", {"judgements__jsonl": '{"a":' * 10_000}, 2, "set/judgements.jsonl:1: nested too deeply"),
    ("deep card", {"dataset__toml": "a = " + "[" * 5000}, 2, "set/dataset.toml:0: "),
    (
        "number in the card",
        {"dataset__toml": "a = " + "9" * 5000},
        2,
        "set/dataset.toml:0: a whole number has thousands",
    ),
    ("marks in the card", {"dataset__toml": "\x1b[2J\u202e = 1"}, 2, "set/dataset.toml:0: is not valid TOML"),
    (
        "marks everywhere",
        {
            "queries": '{"query_id": "q", "text": "\\u0000\\u001b[2J\u202e mail", "slice": "\u202e\\u001b", "group": "\\u0007"}\n',
            "dataset__toml": 'name = "\\u001b[2J\\u202e"\n',
        },
        0,
        "'\\u202e\\x1b' has 1 groups",
    ),
    (
        "a slice of a million characters",
        {"queries": QUERY[:-2] + ', "slice": "' + "x" * 1_000_000 + '"}\n'},
        0,
        "1000000",
    ),
    ("a query of 100,000 characters", {"queries": '{"query_id": "q", "text": "' + "mail " * 20_000 + '"}\n'}, 0, ""),
]


@pytest.mark.parametrize(("files", "code", "message"), [row[1:] for row in DATA], ids=[row[0] for row in DATA])
def test_a_hostile_data_set(files: dict[str, str], code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Through every command on data the fault has its file and line, or the data is judged."""
    write_set(**files)
    for arguments in COMMANDS[-5:]:
        found, _, err = ran(arguments, capsys)
        assert found == code, (arguments, err)
        if "stats" not in arguments and "--json" not in arguments:
            assert message in err, arguments
