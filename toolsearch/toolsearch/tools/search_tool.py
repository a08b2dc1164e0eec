"""`SearchExtraTools`: the tool by which a model finds the tools that are not loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from toolsearch.errors import UsageError
from toolsearch.search.query import read_query
from toolsearch.search.searcher import Searcher
from toolsearch.tokens import ESTIMATE, TokenCounter
from toolsearch.tools import wording
from toolsearch.tools.catalog_view import CatalogView, Names
from toolsearch.tools.findings import Findings, Hit
from toolsearch.tools.found import Missing, SearchAnswer
from toolsearch.tools.render import SMALLEST_BUDGET, Renderer
from toolsearch.tools.search_request import Request, read_request
from toolsearch.tools.selection import listing, select
from toolsearch.tools.servers import ServerStatus

DEFAULT_TOKEN_BUDGET = 5000
"""Tokens of an answer at most: room for five typical full schemas, and no more than a few screens of context."""

_TRIES = 3
"""How often a search starts again when the catalog changes under it, before it keeps to one snapshot."""

_MOST_LOOK_ALIKE = 5


def _no_servers() -> Mapping[str, ServerStatus]:
    return {}


class SearchTool:
    """Answers calls of `SearchExtraTools`; safe to be used by several threads."""

    def __init__(
        self,
        searcher: Searcher,
        *,
        servers: Callable[[], Mapping[str, ServerStatus]] = _no_servers,
        counter: TokenCounter = ESTIMATE,
        token_budget: int = DEFAULT_TOKEN_BUDGET,
        display_min_score: float | None = None,
    ) -> None:
        """Take what is searched.

        Args:
            searcher: The catalog and the profile.
            servers: Gives how the servers stand now, asked at each call. A server that it does not name counts as
                connected; tools of a server in any other state are not found.
            counter: Counts the tokens of an answer.
            token_budget: The most tokens of an answer's text, at least 1000.
            display_min_score: Answers less confident than this are flagged `low_confidence`, 0..1; None: the profile's
                own bound. The `reference` profile has its own rule and ignores it.

        Raises:
            UsageError: The budget or the bound is not valid.
        """
        if token_budget < SMALLEST_BUDGET:
            raise UsageError(
                f"token_budget is {token_budget!r}; it must be a whole number of at least {SMALLEST_BUDGET}."
            )
        if display_min_score is not None and not 0 <= display_min_score <= 1:
            raise UsageError(f"display_min_score is {display_min_score!r}; it must be from 0 to 1.")
        self._searcher = searcher
        self._servers = servers
        self._renderer = Renderer(counter, token_budget=token_budget)
        self._bound = display_min_score if searcher.config.ranking != "reference" else None
        self._names: Names | None = None

    def call(self, arguments: Mapping[str, Any] | str | None, *, enabled: bool = True) -> SearchAnswer:
        """Answer one call; whatever the arguments are, it is an answer and no error is raised.

        Args:
            arguments: As the model gave them: `query`, and if wanted `max_results` and `server`. JSON text is read too.
            enabled: False in standard mode, where every tool is loaded: the answer says so and names what to call.
        """
        request = read_request(arguments)
        servers = self._servers()
        for _ in range(_TRIES):
            view = self._view(servers)
            findings = self._find(request, view, self._searcher, enabled=enabled)
            # A catalog that changed meanwhile would mix two lists of tools in one answer.
            if self._searcher.snapshot() is view.snapshot:
                return self._renderer.answer(findings)
        view = self._view(servers)
        frozen = Searcher(view.snapshot, self._searcher.config)
        return self._renderer.answer(self._find(request, view, frozen, enabled=enabled))

    @staticmethod
    def usage_guidance() -> str:
        """How to use the search and the proxy, for a system prompt: at most ten lines, always the same."""
        return wording.usage_guidance()

    def _view(self, servers: Mapping[str, ServerStatus]) -> CatalogView:
        snapshot = self._searcher.snapshot()
        names = self._names
        if names is None or names.snapshot is not snapshot:
            names = self._names = Names(snapshot, self._searcher)
        return CatalogView(names, servers)

    def _find(self, request: Request, view: CatalogView, searcher: Searcher, *, enabled: bool) -> Findings:
        if request.fault:
            findings = Findings(request=request, servers=view.servers, fault="arguments")
        elif request.mode == "select":
            findings = select(request, view, searcher)
        elif request.mode == "list":
            findings = listing(request, view)
        else:
            findings = self._by_words(request, view, searcher)
        findings = replace(findings, total_deferred=view.total_deferred)
        return findings if enabled else _switched_off(findings)

    def _by_words(self, request: Request, view: CatalogView, searcher: Searcher) -> Findings:
        nothing = Findings(request=request, servers=view.servers)
        if not request.words:
            return replace(nothing, fault="discover" if request.mode == "discover" else "empty")
        server = request.server
        if server is not None and server not in (*view.server_sizes(), *view.servers):
            missing = Missing(name=server, suggestions=view.near_servers(server), reason="unknown_server")
            return replace(nothing, missing=(missing,), sizes={} if missing.suggestions else view.server_sizes())
        response, away = view.search(searcher, request.words, request.max_results, server)
        loaded = view.usable_names(response.already_loaded)
        read = read_query(request.words)
        named = loaded or any(result.reason != "score" for result in response.results)
        if not named and not read.words:
            return replace(nothing, fault="no_words" if request.words.strip("+ \t") else "plus")
        # One small word can be the part of a name that was meant (`me`); several of them say nothing.
        if not named and all(word.stop for word in read.words) and (len(read.words) > 1 or not response.results):
            return replace(nothing, fault="stop_words")
        low = response.low_confidence
        if self._bound is not None:
            low = not response.results or response.confidence < self._bound
        if not named and server is None and searcher.config.ranking != "reference":
            best = max((result.score for result in response.results), default=0.0)
            loaded = view.loaded_for(request.words, best)
        hits = []
        for result in response.results:
            tool = view.snapshot.get(result.name)
            if tool is not None:
                hits.append(
                    Hit(tool=tool, rank=result.rank, score=result.score, reason=result.reason, arms=result.arms)
                )
        return replace(
            nothing,
            hits=tuple(hits),
            total=response.total_matches,
            low_confidence=low,
            already_loaded=loaded,
            near=() if hits or loaded else _look_alike(request.words, view),
            away=tuple(away),
            notes=response.warnings if server is None else (),
        )


def _look_alike(words: str, view: CatalogView) -> tuple[str, ...]:
    """Names that look like the words of a query that found nothing, at most five."""
    found: dict[str, None] = {}
    pieces = [piece for piece in words.replace("+", " ").split() if len(piece) > 2][:_MOST_LOOK_ALIKE]
    for piece in ["_".join(pieces), *pieces]:
        found.update(dict.fromkeys(view.near(piece)))
    return tuple(found)[:_MOST_LOOK_ALIKE]


def _switched_off(findings: Findings) -> Findings:
    """The answer of a session where nothing is deferred: what was meant is called directly."""
    names = dict.fromkeys((*findings.already_loaded, *(hit.tool.name for hit in findings.hits)))
    return Findings(
        request=findings.request,
        servers=findings.servers,
        total_deferred=0,
        already_loaded=tuple(names),
        fault="disabled",
    )
