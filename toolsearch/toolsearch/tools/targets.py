"""Which tool a call means: its exact name, an alias, or a leaf name that only one tool has; never a guess."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.snapshot import Snapshot
from toolsearch.catalog.tool import Tool
from toolsearch.tools.execution import Execution, failed
from toolsearch.tools.name_lookup import NameLookup
from toolsearch.tools.servers import ServerStatus, is_reachable
from toolsearch.tools.untrusted import shown_name

_SEARCH = SYNTHETIC_TOOLS[0]
_MOST_CANDIDATES = 10
_MOST_SUGGESTIONS = 3
_LONGEST_SHOWN = 200


class Targets:
    """The tools of one snapshot as they are executed; a spelling that the search forgives is only suggested here."""

    def __init__(self, snapshot: Snapshot) -> None:
        """Take the snapshot."""
        self.snapshot = snapshot
        self._deferred = {tool.name: tool for tool in snapshot.deferred}

    def find(self, name: str) -> tuple[Tool, ...]:
        """The tools of this exact name, alias or leaf name; several for a leaf that several servers have."""
        exact = self.snapshot.get(name)
        return (exact,) if exact is not None else self._leaves.get(name, ())

    def target(self, name: str, servers: Mapping[str, ServerStatus]) -> Tool | Execution:
        """The deferred tool that is meant, or the answer that says why there is none to run."""
        if name in SYNTHETIC_TOOLS:
            return _synthetic(name)
        found = self.find(name)
        if not found:
            return self._unknown(name, servers)
        if len(found) > 1:
            return _ambiguous(name, found, servers)
        tool = found[0]
        if tool.name in SYNTHETIC_TOOLS:
            return _synthetic(tool.name)
        if tool.name not in self._deferred:
            message = f"{shown_name(tool.name)} is loaded already: call it directly, by its own name."
            return failed(tool.name, "core_tool", message)
        return tool

    def _unknown(self, name: str, servers: Mapping[str, ServerStatus]) -> Execution:
        forgiven = [tool.name for tool in self._lookup.find(name)]
        near = dict.fromkeys((*forgiven, *self._lookup.near(name, 4 * _MOST_SUGGESTIONS)))
        usable = [each for each in near if each in self._deferred]
        usable = [each for each in usable if is_reachable(self._deferred[each].server, servers)][:_MOST_SUGGESTIONS]
        hint = f" Did you mean {', '.join(map(shown_name, usable))}?" if usable else ""
        connecting = sorted(server for server, status in servers.items() if status.state == "pending")
        wait = f" Still connecting: {', '.join(map(shown_name, connecting[:5]))}; try again." if connecting else ""
        message = (
            f"there is no tool {meant(name)} (it may have been there and is no longer).{hint}{wait} "
            f"Search for tools with {_SEARCH}."
        )
        return failed(name, "unknown_tool", message, suggestions=tuple(usable))

    @cached_property
    def _leaves(self) -> dict[str, tuple[Tool, ...]]:
        leaves: dict[str, tuple[Tool, ...]] = {}
        for tool in sorted(self.snapshot.tools, key=lambda each: each.name):
            leaves[tool.leaf] = (*leaves.get(tool.leaf, ()), tool)
        return leaves

    @cached_property
    def _lookup(self) -> NameLookup:
        return NameLookup(self.snapshot)


def meant(name: str) -> str:
    """A name as the model wrote it, fit to be shown."""
    return shown_name(name[:_LONGEST_SHOWN]) if name else "without a name"


def _synthetic(name: str) -> Execution:
    message = f"{name} is part of the tool search itself and is called directly. Name the tool that is to run."
    return failed(name, "synthetic_tool", message)


def _ambiguous(name: str, found: tuple[Tool, ...], servers: Mapping[str, ServerStatus]) -> Execution:
    # Also where only one of them can run now: which one was meant does not depend on who is connected.
    usable = tuple(tool.name for tool in found if is_reachable(tool.server, servers))
    names = usable or tuple(tool.name for tool in found)
    listed = ", ".join(map(shown_name, names[:_MOST_CANDIDATES]))
    more = f" and {len(names) - _MOST_CANDIDATES} more" if len(names) > _MOST_CANDIDATES else ""
    message = f"{meant(name)} is the name of several tools. Name one in full: {listed}{more}."
    return failed(name, "ambiguous_tool", message, suggestions=names[:_MOST_CANDIDATES])
