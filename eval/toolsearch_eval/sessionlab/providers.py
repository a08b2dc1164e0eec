"""Whose cache, and whose prices: profiles of providers as data, each figure with its source and date."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

from toolsearch.errors import DataError, Problem, UnknownNameError
from toolsearch.session.providers import PROVIDERS

SHIPPED = ("anthropic", "openai", "gemini")
"""The profiles that ship."""

CacheKind = Literal["marks", "automatic"]
"""`marks`: prefixes up to the marks of a request are cached. `automatic`: whatever begins alike is found by itself."""

_PRICES = ("input", "cached", "written", "output")


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheRules:
    """When a prefix is read from the cache.

    Attributes:
        kind: See `CacheKind`.
        minimum_tokens: Shorter prefixes are not cached; at least 0.
        step_tokens: With `automatic`: prefixes are cached in steps of this many tokens; at least 1.
        lookback_blocks: With `marks`: how many blocks before a mark an older prefix is still found; at least 0.
        lifetime_seconds: How long a prefix is kept after its last use; above 0.
    """

    kind: CacheKind
    minimum_tokens: int
    step_tokens: int = 1
    lookback_blocks: int = 0
    lifetime_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a million tokens cost.

    Attributes:
        input: Input that the cache has no part in.
        cached: Input that is read from the cache.
        written: Input that is written to it.
        output: What the model writes.
    """

    input: float
    cached: float
    written: float
    output: float

    def of(self, *, cached: int, written: int, new: int, output: int = 0) -> float:
        """What a request costs, in the profile's currency.

        >>> Prices(input=5, cached=0.5, written=6.25, output=25).of(cached=1_000_000, written=0, new=1_000_000)
        5.5
        """
        parts = (self.cached * cached, self.written * written, self.input * new, self.output * output)
        return math.fsum(parts) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where figures come from.

    Attributes:
        what: Which figures.
        where: The address of the page.
        seen: The date on which it said so (ISO).
    """

    what: str
    where: str
    seen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderProfile:
    """How one provider caches and charges.

    Attributes:
        name: As it is asked for.
        api: The form of the requests: one of `toolsearch.session.providers.PROVIDERS`.
        model: Which model the figures are about.
        currency: Of the prices.
        prices_as_of: The date of the prices (ISO).
        cache: When a prefix is read from the cache.
        prices: What tokens cost.
        sources: Where the figures come from.
        assumptions: What no source says.
    """

    name: str
    api: str
    model: str
    currency: str
    prices_as_of: str
    cache: CacheRules
    prices: Prices
    sources: tuple[Source, ...] = ()
    assumptions: tuple[str, ...] = ()


def provider_profile(name_or_file: str) -> ProviderProfile:
    """A shipped profile by name, or one from a TOML file of the same form.

    Raises:
        UnknownNameError: It is neither the name of a shipped profile nor a file.
        DataError: The file can't be read, or holds faults; all of them at once.

    >>> provider_profile("openai").cache.step_tokens
    128
    """
    if name_or_file in SHIPPED:
        text = files("toolsearch_eval.sessionlab").joinpath(f"profiles/{name_or_file}.toml").read_text("utf-8")
        return read_profile(text, source=f"{name_or_file}.toml")
    path = Path(name_or_file)
    if not name_or_file.endswith(".toml"):
        raise UnknownNameError("provider", name_or_file, SHIPPED, "A profile of your own is a .toml file.")
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise DataError([Problem(name_or_file, 0, "", f"can't be read: {error}")]) from error
    return read_profile(text, source=name_or_file)


def read_profile(text: str, *, source: str) -> ProviderProfile:
    """Read a profile.

    Args:
        text: TOML.
        source: What it is called in messages.

    Raises:
        DataError: All faults at once.
    """
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise DataError([Problem(source, 0, "", f"is not valid TOML: {error}")]) from error
    problems: list[Problem] = []
    table = _Table(raw, "", source, problems)
    names = {key: table.text(key) for key in ("name", "api", "model", "currency", "prices_as_of")}
    if names["api"] and names["api"] not in PROVIDERS:
        problems.append(Problem(source, 0, "api", f"is {names['api']!r}; accepted: {', '.join(PROVIDERS)}"))
    cache = table.table("cache")
    kinds = get_args(CacheKind)
    kind: Any = cache.text("kind")
    if kind and kind not in kinds:
        problems.append(Problem(source, 0, "cache.kind", f"is {kind!r}; accepted: {', '.join(kinds)}"))
    whole = {
        "minimum_tokens": cache.whole("minimum_tokens", 0),
        "step_tokens": cache.whole("step_tokens", 1, default=1),
        "lookback_blocks": cache.whole("lookback_blocks", 0, default=0),
    }
    lifetime = cache.number("lifetime_seconds", above=0)
    listed = table.table("prices")
    prices = {key: listed.number(key) for key in _PRICES}
    sources = [
        Source(what=row.text("what"), where=row.text("where"), seen=row.text("seen")) for row in table.tables("sources")
    ]
    assumptions = [row.text("what") for row in table.tables("assumptions")]
    for each in (table, cache, listed):
        each.end()
    if problems:
        raise DataError(problems)
    return ProviderProfile(
        **names,
        cache=CacheRules(kind=kind, lifetime_seconds=lifetime, **whole),
        prices=Prices(**prices),
        sources=tuple(sources),
        assumptions=tuple(assumptions),
    )


class _Table:
    """One table of the file: gives its values and notes what is wrong with them."""

    def __init__(self, row: Mapping[str, Any], place: str, source: str, problems: list[Problem]) -> None:
        self._row, self._place, self._source, self._problems = row, place, source, problems
        self._known: set[str] = set()

    def text(self, name: str) -> str:
        value = self._take(name, "")
        if not isinstance(value, str) or not value.strip():
            self._note(name, "must be a text that is not empty")
            return ""
        return value

    def whole(self, name: str, least: int, *, default: int | None = None) -> int:
        value = self._take(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            self._note(name, f"must be a whole number of at least {least}")
            return least
        return value

    def number(self, name: str, *, above: float | None = None) -> float:
        value = self._take(name, None)
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not number or value < 0 or (above is not None and value <= above):
            self._note(name, f"must be a number {'of at least 0' if above is None else f'above {above:g}'}")
            return 1.0
        return float(value)

    def table(self, name: str) -> _Table:
        value = self._take(name, {})
        if not isinstance(value, dict):
            self._note(name, "must be a table")
            value = {}
        return _Table(value, f"{self._place}{name}.", self._source, self._problems)

    def tables(self, name: str) -> list[_Table]:
        value = self._take(name, [])
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            self._note(name, "must be a list of tables")
            return []
        return [
            _Table(row, f"{self._place}{name}[{place}].", self._source, self._problems)
            for place, row in enumerate(value)
        ]

    def end(self) -> None:
        for name in sorted(set(self._row) - self._known):
            self._note(name, f"is not known; accepted: {', '.join(sorted(self._known))}")

    def _take(self, name: str, default: object) -> Any:
        self._known.add(name)
        return self._row.get(name, default)

    def _note(self, name: str, message: str) -> None:
        self._problems.append(Problem(self._source, 0, f"{self._place}{name}", message))
