"""All shipped conversations under all strategies, with each provider's form of requests: too long for every run."""

from __future__ import annotations

import pytest

from toolsearch.tokens import token_counter
from toolsearch_eval.data import load_data
from toolsearch_eval.sessionlab.lab import simulate
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.providers import SHIPPED, provider_profile
from toolsearch_eval.sessionlab.strategies import STRATEGIES


@pytest.mark.parametrize("provider", SHIPPED)
def test_all_conversations_under_all_strategies(provider: str) -> None:
    """No call fails, tokens add up, every break has a known cause, and under a stable array it is compaction alone."""
    data = load_data("builtin")
    found = simulate(data, list(STRATEGIES), provider_profile(provider), Sizes(token_counter("bpe")))
    assert len(found.conversations) == 18
    assert found.tokenizer == "o200k_base"
    for row in found.rows:
        where = (row.conversation, row.strategy, row.agent, row.request)
        assert sum(row.parts.values()) == row.use.cached + row.use.written + row.use.new, where
        assert row.failed == 0, where
        assert (row.cause is None) == (row.broken_by is None), where
        assert row.cause is None or row.cause.kind != "unexplained", where
    for name in STRATEGIES:
        totals = found.totals(name)
        if name.startswith("stable+"):
            assert (totals.array_variants, dict(totals.causes)) == (1, {"compaction": 6})
        if name != "inline":
            assert totals.tool_tokens < found.totals("inline").tool_tokens
