"""One block of figures: its values, how it is shown, and what counts as the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolsearch_eval.markdown import markdown_table

FACTOR = 2.0
"""Ratios of times that differ by less are noise: the same machine gives as much from one run to the next."""
DIGITS = 3
"""Figures of quality are stored, shown and compared with so many decimals."""

Cell = str | int | float | bool | None | Mapping[str, float | None]
"""A value of a line. A mapping is an interval: `mean` (or `difference`, shown with its sign), `low` and `high`."""

_TIME = re.compile(r"\b\d+(?:\.\d+)?(?= ?(?:s|ms|seconds)\b)|\(\d+:\d\d:\d\d\)")
_MACHINE = " ms"
_RATIO = ("ratio", " x", " MB")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table of a block.

    Attributes:
        title: Stands above it where a block has several, else "".
        lines: Named values; the names of the first line are the header. Columns whose name ends in ` ms`
            belong to the machine; `ratio` and those that end in ` x` or ` MB` may differ by `FACTOR`.
    """

    title: str = ""
    lines: tuple[Mapping[str, Cell], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The figures between two marks.

    Attributes:
        command: What measures them again.
        date: The day on which they were measured.
        fingerprints: Of the data and profiles that they were measured with; another one is a difference.
        circumstances: Versions and machine, to be read beside the figures; never compared.
        tables: What was measured.
        text: Or the output of a command, as it was printed.
    """

    command: str
    date: str
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    circumstances: Mapping[str, str] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """The block as plain data."""
        form: dict[str, Any] = {
            "command": self.command,
            "date": self.date,
            "fingerprints": dict(self.fingerprints),
            "circumstances": dict(self.circumstances),
        }
        if self.tables:
            form["tables"] = [{"title": table.title, "lines": list(map(dict, table.lines))} for table in self.tables]
        if self.text:
            form["text"] = self.text.split("\n")
        return form


def block_from_json(form: Mapping[str, Any]) -> Block:
    """The block that `to_json` wrote.

    Raises:
        KeyError, TypeError, AttributeError: It has another form.
    """
    tables = tuple(
        Table(title=str(table["title"]), lines=tuple(map(dict, table["lines"]))) for table in form.get("tables", ())
    )
    return Block(
        command=str(form["command"]),
        date=str(form["date"]),
        fingerprints=dict(form["fingerprints"]),
        circumstances=dict(form["circumstances"]),
        tables=tables,
        text="\n".join(form.get("text", ())),
    )


def shown(block: Block) -> str:
    """What stands between the marks: the output of the command, or the tables and how they were made."""
    if block.text:
        return f"\n```console\n{block.text}\n```\n\n"
    pieces = []
    for table in block.tables:
        header = list(table.lines[0]) if table.lines else []
        rows = [[shown_cell(line.get(name)) for name in header] for line in table.lines]
        pieces += [f"*{table.title}*"] * bool(table.title) + [markdown_table(header, rows)]
    made = "; ".join([f"Measured {block.date} by `{block.command}`", *block.circumstances.values()])
    return "\n" + "\n\n".join([*pieces, made + "."]) + "\n\n"


def shown_cell(value: Cell) -> str:
    """One value as it is read.

    >>> shown_cell({"mean": 0.5, "low": 0.4, "high": 0.6}), shown_cell({"difference": 0.02, "low": -0.01, "high": 0.05})
    ('0.500 (0.400 to 0.600)', '+0.020 (-0.010 to +0.050)')
    >>> shown_cell(1200), shown_cell(0.0457), shown_cell(37.25), shown_cell(1234.5), shown_cell(True), shown_cell(None)
    ('1,200', '0.046', '37.2', '1,234', 'yes', '')
    """
    if isinstance(value, Mapping):
        sign = "+" if "difference" in value else ""
        middle = value["difference"] if sign else value["mean"]
        low, high = value["low"], value["high"]
        if middle is None:
            return ""
        around = "" if low is None or high is None else f" ({low:{sign}.{DIGITS}f} to {high:{sign}.{DIGITS}f})"
        return f"{middle:{sign}.{DIGITS}f}{around}"
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, float):
        size = abs(value)
        return f"{value:.{DIGITS}f}" if size < 10 else f"{value:.1f}" if size < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value


def differences(stored: Block, measured: Block) -> list[str]:
    """What differs beyond noise, a line each; an empty list when the figures are the same."""
    found = []
    changed = sorted(
        name
        for name in stored.fingerprints.keys() | measured.fingerprints.keys()
        if stored.fingerprints.get(name) != measured.fingerprints.get(name)
    )
    if changed:
        found.append(f"measured with other data or settings: {', '.join(changed)}")
    if without_times(stored.text) != without_times(measured.text):
        found.append("the output is another one")
    if len(stored.tables) != len(measured.tables):
        found.append(f"{len(stored.tables)} tables are stored, {len(measured.tables)} were measured")
    for old, new in zip(stored.tables, measured.tables, strict=False):
        found += _line_differences(old.lines, new.lines)
    return found


def _line_differences(stored: Sequence[Mapping[str, Cell]], measured: Sequence[Mapping[str, Cell]]) -> list[str]:
    found = []
    if len(stored) != len(measured):
        found.append(f"{len(stored)} lines are stored, {len(measured)} were measured")
    for number, (old, new) in enumerate(zip(stored, measured, strict=False), start=1):
        named = [str(value) for value in new.values() if isinstance(value, str | int) and not isinstance(value, bool)]
        label = " ".join(named[:3])
        for name in dict.fromkeys([*old, *new]):
            # Whether a target is met follows from the ratio, which is compared with its own tolerance.
            if name == "met" and old.get("ratio") is not None and new.get("ratio") is not None:
                continue
            if not _same(name, old.get(name), new.get(name)):
                found.append(
                    f"line {number} ({label}), {name}: "
                    f"stored {shown_cell(old.get(name))}, measured {shown_cell(new.get(name))}"
                )
    return found


def _same(name: str, old: Cell, new: Cell) -> bool:
    if name.endswith(_MACHINE):
        return (old is None) == (new is None)
    if name.endswith(_RATIO) and isinstance(old, int | float) and isinstance(new, int | float):
        return max(old, new) <= FACTOR * min(old, new)
    return old == new


def without_times(text: str) -> str:
    """The text with every time (`12.3 s`, `0.4 ms`, `(0:01:02)`) as `N`, as it differs from run to run.

    >>> without_times("3 passed in 61.25s (0:01:01)")
    '3 passed in Ns N'
    """
    return _TIME.sub("N", text)


def rounded(value: float | None) -> float | None:
    """A figure of quality as it is stored."""
    return None if value is None else round(value, DIGITS)
