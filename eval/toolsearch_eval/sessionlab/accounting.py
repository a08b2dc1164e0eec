"""Every request with its tokens, what the cache did with them, and what they cost."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolsearch_eval.sessionlab.blocks import ABOUT_TOOLS, DEFINITIONS, PARTS, Block, Part, end_of_history
from toolsearch_eval.sessionlab.cache import CacheUse, PrefixCache
from toolsearch_eval.sessionlab.happenings import Happening, cause_of
from toolsearch_eval.sessionlab.prefix import PrefixBreak, Sizes, common_prefix, prefix_break, prefix_hash
from toolsearch_eval.sessionlab.providers import ProviderProfile
from toolsearch_eval.sessionlab.replayed import Replayed


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRow:
    """One request.

    Attributes:
        conversation: Which conversation.
        strategy: Under which strategy.
        agent: Whose request.
        turn: The turn of that agent, 1-based.
        request: The 1-based number of the request in the conversation.
        seconds: When it was sent, from the beginning.
        parts: Tokens by part; they add up to `sent`. Parts without tokens are not in it.
        use: What the cache did with the tokens.
        output: Tokens that the model wrote.
        cost: Money for input and output, in the profile's currency.
        prefix: Mark of the request up to its last cache mark.
        array: Mark of its tools array; "" without one.
        prefix_tokens: Tokens up to its last cache mark.
        common_tokens: Tokens at the beginning that are the same as in the agent's request before; 0 for its first.
        common_bytes: The same in bytes.
        broken_by: What broke the prefix; None where nothing did.
        is_first: The agent's first request.
        searches: Searches that the model asked for in its answer.
        failed: Calls of the answer that failed.
        recommended: The tools that it recommends.
        cause: Why the prefix broke; None where it did not.
    """

    conversation: str
    strategy: str
    agent: str
    turn: int
    request: int
    seconds: float
    parts: Mapping[Part, int]
    use: CacheUse
    output: int
    cost: float
    prefix: str
    array: str
    prefix_tokens: int
    common_tokens: int
    common_bytes: int
    broken_by: PrefixBreak | None
    is_first: bool
    searches: int
    failed: int
    recommended: tuple[str, ...]
    cause: Happening | None = None

    @property
    def sent(self) -> int:
        """All tokens of the request."""
        return sum(self.parts.values())

    @property
    def tool_tokens(self) -> int:
        """Tokens that tell the model about tools: definitions, lists of names, recommendations, search answers."""
        return sum(self.parts.get(part, 0) for part in ABOUT_TOOLS)


def account(replayed: Replayed, profile: ProviderProfile, sizes: Sizes) -> tuple[RequestRow, ...]:
    """The requests of a replay under a provider's rules and prices.

    Args:
        replayed: A replay in the form of the profile's requests.
        profile: The provider.
        sizes: Counts the tokens of each piece; a request is the sum of its pieces.
    """
    cache = PrefixCache(profile.cache, sizes)
    before: dict[str, tuple[Block, ...]] = {}
    rows = []
    for number, sent in enumerate(replayed.requests, start=1):
        blocks = sent.blocks
        use = cache.use(blocks, sent.seconds)
        output = sum(sizes.tokens(text) for text in sent.reply)
        last = before.get(sent.agent)
        common = common_prefix(last, blocks, sizes) if last is not None else None
        broken = prefix_break(last, blocks, sizes) if last is not None else None
        rows.append(
            RequestRow(
                conversation=replayed.conversation,
                strategy=replayed.strategy,
                agent=sent.agent,
                turn=sent.turn,
                request=number,
                seconds=sent.seconds,
                parts=tokens_by_part(blocks, sizes),
                use=use,
                output=output,
                cost=profile.prices.of(cached=use.cached, written=use.written, new=use.new, output=output),
                prefix=prefix_hash(blocks),
                array=array_hash(blocks),
                prefix_tokens=sum(sizes.tokens(block.text) for block in blocks[: end_of_history(blocks)]),
                common_tokens=common.tokens if common else 0,
                common_bytes=common.bytes if common else 0,
                broken_by=broken,
                is_first=last is None,
                searches=sent.searches,
                failed=sent.failed,
                recommended=sent.recommended,
                cause=cause_of(broken, sent.happened) if broken is not None else None,
            )
        )
        before[sent.agent] = blocks
    return tuple(rows)


def kept_share(rows: Sequence[RequestRow]) -> float | None:
    """How much of what could be cached the next request of the same agent begins with.

    Args:
        rows: Requests of one strategy, in order; of any number of conversations.

    Returns:
        0..1: of all tokens up to the last cache mark of a request that another one follows, those that this one begins
        with; None where no request follows another.
    """
    before: dict[tuple[str, str], int] = {}
    whole = kept = 0
    for row in rows:
        key = (row.conversation, row.agent)
        if key in before:
            whole += before[key]
            kept += min(row.common_tokens, before[key])
        before[key] = row.prefix_tokens
    return kept / whole if whole else None


def tokens_by_part(blocks: Sequence[Block], sizes: Sizes) -> dict[Part, int]:
    """The tokens of each part that has any, in the order of `PARTS`."""
    counted: dict[Part, int] = dict.fromkeys(PARTS, 0)
    for block in blocks:
        counted[block.part] += sizes.tokens(block.text)
    return {part: tokens for part, tokens in counted.items() if tokens}


def array_hash(blocks: Sequence[Block]) -> str:
    """A short mark of the tools array; "" without a tool."""
    texts = [block.text for block in blocks if block.part in DEFINITIONS]
    if not texts:
        return ""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
