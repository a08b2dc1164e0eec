"""Everything that can be judged, under one protocol."""

from toolsearch_eval.rankers.resolve import Ranker, resolve_ranker

__all__ = ["Ranker", "resolve_ranker"]
