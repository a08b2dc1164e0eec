"""One consistent view of a catalog: final names, what is deferred, what is held back, and why.

A snapshot is worked out from the set of tools alone. The order in which they came decides the order of the
tuples, and nothing else: not the names, not the warnings, not the fingerprint.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from types import MappingProxyType

from toolsearch.catalog.core_tools import CORE_TOOLS, SYNTHETIC_TOOLS, TEAM_TOOLS, is_deferred, teams_notice
from toolsearch.catalog.held import Final, Held
from toolsearch.catalog.names import shown
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
        denied_synthetic: The synthetic tools that a deny pattern names, whether the registry holds them or not.
    """

    tools: tuple[Tool, ...]
    deferred: tuple[Tool, ...]
    loaded: tuple[Tool, ...]
    quarantined: tuple[Tool, ...]
    hidden: tuple[Tool, ...]
    fingerprint: str
    warnings: tuple[str, ...]
    defer: Mapping[str, str]
    denied_synthetic: frozenset[str]
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


@dataclass(frozen=True, slots=True)
class TeamsNotice:
    """Stands in for the function of a team tool while teams are off.

    Attributes:
        text: What it answers to any arguments.
    """

    text: str

    def __call__(self, *_arguments: object, **_named: object) -> str:
        """The text."""
        return self.text


def take_snapshot(held: Sequence[Held], settings: Settings) -> Snapshot:
    """Work out the view of all that a registry holds."""
    warnings: list[str] = []
    finals = _finals(held, warnings)
    quarantined = [final for final in finals if final.fault]
    usable = [final for final in finals if not final.fault]
    warnings += sorted(
        f"tool {shown(final.tool.name)} of {_owner(final.tool)} is quarantined: {final.fault}" for final in quarantined
    )
    visible = _visible([final.tool for final in usable], settings, warnings)
    chosen = [final for final, keep in zip(usable, visible, strict=True) if keep]
    tools = tuple(final.tool for final in chosen)
    lookup = _lookup_table(tools, warnings)
    pins = _pinned(settings.pins, lookup, warnings)
    known_servers = {each.tool.server for each in held if each.tool.server}
    for server in sorted(set(settings.defer) - known_servers):
        warnings.append(
            f"defer is set for server {shown(server)}, which has no tools here.{_near(server, known_servers)}"
        )
    flags = [_defers(tool, settings, pins) for tool in tools]
    marks = sorted(f"{final.mark}\n{late}" for final, late in zip(chosen, flags, strict=True))
    return Snapshot(
        tools=tools,
        deferred=tuple(tool for tool, late in zip(tools, flags, strict=True) if late),
        loaded=tuple(tool for tool, late in zip(tools, flags, strict=True) if not late),
        quarantined=tuple(final.tool for final in quarantined),
        hidden=tuple(final.tool for final, keep in zip(usable, visible, strict=True) if not keep),
        fingerprint=hashlib.sha256("\n".join(marks).encode("ascii")).hexdigest(),
        warnings=tuple(warnings),
        defer=settings.defer,
        denied_synthetic=frozenset(name for name in SYNTHETIC_TOOLS if _matches_any(name, settings.deny)),
        _lookup=MappingProxyType(lookup),
    )


def narrowed(snapshot: Snapshot, keep: Callable[[Tool], bool], is_loaded: Callable[[Tool], bool]) -> Snapshot:
    """A snapshot as one conversation sees it: fewer tools, and others of them loaded.

    Args:
        snapshot: The whole view.
        keep: Which tools are left; the others are as if they did not exist.
        is_loaded: Which of these are loaded; all others are deferred.

    Returns:
        The snapshot itself where nothing differs; otherwise one whose fingerprint says what does, so that conversations
        that see the same tools share one index. Aliases are given out anew among the tools that are left.
    """
    tools = tuple(tool for tool in snapshot.tools if keep(tool))
    loaded = tuple(tool for tool in tools if is_loaded(tool))
    if len(tools) == len(snapshot.tools) and loaded == snapshot.loaded:
        return snapshot
    names = {tool.name for tool in loaded}
    marks = [snapshot.fingerprint, *sorted(f"{tool.name in names:d}{tool.name}" for tool in tools)]
    return replace(
        snapshot,
        tools=tools,
        deferred=tuple(tool for tool in tools if tool.name not in names),
        loaded=loaded,
        fingerprint=hashlib.sha256("\n".join(marks).encode("utf-8")).hexdigest(),
        _lookup=MappingProxyType(_lookup_table(tools, [])),
    )


def with_team_notice(tool: Tool, teams: bool) -> Tool:
    """The tool, or for a team tool while teams are off: one that answers how to turn them on."""
    if teams or tool.server is not None or tool.name not in TEAM_TOOLS:
        return tool
    return replace(tool, call=TeamsNotice(teams_notice(tool.name)), is_enabled=None, check_permissions=None)


def _finals(held: Sequence[Held], warnings: list[str]) -> list[Final]:
    """Each tool under its final name."""
    owners: dict[str, set[str | None]] = defaultdict(set)
    for each in held:
        if not each.fault:
            owners[each.tool.name].add(each.tool.server)
    names = [
        tool_id(each.tool.server, each.tool.leaf)
        if not each.fault and each.tool.server and (len(owners[each.tool.name]) > 1 or each.tool.name in _RESERVED)
        else each.tool.name
        for each in held
    ]
    # Two servers such as `a` and `a__b` can still end in one id. All are kept: a number by the order of the
    # servers' names, which load order can't change.
    counts = Counter(name for name, each in zip(names, held, strict=True) if not each.fault)
    clashes: dict[str, list[int]] = defaultdict(list)
    if len(counts) < len(names):
        for number, (name, each) in enumerate(zip(names, held, strict=True)):
            if not each.fault and counts[name] > 1:
                clashes[name].append(number)
    for name in sorted(clashes):
        ordered = sorted(clashes[name], key=lambda number: (held[number].tool.server or "", held[number].tool.name))
        suffix = 2
        for number in ordered[1:]:
            while f"{name}_{suffix}" in counts:
                suffix += 1
            names[number] = f"{name}_{suffix}"
            counts[names[number]] += 1
            warnings.append(
                f"tool {shown(name)} of {_owner(held[number].tool)} is called {shown(names[number])}: the id is taken"
            )
    finals = [each.final(name) for each, name in zip(held, names, strict=True)]
    for each, final in zip(held, finals, strict=True):
        if not final.fault and len(each.aliases) < len(each.tool.aliases):
            warnings.append(
                f"tool {shown(final.tool.name)} of {_owner(final.tool)}: an alias is left out: its name is not fit to "
                "be shown"
            )
    warnings.sort()
    return finals


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
        # The synthetic tools are there in every session, also where the registry doesn't hold them.
        warnings += [
            f"{kind} pattern {shown(each)} matches no tool"
            for each in patterns
            if not hits[kind, each] and not any(fnmatchcase(name, each) for name in SYNTHETIC_TOOLS)
        ]
    return keep


def _matches_any(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


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
