"""One consistent view of a catalog: final names, what is deferred, what is held back, and why.

A snapshot is worked out from the set of tools alone. The order in which they came decides the order of the
tuples, and nothing else: not the names, not the warnings, not the fingerprint.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

from toolsearch.catalog.core_tools import CORE_TOOLS, SYNTHETIC_TOOLS, TEAM_TOOLS, is_deferred, teams_notice
from toolsearch.catalog.names import name_fault, shown
from toolsearch.catalog.tool import Tool, tool_id
from toolsearch.errors import near_names

DEFER_CHOICES = ("always", "never", "by-mode")
"""What a server's `defer` setting may be; `by-mode` is what a server without a setting has."""

_RESERVED = CORE_TOOLS | TEAM_TOOLS


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An immutable view of a registry.

    Attributes:
        tools: All usable tools under their final names, in registry order.
        deferred: Those that the model must find first.
        loaded: Those that are always in the request; with `deferred` it makes up `tools`.
        quarantined: Tools whose name is not fit to be shown; never searched, announced, rendered or called.
        hidden: Tools that the allow and deny patterns keep out.
        fingerprint: SHA-256 in hexadecimal over all that search or a request uses; independent of the order
            of tools.
        warnings: Quarantined tools, unknown pins, patterns and servers, a line each; sorted by kind.
        defer: The `defer` setting by server.
    """

    tools: tuple[Tool, ...]
    deferred: tuple[Tool, ...]
    loaded: tuple[Tool, ...]
    quarantined: tuple[Tool, ...]
    hidden: tuple[Tool, ...]
    fingerprint: str
    warnings: tuple[str, ...]
    defer: Mapping[str, str]
    _lookup: Mapping[str, Tool] = field(repr=False, compare=False)

    def get(self, name: str) -> Tool | None:
        """The tool of this name, exact spelling; None when there is none.

        A tool's final name wins over `mcp__<server>__<leaf>`, and that over an alias; an alias that several
        tools have belongs to the tool whose name comes first in the alphabet. Quarantined and hidden tools
        are not found.
        """
        return self._lookup.get(name)


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator sets for a registry; see `ToolRegistry`."""

    teams: bool
    pins: tuple[str, ...]
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    defer: Mapping[str, str]


def content_digest(tool: Tool) -> str:
    """A digest of everything about a tool that search or a request uses, apart from its final name.

    Raises:
        TypeError, ValueError, RecursionError: The schema is not JSON.
    """
    content = [
        tool.name,
        tool.leaf,
        tool.server,
        tool.description,
        tool.search_hint,
        tool.input_schema,
        list(tool.aliases),
        tool.always_load,
        tool.read_only,
    ]
    text = json.dumps(content, sort_keys=True, allow_nan=False, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _plain(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def take_snapshot(tools: Sequence[Tool], digests: Sequence[str], settings: Settings) -> Snapshot:
    """Work out the view; `digests` holds the content digest of each tool."""
    warnings: list[str] = []
    finals = _final_tools(tools, warnings)
    quarantined = [tool for tool, fault in finals if fault]
    usable = [(tool, digest) for (tool, fault), digest in zip(finals, digests, strict=True) if not fault]
    warnings += sorted(
        f"tool {shown(tool.name)} of {_owner(tool)} is quarantined: {fault}" for tool, fault in finals if fault
    )
    visible = _visible([tool for tool, _ in usable], settings, warnings)
    chosen = [pair for pair, keep in zip(usable, visible, strict=True) if keep]
    lookup = _lookup_table([tool for tool, _ in chosen], warnings)
    pins = _pinned(settings.pins, lookup, warnings)
    known_servers = {tool.server for tool in tools if tool.server}
    for server in sorted(set(settings.defer) - known_servers):
        warnings.append(
            f"defer is set for server {shown(server)}, which has no tools here.{_near(server, known_servers)}"
        )
    flags = [_defers(tool, settings, pins) for tool, _ in chosen]
    marks = sorted(
        f"{digest}\n{json.dumps([tool.name, *tool.aliases])}\n{late}"
        for (tool, digest), late in zip(chosen, flags, strict=True)
    )
    return Snapshot(
        tools=tuple(tool for tool, _ in chosen),
        deferred=tuple(tool for (tool, _), late in zip(chosen, flags, strict=True) if late),
        loaded=tuple(tool for (tool, _), late in zip(chosen, flags, strict=True) if not late),
        quarantined=tuple(quarantined),
        hidden=tuple(tool for (tool, _), keep in zip(usable, visible, strict=True) if not keep),
        fingerprint=hashlib.sha256("\n".join(marks).encode("ascii")).hexdigest(),
        warnings=tuple(warnings),
        defer=settings.defer,
        _lookup=MappingProxyType(lookup),
    )


def with_team_notice(tool: Tool, teams: bool) -> Tool:
    """The tool, or for a team tool while teams are off: one that answers how to turn them on."""
    if teams or tool.server is not None or tool.name not in TEAM_TOOLS:
        return tool
    notice = teams_notice(tool.name)
    return replace(tool, call=lambda *_arguments, **_named: notice, is_enabled=None, check_permissions=None)


def _final_tools(tools: Sequence[Tool], warnings: list[str]) -> list[tuple[Tool, str | None]]:
    """Each tool under its final name, with the fault that quarantines it or None."""
    faults = [name_fault(tool.name) or _server_fault(tool) or name_fault(tool.leaf) for tool in tools]
    owners: dict[str, set[str | None]] = defaultdict(set)
    for tool, fault in zip(tools, faults, strict=True):
        if not fault:
            owners[tool.name].add(tool.server)
    names = [
        tool_id(tool.server, tool.leaf)
        if not fault and tool.server and (len(owners[tool.name]) > 1 or tool.name in _RESERVED)
        else tool.name
        for tool, fault in zip(tools, faults, strict=True)
    ]
    # Two servers such as `a` and `a__b` can still end in one id. All are kept: a number by the order of the
    # servers' names, which load order can't change.
    counts = Counter(name for name, fault in zip(names, faults, strict=True) if not fault)
    clashes: dict[str, list[int]] = defaultdict(list)
    for number, (name, fault) in enumerate(zip(names, faults, strict=True)):
        if not fault and counts[name] > 1:
            clashes[name].append(number)
    for name in sorted(clashes):
        ordered = sorted(clashes[name], key=lambda number: (tools[number].server or "", tools[number].name))
        suffix = 2
        for number in ordered[1:]:
            while f"{name}_{suffix}" in counts:
                suffix += 1
            names[number] = f"{name}_{suffix}"
            counts[names[number]] += 1
            warnings.append(
                f"tool {shown(name)} of {_owner(tools[number])} is called {shown(names[number])}: the id is taken"
            )
    result = []
    for tool, name, fault in zip(tools, names, faults, strict=True):
        final_fault = fault or (name_fault(name) if name != tool.name else None)
        aliases = tuple(alias for alias in tool.aliases if not name_fault(alias))
        if not final_fault and len(aliases) < len(tool.aliases):
            warnings.append(
                f"tool {shown(name)} of {_owner(tool)}: an alias is left out: its name is not fit to be shown"
            )
        if not final_fault and (name != tool.name or len(aliases) < len(tool.aliases)):
            tool = replace(tool, name=name, aliases=aliases)
        result.append((tool, final_fault))
    warnings.sort()
    return result


def _server_fault(tool: Tool) -> str | None:
    fault = name_fault(tool.server) if tool.server is not None else None
    return f"its server's name {fault}" if fault else None


def _owner(tool: Tool) -> str:
    return f"server {shown(tool.server)}" if tool.server is not None else "no server"


def _near(name: str, known: Iterable[str]) -> str:
    near = near_names(name, known)
    return f" Did you mean {', '.join(map(shown, near))}?" if near else ""


def _visible(tools: Sequence[Tool], settings: Settings, warnings: list[str]) -> list[bool]:
    """Which tools the patterns leave; a pattern is held against a tool's name and its server's id for it."""
    if not settings.allow and not settings.deny:
        return [True] * len(tools)
    hits: Counter[tuple[str, str]] = Counter()

    def matches(kind: str, patterns: tuple[str, ...], names: tuple[str, ...]) -> bool:
        found = [pattern for pattern in patterns if any(fnmatchcase(name, pattern) for name in names)]
        hits.update((kind, pattern) for pattern in found)
        return bool(found)

    keep = []
    for tool in tools:
        names = (tool.name, tool_id(tool.server, tool.leaf)) if tool.server else (tool.name,)
        # Without the synthetic tools nothing deferred can be reached, so only a deny pattern hides them.
        allowed = matches("allow", settings.allow, names) or not settings.allow or tool.name in SYNTHETIC_TOOLS
        denied = matches("deny", settings.deny, names)
        keep.append(allowed and not denied)
    for kind, patterns in (("allow", settings.allow), ("deny", settings.deny)):
        warnings += [f"{kind} pattern {shown(each)} matches no tool" for each in patterns if not hits[kind, each]]
    return keep


def _lookup_table(tools: Sequence[Tool], warnings: list[str]) -> dict[str, Tool]:
    lookup = {tool.name: tool for tool in tools}
    ordered = sorted(tools, key=lambda tool: tool.name)
    for tool in ordered:
        if tool.server:
            lookup.setdefault(tool_id(tool.server, tool.leaf), tool)
    for tool in ordered:
        for alias in tool.aliases:
            if alias in _RESERVED and tool.name != alias:
                warnings.append(
                    f"alias {shown(alias)} of tool {shown(tool.name)} is a reserved name; it selects nothing"
                )
            else:
                lookup.setdefault(alias, tool)
    return lookup


def _pinned(pins: Sequence[str], lookup: Mapping[str, Tool], warnings: list[str]) -> frozenset[str]:
    found = set()
    for pin in pins:
        tool = lookup.get(pin)
        if tool is None:
            warnings.append(f"pin {shown(pin)} names no tool.{_near(pin, lookup)}")
        else:
            found.add(tool.name)
    return frozenset(found)


def _defers(tool: Tool, settings: Settings, pins: frozenset[str]) -> bool:
    """A pin is the operator's nearest word, then the server's setting, then the tool's own flag."""
    choice = settings.defer.get(tool.server or "", "by-mode")
    if choice == "by-mode" or tool.name in pins:
        return is_deferred(tool, teams=settings.teams, pins=pins)
    return choice == "always"
