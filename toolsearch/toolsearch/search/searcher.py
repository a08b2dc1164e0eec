"""Query in, ranked tools out: the one object that the rest of the project searches with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from toolsearch.catalog.registry import Snapshot, ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.errors import UnknownNameError, UsageError
from toolsearch.search import explain as explaining
from toolsearch.search.arms import PostingValues
from toolsearch.search.dictionary.chinese import warnings_of
from toolsearch.search.evidence import Evidence, gather
from toolsearch.search.fusion import Scores, confidence, information, listed, score
from toolsearch.search.guarantees import NameTable
from toolsearch.search.index import STORE, Index, IndexStore, build
from toolsearch.search.lexicon.relations import active
from toolsearch.search.query import Query, read_query
from toolsearch.search.ranked import Compiled, Ranked, rank_one
from toolsearch.search.reference.ranker import ReferenceRanker
from toolsearch.search.results import Explanation, Result, SearchResponse
from toolsearch.search.semantic.arm import MODELS, Models

MAX_RESULTS = 50
"""The most results that one search gives; more would cost more tokens than they are worth."""
_BATCH = 64
"""Queries scored at once; bounds the memory, never changes a result."""


class Searcher:
    """Searches one catalog with one profile.

    The catalog may be a registry, which can change while searches run: each search sees one snapshot, and the index
    follows by the tools that changed.
    """

    def __init__(
        self,
        catalog: ToolRegistry | Snapshot | Iterable[Tool],
        config: SearchConfig = DEFAULT,
        *,
        store: IndexStore = STORE,
        models: Models = MODELS,
    ) -> None:
        """Take a catalog and a profile; the index is built at the first search.

        Args:
            catalog: A registry, a snapshot, or tools (which make a registry of their own).
            config: The profile.
            store: Where indexes are shared; the process's own by default.
            models: Where semantic arms come from; the process's own by default.
        """
        self._source = catalog if isinstance(catalog, ToolRegistry | Snapshot) else ToolRegistry(catalog)
        self.config = config
        self._store = store
        self._models = models
        self._current: Compiled | None = None
        self._reference: tuple[Snapshot, ReferenceRanker] | None = None

    def snapshot(self) -> Snapshot:
        """The catalog as it is now."""
        return self._source.snapshot() if isinstance(self._source, ToolRegistry) else self._source

    def search(
        self, query: str, *, max_results: int = 5, server: str | None = None, explain: bool = False
    ) -> SearchResponse:
        """The best tools for one query.

        Args:
            query: What is wanted; `+word` makes a word required.
            max_results: 1..50; a number outside is moved to the nearest bound and the answer says so.
            server: Only tools of this server, exactly.
            explain: Give the parts of every score.

        Returns:
            The results, best first; ties stand in the order of names. No match gives an empty list.
        """
        _check_query(query)
        _check_count(max_results)
        limit = min(max(max_results, 1), MAX_RESULTS)
        [response] = self._answers([query], limit, server, explain, clamped=limit != max_results)
        return response

    def search_batch(
        self,
        queries: Sequence[str],
        *,
        max_results: int = 5,
        server: str | None = None,
        explain: bool = False,
    ) -> list[SearchResponse]:
        """Many queries at once, each answered as `search` would; `max_results` may be any number above 0.

        Raises:
            UsageError: `max_results` is not a whole number above 0.
        """
        if isinstance(queries, str):
            raise UsageError(f"queries is the text {queries[:60]!r}; give a list of texts, or use search for one.")
        for query in queries:
            _check_query(query)
        _check_count(max_results, lowest=1)
        answers: list[SearchResponse] = []
        for start in range(0, len(queries), _BATCH):
            answers += self._answers(queries[start : start + _BATCH], max_results, server, explain, clamped=False)
        return answers

    def explain(self, query: str, tool_name: str, *, max_results: int = 5, server: str | None = None) -> Explanation:
        """Why a tool stands where it stands for a query, or why it was not found.

        Args:
            query: The query, as it was searched.
            tool_name: The tool's id or an alias.
            max_results: Where the search was cut, above 0.
            server: The search's filter.

        Raises:
            UnknownNameError: The catalog has no such tool; near names are given.
            UsageError: The query is no text, or `max_results` no whole number above 0.
        """
        _check_query(query)
        _check_count(max_results, lowest=1)
        snapshot = self.snapshot()
        tool = snapshot.get(tool_name)
        if tool is None and tool_name in {held.name for held in snapshot.quarantined}:
            return explaining.not_searched(query, tool_name, "its name is quarantined, so it is never searched")
        if tool is None and tool_name in {held.name for held in snapshot.hidden}:
            return explaining.not_searched(query, tool_name, "the allow and deny patterns hide it")
        if tool is None:
            raise UnknownNameError("tool", tool_name, (known.name for known in snapshot.tools))
        if tool.name not in {known.name for known in snapshot.deferred}:
            return explaining.not_searched(query, tool.name, "it is loaded already (not deferred): call it directly")
        if server is not None and tool.server != server:
            owner = f"it belongs to server {tool.server!r}" if tool.server else "it belongs to no server"
            return explaining.not_searched(query, tool.name, f"{owner}, and only server {server!r} was asked for")
        if self.config.ranking == "reference":
            return self._reference_ranker(snapshot).explain(query, tool.name, max_results, server)
        compiled = self._compiled(snapshot)
        index = compiled.index
        read = read_query(query)
        evidence = self._gathered(index, [read])
        values = self._values(index, evidence)
        scores = score(evidence, self.config, values)
        [ranked] = self._rank(compiled, [read], evidence, scores, index.size, server)
        return explaining.explanation(
            index, read, evidence, values, self.config, scores, ranked, tool.name, max_results
        )

    def _answers(
        self, queries: Sequence[str], limit: int, server: str | None, explain: bool, *, clamped: bool
    ) -> list[SearchResponse]:
        snapshot = self.snapshot()
        warnings = (*warnings_of(self.config), *_server_warnings(snapshot, server))
        if self.config.ranking == "reference":
            ranker = self._reference_ranker(snapshot)
            return [
                ranker.answer(query, limit, server, explain, clamped=clamped, warnings=warnings) for query in queries
            ]
        compiled = self._compiled(snapshot)
        index = compiled.index
        read = [read_query(query) for query in queries]
        evidence = self._gathered(index, read)
        warnings = (*self._models.warnings_of(self.config), *warnings)
        values = self._values(index, evidence)
        asked = information(evidence, self.config)
        scores = score(evidence, self.config, values)
        answers = []
        for number, ranked in enumerate(self._rank(compiled, read, evidence, scores, limit, server)):
            parts = (
                explaining.parts_of(index, evidence, values, self.config, scores, number, ranked.tools, ranked.scores)
                if explain
                else [()] * len(ranked.tools)
            )
            results = tuple(
                Result(
                    name=index.tools[tool].name,
                    rank=rank,
                    score=float(total),
                    reason=ranked.reasons[tool].reason if tool in ranked.reasons else "score",
                    arms=explaining.arms_of(evidence, scores, number, tool, float(total)),
                    parts=tool_parts,
                )
                for rank, (tool, total, tool_parts) in enumerate(
                    zip(ranked.tools.tolist(), ranked.scores, parts, strict=True), start=1
                )
            )
            sure = 1.0 if ranked.reasons else confidence(ranked.best_score, float(asked[number]))
            loaded = compiled.loaded_names.whole(read[number]) | compiled.loaded_names.several(
                read[number], compiled.names
            )
            answers.append(
                SearchResponse(
                    query=queries[number],
                    results=results,
                    total_matches=ranked.total,
                    truncated=ranked.total > len(results),
                    clamped=clamped,
                    low_confidence=not results or (not ranked.reasons and sure < self.config.confidence_bound),
                    confidence=sure,
                    already_loaded=tuple(compiled.loaded[position] for position in sorted(loaded)),
                    warnings=warnings,
                )
            )
        return answers

    def _rank(
        self,
        compiled: Compiled,
        read: Sequence[Query],
        evidence: Evidence,
        scores: Scores,
        limit: int,
        server: str | None,
    ) -> list[Ranked]:
        hit = listed(evidence, self.config)
        bounds = np.searchsorted(evidence.pair_query, np.arange(len(read) + 1))
        ranked = []
        for number, query in enumerate(read):
            pairs = slice(int(bounds[number]), int(bounds[number + 1]))
            ranked.append(
                rank_one(
                    compiled,
                    query,
                    evidence.pair_tool[pairs],
                    hit[pairs],
                    scores.total[pairs],
                    limit,
                    server,
                )
            )
        return ranked

    def _gathered(self, index: Index, read: Sequence[Query]) -> Evidence:
        return self._models.widened(index, read, gather(index, read, active(self.config)), self.config)

    def _values(self, index: Index, evidence: Evidence) -> PostingValues:
        values = index.values(self.config)
        return PostingValues(evidence.of_entries(values.keyword), evidence.of_entries(values.tfidf))

    def _compiled(self, snapshot: Snapshot) -> Compiled:
        current = self._current
        if current is None or current.index.fingerprint != snapshot.fingerprint:
            previous = current.index if current else None
            index = self._store.get(
                snapshot.fingerprint,
                lambda: build(snapshot.deferred, snapshot.fingerprint, previous=previous),
            )
            # Sorted: catalogs that differ in their order alone have one fingerprint.
            loaded = sorted(snapshot.loaded, key=lambda tool: tool.name)
            names = NameTable(index.tools, current.names if current else None)
            current = Compiled(index, names, NameTable(loaded), tuple(tool.name for tool in loaded))
            self._current = current
        return current

    def _reference_ranker(self, snapshot: Snapshot) -> ReferenceRanker:
        # By snapshot, not by fingerprint: this ranking settles ties by catalog order, which no fingerprint holds.
        current = self._reference
        if current is None or current[0] is not snapshot:
            current = (snapshot, ReferenceRanker(snapshot.deferred, snapshot.tools, self.config))
            self._reference = current
        return current[1]


def _check_query(query: object) -> None:
    if not isinstance(query, str):
        raise UsageError(f"a query is {query!r}; it must be a text.")


def _check_count(max_results: object, *, lowest: int | None = None) -> None:
    whole = isinstance(max_results, int) and not isinstance(max_results, bool)
    if not whole or (lowest is not None and isinstance(max_results, int) and max_results < lowest):
        above = "" if lowest is None else f" of at least {lowest}"
        raise UsageError(f"max_results is {max_results!r}; it must be a whole number{above}.")


def _server_warnings(snapshot: Snapshot, server: str | None) -> tuple[str, ...]:
    if server is None or any(tool.server == server for tool in snapshot.tools):
        return ()
    known = {tool.server for tool in snapshot.tools if tool.server}
    return (str(UnknownNameError("server", server, known)),)
