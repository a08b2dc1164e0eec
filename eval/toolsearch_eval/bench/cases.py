"""What is measured, and beside what."""

from __future__ import annotations

import statistics
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT
from toolsearch.search.index import Index, IndexStore, build
from toolsearch.search.searcher import Searcher
from toolsearch_eval.bench.loop import PlainLoop
from toolsearch_eval.bench.peers import Bm25s, text_of
from toolsearch_eval.bench.synthetic import changed_tools, synthetic_catalog, synthetic_queries
from toolsearch_eval.bench.timing import Case, interleaved, interleaved_queries, milliseconds, startup_cases
from toolsearch_eval.bench.translated import translated_cases
from toolsearch_eval.bench.tuner import tuner_cases

RESULTS = 10
"""Results asked for in every measured search."""
CHANGED = 50
"""Tools that change before a refresh."""
LOOP_LIMIT = 10_000
"""The largest catalog that the plain loop of the reference ranking runs on; beyond it a query takes seconds."""
_QUERIES = 100
_LOOP_QUERIES = 3
_BM25S = "bm25s (numpy, English stems)"
_LOOP = "plain loop of the reference ranking"


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """All measured lines.

    Attributes:
        cases: In the order in which they were measured.
        memory: Megabytes that an index holds, by catalog size.
        warnings: What could not be measured and why.
    """

    cases: tuple[Case, ...]
    memory: dict[int, float]
    warnings: tuple[str, ...] = ()


def run_benchmark(
    sizes: Sequence[int], *, rounds: int = 3, seed: int = 0, progress: Callable[[str], None] = lambda _: None
) -> Benchmark:
    """Measure everything on synthetic catalogs of the given sizes, and the tuner on the shipped data.

    Args:
        sizes: Tools of each catalog, each >= 1.
        rounds: How often each case runs; its median is reported.
        seed: Of catalogs and queries.
        progress: Is told what begins.
    """
    cases: list[Case] = []
    memory: dict[int, float] = {}
    warnings: list[str] = []
    if find_spec("bm25s") is None:
        warnings.append("bm25s is not installed, so nothing is measured beside it; the extra `peers` brings it.")
    progress("start of a process")
    cases += startup_cases(rounds)
    for size in sizes:
        progress(f"{size:,} tools: making the catalog")
        tools = synthetic_catalog(size, seed=seed)
        queries = synthetic_queries(tools, _QUERIES, seed=seed)
        progress(f"{size:,} tools: build")
        cases += _build_cases(tools, rounds)
        progress(f"{size:,} tools: refresh of {CHANGED}")
        cases += _refresh_cases(tools, rounds)
        progress(f"{size:,} tools: queries")
        cases += _query_cases(tools, queries, rounds)
        progress(f"{size:,} tools: translated queries")
        translated, told = translated_cases(tools, queries, rounds, limit=RESULTS)
        cases += translated
        warnings += [text for text in told if text not in warnings]
        progress(f"{size:,} tools: memory")
        memory[size] = index_megabytes(tools)
    cases += tuner_cases(rounds, seed=seed, progress=progress)
    return Benchmark(cases=tuple(cases), memory=memory, warnings=tuple(warnings))


def index_megabytes(tools: Sequence[Tool]) -> float:
    """Megabytes that the index of a catalog keeps, with its values for the default profile, without the tools."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        index = _compiled(tools)
        kept = tracemalloc.get_traced_memory()[0] - before
        del index
    finally:
        tracemalloc.stop()
    return kept / 1e6


def _compiled(tools: Sequence[Tool], *, previous: Index | None = None) -> Index:
    index = build(tools, f"bench-{len(tools)}", previous=previous)
    index.values(DEFAULT)
    return index


def _build_cases(tools: Sequence[Tool], rounds: int) -> list[Case]:
    target = 1.5
    if find_spec("bm25s") is None:
        [ours] = interleaved(rounds, lambda: _compiled(tools))
        return [Case(case="build", tools=len(tools), ours_ms=ours, other=_BM25S, target=target)]
    texts = [text_of(tool) for tool in tools]
    ours, other = interleaved(rounds, lambda: _compiled(tools), lambda: Bm25s().index_texts(texts))
    return [Case(case="build", tools=len(tools), ours_ms=ours, other=_BM25S, other_ms=other, target=target)]


def _refresh_cases(tools: Sequence[Tool], rounds: int) -> list[Case]:
    """The index alone, and all that a search after a change waits for: snapshot, fingerprint, index, name tables."""
    registry = ToolRegistry(tools)
    searcher = Searcher(registry, store=IndexStore())
    query = "get list of everything"
    searcher.search(query)
    previous = _compiled(registry.snapshot().deferred)
    times: dict[str, list[float]] = {"index": [], "own index": [], "search": [], "own search": []}
    for number in range(rounds):
        registry.replace(changed_tools(tools, CHANGED, seed=number + 1))
        times["search"].append(milliseconds(lambda: searcher.search(query, max_results=RESULTS)))
        changed = registry.snapshot().deferred
        refreshed: list[Index] = []
        times["index"].append(milliseconds(lambda: refreshed.append(_compiled(changed, previous=previous))))  # noqa: B023
        # The next round changes as many tools again, and no more.
        [previous] = refreshed
        times["own index"].append(milliseconds(lambda: _compiled(tools)))
        fresh = Searcher(ToolRegistry(tools), store=IndexStore())
        times["own search"].append(milliseconds(lambda fresh=fresh: fresh.search(query, max_results=RESULTS)))  # type: ignore[misc]
    median = {name: statistics.median(taken) for name, taken in times.items()}
    return [
        Case(
            case=f"refresh of {CHANGED} tools",
            tools=len(tools),
            ours_ms=median["index"],
            other="own build",
            other_ms=median["own index"],
            target=20.0 if len(tools) == LOOP_LIMIT else None,
            at_least=True,
        ),
        Case(
            case=f"search after {CHANGED} changes",
            tools=len(tools),
            ours_ms=median["search"],
            other="own first search",
            other_ms=median["own search"],
        ),
    ]


def _query_cases(tools: Sequence[Tool], queries: Sequence[str], rounds: int) -> list[Case]:
    searcher = Searcher(ToolRegistry(tools), store=IndexStore())
    size = len(tools)

    def ours(query: str) -> object:
        return searcher.search(query, max_results=RESULTS)

    # The target is for 10,000 tools; below that both take a fraction of a millisecond.
    target = 2.0 if size == LOOP_LIMIT else None
    cases = []
    if find_spec("bm25s") is None:
        [time] = interleaved_queries(rounds, queries, ours)
        cases.append(Case(case="query p50", tools=size, ours_ms=time, other=_BM25S, target=target))
    else:
        yardstick = Bm25s()
        yardstick.index_texts([text_of(tool) for tool in tools])
        count = min(RESULTS, size)
        time, other = interleaved_queries(rounds, queries, ours, lambda query: yardstick.search(query, count))
        cases.append(Case(case="query p50", tools=size, ours_ms=time, other=_BM25S, other_ms=other, target=target))
    if size <= LOOP_LIMIT:
        few = queries[:_LOOP_QUERIES]
        loop = PlainLoop(tools, limit=RESULTS).search
        time, other = interleaved_queries(1, few, ours, loop)
        cases.append(
            Case(
                case="query p50, by loop",
                tools=size,
                ours_ms=time,
                other=_LOOP,
                other_ms=other,
                target=50.0 if size == LOOP_LIMIT else None,
                at_least=True,
            )
        )
    return cases
