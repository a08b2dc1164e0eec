"""How tools are used: how often they are called, and what it takes to find them where they are deferred."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One tool in any number of conversations in which it is deferred; all are sums, so they can be added up.

    An agent is the main one of a conversation or a sub-agent: it has requests, and so a tools array, of its own.

    Attributes:
        calls: Calls of the tool.
        users: Agents that called it.
        agents: Agents in whose array it would stand if it were pinned.
        requests: Requests of these agents, without the round trips that only search for this tool.
        announced: Requests of these agents that list its name.
        first_announced: Those of them that are the first to list it for an agent.
        searches: Round trips to find it; one that looks for several tools counts as a part for each.
        reread: Tokens that these round trips send once more: everything that stood in the request before.
        listed: Tokens of the lists of deferred tools that they send once more; only with a list in each request.
        asked: Tokens that the model writes to search.
        answered: Tokens of the answers.
        kept: Tokens of both that later requests send again, summed over those requests.
        wrapped: Tokens that the model writes more since it calls through the proxy.
        wrapped_kept: The same in later requests, summed over them.
    """

    calls: float = 0.0
    users: float = 0.0
    agents: float = 0.0
    requests: float = 0.0
    announced: float = 0.0
    first_announced: float = 0.0
    searches: float = 0.0
    reread: float = 0.0
    listed: float = 0.0
    asked: float = 0.0
    answered: float = 0.0
    kept: float = 0.0
    wrapped: float = 0.0
    wrapped_kept: float = 0.0

    def __add__(self, other: ToolUse) -> ToolUse:
        """The uses of both.

        >>> (ToolUse(calls=2, searches=0.5) + ToolUse(calls=1)).calls
        3
        """
        return ToolUse(**{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(ToolUse)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What was seen of a number of conversations.

    Attributes:
        conversations: How many.
        agents: Their agents that can search.
        requests: The requests of these, round trips to search included.
        uses: By tool, for each that could be pinned or was called.
    """

    conversations: int
    agents: int
    requests: int
    uses: Mapping[str, ToolUse]


def together(seen: Iterable[Observed]) -> Observed:
    """All of them as one; without any, nothing was seen."""
    conversations = agents = requests = 0
    uses: dict[str, ToolUse] = {}
    for each in seen:
        conversations += each.conversations
        agents += each.agents
        requests += each.requests
        for name, use in each.uses.items():
            uses[name] = uses.get(name, ToolUse()) + use
    return Observed(
        conversations=conversations, agents=agents, requests=requests, uses={name: uses[name] for name in sorted(uses)}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Typical:
    """What a use costs on average, for tools of which only the number of calls is known.

    Attributes:
        requests: Requests of an agent.
        reread: Tokens that a round trip to search sends once more.
        listed: Tokens of the list of deferred tools in it.
        asked: Tokens of the search that the model writes.
        answered: Tokens of the answer.
        wrapped: Tokens that a call through the proxy takes more.
    """

    requests: float
    reread: float
    listed: float
    asked: float
    answered: float
    wrapped: float


def typical(seen: Observed) -> Typical | None:
    """The averages over everything that was seen; None where nothing was searched for or no request was sent."""
    searches = sum(use.searches for use in seen.uses.values())
    calls = sum(use.calls for use in seen.uses.values())
    if not searches or not calls or not seen.agents:
        return None

    def mean(name: str, count: float) -> float:
        return float(sum(getattr(use, name) for use in seen.uses.values()) / count)

    return Typical(
        requests=seen.requests / seen.agents,
        reread=mean("reread", searches),
        listed=mean("listed", searches),
        asked=mean("asked", searches),
        answered=mean("answered", searches),
        wrapped=mean("wrapped", calls),
    )


def assumed_use(calls: float, users: float, *, agents: float, requests: float, usual: Typical) -> ToolUse:
    """What the use of a tool would be of which only counts are known.

    It is searched for once in each session that calls it, alone, and what that adds stays in half of the session's
    other requests, as a search in its middle would.

    Args:
        calls: How often it is called in all.
        users: In how many sessions; at most `agents` and at most `calls`.
        agents: Sessions in all; the tool is there in each of them.
        requests: Requests of a session, at least 1.
        usual: What a use costs on average.

    >>> usual = Typical(requests=11, reread=1000, listed=50, asked=20, answered=200, wrapped=15)
    >>> use = assumed_use(6, 3, agents=10, requests=11, usual=usual)
    >>> use.requests, use.searches, use.reread, use.kept, use.wrapped_kept
    (110, 3, 3000, 3300.0, 450.0)
    """
    later = (requests - 1) / 2
    return ToolUse(
        calls=calls,
        users=users,
        agents=agents,
        requests=agents * requests,
        announced=agents * requests + users,
        first_announced=agents,
        searches=users,
        reread=users * usual.reread,
        listed=users * usual.listed,
        asked=users * usual.asked,
        answered=users * usual.answered,
        kept=users * (usual.asked + usual.answered) * later,
        wrapped=calls * usual.wrapped,
        wrapped_kept=calls * usual.wrapped * later,
    )
