"""`python -m toolsearch_app.screenshots FOLDER`: the pictures of the README into a folder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from toolsearch.errors import ToolSearchError
from toolsearch_app.screenshots.take import take_all
from toolsearch_eval.cli.output import prepare_streams, tell


def main(words: Sequence[str]) -> int:
    """Take the pictures.

    Args:
        words: One: the folder.

    Returns:
        0 good, 2 wrong use or no browser.
    """
    prepare_streams()
    if len(words) != 1 or words[0].startswith("-"):
        tell("usage: python -m toolsearch_app.screenshots FOLDER (where the pictures are put; such as docs/pictures)")
        return 2
    try:
        take_all(Path(words[0]), tell=tell)
    except ToolSearchError as error:
        tell(f"screenshots: {error}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
