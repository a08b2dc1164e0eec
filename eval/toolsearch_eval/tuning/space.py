"""The search space as data: which numbers of a profile move, how far, and which ones stay."""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from toolsearch.config import EXTRA_PROFILES, PROFILES, SearchConfig, load_profile
from toolsearch.errors import ConfigError, DataError, Problem, UnknownNameError, UsageError
from toolsearch_eval.tuning.parameters import parameter_names, parameter_value, with_parameters

DIGITS = 4
"""Significant digits of a number that is tried: finer ones change no ranking that matters, and nobody can read them."""
_KEYS = ("profile", "narrow", "parameters")
_BOUNDS = ("low", "high", "log", "step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One number that moves.

    Attributes:
        name: As in `parameters.parameter_names`.
        low: The smallest value.
        high: The largest value, above `low`.
        log: Equal ratios are equal steps; `low` is above 0 then.
        step: Only `low` and what is a whole number of steps above it; None for any value. Never with `log`.
    """

    name: str
    low: float
    high: float
    log: bool = False
    step: float | None = None

    def canonical(self, value: float) -> float:
        """The value as it is tried: on its step or rounded to a few digits, and within the bounds.

        >>> Parameter(name="saturation", low=0.3, high=4.0).canonical(1.234567)
        1.235
        """
        if self.step is not None:
            value = round(self.low + round((value - self.low) / self.step) * self.step, 12)
        elif value:
            value = round(value, DIGITS - 1 - math.floor(math.log10(abs(value))))
        return min(max(value, self.low), self.high)

    def position(self, value: float) -> float:
        """Where a value lies between the bounds, 0..1, on the parameter's own scale."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A search space around a profile.

    Attributes:
        profile: The profile as it ships: where the search begins, and what stays where nothing is better.
        parameters: What moves, in the order of the profile's settings.
        narrow: The names of those that move where there are few queries.
    """

    profile: SearchConfig
    parameters: tuple[Parameter, ...]
    narrow: tuple[str, ...] = ()

    @property
    def shipped(self) -> dict[str, float]:
        """The profile's own values of what moves."""
        return {each.name: parameter_value(self.profile, each.name) for each in self.parameters}

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hexadecimal) over the profile and what moves how far; the order in the file changes nothing."""
        moves = sorted((each.name, each.low, each.high, each.log, each.step) for each in self.parameters)
        values = {name: parameter_value(self.profile, name) for name in parameter_names(self.profile)}
        # What a study tries also depends on how the values are rounded.
        text = json.dumps([self.profile.ranking, values, moves, DIGITS], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def config(self, values: Mapping[str, float], name: str | None = None) -> SearchConfig:
        """The profile with some values; under another name if one is given."""
        changed = with_parameters(self.profile, values)
        return changed if name is None else changed.replace(name=name)

    def canonical(self, values: Mapping[str, float]) -> dict[str, float]:
        """The values as they are tried; the profile's own ones stay as they are to the last digit."""
        shipped = self.shipped
        return {
            each.name: values[each.name]
            if values[each.name] == shipped[each.name]
            else each.canonical(values[each.name])
            for each in self.parameters
        }

    def distance(self, values: Mapping[str, float]) -> float:
        """How far some values lie from the profile's own: 0 is the same, 1 the whole width of one parameter."""
        shipped = self.shipped
        return math.hypot(
            *(each.position(values[each.name]) - each.position(shipped[each.name]) for each in self.parameters)
        )

    def narrowed(self) -> Space:
        """Only what moves where there are few queries; the whole space where the file says nothing of it."""
        if not self.narrow:
            return self
        kept = tuple(each for each in self.parameters if each.name in self.narrow)
        return Space(profile=self.profile, parameters=kept, narrow=self.narrow)


def load_space(path: str | None, profile: str | None = None) -> Space:
    """A space from a file, or the shipped one of a profile.

    Args:
        path: A TOML file; None takes the shipped space of the profile: its own, or that of the profile it comes from.
        profile: A shipped profile's name or a file; None takes the one that the space names.

    Raises:
        UnknownNameError: There is no such profile.
        UsageError: No space ships for the profile.
        DataError: The file is not a valid space; every fault of it at once.
        ConfigError: The profile's file is not valid.
    """
    if path is None:
        wanted = profile or "default"
        base = load_profile(wanted)
        spaces = files("toolsearch_eval.tuning") / "spaces"
        shipped = base.name if base == EXTRA_PROFILES.get(base.name) else ""
        if not shipped or not (spaces / f"{shipped}.toml").is_file():
            shipped = PROFILES["reference" if base.ranking == "reference" else "default"].name
        text = (spaces / f"{shipped}.toml").read_text(encoding="utf-8")
        return read_space(text, path=f"<space of {shipped}>", profile=base)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise DataError([Problem(path, 0, "", f"can't be read as a search space: {error}")]) from error
    return read_space(text, path=path, profile=load_profile(profile) if profile else None)


def read_space(text: str, *, path: str = "<space>", profile: SearchConfig | None = None) -> Space:
    """A space from TOML.

    Args:
        text: The file's text.
        path: For messages.
        profile: Stands in for the profile that the file names.

    Raises:
        DataError: Every fault at once.
    """
    problems: list[Problem] = []

    def fault(field: str, message: str) -> None:
        problems.append(Problem(path, _line(text, field), field, message))

    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError([Problem(path, 0, "", f"is not valid TOML: {error}")]) from error
    for key in data:
        if key not in _KEYS:
            fault(key, str(UnknownNameError("setting", key, _KEYS)))
    base = profile or _profile(data.get("profile", "default"), fault)
    rows = data.get("parameters")
    if not isinstance(rows, dict) or not rows:
        fault("parameters", "must be a table that says for each parameter how far it moves; at least one is needed")
        rows = {}
    if base is None:
        raise DataError(problems)
    known = parameter_names(base)
    found = {}
    for name, row in rows.items():
        if name not in known:
            fault(name, str(UnknownNameError("parameter", name, known, "A name with a dot stands in quotes.")))
        elif (parameter := _parameter(name, row, base, fault)) is not None:
            found[name] = parameter
    narrow = data.get("narrow", [])
    if not isinstance(narrow, list) or not all(isinstance(name, str) for name in narrow):
        fault("narrow", "must be a list of names of parameters")
        narrow = []
    for name in narrow:
        if name not in rows:
            fault("narrow", str(UnknownNameError("parameter", name, rows)))
    for message in _unpinned(base, rows):
        fault("parameters", message)
    if problems:
        raise DataError(problems)
    ordered = tuple(found[name] for name in known if name in found)
    return Space(profile=base, parameters=ordered, narrow=tuple(narrow))


def _profile(name: Any, fault: Any) -> SearchConfig | None:
    if not isinstance(name, str):
        fault("profile", f"is {name!r}; it must be the name of a profile")
        return None
    try:
        return load_profile(name)
    except (UsageError, ConfigError) as error:
        fault("profile", str(error))
        return None


def _parameter(name: str, row: Any, base: SearchConfig, fault: Any) -> Parameter | None:
    """One row of the table, or None after telling every fault of it."""
    if not isinstance(row, dict):
        fault(name, "must be a table such as { low = 0.1, high = 2.0, log = true }")
        return None
    faults = [str(UnknownNameError("setting", key, _BOUNDS)) for key in row if key not in _BOUNDS]
    numbers = {}
    for key in ("low", "high", "step"):
        value = row.get(key)
        if value is None and key == "step":
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            shown = "missing" if value is None else repr(value)[:60]
            faults.append(f"{key} is {shown}; it must be a finite number")
        else:
            numbers[key] = float(value)
    log = row.get("log", False)
    if not isinstance(log, bool):
        faults.append(f"log is {log!r}; it must be true or false")
    elif "low" in numbers and "high" in numbers:
        faults += _bound_faults(name, numbers, log, base)
    for message in faults:
        fault(name, message)
    if faults:
        return None
    return Parameter(name=name, low=numbers["low"], high=numbers["high"], log=log, step=numbers.get("step"))


def _bound_faults(name: str, numbers: Mapping[str, float], log: bool, base: SearchConfig) -> list[str]:
    low, high, step = numbers["low"], numbers["high"], numbers.get("step")
    faults = []
    if low >= high:
        faults.append(f"low is {low:g} and high is {high:g}; low must be below high")
    if log and low <= 0:
        faults.append(f"low is {low:g}; a logarithmic scale needs a low above 0")
    if step is not None and log:
        faults.append("step and log can't both be given; a step is for an even scale")
    if step is not None and not 0 < step <= high - low:
        faults.append(f"step is {step:g}; it must be above 0 and at most {high - low:g}, the width")
    for value in (low, high):
        try:
            with_parameters(base, {name: value})
        except ConfigError as error:
            faults += [line for line in str(error).splitlines()[1:] if line.startswith(name)]
    shipped = parameter_value(base, name)
    if step is not None and step > 0 and not (_whole((high - low) / step) and _whole((shipped - low) / step)):
        faults.append(f"high and the profile's own value {shipped:g} must lie a whole number of steps above low")
    if not low <= shipped <= high:
        faults.append(f"the profile's own value {shipped:g} lies outside {low:g} to {high:g}; the search begins there")
    return faults


def _whole(number: float) -> bool:
    return abs(number - round(number)) < 1e-9


def _unpinned(base: SearchConfig, rows: Mapping[str, Any]) -> list[str]:
    """The groups of numbers of which only ratios matter and all move."""
    standard = base.ranking == "standard"
    used = ("name", "hint", "description") if not standard else None
    groups: list[tuple[str, list[str]]] = [("the arms' weights", ["weight_keyword", "weight_tfidf"])]
    points = [name for name in parameter_names(base) if name.startswith("keyword_points.")]
    weights = [name for name in parameter_names(base) if name.startswith("field_weights.")]
    if used is not None:
        points = [name for name in points if name.partition(".")[2] in used] + ["keyword_substring_points"]
        weights = [name for name in weights if name.partition(".")[2] in used]
    else:
        # Saturation is the unit in which the fields' weights count.
        weights.append("saturation")
    groups += [("the keyword points", points), ("the fields' weights", weights)]
    found = [
        f"only the ratios of {label} matter, and all of them move; leave one of {', '.join(names)} out"
        for label, names in groups
        if all(name in rows for name in names)
    ]
    ignored = (
        ["confidence_bound", "keyword_substring_points"]
        if standard
        else [
            name
            for name in parameter_names(base)
            if name not in {*points, *weights, "weight_keyword", "weight_tfidf", "confidence_bound"}
        ]
    )
    found += [f"{name} changes no ranking of {base.name}; leave it out" for name in ignored if name in rows]
    return found


def _line(text: str, field: str) -> int:
    """The first line of a file that begins with a key, 0 where none does."""
    for number, line in enumerate(text.splitlines(), start=1):
        head = line.strip().strip("[]").partition("=")[0].strip().strip("\"'")
        first = head.partition(".")[0]
        if field and field in (head, first, head.removeprefix("parameters.").strip("\"'")):
            return number
    return 0
