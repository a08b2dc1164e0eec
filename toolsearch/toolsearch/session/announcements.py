"""What the model is told about which deferred tools there are: the whole list in a header, or changes in attachments.

With `delta`, the history is the only memory: what was announced is rebuilt from its attachments before each request, so
a resumed, forked or compacted conversation is announced exactly what it does not have.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.tokens import TokenCounter
from toolsearch.tools.servers import ServerStatus
from toolsearch.tools.untrusted import shown_name

DELTA = "deferred_tools_delta"
"""The type of the attachment that carries changes."""

NO_SERVER = ""
"""Stands for the owner of tools that belong to no server."""

_QUERY_PREFIX = re.compile(r"\s*(select|discover|list)\s*:", re.IGNORECASE)
"""A name that begins like a query would be read as one by `select:`, so it is left to the search to show it."""

_MOST_COUNT_LINES = 40
"""More servers than these are named by their number alone, so that a thousand servers don't fill the list."""


@dataclass(frozen=True, slots=True)
class Announced:
    """What a conversation has been told.

    Attributes:
        owners: The announced names, each with its server: `NO_SERVER` for none, None where that is not known.
        beyond: How many more tools were counted but not named, by server.
    """

    owners: Mapping[str, str | None] = field(default_factory=dict)
    beyond: Mapping[str, int] = field(default_factory=dict)

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers whose tools were announced, sorted."""
        owners = {owner for owner in self.owners.values() if owner} | {owner for owner in self.beyond if owner}
        return tuple(sorted(owners))


@dataclass(frozen=True, slots=True)
class Listing:
    """Which names fit into a list.

    Attributes:
        names: Those that do, sorted.
        beyond: How many of the others there are, by server.
    """

    names: tuple[str, ...]
    beyond: Mapping[str, int]


def rebuild(history: Iterable[Any]) -> Announced:
    """What the attachments of a history have announced, in their order.

    An attachment first adds, then removes. Other attachments, texts and unreadable values count for nothing; the names
    `addedNames` and `removedNames` of other recordings are read too.

    >>> entry = {"type": "attachment", "attachment": {"type": DELTA, "added": ["a", "b"], "removed": ["b"]}}
    >>> dict(rebuild([entry]).owners)
    {'a': None}
    """
    owners: dict[str, str | None] = {}
    beyond: dict[str, int] = {}
    for attachment in attachments_of(history, DELTA):
        by_name = _owners_in(attachment)
        for name in _names(attachment, "added", "addedNames"):
            owners[name] = by_name.get(name, NO_SERVER) if by_name is not None else None
        for name in _names(attachment, "removed", "removedNames"):
            owners.pop(name, None)
        beyond = _counts(attachment)
    return Announced(owners, beyond)


def attachments_of(history: Iterable[Any], kind: str) -> list[Mapping[str, Any]]:
    """The attachments of one type that stand in a history, oldest first."""
    found = []
    for entry in history:
        if isinstance(entry, Mapping) and entry.get("type") == "attachment":
            attachment = entry.get("attachment")
            if isinstance(attachment, Mapping) and attachment.get("type") == kind:
                found.append(attachment)
    return found


class Announcer:
    """Chooses the names that are announced, within a budget of tokens."""

    def __init__(self, counter: TokenCounter, budget: int) -> None:
        """Take the counter and the most tokens that the names of a list may cost."""
        self._counter = counter
        self._budget = budget
        self._costs: dict[str, int] = {}

    def delta(
        self,
        announced: Announced,
        selectable: Sequence[Tool],
        *,
        held: Mapping[str, str | None],
        loaded: Container[str],
        servers: Mapping[str, ServerStatus],
    ) -> dict[str, Any] | None:
        """The attachment that brings a conversation up to date, or None when nothing has changed.

        Args:
            announced: What the history has told, from `rebuild`.
            selectable: The deferred tools that `select:` finds now.
            held: All deferred tools by name with their servers, those of servers that are not there too.
            loaded: The names of the tools that are in the request.
            servers: How the servers stand.

        Returns:
            The value of an attachment: `added` and `removed`, sorted; `servers`, which tells the owners of what was
            added; `beyond`, how many tools are not named, by server, where there are any.
        """
        present = _owners(selectable)
        removed = sorted(
            name
            for name, owner in announced.owners.items()
            if name not in present
            and name not in loaded
            and _is_gone((held[name] or NO_SERVER) if name in held else owner, servers)
        )
        listing = self.choose(present, [name for name in announced.owners if name in present])
        added = [name for name in listing.names if name not in announced.owners]
        # A server that is still connecting has brought nothing yet; what was counted of it stands.
        waiting = {owner: count for owner, count in announced.beyond.items() if _is_pending(owner, servers)}
        beyond = {**waiting, **listing.beyond}
        if not added and not removed and beyond == dict(announced.beyond):
            return None
        owners: dict[str, list[str]] = defaultdict(list)
        for name in added:
            if present[name]:
                owners[present[name]].append(name)
        attachment: dict[str, Any] = {
            "type": DELTA,
            "added": added,
            "removed": removed,
            "servers": {server: owners[server] for server in sorted(owners)},
        }
        if beyond:
            attachment["beyond"] = {owner: beyond[owner] for owner in sorted(beyond)}
        return attachment

    def header(self, selectable: Sequence[Tool]) -> Listing:
        """The list of names that is sent with one request."""
        return self.choose(_owners(selectable))

    def choose(self, owners: Mapping[str, str], first: Iterable[str] = ()) -> Listing:
        """The names that fit into the budget, and the counts of the others.

        Args:
            owners: Every name with its server.
            first: Names that are in the list whatever it costs, because they were announced already.

        Small servers come before large ones, so that a server with thousands of tools doesn't keep the others out.
        """
        chosen = set(first)
        left = self._budget - sum(self._cost(name) for name in chosen)
        groups: dict[str, list[str]] = defaultdict(list)
        for name in sorted(owners):
            if name not in chosen:
                groups[owners[name]].append(name)
        waiting = [
            name for owner in sorted(groups, key=lambda each: (len(groups[each]), each)) for name in groups[owner]
        ]
        for place, name in enumerate(waiting):
            left -= self._cost(name)
            if left < 0:
                waiting = waiting[place:]
                break
            chosen.add(name)
        else:
            waiting = []
        beyond = Counter(owners[name] for name in waiting)
        return Listing(tuple(sorted(chosen)), {owner: beyond[owner] for owner in sorted(beyond)})

    def _cost(self, name: str) -> int:
        cost = self._costs.get(name)
        if cost is None:
            cost = self._costs[name] = self._counter.count(f"{shown_name(name)}\n")
        return cost


def _owners(selectable: Iterable[Tool]) -> dict[str, str]:
    """The server of each tool that can be announced."""
    return {tool.name: tool.server or NO_SERVER for tool in selectable if not _QUERY_PREFIX.match(tool.name)}


def header_text(listing: Listing) -> str:
    """The text of a list, for the end of one request; "" when there is nothing to list."""
    if not listing.names and not listing.beyond:
        return ""
    lines = [
        "These tools are not loaded, but can be found with SearchExtraTools, which shows their parameters, and run "
        "with ExecuteExtraTool:",
        "<available-deferred-tools>",
        *map(shown_name, listing.names),
        *_count_lines(listing.beyond),
        "</available-deferred-tools>",
    ]
    return "\n".join(lines)


def delta_text(attachment: Mapping[str, Any]) -> str:
    """The text of a `deferred_tools_delta`, made from the attachment alone: it is the same in every request."""
    added = _names(attachment, "added", "addedNames")
    removed = _names(attachment, "removed", "removedNames")
    lines: list[str] = []
    if added:
        lines.append(
            "These tools can now be found with SearchExtraTools, which shows their parameters, and run with "
            "ExecuteExtraTool:"
        )
        lines += map(shown_name, added)
    lines += _count_lines(_counts(attachment))
    if removed:
        lines.append("These tools are gone; do not search for them and do not call them:")
        lines += map(shown_name, removed)
    return "\n".join(lines)


def _is_gone(owner: str | None, servers: Mapping[str, ServerStatus]) -> bool:
    """Whether a name that can't be selected is gone, as far as can be told now."""
    if owner is None:
        # A recording without owners: as long as any server may still bring the tool, it is not called gone.
        return not any(status.state == "pending" for status in servers.values())
    return not _is_pending(owner, servers)


def _is_pending(owner: str, servers: Mapping[str, ServerStatus]) -> bool:
    status = servers.get(owner)
    return status is not None and status.state == "pending"


def _count_lines(beyond: Mapping[str, int]) -> list[str]:
    shown = sorted(beyond.items(), key=lambda pair: (-pair[1], pair[0]))
    lines = []
    for owner, count in shown[:_MOST_COUNT_LINES]:
        of = f" of server {shown_name(owner)}" if owner else ""
        how = f" (list them with list:{shown_name(owner)})" if owner else ""
        lines.append(f"(and {count} more{of}, not named here for lack of room; search finds them{how})")
    rest = shown[_MOST_COUNT_LINES:]
    if rest:
        lines.append(f"(and {sum(count for _, count in rest)} more of {len(rest)} further servers)")
    return lines


def _names(attachment: Mapping[str, Any], *keys: str) -> list[str]:
    for key in keys:
        value = attachment.get(key)
        if isinstance(value, list | tuple):
            return [name for name in value if isinstance(name, str)]
    return []


def _owners_in(attachment: Mapping[str, Any]) -> Mapping[str, str] | None:
    servers = attachment.get("servers")
    if not isinstance(servers, Mapping):
        return None
    return {
        name: server
        for server, names in servers.items()
        if isinstance(server, str) and isinstance(names, list | tuple)
        for name in names
        if isinstance(name, str)
    }


def _counts(attachment: Mapping[str, Any]) -> dict[str, int]:
    value = attachment.get("beyond")
    if not isinstance(value, Mapping):
        return {}
    return {
        owner: count
        for owner, count in value.items()
        if isinstance(owner, str) and isinstance(count, int) and not isinstance(count, bool) and count > 0
    }
