"""What is photographed: a page, its choices, the window that it is seen in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Scheme = Literal["light", "dark"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One picture.

    Attributes:
        name: Of the picture's file, without its ending.
        path: Page and choices, as they stand in the address after the dashboard's own.
        width: Of the window, in pixels.
        height: Of the window, in pixels.
        scheme: Light or dark.
        heading: The heading that the picture begins with; the top of the page where it is empty.
    """

    name: str
    path: str
    width: int = 1280
    height: int = 900
    scheme: Scheme = "light"
    heading: str = ""


_QUERY: Final = "reply+to+a+message+in+the+team+chat"
SCENES: Final = (
    Scene(name="explore", path=f"?q={_QUERY}&a=reference&b=default", height=1000),
    Scene(name="explore-phone", path=f"?q={_QUERY}&a=reference&b=default", width=400, height=1000, scheme="dark"),
    Scene(name="compare", path="evaluate?ranker_a=bm25f&ranker_b=default", height=1520),
    Scene(name="tuning", path="tuning", height=1240, scheme="dark", heading="History"),
    Scene(name="cache", path="cache?strategy=inject", height=1200, heading="Turn by turn"),
    Scene(name="savings", path="savings?strategy=stable%2Bdelta", height=1000),
)
"""The pictures of the README, each of a page as it is with the shipped data."""
