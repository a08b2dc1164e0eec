"""One catalog at one moment, as the search tool sees it: its names, and which of its tools can be used now."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.snapshot import Snapshot
from toolsearch.catalog.tool import Tool
from toolsearch.errors import near_names
from toolsearch.search.analysis.standard import joined_key
from toolsearch.search.results import Result, SearchResponse
from toolsearch.search.searcher import Searcher
from toolsearch.tools.name_lookup import NameLookup
from toolsearch.tools.servers import ServerStatus, is_reachable

LOADED_SCORE = 0.25
"""A loaded tool is said to fit a query from this score on, if no deferred one has a better score. On the shipped data
that happens for none of the development queries that a deferred tool answers (the highest such score is 0.19), and for
`read a file`, `search the web` or `wait ten seconds`, which loaded tools do, it happens."""


class Names:
    """What is worked out once for a snapshot: names, servers, and the loaded tools as a catalog of their own."""

    def __init__(self, snapshot: Snapshot, searcher: Searcher) -> None:
        """Read the snapshot; `searcher` gives the profile."""
        self.snapshot = snapshot
        self.deferred = frozenset(tool.name for tool in snapshot.deferred)
        self.by_server: dict[str, list[Tool]] = {}
        for tool in sorted(snapshot.tools, key=lambda each: each.name):
            if tool.server:
                self.by_server.setdefault(tool.server, []).append(tool)
        own = tuple(tool for tool in snapshot.loaded if tool.name not in SYNTHETIC_TOOLS)
        mark = hashlib.sha256(f"loaded tools of {snapshot.fingerprint}".encode()).hexdigest()
        # The searcher ranks what is deferred, so here the loaded tools are.
        loaded = replace(snapshot, tools=own, deferred=own, loaded=(), fingerprint=mark)
        # By its very words: what is merely near in meaning must not say that nothing has to be searched for.
        config = searcher.config.replace(related_weight=0.0)
        self.loaded_searcher = Searcher(loaded, config) if own else None

    @cached_property
    def lookup(self) -> NameLookup:
        """The names; read at the first use, as a search by words needs none of them."""
        return NameLookup(self.snapshot)


class CatalogView:
    """The names of a snapshot together with how the servers stand; tools of a server that is away are set apart."""

    def __init__(self, names: Names, servers: Mapping[str, ServerStatus]) -> None:
        """Take the names and the servers as they are now."""
        self.snapshot = names.snapshot
        self.servers = dict(servers)
        self._names = names

    def is_usable(self, tool: Tool) -> bool:
        """Whether the tool can be called now, as far as its server goes."""
        return is_reachable(tool.server, self.servers)

    def is_deferred(self, tool: Tool) -> bool:
        """Whether the tool has to be found first."""
        return tool.name in self._names.deferred

    @property
    def total_deferred(self) -> int:
        """How many deferred tools can be found now."""
        if all(status.state == "connected" for status in self.servers.values()):
            return len(self._names.deferred)
        return sum(map(self.is_usable, self.snapshot.deferred))

    def find(self, name: str) -> tuple[Tool, ...]:
        """The tools meant by a name; of several, those that can be used, if any can."""
        tools = self._names.lookup.find(name)
        return tuple(filter(self.is_usable, tools)) or tools

    def near(self, name: str, limit: int = 3) -> tuple[str, ...]:
        """Names that look like this one, of tools that can be used now."""
        near = self._names.lookup.near(name, 3 * limit)
        return tuple(each for each in near if self._named_usable(each))[:limit]

    def usable_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the names whose tool can be used now, in order."""
        return tuple(name for name in names if self._named_usable(name))

    def tools_of(self, server: str) -> list[Tool]:
        """All tools of a server, by name; empty for a server without tools."""
        return self._names.by_server.get(server, [])

    def server_sizes(self) -> dict[str, int]:
        """The servers that can be used now with their numbers of tools, by name."""
        return {name: len(tools) for name, tools in sorted(self._names.by_server.items()) if self.is_usable(tools[0])}

    def find_servers(self, name: str) -> tuple[str, ...]:
        """The servers meant by a name: exact, else without regard to case, else to separators; several if ambiguous."""
        known = sorted({*self._names.by_server, *self.servers})
        if name in known:
            return (name,)
        for key in (str.casefold, joined_key):
            wanted = key(name[:400])
            found = tuple(each for each in known if wanted and key(each) == wanted)
            if found:
                return found
        return ()

    def near_servers(self, name: str) -> tuple[str, ...]:
        """Servers whose name looks like this one."""
        return near_names(name, {*self._names.by_server, *self.servers})

    def search(
        self, searcher: Searcher, words: str, limit: int, server: str | None
    ) -> tuple[SearchResponse, list[str]]:
        """Search, leave out the tools of servers that are away, and name those servers."""
        away = {tool.server for tool in self.snapshot.deferred if tool.server and not self.is_usable(tool)}
        if not away:
            return searcher.search(words, max_results=limit, server=server), []
        everything = max(1, len(self.snapshot.deferred))
        [response] = searcher.search_batch([words], max_results=everything, server=server)
        kept: list[Result] = []
        gone: set[str] = set()
        for result in response.results:
            tool = self.snapshot.get(result.name)
            if tool is not None and tool.server and tool.server in away:
                gone.add(tool.server)
            else:
                kept.append(replace(result, rank=len(kept) + 1))
        unlisted = response.total_matches - len(response.results)
        response = replace(
            response,
            results=tuple(kept[:limit]),
            total_matches=len(kept) + unlisted,
            truncated=len(kept) + unlisted > limit,
            low_confidence=response.low_confidence or not kept,
        )
        return response, sorted(gone)

    def loaded_for(self, words: str, best_deferred: float) -> tuple[str, ...]:
        """Loaded tools that meet the words as well as any deferred one, at most two, best first; mostly there is none.

        Args:
            words: The query.
            best_deferred: The best score of a deferred tool, 0.0 without one.
        """
        searcher = self._names.loaded_searcher
        if searcher is None:
            return ()
        response = searcher.search(words, max_results=2)
        bound = max(best_deferred, LOADED_SCORE)
        return self.usable_names(
            result.name for result in response.results if not response.low_confidence and result.score >= bound
        )

    def _named_usable(self, name: str) -> bool:
        tool = self.snapshot.get(name)
        return tool is not None and self.is_usable(tool)
