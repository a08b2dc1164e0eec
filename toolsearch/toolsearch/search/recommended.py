"""The names that a session has recommended already, so that it does not say the same again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class RecommendedNames:
    """A set of names with a bound: when it grows past `limit`, the oldest go until `keep` are left.

    A name keeps the age of its first addition. Tools and skills each have a set of their own.

    >>> names = RecommendedNames(["a", "b", "c"], limit=3, keep=2)
    >>> names.add(["a", "d"])
    >>> list(names)
    ['c', 'd']
    """

    def __init__(self, names: Iterable[str] = (), *, limit: int = 500, keep: int = 400) -> None:
        """Start with names, oldest first.

        Raises:
            ValueError: Not 0 <= keep <= limit.
        """
        if not 0 <= keep <= limit:
            raise ValueError(f"keep is {keep} and limit {limit}; it must be 0 <= keep <= limit.")
        self._limit = limit
        self._keep = keep
        self._names: dict[str, None] = {}
        self.add(names)

    def add(self, names: Iterable[str]) -> None:
        """Add names; what is there already keeps its age."""
        self._names.update(dict.fromkeys(name for name in names if name not in self._names))
        if len(self._names) > self._limit:
            self._names = dict.fromkeys(list(self._names)[len(self._names) - self._keep :])

    def __contains__(self, name: object) -> bool:
        """Whether the name was recommended and is remembered."""
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        """The names, oldest first."""
        return iter(tuple(self._names))

    def __len__(self) -> int:
        """How many names are remembered."""
        return len(self._names)
