"""Which tools the model has been shown with their parameters: a set that is kept, never read back out of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

Source = Literal["search", "prefetch", "refusal"]
"""What showed the parameters: an answer of the search, a recommendation, or a refused call that taught them."""

SOURCES: tuple[Source, ...] = get_args(Source)


@dataclass(frozen=True, slots=True)
class Discovery:
    """One tool that the model knows.

    Attributes:
        name: The tool's id.
        source: What showed it first.
        in_context: Its parameters stand in what the model still sees of the conversation; compaction ends that.
    """

    name: str
    source: Source
    in_context: bool = True


class DiscoveredTools:
    """The discovered tools of one conversation, in the order in which they were discovered.

    Announcements don't count: the model has seen a name, not how to call it. Compaction keeps what was discovered, so a
    tool that the model knew can still be called; only `in_context` falls.

    >>> known = DiscoveredTools()
    >>> known.add(["send"], "search")
    >>> "send" in known, known.names
    (True, ('send',))
    """

    def __init__(self, discoveries: Iterable[Discovery] = ()) -> None:
        """Start with what a saved conversation had."""
        self._by_name: dict[str, Discovery] = {each.name: each for each in discoveries}

    def add(self, names: Iterable[str], source: Source) -> None:
        """Remember that the parameters of these tools were shown; the first source stays."""
        for name in names:
            known = self._by_name.get(name)
            if known is None or not known.in_context:
                self._by_name[name] = Discovery(name, known.source if known else source)

    def compacted(self, kept: Iterable[str] = ()) -> None:
        """Take in that the conversation was compacted: parameters are out of sight, but for `kept`."""
        still = set(kept)
        # A new dict: whoever iterates over the old one at this moment is not disturbed.
        self._by_name = {
            name: Discovery(name, known.source, known.in_context and name in still)
            for name, known in self._by_name.items()
        }

    def in_context(self, name: str) -> bool:
        """Whether the tool's parameters are still in sight."""
        known = self._by_name.get(name)
        return known is not None and known.in_context

    @property
    def names(self) -> tuple[str, ...]:
        """The names, oldest first."""
        return tuple(self._by_name)

    def __contains__(self, name: object) -> bool:
        """Whether the tool was ever discovered."""
        return name in self._by_name

    def __iter__(self) -> Iterator[Discovery]:
        """Each discovery, oldest first."""
        return iter(tuple(self._by_name.values()))

    def __len__(self) -> int:
        """How many tools were discovered."""
        return len(self._by_name)
