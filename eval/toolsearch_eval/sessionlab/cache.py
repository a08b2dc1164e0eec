"""A provider's cache: which tokens of each request it reads, which it writes, and which are new to it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from toolsearch_eval.sessionlab.blocks import Block
from toolsearch_eval.sessionlab.prefix import Sizes, common_prefix
from toolsearch_eval.sessionlab.providers import CacheRules


@dataclass(frozen=True, slots=True)
class CacheUse:
    """The tokens of one request; they add up to all that was sent.

    Attributes:
        cached: Read from the cache.
        written: Written to it, and charged as that; 0 where writing is not told apart (`automatic`).
        new: Neither.
    """

    cached: int
    written: int
    new: int

    @property
    def sent(self) -> int:
        """All tokens of the request."""
        return self.cached + self.written + self.new


@dataclass(slots=True)
class _Request:
    blocks: tuple[Block, ...]
    seconds: float


@dataclass(slots=True)
class PrefixCache:
    """The cache as one conversation and its sub-agents find it; empty at the beginning.

    With `marks`, the prefix up to each mark of a request is kept, if it is long enough. A mark finds the longest kept
    prefix that ends with it or a few blocks before it; what is used is kept anew. With `automatic`, the longest
    beginning that a kept request shares is read, in whole steps.
    """

    rules: CacheRules
    sizes: Sizes
    _kept: dict[bytes, float] = field(default_factory=dict)
    _requests: list[_Request] = field(default_factory=list)

    def use(self, blocks: Sequence[Block], seconds: float) -> CacheUse:
        """Send a request.

        Args:
            blocks: The request.
            seconds: When, not before the last one.
        """
        sent = sum(self.sizes.tokens(block.text) for block in blocks)
        if self.rules.kind == "marks":
            return self._marked(blocks, seconds, sent)
        return self._automatic(tuple(blocks), seconds, sent)

    def _marked(self, blocks: Sequence[Block], seconds: float, sent: int) -> CacheUse:
        ends: list[int] = []
        chain: list[bytes] = []
        digest = hashlib.sha256()
        tokens = 0
        for block in blocks:
            tokens += self.sizes.tokens(block.text)
            ends.append(tokens)
            for text in (block.role, block.text):
                encoded = text.encode("utf-8", "surrogatepass")
                digest.update(len(encoded).to_bytes(8, "big") + encoded)
            chain.append(digest.digest())
        marks = [place for place, block in enumerate(blocks) if block.marked]
        cached = 0
        for mark in marks:
            for place in range(mark, max(-1, mark - self.rules.lookback_blocks - 1), -1):
                if seconds - self._kept.get(chain[place], float("-inf")) <= self.rules.lifetime_seconds:
                    self._kept[chain[place]] = seconds
                    cached = max(cached, ends[place])
                    break
        end = 0
        for mark in marks:
            if ends[mark] >= self.rules.minimum_tokens:
                self._kept[chain[mark]] = seconds
                end = ends[mark]
        written = max(0, end - cached)
        return CacheUse(cached, written, sent - cached - written)

    def _automatic(self, blocks: tuple[Block, ...], seconds: float, sent: int) -> CacheUse:
        longest = 0
        for kept in self._requests:
            if seconds - kept.seconds <= self.rules.lifetime_seconds:
                longest = max(longest, common_prefix(kept.blocks, blocks, self.sizes).tokens)
        cached = 0
        if longest >= self.rules.minimum_tokens:
            beyond = longest - self.rules.minimum_tokens
            cached = self.rules.minimum_tokens + beyond // self.rules.step_tokens * self.rules.step_tokens
        if sent >= self.rules.minimum_tokens:
            self._requests.append(_Request(blocks, seconds))
        return CacheUse(cached, 0, sent - cached)
