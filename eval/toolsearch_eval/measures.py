"""Measures of one query's ranking; values that print as they are written (`nDCG@10`)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from toolsearch.errors import UnknownNameError, UsageError

KINDS = ("nDCG", "nDCG(gains=exp)", "Recall", "Success", "SuccessAll", "RR", "P", "AP", "Judged")
"""The known measures; `AP` may stand without a cutoff."""

_FORM = re.compile(r"(?P<kind>[^@]+)(?:@(?P<cutoff>[0-9]{1,6}))?")


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its cutoff.

    Attributes:
        kind: One of `KINDS`.
        cutoff: The ranks that count, >= 1; None (only `AP`) means all.
    """

    kind: str
    cutoff: int | None

    def __str__(self) -> str:
        """The form that `parse_measure` reads."""
        return self.kind if self.cutoff is None else f"{self.kind}@{self.cutoff}"

    def value(self, ranking: Sequence[str], grades: Mapping[str, int], *, need: Literal["any", "all"] = "all") -> float:
        """The measure for one query, 0..1.

        nDCG gains: the grade, or 2 ** grade - 1 with `gains=exp`; grades below 0 count as 0. Recall divides by what k
        ranks could hold at most. Judged is the judged share of the names shown.

        Args:
            ranking: Names, best first; a name that comes again is ignored.
            grades: The judged tools. Relevant: grade >= 2 where there is one, else >= 1; nDCG uses all above 0.
            need: Whether `SuccessAll` asks for all relevant tools, or for any one of them as they are equivalent.

        Returns:
            0.0 for an empty ranking (`Judged`: 1.0, as nothing unjudged was shown).

        Raises:
            ValueError: No tool has a grade above 0; the caller leaves such queries out and counts them.
        """
        needed = relevant(grades)
        if not needed:
            raise ValueError("the query has no relevant tool")
        names = list(dict.fromkeys(ranking))[: self.cutoff]
        if self.kind.startswith("nDCG"):
            return _ndcg(names, grades, self.cutoff or len(names), exponential="exp" in self.kind)
        hits = [name in needed for name in names]
        match self.kind:
            case "Recall":
                return sum(hits) / min(self.cutoff or len(needed), len(needed))
            case "Success":
                return float(any(hits))
            case "SuccessAll":
                return float(any(hits) if need == "any" else sum(hits) == len(needed))
            case "RR":
                return 1 / (hits.index(True) + 1) if any(hits) else 0.0
            case "P":
                return sum(hits) / (self.cutoff or 1)
            case "AP":
                return sum(sum(hits[: place + 1]) / (place + 1) for place, hit in enumerate(hits) if hit) / len(needed)
            case _:
                return sum(name in grades for name in names) / len(names) if names else 1.0


def relevant(grades: Mapping[str, int]) -> frozenset[str]:
    """The tools that do the job: grade >= 2 where there is one, else grade >= 1.

    >>> sorted(relevant({"a": 2, "b": 1})), sorted(relevant({"b": 1, "c": 0}))
    (['a'], ['b'])
    """
    best = frozenset(name for name, grade in grades.items() if grade >= 2)
    return best or frozenset(name for name, grade in grades.items() if grade >= 1)


def parse_measure(text: str) -> Measure:
    """Read a measure such as `nDCG@10`, `nDCG(gains=exp)@10` or `AP`.

    >>> str(parse_measure("nDCG@10"))
    'nDCG@10'

    Raises:
        UnknownNameError: There is no such measure.
        UsageError: The cutoff is missing or not a whole number above 0.
    """
    match = _FORM.fullmatch(text)
    kind = match["kind"] if match else text.partition("@")[0]
    if kind not in KINDS:
        raise UnknownNameError("measure", kind, KINDS, "Write it with its cutoff, as in nDCG@10.")
    cutoff = int(match["cutoff"]) if match and match["cutoff"] else None
    if cutoff == 0 or not match or (cutoff is None and kind != "AP"):
        raise UsageError(f"measure {text!r} needs a cutoff, a whole number from 1 to 999999, as in {kind}@10.")
    return Measure(kind, cutoff)


DEFAULT_MEASURES = tuple(map(parse_measure, ("nDCG@10", "Recall@5", "RR@10", "Success@1", "Judged@10")))
"""What `eval` measures unless told otherwise; the first is the primary one."""


def _ndcg(names: Sequence[str], grades: Mapping[str, int], cutoff: int, *, exponential: bool) -> float:
    def gain(grade: int) -> float:
        return float(2**grade - 1 if exponential else grade) if grade > 0 else 0.0

    def discounted(values: Sequence[int]) -> float:
        return math.fsum(gain(grade) / math.log2(place + 2) for place, grade in enumerate(values))

    ideal = discounted(sorted(grades.values(), reverse=True)[:cutoff])
    return discounted([grades.get(name, 0) for name in names]) / ideal
