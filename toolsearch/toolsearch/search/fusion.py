"""From evidence to a ranking: the arms are added up here, and ranking order is decided here, once.

A single query is a batch of one; a tuner is the same call with many queries and other weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolsearch.config import SearchConfig
from toolsearch.search.arms import PostingValues, inverse_document_frequency
from toolsearch.search.evidence import Evidence
from toolsearch.search.lexicon.relations import FIRST_EXPANSION, factors
from toolsearch.search.semantic.nearness import arm_share, found_near, semantic_scores
from toolsearch.search.servers import Led, led_by_best
from toolsearch.search.slots import STOP

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_BLOCK = 16
SCORE_DIGITS = 9
"""Scores are rounded to 1e-9 before they are compared, so that the last bits of a sum never decide a rank."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores by pair (query, tool) in the order of the evidence's pairs.

    Attributes:
        keyword: The keyword arm's share of what the pair has by itself, weight included.
        tfidf: The TF-IDF arm's, weight included.
        semantic: The semantic arm's, weight included; all 0 where it takes no part.
        total: The score, rounded; 0..1: the sum of the three, and what the pair gains by another one.
        led: Which pairs gain by another one, see `servers`; None where none can.
    """

    keyword: Floats
    tfidf: Floats
    semantic: Floats
    total: Floats
    led: Led | None = None

    def arms(self, pair: int) -> tuple[float, float, float]:
        """What keyword, TF-IDF and semantic arm give to a pair, with what they gave to the one it gains by."""
        own = (float(self.keyword[pair]), float(self.tfidf[pair]), float(self.semantic[pair]))
        led = None if self.led is None else self.led.leader(pair)
        if led is None:
            return own
        leader, part = led
        return (
            own[0] + part * float(self.keyword[leader]),
            own[1] + part * float(self.tfidf[leader]),
            own[2] + part * float(self.semantic[leader]),
        )


def _base_and_rarity(evidence: Evidence, config: SearchConfig) -> tuple[Floats, Floats]:
    kinds = np.array(
        [
            1.0,
            config.character_weight,
            config.stop_word_weight,
            config.filler_weight,
            config.number_weight,
        ]
    )
    rarity = inverse_document_frequency(frequencies(evidence, config), evidence.size)
    return evidence.slot_count * kinds[evidence.slot_kind], rarity


def frequencies(evidence: Evidence, config: SearchConfig) -> Floats:
    """How common each slot is, in tools, 0..N: its own term, and its expansions by what they count.

    A term of a script without blanks is as common as among the tools that are written in such. A term that expansions
    make less rare counts less. A term that no tool has is as common as the most common of its expansions, so that a
    rare gloss does not make it more than the word is worth.
    """
    own = evidence.slot_frequency * evidence.slot_crowding
    expands = np.where(evidence.run_kind >= FIRST_EXPANSION, evidence.run_size, 0)
    if not expands.any():
        return np.minimum(own, evidence.size)
    slots = len(evidence.slot_frequency)
    weighted = np.bincount(
        evidence.run_slot, weights=expands * (factors(config)[evidence.run_kind] * evidence.run_worth), minlength=slots
    )
    most = np.zeros(slots)
    np.maximum.at(most, evidence.run_slot, expands)
    common: Floats = np.where(own > 0, own + config.expansion_frequency * weighted, most)
    return np.minimum(common, evidence.size)


def information(evidence: Evidence, config: SearchConfig) -> Floats:
    """How much each query asks for, counted in words that no tool has: the rarest words count 1, common ones less."""
    base, rarity = _base_and_rarity(evidence, config)
    rarest = float(inverse_document_frequency(np.zeros(1), evidence.size)[0])
    asked: Floats = np.bincount(evidence.slot_query, weights=base * rarity, minlength=evidence.queries) / rarest
    return asked


def confidence(best_score: float, asked: float) -> float:
    """How sure it is that the best tool answers the query, 0..1.

    Either the tool covers the query (its score, the share of what is asked that it has), or what it has is much in
    itself, as for a long request that mentions a tool's business beside many names and politenesses: of `e` rare words'
    worth, `e / (e + 1)`. The larger one counts.

    >>> confidence(0.6, 2.0), confidence(0.1, 20.0) == 2 / 3
    (0.6, True)
    """
    found = best_score * asked
    return max(best_score, found / (found + 1.0))


def slot_shares(evidence: Evidence, config: SearchConfig) -> tuple[Floats, Floats]:
    """What each slot may give at most, by arm, weights included; over a query's slots both add up to 1 together."""
    base, rarity = _base_and_rarity(evidence, config)
    # Divided by the larger one first: the sum of two very large weights is no finite number.
    larger = max(config.weight_keyword, config.weight_tfidf)
    keyword, tfidf = config.weight_keyword / larger, config.weight_tfidf / larger
    return (
        _shared(base * rarity**config.keyword_idf_power, evidence) * (keyword / (keyword + tfidf)),
        _shared(base * rarity, evidence) * (tfidf / (keyword + tfidf)),
    )


def _shared(slot_weight: Floats, evidence: Evidence) -> Floats:
    sums = np.bincount(evidence.slot_query, weights=slot_weight, minlength=evidence.queries)
    sums[sums == 0] = 1.0
    shared: Floats = slot_weight / sums[evidence.slot_query]
    return shared


def entry_shares(evidence: Evidence, config: SearchConfig, values: PostingValues) -> tuple[Floats, Floats]:
    """What each entry gives to its pair, by arm; of several alternatives of a slot only the best gives anything.

    Args:
        evidence: What the queries meet.
        config: The weights.
        values: Worth of the evidence's postings, in the order of `evidence.postings()`.
    """
    factor = factors(config)[evidence.run_kind]
    keyword, tfidf = (
        _best_only(_given(shares[evidence.run_slot] * factor, worth, evidence), evidence)
        for shares, worth in zip(slot_shares(evidence, config), (values.keyword, values.tfidf), strict=True)
    )
    if evidence.nearness is not None:
        left = 1.0 - arm_share(evidence, config)[evidence.entry_pair]
        return keyword * left, tfidf * left
    return keyword, tfidf


def _given(by_run: Floats, worth: Floats, evidence: Evidence) -> Floats:
    given: Floats = np.repeat(by_run, evidence.run_size) * worth
    if evidence.entry_worth is not None:
        given *= evidence.entry_worth
    return given


def _best_only(given: Floats, evidence: Evidence) -> Floats:
    """Set what is not the best alternative to 0, in place."""
    order, starts = evidence.alternatives_order, evidence.alternatives_start
    if order is None or starts is None or not len(order):
        return given
    competing = given[order]
    sizes = np.diff(np.append(starts, len(order)))
    is_best = competing == np.repeat(np.maximum.reduceat(competing, starts), sizes)
    # Of equal alternatives the first counts: the running number of bests within the group has to be 1.
    running = np.cumsum(is_best)
    before = np.repeat(running[starts] - is_best[starts], sizes)
    given[order] = np.where(is_best & (running - before == 1), competing, 0.0)
    return given


def score(evidence: Evidence, config: SearchConfig, values: PostingValues) -> Scores:
    """Scores of all pairs; the arguments as in `entry_shares`."""
    keyword, tfidf = entry_shares(evidence, config, values)
    pairs = len(evidence.pair_tool)
    # Without any entry, bincount counts in whole numbers.
    keyword_sums = np.bincount(evidence.entry_pair, weights=keyword, minlength=pairs).astype(np.float64, copy=False)
    tfidf_sums = np.bincount(evidence.entry_pair, weights=tfidf, minlength=pairs).astype(np.float64, copy=False)
    semantic = semantic_scores(evidence, config)
    total = keyword_sums + tfidf_sums
    if evidence.nearness is not None:
        total += semantic
    total = np.round(total, SCORE_DIGITS)
    if config.server_share == 0.0 or not pairs:
        return Scores(keyword_sums, tfidf_sums, semantic, total)
    led = led_by_best(evidence.servers, total, config.server_share)
    return Scores(keyword_sums, tfidf_sums, semantic, np.round(led.total, SCORE_DIGITS), led)


def listed(evidence: Evidence, config: SearchConfig) -> NDArray[np.bool_]:
    """Which pairs a search may list: those that share a term, and those that the semantic arm finds."""
    hit = matched(evidence)
    return hit if evidence.nearness is None else hit | found_near(evidence, config)


def matched(evidence: Evidence) -> NDArray[np.bool_]:
    """Which pairs share a term: a non-stop one, or for a query of stop words alone any."""
    pairs = len(evidence.pair_tool)
    hit = np.zeros(pairs, dtype=bool)
    meaning = evidence.slot_kind != STOP
    if meaning.all():
        hit[evidence.entry_pair] = True
        return hit
    has_meaning = np.zeros(evidence.queries, dtype=bool)
    has_meaning[evidence.slot_query[meaning]] = True
    counts = meaning | ~has_meaning[evidence.slot_query]
    hit[evidence.entry_pair[np.repeat(counts[evidence.run_slot], evidence.run_size)]] = True
    return hit


def best(scores: Floats, limit: int) -> Integers:
    """The ranking order: score descending, then tool number, which is the order of names.

    Args:
        scores: Rounded scores of the candidates, in the order of their tool numbers.
        limit: How many are wanted, at least 0.

    Returns:
        Places in `scores`, best first.
    """
    if limit <= 0 or not len(scores):
        return np.empty(0, dtype=np.int64)
    blocks = len(scores) // _BLOCK
    if blocks > limit:
        # The best of each block: the one at the limit's place among them is no better than the one among all scores.
        highest = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
        bound = np.partition(highest, blocks - limit)[blocks - limit]
        inside = np.flatnonzero(scores >= bound)
    else:
        inside = np.arange(len(scores))
    order = inside[np.argsort(-scores[inside], kind="stable")]
    return order[:limit]
