"""What hurts the search in a catalog, each with the gain to expect of mending it: ranks and tokens, measured.

Every tool is asked for in its own words, the first sentence of its description. What a finding says to mend is done in
a copy of the catalog (invisible characters removed; the words of the name put before the description), and the same
words are asked again there; the ranks before and after are those of the two searches.
"""

from __future__ import annotations

import dataclasses
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolsearch.catalog.names import shown
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.search.searcher import Searcher
from toolsearch.tokens import ESTIMATE

LOOKED_AT = 5
"""As many results as a model is shown unless it asks for more; a tool further down is not found."""

COSTLY = 1000
"""Tokens of one tool's definition above which it is told; of the tools of public servers only a few are above."""

OWN_WORDS = 25
"""Words of a description that are asked for."""

_INVISIBLE = ("Cc", "Cf", "Co")
_INSTRUCTION = re.compile(
    r"ignore (?:all |any )?(?:the )?(?:previous|prior|above|other) (?:instructions?|prompts?|rules)"
    r"|do not (?:tell|inform|mention (?:this|it) to) the user|without telling the user"
    r"|</?(?:system|important|secret|instructions?)[\s>]|<!--"
    r"|before (?:using|calling) any other tool",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\dA-Za-z_]+")


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
    found = [finding for tool in deferred for finding in _of_tool(tool, mended[tool.name], before, after)]
    return sorted(found, key=lambda finding: (finding.tool, finding.part))


def own_queries(tool: Tool) -> tuple[str, ...]:
    """The words by which a tool would be asked for if its owner's words were the user's; none without a description.

    Its name is not among them: a whole name is answered by a guarantee, whatever the ranking does.

    >>> own_queries(Tool(name="sendMail_v2", description="Send a mail. It takes a while."))
    ('Send a mail',)
    """
    first = re.split(r"[.!?。！？\n](?:\s|$)", _visible(tool.description or "").strip(), maxsplit=1)[0]
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


def _visible(text: str) -> str:
    return "".join(sign for sign in text if sign in "\n\t\u200c\u200d" or unicodedata.category(sign) not in _INVISIBLE)


def _mended(tool: Tool, rank: int | None) -> Tool:
    """The tool as a program can mend it; itself when there is nothing to mend."""
    text = _visible(tool.description or "")
    if own_queries(tool) and (rank is None or rank > LOOKED_AT):
        words = " ".join(_WORD.findall(tool.leaf))
        text = f"{words}. {text}".strip()
    return tool if text == (tool.description or "") else dataclasses.replace(tool, description=text)


def _of_tool(tool: Tool, mended: Tool, before: dict[str, int | None], after: dict[str, int | None]) -> list[Finding]:
    name, found = tool.name, []
    description = tool.description or ""
    rank, later = before[name], after[name]
    hidden = len(description) - len(_visible(description))
    moved = f"in its own words: {_rank_words(rank)} now, {_rank_words(later)} with the mended text"
    if hidden:
        message = f"holds {hidden} invisible or control characters; remove them"
        found.append(Finding(name, "description", message, moved, rank, later))
    match = _INSTRUCTION.search(_visible(description)) or _INSTRUCTION.search(_visible(_schema_text(tool)))
    if match:
        # The figure here is no rank: a model that is steered costs more than any place in a list.
        message = f"reads like an instruction to the model ({shown(match[0])}); read it before you load the tool"
        found.append(Finding(name, "instructions", message, "no text of this tool steers the model", rank))
    if (rank is None or rank > LOOKED_AT) and own_queries(tool):
        message = "is not among the first five for its own first sentence; say there what sets it apart"
        found.append(Finding(name, "findability", message, moved, rank, later))
    whole = ESTIMATE.count(description) + ESTIMATE.count(_schema_text(tool))
    if whole > COSTLY:
        message = f"costs about {whole} tokens each time it is shown; shorten description and schema to {COSTLY}"
        gain = f"about {whole - COSTLY} tokens each time"
        found.append(Finding(name, "size", message, gain, rank, rank, whole - COSTLY))
    if not description.strip():
        found.append(Finding(name, "description", "is missing; say what the tool does", "it has words to be found by"))
    return found


def _rank_words(rank: int | None) -> str:
    return "not found" if rank is None else f"rank {rank}"


def _schema_text(tool: Tool) -> str:
    try:
        return json.dumps(tool.input_schema or {}, ensure_ascii=False, default=dict)
    except (TypeError, ValueError, RecursionError):
        return ""
