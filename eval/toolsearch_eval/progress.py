"""The progress bar of long work: on stderr, where someone looks, and only where its library is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec


@contextmanager
def progress_bar(total: int, *, shown: bool | None = None) -> Iterator[Callable[[int], object]]:
    """Give what is to be called after each step, with its size.

    Args:
        total: Queries to be ranked in all.
        shown: Show it; None shows it on a terminal.
    """
    visible = sys.stderr.isatty() if shown is None else shown
    if not visible or find_spec("tqdm") is None:
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(total=total, file=sys.stderr, unit="query") as bar:
        yield bar.update
