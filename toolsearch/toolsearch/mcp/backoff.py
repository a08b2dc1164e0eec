"""How long to wait before a server is tried again."""

from __future__ import annotations

from dataclasses import dataclass

from toolsearch.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Waiting times that grow with every failure in a row.

    Attributes:
        first: Seconds after the first failure, above 0.
        factor: What each further one multiplies it by, at least 1.
        longest: Seconds that are never exceeded, spread included.
        spread: The share of a time, 0..1, that chance may take away: servers that died together come back one by one.
        steady: Seconds that a connection has to last before its end counts as a first failure again.
    """

    first: float = 0.5
    factor: float = 2.0
    longest: float = 60.0
    spread: float = 0.25
    steady: float = 30.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        good = self.first > 0 and self.factor >= 1 and self.longest >= self.first
        if not (good and 0 <= self.spread <= 1 and self.steady >= 0):
            raise UsageError(
                f"{self!r} is not valid: first above 0, factor at least 1, longest at least first, spread 0 to 1, "
                "steady at least 0."
            )

    def delay(self, failures: int, chance: float) -> float:
        """Seconds to wait.

        Args:
            failures: How many failures there were in a row, at least 1.
            chance: A random number, 0 up to 1.

        >>> [Backoff(spread=0).delay(number, 0.0) for number in (1, 2, 3, 50)]
        [0.5, 1.0, 2.0, 60.0]
        >>> Backoff(spread=0.5).delay(1, 1.0)
        0.25
        """
        # 64 doublings of any sensible time are above every limit, and no float overflows on the way there.
        grown = self.first * self.factor ** min(failures - 1, 64)
        return min(grown, self.longest) * (1 - self.spread * chance)
