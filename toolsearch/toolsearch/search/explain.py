"""Why a tool has its score, arm by arm, field by field, term by term; and why another was not found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from toolsearch.config import FIELDS, SearchConfig
from toolsearch.search.alternatives import related_term
from toolsearch.search.arms import PostingValues, entry_frequencies, normalised_points
from toolsearch.search.evidence import Evidence
from toolsearch.search.fusion import SCORE_DIGITS, Floats, Integers, Scores, entry_shares
from toolsearch.search.guarantees import tools_with_word
from toolsearch.search.lexicon.relations import RELATED, SOURCES
from toolsearch.search.query import Query
from toolsearch.search.results import Explanation, Part
from toolsearch.search.semantic.nearness import semantic_scores

if TYPE_CHECKING:
    from toolsearch.search.index import Index
    from toolsearch.search.ranked import Ranked


_LEFT_OVER = 1e-12


def parts_of(
    index: Index,
    evidence: Evidence,
    values: PostingValues,
    config: SearchConfig,
    scores: Scores,
    query_number: int,
    tools: Integers | Sequence[int],
    totals: Floats | Sequence[float],
) -> list[tuple[Part, ...]]:
    """The parts of the scores of some tools for one query of the evidence, in the order of `tools`.

    The parts of a tool add up to its total exactly: what rounding moved is put on the largest part.
    """
    keyword, tfidf = entry_shares(evidence, config, values)
    entry_slot, postings = evidence.entry_slots(), evidence.postings()
    entry_run = np.repeat(np.arange(len(evidence.run_size)), evidence.run_size)
    points = normalised_points(config)
    semantic = semantic_scores(evidence, config)
    answers = []
    for tool, total in zip(tools, totals, strict=True):
        parts: list[Part] = []
        pair = _pair(evidence, query_number, int(tool))
        for entry in np.flatnonzero(evidence.entry_pair == pair).tolist():
            posting = int(postings[entry])
            term = _called(index, evidence, int(entry_slot[entry]), int(entry_run[entry]), posting)
            fields, shares = _field_shares(index, config, posting)
            if keyword[entry] > 0:
                strongest = max(fields, key=lambda field: (points[field], -field))
                parts.append(Part(arm="keyword", field=FIELDS[strongest], term=term, value=float(keyword[entry])))
            parts += [
                Part(arm="tfidf", field=FIELDS[field], term=term, value=float(tfidf[entry]) * share)
                for field, share in zip(fields, shares, strict=True)
                if tfidf[entry] > 0 and share > 0
            ]
        if evidence.nearness is not None and pair >= 0 and semantic[pair] > 0:
            cosine = evidence.nearness.cosine[pair]
            parts.append(Part(arm="semantic", field="", term=f"cosine {cosine:.3f}", value=float(semantic[pair])))
        parts += _by_leader(index, evidence, scores, pair)
        answers.append(exact_parts(parts, float(total)))
    return answers


def _pair(evidence: Evidence, query_number: int, tool: int) -> int:
    """The pair's number; -1 for a tool that is listed by its name alone and shares no term."""
    first, end = np.searchsorted(evidence.pair_query, [query_number, query_number + 1])
    place = int(first) + int(np.searchsorted(evidence.pair_tool[first:end], tool))
    return place if place < end and int(evidence.pair_tool[place]) == tool else -1


def _by_leader(index: Index, evidence: Evidence, scores: Scores, pair: int) -> list[Part]:
    """What a tool gains by the best tool of its server, by arm."""
    led = scores.led.leader(pair) if scores.led is not None and pair >= 0 else None
    if led is None:
        return []
    leader, part = led
    term = f"{index.tools[int(evidence.pair_tool[leader])].name} (the server's best)"
    given = {"keyword": scores.keyword, "tfidf": scores.tfidf, "semantic": scores.semantic}
    return [
        Part(arm=arm, field="server", term=term, value=part * float(values[leader]))
        for arm, values in given.items()
        if part * values[leader] > 0
    ]


def arms_of(evidence: Evidence, scores: Scores, query_number: int, tool: int, total: float) -> dict[str, float]:
    """A tool's score for one query of the evidence by arm; they add up to it exactly."""
    pair = _pair(evidence, query_number, tool)
    keyword, _, semantic = scores.arms(pair) if pair >= 0 else (0.0, 0.0, 0.0)
    return exact_arms(total, keyword) if evidence.nearness is None else exact_three(total, keyword, semantic)


def _called(index: Index, evidence: Evidence, slot: int, run: int, posting: int) -> str:
    """The slot's term, or for an expansion what stands in the catalog, for which word, and how it came there."""
    kind, asked = int(evidence.run_kind[run]), evidence.slots[slot]
    if kind == RELATED:
        return f"{related_term(index, asked.term, posting)} ← {asked.surface} ({SOURCES[kind]})"
    text = evidence.run_text[run]
    return f"{text} ← {asked.called} ({SOURCES[kind]})" if text else asked.term


def exact_parts(parts: Sequence[Part], total: float) -> tuple[Part, ...]:
    """The parts, largest first, one of them changed by what rounding moved so that `math.fsum` of all is `total`.

    That is the largest part, or where its last bit is too coarse the next one. A total of 0 has no parts.
    """
    if total == 0.0:
        return ()
    ordered = sorted(parts, key=lambda part: (-part.value, part.arm, part.field, part.term))
    values = [part.value for part in ordered]
    gap = math.fsum([total, *(-value for value in values)])
    for place, part in enumerate(ordered):
        changed = [*values[:place], part.value + gap, *values[place + 1 :]]
        if math.fsum(changed) == total:
            ordered[place] = replace(part, value=part.value + gap)
            break
    return tuple(ordered)


def exact_arms(total: float, keyword: float) -> dict[str, float]:
    """A rounded score by arm; both add up to it exactly, and what only rounding moved is no arm's share.

    >>> exact_arms(0.75, 0.25), exact_arms(0.123456789, 0.12345678949)
    ({'keyword': 0.25, 'tfidf': 0.5}, {'keyword': 0.123456789, 'tfidf': 0.0})
    """
    rounding = 10.0**-SCORE_DIGITS
    if keyword < rounding:
        return {"keyword": 0.0, "tfidf": total}
    rest = total - keyword
    if rest < rounding:
        return {"keyword": total, "tfidf": 0.0}
    short, short_rest = round(keyword, SCORE_DIGITS), round(rest, SCORE_DIGITS)
    if short + short_rest == total:
        return {"keyword": short, "tfidf": short_rest}
    # The difference of two numbers that are at most a factor of 2 apart is exact, so the smaller arm is the difference.
    return {"keyword": total - rest, "tfidf": rest}


def exact_three(total: float, keyword: float, semantic: float) -> dict[str, float]:
    """As `exact_arms` with the semantic arm; `math.fsum` of the three is the total.

    >>> exact_three(0.75, 0.25, 0.125), exact_three(0.25, 0.0, 0.25)
    ({'keyword': 0.25, 'tfidf': 0.375, 'semantic': 0.125}, {'keyword': 0.0, 'tfidf': 0.0, 'semantic': 0.25})
    """
    shares = {"keyword": keyword, "tfidf": total - keyword - semantic, "semantic": semantic}
    # Below this it is what floating point left over, and no arm's share.
    parts = [Part(arm=arm, field="", term="", value=value) for arm, value in shares.items() if value > _LEFT_OVER]
    parts = parts or [Part(arm="tfidf", field="", term="", value=total)]  # a total that is nothing but rounding
    exact = {part.arm: part.value for part in exact_parts(parts, total)}
    return {arm: exact.get(arm, 0.0) for arm in shares}


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
    scores: Scores,
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
        scores: Of the evidence's pairs.
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
    [parts] = parts_of(index, evidence, values, config, scores, 0, [number], ranked.scores[places])
    rank, found = place + 1, place < max_results
    named = ranked.reasons.get(number)
    by = f": the query names it ({named.reason})" if named else " by its score"
    why = f"{tool} has rank {rank} of {ranked.total}{by}" + (
        "." if found else f", which is below the cut after {max_results}."
    )
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
