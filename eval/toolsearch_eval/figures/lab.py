"""What the session lab measures on scripted conversations: the design decisions of tool search as figures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial

from toolsearch.catalog.core_tools import TEAM_TOOLS
from toolsearch.tokens import token_counter
from toolsearch_eval.conversations import Conversation
from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.figures.block import Block, Cell, Table, rounded
from toolsearch_eval.figures.quality import COMMAND, profile_fingerprints
from toolsearch_eval.sessionlab.lab import Simulated, simulate
from toolsearch_eval.sessionlab.prefix import Sizes
from toolsearch_eval.sessionlab.providers import SHIPPED, ProviderProfile, provider_profile
from toolsearch_eval.sessionlab.replayed import Pace
from toolsearch_eval.sessionlab.report import percent
from toolsearch_eval.sessionlab.session_length import UNITS, by_length, cheaper_from, crossing
from toolsearch_eval.sessionlab.strategies import BASELINE

_LINE = dict[str, Cell]
_SIMULATE = "toolsearch simulate"
HEADER, DELTA, INJECT = "stable+header", "stable+delta", "inject"
LONG_PAUSE = 360
"""Seconds between turns that are longer than any shipped profile keeps an unused prefix."""


def measure_lab(data: str, *, today: str, providers: Sequence[str] = SHIPPED) -> Block:
    """Statements with a figure for each provider, those about the first provider alone, and its strategies' totals.

    Args:
        data: A data set with conversations; all of them are replayed.
        today: The date to write.
        providers: Whose caches and prices, one at least.
    """
    labelled = load_data(data)
    profiles = [provider_profile(name) for name in providers]
    sizes = Sizes(token_counter())
    found = {
        profile.name: simulate(labelled, (BASELINE, INJECT, HEADER, DELTA), profile, sizes) for profile in profiles
    }
    first = profiles[0]
    tables = (
        Table(
            title=f"{labelled.name}, {len(labelled.conversations)} conversations; each command with --provider NAME",
            lines=tuple(_statements(found)),
        ),
        Table(
            title=f"With {first.name} ({first.model})",
            lines=tuple(_of_one(labelled, first, sizes, found[first.name])),
        ),
        Table(title="The same conversations by strategy", lines=tuple(_by_strategy(found[first.name]))),
        Table(title="Recommendations, test conversations", lines=tuple(_recommendations(labelled, first, sizes))),
    )
    return Block(
        command=f"{COMMAND} --only lab",
        date=today,
        fingerprints={
            labelled.name: labelled.fingerprint,
            "conversations": _fingerprint([_plain(talk) for talk in labelled.conversations]),
            **{f"provider {profile.name}": _fingerprint(asdict(profile)) for profile in profiles},
            **profile_fingerprints(),
        },
        circumstances={
            "prices": "; ".join(
                f"{profile.name}: {profile.model}, {profile.currency}, {profile.prices_as_of}" for profile in profiles
            ),
            "tokens": f"tokens by {sizes.counter.name}",
        },
        tables=tables,
    )


def _statements(found: Mapping[str, Simulated]) -> Iterator[_LINE]:
    """What holds for every provider, a column each."""

    def line(statement: str, figure: Callable[[Simulated], str], *strategies: str) -> _LINE:
        figures: _LINE = {name: figure(each) for name, each in found.items()}
        options = "".join(f" --strategy {name}" for name in strategies)
        return {"statement": statement, **figures, "command": f"{_SIMULATE}{options}"}

    for name in (HEADER, DELTA):
        pair = f"({name} against {BASELINE})"
        tokens, money = (partial(each, name=name, against=BASELINE) for each in (_tokens_saved, _money_saved))
        yield line(f"Deferring saves of the tokens about tools {pair}", tokens, BASELINE, name)
        yield line(f"Deferring saves of the money {pair}", money, BASELINE, name)
    yield line(
        f"Injecting what was discovered into the array costs more than leaving it alone ({INJECT} against {HEADER})",
        lambda each: percent(each.totals(INJECT).cost / each.totals(HEADER).cost - 1),
        INJECT,
        HEADER,
    )
    for name in (HEADER, DELTA, INJECT):
        yield line(f"Of the prefix is kept from request to request ({name})", partial(_kept, name=name), name)
        yield line(f"What breaks it ({name})", partial(_causes, name=name), name)
    yield line(
        "Names once in the history save of the money of names in each request "
        f"({DELTA} against {HEADER}, whole conversations)",
        partial(_money_saved, name=DELTA, against=HEADER),
        HEADER,
        DELTA,
    )
    yield line("From which length on, over conversations", _crossing, HEADER, DELTA)
    yield line("From which turn on, in each conversation", _each_crossing, HEADER, DELTA)


def _of_one(data: DataSet, profile: ProviderProfile, sizes: Sizes, found: Simulated) -> Iterator[_LINE]:
    """What takes replays of its own: team tools, and long pauses."""
    pins = sorted(TEAM_TOOLS & {tool.name for tool in data.tools})
    before, after = found.totals(HEADER), simulate(data, [HEADER], profile, sizes, pins=pins).totals(HEADER)
    yield {
        "statement": f"Deferring {', '.join(pins)} saves against having them in each array ({HEADER})",
        "measured": f"{after.sent - before.sent:,} tokens, {(after.sent - before.sent) / before.requests:,.0f} a "
        f"request, {after.cost - before.cost:.3f} {profile.currency} "
        f"({percent(1 - before.cost / after.cost)})",
        "command": f"{_SIMULATE} --strategy {HEADER}, without and with" + "".join(f" --pin {name}" for name in pins),
    }
    slow = simulate(data, [HEADER, DELTA], profile, sizes, pace=Pace(between_turns=LONG_PAUSE))
    command = f"{_SIMULATE} --pause {LONG_PAUSE} --strategy {HEADER} --strategy {DELTA}"
    for statement, figure in (
        (
            f"Where users pause for {LONG_PAUSE} s, longer than the cache lives, {DELTA} saves against {HEADER}",
            _money_saved(slow, DELTA, HEADER),
        ),
        ("From which length on, over conversations", _crossing(slow)),
        ("From which turn on, in each conversation", _each_crossing(slow)),
    ):
        yield {"statement": statement, "measured": figure, "command": command}


def _by_strategy(found: Simulated) -> Iterator[_LINE]:
    for name in found.strategies:
        totals = found.totals(name)
        yield {
            "strategy": name,
            "requests": totals.requests,
            "tokens sent": totals.sent,
            "about tools": totals.tool_tokens,
            "cached": totals.cached,
            "written": totals.written,
            "new": totals.new,
            found.profile.currency: rounded(totals.cost),
            "breaks": totals.prefix_breaks,
            "arrays": totals.array_variants,
        }


def _recommendations(data: DataSet, profile: ProviderProfile, sizes: Sizes) -> Iterator[_LINE]:
    names = (HEADER, f"{HEADER}+prefetch")
    if not any(talk.split == "test" for talk in data.conversations):
        return
    found = simulate(data, names, profile, sizes, split="test")
    for name in names:
        totals = found.totals(name)
        figures = totals.prefetch
        yield {
            "strategy": name,
            "precision": rounded(figures.precision),
            "recall": rounded(figures.recall),
            "silent on small talk": f"{figures.silent} of {figures.quiet_turns}",
            "tokens": totals.parts.get("recommendations", 0),
            "searches": totals.searches,
            found.profile.currency: rounded(totals.cost),
        }


def _tokens_saved(found: Simulated, name: str, against: str) -> str:
    return percent(1 - found.totals(name).tool_tokens / found.totals(against).tool_tokens)


def _money_saved(found: Simulated, name: str, against: str) -> str:
    return percent(1 - found.totals(name).cost / found.totals(against).cost)


def _kept(found: Simulated, name: str) -> str:
    share = found.totals(name).prefix_kept
    return "no request follows another" if share is None else percent(share)


def _causes(found: Simulated, name: str) -> str:
    return ", ".join(f"{count} by {kind}" for kind, count in found.totals(name).causes.items()) or "nothing"


def _crossing(found: Simulated) -> str:
    starts = {unit: crossing(by_length(found.of(DELTA), found.of(HEADER), unit=unit)) for unit in UNITS}
    return ", ".join(f"{unit} {start}" if start else f"no {unit}" for unit, start in starts.items())


def _each_crossing(found: Simulated) -> str:
    """How many conversations have it at which turn, such as `14 from 1, 3 from 2, 1 never`."""
    starts = [cheaper_from(found.of(DELTA, name), found.of(HEADER, name)) for name in found.conversations]
    known = [start for start in starts if start is not None]
    said = [f"{known.count(start)} from {start}" for start in sorted(set(known))]
    return ", ".join([*said, *[f"{starts.count(None)} never"] * (None in starts)])


def _plain(talk: Conversation) -> str:
    return repr(talk.events) + repr(sorted(talk.servers.items())) + repr((talk.name, talk.split, talk.pins))


def _fingerprint(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
