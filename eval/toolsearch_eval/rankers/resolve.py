"""From a ranker's name to the ranker."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool, tool_id
from toolsearch.config import PROFILES, SearchConfig, load_profile
from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.rankers.bm25f import PlainBM25F
from toolsearch_eval.rankers.peers import PEERS, make_peer

_ARMS = ("keyword", "tfidf")
SHIPPED = (*PROFILES, *(f"{profile}:{arm}" for profile in PROFILES for arm in _ARMS), "bm25f")
"""The rankers that need nothing installed."""
KNOWN = (*SHIPPED, *PEERS)
"""Every ranker with a name; those of `PEERS` need the extra `peers`."""


class Ranker(Protocol):
    """What can be judged.

    One whose order is not by score alone has a further attribute, `keeps_order`, that is true: its order is then left
    as it is. Any other's results are put in order by score, then by name.
    """

    name: str

    def index(self, tools: Sequence[Tool]) -> None:
        """Take the tools that may be found; called once before `rank`."""

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """For each query at most `depth` names with scores, each name once, best first."""


class ProfileRanker:
    """The system itself with one profile."""

    # Tools that a query names stand before those with a higher score, and the reference settles ties its own way.
    keeps_order = True

    def __init__(self, name: str, config: SearchConfig) -> None:
        """Take the ranker's name in reports and the profile."""
        self.name = name
        self._config = config

    def index(self, tools: Sequence[Tool]) -> None:
        """Put the tools into a registry; the search's index is built at the first query."""
        from toolsearch.search.searcher import Searcher

        # The registry gives a server's tool its full id where its own name is reserved; labels know the name given.
        self._given = {tool_id(tool.server, tool.leaf): tool.name for tool in tools if tool.server}
        self._given |= {tool.name: tool.name for tool in tools}
        self._searcher = Searcher(ToolRegistry(tools), self._config)

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """The search's own order, unchanged, under the names that `index` was given."""
        answers = self._searcher.search_batch(queries, max_results=depth)
        return [
            [(self._given.get(result.name, result.name), result.score) for result in each.results] for each in answers
        ]


class FunctionRanker:
    """A user's search function `(tools) -> (query, depth) -> names`."""

    def __init__(self, name: str, factory: Callable[[Sequence[Tool]], object]) -> None:
        """Take the name in reports and the function that takes the tools."""
        self.name = name
        self._factory = factory

    def index(self, tools: Sequence[Tool]) -> None:
        """Call the factory with the tools."""
        search = self._factory(tools)
        if not callable(search):
            raise UsageError(f"ranker {self.name!r} gave {type(search).__name__}; a function (query, depth) is needed.")
        self._search: Callable[[str, int], Iterable[str]] = search

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """The function's order; the score is 1 / rank."""
        return [
            [(str(name), 1 / rank) for rank, name in enumerate(list(self._search(query, depth))[:depth], 1)]
            for query in queries
        ]


def resolve_ranker(spec: str) -> Ranker:
    """A ranker by name, by profile file (`….toml`), as one arm (`default:keyword`) or as `module:factory`.

    Raises:
        UnknownNameError: There is no such ranker.
        UsageError: The module can't be imported or has no such function, or the ranker's library is not installed.
        ConfigError: The profile's file is not valid.
    """
    if spec == "bm25f":
        return PlainBM25F()
    if spec in PEERS:
        return make_peer(spec)
    if spec in PROFILES or spec.endswith(".toml"):
        return ProfileRanker(spec, load_profile(spec))
    head, colon, tail = spec.rpartition(":")
    if tail in _ARMS and (head in PROFILES or head.endswith(".toml")):
        other = {"keyword": "weight_tfidf", "tfidf": "weight_keyword"}[tail]
        return ProfileRanker(spec, load_profile(head).replace(**{other: 0.0}))
    if not colon or head in PROFILES:
        raise UnknownNameError("ranker", spec, KNOWN, "Also: a profile's file.toml, or module:factory.")
    return _from_module(spec, head, tail)


def _from_module(spec: str, module: str, name: str) -> Ranker:
    # An installed command doesn't look into the folder where it is started; one's own ranker usually lies there.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        factory = getattr(importlib.import_module(module), name)
    except Exception as error:  # a user's module may fail in any way while it is imported
        raise UsageError(f"ranker {spec!r} can't be loaded: {type(error).__name__}: {error}") from error
    if isinstance(factory, type):
        ranker: Ranker = factory()
        return ranker
    if not callable(factory):
        raise UsageError(f"ranker {spec!r} is {type(factory).__name__}; a class or function is needed.")
    if not inspect.signature(factory).parameters:
        made: Ranker = factory()
        return made
    return FunctionRanker(spec, factory)
