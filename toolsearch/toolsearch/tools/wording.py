"""The sentences of an answer to a search; every name in them is fit to be shown, and every list is bounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.names import name_fault
from toolsearch.search.query import read_query
from toolsearch.search.searcher import MAX_RESULTS
from toolsearch.tokens import TokenCounter
from toolsearch.tools.findings import Findings
from toolsearch.tools.found import Missing
from toolsearch.tools.servers import ServerState, servers_in
from toolsearch.tools.untrusted import CUT_MARK, neutralise, safe_json, shown_name

SEARCH, EXECUTE, _ = SYNTHETIC_TOOLS

HOW_TO_RUN = f"Run one with {EXECUTE}: tool_name is its name, params an object with its parameters."
OPTIONAL_MARK = "A ? marks an optional parameter."
_EXAMPLE = "what the tool should do, in a few words, such as: send a message"
_SERVER_LINES: tuple[tuple[ServerState, str, str], ...] = (
    ("pending", "Still connecting", "Tools of theirs can't be found yet; try again in a moment."),
    ("failed", "Failed to connect", "Tools of theirs are not available."),
    ("disconnected", "Disconnected for now", "Tools of theirs are not available until they are back."),
    ("disabled", "Disabled", "Only the operator can switch them on."),
)


class Wording:
    """Writes the lines of one answer.

    Attributes:
        cut: A list was longer than could be told.
    """

    def __init__(self, counter: TokenCounter, *, list_tokens: int) -> None:
        """Take the counter, and how many tokens one list of names or one quotation may cost."""
        self.cut = False
        self._counter = counter
        self._list_tokens = list_tokens

    def names(self, names: Sequence[str]) -> str:
        """The names, joined; those that don't fit are counted."""
        return self._bounded([shown_name(name) for name in names])

    def quoted(self, text: str) -> str:
        """What somebody typed, in quotation marks, short."""
        limit = 80
        shown = safe_json(neutralise(text, limit=limit).text)
        while limit > 16 and self._counter.count(shown) > self._list_tokens:
            limit //= 2
            shown = safe_json(neutralise(text, limit=limit).text)
        return shown

    def _bounded(self, pieces: Sequence[str]) -> str:
        taken: list[str] = []
        left = self._list_tokens
        for piece in pieces:
            left -= self._counter.count(f", {piece}")
            if left < 0:
                break
            taken.append(piece)
        more = len(pieces) - len(taken)
        if not more:
            return ", ".join(taken)
        self.cut = True
        return f"{', '.join(taken)} and {more} more" if taken else f"{more} with long names"

    def fault(self, findings: Findings) -> list[str]:
        """Why nothing was searched, and what to type."""
        request = findings.request
        query = self.quoted(request.words)
        match findings.fault:
            case "arguments":
                return [f"Nothing was searched: {request.fault}"]
            case "empty":
                return [f"The query is empty. Type {_EXAMPLE}; or select:NAME for a tool whose name you know."]
            case "plus":
                return [f"A plus needs a word right after it, such as: +slack send. Type {_EXAMPLE}."]
            case "stop_words":
                return [f"{query} holds only words that say nothing about a tool. Type {_EXAMPLE}."]
            case "no_words":
                return [f"{query} holds no word to search for. Type {_EXAMPLE}."]
            case "select":
                return [
                    "select: needs names after it, such as select:NAME or select:NAME,NAME. For words, leave it out."
                ]
            case "discover":
                return [f"discover: needs words after it. Type {_EXAMPLE}."]
            case "list":
                return ["list: needs the name of a server after it.", *self.sizes(findings)]
            case _:
                return self._disabled(findings)

    def _disabled(self, findings: Findings) -> list[str]:
        lines = [
            "Tool search is disabled in this session: every tool is loaded, so call tools directly by their own "
            f"names, without {SEARCH} and {EXECUTE}."
        ]
        if findings.already_loaded:
            lines.append(f"For this query, call directly: {self.names(findings.already_loaded)}.")
        return lines

    def sizes(self, findings: Findings) -> list[str]:
        """The servers that can be listed."""
        if not findings.sizes:
            return ["No server has tools here now."]
        pieces = [f"{shown_name(name)} ({count})" for name, count in findings.sizes.items()]
        return [f"Servers and their numbers of tools: {self._bounded(pieces)}."]

    def loaded(self, names: Sequence[str]) -> str:
        """That tools are loaded already and are called directly."""
        verb, pronoun = ("are", "them") if len(names) > 1 else ("is", "it")
        return (
            f"{self.names(names)} {verb} already loaded: call {pronoun} directly, not through {EXECUTE}, and don't "
            f"search for {pronoun}."
        )

    def missing(self, missing: Missing) -> str:
        """Why a name gave nothing."""
        name = self.quoted(missing.name)
        suggestions = self.names(missing.suggestions)
        match missing.reason:
            case "ambiguous" | "ambiguous_server":
                what = "tools" if missing.reason == "ambiguous" else "servers"
                return f"{name} can mean several {what}: {suggestions}. Give one of these names in full."
            case "unavailable":
                return f"{name} belongs to server {shown_name(missing.server or '')}, which is not connected now."
            case "unknown_server":
                hint = f" Did you mean {suggestions}?" if suggestions else ""
                return f"There is no server {name}.{hint}"
            case _:
                hint = f"Did you mean {suggestions}?" if suggestions else "No name is near; search with words instead."
                return f"There is no tool {name}. {hint}"

    def nothing(self, findings: Findings) -> list[str]:
        """That nothing was found, what was searched, and what to do."""
        request, total = findings.request, findings.total_deferred
        if request.mode == "list":
            server = self.quoted(request.listed_server)
            if findings.total:
                return [f"Server {server} has {_counted(findings.total)}, none after {self.quoted(request.cursor)}."]
            return [f"Server {server} has no tools that can be found now."]
        if not total:
            return ["Nothing was found: there are no deferred tools to search now."]
        where = f"the tools of server {self.quoted(request.server)}" if request.server else f"{total} deferred tools"
        lines = [
            f"Nothing was found for {self.quoted(request.words)} among {where}; names, servers, hints, descriptions "
            "and parameters were searched."
        ]
        if read_query(request.words).required:
            lines.append("No deferred tool has all the words marked with a plus; leave out a plus to search wider.")
        if findings.near:
            lines.append(f"Names that look alike: {self.names(findings.near)}.")
        lines.append(
            "Rephrase once: say what the tool does and to what (send email, list issues), with fewer or other words; "
            "list:SERVER shows the tools of one server. If that finds nothing either, the capability is not available."
        )
        return lines

    def servers(self, findings: Findings) -> list[str]:
        """Which servers are not there, and why, a line for each state."""
        lines = []
        for state, label, advice in _SERVER_LINES:
            names = servers_in(findings.servers, state)
            if names:
                pieces = [self._server(findings, name) for name in names]
                lines.append(f"{label}: {self._bounded(pieces)}. {advice}")
        return lines

    def _server(self, findings: Findings, name: str) -> str:
        reason = neutralise(findings.servers[name].reason, limit=80).text
        # The registry holds back names that are not fit to be shown; the states of servers come past it.
        shown = "one whose name can't be shown" if name_fault(name) else shown_name(name)
        return f"{shown} ({reason})" if reason else shown

    def head(self, findings: Findings, shown: int) -> list[str]:
        """What stands before the tools: how many there are, how sure it is, and how to run one."""
        request, count = findings.request, len(findings.hits)
        of_total = f"{count} of {findings.total} matching tools" if findings.total > count else _counted(count)
        match request.mode:
            case "select":
                line = f"{_counted(count)} with full schema."
            case "discover":
                line = f"{of_total}, best first, with full schema."
            case "list":
                server = findings.hits[0].tool.server or ""
                first = findings.hits[0].rank
                line = (
                    f"Tools {first} to {first + shown - 1} of {findings.total} of server {shown_name(server)}, by name."
                )
            case _:
                line = f"{of_total}, best first."
        how = HOW_TO_RUN if request.mode in ("select", "discover") else f"{HOW_TO_RUN} {OPTIONAL_MARK}"
        lines = [line, how]
        if findings.low_confidence:
            lines.append(
                "Low confidence: probably no tool here does this. If none of these fits, stop searching for it: the "
                "capability is not available."
            )
        return lines

    def more(self, findings: Findings) -> list[str]:
        """That more tools match than are listed, and that servers which are away have some."""
        lines = []
        rest = findings.total - len(findings.hits)
        if rest > 0 and findings.hits and findings.request.mode in ("keyword", "required", "discover"):
            lines.append(f"{rest} more match: use words that say more, or raise max_results (at most {MAX_RESULTS}).")
        if findings.away:
            lines.append(
                f"Not listed, since their server is not connected now: matching tools of {self.names(findings.away)}."
            )
        return lines

    def next_page(self, server: str, cursor: str) -> str:
        """How to get the next page of a listing."""
        return f"There are more: list:{shown_name(server)} after:{shown_name(cursor)} goes on."

    def not_shown(self, names: Sequence[str]) -> str:
        """That tools were found and did not fit."""
        return f"No room was left for {self.names(names)}{CUT_MARK}. Ask for fewer at a time, with select:NAME."

    def in_brief(self, names: Sequence[str]) -> str:
        """That tools are shown without their full schema, which can be had."""
        return f"Shortened for lack of room: {self.names(names)}{CUT_MARK}. select:NAME of one alone shows its schema."

    def too_large(self, names: Sequence[str]) -> str:
        """That the schema of tools is larger than an answer may be."""
        return f"Too large a schema to be shown in full: {self.names(names)}{CUT_MARK}."


def _counted(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"


def usage_guidance() -> str:
    """How to use the search and the proxy, for a system prompt: at most ten lines, always the same.

    >>> len(usage_guidance().splitlines()) <= 10
    True
    """
    return "\n".join(_GUIDANCE)


_GUIDANCE: Iterable[str] = (
    "Tools in your list are loaded: call them directly by name, first of all. Never search for them and never run them "
    f"through {EXECUTE}.",
    f"Further tools are deferred: they are not in your list. Only when no listed tool does the job, call {SEARCH}:",
    "- words that say what you want to do (send message); a word with + must be met by every result (+slack send)",
    "- select:NAME,NAME for the full schemas of tools whose names you know; discover:WORDS for full schemas by words",
    "- list:SERVER for all tools of one server",
    f"Run what was found with {EXECUTE}: tool_name is the exact name, params an object with the parameters shown.",
    "When a search shows a tool that fits, run it; don't search again for the same thing.",
    "When nothing fits after one other wording, the capability is not available: stop searching and go on without it.",
)
