"""Runs field reports: each case in a world of its own, every check, and why what falls falls."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from toolsearch.errors import DuplicateToolError, ToolSearchError
from toolsearch_eval.fieldtest.cases import Case
from toolsearch_eval.fieldtest.checks import run_check
from toolsearch_eval.fieldtest.steps import Outcome, run_step
from toolsearch_eval.fieldtest.world import World, make_world


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one case.

    Attributes:
        case: The case.
        why: Why it does not hold, a line for each check that fell; empty when it holds.
        skipped: Only checks fell that are marked as stretch.
    """

    case: Case
    why: tuple[str, ...]
    skipped: bool = False

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return not self.why


@dataclass(frozen=True, slots=True)
class FieldTest:
    """What became of all cases, in their order."""

    verdicts: tuple[Verdict, ...]

    @property
    def failed(self) -> tuple[Verdict, ...]:
        """The cases that don't hold."""
        return tuple(verdict for verdict in self.verdicts if not verdict.passed and not verdict.skipped)

    def to_json(self) -> dict[str, Any]:
        """The machine-readable form."""
        return {
            "schema_version": 1,
            "total": len(self.verdicts),
            "passed": [verdict.case.id for verdict in self.verdicts if verdict.passed],
            "failed": [{"id": verdict.case.id, "why": "; ".join(verdict.why)} for verdict in self.failed],
            "skipped": [
                {"id": verdict.case.id, "why": "; ".join(verdict.why)} for verdict in self.verdicts if verdict.skipped
            ],
        }


def run_cases(cases: Sequence[Case], *, advance: Callable[[], object] = lambda: None) -> FieldTest:
    """Run all cases; `advance` is called after each."""
    verdicts = []
    for case in cases:
        verdicts.append(run_case(case))
        advance()
    return FieldTest(tuple(verdicts))


def run_case(case: Case) -> Verdict:
    """Run one case. Whatever it raises that is no answer of the product is a reason to fail."""
    try:
        world, outcomes = _played(case)
    except Exception as error:
        return Verdict(case, (f"raised {type(error).__name__}: {error}",))
    fell = [(check, why) for check in case.checks if (why := run_check(world, outcomes, check))]
    must = any(check.get("tier") != "stretch" for check, _ in fell)
    return Verdict(case, tuple(f"{check['check']}: {why}" for check, why in fell), skipped=bool(fell) and not must)


def _played(case: Case) -> tuple[World, list[Outcome]]:
    try:
        world = make_world(case)
    except ToolSearchError as error:
        # The set-up itself was refused: every step has that for an answer.
        code = "duplicate_tool_name" if isinstance(error, DuplicateToolError) else "error"
        empty = Case(
            id=case.id,
            kind=case.kind,
            symptom=case.symptom,
            catalog=(),
            config={},
            servers={},
            steps=case.steps,
            checks=case.checks,
            line=case.line,
        )
        refused = [Outcome(step["op"], text=str(error), error=error, code=code) for step in case.steps]
        return make_world(empty), refused
    outcomes = []
    for number, step in enumerate(case.steps):
        world.step = number
        start = time.perf_counter()
        outcomes.append(run_step(world, step))
        world.seconds[number] = time.perf_counter() - start
    return world, outcomes
