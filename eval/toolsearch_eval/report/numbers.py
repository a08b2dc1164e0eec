"""Numbers as they are read in tables."""

from __future__ import annotations

from toolsearch_eval.statistics import Interval


def number_text(value: float | None, digits: int = 3) -> str:
    """So many decimals, or a dash for no value; zero has no sign.

    >>> number_text(0.12345), number_text(None), number_text(-0.0001)
    ('0.123', '-', '0.000')
    """
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def signed_text(value: float | None) -> str:
    """A difference with its sign.

    >>> signed_text(0.12345), signed_text(-0.5), signed_text(0.0), signed_text(None)
    ('+0.123', '-0.500', '+0.000', '-')
    """
    return "-" if value is None else f"{round(value, 3) + 0.0:+.3f}"


def interval_text(interval: Interval, *, signed: bool = False) -> str:
    """A mean with its interval in square brackets; without one, the mean alone.

    >>> interval_text(Interval(0.5, 0.4, 0.6, 9)), interval_text(Interval(0.5, None, None, 1), signed=True)
    ('0.500 [0.400, 0.600]', '+0.500')
    """
    write = signed_text if signed else number_text
    if interval.low is None or interval.high is None:
        return write(interval.mean)
    return f"{write(interval.mean)} [{write(interval.low)}, {write(interval.high)}]"


def p_text(value: float) -> str:
    """A p value; what ten thousand sign flips can't tell from zero is said as a bound.

    >>> p_text(0.03125), p_text(0.0001)
    ('0.0312', '<0.0002')
    """
    return "<0.0002" if value < 0.0002 else f"{value:.4f}"
