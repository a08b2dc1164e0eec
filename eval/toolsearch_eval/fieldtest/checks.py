"""Every check of the vocabulary by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolsearch_eval.fieldtest import checks_found, checks_run, checks_sent, checks_session
from toolsearch_eval.fieldtest.reading import Check
from toolsearch_eval.fieldtest.steps import Outcome
from toolsearch_eval.fieldtest.world import World

CHECKS: dict[str, Check] = {
    **checks_found.CHECKS,
    **checks_run.CHECKS,
    **checks_sent.CHECKS,
    **checks_session.CHECKS,
}
"""A function for each check."""


def run_check(world: World, outcomes: Sequence[Outcome], check: Mapping[str, Any]) -> str:
    """Why a check does not hold, or ""."""
    return CHECKS[check["check"]](world, outcomes, check)
