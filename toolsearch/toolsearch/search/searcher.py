"""Query in, ranked tools out: the one object that the rest of the project searches with."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from toolsearch.catalog.registry import Snapshot, ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.errors import UnknownNameError, UsageError
from toolsearch.search import explain as explaining
from toolsearch.search.arms import PostingValues
from toolsearch.search.evidence import Evidence, gather
from toolsearch.search.fusion import Floats, Integers, best, matched, score
from toolsearch.search.guarantees import SCORE_TIER, Named, NameTable, required_tools
from toolsearch.search.index import STORE, Index, IndexStore, build
from toolsearch.search.query import Query, read_query
from toolsearch.search.reference.ranking import ReferenceRanker
from toolsearch.search.results import Explanation, Result, SearchResponse

MAX_RESULTS = 50
"""The most results that one search gives; more would cost more tokens than they are worth."""
_BATCH = 64
"""Queries scored at once; bounds the memory, never changes a result."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One query's complete order before it is cut.

    Attributes:
        tools: Tool numbers, best first, up to the number asked for.
        scores: Scores by tool number place, in the same order.
        keyword: The keyword arm's shares in the same order.
        reasons: Named tools by number.
        total: How many tools matched in all.
        best_score: The best score of all that matched, 0.0 without a match.
    """

    tools: Integers
    scores: Floats
    keyword: Floats
    reasons: dict[int, Named]
    total: int
    best_score: float


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
    ) -> None:
        """Take a catalog and a profile; the index is built at the first search.

        Args:
            catalog: A registry, a snapshot, or tools (which make a registry of their own).
            config: The profile.
            store: Where indexes are shared; the process's own by default.
        """
        self._source = catalog if isinstance(catalog, ToolRegistry | Snapshot) else ToolRegistry(catalog)
        self.config = config
        self._store = store
        self._lock = threading.Lock()
        self._current: tuple[str, Index, NameTable, NameTable] | None = None
        self._reference: tuple[str, ReferenceRanker] | None = None

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
        _check_count(max_results)
        if max_results < 1:
            raise UsageError(f"max_results is {max_results}; it must be a whole number above 0.")
        answers: list[SearchResponse] = []
        for start in range(0, len(queries), _BATCH):
            answers += self._answers(queries[start : start + _BATCH], max_results, server, explain, clamped=False)
        return answers

    def explain(self, query: str, tool_name: str, *, max_results: int = 5) -> Explanation:
        """Why a tool stands where it stands for a query, or why it was not found.

        Raises:
            UnknownNameError: The catalog has no such tool; near names are given.
        """
        snapshot = self.snapshot()
        tool = snapshot.get(tool_name)
        quarantined = {held.name: held for held in snapshot.quarantined}
        if tool is None and tool_name not in quarantined:
            raise UnknownNameError("tool", tool_name, (known.name for known in snapshot.tools))
        if tool is None:
            return explaining.not_searched(query, tool_name, "its name is quarantined, so it is never searched")
        if tool.name not in {known.name for known in snapshot.deferred}:
            return explaining.not_searched(query, tool.name, "it is loaded already (not deferred): call it directly")
        if self.config.ranking == "reference":
            return self._reference_ranker(snapshot).explain(query, tool.name, max_results)
        index, names, _ = self._compiled(snapshot)
        read = read_query(query)
        evidence = gather(index, [read])
        values = self._values(index, evidence)
        ranked = self._rank(index, names, read, evidence, values, index.size, None)
        return explaining.explanation(index, read, evidence, values, self.config, ranked, tool.name, max_results)

    def _answers(
        self, queries: Sequence[str], limit: int, server: str | None, explain: bool, *, clamped: bool
    ) -> list[SearchResponse]:
        snapshot = self.snapshot()
        if self.config.ranking == "reference":
            ranker = self._reference_ranker(snapshot)
            return [ranker.answer(query, limit, server, explain, clamped=clamped) for query in queries]
        index, names, loaded_names = self._compiled(snapshot)
        read = [read_query(query) for query in queries]
        evidence = gather(index, read)
        values = self._values(index, evidence)
        warnings = _server_warnings(snapshot, server)
        answers = []
        for number, ranked in enumerate(self._rank_all(index, names, read, evidence, values, limit, server)):
            parts = (
                explaining.parts_of(index, evidence, values, self.config, number, ranked.tools)
                if explain
                else [()] * len(ranked.tools)
            )
            results = tuple(
                Result(
                    name=index.tools[tool].name,
                    rank=rank,
                    score=float(total),
                    reason=ranked.reasons[tool].reason if tool in ranked.reasons else "score",
                    arms={"keyword": float(keyword), "tfidf": float(total) - float(keyword)},
                    parts=tool_parts,
                )
                for rank, (tool, total, keyword, tool_parts) in enumerate(
                    zip(ranked.tools.tolist(), ranked.scores, ranked.keyword, parts, strict=True), start=1
                )
            )
            loaded = loaded_names.whole(read[number]) | loaded_names.several(read[number])
            answers.append(
                SearchResponse(
                    query=queries[number],
                    results=results,
                    total_matches=ranked.total,
                    truncated=ranked.total > len(results),
                    clamped=clamped,
                    low_confidence=not ranked.reasons and ranked.best_score < self.config.confidence_bound,
                    already_loaded=tuple(snapshot.loaded[position].name for position in sorted(loaded)),
                    warnings=warnings,
                )
            )
        return answers

    def _rank_all(
        self,
        index: Index,
        names: NameTable,
        read: Sequence[Query],
        evidence: Evidence,
        values: PostingValues,
        limit: int,
        server: str | None,
    ) -> list[Ranked]:
        scores = score(evidence, self.config, values)
        hit = matched(evidence)
        bounds = np.searchsorted(evidence.pair_query, np.arange(len(read) + 1))
        ranked = []
        for number, query in enumerate(read):
            pairs = slice(int(bounds[number]), int(bounds[number + 1]))
            ranked.append(
                _rank_one(
                    index,
                    names,
                    query,
                    evidence.pair_tool[pairs],
                    hit[pairs],
                    scores.total[pairs],
                    scores.keyword[pairs],
                    limit,
                    server,
                )
            )
        return ranked

    def _rank(
        self,
        index: Index,
        names: NameTable,
        read: Query,
        evidence: Evidence,
        values: PostingValues,
        limit: int,
        server: str | None,
    ) -> Ranked:
        return self._rank_all(index, names, [read], evidence, values, limit, server)[0]

    def _values(self, index: Index, evidence: Evidence) -> PostingValues:
        values = index.values(self.config)
        return PostingValues(values.keyword[evidence.posting], values.tfidf[evidence.posting])

    def _compiled(self, snapshot: Snapshot) -> tuple[Index, NameTable, NameTable]:
        current = self._current
        if current is None or current[0] != snapshot.fingerprint:
            previous = current[1] if current else None
            index = self._store.get(
                snapshot.fingerprint,
                lambda: build(snapshot.deferred, snapshot.fingerprint, previous=previous),
            )
            current = (snapshot.fingerprint, index, NameTable(index.tools), NameTable(snapshot.loaded))
            with self._lock:
                self._current = current
        return current[1], current[2], current[3]

    def _reference_ranker(self, snapshot: Snapshot) -> ReferenceRanker:
        current = self._reference
        if current is None or current[0] != snapshot.fingerprint:
            current = (snapshot.fingerprint, ReferenceRanker(snapshot.deferred, snapshot.tools, self.config))
            self._reference = current
        return current[1]


def _rank_one(
    index: Index,
    names: NameTable,
    query: Query,
    pair_tool: Integers,
    hit: np.ndarray[tuple[int], np.dtype[np.bool_]],
    totals: Floats,
    keyword: Floats,
    limit: int,
    server: str | None,
) -> Ranked:
    """Filter, put what the query names first, and order the rest by score."""
    named = names.find(query)
    allowed = required_tools(index, query)
    if server is not None:
        of_server = np.array([tool.server == server for tool in index.tools], dtype=bool)
        allowed = of_server if allowed is None else allowed & of_server
    if allowed is not None:
        named = {number: reason for number, reason in named.items() if allowed[number]}
        if query.required:
            # Every tool that passes is a result, also one that only a stop word brought in.
            totals, keyword = _spread(index.size, pair_tool, totals), _spread(index.size, pair_tool, keyword)
            pair_tool, hit = np.arange(index.size, dtype=np.int64), allowed
        else:
            hit = hit & allowed[pair_tool]
    if named:
        missing = np.array(sorted(set(named) - set(pair_tool[hit].tolist())), dtype=np.int64)
        if len(missing):
            totals, keyword = _spread(index.size, pair_tool, totals), _spread(index.size, pair_tool, keyword)
            everything = np.zeros(index.size, dtype=bool)
            everything[pair_tool[hit]] = True
            everything[missing] = True
            pair_tool, hit = np.arange(index.size, dtype=np.int64), everything
    found = np.flatnonzero(hit)
    candidates, scores, keyword_shares = pair_tool[found], totals[found], keyword[found]
    order = best(candidates, scores, limit + len(named))
    if named:
        by_tier = [position for position in range(len(candidates)) if int(candidates[position]) in named]
        by_tier.sort(key=lambda position: _named_order(named, candidates, scores, position))
        taken = set(by_tier)
        rest = [position for position in order.tolist() if position not in taken]
        order = np.array((by_tier + rest)[:limit], dtype=np.int64)
    order = order[:limit]
    return Ranked(
        tools=candidates[order],
        scores=scores[order],
        keyword=keyword_shares[order],
        reasons=named,
        total=len(candidates),
        best_score=float(scores.max()) if len(scores) else 0.0,
    )


def _named_order(
    named: dict[int, Named], candidates: Integers, scores: Floats, position: int
) -> tuple[int, float, int]:
    number = int(candidates[position])
    tier = named[number].tier
    # The tools of a server stand in the order of their names, all others by score.
    by_score = 0.0 if tier == SCORE_TIER - 1 else -float(scores[position])
    return tier, by_score, number


def _spread(size: int, pair_tool: Integers, values: Floats) -> Floats:
    spread = np.zeros(size)
    spread[pair_tool] = values
    return spread


def _check_count(max_results: object) -> None:
    if isinstance(max_results, bool) or not isinstance(max_results, int):
        raise UsageError(f"max_results is {max_results!r}; it must be a whole number.")


def _server_warnings(snapshot: Snapshot, server: str | None) -> tuple[str, ...]:
    if server is None or any(tool.server == server for tool in snapshot.tools):
        return ()
    known = {tool.server for tool in snapshot.tools if tool.server}
    return (str(UnknownNameError("server", server, known)),)
