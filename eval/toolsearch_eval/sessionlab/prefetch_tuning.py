"""How sure and how many: the two settings of recommendations, chosen on dev conversations and reported on test ones.

Every setting is tried by replaying conversations through the session that ships. The cheapest setting is looked for
among those that stay silent on small talk at least as often as the shipped one; it is taken only where it is clearly
cheaper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolsearch.catalog.tool import Tool
from toolsearch.session.settings import SessionSettings
from toolsearch_eval.conversations import Conversation
from toolsearch_eval.sessionlab.accounting import RequestRow, account
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.providers import ProviderProfile
from toolsearch_eval.sessionlab.recommended import PrefetchFigures, prefetch_figures
from toolsearch_eval.sessionlab.replay import replay
from toolsearch_eval.sessionlab.replayed import Turn
from toolsearch_eval.sessionlab.strategies import Strategy
from toolsearch_eval.statistics import Interval, mean_interval

CONFIDENCES = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
"""The bounds that are tried."""
LIMITS = (1, 2, 3)
"""The most tools of a request; three is what a session recommends at most as it ships."""


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """One setting of recommendations.

    Attributes:
        limit: The most tools that a request recommends; 0 recommends nothing.
        confidence: How sure a recommendation has to be, 0..1.
    """

    limit: int
    confidence: float


def shipped_setting() -> Setting:
    """What a session does unless it is told otherwise."""
    settings = SessionSettings()
    return Setting(settings.prefetch_limit, settings.prefetch_confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What a setting comes to.

    Attributes:
        setting: Which.
        figures: How good the recommendations were.
        tokens: Tokens of recommendations in all requests.
        searches: Searches that the model asked for.
        costs: Money by conversation.
    """

    setting: Setting
    figures: PrefetchFigures
    tokens: int
    searches: int
    costs: Mapping[str, float]

    @property
    def cost(self) -> float:
        """All of the money."""
        return math.fsum(self.costs.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefetchTuning:
    """What was tried on dev, and what came of it.

    Attributes:
        dev: Every setting on the dev conversations.
        shipped: The one that ships.
        cheapest: The cheapest of those that are at least as silent on small talk; of equal ones the nearest to shipped.
        difference: Its cost less the shipped one's, mean over the dev conversations with its 95% interval.
        test: Nothing recommended, the shipped setting and the cheapest one, each once, on the test conversations.
    """

    dev: tuple[Tried, ...]
    shipped: Setting
    cheapest: Setting
    difference: Interval
    test: tuple[Tried, ...]

    @property
    def is_clear(self) -> bool:
        """Whether the cheapest is clearly cheaper than the shipped: the whole interval lies below 0."""
        return self.difference.high is not None and self.difference.high < 0


def tune_prefetch(
    conversations: Iterable[Conversation],
    tools: Sequence[Tool],
    strategy: Strategy,
    profile: ProviderProfile,
    sizes: Sizes,
    *,
    confidences: Sequence[float] = CONFIDENCES,
    limits: Sequence[int] = LIMITS,
    tell: Callable[[str], None] = lambda _: None,
) -> PrefetchTuning:
    """Try every setting on the dev conversations, and read the test ones with what came of it.

    Args:
        conversations: Without faults; some of them dev.
        tools: The catalog.
        strategy: One with prefetch.
        profile: The provider.
        sizes: Counts the tokens.
        confidences: The bounds to try; the shipped one is tried anyway.
        limits: The numbers of tools to try; the shipped one is tried anyway.
        tell: Is told each setting before it is tried.
    """
    talks = list(conversations)
    parts = {split: [talk for talk in talks if talk.split == split] for split in ("dev", "test")}
    shipped = shipped_setting()
    grid = {Setting(limit, confidence) for limit in limits for confidence in confidences}
    dev = []
    for setting in sorted({*grid, shipped}):
        tell(f"at most {setting.limit}, confidence {setting.confidence:g}")
        dev.append(try_setting(setting, parts["dev"], tools, strategy, profile, sizes))
    now = next(tried for tried in dev if tried.setting == shipped)
    quiet = [tried for tried in dev if tried.figures.silent >= now.figures.silent]
    cheapest = min(quiet, key=lambda tried: (round(tried.cost, 12), *_away(tried.setting, shipped), tried.setting))
    names = sorted(now.costs)
    difference = mean_interval([cheapest.costs[name] - now.costs[name] for name in names], names)
    wanted = dict.fromkeys((Setting(0, shipped.confidence), shipped, cheapest.setting))
    test = tuple(try_setting(setting, parts["test"], tools, strategy, profile, sizes) for setting in wanted)
    return PrefetchTuning(dev=tuple(dev), shipped=shipped, cheapest=cheapest.setting, difference=difference, test=test)


def try_setting(
    setting: Setting,
    conversations: Iterable[Conversation],
    tools: Sequence[Tool],
    strategy: Strategy,
    profile: ProviderProfile,
    sizes: Sizes,
) -> Tried:
    """Replay conversations with a setting."""
    settings = SessionSettings(prefetch_limit=setting.limit, prefetch_confidence=setting.confidence)
    turns: list[Turn] = []
    rows: list[RequestRow] = []
    costs: dict[str, float] = {}
    for talk in conversations:
        replayed = replay(talk, tools, strategy, api=profile.api, counter=sizes.counter, settings=settings)
        counted = account(replayed, profile, sizes)
        costs[talk.name] = math.fsum(row.cost for row in counted)
        turns += replayed.turns
        rows += counted
    return Tried(
        setting=setting,
        figures=prefetch_figures(turns),
        tokens=sum(row.parts.get("recommendations", 0) for row in rows),
        searches=sum(row.searches for row in rows),
        costs=costs,
    )


def tried_form(tried: Tried) -> dict[str, float | int | None]:
    """A setting and what it comes to as plain data."""
    figures = tried.figures
    return {
        "limit": tried.setting.limit,
        "confidence": tried.setting.confidence,
        "precision": figures.precision,
        "recall": figures.recall,
        "recommended": figures.recommended,
        "right": figures.right,
        "needed": figures.needed,
        "quiet_turns": figures.quiet_turns,
        "silent": figures.silent,
        "tokens": tried.tokens,
        "searches": tried.searches,
        "cost": tried.cost,
    }


def tuning_form(tuning: PrefetchTuning) -> dict[str, object]:
    """All of it as plain data."""
    difference = tuning.difference
    return {
        "shipped": {"limit": tuning.shipped.limit, "confidence": tuning.shipped.confidence},
        "cheapest": {"limit": tuning.cheapest.limit, "confidence": tuning.cheapest.confidence},
        "difference": {"mean": difference.mean, "low": difference.low, "high": difference.high, "n": difference.n},
        "clear": tuning.is_clear,
        "dev": [tried_form(tried) for tried in tuning.dev],
        "test": [tried_form(tried) for tried in tuning.test],
    }


def _away(setting: Setting, shipped: Setting) -> tuple[float, float]:
    return (round(abs(setting.confidence - shipped.confidence), 9), abs(setting.limit - shipped.limit))
