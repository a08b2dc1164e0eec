"""One tool as it stands in a file, in each of the forms that are read; all faults of a row at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolsearch.catalog.tool import Tool, leaf_of

Row = dict[str, Any]
Report = Callable[[str, str], None]
"""Takes a field and what is wrong with it."""

FORMATS = ("jsonl", "mcp", "anthropic", "openai-chat", "openai-responses", "gemini")
"""The forms that can be named; without a name the form is told from the row itself."""

_KINDS: dict[str, tuple[type, str]] = {
    "text": (str, "a text"),
    "object": (dict, "an object"),
    "flag": (bool, "true or false"),
    "list": (list, "a list"),
}


def detect_format(row: Row) -> str:
    """The form of a row: the first whose own keys it has; without any, our own.

    Our own form and Anthropic's meet in `name`, `description` and `input_schema`, and are read alike.
    """
    if row.get("type") == "function":
        return "openai-chat" if "function" in row else "openai-responses"
    if "function" in row and "name" not in row:
        return "openai-chat"
    if "input_schema" in row:
        return "jsonl"
    if "inputSchema" in row or "_meta" in row or "annotations" in row or "title" in row:
        return "mcp"
    if "parameters" in row or "parametersJsonSchema" in row:
        return "gemini"
    return "jsonl"


def read_row(row: Row, form: str, server: str | None, report: Report) -> Tool | None:
    """The tool of a row, or None when a fault was reported.

    Args:
        row: The decoded object; not changed.
        form: One of `FORMATS`.
        server: The owner of a tool whose row names none.
        report: Called for each fault.
    """
    faults: list[tuple[str, str]] = []

    def note(field: str, message: str) -> None:
        faults.append((field, message))
        report(field, message)

    rest = dict(row)
    values = _READERS[form](rest, note)
    values["name"] = _name(values.get("name"), "name" in values, note)
    if faults:
        return None
    # What no field takes is kept as it came.
    extra = values.pop("meta", None) or {}
    for key in sorted(set(rest) & set(extra)):
        note(key, "stands both in the row and in its meta; keep one")
    values["server"] = values.get("server") or server
    tool = Tool(**values, meta={**extra, **rest})
    return None if faults else tool


def to_row(tool: Tool) -> Row:
    """A tool as a row of our own form; what is absent is left out, and callables can't be written.

    >>> to_row(Tool(name="send", server="chat", read_only=True))
    {'name': 'send', 'server': 'chat', 'read_only': True}
    """
    row: Row = {"name": tool.name}
    for field in ("description", "input_schema", "server", "search_hint"):
        value = getattr(tool, field)
        if value is not None:
            row[field] = _plain(value)
    if tool.leaf != leaf_of(tool.name, tool.server):
        row["leaf"] = tool.leaf
    if tool.aliases:
        row["aliases"] = list(tool.aliases)
    for flag in ("always_load", "read_only"):
        if getattr(tool, flag):
            row[flag] = True
    if tool.meta:
        row["meta"] = _plain(tool.meta)
    return row


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _name(name: object, given: bool, note: Report) -> str:
    if not given or name is None:
        note("name", "the tool has no name; every tool needs one")
    elif not isinstance(name, str):
        note("name", f"is {_kind(name)}; a name must be a text")
    elif not name.strip():
        note("name", "is empty; every tool needs a name")
    else:
        return name
    return ""


def _take(row: Row, key: str, kind: str, note: Report) -> Any:
    """Take a value out of a row; null and a missing key give None, another kind is a fault."""
    value = row.pop(key, None)
    accepted, words = _KINDS[kind]
    if value is None or isinstance(value, accepted):
        return value
    note(key, f"is {_kind(value)}; it must be {words} or null")
    return None


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {str(value)[:40]}"
    for kind, words in ((str, "a text"), (list, "a list"), (dict, "an object")):
        if isinstance(value, kind):
            return words
    return "null"


def _native(row: Row, note: Report) -> Row:
    given = "name" in row
    values: Row = {"name": row.pop("name", None)} if given else {}
    for field in ("description", "search_hint", "server"):
        values[field] = _take(row, field, "text", note)
    values["leaf"] = _take(row, "leaf", "text", note) or ""
    values["input_schema"] = _take(row, "input_schema", "object", note)
    values["aliases"] = tuple(_texts(_take(row, "aliases", "list", note) or [], "aliases", note))
    values["always_load"] = bool(_take(row, "always_load", "flag", note))
    values["read_only"] = bool(_take(row, "read_only", "flag", note))
    values["meta"] = _take(row, "meta", "object", note)
    return values


def _texts(values: list[Any], field: str, note: Report) -> Iterator[str]:
    for number, value in enumerate(values):
        if isinstance(value, str) and value.strip():
            yield value
        else:
            note(f"{field}[{number}]", f"is {_kind(value)}; it must be a text that is not empty")


def _mcp(row: Row, note: Report) -> Row:
    """A server's own hints stay in the meta as well: they say more than the two that are used."""
    values: Row = {"name": row.pop("name")} if "name" in row else {}
    values["description"] = _take(row, "description", "text", note)
    values["server"] = _take(row, "server", "text", note)
    values["input_schema"] = _take(row, "inputSchema", "object", note)
    annotations = row.get("annotations")
    if annotations is not None and not isinstance(annotations, dict):
        note("annotations", f"is {_kind(annotations)}; it must be an object or null")
    elif annotations:
        values["read_only"] = annotations.get("readOnlyHint") is True
    own = row.get("_meta")
    if own is not None and not isinstance(own, dict):
        note("_meta", f"is {_kind(own)}; it must be an object or null")
    elif own:
        hint = own.get("anthropic/searchHint")
        if hint is not None and not isinstance(hint, str):
            note("_meta.anthropic/searchHint", f"is {_kind(hint)}; it must be a text or null")
        else:
            values["search_hint"] = hint
        # Only the value true counts: a server's "yes" must not load a tool by accident.
        values["always_load"] = own.get("anthropic/alwaysLoad") is True
    return values


def _openai_responses(row: Row, note: Report) -> Row:
    row.pop("type", None)
    return _declaration(row, note)


def _declaration(row: Row, note: Report) -> Row:
    values: Row = {"name": row.pop("name")} if "name" in row else {}
    values["description"] = _take(row, "description", "text", note)
    values["server"] = _take(row, "server", "text", note)
    values["input_schema"] = _take(row, "parameters", "object", note)
    return values


def _openai_chat(row: Row, note: Report) -> Row:
    row.pop("type", None)
    function = row.pop("function", None)
    if not isinstance(function, dict):
        note("function", f"is {_kind(function)}; it must be an object with name and parameters")
        return {"name": "?"}
    inner = dict(function)

    def nested(field: str, message: str) -> None:
        note(f"function.{field}", message)

    values = _declaration(inner, nested)
    for key, value in inner.items():
        if key in row:
            note(key, "stands both in the tool and in its function; keep one")
        row[key] = value
    return values


def _gemini(row: Row, note: Report) -> Row:
    """`parameters` is an OpenAPI schema, types in capitals; `parametersJsonSchema` is JSON Schema already."""
    values = _declaration(row, note)
    if values["input_schema"] is not None:
        values["input_schema"] = _json_schema(values["input_schema"])
    elif "parametersJsonSchema" in row:
        values["input_schema"] = _take(row, "parametersJsonSchema", "object", note)
    return values


_OPENAPI_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
_LITERALS = frozenset({"default", "example", "examples", "enum", "const"})


def _json_schema(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_json_schema(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value.lower()
        if key == "type" and isinstance(value, str) and value in _OPENAPI_TYPES
        else value
        if key in _LITERALS and not isinstance(value, dict)
        else _json_schema(value)
        for key, value in schema.items()
    }


_READERS: dict[str, Callable[[Row, Report], Row]] = {
    "jsonl": _native,
    "mcp": _mcp,
    "anthropic": _native,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "gemini": _gemini,
}
