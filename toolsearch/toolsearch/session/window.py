"""What one conversation sees of the catalog: its own tools, which of them are loaded, and which can be selected now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.names import shown
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.snapshot import Snapshot, narrowed
from toolsearch.catalog.tool import Tool, tool_id
from toolsearch.config import SearchConfig
from toolsearch.search.index import IndexStore
from toolsearch.search.searcher import Searcher
from toolsearch.session.server_table import ServerTable
from toolsearch.tools.servers import ServerStatus, is_reachable

Key = tuple[str | None, str]
"""What tells a tool apart whatever it is called: its server and its leaf name."""


Frozen = frozenset[tuple[Key, str]]
"""Key and name of each tool of a frozen array."""


def key_of(tool: Tool) -> Key:
    """The tool's server and leaf name."""
    return (tool.server, tool.leaf)


@dataclass(frozen=True, slots=True)
class Scope:
    """The tools that an agent may use.

    Attributes:
        levels: Lists of names and shell-style patterns; a tool has to match one of each list. No list: no limit.
    """

    levels: tuple[tuple[str, ...], ...] = ()

    def within(self, patterns: Iterable[str]) -> Scope:
        """The scope of a sub-agent that is limited to these names and patterns."""
        return Scope((*self.levels, tuple(dict.fromkeys(patterns))))

    def holds_name(self, name: str) -> bool:
        """Whether a name is in the scope."""
        return all(any(fnmatchcase(name, pattern) for pattern in level) for level in self.levels)

    def holds(self, tool: Tool) -> bool:
        """Whether a tool is in the scope, by its name or by `mcp__<server>__<leaf>`."""
        if not self.levels:
            return True
        names = {tool.name} | ({tool_id(tool.server, tool.leaf)} if tool.server else set())
        return all(any(fnmatchcase(name, pattern) for name in names for pattern in level) for level in self.levels)

    def unmatched(self, tools: Sequence[Tool]) -> tuple[str, ...]:
        """The patterns of the innermost list that match nothing."""
        if not self.levels:
            return ()
        names = [*SYNTHETIC_TOOLS]
        for tool in tools:
            names += (tool.name, tool_id(tool.server, tool.leaf)) if tool.server else (tool.name,)
        return tuple(pattern for pattern in self.levels[-1] if not any(fnmatchcase(name, pattern) for name in names))


@dataclass(frozen=True, slots=True)
class View:
    """The catalog at one moment, as a conversation sees it.

    Attributes:
        whole: The registry's own snapshot.
        snapshot: The tools in scope; loaded are those that the tools array holds.
        servers: How every known server stands.
        selectable: The deferred tools that can be used now.
        warnings: What the operator should know of scope and pins.
    """

    whole: Snapshot
    snapshot: Snapshot
    servers: Mapping[str, ServerStatus]
    selectable: tuple[Tool, ...]
    warnings: tuple[str, ...]

    @property
    def away(self) -> int:
        """How many deferred tools can't be used now."""
        return len(self.snapshot.deferred) - len(self.selectable)


@dataclass(frozen=True, slots=True)
class _Look:
    """What does not change while the registry's snapshot stays the same."""

    whole: Snapshot
    frozen: Frozen | None
    snapshot: Snapshot
    present: frozenset[str]
    warnings: tuple[str, ...]


class Window:
    """Looks at a registry through a scope and a frozen tools array; looks that show the same cost nothing."""

    def __init__(self, registry: ToolRegistry, scope: Scope, table: ServerTable) -> None:
        """Take the registry, the scope and the states of servers; all of them may change."""
        self._registry = registry
        self._scope = scope
        self._table = table
        self._last: _Look | None = None
        self._chosen: tuple[_Look, Mapping[str, ServerStatus], tuple[Tool, ...]] | None = None

    def snapshot(self, frozen: Frozen | None = None) -> Snapshot:
        """The tools in scope as they are now, told apart into loaded and deferred ones."""
        return self._at(frozen).snapshot

    def look(self, frozen: Frozen | None = None, remembered: Iterable[str] = ()) -> View:
        """The catalog as it is now.

        Args:
            frozen: Key and name of each tool that the tools array was frozen with; None while it is not frozen. Of
                them, those that still have their name are loaded; everything else is deferred, pinned or not.
            remembered: Servers that are known from what was announced.
        """
        at = self._at(frozen)
        servers = self._table.statuses(at.present, remembered)
        chosen = self._chosen
        if chosen is None or chosen[0] is not at or chosen[1] != servers:
            # Each call looks several times: without this a call of a large catalog would cost as much as its tools.
            selectable = tuple(tool for tool in at.snapshot.deferred if is_reachable(tool.server, servers))
            chosen = self._chosen = (at, servers, selectable)
        return View(at.whole, at.snapshot, servers, chosen[2], at.warnings)

    def _at(self, frozen: Frozen | None) -> _Look:
        whole = self._registry.snapshot()
        last = self._last
        if last is None or last.whole is not whole or last.frozen != frozen:
            snapshot = self._narrowed(whole, frozen)
            present = frozenset(tool.server for tool in whole.tools if tool.server)
            last = _Look(whole, frozen, snapshot, present, self._warnings(whole, snapshot, frozen))
            self._last = last
        return last

    def _narrowed(self, whole: Snapshot, frozen: Frozen | None) -> Snapshot:
        if frozen is None:
            loaded = {tool.name for tool in whole.loaded}
        else:
            loaded = {tool.name for tool in whole.tools if (key_of(tool), tool.name) in frozen}
        return narrowed(whole, self._scope.holds, lambda tool: tool.name in loaded or tool.name in SYNTHETIC_TOOLS)

    def _warnings(self, whole: Snapshot, snapshot: Snapshot, frozen: Frozen | None) -> tuple[str, ...]:
        warnings = [*whole.warnings]
        warnings += [f"the agent's tool {shown(each)} matches no tool" for each in self._scope.unmatched(whole.tools)]
        if frozen is not None:
            deferred = {tool.name for tool in snapshot.deferred}
            warnings += [
                f"tool {shown(name)} is always loaded, but came after the tools array was fixed: it stays deferred in "
                "this session"
                for name in sorted(tool.name for tool in whole.loaded)
                if name in deferred
            ]
        return tuple(warnings)


class WindowSearcher(Searcher):
    """Searches what a conversation sees; everything else is as in any search, the shared index too."""

    def __init__(self, look: Callable[[], Snapshot], config: SearchConfig, *, store: IndexStore) -> None:
        """Take what gives the present view, a profile, and where indexes are shared."""
        super().__init__(look(), config, store=store)
        self._look = look

    def snapshot(self) -> Snapshot:
        """The catalog as the conversation sees it now."""
        return self._look()
