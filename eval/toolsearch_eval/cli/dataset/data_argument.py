"""Which data set an action is about: named by position or by `--data`."""

from __future__ import annotations

import argparse

from toolsearch.errors import UsageError

DEFAULT = "builtin"


def add_data(parser: argparse.ArgumentParser, *, positional: bool = True) -> None:
    """Add the ways to name a data set, and `--json`.

    Args:
        parser: The action's parser.
        positional: Accept it by position too; False where the position is taken.
    """
    if positional:
        parser.add_argument("place", nargs="?", metavar="NAME|DIR", help=f"the data set (default: {DEFAULT})")
    parser.add_argument("--data", metavar="NAME|DIR", help=f"the data set (default: {DEFAULT})")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def chosen_data(arguments: argparse.Namespace) -> str:
    """The data set's name or folder as it was given.

    Raises:
        UsageError: Position and `--data` name two.

    >>> chosen_data(argparse.Namespace(place=None, data=None)), chosen_data(argparse.Namespace(place="d", data="d"))
    ('builtin', 'd')
    """
    given = [name for name in (getattr(arguments, "place", None), arguments.data) if name is not None]
    if len(set(given)) > 1:
        raise UsageError(f"two data sets are named, {given[0]!r} and {given[1]!r}; name one.")
    return given[0] if given else DEFAULT
