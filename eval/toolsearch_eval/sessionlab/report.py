"""A simulation as a folder: summary, every request as CSV, and a report in Markdown and HTML."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from toolsearch.errors import UsageError
from toolsearch_eval.report.document import Grid, Heading, Lines, Paragraph, Picture, Piece, as_html, as_markdown
from toolsearch_eval.report.escape import csv_cell
from toolsearch_eval.report.pictures import can_draw, svg_of
from toolsearch_eval.runs.folder import check_free
from toolsearch_eval.sessionlab.lab import Simulated
from toolsearch_eval.sessionlab.pictures import sizes_picture, tokens_picture
from toolsearch_eval.sessionlab.scaling import SizeRow, break_even
from toolsearch_eval.sessionlab.session_length import UNITS, AtLength, by_length, cheaper_from, crossing
from toolsearch_eval.sessionlab.shown import TABLE_HEADER, table_row, waterfall
from toolsearch_eval.sessionlab.strategies import BASELINE

_BREAKS = 20
"""Breaks of the prefix that the report lists; the CSV has all of them."""


def strategy_grid(simulated: Simulated) -> Grid:
    """A line for each strategy: tokens, money, breaks, arrays, searches, recommendations."""
    rows = []
    for name in simulated.strategies:
        found = simulated.totals(name)
        prefetch = found.prefetch
        rows.append(
            (
                name,
                f"{found.requests:,}",
                f"{found.sent:,}",
                f"{found.cached:,}",
                f"{found.written:,}",
                f"{found.new:,}",
                f"{found.cost:.4f}",
                str(found.prefix_breaks),
                str(found.array_variants),
                str(found.searches),
                "-" if prefetch.precision is None else f"{prefetch.precision:.2f}",
                "-" if prefetch.precision is None or prefetch.recall is None else f"{prefetch.recall:.2f}",
            )
        )
    header = ("strategy", "requests", "sent", "cached", "written", "new", simulated.profile.currency, "breaks")
    return Grid((*header, "arrays", "searches", "precision", "recall"), tuple(rows))


def size_grid(rows: Sequence[SizeRow], currency: str) -> Grid:
    """A line for each size and strategy."""
    return Grid(
        ("strategy", "deferred tools", "of these copies", "sent", "about tools", currency),
        tuple(
            (
                row.strategy,
                f"{row.tools:,.0f}",
                f"{row.copies:,.0f}",
                f"{row.sent:,}",
                f"{row.tool_tokens:,}",
                f"{row.cost:.4f}",
            )
            for row in rows
        ),
    )


def break_even_lines(rows: Sequence[SizeRow]) -> tuple[str, ...]:
    """For each strategy from how many deferred tools on it costs less than `inline`."""
    lines = []
    for name in dict.fromkeys(row.strategy for row in rows if row.strategy != BASELINE):
        size = break_even(rows, name)
        said = "not within these sizes" if size is None else f"from about {size:,.0f} deferred tools on"
        lines.append(f"{name} costs less than {BASELINE}: {said}")
    return tuple(lines)


def saving_lines(simulated: Simulated) -> tuple[str, ...]:
    """For each strategy what it saves against `inline`, and how much of the prefix it keeps."""
    inline = simulated.totals(BASELINE)
    lines = []
    for name in simulated.strategies:
        found = simulated.totals(name)
        said = []
        if name != BASELINE:
            fewer = _change(found.tool_tokens, inline.tool_tokens, "fewer")
            said.append(f"{fewer} tokens about tools than {BASELINE}")
            said.append(f"{_change(found.cost, inline.cost, 'less')} money")
        if found.prefix_kept is not None:
            said.append(f"keeps {percent(found.prefix_kept)} of the prefix")
        if said:
            lines.append(f"{name}: {', '.join(said)}")
    return tuple(lines)


def percent(share: float) -> str:
    """A share with one decimal.

    >>> percent(0.3618)
    '36.2 %'
    """
    return f"{100 * share:.1f} %"


def break_lines(simulated: Simulated) -> tuple[str, ...]:
    """For each strategy whose prefix breaks, how often it does, and why."""
    lines = []
    for name in simulated.strategies:
        found = simulated.totals(name)
        if found.prefix_breaks:
            why = ", ".join(f"{count} by {kind}" for kind, count in found.causes.items())
            lines.append(f"{name} breaks the prefix {found.prefix_breaks} times: {why}")
    return tuple(lines)


def length_lines(simulated: Simulated, first: str = "stable+delta", other: str = "stable+header") -> tuple[str, ...]:
    """From how many turns, and from how many requests on a strategy costs less than the other; none without both."""
    if not {first, other} <= set(simulated.strategies):
        return ()
    lines = []
    for unit in UNITS:
        start = crossing(by_length(simulated.of(first), simulated.of(other), unit=unit))
        said = f"at no number of {unit}s" if start is None else f"from {unit} {start} on"
        lines.append(f"{first} costs less than {other} {said} (mean over conversations)")
    return tuple(lines)


def pieces_of(simulated: Simulated, sizes: Sequence[SizeRow]) -> tuple[Piece, ...]:
    """The report."""
    profile = simulated.profile
    totals = [(name, simulated.totals(name)) for name in simulated.strategies]
    pieces: list[Piece] = [
        Paragraph(
            f"{len(simulated.conversations)} conversations of {simulated.data}; cache and prices of {profile.name} "
            f"({profile.model}, {profile.currency}, {profile.prices_as_of}); tokens counted by {simulated.tokenizer}."
        ),
        Heading("Strategies"),
        strategy_grid(simulated),
        Lines(saving_lines(simulated)),
    ]
    if can_draw():
        said = "; ".join(f"{name}: {found.cached:,} + {found.written:,} + {found.new:,}" for name, found in totals)
        title = "Tokens sent by each strategy: cached, written, new"
        pieces.append(Picture(svg_of(tokens_picture(totals), name="tokens", title=title, description=said)))
    for name in simulated.strategies:
        if name != BASELINE:
            steps = waterfall(simulated, name)
            pieces += [
                Heading(f"From {BASELINE} to {name}"),
                Grid(("step", "tokens"), tuple((step.label, _signed(step.tokens, step.is_sum)) for step in steps)),
            ]
    if sizes:
        pieces += [
            Heading("By catalog size"),
            Paragraph("Tools are drawn by a seed; beyond those of the set they are copies under other servers' names."),
            size_grid(sizes, profile.currency),
            Lines(break_even_lines(sizes)),
        ]
        if can_draw():
            said = "; ".join(f"{row.strategy} at {row.tools:.0f}: {row.cost:.4f}" for row in sizes)
            picture = sizes_picture(sizes, profile.currency)
            pieces.append(Picture(svg_of(picture, name="sizes", title="Money by catalog size", description=said)))
    pieces += _header_or_delta(simulated)
    broken = [row for row in simulated.rows if row.broken_by is not None and row.strategy in simulated.strategies]
    if broken:
        pieces += [
            Heading("What broke the prefix"),
            Lines(break_lines(simulated)),
            Paragraph(f"The first {min(_BREAKS, len(broken))} of {len(broken)}; requests.csv has all."),
            Grid(
                ("strategy", "conversation", "request", "tokens lost", "what", "why"),
                tuple(
                    (
                        row.strategy,
                        row.conversation,
                        str(row.request),
                        f"{row.broken_by.lost_tokens:,}",
                        str(row.broken_by),
                        row.cause.words,
                    )
                    for row in broken[:_BREAKS]
                    if row.broken_by is not None and row.cause is not None
                ),
            ),
        ]
    sources = [f"{each.what}: {each.where} ({each.seen})" for each in profile.sources]
    pieces += [Heading("Sources and assumptions"), Lines((*sources, *(f"assumed: {a}" for a in profile.assumptions)))]
    return tuple(pieces)


def write_simulation(simulated: Simulated, sizes: Sequence[SizeRow], form: dict[str, Any], folder: str | Path) -> Path:
    """Write the folder, whole or not at all.

    Args:
        simulated: What was simulated.
        sizes: Rows by catalog size; may be none.
        form: The machine-readable form.
        folder: A new folder, or an empty one.

    Raises:
        UsageError: The folder holds something, or can't be written.
    """
    target = check_free(folder)
    title = f"Simulation of {simulated.data}"
    pieces = pieces_of(simulated, sizes)
    files = {
        "summary.json": json.dumps(form, ensure_ascii=False, indent=2, allow_nan=False) + "\n",
        "requests.csv": requests_csv(simulated),
        "report.md": as_markdown(title, pieces),
        "report.html": as_html(title, pieces),
    }
    if sizes:
        files["sizes.json"] = json.dumps([asdict(row) for row in sizes], indent=2) + "\n"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
        try:
            fresh.chmod(0o755)
            for name, text in files.items():
                (fresh / name).write_text(text, encoding="utf-8", newline="")
            if target.exists():
                target.rmdir()
            os.replace(fresh, target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise UsageError(f"{folder} can't be written: {error.strerror or error}.") from error
    return target


def requests_csv(simulated: Simulated) -> str:
    """A line for each request; a text that a spreadsheet would run as a formula is made harmless."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(TABLE_HEADER)
    for row in simulated.rows:
        writer.writerow([csv_cell(cell) if isinstance(cell, str) else cell for cell in table_row(row)])
    return out.getvalue()


def _header_or_delta(simulated: Simulated) -> list[Piece]:
    pair = ("stable+delta", "stable+header")
    if not set(pair) <= set(simulated.strategies):
        return []
    rows = []
    for talk in simulated.conversations:
        delta, header = (simulated.of(name, talk) for name in pair)
        turns = max((row.turn for row in delta if "/" not in row.agent), default=0)
        costs = (f"{sum(row.cost for row in each):.4f}" for each in (delta, header))
        starts = (cheaper_from(delta, header, unit=unit) for unit in UNITS)
        rows.append((talk, str(turns), *costs, *("never" if start is None else str(start) for start in starts)))
    by_turn = by_length(*(simulated.of(name) for name in pair))
    return [
        Heading("Header or delta"),
        Lines(length_lines(simulated)),
        Grid(("conversation", "turns", "delta", "header", "delta is cheaper from turn", "from request"), tuple(rows)),
        Paragraph("What a conversation has cost on average by the end of a turn, over those that are that long:"),
        _length_grid(by_turn),
    ]


def _length_grid(lines: Sequence[AtLength]) -> Grid:
    return Grid(
        ("turns", "conversations", "delta", "header", "delta is cheaper in"),
        tuple(
            (str(line.length), str(line.conversations), f"{line.first:.4f}", f"{line.other:.4f}", str(line.cheaper))
            for line in lines
        ),
    )


def _change(value: float, against: float, less: str) -> str:
    share = value / against - 1 if against else 0.0
    return f"{percent(abs(share))} {'more' if share > 0 else less}"


def _signed(tokens: int, is_sum: bool) -> str:
    return f"{tokens:,}" if is_sum else f"{tokens:+,}"
