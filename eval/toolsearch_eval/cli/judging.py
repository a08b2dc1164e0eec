"""What the commands that judge rankers share: how many processes, and where rankings are kept."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolsearch.errors import ConfigError, UnknownNameError, UsageError
from toolsearch_eval.cli.output import tell

if TYPE_CHECKING:
    from toolsearch_eval.rankers import Ranker
    from toolsearch_eval.runs.cache import RankingCache

RANKERS = "NAME|FILE.toml|module:factory"


def add_work_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--jobs`, `--cache` and `--no-cache`."""
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="processes that rank; the outcome is the same (default: 1)"
    )
    cache = parser.add_mutually_exclusive_group()
    cache.add_argument(
        "--cache",
        metavar="DIR",
        help="where rankings are kept, so that nothing is ranked twice and an interrupted evaluation goes on "
        "(default: toolsearch/rankings in the user's folder for caches; may be removed at any time)",
    )
    cache.add_argument("--no-cache", action="store_true", help="rank all of it anew and keep nothing")


def open_cache(args: argparse.Namespace) -> RankingCache | None:
    """The cache that was asked for; where the user's own can't be written, none, which is said.

    Raises:
        UsageError: The folder that was named can't be written.
    """
    from toolsearch_eval.runs.cache import RankingCache, default_cache_folder

    if args.no_cache:
        return None
    if args.cache is not None:
        return RankingCache(args.cache)
    try:
        return RankingCache(default_cache_folder(os.environ, platform=sys.platform))
    except UsageError as error:
        tell(f"warning: {error} Nothing is kept.")
        return None


def resolved(specs: Sequence[str]) -> tuple[list[Ranker], list[str]]:
    """The rankers that can be had, and a line for each that can't.

    Raises:
        UnknownNameError: There is no such ranker.
        ConfigError: A profile is not valid.
        UsageError: Not one can be had.
    """
    from toolsearch_eval.rankers import resolve_ranker

    rankers: list[Ranker] = []
    faults: list[str] = []
    for spec in specs:
        try:
            rankers.append(resolve_ranker(spec))
        except (UnknownNameError, ConfigError):
            raise  # a slip of the pen: said at once, before the others take their time
        except UsageError as error:
            faults.append(str(error))
    if not rankers:
        raise UsageError("\n".join(faults))
    return rankers, faults


def tell_kept(cache: RankingCache | None) -> None:
    """After an interrupt: what is kept, and how to go on."""
    if cache is None:
        tell("interrupted; rankings were not kept, as --no-cache was given.")
    else:
        tell(
            f"interrupted; what was ranked is kept in {cache.folder}, and the same command goes on from there "
            "(a ranker of your own is kept only if it declares a fingerprint)."
        )
