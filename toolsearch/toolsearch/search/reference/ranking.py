"""Both arms' lists, each cut, and their merge, as observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolsearch.catalog.tool import Tool
from toolsearch.config import SearchConfig
from toolsearch.search.reference.arms import Cosines, KeywordHits, cosines, keyword_hits
from toolsearch.search.reference.index import build_reference


@dataclass(frozen=True, slots=True)
class Merged:
    """One tool of the merged list.

    Attributes:
        tool: A deferred tool, or a loaded one whose name is the query.
        keyword: Its rank score × the keyword weight.
        tfidf: Its cosine × the TF-IDF weight.
    """

    tool: Tool
    keyword: float
    tfidf: float

    @property
    def score(self) -> float:
        """What decides the order."""
        return self.keyword + self.tfidf


@dataclass(frozen=True, slots=True)
class Found:
    """All that a search found out: the merged list, best first, and what both arms had before their cuts."""

    merged: tuple[Merged, ...]
    hits: KeywordHits
    cosines: Cosines


class IndexedReference:
    """The observed ranking over one list of tools under one configuration."""

    def __init__(self, deferred: Sequence[Tool], all_tools: Sequence[Tool], config: SearchConfig) -> None:
        """Read the tools; the arguments are those of `PlainReference`, and so are all answers."""
        self.index = build_reference(deferred, all_tools)
        self.config = config
        self.vectors = self.index.weighted(config)

    def keyword(self, query: str, limit: int | None, server: str | None = None) -> list[tuple[Tool, float]]:
        """Tools with their keyword points, best first; points are 0 where the query is a name or begins names.

        Args:
            query: What is wanted.
            limit: Where the list is cut, None for nowhere; a negative number cuts that many from the end.
            server: Only tools of this server.
        """
        hits = keyword_hits(self.index, query, self.config, server)
        if hits.named is not None:
            return [(hits.named, 0.0)]
        points = dict(zip(hits.places.tolist(), hits.points.tolist(), strict=True))
        return [(self.index.tools[place], points[place]) for place in hits.best(limit).tolist()]

    def tfidf(self, query: str, limit: int | None, server: str | None = None) -> list[tuple[Tool, float]]:
        """Tools with a cosine of at least the profile's bound, best first; the arguments as in `keyword`."""
        found = cosines(self.index, self.vectors, query, server)
        listed = found.best(self.config.confidence_bound, limit).tolist()
        return [(self.index.tools[place], float(found.scores[place])) for place in listed]

    def hybrid(self, query: str, limit: int, server: str | None = None) -> list[tuple[Tool, float]]:
        """Both lists, each cut to `limit`, merged: tools with their scores, best first."""
        return [(item.tool, item.score) for item in self.find(query, limit, server).merged]

    def find(self, query: str, limit: int, server: str | None = None) -> Found:
        """As `hybrid`, with all that explains it: rank score × keyword weight + cosine × TF-IDF weight."""
        hits = keyword_hits(self.index, query, self.config, server)
        found = cosines(self.index, self.vectors, query, server)
        tools = self.index.tools
        keyword = hits.listed(self.index, limit)
        merged = {
            tool.name: Merged(tool, (len(keyword) - rank) / len(keyword) * self.config.weight_keyword, 0.0)
            for rank, tool in enumerate(keyword)
        }
        for place in found.best(self.config.confidence_bound, limit).tolist():
            tool = tools[place]
            share = merged[tool.name].keyword if tool.name in merged else 0.0
            merged[tool.name] = Merged(tool, share, float(found.scores[place]) * self.config.weight_tfidf)
        ordered = sorted(merged.values(), key=lambda item: -item.score)
        return Found(tuple(ordered[:limit]), hits, found)
