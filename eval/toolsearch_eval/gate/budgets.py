"""What a search may cost beside being right: tokens per answer, a stable tools array, and time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.errors import ToolSearchError, UsageError
from toolsearch.tokens import COUNTERS, TokenCounter, token_counter
from toolsearch_eval.answers import mean_answer_tokens
from toolsearch_eval.data import DataSet
from toolsearch_eval.gate.latency import YARDSTICK, p95_ratio
from toolsearch_eval.gate.tools_array import ArrayVariants, MakeSession, plain_session, watch_tools_array
from toolsearch_eval.rankers import Ranker, resolve_ranker

TOKEN_MARGIN = 0.05
"""How much above the blessed mean the tokens of an answer may rise, as a share of it."""

_PREFERENCES: dict[str, Literal["bpe", "estimate"]] = {"o200k_base": "bpe", "estimate": "estimate"}
COUNTER_NAMES = tuple(_PREFERENCES)
"""What a baseline may name as its counter."""

BudgetName = Literal["tokens per answer", "tools array", "p95 ratio"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is allowed; chosen when a baseline is blessed.

    Attributes:
        counter: What tokens are counted with: `o200k_base` or `estimate`.
        token_margin: How much the mean tokens of an answer may rise above the blessed mean, as a share of it, >= 0.
        most_tokens: What the mean may never be above, whatever was blessed; None: no such bound.
        yardstick: The ranker that p95 is held against.
        most_p95_ratio: How many times the yardstick's p95 may be taken, above 0; None: time is not looked at.
    """

    counter: str
    token_margin: float = TOKEN_MARGIN
    most_tokens: float | None = None
    yardstick: str = YARDSTICK
    most_p95_ratio: float | None = None

    def __post_init__(self) -> None:
        """Check every value.

        Raises:
            UsageError: One is not accepted.
        """
        if self.counter not in COUNTER_NAMES:
            raise UsageError(f"the token counter is {self.counter!r}; accepted: {', '.join(COUNTER_NAMES)}.")
        # NaN fails each of the comparisons.
        if not 0 <= self.token_margin <= 10:
            raise UsageError(f"the token margin is {self.token_margin!r}; it must lie in 0..10 (0.05 is 5%).")
        for name, value in (("most tokens", self.most_tokens), ("most p95 ratio", self.most_p95_ratio)):
            if value is not None and not 0 < value < float("inf"):
                raise UsageError(f"{name} is {value!r}; it must be a number above 0.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was measured.

    Attributes:
        answer_tokens: Mean tokens of the search tool's answer over the queries of the split; None without a query.
        array: What a scripted conversation did to the tools array; None where it can't be played.
        p95_ratio: To the yardstick; None where it is not looked at.
        warnings: Why something could not be measured.
    """

    answer_tokens: float | None
    array: ArrayVariants | None
    p95_ratio: float | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetResult:
    """One budget, held against what was blessed.

    Attributes:
        name: Which one.
        unit: What is counted, with the counter or the yardstick.
        blessed: What was blessed.
        now: What it is now; None where it can't be measured any more, which is over the budget.
        limit: The most that is allowed.
        detail: What to know, in a line; "" where there is nothing.
    """

    name: BudgetName
    unit: str
    blessed: float | None
    now: float | None
    limit: float
    detail: str = ""

    @property
    def kept(self) -> bool:
        """Whether it is within the budget."""
        return self.now is not None and self.now <= self.limit + 1e-9

    @property
    def sentence(self) -> str:
        """The result in words, for a reason or a report."""
        now = "not measured" if self.now is None else _figure(self.now)
        blessed = "" if self.blessed is None else f"{_figure(self.blessed)} was blessed, "
        more = f"; {self.detail}" if self.detail else ""
        return f"{now} {self.unit}, {blessed}at most {_figure(self.limit)} allowed{more}"


def measure_spent(
    data: DataSet,
    ranker: Ranker,
    queries: Sequence[str],
    rankings: Sequence[Sequence[str]],
    limits: Limits,
    *,
    depth: int,
    make_session: MakeSession = plain_session,
    clock: Callable[[], float] = time.perf_counter,
) -> Spent:
    """Measure what the limits are about.

    Args:
        data: The catalog.
        ranker: Timed, where the limits ask for it.
        queries: The queries of the split.
        rankings: What the ranker found for them.
        limits: Name the counter and the yardstick.
        depth: Results asked for.
        make_session: The session whose tools array is watched.
        clock: For the times.

    Raises:
        UsageError: The counter or the yardstick can't be had, or a ranker fails while it is timed.
    """
    tools = {tool.name: tool for tool in data.tools if is_deferred(tool)}
    warnings: list[str] = []
    try:
        array = watch_tools_array(data.tools, make_session=make_session)
    except ToolSearchError as error:  # a catalog that anyone's ranker takes may be none that a registry can hold
        array = None
        warnings.append(f"the tools array was not watched, as no session can hold this catalog: {error}")
    ratio = None
    if limits.most_p95_ratio is not None:
        ratio = p95_ratio(
            ranker, resolve_ranker(limits.yardstick), list(tools.values()), queries, depth=depth, clock=clock
        )
    return Spent(
        answer_tokens=mean_answer_tokens(queries, rankings, tools, counter_named(limits.counter)),
        array=array,
        p95_ratio=ratio,
        warnings=tuple(warnings),
    )


def held_against(limits: Limits, blessed: Spent, now: Spent) -> tuple[BudgetResult, ...]:
    """Each budget with its result; one that was not measured when it was blessed is left out."""
    results = []
    if blessed.answer_tokens is not None:
        limit = blessed.answer_tokens * (1 + limits.token_margin)
        detail = f"the blessed mean and {limits.token_margin:.1%} of it"
        if limits.most_tokens is not None and limits.most_tokens < limit:
            limit, detail = limits.most_tokens, "a bound of its own"
        results.append(
            BudgetResult(
                name="tokens per answer",
                unit=f"tokens ({limits.counter})",
                blessed=blessed.answer_tokens,
                now=now.answer_tokens,
                limit=limit,
                detail=f"the limit is {detail}",
            )
        )
    if blessed.array is not None:
        array = now.array
        results.append(
            BudgetResult(
                name="tools array",
                unit=f"variants in {array.requests} requests" if array else "variants",
                blessed=blessed.array.variants,
                now=array.variants if array else None,
                limit=1,
                detail=f"it changed after: {array.broken_by}" if array and array.broken_by else "",
            )
        )
    if limits.most_p95_ratio is not None:
        results.append(
            BudgetResult(
                name="p95 ratio",
                unit=f"times the p95 of {limits.yardstick}",
                blessed=blessed.p95_ratio,
                now=now.p95_ratio,
                limit=limits.most_p95_ratio,
            )
        )
    return tuple(results)


def counter_named(name: str) -> TokenCounter:
    """The counter of this name, so that tokens are held against tokens of the same kind.

    Raises:
        UsageError: It is not installed.
    """
    try:
        return token_counter(_PREFERENCES[name])
    except UsageError as error:
        raise UsageError(
            f"the baseline counts tokens by {name}, which is not installed here. Install it with "
            "pip install 'toolsearch[tokens]', or bless with --counter estimate, which needs nothing."
        ) from error


def counter_name(prefer: str) -> str:
    """The name under which a counter stands in a baseline; `auto` takes the best that is installed.

    Raises:
        UsageError: It is not installed, or there is none such.
    """
    chosen = next((each for each in COUNTERS if each == prefer), None)
    if chosen is None:
        raise UsageError(f"the token counter is {prefer!r}; accepted: {', '.join(COUNTERS)}.")
    return token_counter(chosen).name  # type: ignore[arg-type]


def _figure(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}"
