"""Why a query moved: what the scores of the tools concerned are made of, on both sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolsearch.errors import ToolSearchError
from toolsearch.search.results import Explanation, Part
from toolsearch_eval.compare import Moved
from toolsearch_eval.measures import relevant
from toolsearch_eval.rankers.own import described
from toolsearch_eval.rankers.protocol import ExplainingRanker, Ranker

MOST_TOOLS = 4
"""Tools that are explained for a query: what it needs first, then what stands before that."""

Explain = Callable[[str, str], "Side"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one ranker says about one tool.

    Attributes:
        rank: 1-based in the ranking that was judged; None where it is not in it.
        score: What the parts add up to; None where the ranker can't say.
        parts: Largest first.
        why: What it says in words, or why it says nothing.
    """

    rank: int | None = None
    score: float | None = None
    parts: tuple[Part, ...] = ()
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """The machine-readable form; `parts` is null where the ranker can't say what a score is made of."""
        parts = [{"arm": part.arm, "field": part.field, "term": part.term, "value": part.value} for part in self.parts]
        return {
            "rank": self.rank,
            "score": self.score,
            "why": self.why,
            "parts": None if self.score is None else parts,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One tool on both sides.

    Attributes:
        tool: The tool.
        grade: Its judged grade; None where it is unjudged.
        a: The first ranker's side.
        b: The second's.
    """

    tool: str
    grade: int | None
    a: Side
    b: Side

    def to_json(self) -> dict[str, Any]:
        """The machine-readable form."""
        return {"tool": self.tool, "grade": self.grade, "a": self.a.to_json(), "b": self.b.to_json()}


def explainer(ranker: Ranker, depth: int) -> Explain:
    """What asks a ranker, which has taken in the catalog, about a query and a tool; never fails.

    A ranker without `explain` says that it can't.

    Args:
        ranker: The ranker.
        depth: Results that it was asked for.
    """

    def ask(query: str, tool: str) -> Side:
        if not isinstance(ranker, ExplainingRanker):
            return Side(why=f"{ranker.name} can't say what a score is made of")
        try:
            found: Explanation = ranker.explain(query, tool, depth)
            return Side(score=found.score, parts=tuple(found.parts), why=found.why)
        except (ToolSearchError, Exception) as error:  # it may be anyone's
            return Side(why=f"{ranker.name} failed to explain it: {described(error)}")

    return ask


def silent_explainer(why: str) -> Explain:
    """What gives the same words for every tool, where there is no ranker to ask."""
    return lambda query, tool: Side(why=why)


def tools_concerned(moved: Moved) -> tuple[str, ...]:
    """The tools that a query's move is about, at most `MOST_TOOLS`.

    First what does the job and stands elsewhere now, then the other judged tools that moved, then what stands first on
    either side. Within each by the better of their two ranks, then by name.
    """
    before, after = moved.ranking_a, moved.ranking_b
    names = dict.fromkeys((*before, *after))

    def place(ranking: Sequence[str], name: str) -> int:
        return ranking.index(name) if name in ranking else len(ranking) + 1_000

    def best(name: str) -> tuple[int, str]:
        return min(place(before, name), place(after, name)), name

    shifted = {name for name in names if place(before, name) != place(after, name)}
    needed = relevant(moved.grades)
    chosen = sorted(shifted & needed, key=best)
    chosen += sorted((name for name in shifted - needed if moved.grades.get(name, 0) > 0), key=best)
    chosen += [ranking[0] for ranking in (before, after) if ranking]
    return tuple(dict.fromkeys(chosen))[:MOST_TOOLS]


def reasons_for(moved: Moved, explain_a: Explain, explain_b: Explain) -> tuple[Reason, ...]:
    """The tools concerned with what both rankers say about them."""

    def side(explain: Explain, ranking: Sequence[str], tool: str) -> Side:
        rank = ranking.index(tool) + 1 if tool in ranking else None
        return replace(explain(moved.query.text, tool), rank=rank)

    return tuple(
        Reason(
            tool=tool,
            grade=moved.grades.get(tool),
            a=side(explain_a, moved.ranking_a, tool),
            b=side(explain_b, moved.ranking_b, tool),
        )
        for tool in tools_concerned(moved)
    )


def side_text(side: Side, most: int = 4) -> str:
    """A side in a line: rank, score and its largest parts.

    >>> part = Part(arm="tfidf", field="name", term="send", value=0.25)
    >>> side_text(Side(rank=2, score=0.25, parts=(part,)))
    'rank 2, 0.250 = tfidf name send 0.250'
    >>> side_text(Side(why="bm25f can't say"))
    "no rank (bm25f can't say)"
    """
    place = f"rank {side.rank}" if side.rank is not None else "no rank"
    if side.score is None or not side.parts:
        return f"{place} ({side.why})" if side.why else place
    shown = [f"{part.arm} {part.field} {part.term}".replace("  ", " ") + f" {part.value:.3f}" for part in side.parts]
    more = f" + {len(shown) - most} more" if len(shown) > most else ""
    return f"{place}, {side.score:.3f} = {' + '.join(shown[:most])}{more}"
