"""An ablation for readers: tables, and the document that stands among the project's own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from toolsearch.config import to_toml
from toolsearch_eval.ablation.measure import SURE, Ablation, Beside, Measured, Row
from toolsearch_eval.ablation.parts import NO_PARTS, NO_SWITCH
from toolsearch_eval.figures.block import Block, Cell, Table, shown
from toolsearch_eval.markdown import markdown_text
from toolsearch_eval.report.numbers import number_text, p_text
from toolsearch_eval.statistics import Interval

DIGITS = 4
"""A part is worth little beside a ranking: three decimals would show many as nothing."""
SIGNS = {"better": "helps", "worse": "harms", "unsure": "not to be told", "same": "changes nothing"}
"""What a part does that is added. For one that is left out it is the other way round."""
_LEFT_OUT = {**SIGNS, "better": "harms", "worse": "helps"}


def tables(found: Ablation) -> tuple[Table, ...]:
    """What is read: each part left out, then each part alone; with several sets also set by set."""
    several = len(found.sets) > 1
    where = "mean of the sets" if several else f"{found.sets[0].name}, {found.sets[0].split}"
    measure, name = str(found.measure), found.whole.config.name
    made = [_sets(found)]
    for title, base, rows, words in (
        (f"{name} without each part: {measure}, {where}", found.whole, found.left_out, _LEFT_OUT),
        (f"the bare profile with one part: {measure}, {where}", found.bare, found.added, SIGNS),
    ):
        made.append(Table(title=title, lines=tuple(_lines(base, rows, words))))
        if several:
            by_set = f"{title.partition(':')[0]}: difference in {measure} by set (* where p < {SURE})"
            made.append(Table(title=by_set, lines=tuple(_by_set(rows))))
    made.append(Table(title="not worse without", lines=tuple(_not_worse(found))))
    return tuple(table for table in made if table.lines)


def ablation_block(found: Ablation, *, command: str, today: str) -> Block:
    """The tables with what they were made of, to be kept and compared."""
    fingerprints = {each.name: each.fingerprint for each in found.sets}
    fingerprints[f"profile {found.whole.config.name}"] = fingerprint(to_toml(found.whole.config))
    # A title holds the names of data sets; the cells are escaped where they are written.
    escaped = tuple(Table(title=markdown_text(table.title), lines=table.lines) for table in tables(found))
    return Block(command=command, date=today, fingerprints=fingerprints, tables=escaped)


def fingerprint(text: str) -> str:
    """SHA-256 (hexadecimal) of a profile's text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def document(blocks: Sequence[Block], *, commands: Sequence[str]) -> str:
    """The whole document in Markdown.

    Args:
        blocks: What was measured, one for each choice of data sets.
        commands: How the same is measured again.
    """
    pieces = ["# What each part of the ranking is worth", *_PROSE, "```console", *commands, "```", ""]
    pieces += [
        "A number of a profile that is no part of a ranking: "
        + "; ".join(f"`{name}` ({why})" for name, why in NO_PARTS.items())
        + ".",
        "",
        "What no setting switches off, so that no table can say what it is worth: " + "; ".join(NO_SWITCH) + ".",
        "",
    ]
    for block in blocks:
        names = [name for name in block.fingerprints if not name.startswith("profile ")]
        pieces += [f"## Measured on {markdown_text(', '.join(names))}", shown(block)]
    return "\n".join(pieces).rstrip("\n") + "\n"


_PROSE = (
    "",
    "Made by the commands below, never typed. The first kind of table leaves one part out of a profile and measures "
    "what is left, less the whole profile, on the same queries: a part that helps makes the difference negative. The "
    "second kind adds one part to a bare profile (TF-IDF over the words of names and descriptions, both counting "
    "alike, without all the rest): a part that helps makes it positive. Parts overlap, so the differences do not add "
    "up, and a part that does little beside the others may do much alone. A line that names several parts leaves all "
    "of them out.",
    "",
    "The unit is the group of queries (all wordings of one intent); each data set counts alike. In brackets stands the "
    "95% interval; p is of random sign flips, beside it adjusted by Holm's procedure for all parts of the table. "
    f"*helps* and *harms* mean an adjusted p below {SURE}; *not to be told* means that so many queries can't tell. A "
    "part is left out by the settings of its profile alone, and every profile is ranked by the search itself. A field "
    "that is left out gives no score, but its words still count in how rare a word is, and a tool can still be listed "
    "for them, last and with the score 0: the tables show somewhat less than a field is worth.",
    "",
    "The last table names the parts without which the mean is as high or higher. Some of them are guards (a cap on "
    "lengths keeps a stuffed description from gaining) and can't show their use on honest catalogs.",
    "",
)


def _sets(found: Ablation) -> Table:
    lines: list[dict[str, Cell]] = [
        {
            "set": each.name,
            "split": each.split,
            "tools": each.tools,
            "queries": each.queries,
            "groups": each.groups,
            found.whole.config.name: _mean(found.whole.sets[each.name]),
            "bare": _mean(found.bare.sets[each.name]),
        }
        for each in found.sets
    ]
    if len(found.sets) > 1:
        last: dict[str, Cell] = {"set": "mean of the sets", "split": "", "tools": None, "queries": None, "groups": None}
        lines.append(last | {found.whole.config.name: _mean(found.whole.overall), "bare": _mean(found.bare.overall)})
    return Table(title=f"{found.measure} with 95% interval", lines=tuple(lines))


def _lines(base: Measured, rows: Sequence[Row], words: Mapping[str, str]) -> list[dict[str, Cell]]:
    return [
        {
            "part": row.variant.part.title,
            "mean": number_text(row.overall.mean.mean, DIGITS),
            "difference": _difference(row.overall),
            "p": p_text(row.overall.difference.p),
            "p (Holm)": p_text(row.overall.adjusted),
            "better / worse groups": f"{row.overall.difference.wins} / {row.overall.difference.losses}",
            "the part": words[row.overall.verdict],
        }
        for row in rows
    ]


def _by_set(rows: Sequence[Row]) -> list[dict[str, Cell]]:
    return [
        {
            "part": row.variant.part.title,
            **{name: _difference(beside) + " *" * (beside.adjusted < SURE) for name, beside in row.sets.items()},
        }
        for row in rows
    ]


def _not_worse(found: Ablation) -> list[dict[str, Cell]]:
    return [
        {
            "part": row.variant.part.title,
            "difference without it": _difference(row.overall),
            "p (Holm)": p_text(row.overall.adjusted),
        }
        for row in found.not_worse
    ]


def _mean(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return number_text(interval.mean, DIGITS)
    return (
        f"{number_text(interval.mean, DIGITS)} "
        f"({number_text(interval.low, DIGITS)} to {number_text(interval.high, DIGITS)})"
    )


def _difference(beside: Beside) -> str:
    found = beside.difference.difference
    if found.low is None or found.high is None:
        return _signed(found.mean)
    return f"{_signed(found.mean)} ({_signed(found.low)} to {_signed(found.high)})"


def _signed(value: float | None) -> str:
    """So many decimals with a sign; what rounds to zero has none.

    >>> _signed(0.00123), _signed(-0.00001), _signed(None)
    ('+0.0012', '0.0000', '-')
    """
    if value is None:
        return "-"
    rounded = round(value, DIGITS)
    return f"{rounded:+.{DIGITS}f}" if rounded else f"{0:.{DIGITS}f}"
