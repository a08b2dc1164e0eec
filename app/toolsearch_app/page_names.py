"""Which pages there are."""

from __future__ import annotations

from typing import Final

PAGES: Final = (
    ("explore", "Explore"),
    ("evaluate", "Compare"),
    ("health", "Data health"),
    ("tuning", "Tuning"),
    ("cache", "Cache stability"),
    ("savings", "Token savings"),
    ("gate", "Gate history"),
)
"""File and title of each page; the first is the one at the root. No page has a sign: emoji are not on every machine."""
