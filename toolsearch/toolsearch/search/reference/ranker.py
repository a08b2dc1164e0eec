"""`ReferenceRanker` gives the observed ranking in the project's own values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from toolsearch.catalog.tool import Tool
from toolsearch.config import SearchConfig
from toolsearch.search.analysis.reference import STOP_WORDS
from toolsearch.search.reference.explain import parts_of, why_listed, why_not_listed
from toolsearch.search.reference.ranking import Found, IndexedReference, Merged
from toolsearch.search.results import Explanation, Result, SearchResponse


class ReferenceRanker:
    """The observed ranking over one snapshot.

    A server's filter, which the observed system has not, comes first: both arms then search that server's tools only,
    with the document frequencies of the whole catalog.
    """

    def __init__(self, deferred: Sequence[Tool], all_tools: Sequence[Tool], config: SearchConfig) -> None:
        """Read the catalog; its order settles ties."""
        self._ranking = IndexedReference(deferred, all_tools, config)

    def answer(
        self,
        query: str,
        limit: int,
        server: str | None,
        explain: bool,
        *,
        clamped: bool = False,
        warnings: tuple[str, ...] = (),
    ) -> SearchResponse:
        """The merged list.

        A loaded tool whose name is the query takes one of the `limit` places of the merged list, as observed; it is
        given in `already_loaded`, not among the results.

        `total_matches` counts the tools of the server asked for that have all `+` words or, where there are none, share
        a word that is no stop word with the query in either arm's sense (any word, if the query has stop words alone).
        A tool that is listed without counts too: the TF-IDF arm knows no `+`, and the keyword arm no stop words.

        Args:
            query: What is wanted.
            limit: Where both lists and the merged one are cut, at least 1.
            server: Only tools of this server.
            explain: Give the parts of every score.
            clamped: Said in the answer.
            warnings: Said in the answer.
        """
        found = self._ranking.find(query, limit, server)
        kept = self._searched(found)
        total = self._total(found, kept, server)
        results = tuple(
            Result(
                name=item.tool.name,
                rank=rank,
                score=item.score,
                arms={"keyword": item.keyword, "tfidf": item.tfidf},
                parts=parts_of(self._ranking, found, item) if explain else (),
            )
            for rank, item in enumerate(kept, start=1)
        )
        return SearchResponse(
            query=query,
            results=results,
            total_matches=total,
            truncated=total > len(results),
            clamped=clamped,
            low_confidence=not results,
            already_loaded=self._loaded(found, server),
            warnings=warnings,
        )

    def explain(self, query: str, tool_name: str, max_results: int, server: str | None = None) -> Explanation:
        """Where a searchable tool stands in the answer to the same search, or where it fell out.

        Both arms' lists are cut before the merge, so a tool below the cut has neither a rank nor a score.
        """
        found = self._ranking.find(query, max_results, server)
        for rank, item in enumerate(self._searched(found), start=1):
            if item.tool.name == tool_name:
                return Explanation(
                    query=query,
                    tool=tool_name,
                    found=True,
                    rank=rank,
                    score=item.score,
                    why=why_listed(self._ranking, found, item, rank, max_results),
                    parts=parts_of(self._ranking, found, item),
                )
        why = why_not_listed(self._ranking, found, tool_name, max_results)
        return Explanation(query=query, tool=tool_name, found=False, rank=None, score=0.0, why=why)

    def _searched(self, found: Found) -> tuple[Merged, ...]:
        """The merged list without a loaded tool."""
        return tuple(item for item in found.merged if item.tool.name in self._ranking.index.numbers)

    def _loaded(self, found: Found, server: str | None) -> tuple[str, ...]:
        """The loaded tool whose name is the query; a server's filter, which keeps it out of the lists, hides it not."""
        index, text = self._ranking.index, found.hits.text
        if server is not None:
            return tuple(tool.name for tool in index.loaded.get(text, ())[:1]) if text not in index.by_name else ()
        return tuple(item.tool.name for item in found.merged if item.tool.name not in index.numbers)

    def _total(self, found: Found, kept: Sequence[Merged], server: str | None) -> int:
        index, hits = self._ranking.index, found.hits
        matching = np.zeros(len(index.tools), dtype=bool)
        meaningful = [evidence for word, evidence in hits.words if word not in STOP_WORDS]
        # A query of stop words alone is searched by them.
        for evidence in meaningful or [evidence for _, evidence in hits.words]:
            evidence.mark(matching)
        for term in found.cosines.wanted:
            matching[index.places[index.postings(term)]] = True
        if hits.required:
            matching[:] = True
        for _, evidence in hits.words[: hits.required]:
            passing = np.zeros(len(matching), dtype=bool)
            evidence.mark(passing)
            matching &= passing
        if hits.begun:
            matching[hits.places] = True
        allowed = index.of_server(server)
        if allowed is not None:
            matching &= allowed
        matching[[index.numbers[item.tool.name] for item in kept]] = True
        return int(matching.sum())
