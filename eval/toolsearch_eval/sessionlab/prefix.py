"""How much of a request is the same as in the one before, and what broke it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from toolsearch.tokens import TokenCounter
from toolsearch_eval.sessionlab.blocks import DEFINITIONS, Block, Part, end_of_history

Change = Literal["added", "removed", "changed", "moved", "shortened"]
"""What happened to the first piece that differs; `shortened`: the new request ends before the old one did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixBreak:
    """Why a request does not begin like the one before up to its last cache mark.

    Attributes:
        part: What kind of piece differs first.
        name: The tool, or what the piece is.
        change: What happened to it.
        place: Its 1-based place in the new request, or the one behind its end.
        byte: The 0-based byte of the piece from which on it differs; 0 where another piece stands there.
        request_byte: The same byte counted from the beginning of the request.
        lost_tokens: Tokens of the old request, up to its last mark, that are not at the beginning of the new one.
    """

    part: Part
    name: str
    change: Change
    place: int
    byte: int
    request_byte: int
    lost_tokens: int

    def __str__(self) -> str:
        """One line for people."""
        what = f"tool {self.name}" if self.part in DEFINITIONS else self.name
        return f"{what} {self.change}, piece {self.place}, byte {self.byte} ({self.request_byte} of the request)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonPrefix:
    """What two requests have in common at their beginning.

    Attributes:
        blocks: Whole pieces.
        bytes: Bytes (UTF-8), those of the next piece up to the first difference too.
        tokens: Tokens of the same.
    """

    blocks: int
    bytes: int
    tokens: int


class Sizes:
    """Tokens and bytes of texts, each counted once."""

    def __init__(self, counter: TokenCounter) -> None:
        """Take the counter."""
        self.counter = counter
        self._tokens: dict[str, int] = {}
        self._bytes: dict[str, int] = {}

    def tokens(self, text: str) -> int:
        """The tokens of a text."""
        known = self._tokens.get(text)
        if known is None:
            known = self._tokens[text] = self.counter.count(text)
        return known

    def bytes(self, text: str) -> int:
        """The bytes of a text."""
        known = self._bytes.get(text)
        if known is None:
            known = self._bytes[text] = len(_utf8(text))
        return known


def prefix_hash(blocks: Sequence[Block]) -> str:
    """A short mark of the pieces up to the last cache mark: equal exactly where they are.

    >>> prefix_hash([Block("user", "", "hi", "user")])
    '3660606e8650d16b'
    """
    digest = hashlib.sha256()
    for block in blocks[: end_of_history(tuple(blocks))]:
        for text in (block.role, block.text):
            encoded = _utf8(text)
            digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()[:16]


def is_same(a: Block, b: Block) -> bool:
    """Whether two pieces are the same for a cache; marks make no difference."""
    return a is b or (a.role == b.role and a.text == b.text)


def common_prefix(before: Sequence[Block], now: Sequence[Block], sizes: Sizes) -> CommonPrefix:
    """What two requests have in common at their beginning."""
    blocks = 0
    for a, b in zip(before, now, strict=False):
        if not is_same(a, b):
            break
        blocks += 1
    whole = now[:blocks]
    tokens = sum(sizes.tokens(block.text) for block in whole)
    size = sum(sizes.bytes(block.text) for block in whole)
    if blocks < min(len(before), len(now)) and before[blocks].role == now[blocks].role:
        alike = _alike(before[blocks].text, now[blocks].text)
        # Cut inside of a piece, its beginning may count a token more than it has there.
        tokens += min(sizes.tokens(alike), sizes.tokens(now[blocks].text)) if alike else 0
        size += len(_utf8(alike))
    return CommonPrefix(blocks=blocks, bytes=size, tokens=tokens)


def prefix_break(before: Sequence[Block], now: Sequence[Block], sizes: Sizes) -> PrefixBreak | None:
    """What broke the prefix; None where the request begins like the one before up to that one's last cache mark."""
    common = common_prefix(before, now, sizes)
    end = end_of_history(tuple(before))
    if common.blocks >= end:
        return None
    lost = sum(sizes.tokens(block.text) for block in before[:end]) - common.tokens
    old = before[common.blocks]
    new = now[common.blocks] if common.blocks < len(now) else None
    named, change = _what(before, now, old, new)
    byte = 0
    if new is not None and change == "changed":
        byte = len(_utf8(_alike(old.text, new.text)))
    return PrefixBreak(
        part=named.part,
        name=named.label,
        change=change,
        place=common.blocks + 1,
        byte=byte,
        request_byte=sum(sizes.bytes(block.text) for block in now[: common.blocks]) + byte,
        lost_tokens=max(0, lost),
    )


def _what(before: Sequence[Block], now: Sequence[Block], old: Block, new: Block | None) -> tuple[Block, Change]:
    """The piece that is to blame, and what happened to it."""
    if new is None:
        return old, "shortened"
    if old.part not in DEFINITIONS and new.part not in DEFINITIONS:
        return (new, "changed") if old.role == new.role else (old, "removed")
    if old.part not in DEFINITIONS:
        return new, "added"
    if new.part not in DEFINITIONS:
        return old, "removed"
    if old.label == new.label:
        return new, "changed"
    names_before = {block.label for block in before if block.part in DEFINITIONS}
    names_now = {block.label for block in now if block.part in DEFINITIONS}
    if new.label not in names_before:
        return new, "added"
    return (old, "removed") if old.label not in names_now else (new, "moved")


def _alike(a: str, b: str) -> str:
    """The beginning that two texts share."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return a[:low]


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
