"""Catalogs in files: our own JSONL, MCP `tools/list` results, and the forms of the providers of models.

Nothing of a file is ever run. A fault never hides another: all problems of a file come in one error, each
with its line.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolsearch.catalog.json_source import (
    MAX_DEPTH,
    JsonFault,
    Lines,
    elements,
    member_position,
    read_value,
    skip_blank,
    surrogate_path,
    too_deep,
)
from toolsearch.catalog.names import shown
from toolsearch.catalog.rows import FORMATS, detect_format, read_row, to_row
from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, DuplicateToolError, Problem, UnknownNameError, UsageError

__all__ = ["FORMATS", "load_catalog", "parse_catalog", "to_row", "write_catalog"]

_GROUPS = ("tools", "functionDeclarations", "function_declarations")
"""Keys whose list holds the tools; an object that has one and no name of its own is their envelope."""

_MAX_ENVELOPES = 8
"""Envelopes inside one another; a JSON-RPC answer in an array is three deep."""

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")

_ACCEPTED = (
    "accepted: a line of JSON for each tool, an MCP tools/list result, or an array of tools in the form of "
    "Anthropic, OpenAI or Gemini"
)


def load_catalog(path: str | Path, *, format: str | None = None, server: str | None = None) -> tuple[Tool, ...]:
    """The tools of a file, in file order.

    Args:
        path: A file in UTF-8; a byte order mark, CRLF, blank lines and a missing final newline are fine.
        format: One of `FORMATS`; not given: told from the content.
        server: The owner of tools that name none, for instance those of a `tools/list` result.

    Returns:
        The tools; none for an empty file.

    Raises:
        UnknownNameError: There is no such format.
        DuplicateToolError: The only faults are names that one server has twice.
        DataError: The file can't be read or has faults; all of them, in file order.
    """
    label = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DataError([Problem(label, 0, "", f"the file can't be read: {reason}")]) from None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError([Problem(label, 1, "", "the file is UTF-16; save it as UTF-8")])
    problems: list[Problem] = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        problems = list(_encoding_problems(data, label))
        # Read on with replacements, so that the other faults are told at the same time.
        text = data.decode("utf-8", errors="replace")
    return _parse(text, label, format, server, problems)


def parse_catalog(
    text: str, *, path: str = "<tools>", format: str | None = None, server: str | None = None
) -> tuple[Tool, ...]:
    """The tools of a text; `path` stands in the messages. Otherwise as `load_catalog`.

    >>> [tool.name for tool in parse_catalog('[{"name": "send", "input_schema": {"type": "object"}}]')]
    ['send']
    """
    return _parse(text, path, format, server, [])


def write_catalog(tools: Iterable[Tool], path: str | Path) -> None:
    """Write tools as our own JSONL, which `load_catalog` reads back; the file appears whole or not at all.

    Callables can't be written. A tool whose text holds lone surrogates is written with escapes. A link is followed; a
    pipe or a device is written to and stays what it is.

    Raises:
        UsageError: A schema that is not JSON, or a place where no file can be written.
    """
    temporary: str | None = None
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            target.write_bytes(b"".join(map(_line, tools)))
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.", suffix=".part")
        with os.fdopen(handle, "wb") as file:
            for tool in tools:
                file.write(_line(tool))
        # A temporary file is private; a written catalog is as readable as any other new file.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
        temporary = None
    except (OSError, ValueError) as error:  # the latter: a path that no file system can hold
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"the catalog {shown(os.fspath(path))} can't be written: {reason}.") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _line(tool: Tool) -> bytes:
    row = to_row(tool)
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"tool {shown(tool.name)} can't be written: its schema or meta is not JSON ({error})."
        ) from None
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(row).encode("ascii") + b"\n"


def _encoding_problems(data: bytes, path: str) -> Iterator[Problem]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            yield Problem(path, number, "", f"not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8")


_Fault = Callable[[int, str, str], None]
"""Takes a position in the whole text, a field and a message."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A decoded value and its place: from `start` to `end` of `chunk`, which begins at `base` in the text."""

    value: Any
    chunk: str
    start: int
    end: int
    base: int

    @property
    def position(self) -> int:
        return self.base + self.start


def _parse(text: str, path: str, form: str | None, server: str | None, problems: list[Problem]) -> tuple[Tool, ...]:
    if form is not None and form not in FORMATS:
        raise UnknownNameError("catalog format", form, FORMATS)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = Lines(text)
    tools: list[Tool] = []
    first_lines: dict[tuple[str | None, str], int] = {}
    duplicates: list[Problem] = []

    def fault(position: int, field: str, message: str) -> None:
        problems.append(Problem(path, lines.at(position), field, message))

    by_line = form == "jsonl" or path.lower().endswith((".jsonl", ".ndjson"))
    for document in _documents(text, by_line, fault):
        for row in _rows(document, fault):
            tool = _tool(row, form, server, fault)
            if tool is None:
                continue
            line = lines.at(row.position)
            key = (tool.server, tool.leaf)
            if key in first_lines:
                owner = f"server {shown(tool.server)}" if tool.server else "no server"
                message = (
                    f"duplicate_tool_name: {shown(tool.name)} of {owner} stands at "
                    f"{path}:{first_lines[key]} and again "
                    f"at {path}:{line}; rename one or give them different servers"
                )
                duplicates.append(Problem(path, line, "name", message))
            else:
                first_lines[key] = line
                tools.append(tool)
    if problems:
        raise DataError(sorted(problems + duplicates, key=lambda problem: problem.line))
    if duplicates:
        raise DuplicateToolError(duplicates)
    return tuple(tools)


def _documents(text: str, by_line: bool, fault: _Fault) -> Iterator[_Found]:
    """The JSON values of a text: one document that may have many lines, or one value a line."""
    start = skip_blank(text, 0)
    if start == len(text):
        return
    line_end = text.find("\n", start)
    first_line = text[start : line_end if line_end >= 0 else len(text)].rstrip()
    try:
        value, end = read_value(text, start)
    except JsonFault as error:
        if not (by_line or (first_line.startswith("{") and first_line.endswith("}"))):
            fault(error.position, "", str(error))
            return
    else:
        rest = skip_blank(text, end)
        if rest == len(text):
            yield _Found(value, text, start, end, 0)
            return
        if not by_line and "\n" in text[start:end]:
            fault(rest, "", f"there is more text after the end of the JSON value; {_ACCEPTED}")
            return
    yield from _line_values(text, fault)


def _line_values(text: str, fault: _Fault) -> Iterator[_Found]:
    base = 0
    for line in text.split("\n"):
        start = skip_blank(line, 0)
        if start < len(line):
            try:
                value, end = read_value(line, start)
            except JsonFault as error:
                fault(base + min(error.position, len(line)), "", str(error))
            else:
                if skip_blank(line, end) < len(line):
                    fault(base + end, "", f"not valid JSON: more text follows the value (column {end + 1})")
                else:
                    yield _Found(value, line, start, end, base)
        base += len(line) + 1


def _rows(found: _Found, fault: _Fault, depth: int = 0) -> Iterator[_Found]:
    """The tools in a value: itself, or what stands in arrays and envelopes."""
    value = found.value
    if depth > _MAX_ENVELOPES:
        fault(found.position, "", f"arrays stand too deep inside one another to be a list of tools; {_ACCEPTED}")
    elif isinstance(value, list):
        for inner, start, end in elements(found.chunk, found.start):
            yield from _rows(_Found(inner, found.chunk, start, end, found.base), fault, depth + 1)
    elif not isinstance(value, dict):
        fault(found.position, "", f"a tool must be an object, not {json.dumps(value)[:40]}; {_ACCEPTED}")
    else:
        key = _envelope_key(value)
        if key is None:
            yield found
            return
        start = member_position(found.chunk, found.start, key)
        inside = _Found(value[key], found.chunk, start, found.end, found.base)
        if key == "error":
            fault(
                inside.position,
                "error",
                "the server answered with an error instead of its tools; ask it again",
            )
        elif key in _GROUPS and not isinstance(value[key], list):
            fault(inside.position, key, "must be a list of tools")
        else:
            if value.get("nextCursor"):
                fault(
                    found.position,
                    "nextCursor",
                    "the list has further pages; fetch them all, or remove nextCursor to take this page alone",
                )
            yield from _rows(inside, fault, depth + 1)


def _envelope_key(value: dict[str, Any]) -> str | None:
    """The key under which an envelope holds its tools; None when the object is a tool itself."""
    if "name" in value or "function" in value:
        return None
    for key in _GROUPS:
        if key in value:
            return key
    if isinstance(value.get("result"), dict):
        return "result"
    return "error" if "jsonrpc" in value and "error" in value else None


def _tool(found: _Found, form: str | None, server: str | None, fault: _Fault) -> Tool | None:
    def report(field: str, message: str) -> None:
        fault(found.position, field, message)

    openings = sum(found.chunk.count(bracket, found.start, found.end) for bracket in "{[")
    if openings > MAX_DEPTH and too_deep(found.value):
        report("", f"nested too deeply; at most {MAX_DEPTH} levels are accepted")
        return None
    tool = read_row(found.value, form or detect_format(found.value), server, report)
    if tool is None:
        return None
    if not _SURROGATE_ESCAPE.search(found.chunk, found.start, found.end) and _encodable(found):
        return tool
    row = to_row(tool)
    # A name with surrogates is quarantined by whoever holds the tool; any other text is the file's fault.
    row.pop("name")
    row.pop("leaf", None)
    place = surrogate_path(row)
    if place is None:
        return tool
    report(place, "holds a lone surrogate, which no UTF-8 text can hold; replace it, for instance by U+FFFD")
    return None


def _encodable(found: _Found) -> bool:
    try:
        found.chunk[found.start : found.end].encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
