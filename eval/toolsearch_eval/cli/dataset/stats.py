"""`toolsearch dataset stats`: what a data set holds, counted."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from toolsearch_eval.cli.dataset.data_argument import add_data, chosen_data
from toolsearch_eval.cli.output import print_json, say, shortened, text_table

DESCRIPTION = "Count what a data set holds: tools, queries, labels, splits, slices, languages, conversations."

_TABLES = ("slices_by_split", "judged")
"""Counts of counts: shown as tables behind the lines."""


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_data(parser)


def run(args: argparse.Namespace) -> int:
    """Count; always 0 where the data can be read."""
    from toolsearch_eval.data import load_data
    from toolsearch_eval.data_counts import data_statistics

    form = data_statistics(load_data(chosen_data(args)))
    if args.json:
        print_json(form)
        return 0
    conversations = form.pop("conversations")
    flat = {key: value for key, value in form.items() if key not in _TABLES}
    flat["conversations"] = conversations["count"]
    if conversations["count"]:
        flat |= {f"conversation {key}": conversations[key] for key in ("splits", "events", "needs")}
    for name, value in flat.items():
        say(f"{name}: {shortened(_said(value), 2000)}")
    for title in _TABLES:
        rows: Mapping[str, Mapping[str, Any]] = form[title]
        columns = list(dict.fromkeys(column for row in rows.values() for column in row))
        if rows:
            say("")
            table = [[shortened(name, 40), *(row.get(column, 0) for column in columns)] for name, row in rows.items()]
            say(text_table([title, *columns], table))
    return 0


def _said(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name or '(none)'}: {count}" for name, count in value.items()) or "none"
    return str(value)
