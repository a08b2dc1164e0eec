"""Everything that can be judged, under one protocol."""

from toolsearch_eval.rankers.protocol import Ranker
from toolsearch_eval.rankers.resolve import resolve_ranker

__all__ = ["Ranker", "resolve_ranker"]
