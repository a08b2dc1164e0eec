"""How good the recommendations were: what of them was needed, and what of the needed was among them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolsearch_eval.sessionlab.replayed import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefetchFigures:
    """The recommendations of any number of turns.

    Attributes:
        recommended: How many tools were recommended.
        right: Those of them that the turn needed.
        needed: Tools that turns needed and that the model had not been shown when the turn began.
        found: Those of them that were recommended in the turn.
        quiet_turns: Turns that needed no deferred tool.
        silent: Those of them in which nothing was recommended.
    """

    recommended: int
    right: int
    needed: int
    found: int
    quiet_turns: int
    silent: int

    @property
    def precision(self) -> float | None:
        """The share of what was recommended that was needed, 0..1; None where nothing was recommended."""
        return self.right / self.recommended if self.recommended else None

    @property
    def recall(self) -> float | None:
        """The share of what was needed and unknown that was recommended, 0..1; None where nothing was."""
        return self.found / self.needed if self.needed else None


def prefetch_figures(turns: Iterable[Turn]) -> PrefetchFigures:
    """Count the recommendations of turns.

    >>> turn = Turn(agent="main", number=1, needs=("a",), unknown=("a",), recommended=("a", "b"))
    >>> prefetch_figures([turn]).precision, prefetch_figures([turn]).recall
    (0.5, 1.0)
    """
    recommended = right = needed = found = quiet = silent = 0
    for turn in turns:
        recommended += len(turn.recommended)
        right += sum(name in turn.needs for name in turn.recommended)
        needed += len(turn.unknown)
        found += sum(name in turn.recommended for name in turn.unknown)
        quiet += not turn.needs
        silent += not turn.needs and not turn.recommended
    return PrefetchFigures(
        recommended=recommended, right=right, needed=needed, found=found, quiet_turns=quiet, silent=silent
    )
