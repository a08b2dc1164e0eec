"""Names as a model writes them, looked up in a catalog: forgiving, and never a guess between two tools."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from toolsearch.catalog.snapshot import Snapshot
from toolsearch.catalog.tool import Tool, tool_id
from toolsearch.errors import near_names
from toolsearch.search.analysis.standard import joined_key

LONGEST_NAME = 400
"""A longer text is no name; names have at most 128 characters, and a model adds little to one."""

_NEAR_CANDIDATES = 40
"""How many names are compared closely; a cheap count of shared letter pairs picks them."""


class NameLookup:
    """The names, aliases and leaf names of one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        """Read the names of all tools that are neither quarantined nor hidden."""
        self._snapshot = snapshot
        self._leaves: dict[str, list[Tool]] = {}
        self._folded: dict[str, list[Tool]] = {}
        self._folded_leaves: dict[str, list[Tool]] = {}
        self._joined: dict[str, list[Tool]] = {}
        self._joined_leaves: dict[str, list[Tool]] = {}
        # Sorted: what is found never depends on the order in which the catalog was loaded.
        for tool in sorted(snapshot.tools, key=lambda each: each.name):
            for name in _full_names(snapshot, tool):
                _add(self._folded, name.casefold(), tool)
                _add(self._joined, joined_key(name), tool)
            _add(self._leaves, tool.leaf, tool)
            _add(self._folded_leaves, tool.leaf.casefold(), tool)
            _add(self._joined_leaves, joined_key(tool.leaf), tool)
        self._near: tuple[dict[str, list[str]], dict[str, frozenset[str]]] | None = None

    def find(self, spelling: str) -> tuple[Tool, ...]:
        """The tools that are meant by a name: one; none if it is unknown; several, sorted, if it is ambiguous.

        Tried in this order, the first that gives anything decides: the exact name, `mcp__<server>__<leaf>` or alias;
        the exact leaf name; both without regard to letter case; both without regard to separators (`todo.add`,
        `todoAdd`). So the exact spelling wins where names are equal only after normalisation.
        """
        wanted = spelling.strip()
        if not wanted or len(wanted) > LONGEST_NAME:
            return ()
        exact = self._snapshot.get(wanted)
        if exact is not None:
            return (exact,)
        folded, joined = wanted.casefold(), joined_key(wanted)
        for table, key in (
            (self._leaves, wanted),
            (self._folded, folded),
            (self._folded_leaves, folded),
            (self._joined, joined),
            (self._joined_leaves, joined),
        ):
            if key and key in table:
                return tuple(table[key])
        return ()

    def near(self, spelling: str, limit: int = 3) -> tuple[str, ...]:
        """Full names of tools whose name, alias or leaf name looks like this one, nearest first; empty without any."""
        wanted = spelling.strip().casefold()[:LONGEST_NAME]
        if self._near is None:
            self._near = self._near_tables()
        names, pairs = self._near
        asked = _pairs(wanted)
        shared = heapq.nsmallest(
            _NEAR_CANDIDATES, ((-len(asked & own), key) for key, own in pairs.items() if not asked.isdisjoint(own))
        )
        found: dict[str, None] = {}
        for key in near_names(wanted, (key for _, key in shared), limit=limit):
            found.update(dict.fromkeys(names[key]))
        return tuple(found)[:limit]

    def _near_tables(self) -> tuple[dict[str, list[str]], dict[str, frozenset[str]]]:
        names: dict[str, list[str]] = {}
        for tool in sorted(self._snapshot.tools, key=lambda each: each.name):
            for name in dict.fromkeys((tool.name, tool.leaf, *tool.aliases)):
                names.setdefault(name.casefold(), []).append(tool.name)
        return names, {key: _pairs(key) for key in names}


def _full_names(snapshot: Snapshot, tool: Tool) -> Iterable[str]:
    """The names that select this tool; an alias counts only for the tool that the catalog gives it to."""
    yield tool.name
    if tool.server:
        yield tool_id(tool.server, tool.leaf)
        # How people write it: chat.send, chat/send, chat:send; all are one when separators don't count.
        yield f"{tool.server}.{tool.leaf}"
    yield from (alias for alias in tool.aliases if snapshot.get(alias) is tool)


def _add(table: dict[str, list[Tool]], key: str, tool: Tool) -> None:
    if key:
        tools = table.setdefault(key, [])
        if not tools or tools[-1] is not tool:
            tools.append(tool)


def _pairs(text: str) -> frozenset[str]:
    return frozenset(text[position : position + 2] for position in range(max(1, len(text) - 1)))
