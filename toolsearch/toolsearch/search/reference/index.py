"""What the observed ranking knows of a catalog before any weight is applied."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolsearch.catalog.tool import Tool
from toolsearch.config import SearchConfig
from toolsearch.search.analysis.reference import ParsedName, parse_name, terms

FIELDS = ("name", "hint", "description")


@dataclass(frozen=True, slots=True)
class Entry:
    """One deferred tool: its parsed name, the relative term counts of each field, and all its terms."""

    tool: Tool
    name: ParsedName
    frequencies: tuple[dict[str, float], ...]
    terms: frozenset[str]


@dataclass(slots=True)
class ReferenceIndex:
    """The deferred tools in catalog order, with inverse document frequencies.

    Attributes:
        entries: In catalog order, which settles ties.
        all_tools: The whole catalog, for names that are core tools.
        rarity: `ln(N / df)` by term; 0 for a term that every tool has.
    """

    entries: tuple[Entry, ...]
    all_tools: tuple[Tool, ...]
    rarity: dict[str, float] = field(default_factory=dict)
    postings: dict[str, list[int]] = field(default_factory=dict)
    evidence: dict[str, dict[int, tuple[int, bool, bool]]] = field(default_factory=dict)
    vectors: dict[tuple[float, ...], list[dict[str, float]]] = field(default_factory=dict)


def build_reference(deferred: Sequence[Tool], all_tools: Sequence[Tool]) -> ReferenceIndex:
    """Read a catalog; the order of the tools is kept."""
    entries = tuple(_entry(tool) for tool in deferred)
    index = ReferenceIndex(entries, tuple(all_tools), inverse_frequencies([entry.terms for entry in entries]))
    for place, entry in enumerate(entries):
        for term in entry.terms:
            index.postings.setdefault(term, []).append(place)
    return index


def _entry(tool: Tool) -> Entry:
    name = parse_name(tool.name)
    texts = (" ".join(name.parts), tool.search_hint or "", tool.description or "")
    found = [terms(text) for text in texts]
    return Entry(
        tool,
        name,
        tuple(relative_counts(words) for words in found),
        frozenset(word for words in found for word in words),
    )


def relative_counts(words: Sequence[str]) -> dict[str, float]:
    """Each term's count divided by the largest count; empty for no terms."""
    counts = Counter(words)
    largest = max(1, max(counts.values(), default=0))
    return {word: count / largest for word, count in counts.items()}


def weighted_frequencies(fields: Sequence[tuple[Mapping[str, float], float]]) -> dict[str, float]:
    """Relative count × field weight; a term in several fields keeps the largest, not the sum."""
    found: dict[str, float] = {}
    for frequencies, weight in fields:
        for term, frequency in frequencies.items():
            value = frequency * weight
            if value > found.get(term, -1.0):
                found[term] = value
    return found


def inverse_frequencies(documents: Sequence[frozenset[str] | set[str]]) -> dict[str, float]:
    """`ln(N / df)` by term; empty for no documents."""
    counts = Counter(term for document in documents for term in sorted(document))
    return {term: math.log(len(documents) / count) for term, count in counts.items()}


def cosine(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """The cosine of two sparse vectors; 0 where either is all zero."""
    product = sum(value * second[term] for term, value in first.items() if term in second)
    norms = math.sqrt(sum(v * v for v in first.values())) * math.sqrt(sum(v * v for v in second.values()))
    return product / norms if norms else 0.0


def document_vectors(index: ReferenceIndex, config: SearchConfig) -> list[dict[str, float]]:
    """The weighted TF-IDF vector of every tool under a configuration, kept for the weights used last."""
    weights = (config.field_weights.name, config.field_weights.hint, config.field_weights.description)
    known = index.vectors.get(weights)
    if known is None:
        known = [
            {
                term: value * index.rarity[term]
                for term, value in weighted_frequencies(list(zip(entry.frequencies, weights, strict=True))).items()
            }
            for entry in index.entries
        ]
        index.vectors.clear()
        index.vectors[weights] = known
    return known


def keyword_evidence(index: ReferenceIndex, word: str) -> dict[int, tuple[int, bool, bool]]:
    """Where a query word stands, by tool: 2 equals a name part, 1 inside one, 0 neither; in hint; in description."""
    known = index.evidence.get(word)
    if known is not None:
        return known
    pattern = re.compile(rf"\b{re.escape(word)}\b", re.ASCII)
    found: dict[int, tuple[int, bool, bool]] = {}
    for place, entry in enumerate(index.entries):
        parts = entry.name.parts
        in_name = 2 if word in parts else 1 if any(word in part for part in parts) else 0
        hint, description = (entry.tool.search_hint or "").lower(), (entry.tool.description or "").lower()
        in_hint = word in hint and bool(pattern.search(hint))
        in_description = word in description and bool(pattern.search(description))
        if in_name or in_hint or in_description:
            found[place] = (in_name, in_hint, in_description)
    index.evidence[word] = found
    return found
