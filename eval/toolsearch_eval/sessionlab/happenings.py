"""What happens between two requests of an agent, and which of it broke the prefix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from toolsearch_eval.sessionlab.blocks import DEFINITIONS
from toolsearch_eval.sessionlab.prefix import PrefixBreak

Kind = Literal["compaction", "server", "tools changed", "discovery", "resume", "unexplained"]
"""`compaction`: old messages gave way to a note. `server`: one connected, failed or went. `tools changed`: a server has
other tools. `discovery`: a search or a recommendation showed tools. `resume`: another process went on. `unexplained`:
none of these."""

KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One thing that happened.

    Attributes:
        kind: What kind.
        words: The same for people.
        tools: The tools that it is about, as they are sent; none for what is about the history.
    """

    kind: Kind
    words: str
    tools: frozenset[str] = frozenset()


def cause_of(broken: PrefixBreak, happened: Sequence[Happening]) -> Happening:
    """What broke a prefix, of what happened since the request before.

    Args:
        broken: The first piece that differs.
        happened: In order. A definition is blamed on what happened to its tool last, everything else on the history.

    Returns:
        One of kind `unexplained` where nothing that happened tells.
    """
    last_first = tuple(reversed(happened))
    if broken.part in DEFINITIONS:
        for each in last_first:
            if broken.name in each.tools:
                return each
    for kind in ("compaction", "resume"):
        for each in last_first:
            if each.kind == kind:
                return each
    return Happening(kind="unexplained", words="nothing that happened tells why")
