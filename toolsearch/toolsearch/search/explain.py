"""Why a tool has its score, arm by arm, field by field, term by term; and why another was not found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from toolsearch.config import FIELDS, SearchConfig
from toolsearch.search.arms import PostingValues, entry_frequencies, normalised_points
from toolsearch.search.evidence import Evidence
from toolsearch.search.fusion import SCORE_DIGITS, Integers, entry_shares
from toolsearch.search.guarantees import tools_with_word
from toolsearch.search.query import Query
from toolsearch.search.results import Explanation, Part

if TYPE_CHECKING:
    from toolsearch.search.index import Index
    from toolsearch.search.searcher import Ranked


def parts_of(
    index: Index,
    evidence: Evidence,
    values: PostingValues,
    config: SearchConfig,
    query_number: int,
    tools: Integers | Sequence[int],
) -> list[tuple[Part, ...]]:
    """The parts of the scores of some tools for one query of the evidence, in the order of `tools`.

    The parts of a tool add up to its score exactly: what rounding moved is put on the largest part.
    """
    keyword, tfidf = entry_shares(evidence, config, values)
    entry_tool = evidence.pair_tool[evidence.entry_pair]
    of_query = evidence.pair_query[evidence.entry_pair] == query_number
    points = normalised_points(config)
    answers = []
    for tool in tools:
        parts: list[Part] = []
        for entry in np.flatnonzero(of_query & (entry_tool == tool)).tolist():
            term = evidence.slots[int(evidence.entry_slot[entry])].term
            fields, shares = _field_shares(index, config, int(evidence.posting[entry]))
            if keyword[entry] > 0:
                strongest = max(fields, key=lambda field: (points[field], -field))
                parts.append(Part(arm="keyword", field=FIELDS[strongest], term=term, value=float(keyword[entry])))
            parts += [
                Part(arm="tfidf", field=FIELDS[field], term=term, value=float(tfidf[entry]) * share)
                for field, share in zip(fields, shares, strict=True)
                if tfidf[entry] > 0 and share > 0
            ]
        answers.append(exact_parts(parts, round(math.fsum(part.value for part in parts), SCORE_DIGITS)))
    return answers


def exact_parts(parts: Sequence[Part], total: float) -> tuple[Part, ...]:
    """The parts, largest first, the largest one changed by the last bits so that `math.fsum` of all is `total`."""
    ordered = sorted(parts, key=lambda part: (-part.value, part.arm, part.field, part.term))
    if not ordered:
        return ()
    first = ordered[0]
    for _ in range(4):
        rest = math.fsum(part.value for part in ordered[1:])
        gap = total - math.fsum([ordered[0].value, rest])
        if gap == 0.0:
            break
        ordered[0] = Part(arm=first.arm, field=first.field, term=first.term, value=math.fsum([ordered[0].value, gap]))
    return tuple(ordered)


def _field_shares(index: Index, config: SearchConfig, posting: int) -> tuple[list[int], list[float]]:
    starts = index.postings_start
    end = int(starts[posting + 1]) if posting + 1 < len(starts) else len(index.keys)
    entries = np.arange(int(starts[posting]), end)
    frequencies = entry_frequencies(index, config, entries)
    total = float(frequencies.sum())
    fields = [int(field) for field in index.entry_field[entries]]
    return fields, [float(value) / total if total > 0 else 0.0 for value in frequencies]


def not_searched(query: str, tool: str, why: str) -> Explanation:
    """The answer for a tool that a search can't give at all."""
    return Explanation(
        query=query, tool=tool, found=False, rank=None, score=0.0, why=f"{tool} was not searched: {why}."
    )


def explanation(
    index: Index,
    query: Query,
    evidence: Evidence,
    values: PostingValues,
    config: SearchConfig,
    ranked: Ranked,
    tool: str,
    max_results: int,
) -> Explanation:
    """The answer for a searchable tool.

    Args:
        index: The catalog.
        query: The query.
        evidence: What the query meets.
        values: Worth of the evidence's postings.
        config: The profile.
        ranked: The query's whole order, not cut.
        tool: The tool's id.
        max_results: Where a search would have cut.
    """
    number = index.numbers[tool]
    places = np.flatnonzero(ranked.tools == number)
    if not len(places):
        return Explanation(
            query=query.text,
            tool=tool,
            found=False,
            rank=None,
            score=0.0,
            why=_why_not(index, query, tool, number),
        )
    place = int(places[0])
    [parts] = parts_of(index, evidence, values, config, 0, [number])
    rank, found = place + 1, place < max_results
    named = ranked.reasons.get(number)
    if named:
        why = f"{tool} has rank {rank}: the query names it ({named.reason})."
    elif found:
        why = f"{tool} has rank {rank} by its score."
    else:
        why = f"{tool} has rank {rank} of {ranked.total}, below the cut after {max_results}."
    return Explanation(
        query=query.text,
        tool=tool,
        found=found,
        rank=rank,
        score=float(ranked.scores[place]),
        why=why,
        parts=parts,
    )


def _why_not(index: Index, query: Query, tool: str, number: int) -> str:
    lacking = [word.plain for group in query.required for word in group if not tools_with_word(index, word)[number]]
    if lacking:
        return f"{tool} was filtered out: it lacks the required word{'s' * (len(lacking) > 1)} {', '.join(lacking)}."
    if not query.words:
        return f"{tool} was not found: the query holds no searchable word."
    shown = ", ".join(dict.fromkeys(word.plain for word in query.words[:12]))
    return f"{tool} was not found: it shares no term with the query ({shown})."
