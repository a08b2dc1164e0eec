"""One agent at work in a replay: its session, its history, its turn, and what has happened since it last asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from toolsearch_eval.conversations import UserEvent
from toolsearch_eval.sessionlab.blocks import Part
from toolsearch_eval.sessionlab.happenings import Happening
from toolsearch_eval.sessionlab.replayed import Turn
from toolsearch_eval.sessionlab.strategies import LabSession


@dataclass(slots=True)
class Agent:
    """One agent at work.

    Attributes:
        name: `main`, or the parent's name and a number.
        session: Its session; another one after a resume.
        history: What its session keeps.
        turn: How often its user has spoken.
        recommended: What was recommended in this turn.
        texts: The part of each text that its session has added, as it was sent.
        searches: The ids of its calls that are searches.
        spoke_last: It has answered and waits for its user.
        children: How many sub-agents it has had.
        last_words: What it said last.
    """

    name: str
    session: LabSession
    history: list[Any] = field(default_factory=list)
    turn: int = 0
    recommended: list[str] = field(default_factory=list)
    texts: dict[str, Part] = field(default_factory=dict)
    searches: set[str] = field(default_factory=set)
    spoke_last: bool = False
    children: int = 0
    last_words: str = ""
    _needs: tuple[str, ...] = ()
    _unknown: tuple[str, ...] = ()
    _happened: list[Happening] = field(default_factory=list)
    _discovered: frozenset[str] = frozenset()
    _sent_names: dict[str, str] = field(default_factory=dict)

    def can_call(self, name: str) -> bool:
        """Whether the model can call a tool without a search: it stands in the array, or it was shown."""
        if not self.session.decision.enabled or name in self.session.array_names():
            return True
        return name in self._in_sight()

    def hear(self, event: UserEvent) -> None:
        """Its user speaks, and a turn begins."""
        self.turn += 1
        self._needs = event.needs
        seen = self._in_sight() | self.session.array_names()
        self._unknown = tuple(name for name in event.needs if name not in seen)
        self.history.append(self.session.user(event.text))
        self.spoke_last = False

    def ended_turn(self) -> Turn | None:
        """The turn that has come to its end; None before the first one."""
        recommended = tuple(self.recommended)
        self.recommended = []
        if not self.turn:
            return None
        return Turn(
            agent=self.name,
            number=self.turn,
            needs=self._needs,
            unknown=self._unknown,
            recommended=recommended,
        )

    def happened(self, happening: Happening) -> None:
        """Note what happens, tools by their own names."""
        self._happened.append(happening)

    def since_last_request(self) -> tuple[Happening, ...]:
        """What has happened since the request before, tools as they are sent; asked for once before each."""
        self._sent_names.update(self.session.sent_names())
        discovered = self.session.discovered_names()
        fresh = discovered - self._discovered
        if fresh:
            first, *others = sorted(fresh)
            words = f"the model was shown {first}" + (f" and {len(others)} more" if others else "")
            self._happened.append(Happening(kind="discovery", words=words, tools=fresh))
        self._discovered = discovered
        told = tuple(replace(each, tools=self._as_sent(each.tools)) for each in self._happened)
        self._happened = []
        return told

    def _as_sent(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(self._sent_names.get(name, name) for name in names)

    def _in_sight(self) -> set[str]:
        """The tools whose parameters stand in what the model still sees."""
        return {each.name for each in self.session.save().discovered if each.in_context}
