"""Catalogs in files."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.formats import FORMATS, load_catalog, parse_catalog, to_row, write_catalog
from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, DuplicateToolError, UnknownNameError, UsageError

SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}}
SEND = Tool(name="send", description="Send it", input_schema=SCHEMA)

FORMS: dict[str, Any] = {
    "jsonl": {"name": "send", "description": "Send it", "input_schema": SCHEMA},
    "anthropic": {"name": "send", "description": "Send it", "input_schema": SCHEMA},
    "openai-chat": {
        "type": "function",
        "function": {"name": "send", "description": "Send it", "parameters": SCHEMA},
    },
    "openai-responses": {"type": "function", "name": "send", "description": "Send it", "parameters": SCHEMA},
    "gemini": {"name": "send", "description": "Send it", "parameters": SCHEMA},
    "mcp": {"name": "send", "description": "Send it", "inputSchema": SCHEMA},
}


def problems(text: str, **options: Any) -> list[str]:
    """The problems of a text that must have some, as they are printed."""
    with pytest.raises(DataError) as caught:
        parse_catalog(text, path="f", **options)
    return [str(problem) for problem in caught.value.problems]


def test_every_named_format_has_an_example_here() -> None:
    """The table above covers all formats."""
    assert set(FORMS) == set(FORMATS)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("shape", ["line", "array", "indented", "tools"])
def test_each_form_is_read_in_each_shape_found_or_named(form: str, named: bool, shape: str) -> None:
    """A tool reads the same from a line, an array, an indented document or an envelope."""
    row = FORMS[form]
    text = {
        "line": json.dumps(row),
        "array": json.dumps([row]),
        "indented": json.dumps([row], indent=2),
        "tools": json.dumps({"tools": [row]}),
    }[shape]
    assert parse_catalog(text, format=form if named else None) == (SEND,)


def test_mcp_envelope_hints_and_flags() -> None:
    """A JSON-RPC answer gives read_only, hint and always_load; only the value true loads; hints stay in meta."""
    tools = [
        {
            "name": "a",
            "title": "A",
            "annotations": {"readOnlyHint": True},
            "_meta": {"anthropic/searchHint": "find", "anthropic/alwaysLoad": True},
        },
        {"name": "b", "inputSchema": None, "_meta": {"anthropic/alwaysLoad": "true"}},
    ]
    first, second = parse_catalog(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}), server="s")
    assert (first.read_only, first.search_hint, first.always_load, first.server) == (True, "find", True, "s")
    assert first.meta["title"] == "A"
    assert first.meta["annotations"] == {"readOnlyHint": True}
    assert (second.read_only, second.search_hint, second.always_load) == (False, None, False)


def test_gemini_declarations_in_groups_become_json_schema() -> None:
    """Types in capitals become JSON Schema; a parameter called type and literal values are left alone."""
    parameters = {
        "type": "OBJECT",
        "properties": {
            "type": {"type": "STRING", "enum": ["STRING"]},
            "n": {"type": "ARRAY", "items": {"type": "INTEGER"}},
        },
    }
    text = json.dumps({"tools": [{"functionDeclarations": [{"name": "g", "parameters": parameters}]}]})
    [tool] = parse_catalog(text)
    assert tool.input_schema == {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["STRING"]},
            "n": {"type": "array", "items": {"type": "integer"}},
        },
    }


def test_unknown_keys_are_kept_in_meta() -> None:
    """Nothing of a row is dropped."""
    [tool] = parse_catalog('{"name": "a", "cost": 3, "meta": {"owner": "me"}}')
    assert tool.meta == {"owner": "me", "cost": 3}
    [chat] = parse_catalog('{"type": "function", "function": {"name": "a", "strict": true}, "note": 1}')
    assert chat.meta == {"strict": True, "note": 1}


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", "[]", '{"tools": []}', '\r\n {"result": {"tools": []}}'])
def test_empty_catalogs_are_empty(text: str) -> None:
    """No tools is no error."""
    assert parse_catalog(text) == ()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_byte_order_mark_line_ends_blank_lines_and_missing_newline_are_fine(tmp_path: Path, end: str) -> None:
    """What editors do to files changes nothing."""
    path = tmp_path / "c.jsonl"
    text = end.join(['{"name": "a"}', "", "  ", '{"name": "b", "description": null, "server": null}'])
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load_catalog(path) == (Tool(name="a"), Tool(name="b"))


def test_line_separators_inside_texts_do_not_split_rows() -> None:
    """U+2028 and U+0085 are text, not line ends."""
    [tool] = parse_catalog('{"name": "a", "description": "x\u2028y\x85z"}\n')
    assert tool.description == "x\u2028y\x85z"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", ["f:1: name: the tool has no name"]),
        ('{"name": null}', ["f:1: name: the tool has no name"]),
        ('{"name": ""}', ["f:1: name: is empty"]),
        ('{"name": 3}', ["f:1: name: is the number 3"]),
        ('{"name": true}', ["f:1: name: is true"]),
        ('{"name": ["a"]}', ["f:1: name: is a list"]),
        ('{"type": "function", "function": {}}', ["f:1: name: the tool has no name"]),
        ('{"type": "function", "function": 3}', ["f:1: function: is the number 3"]),
        ('{"name": "a", "description": 3}', ["f:1: description: is the number 3"]),
        ('{"name": "a", "input_schema": "x"}', ["f:1: input_schema: is a text"]),
        ('{"name": "a", "aliases": ["b", 4]}', ["f:1: aliases[1]: is the number 4"]),
        ('{"name": "a", "read_only": "yes"}', ["f:1: read_only: is a text"]),
        ('{"name": "a", "meta": {"x": 1}, "x": 2}', ["f:1: x: stands both"]),
        ('{"name": "a", "x": NaN}', ["f:1: not acceptable JSON: NaN"]),
        ('{"name": "a", "x": -Infinity}', ["f:1: not acceptable JSON: -Infinity"]),
        ('{"name": "a", "x": 1e999}', ["f:1: not acceptable JSON: the number"]),
        ('{"name": "a", "x": ' + "9" * 5000 + "}", ["f:1: not acceptable JSON"]),
        ('{"name": "a", "name": "b"}', ["f:1: not acceptable JSON: the key 'name'"]),
        ('{"name": "a", "description": "\\ud800"}', ["f:1: description: holds a lone surrogate"]),
        ('{"name": "a", "input_schema": {"x": ["\\udc00"]}}', ["f:1: input_schema.x[0]: holds a lone surrogate"]),
        ('[\n{"name": "a"},\n{"name": 1},\n3\n]', ["f:3: name: is the number", "f:4: a tool must be an object"]),
        ('[\n{"name": "a"}\n{"name": "b"}\n]', ["f:3: not valid JSON"]),
        ('{"name": "a"\n', ["f:2: not valid JSON"]),
        ('{"name": "a"}}\n{"name": }\n\n7', ["f:1: not valid", "f:2: not valid", "f:4: a tool must"]),
        ('{"tools": 3}', ["f:1: tools: must be a list"]),
        ('{"tools": [], "nextCursor": "x"}', ["f:1: nextCursor: the list has further pages"]),
        ('{"jsonrpc": "2.0", "error": {"code": 1}}', ["f:1: error: the server answered"]),
        ("[" * 100_000, ["f:1: nested too deeply"]),
        ("[" * 300 + "]" * 300, ["f:1: arrays stand too deep"]),
        ('{"name": "a", "x": ' + "[" * 300 + "]" * 300 + "}", ["f:1: nested too deeply"]),
        ("hello", ["f:1: not valid JSON"]),
    ],
)
def test_faults_are_told_with_line_field_and_remedy(text: str, expected: list[str]) -> None:
    """Each fault has its line and says what was given; all of them come at once."""
    found = problems(text)
    assert len(found) == len(expected)
    for message, start in zip(found, expected, strict=True):
        assert message.startswith(start)
        assert message.isprintable()


def test_all_faults_of_one_row_come_together() -> None:
    """Three wrong fields are three problems."""
    assert len(problems('{"name": 1, "description": 2, "server": 3}')) == 3


def test_duplicates_name_both_lines_and_servers_keep_names_apart() -> None:
    """One name on one server twice is an error with both places; on two servers it is fine."""
    text = '{"name": "a", "server": "s"}\n{"name": "a", "server": "t"}\n'
    assert len(parse_catalog(text)) == 2
    with pytest.raises(DuplicateToolError, match=r"duplicate_tool_name.*f:1 and again at f:3"):
        parse_catalog(text + '{"name": "mcp__s__a", "server": "s"}', path="f")


def test_hostile_names_are_kept_for_quarantine() -> None:
    """NUL, surrogates and right-to-left marks in a name are no file error."""
    tools = parse_catalog('{"name": "a\\u0000"}\n{"name": "\\ud800"}\n{"name": "\\u202ea"}')
    assert [tool.name for tool in tools] == ["a\x00", "\ud800", "\u202ea"]


def test_description_of_ten_megabytes_is_kept_whole() -> None:
    """Nothing is cut."""
    text = "word " * 2_000_000
    [tool] = parse_catalog(json.dumps({"name": "a", "description": text}))
    assert tool.description == text


def test_schema_that_refers_to_itself_is_kept() -> None:
    """A recursive schema is plain data."""
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}}
    [tool] = parse_catalog(json.dumps({"name": "a", "input_schema": schema}))
    assert tool.input_schema == schema


def test_bytes_that_are_not_utf8_are_told_by_line_beside_other_faults(tmp_path: Path) -> None:
    """Encoding faults and other faults come in one error."""
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'{"name": "a"}\n{"name": "\xff"}\n{"name": 3}\n')
    with pytest.raises(DataError) as caught:
        load_catalog(path)
    assert [problem.line for problem in caught.value.problems] == [2, 3]
    path.write_bytes('{"name": "a"}'.encode("utf-16"))
    with pytest.raises(DataError, match="UTF-16"):
        load_catalog(path)


def test_unreadable_files_and_unknown_formats_are_plain_errors(tmp_path: Path) -> None:
    """A missing file, a folder, an impossible path and a wrong format name say what is wrong."""
    for path in (tmp_path / "missing", tmp_path, Path("a\x00b")):
        with pytest.raises(DataError, match="can't be read"):
            load_catalog(path)
    with pytest.raises(UnknownNameError, match="openai-chat"):
        parse_catalog("", format="openai-chats")


def test_no_file_is_ever_imported(tmp_path: Path) -> None:
    """A Python file is text that is not JSON, and a python: name is a missing file."""
    path = tmp_path / "tools.py"
    path.write_text("raise SystemExit(3)")
    for source in (str(path), "python:os:sep"):
        with pytest.raises(DataError):
            load_catalog(source)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_objects = st.dictionaries(st.text(max_size=5), _json, max_size=3)
_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
_tools = st.lists(
    st.builds(
        Tool,
        name=st.text(min_size=1, max_size=8).filter(str.strip),
        description=st.none() | _text,
        search_hint=st.none() | _text,
        input_schema=st.none() | _objects,
        server=st.none() | _text.filter(bool),
        aliases=st.lists(_text.filter(str.strip), max_size=2).map(tuple),
        always_load=st.booleans(),
        read_only=st.booleans(),
        meta=_objects,
    ),
    unique_by=lambda tool: (tool.server, tool.leaf),
    max_size=4,
)


@given(_tools)
def test_written_catalogs_read_back_the_same(tmp_path_factory: pytest.TempPathFactory, tools: list[Tool]) -> None:
    """Writing and reading give the same tools, whatever their text."""
    path = tmp_path_factory.mktemp("round") / "c.jsonl"
    write_catalog(tools, path)
    assert load_catalog(path) == tuple(tools)
    assert [entry.name for entry in path.parent.iterdir()] == ["c.jsonl"]


def test_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    """A catalog appears whole or not at all."""
    path = tmp_path / "c.jsonl"
    write_catalog([SEND], path)
    before = path.read_bytes()
    with pytest.raises(UsageError, match="not JSON"):
        write_catalog([SEND, Tool(name="bad", input_schema={"x": {1, 2}})], path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(UsageError, match="can't be written"):
        write_catalog([SEND], tmp_path / "missing" / "c.jsonl")


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    """What is no file, such as a pipe or the device that swallows all, is never replaced by one."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_catalog([SEND], pipe)
    reader.join()
    assert parse_catalog(read[0].decode("utf-8")) == (SEND,)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_link_is_followed(tmp_path: Path) -> None:
    """The file that a link leads to is written, and the link stays."""
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "real" / "c.jsonl")
    write_catalog([SEND], link)
    assert link.is_symlink()
    assert load_catalog(tmp_path / "real" / "c.jsonl") == (SEND,)


@pytest.mark.parametrize("name", ["", ".", "a\x00b", "\ud800", "x" * 5000])
def test_a_place_that_can_be_no_file_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder and a path that no file system can hold are errors that name the path in short."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="can't be written") as caught:
        write_catalog([SEND], name)
    assert len(str(caught.value)) < 300
    assert list(tmp_path.iterdir()) == []


def test_a_number_without_end_is_told_in_words_for_its_author() -> None:
    """The interpreter's own bound on whole numbers is no advice to whoever wrote the file."""
    with pytest.raises(DataError, match="a whole number has thousands of digits; shorten it") as caught:
        parse_catalog('{"name": "a"}\n{"name": "b", "n": ' + "9" * 5000 + "}\n")
    assert [problem.line for problem in caught.value.problems] == [2]


def test_row_leaves_out_what_is_absent_and_keeps_a_foreign_leaf() -> None:
    """A row holds what the tool says, and the leaf where it can't be worked out."""
    assert to_row(Tool(name="a")) == {"name": "a"}
    assert to_row(Tool(name="mcp__s__a", server="s")) == {"name": "mcp__s__a", "server": "s"}
    assert to_row(Tool(name="x", leaf="a")) == {"name": "x", "leaf": "a"}
