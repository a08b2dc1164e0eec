"""What one check against a schema may still cost, and what it had to leave unchecked."""

from __future__ import annotations

from collections.abc import Sized
from contextvars import ContextVar
from dataclasses import dataclass, field

from toolsearch.tools.pattern_reader import Unsupported, compile_pattern
from toolsearch.tools.patterns import Pattern, TooCostly
from toolsearch.tools.untrusted import neutralise

_MOST_NOTES = 10
_SHOWN = 60


class OverBudget(Exception):
    """The text says which limit was met."""


@dataclass(slots=True)
class Budget:
    """What is left for one check.

    Attributes:
        steps: Keywords that may still be looked at; work that grows with a size counts as several.
        pattern_steps: Steps that patterns may still take.
        notes: What could not be checked, and why.
        unchecked: How often something had to be passed over; it says whether a part was checked in full.
    """

    steps: int
    pattern_steps: int
    notes: dict[str, None] = field(default_factory=dict)
    unchecked: int = 0
    _patterns: dict[str, Pattern | None] = field(default_factory=dict)

    def spend(self, steps: float = 1) -> None:
        """Take steps.

        Raises:
            OverBudget: There are none left.
        """
        self.steps -= int(steps)
        if self.steps < 0:
            raise OverBudget("checking them against the schema takes too many steps")

    def pass_over(self, note: str) -> None:
        """Say that something is not checked."""
        self.unchecked += 1
        if len(self.notes) < _MOST_NOTES:
            self.notes[note] = None

    def matches(self, pattern: str, text: str) -> bool | None:
        """Whether a pattern matches anywhere in a text; None where that can't be told."""
        if pattern not in self._patterns:
            self._patterns[pattern] = self._compiled(pattern)
        machine = self._patterns[pattern]
        if machine is None:
            self.unchecked += 1
            return None
        try:
            found, self.pattern_steps = machine.search(text, steps=self.pattern_steps)
        except TooCostly:
            self.pattern_steps = 0
            raise OverBudget("matching a text with the schema's pattern takes too many steps") from None
        return found

    def _compiled(self, pattern: str) -> Pattern | None:
        # To make two states takes about as long as one keyword; a repetition may make 5,000 before it is refused.
        self.spend(1 + len(pattern) / 10)
        try:
            machine = compile_pattern(pattern)
        except Unsupported as why:
            self.spend(3_000 if "{" in pattern else len(pattern))
            shown = neutralise(pattern, limit=_SHOWN).text
            self.pass_over(f"the schema's pattern {shown} was not checked: {why}.")
            return None
        self.spend(len(machine.states) / 2)
        return machine


def size_of(value: object) -> int:
    """How many members a value has; 0 for what has none."""
    return len(value) if isinstance(value, Sized) and not isinstance(value, str) else 0


CURRENT: ContextVar[Budget] = ContextVar("budget of a check")
"""The budget of the check that runs: the library's keywords are called without a place for one."""
