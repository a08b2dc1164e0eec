"""What a query found, as tables: two rankings, what their scores are made of, and one tool on both sides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import pandas

from toolsearch.search.results import Explanation, Part, Result, SearchResponse
from toolsearch_app.tables.words import ARMS, FIELDS, LED, REASONS
from toolsearch_app.text import line

By = Literal["field", "arm", "word"]
MOST_WORDS: Final = 7
"""Words that are told apart; the others stand together, so that each keeps a colour of its own."""
OTHER_WORDS: Final = "other words"
_BY_LEADER: Final = f" (the {LED})"
"""What an explanation puts behind the name of the tool that vouches for the others of its server."""


def ranking_table(
    response: SearchResponse,
    tokens: Mapping[str, int],
    grades: Mapping[str, int] | None = None,
    *,
    parts: pandas.DataFrame | None = None,
) -> pandas.DataFrame:
    """A row for each result, best first.

    Args:
        response: What was found, with the parts of the scores.
        tokens: By tool, what its definition costs a model.
        grades: The query's labels where it is a labelled one.
        parts: What `parts_table` gives where each part is to have its number; None leaves them out.

    Returns:
        `rank`, `tool`, `score`, a column for each part that any result has, with an equals sign before the first, a
        plus sign before the others and 0 where a result has none, `tokens`, with labels `grade`, and `why here` where
        it is not by its score.
    """
    cut = {} if parts is None else {(row.rank, row.part): row.value for row in parts.itertuples()}
    names = [] if parts is None else list(dict.fromkeys(parts.sort_values("place", kind="stable")["part"]))
    # The sign keeps a word that is called `rank` or `tool` apart from the table's own columns.
    signed = {name: f"{'+' if place else '='} {name}" for place, name in enumerate(names)}
    rows = []
    for result in response.results:
        row: dict[str, object] = {"rank": result.rank, "tool": line(result.name), "score": result.score}
        row |= {column: cut.get((result.rank, name), 0.0) for name, column in signed.items()}
        row["tokens"] = tokens[result.name]
        if grades is not None:
            row["grade"] = str(grades[result.name]) if result.name in grades else "unlabelled"
        row["why here"] = REASONS[result.reason]
        rows.append(row)
    graded = ["grade"] if grades is not None else []
    columns = ["rank", "tool", "score", *signed.values(), "tokens", *graded, "why here"]
    table = pandas.DataFrame(rows, columns=columns)
    return table if table["why here"].any() else table.drop(columns="why here")


def part_names(responses: Sequence[SearchResponse], by: By) -> tuple[str, ...]:
    """What the scores of all sides are made of, in the order in which it is drawn.

    Fields and arms come in their own order, words by their sum. One list for all sides gives a part one colour, and
    legends of one height.
    """
    parts = [part for response in responses for result in response.results for part in result.parts]
    if by == "word":
        sums: dict[str, list[float]] = {}
        for part in parts:
            sums.setdefault(_named(part, by), []).append(part.value)
        ordered = sorted(sums, key=lambda word: (-math.fsum(sums[word]), word))
        return (*ordered[:MOST_WORDS], *((OTHER_WORDS,) if len(ordered) > MOST_WORDS else ()))
    known = [*FIELDS.values(), LED] if by == "field" else list(ARMS.values())
    used = {_named(part, by) for part in parts}
    return tuple(name for name in known if name in used) + tuple(sorted(used - set(known)))


def parts_table(response: SearchResponse, by: By, names: Sequence[str]) -> pandas.DataFrame:
    """The scores cut into parts, which lie end to end: a row for each result and part.

    Args:
        response: What was found, with the parts of the scores.
        by: What the scores are cut by.
        names: What `part_names` gives for this response, alone or with others.

    Returns:
        `rank`, `tool`, `score`, `part`, its `place` among the names, `value`, and where it lies: `start` and `end`;
        the last `end` of a result is its score, exactly. A result without parts has no row.
    """
    rows = []
    for result in response.results:
        before: list[float] = []
        for place, name in enumerate(names):
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
                    "place": place,
                    "value": math.fsum(values),
                    "start": start,
                    "end": math.fsum(before),
                }
            )
    return pandas.DataFrame(rows, columns=["rank", "tool", "score", "part", "place", "value", "start", "end"])


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
    """What a tool's score is made of, largest first: `value`, `word or tool`, `field`, `arm`; empty without a score.

    What the best tool of the server gives has that tool's name, and no field of the catalog.
    """
    rows = [
        {
            "value": part.value,
            "word or tool": line(part.term.removesuffix(_BY_LEADER)),
            "field": _named(part, "field"),
            "arm": _named(part, "arm"),
        }
        for part in explanation.parts
    ]
    return pandas.DataFrame(rows, columns=["value", "word or tool", "field", "arm"])


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


def _named(part: Part, by: By) -> str:
    if by == "arm":
        return ARMS.get(part.arm, part.arm)
    if part.term.endswith(_BY_LEADER):
        return LED
    return FIELDS.get(part.field, part.field) if by == "field" else line(part.term, 60) or "(no word)"


def _shown_as(part: Part, by: By, names: Sequence[str]) -> str:
    name = _named(part, by)
    return name if name in names else OTHER_WORDS
