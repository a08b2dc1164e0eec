"""Reads the configuration of servers in the forms that people already have; every fault at once, none with a secret.

```json
{"mcpServers": {
  "files": {"command": "npx", "args": ["-y", "some-server", "${HOME}/docs"], "env": {"KEY": "${KEY}"}},
  "search": {"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}}}
```

`servers` in place of `mcpServers` is read too, alone or inside of `mcp`, and so is the bare table of servers. Comments
and a comma before a closing bracket are accepted, since editors write them.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolsearch.catalog.json_source import JsonFault, Lines, member_position, read_value, skip_blank
from toolsearch.catalog.names import shown
from toolsearch.errors import DataError, Problem
from toolsearch.mcp.commented_json import without_comments
from toolsearch.mcp.entry_reader import address_fault, read_entry, surroundings_of
from toolsearch.mcp.server_entry import ServerEntry

_TABLES = ("mcpServers", "servers")
_OWN_KEYS = frozenset({"command", "url", "serverUrl", "httpUrl"})

MAX_BYTES = 8 * 1024 * 1024
"""A larger file is no configuration."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a file says.

    Attributes:
        servers: The servers that are switched on, in the file's order.
        disabled: The names of those that are switched off.
        notes: What was not taken notice of, a sentence each, with `path:line:`.
    """

    servers: tuple[ServerEntry, ...]
    disabled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def load_configuration(path: str | Path, *, environ: Mapping[str, str]) -> Configuration:
    """Read a file of servers.

    Args:
        path: The file, in UTF-8.
        environ: The environment: for `${VAR}`, and for the part of it that every server gets.

    Raises:
        DataError: The file can't be read or has faults; all of them, in file order.
    """
    label = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DataError([Problem(label, 0, "", f"the file can't be read: {reason}")]) from None
    if len(data) > MAX_BYTES:
        raise DataError([Problem(label, 0, "", f"has {len(data)} bytes; a configuration has at most {MAX_BYTES}")])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError([Problem(label, line, "", "not UTF-8; save the file as UTF-8")]) from None
    return parse_configuration(text, path=label, environ=environ)


def parse_configuration(text: str, *, path: str = "<configuration>", environ: Mapping[str, str]) -> Configuration:
    """Read the text of a configuration; `path` stands in the messages. Otherwise as `load_configuration`.

    >>> found = parse_configuration('{"mcpServers": {"time": {"command": "mcp-server-time"}}}', environ={})
    >>> found.servers
    (ServerEntry(name='time', transport='stdio', 'mcp-server-time'),)
    """
    text = without_comments(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    lines = Lines(text)
    start = skip_blank(text, 0)
    try:
        value, end = read_value(text, start)
    except JsonFault as error:
        raise DataError([Problem(path, lines.at(min(error.position, len(text))), "", str(error))]) from None
    rest = skip_blank(text, end)
    if rest < len(text):
        raise DataError([Problem(path, lines.at(rest), "", "there is more text after the end of the JSON value")])
    table, position, label = _table(value, text, start)
    if table is None:
        message = 'holds no table of servers; accepted is {"mcpServers": {"name": {"command": …} or {"url": …}}}'
        raise DataError([Problem(path, lines.at(position), label, message)])
    problems: list[Problem] = []
    notes: list[str] = []
    servers: list[ServerEntry] = []
    for name, row in table.items():
        line = lines.at(member_position(text, position, name))
        field = f"{label}.{name}" if label else name

        def fault(part: str, message: str, line: int = line, field: str = field) -> None:
            problems.append(Problem(path, line, f"{field}.{part}" if part else field, message))

        def note(part: str, message: str, line: int = line, field: str = field) -> None:
            notes.append(str(Problem(path, line, f"{field}.{part}" if part else field, message)))

        entry = read_entry(name, row, environ=environ, origin=f"{path}:{line}", fault=fault, note=note)
        if entry is not None:
            servers.append(entry)
    if not table:
        problems.append(Problem(path, lines.at(position), label, "names no server; add at least one"))
    if problems:
        raise DataError(problems)
    return Configuration(
        tuple(entry for entry in servers if not entry.disabled),
        tuple(entry.name for entry in servers if entry.disabled),
        tuple(notes),
    )


def _table(value: Any, text: str, start: int) -> tuple[dict[str, Any] | None, int, str]:
    """The table of servers, its place and its path; None where there is none."""
    if not isinstance(value, dict):
        return None, start, ""
    for key in _TABLES:
        if key in value:
            position = member_position(text, start, key)
            return (value[key] if isinstance(value[key], dict) else None), position, key
    inner = value.get("mcp")
    if isinstance(inner, dict) and any(key in inner for key in _TABLES):
        table, position, label = _table(inner, text, member_position(text, start, "mcp"))
        return table, position, f"mcp.{label}"
    if value and all(isinstance(row, dict) and _OWN_KEYS & set(row) for row in value.values()):
        return value, start, ""
    return None, start, ""


def entry_from_command(command: str, *, name: str, environ: Mapping[str, str]) -> ServerEntry:
    """The entry of one command line, split as a shell would; no variable is replaced, since the shell has done it.

    Raises:
        DataError: Nothing to start, or a quote that is never closed.

    >>> entry_from_command("uvx mcp-server-git --repository 'my repo'", name="git", environ={}).args
    ('mcp-server-git', '--repository', 'my repo')
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DataError([Problem("--stdio", 0, "", f"{shown(command)} can't be split: {error}")]) from None
    if not words or not words[0]:
        raise DataError([Problem("--stdio", 0, "", "the command is empty; give the program and its arguments")])
    return ServerEntry(
        name=name, command=words[0], args=tuple(words[1:]), surroundings=surroundings_of(environ), origin="--stdio"
    )


def entry_from_address(url: str, *, name: str, headers: Mapping[str, str] | None = None) -> ServerEntry:
    """The entry of one address of a server that speaks streamable HTTP.

    Raises:
        DataError: Not an http or https address.
    """
    problem = address_fault(url)
    if problem:
        raise DataError([Problem("--http", 0, "", problem)])
    return ServerEntry(name=name, transport="http", url=url, headers=dict(headers or {}), origin="--http")
