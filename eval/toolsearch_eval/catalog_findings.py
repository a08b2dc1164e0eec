"""What hurts the search in a catalog, each with the gain to expect of mending it: ranks and tokens, measured.

Every tool is asked for in its own words, the first sentence of its description. What a finding says to mend is done in
a copy of the catalog (invisible characters removed; the words of the name put before the description), and the same
words are asked again there; the ranks before and after are those of the two searches. What no program can mend has the
figure that its mending would move: words to be found by, calls that hit the wrong tool, tokens.
"""

from __future__ import annotations

import dataclasses
import json
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolsearch.catalog.names import shown
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.search.searcher import Searcher
from toolsearch.tokens import ESTIMATE
from toolsearch_eval.catalog_texts import (
    cleaned,
    findable_words,
    instruction_in,
    is_invisible,
    says_nothing,
    schema_texts,
    squeezed,
    visible,
    words_of,
)

LOOKED_AT = 5
"""As many results as a model is shown unless it asks for more; a tool further down is not found."""

COSTLY = 1000
"""Tokens of one tool's definition above which it is told; of the tools of public servers only a few are above."""

OWN_WORDS = 25
"""Words of a description that are asked for."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend.

    Attributes:
        tool: The tool's id.
        part: Which part of it.
        message: What is wrong, and what to do.
        gain: What mending it brings, in figures.
        rank_before: The tool's best rank in its own words; None when it isn't found at all.
        rank_after: The same in the mended catalog; None where there is none or it isn't found.
        tokens_saved: Tokens saved each time the tool is shown.
    """

    tool: str
    part: str
    message: str
    gain: str
    rank_before: int | None = None
    rank_after: int | None = None
    tokens_saved: int = 0


def catalog_findings(tools: Iterable[Tool]) -> list[Finding]:
    """The findings of a catalog, sorted by tool and part; empty when nothing hurts. Quarantined tools are left out.

    Works over the whole catalog with up to two searches for each tool, so a thousand tools take seconds.
    """
    deferred = ToolRegistry(tools).snapshot().deferred
    before = best_ranks(deferred, deferred)
    mended = {tool.name: _mended(tool, before[tool.name]) for tool in deferred}
    changed = any(mended[tool.name] is not tool for tool in deferred)
    after = best_ranks(deferred, list(mended.values())) if changed else before
    found = [finding for tool in deferred for finding in _of_tool(tool, before, after)]
    found += [*_without_words(deferred), *_alike(deferred)]
    return sorted(found, key=lambda finding: (finding.tool, finding.part))


def own_queries(tool: Tool) -> tuple[str, ...]:
    """The words by which a tool would be asked for if its owner's words were the user's; none without a description.

    Its name is not among them: a whole name is answered by a guarantee, whatever the ranking does.

    >>> own_queries(Tool(name="sendMail_v2", description="Send a mail. It takes a while."))
    ('Send a mail',)
    """
    first = re.split(r"[.!?。！？\n](?:\s|$)", visible(tool.description or "").strip(), maxsplit=1)[0]
    query = " ".join(first.split()[:OWN_WORDS])
    return (query,) if query else ()


def best_ranks(asked: Sequence[Tool], catalog: Sequence[Tool]) -> dict[str, int | None]:
    """For each tool its best rank over its own words, in a catalog; None when no query finds it."""
    searcher = Searcher(catalog)
    pairs = [(tool.name, query) for tool in asked for query in own_queries(tool)]
    ranks: dict[str, int | None] = {tool.name: None for tool in asked}
    if not pairs:
        return ranks
    for (name, _), response in zip(
        pairs, searcher.search_batch([query for _, query in pairs], max_results=50), strict=True
    ):
        rank = next((result.rank for result in response.results if result.name == name), None)
        known = ranks[name]
        if rank is not None and (known is None or rank < known):
            ranks[name] = rank
    return ranks


def _mended(tool: Tool, rank: int | None) -> Tool:
    """The tool as a program can mend it; itself when there is nothing to mend."""
    clean = cleaned(tool)
    if own_queries(tool) and (rank is None or rank > LOOKED_AT):
        words = " ".join(words_of(tool.leaf))
        return dataclasses.replace(clean, description=f"{words}. {clean.description or ''}".strip())
    return clean


def _of_tool(tool: Tool, before: Mapping[str, int | None], after: Mapping[str, int | None]) -> list[Finding]:
    name, found = tool.name, []
    rank, later = before[name], after[name]
    moved = f"in its own words: {_rank_words(rank)} now, {_rank_words(later)} with the mended text"
    parts = {
        "description": [tool.description or ""],
        "search_hint": [tool.search_hint or ""],
        "input_schema": list(schema_texts(tool.input_schema)),
    }
    for part, texts in parts.items():
        hidden = sum(is_invisible(sign) for text in texts for sign in text)
        if hidden:
            message = f"holds {hidden} invisible or control characters; remove them"
            found.append(Finding(name, part, message, moved, rank, later))
    steering = [(text, words) for texts in parts.values() for text in texts if (words := instruction_in(text))]
    if steering:
        # The figure here is no rank: a model that is steered costs more than any place in a list.
        tokens = sum(ESTIMATE.count(text) for text, _ in steering)
        message = f"reads like an instruction to the model ({shown(steering[0][1])}); read it before you load the tool"
        gain = f"{tokens} tokens that steer are not put before the model"
        found.append(Finding(name, "instructions", message, gain, rank, rank))
    if (rank is None or rank > LOOKED_AT) and own_queries(tool):
        message = "is not among the first five for its own first sentence; say there what sets it apart"
        found.append(Finding(name, "findability", message, moved, rank, later))
    whole = ESTIMATE.count(tool.description or "") + ESTIMATE.count(_schema_text(tool))
    if whole > COSTLY:
        message = f"costs about {whole} tokens each time it is shown; shorten description and schema to {COSTLY}"
        gain = f"about {whole - COSTLY} tokens each time"
        found.append(Finding(name, "size", message, gain, rank, rank, whole - COSTLY))
    return found


def _without_words(tools: Sequence[Tool]) -> list[Finding]:
    """Descriptions that are missing, or say nothing that the name does not say."""
    bare = {tool.name: says_nothing(tool) for tool in tools if says_nothing(tool) or not _has_description(tool)}
    usual = [findable_words(tool) for tool in tools if tool.name not in bare]
    found = []
    for tool in tools:
        if tool.name in bare:
            what = "says nothing that the name does not" if bare[tool.name] else "is missing"
            gain = f"found by {findable_words(tool)} different words now"
            if usual:
                gain += f", a described tool of this catalog by {statistics.median(usual):.0f}"
            found.append(Finding(tool.name, "description", f"{what}; say what the tool does and to what", gain))
    return found


def _has_description(tool: Tool) -> bool:
    return bool(visible(tool.description or "").strip())


def _alike(tools: Sequence[Tool]) -> list[Finding]:
    """Tools of one server whose names differ only in case, separators or letters that look alike."""
    groups: dict[tuple[str | None, str], list[Tool]] = defaultdict(list)
    for tool in tools:
        groups[tool.server, squeezed(tool.leaf)].append(tool)
    found = []
    for (_, key), group in groups.items():
        if key and len(group) > 1:
            for tool in group:
                others = ", ".join(sorted(shown(each.name) for each in group if each is not tool)[:3])
                message = f"can't be told apart from {others}; rename it by what sets it apart"
                gain = (
                    f"a name that is remembered hits 1 of {len(group)} tools by chance now, then the one that was meant"
                )
                found.append(Finding(tool.name, "name", message, gain))
    return found


def _rank_words(rank: int | None) -> str:
    return "not found" if rank is None else f"rank {rank}"


def _schema_text(tool: Tool) -> str:
    try:
        return json.dumps(tool.input_schema or {}, ensure_ascii=False, default=dict)
    except (TypeError, ValueError, RecursionError):
        return ""
