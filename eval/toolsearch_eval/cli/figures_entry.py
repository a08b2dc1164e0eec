"""`python -m toolsearch_eval.figures`: make or check the figures of the README; for maintainers, so no verb."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from toolsearch.errors import ToolSearchError
from toolsearch_eval.cli.output import prepare_streams, tell


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and rewrite, or measure and check.

    Returns:
        0 good, 1 a difference, 2 wrong use or bad data.
    """
    prepare_streams()
    parser = argparse.ArgumentParser(
        prog="python -m toolsearch_eval.figures",
        description="Measure the figures of the README and write them between its marks, or check that they hold.",
        allow_abbrev=False,
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a figure differs")
    parser.add_argument("--suites", type=Path, metavar="DIR", help="measure every data set in this folder too")
    parser.add_argument(
        "--data", default="builtin", metavar="NAME|DIR", help="the set of the first block (default: builtin)"
    )
    parser.add_argument("--readme", type=Path, default=Path("README.md"), metavar="FILE", help="default: README.md")
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("docs/results.json"),
        metavar="FILE",
        help="the figures measured last (default: docs/results.json)",
    )
    arguments = parser.parse_args(argv)
    from toolsearch_eval.figures import make_figures

    try:
        return make_figures(
            readme_path=arguments.readme,
            results_path=arguments.results,
            data=arguments.data,
            suites=arguments.suites,
            check=arguments.check,
            tell=tell,
        )
    except ToolSearchError as error:
        tell(f"figures: {error}")
        return 2
