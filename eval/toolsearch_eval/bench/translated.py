"""A query in Chinese beside the same words in English, on a catalog in English."""

from __future__ import annotations

from collections.abc import Sequence

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, TRANSLATE
from toolsearch.search.dictionary.source import missing
from toolsearch.search.index import IndexStore
from toolsearch.search.searcher import Searcher
from toolsearch_eval.bench.timing import Case, interleaved_queries

MOST_TIMES = 2.0
"""What a translated query may take of the time of a plain one."""
PLAIN = "the same words in English"

# The words that the synthetic catalogs share with real ones are their verbs; these the built-in lexicon knows.
_WORDS = {
    "create": "创建",
    "update": "更新",
    "delete": "删除",
    "search": "搜索",
    "send": "发送",
    "add": "添加",
    "read": "读取",
    "write": "写入",
    "start": "启动",
    "stop": "停止",
    "check": "检查",
    "move": "移动",
    "copy": "复制",
    "share": "分享",
    "export": "导出",
    "import": "导入",
    "convert": "转换",
    "merge": "合并",
    "open": "打开",
    "close": "关闭",
    "upload": "上传",
    "download": "下载",
}
_WORDS_OF_A_QUERY = 3


def query_pairs(queries: Sequence[str]) -> list[tuple[str, str]]:
    """Each query with three verbs before it: in English, and in Chinese without blanks between them.

    >>> query_pairs(["brail"])
    [('create update delete brail', '创建更新删除 brail')]
    """
    verbs = list(_WORDS)
    pairs = []
    for number, query in enumerate(queries):
        chosen = [verbs[(number + place) % len(verbs)] for place in range(_WORDS_OF_A_QUERY)]
        pairs.append((f"{' '.join(chosen)} {query}", f"{''.join(_WORDS[verb] for verb in chosen)} {query}"))
    return pairs


def translated_cases(
    tools: Sequence[Tool], queries: Sequence[str], rounds: int, *, limit: int = 10
) -> tuple[list[Case], list[str]]:
    """The median translated query beside the median plain one, by the built-in words and with the dictionary.

    Args:
        tools: A synthetic catalog.
        queries: Of that catalog.
        rounds: How often each case runs.
        limit: Results asked for.

    Returns:
        The cases, and what could not be measured and why. The dictionary is read before anything is measured.
    """
    warnings = []
    profiles = {"translated query p50": DEFAULT}
    packages = missing()
    if packages:
        warnings.append(
            f"{' and '.join(packages)} not installed, so no query is translated by the dictionary; "
            "the extra `translate` brings it."
        )
    else:
        profiles["translated query p50, dictionary"] = TRANSLATE
    pairs = query_pairs(queries)
    plain = {foreign: english for english, foreign in pairs}
    cases = []
    for name, profile in profiles.items():
        searcher = Searcher(ToolRegistry(tools), profile, store=IndexStore())
        ours, other = interleaved_queries(
            rounds,
            list(plain),
            lambda query, searcher=searcher: searcher.search(query, max_results=limit),  # type: ignore[misc]
            lambda query, searcher=searcher: searcher.search(plain[query], max_results=limit),  # type: ignore[misc]
        )
        cases.append(Case(case=name, tools=len(tools), ours_ms=ours, other=PLAIN, other_ms=other, target=MOST_TIMES))
    return cases, warnings
