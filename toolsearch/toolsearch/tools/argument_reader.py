"""Reads what a model wrote as the arguments of ExecuteExtraTool, also where it is not quite in shape.

Models put the target's arguments beside its name, write them as a JSON string, wrap them twice, or flatten them into
dotted keys. Where exactly one reading makes sense it is taken; otherwise the call does not run and the answer shows the
target's schema. Arguments are never emptied: whatever the model wrote stands in the reading, or there is none.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolsearch.tools.untrusted import neutralise

NAME_KEY = "tool_name"
PARAMS_KEY = "params"
LONGEST_TEXT = 2_000_000
"""Characters of a JSON string that are read."""

_NAME_KEYS = (NAME_KEY, "toolName", "tool", "name")
_PARAMS_KEYS = (PARAMS_KEY, "parameters", "arguments", "args", "input")
_WRAPPERS = ("arguments", "input", PARAMS_KEY, "parameters")
_DEEPEST = 4
"""How often a call may be wrapped in itself."""


@dataclass(frozen=True, slots=True)
class ReadCall:
    """A call that can be told.

    Attributes:
        tool_name: The target as the model named it, blanks around it dropped; may be "" or unknown.
        params: The arguments.
        repaired: They did not stand where they should.
    """

    tool_name: str
    params: dict[str, Any]
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A call that can't be told.

    Attributes:
        tool_name: The target, "" where not even that can be told.
        message: Why, and what to write instead.
    """

    tool_name: str
    message: str


_EXAMPLE = 'Write {"tool_name": "<name>", "params": {…}} with the arguments inside of params.'


def read_call(
    arguments: Mapping[str, Any] | str,
    *,
    fits: Callable[[str, Mapping[str, Any]], bool] = lambda _name, _params: True,
    declares: Callable[[str, str], bool] = lambda _name, _parameter: False,
) -> ReadCall | Unreadable:
    """Read a call.

    Args:
        arguments: What the model wrote: an object, or the text that should be one.
        fits: Whether arguments fit the schema of a tool; an unknown tool takes anything.
        declares: Whether a tool has a parameter of this name at its top level.

    Returns:
        The call: as it is written where it is in shape and fits; else the one other reading that fits; else as it is
        written, so that validation can say what is wrong with it. `Unreadable` where nothing was written that could be
        arguments, or several readings are as good as each other.

    >>> read_call({"tool_name": " move ", "params": '{"x": 3}'})
    ReadCall(tool_name='move', params={'x': 3}, repaired=True)
    """
    try:
        return _read(arguments, fits, declares)
    except RecursionError:
        return Unreadable("", f"the arguments are nested too deeply. {_EXAMPLE}")


def _read(
    arguments: Mapping[str, Any] | str,
    fits: Callable[[str, Mapping[str, Any]], bool],
    declares: Callable[[str, str], bool],
) -> ReadCall | Unreadable:
    try:
        whole = _object(plain_arguments(arguments))
    except TypeError:
        whole = None
    if whole is None:
        return Unreadable("", f"the arguments are no JSON object. {_EXAMPLE}")
    named = _unwrapped(whole)
    if named is None:
        keys = ", ".join(sorted(whole))
        given = neutralise(keys, limit=200).text or "nothing"
        return Unreadable("", f"no tool is named; given: {given}. {_EXAMPLE}")
    name, rest = named
    in_shape = (
        whole.keys() == {NAME_KEY, PARAMS_KEY}
        and isinstance(whole[PARAMS_KEY], dict)
        and rest.get(PARAMS_KEY) is whole[PARAMS_KEY]
    )
    readings = _distinct(_readings(name, rest, declares))
    if not readings:
        return Unreadable(name, _why(rest))
    if len(readings) == 1:
        return ReadCall(name, readings[0], repaired=not in_shape)
    fitting = [reading for reading in readings if fits(name, reading)]
    # A schema that accepts further names takes a wrong reading too: then the one is meant whose names it all declares.
    declared = [reading for reading in fitting if reading and all(declares(name, key) for key in reading)]
    if in_shape and readings[0] in fitting and (readings[0] in declared or len(declared) != 1):
        return ReadCall(name, readings[0])
    if len(fitting) == 1 or len(declared) == 1:
        return ReadCall(name, (declared if len(declared) == 1 else fitting)[0], repaired=True)
    if in_shape:
        return ReadCall(name, readings[0])
    return Unreadable(
        name, f"the arguments can be read in {len(readings)} ways, and {len(fitting)} of them fit. {_EXAMPLE}"
    )


def _object(value: Any) -> dict[str, Any] | None:
    """The object that a value is, or that its text holds, once or twice written as JSON."""
    for _ in range(2):
        if isinstance(value, str) and len(value) <= LONGEST_TEXT:
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return None
    return value if isinstance(value, dict) else None


def plain_arguments(value: Any) -> Any:
    """The value with mappings of any kind as objects and sequences as lists; what is no JSON stays as it is.

    Raises:
        TypeError: A key is no text.
        RecursionError: It is nested too deeply.
    """
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key is no text")
        return {key: plain_arguments(inner) for key, inner in value.items()}
    return [plain_arguments(inner) for inner in value] if isinstance(value, list | tuple) else value


def _unwrapped(whole: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The tool's name, and all that stands beside it; None where no name can be told."""
    level = dict(whole)
    for _ in range(_DEEPEST):
        name = level.get(NAME_KEY)
        if isinstance(name, str) and name.lstrip().startswith("{"):
            name = _object(name) or name  # the whole call, written as a text into the name
        if isinstance(name, str):
            rest = {key: value for key, value in level.items() if key != NAME_KEY}
            inner = _object(rest.get(PARAMS_KEY)) if rest.keys() == {PARAMS_KEY} else None
            if inner is not None and _same_name(inner.get(NAME_KEY), name) and inner.keys() > {NAME_KEY}:
                level = inner  # the whole call stands once more inside of its own params
                continue
            return name.strip(), rest
        if isinstance(name, dict) and isinstance(name.get(NAME_KEY, name.get("name")), str):
            # The name holds the call.
            beside = {key: value for key, value in level.items() if key != NAME_KEY}
            if any(key in name and name[key] != value and value not in ({}, "", None) for key, value in beside.items()):
                return None  # one of the two would be lost
            level = {**beside, **name}
            if NAME_KEY not in name:
                level[NAME_KEY] = level.pop("name")
            continue
        if NAME_KEY in level:
            return None
        wrapped = [inner for key in _WRAPPERS if (inner := _object(level.get(key))) and NAME_KEY in inner]
        if len(level) == 1 and wrapped:
            level = wrapped[0]
            continue
        others = [key for key in _NAME_KEYS[1:] if isinstance(level.get(key), str)]
        if len(others) != 1:
            return None
        level[NAME_KEY] = level.pop(others[0])
    return None


def _same_name(inner: Any, outer: str) -> bool:
    return isinstance(inner, str) and (inner.strip() == outer.strip() or not outer.strip())


def _readings(name: str, rest: Mapping[str, Any], declares: Callable[[str, str], bool]) -> Iterator[dict[str, Any]]:
    """What the arguments may be, the most literal reading first."""
    given = rest.get(PARAMS_KEY)
    beside = {key: value for key, value in rest.items() if key != PARAMS_KEY}
    written = _object(given)
    empty = given is None or given == {} or (isinstance(given, str) and not given.strip()) or written == {}
    if not beside:
        if empty:
            yield {}
        elif written is not None:
            yield from _inside(name, written, declares)
        return
    flat = _nested(beside)
    if empty:
        # An argument of the tool itself may be called as the place for arguments is.
        if flat is not None:
            yield flat
        # `params.url` has the place for arguments in its name; nothing else is meant by it.
        if not all(key.startswith(f"{PARAMS_KEY}.") and not declares(name, key) for key in beside):
            yield beside
        for key in _PARAMS_KEYS[1:]:
            inner = _object(beside.get(key))
            if len(beside) == 1 and inner is not None and not declares(name, key):
                yield inner
    elif written is not None and all(written.get(key, value) == value for key, value in beside.items()):
        yield {**written, **beside} if not beside.keys() <= written.keys() else written


def _inside(name: str, written: dict[str, Any], declares: Callable[[str, str], bool]) -> Iterator[dict[str, Any]]:
    """The arguments as they are written in `params`, and what they may stand for."""
    yield written
    flat = _nested(written)
    if flat is not None and flat != written:
        yield flat
    for key in _PARAMS_KEYS:
        inner = _object(written.get(key))
        rest = written.keys() - {key}
        # Only a name may stand beside what is wrapped: anything else would be lost.
        only_names = rest <= {NAME_KEY, "name"} and all(_same_name(written[other], name) for other in rest)
        if inner and only_names and not declares(name, key):
            yield inner


def _nested(flat: Mapping[str, Any]) -> dict[str, Any] | None:
    """Dotted keys as objects (`params.a.b` is b in a); None where two of them contradict."""
    nested: dict[str, Any] = {}
    # The short ones first: what they hold may get more from a longer one, in whichever order they were written.
    for key, value in sorted(flat.items(), key=lambda each: each[0].count(".")):
        parts = key.split(".")
        if parts[0] == PARAMS_KEY and len(parts) > 1:
            parts = parts[1:]
        if not all(parts):
            parts = [key]
        place = nested
        for part in parts[:-1]:
            inner = place.setdefault(part, {})
            if not isinstance(inner, dict):
                return None
            place = inner
        if parts[-1] in place:
            return None
        place[parts[-1]] = copy.deepcopy(value) if isinstance(value, dict) else value
    return nested


def _distinct(readings: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for reading in readings:
        if reading not in found:
            found.append(reading)
    return found


def _why(rest: Mapping[str, Any]) -> str:
    given = rest.get(PARAMS_KEY)
    if isinstance(given, str) and given.strip():
        return f"params is a text that is no JSON object. {_EXAMPLE}"
    if given is not None and not isinstance(given, Mapping | str):
        return f"params is {_kind(given)}; it must be an object. {_EXAMPLE}"
    return f"arguments stand in params and beside it, and they contradict. {_EXAMPLE}"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    return "a number" if isinstance(value, int | float) else "a list" if isinstance(value, list) else "no object"
