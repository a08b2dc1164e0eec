"""What a replay gives: requests with their answers, turns with what they needed; and how much time passes in it."""

from __future__ import annotations

from dataclasses import dataclass

from toolsearch_eval.sessionlab.blocks import Block
from toolsearch_eval.sessionlab.happenings import Happening


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How much time passes, in seconds; conversations hold no times.

    Attributes:
        between_turns: Before a user says something.
        between_requests: Before any other request.
    """

    between_turns: float = 60.0
    between_requests: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One request, and what the model answered.

    Attributes:
        agent: Whose it is.
        turn: The 1-based turn of this agent: how often its user has spoken.
        seconds: When it was sent, from the beginning of the conversation.
        blocks: The request.
        reply: The answer: texts and calls.
        searches: How many searches the answer asks for.
        failed: How many of its calls failed.
        recommended: The tools that this request recommends.
        happened: What happened since the agent's request before, in order.
    """

    agent: str
    turn: int
    seconds: float
    blocks: tuple[Block, ...]
    reply: tuple[str, ...]
    searches: int = 0
    failed: int = 0
    recommended: tuple[str, ...] = ()
    happened: tuple[Happening, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a user's turn needed, and what was recommended in it.

    Attributes:
        agent: Whose turn.
        number: 1-based.
        needs: The tools that it needs.
        unknown: Those of them that the model had not been shown when the turn began.
        recommended: What was recommended in it.
    """

    agent: str
    number: int
    needs: tuple[str, ...]
    unknown: tuple[str, ...]
    recommended: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A conversation as it went under a strategy.

    Attributes:
        conversation: Its name.
        strategy: The strategy's name.
        requests: In the order in which they were sent.
        turns: In the order in which they began.
        called: Every tool that was called by the script, in order, with the agent.
        warnings: What the sessions warned about, each once.
    """

    conversation: str
    strategy: str
    requests: tuple[Sent, ...]
    turns: tuple[Turn, ...]
    called: tuple[str, ...]
    warnings: tuple[str, ...]
