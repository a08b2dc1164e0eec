"""A chart together with the text that says the same; colours and shapes that all charts share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import altair

Chart: TypeAlias = altair.Chart | altair.LayerChart | altair.HConcatChart | altair.VConcatChart | altair.FacetChart

# After the palette of Okabe and Ito, which most people with another colour vision tell apart, without its yellow, which
# vanishes on white, and with a blue that is as clear on the dark page as on the white one. A colour never stands alone:
# a label, a shape or a place says the same.
COLOURS: Final = ("#1f83bf", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
SIDE_A: Final = COLOURS[1]
SIDE_B: Final = COLOURS[0]
GREY: Final = "#777d84"
"""For lines and words beside the data: more than 4 to 1 against both pages."""
SHORT: Final = "datum.value ? format(datum.value, '~s') : '0'"
"""How an axis writes large numbers: 0, 50k, 1.2M."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart with its text alternative.

    Attributes:
        chart: What is drawn; as wide as its place.
        text: What it shows, in a sentence or some, for whoever can't see it.
    """

    chart: Chart
    text: str
