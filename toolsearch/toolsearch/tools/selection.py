"""Tools asked for by name, and the tools of one server: no ranking, exactly what was asked for."""

from __future__ import annotations

from dataclasses import replace

from toolsearch.catalog.tool import Tool
from toolsearch.search.analysis.standard import joined_key, split_identifier
from toolsearch.search.results import Reason
from toolsearch.search.searcher import MAX_RESULTS, Searcher
from toolsearch.tools.catalog_view import CatalogView
from toolsearch.tools.findings import Findings, Hit
from toolsearch.tools.found import Missing
from toolsearch.tools.search_request import MOST_NAMES, Request, unquoted

_MOST_SEARCHED = 10
"""Names for which a search by their words makes suggestions when no name looks alike."""


def select(request: Request, view: CatalogView, searcher: Searcher) -> Findings:
    """The tools of the names asked for, in that order, each once; `max_results` does not shorten it.

    A tool that is loaded is said to be loaded; a name that gives no tool, or several, is said to be missing, with what
    could be meant.
    """
    nothing = Findings(request=request, servers=view.servers)
    if not request.names:
        return replace(nothing, fault="select")
    # A name may hold a comma; then the whole text is one.
    whole = unquoted(request.words)
    names = (whole,) if len(request.names) > 1 and view.snapshot.get(whole) else request.names
    found: dict[str, tuple[Tool, str]] = {}
    missing: list[Missing] = []
    for name in names:
        for piece in _pieces(name, view):
            tools = view.find(piece)
            if len(tools) == 1 and view.is_usable(tools[0]):
                found.setdefault(tools[0].name, (tools[0], piece))
            else:
                missing.append(_missing(piece, tools, view))
    missing = [
        _with_suggestions(each, view, searcher) if place < _MOST_SEARCHED else each
        for place, each in enumerate(dict.fromkeys(missing))
    ]
    deferred = [pair for pair in found.values() if view.is_deferred(pair[0])]
    hits = tuple(
        Hit(tool=tool, rank=rank, reason=_reason(tool, name)) for rank, (tool, name) in enumerate(deferred, start=1)
    )
    notes = []
    if request.more_names:
        notes.append(f"{request.more_names} more names were not looked up; ask for at most {MOST_NAMES} at a time.")
    if any("*" in each.name for each in missing):
        notes.append(
            "names are taken to the letter, * stands for nothing else; list:SERVER gives all tools of a server."
        )
    return replace(
        nothing,
        hits=hits,
        total=len(hits) + request.more_names,
        missing=tuple(missing),
        already_loaded=tuple(tool.name for tool, _ in found.values() if not view.is_deferred(tool)),
        notes=tuple(notes),
    )


def _pieces(name: str, view: CatalogView) -> list[str]:
    """The name itself, or its parts between blanks where one of those is a name and the whole is none."""
    parts = name.split()
    if len(parts) < 2 or view.find(name):
        return [name]
    return parts[:MOST_NAMES] if any(view.find(part) for part in parts[:MOST_NAMES]) else [name]


def _missing(name: str, tools: tuple[Tool, ...], view: CatalogView) -> Missing:
    if len(tools) == 1:
        return Missing(name=name, reason="unavailable", server=tools[0].server)
    if tools:
        return Missing(name=name, reason="ambiguous", suggestions=tuple(tool.name for tool in tools))
    # What looks like a pattern is no misspelled name.
    return Missing(name=name, suggestions=() if "*" in name else view.near(name))


def _with_suggestions(missing: Missing, view: CatalogView, searcher: Searcher) -> Missing:
    """What the words of an unknown name find, where no name looks like it; only if the search is sure."""
    if missing.reason != "unknown" or missing.suggestions or "*" in missing.name:
        return missing
    words = " ".join(split_identifier(missing.name[:200]))
    if not words:
        return missing
    response, _ = view.search(searcher, words, 3, None)
    names = () if response.low_confidence else tuple(result.name for result in response.results)
    return replace(missing, suggestions=names)


def _reason(tool: Tool, name: str) -> Reason:
    if name in (tool.name, *tool.aliases) or joined_key(tool.name) == joined_key(name):
        return "exact_name"
    return "leaf_name" if joined_key(tool.leaf) == joined_key(name) else "exact_name"


def listing(request: Request, view: CatalogView) -> Findings:
    """One page of a server's deferred tools, by name, after the cursor; up to 50 where no number was asked for."""
    nothing = Findings(request=request, servers=view.servers)
    if not request.listed_server:
        return replace(nothing, fault="list", sizes=view.server_sizes())
    servers, cursor = view.find_servers(request.listed_server), request.cursor
    whole = unquoted(request.words)
    if whole != request.listed_server and len(view.find_servers(whole)) == 1:
        # The server's own name holds what reads like a cursor.
        servers, cursor = view.find_servers(whole), ""
    if len(servers) != 1:
        missing = Missing(
            name=request.listed_server,
            suggestions=servers or view.near_servers(request.listed_server),
            reason="ambiguous_server" if servers else "unknown_server",
        )
        return replace(nothing, missing=(missing,), sizes={} if missing.suggestions else view.server_sizes())
    tools = [tool for tool in view.tools_of(servers[0]) if view.is_usable(tool)]
    deferred = [tool for tool in tools if view.is_deferred(tool)]
    meant = view.find(cursor) if cursor else ()
    after = meant[0].name if len(meant) == 1 else cursor
    rest = [(rank, tool) for rank, tool in enumerate(deferred, start=1) if tool.name > after]
    page = rest[: request.max_results if request.count_given else MAX_RESULTS]
    return replace(
        nothing,
        hits=tuple(Hit(tool=tool, rank=rank, reason="server") for rank, tool in page),
        total=len(deferred),
        already_loaded=tuple(tool.name for tool in tools if not view.is_deferred(tool)),
        next_cursor=page[-1][1].name if len(rest) > len(page) else None,
    )
