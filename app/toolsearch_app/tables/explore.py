"""What a query found, as tables: two rankings, what their scores are made of, and one tool on both sides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import pandas

from toolsearch.search.results import Explanation, Part, Result, SearchResponse
from toolsearch_app.tables.words import ARMS, FIELDS, REASONS
from toolsearch_app.text import line

By = Literal["field", "arm", "word"]
MOST_WORDS: Final = 5
"""Words that are told apart; the others stand together, so that each keeps a colour of its own."""
OTHER_WORDS: Final = "other words"


def ranking_table(
    response: SearchResponse, tokens: Mapping[str, int], grades: Mapping[str, int] | None = None
) -> pandas.DataFrame:
    """A row for each result, best first.

    Args:
        response: What was found, with the parts of the scores.
        tokens: By tool, what its definition costs a model.
        grades: The query's labels where it is a labelled one.

    Returns:
        `rank`, `tool`, `score`, a column for each arm, `tokens`, with labels `grade`, and `why here` where it is not
        by its score.
    """
    arms = list(dict.fromkeys(arm for result in response.results for arm in result.arms))
    rows = []
    for result in response.results:
        row: dict[str, object] = {"rank": result.rank, "tool": line(result.name), "score": result.score}
        row |= {ARMS.get(arm, arm): result.arms.get(arm, 0.0) for arm in arms}
        row["tokens"] = tokens[result.name]
        if grades is not None:
            row["grade"] = str(grades[result.name]) if result.name in grades else "unlabelled"
        row["why here"] = REASONS[result.reason]
        rows.append(row)
    graded = ["grade"] if grades is not None else []
    columns = ["rank", "tool", "score", *(ARMS.get(arm, arm) for arm in arms), "tokens", *graded, "why here"]
    table = pandas.DataFrame(rows, columns=columns)
    return table if table["why here"].any() else table.drop(columns="why here")


def part_names(response: SearchResponse, by: By) -> tuple[str, ...]:
    """What the scores are made of, in the order in which it is drawn: fields and arms in theirs, words by their sum."""
    parts = [part for result in response.results for part in result.parts]
    if by == "word":
        sums: dict[str, list[float]] = {}
        for part in parts:
            sums.setdefault(_word(part), []).append(part.value)
        ordered = sorted(sums, key=lambda word: (-math.fsum(sums[word]), word))
        return (*ordered[:MOST_WORDS], *((OTHER_WORDS,) if len(ordered) > MOST_WORDS else ()))
    known = list(FIELDS.values() if by == "field" else ARMS.values())
    used = {_named(part, by) for part in parts}
    return tuple(name for name in known if name in used) + tuple(sorted(used - set(known)))


def parts_table(response: SearchResponse, by: By) -> pandas.DataFrame:
    """The scores cut into parts, which lie end to end: a row for each result and part.

    Returns:
        `rank`, `tool`, `score`, `part`, `value`, and where it lies: `start` and `end`; the last `end` of a result is
        its score, exactly. A result without parts has no row.
    """
    names = part_names(response, by)
    rows = []
    for result in response.results:
        before: list[float] = []
        for name in names:
            values = [part.value for part in result.parts if _shown_as(part, by, names) == name]
            if not values:
                continue
            start = math.fsum(before)
            before += values
            rows.append(
                {
                    "rank": result.rank,
                    "tool": line(result.name),
                    "score": result.score,
                    "part": name,
                    "value": math.fsum(values),
                    "start": start,
                    "end": math.fsum(before),
                }
            )
    return pandas.DataFrame(rows, columns=["rank", "tool", "score", "part", "value", "start", "end"])


def places_table(a: Sequence[Result], b: Sequence[Result], tokens: Mapping[str, int]) -> pandas.DataFrame:
    """Every tool that either side found: `tool`, its rank on both sides, what changed from A to B, and its tokens.

    In the order of the better of the two ranks, then of the name.
    """
    first, second = ({result.name: result.rank for result in side} for side in (a, b))
    last = len(first) + len(second) + 1

    def place(name: str) -> tuple[int, str]:
        return min(first.get(name, last), second.get(name, last)), name

    rows = [
        {
            "tool": line(name),
            "rank in A": str(first.get(name, "-")),
            "rank in B": str(second.get(name, "-")),
            "change": _change(first.get(name), second.get(name)),
            "tokens": tokens[name],
        }
        for name in sorted({*first, *second}, key=place)
    ]
    return pandas.DataFrame(rows, columns=["tool", "rank in A", "rank in B", "change", "tokens"])


def explanation_table(explanation: Explanation) -> pandas.DataFrame:
    """What a tool's score is made of, largest first: `word`, `field`, `arm`, `value`; empty without a score."""
    rows = [
        {
            "word": line(part.term),
            "field": FIELDS.get(part.field, part.field),
            "arm": ARMS.get(part.arm, part.arm),
            "value": part.value,
        }
        for part in explanation.parts
    ]
    return pandas.DataFrame(rows, columns=["word", "field", "arm", "value"])


def matched_terms(*results: Result) -> dict[str, set[str]]:
    """By tool, the terms that gave it any part of its score, on whichever side."""
    terms: dict[str, set[str]] = {}
    for result in results:
        terms.setdefault(result.name, set()).update(part.term for part in result.parts if part.value > 0)
    return terms


def _change(before: int | None, after: int | None) -> str:
    if before is None:
        return "new in B"
    if after is None:
        return "only in A"
    if before == after:
        return "the same"
    return f"{'up' if after < before else 'down'} {abs(after - before)}"


def _word(part: Part) -> str:
    return line(part.term, 60) or "(no word)"


def _named(part: Part, by: By) -> str:
    if by == "word":
        return _word(part)
    return FIELDS.get(part.field, part.field) if by == "field" else ARMS.get(part.arm, part.arm)


def _shown_as(part: Part, by: By, names: Sequence[str]) -> str:
    name = _named(part, by)
    return name if name in names else OTHER_WORDS
