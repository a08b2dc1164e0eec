"""The main job end to end on the shipped data: rank with explanations, judge, compare, tune."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.config import DEFAULT, REFERENCE
from toolsearch.search.results import Result
from toolsearch.search.searcher import Searcher
from toolsearch_eval.data import load_data
from toolsearch_eval.demo_tuning import brief_tuning
from toolsearch_eval.evaluate import Evaluation, evaluate
from toolsearch_eval.measures import Measure, parse_measure
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.statistics import Interval, mean_interval, paired_difference

QUERIES = (
    "post an answer in the slack thread",
    "run a prompt every morning",
    "slackPostMessage",
    "+notebook change a cell",
    "get me a taxi to the station",
)
"""What is ranked for show: a service's task, a paraphrase, a name in another spelling, a required word, and a wish
that no tool of the shipped set fulfils."""

PRIMARY = "nDCG@10"
SHOWN_RESULTS = 3
OWN = ("reference", "default", "bm25f")
PEERS: Mapping[str, str] = {"bm25s": "bm25s", "sklearn-words": "sklearn"}
"""Rankers of the extra `peers` with the module that each needs."""
_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What the demo found.

    Attributes:
        rankings: For each query and profile, the first results with the parts of their scores, largest first.
        evaluation: The judged rankers.
        comparisons: `default` beside each other ranker on the primary measure.
        tuning: What moving the weights of the reference ranking gives, see `brief_tuning`; a text where nothing was
            tuned, which says why.
        warnings: What to know beside the numbers.
    """

    rankings: tuple[dict[str, Any], ...]
    evaluation: Evaluation
    comparisons: tuple[dict[str, Any], ...]
    tuning: dict[str, Any] | str
    warnings: tuple[str, ...]

    def mean(self, ranker: str, measure: Measure) -> Interval:
        """A ranker's mean over the groups with its 95% interval."""
        groups = [query.group for query in self.evaluation.queries]
        return mean_interval(self.evaluation.values(ranker, measure), groups)

    def to_json(self) -> dict[str, Any]:
        """All of it as one object, with what is needed to make it again."""
        return {
            "schema_version": 1,
            "manifest": {
                "versions": {name: _version(name) for name in ("toolsearch", "numpy", "bm25s", "scikit-learn")},
                "python": platform.python_version(),
                "seed": _SEED,
                "data": self.evaluation.data.fingerprint,
            },
            "rankings": list(self.rankings),
            "evaluation": self.evaluation.to_json(),
            "comparisons": list(self.comparisons),
            "tuning": self.tuning,
            "warnings": list(self.warnings),
        }


def run_demo(
    data: str = "builtin",
    *,
    progress: Callable[[str], None] = lambda _: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Demo:
    """Rank a few queries with both profiles, judge profiles and peers on the dev split, and tune briefly.

    Args:
        data: A shipped data set or a folder.
        progress: Is told what begins.
        now: The clock of the log of looks at the test split.
    """
    progress("ranking a few queries with both profiles")
    labelled = load_data(data)
    searchers = [Searcher(ToolRegistry(labelled.tools), config) for config in (REFERENCE, DEFAULT)]
    rankings = tuple(_ranking(query, searcher) for query in QUERIES for searcher in searchers)
    progress(f"judging on {data}")
    peers = [name for name, module in PEERS.items() if find_spec(module) is not None]
    evaluation = evaluate(labelled, [resolve_ranker(name) for name in (*OWN, *peers)], progress=False)
    progress("comparing query by query")
    primary = parse_measure(PRIMARY)
    comparisons = tuple(_comparison(evaluation, primary, name) for name in evaluation.rankings if name != "default")
    progress("tuning the reference ranking's weights briefly")
    tuning = brief_tuning(labelled, now=now)
    notes = tuple(f"{name} is not installed; the extra `peers` brings it." for name in PEERS if name not in peers)
    return Demo(
        rankings=rankings,
        evaluation=evaluation,
        comparisons=comparisons,
        tuning=tuning,
        warnings=(*notes, *evaluation.warnings),
    )


def by_term(parts: Sequence[Mapping[str, Any]]) -> list[tuple[str, float, list[tuple[str, float]]]]:
    """The parts of a score put together by term: the term, what it gave in all, and what it gave by field.

    Largest first, ties by name; a part without a term or field stands under the name of its arm.

    >>> by_term([
    ...     {"arm": "tfidf", "field": "name", "term": "send", "value": 0.25},
    ...     {"arm": "keyword", "field": "name", "term": "send", "value": 0.25},
    ...     {"arm": "keyword", "field": "", "term": "", "value": 0.125},
    ... ])
    [('send', 0.5, [('name', 0.5)]), ('(keyword arm)', 0.125, [])]
    """
    terms: dict[str, dict[str, float]] = {}
    for part in parts:
        fields = terms.setdefault(part["term"] or f"({part['arm']} arm)", {})
        fields[part["field"]] = fields.get(part["field"], 0.0) + part["value"]
    found = [
        (
            term,
            sum(fields.values()),
            sorted(((name, value) for name, value in fields.items() if name), key=lambda pair: (-pair[1], pair[0])),
        )
        for term, fields in terms.items()
    ]
    return sorted(found, key=lambda line: (-line[1], line[0]))


def _ranking(query: str, searcher: Searcher) -> dict[str, Any]:
    response = searcher.search(query, max_results=SHOWN_RESULTS, explain=True)
    return {
        "query": query,
        "profile": searcher.config.name,
        "low_confidence": response.low_confidence,
        "total_matches": response.total_matches,
        "results": [_result(result) for result in response.results],
    }


def _result(result: Result) -> dict[str, Any]:
    strongest = sorted(result.parts, key=lambda part: (-part.value, part.arm, part.field, part.term))
    return {
        "name": result.name,
        "score": result.score,
        "reason": result.reason,
        "arms": dict(result.arms),
        "parts": [{"arm": part.arm, "field": part.field, "term": part.term, "value": part.value} for part in strongest],
    }


def _comparison(evaluation: Evaluation, measure: Measure, other: str) -> dict[str, Any]:
    groups = [query.group for query in evaluation.queries]
    found = paired_difference(
        evaluation.values(other, measure), evaluation.values("default", measure), groups, seed=_SEED
    )
    return {
        "measure": str(measure),
        "a": other,
        "b": "default",
        "difference": found.difference.mean,
        "low": found.difference.low,
        "high": found.difference.high,
        "p": found.p,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "detectable": found.detectable,
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
