"""The tools of a session, thread-safe; whoever reads takes an immutable snapshot."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.held import Held
from toolsearch.catalog.names import shown
from toolsearch.catalog.snapshot import (
    DEFER_CHOICES,
    Settings,
    Snapshot,
    take_snapshot,
    with_team_notice,
)
from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.catalog.tool import Tool, tool_id
from toolsearch.errors import DuplicateToolError, Problem, UnknownNameError, UsageError

__all__ = ["Snapshot", "ToolRegistry"]

_Key = tuple[str | None, str]
_UNNAMED_SOURCE = "<tools>"


class ToolRegistry:
    """Holds the tools of a session; every change is one step, seen whole or not at all.

    A tool is told apart by its server and its leaf name. One raw name on several servers, or a server's tool
    that has the name of a core tool, stands in snapshots under `mcp__<server>__<leaf>`.
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        *,
        teams: bool = False,
        pins: Collection[str] = (),
        allow: Collection[str] = (),
        deny: Collection[str] = (),
        defer: Mapping[str, str] | None = None,
        source: str = _UNNAMED_SOURCE,
    ) -> None:
        """Take the first tools and the operator's settings.

        Args:
            tools: Tools in catalog order; none is fine.
            teams: Agent teams are on.
            pins: Names of further tools that are always loaded; an unknown one is a warning.
            allow: Shell-style patterns (letter case counts); when there is one, other tools are hidden,
                except the synthetic ones. Held against a tool's name and against `mcp__<server>__<leaf>`.
            deny: Patterns of tools to hide, whatever `allow` says.
            defer: By server: `always` or `never` deferred, or `by-mode` (the usual rule and the session's
                mode).
            source: Where the tools come from, for messages.

        Raises:
            UsageError: A setting that is not valid, or a tool that can't be held.
            DuplicateToolError: Two tools of one name on one server.
        """
        chosen = dict(defer or {})
        for server, choice in chosen.items():
            if choice not in DEFER_CHOICES:
                raise UsageError(
                    f"defer for server {shown(server)} is {choice!r}; accepted: {', '.join(DEFER_CHOICES)}."
                )
        for label, names in (("pins", pins), ("allow", allow), ("deny", deny)):
            if isinstance(names, str):
                raise UsageError(f"{label} is the text {shown(names)}; give a list of texts.")
        self._settings = Settings(
            teams=teams,
            pins=tuple(dict.fromkeys(pins)),
            allow=tuple(dict.fromkeys(allow)),
            deny=tuple(dict.fromkeys(deny)),
            defer=MappingProxyType(chosen),
        )
        self._lock = threading.RLock()
        self._entries: dict[_Key, Held] = {}
        self._snapshot: Snapshot | None = None
        self.add(tools, source=source)

    def add(self, tools: Tool | Iterable[Tool], *, source: str = _UNNAMED_SOURCE) -> None:
        """Add one tool or several; all or, on an error, none.

        Raises:
            DuplicateToolError: A name that its server has already; names both sources, all such names at
                once.
            UsageError: A tool that can't be held: no name, a synthetic name, or a schema that is not JSON.
        """
        entries = self._read(tools, source)
        with self._lock:
            _refuse_duplicates(self._entries, entries)
            self._entries = self._entries | {_key(entry.tool): entry for entry in entries}
            self._snapshot = None

    def replace(
        self, tools: Tool | Iterable[Tool], *, server: str | None = None, source: str = _UNNAMED_SOURCE
    ) -> None:
        """Put new versions in place of old ones, in one step; a tool keeps its place in the order.

        Args:
            tools: The new versions.
            server: Given: these are all the tools that the server now has; its others go, new ones come last.
                A server that had none is fine. Not given: each tool must be there already.
            source: Where the tools come from, for messages.

        Raises:
            UnknownNameError: Without `server`: there is no such tool to replace.
            DuplicateToolError: One name twice among the new tools.
            UsageError: A tool of another server, or one that can't be held.
        """
        entries = self._read(tools, source)
        _refuse_duplicates({}, entries)
        fresh = {_key(entry.tool): entry for entry in entries}
        with self._lock:
            if server is None:
                for key in fresh:
                    if key not in self._entries:
                        raise UnknownNameError(
                            "tool to replace", key[1], (leaf for _, leaf in self._entries), "Use add."
                        )
                self._entries = self._entries | fresh
            else:
                for entry in entries:
                    if entry.tool.server != server:
                        raise UsageError(
                            f"tool {shown(entry.tool.name)} belongs to server {entry.tool.server!r}, not to "
                            f"{server!r}; give only the tools of the server that is replaced."
                        )
                kept = {
                    key: fresh.get(key, entry)
                    for key, entry in self._entries.items()
                    if key[0] != server or key in fresh
                }
                self._entries = kept | fresh
            self._snapshot = None

    def remove(self, name: str | None = None, *, server: str | None = None) -> None:
        """Remove one tool by name, or all tools of a server, or with both: the server's tool of this name.

        Args:
            name: Final name, raw name, or `mcp__<server>__<leaf>`; a quarantined or hidden tool can be
                removed too.
            server: The owner.

        Raises:
            UnknownNameError: There is no such tool or server.
            UsageError: Nothing was named, or a raw name that several servers have.
        """
        if name is None and server is None:
            raise UsageError("remove needs a tool's name or server=; neither was given.")
        with self._lock:
            candidates = [key for key in self._entries if server is None or key[0] == server]
            if server is not None and not candidates:
                raise UnknownNameError("server", server, {key[0] for key in self._entries if key[0]})
            if name is not None:
                candidates = [self._named(name, candidates)]
            gone = set(candidates)
            self._entries = {key: entry for key, entry in self._entries.items() if key not in gone}
            self._snapshot = None

    def core(self) -> tuple[Tool, ...]:
        """The tools that are always loaded: core, pinned and flagged ones, in registry order."""
        return self.snapshot().loaded

    def deferred(self) -> tuple[Tool, ...]:
        """The tools that the model must find first, in registry order."""
        return self.snapshot().deferred

    def snapshot(self) -> Snapshot:
        """The catalog as it is now; the same object until something changes."""
        with self._lock:
            if self._snapshot is None:
                self._snapshot = take_snapshot(tuple(self._entries.values()), self._settings)
            return self._snapshot

    @property
    def warnings(self) -> tuple[str, ...]:
        """Quarantined tools and settings that match nothing, a line each; empty when all is well."""
        return self.snapshot().warnings

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the present snapshot."""
        return self.snapshot().fingerprint

    def __len__(self) -> int:
        """How many tools are held, quarantined and hidden ones included."""
        return len(self._entries)

    def _named(self, name: str, candidates: list[_Key]) -> _Key:
        found = self.snapshot().get(name)
        if found is not None and _key(found) in candidates:
            return _key(found)
        by_id = [key for key in candidates if key[0] is not None and tool_id(key[0], key[1]) == name]
        raw = [key for key in candidates if name in (self._entries[key].tool.name, key[1])]
        matches = by_id or raw
        if not matches:
            raise UnknownNameError("tool", name, (self._entries[key].tool.name for key in candidates))
        if len(matches) > 1:
            owners = ", ".join(sorted(repr(key[0]) for key in matches))
            raise UsageError(f"tool {shown(name)} is there for several servers: {owners}. Name one with server=.")
        return matches[0]

    def _read(self, tools: Tool | Iterable[Tool], source: str) -> list[Held]:
        given = [tools] if isinstance(tools, Tool) else list(tools)
        return [_entry(tool, source, self._settings.teams) for tool in given]


def _key(tool: Tool) -> _Key:
    return (tool.server, tool.leaf)


def _entry(tool: object, source: str, teams: bool) -> Held:
    """Check a tool and take it over; its schema is copied, so a caller's later change reaches no snapshot."""
    if not isinstance(tool, Tool):
        raise UsageError(f"a {type(tool).__name__} is not a Tool; read files and rows with toolsearch.catalog.formats.")
    name: object = tool.name
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"a tool's name is {name!r}; it must be a text that is not empty.")
    try:
        schema = None if tool.input_schema is None else _copied(tool.input_schema)
        held = replace(tool, input_schema=schema, meta=MappingProxyType(_copied(tool.meta)))
        entry = Held(with_team_notice(held, teams), source)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"tool {shown(tool.name)} can't be held: its schema is not plain JSON ({error}).") from None
    if held.server is None and held.name in SYNTHETIC_TOOLS and not _is_own_synthetic(held):
        raise UsageError(
            f"the name {held.name!r} is reserved for the tool search itself; give the tool another name or a server."
        )
    return entry


def _is_own_synthetic(tool: Tool) -> bool:
    own = next(each for each in synthetic_tools() if each.name == tool.name)
    schemas = [json.dumps(each.input_schema, sort_keys=True) for each in (own, tool)]
    return own.description == tool.description and schemas[0] == schemas[1]


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(inner) for inner in value]
    return value


def _refuse_duplicates(held: Mapping[_Key, Held], entries: list[Held]) -> None:
    seen = dict(held)
    problems = []
    for entry in entries:
        key = _key(entry.tool)
        first = seen.setdefault(key, entry)
        if first is not entry:
            owner = f"server {shown(key[0])}" if key[0] else "no server"
            problems.append(
                Problem(
                    entry.source,
                    0,
                    "name",
                    f"duplicate_tool_name: {shown(entry.tool.name)} of {owner} comes from {first.source} "
                    f"and again from "
                    f"{entry.source}; rename one, give them different servers, or use replace.",
                )
            )
    if problems:
        raise DuplicateToolError(problems)
