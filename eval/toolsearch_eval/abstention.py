"""How well a ranker knows that it does not know: queries without an answer are judged by this and by nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sureness:
    """What a ranker gave for one query, as far as it says how sure it was.

    Attributes:
        confidence: How sure the first result is: higher is surer, in any unit; None where nothing was given.
        flagged: The ranker says that there is probably no answer; None where it never says so.
    """

    confidence: float | None
    flagged: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention:
    """What the answers of one ranker were worth, the queries without an answer among them.

    Attributes:
        answerable: Queries that have an answer.
        no_answer: Queries that have none.
        area: Area under the risk-coverage curve, 0 (best) to 1; see `risk_coverage_area`. None without a query.
        false_answers: Share of the queries without an answer for which something was given and not flagged; None
            without such a query.
        false_alarms: Share of the answerable queries that were flagged or got nothing; None without such a query.
    """

    answerable: int
    no_answer: int
    area: float | None
    false_answers: float | None
    false_alarms: float | None


def judge_abstention(
    answerable: Sequence[Sureness], right: Sequence[bool], no_answer: Sequence[Sureness]
) -> Abstention:
    """Judge one ranker.

    A ranker without a flag gives an answer whenever it gives a result. Wrong is: a first result that is not relevant,
    no result where there is an answer, and any result where there is none.

    Args:
        answerable: What was given for each query that has an answer.
        right: Whether its first result was relevant, for the same queries.
        no_answer: What was given for each query that has none.
    """
    confidences = [each.confidence for each in (*answerable, *no_answer)]
    wrong = [not each for each in right] + [each.confidence is not None for each in no_answer]
    return Abstention(
        answerable=len(answerable),
        no_answer=len(no_answer),
        area=risk_coverage_area(confidences, wrong),
        false_answers=_share([not _silent(each) for each in no_answer]),
        false_alarms=_share([_silent(each) for each in answerable]),
    )


def risk_coverage_area(confidences: Sequence[float | None], wrong: Sequence[bool]) -> float | None:
    """The mean share of wrong answers among the surest 1, 2, … all queries; None without a query.

    Equally sure queries stand in no order, so that what is expected of a random one counts. A query for which nothing
    was given comes last.

    >>> risk_coverage_area([0.9, 0.8], [False, True])
    0.25
    >>> risk_coverage_area([0.5, 0.5], [False, True])
    0.5

    Args:
        confidences: How sure each answer was; None for none.
        wrong: Whether it was wrong, as many.
    """
    by_confidence: dict[float, list[bool]] = {}
    for confidence, is_wrong in zip(confidences, wrong, strict=True):
        by_confidence.setdefault(-math.inf if confidence is None else confidence, []).append(is_wrong)
    if not by_confidence:
        return None
    risks: list[float] = []
    covered, failed = 0, 0
    for confidence in sorted(by_confidence, reverse=True):
        equal = by_confidence[confidence]
        share = sum(equal) / len(equal)
        risks += [(failed + share * more) / (covered + more) for more in range(1, len(equal) + 1)]
        covered += len(equal)
        failed += sum(equal)
    return math.fsum(risks) / len(risks)


def _silent(given: Sureness) -> bool:
    return given.confidence is None or given.flagged is True


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
