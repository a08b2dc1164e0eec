"""How many tokens a text costs a model: one counter for the whole project.

With the extra `tokens` it is a real byte-pair encoding (o200k); without it an estimate that is called one. Providers
count a little differently from each other, so even the real encoding is a measure for comparing and budgeting, not a
bill.
"""

from __future__ import annotations

import functools
import importlib.util
import math
import re
import warnings
from collections.abc import Callable
from typing import Literal, Protocol

from toolsearch.errors import UnknownNameError, UsageError

COUNTERS = ("auto", "bpe", "estimate")
"""What `token_counter` accepts."""

_ENCODING = "o200k_base"
_LARGEST_PIECE = 250_000
"""The encoding refuses texts of a million characters; longer ones are counted in pieces of this size."""

# The estimate cuts a text roughly as the encoding does and charges each piece its average price. The prices were fitted
# (non-negative least squares) to o200k counts of the shipped tool definitions, descriptions and queries; what a longer
# run costs for each further character was rounded up, so that base64 or a wall of signs is not taken for cheap prose.
_PIECE = re.compile(
    r"(?P<word>[A-Z]+(?![a-z])|[A-Z]?[a-z]+)"
    r"|(?P<number>[0-9]{1,3})"
    r"|(?P<ideograph>[\u3400-\u9fff\uf900-\ufaff])"
    r"|(?P<latin>[A-Za-z\u00c0-\u024f]+)"
    r"|(?P<letter>[^\W\d_])"
    r"|(?P<line>\s*[\r\n]+)"
    r"|(?P<blanks>[^\S\r\n]{2,})"
    r"|(?P<marks>[!-/:-@\[-`{-~]+)"
    r"|(?P<other>\S)"
)
# Kind of piece: its price, the length from which more is charged, and the price of each character beyond.
_PRICES: dict[str, tuple[float, int, float]] = {
    "word": (1.04, 8, 0.1),
    "number": (1.34, 3, 0.0),
    "ideograph": (0.75, 1, 0.0),
    "latin": (0.84, 3, 0.35),
    "letter": (0.42, 1, 0.0),
    "line": (0.78, 16, 0.1),
    "blanks": (1.0, 16, 0.1),
    "marks": (0.68, 2, 0.3),
    "other": (1.5, 1, 0.0),
}
_LONG_WORD = 20
_PRICE_BEYOND_LONG_WORD = 0.3


class TokenCounter(Protocol):
    """Counts the tokens of a text.

    Attributes:
        name: What was counted with, for reports: `o200k_base` or `estimate`.
    """

    @property
    def name(self) -> str:
        """What was counted with."""
        ...

    def count(self, text: str) -> int:
        """The number of tokens, at least 0; 0 for the empty text only."""
        ...


class _Estimate:
    """Prices by kind and length of piece; see `ESTIMATE`."""

    name = "estimate"

    def count(self, text: str) -> int:
        """About how many tokens; at least 1 for a text that is not empty."""
        if not text:
            return 0
        total = 0.0
        for piece in _PIECE.finditer(text):
            kind = piece.lastgroup or "other"
            length = piece.end() - piece.start()
            price, free, beyond = _PRICES[kind]
            total += price + max(0, length - free) * beyond
            if kind == "word":
                total += max(0, length - _LONG_WORD) * (_PRICE_BEYOND_LONG_WORD - beyond)
        return max(1, math.floor(total + 0.5))


ESTIMATE: TokenCounter = _Estimate()
"""The estimate. Against o200k, on the shipped data: the sum over all tool definitions is within 2%, one definition off
by 2% on average, a query, which is one line of text, by 12%; other languages and pasted garbage are less sure. Tool
definitions are therefore as good as counted, a single short line is not."""


class _BytePairs:
    """Counts with a real encoding, loaded at the first count (it takes most of a second)."""

    name = _ENCODING

    def count(self, text: str) -> int:
        """The exact number of tokens; beyond a quarter million characters, at most one too many for each such piece."""
        encode = _encoder()
        return sum(len(encode(text[start : start + _LARGEST_PIECE])) for start in range(0, len(text), _LARGEST_PIECE))


def token_counter(prefer: Literal["auto", "bpe", "estimate"] = "auto") -> TokenCounter:
    """The token counter of the project.

    Args:
        prefer: `auto` takes the real encoding if the extra `tokens` is installed, else the estimate. `bpe` and
            `estimate` insist.

    Raises:
        UsageError: `bpe` without the extra.
        UnknownNameError: A counter that does not exist.

    >>> token_counter("estimate").count("Send a message to a channel"), token_counter("estimate").count("")
    (6, 0)
    """
    if prefer not in COUNTERS:
        raise UnknownNameError("token counter", str(prefer), COUNTERS)
    if prefer == "estimate":
        return ESTIMATE
    if importlib.util.find_spec("bpe_openai") is not None:
        return _BytePairs()
    if prefer == "bpe":
        raise UsageError(
            "token counter 'bpe' needs the extra `tokens`, which is not installed. Install it with "
            "pip install 'toolsearch[tokens]', or use 'estimate'."
        )
    return ESTIMATE


@functools.cache
def _encoder() -> Callable[[str], list[int]]:
    with warnings.catch_warnings():
        # The library opens its data by a function that Python 3.11 calls deprecated; nothing that a user could mend.
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai

        encode: Callable[[str], list[int]] = bpe_openai.get_encoding(_ENCODING).encode_ordinary
    return encode
