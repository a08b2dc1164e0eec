"""What the pages show in the pictures: a run and a study on the shipped data, made by the commands that anybody has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from toolsearch.errors import UsageError

RUN: Final = ("eval", "--data", "builtin", *(f"--ranker={name}" for name in ("reference", "bm25f", "default")))
STUDY: Final = (
    *("tune", "--data", "builtin", "--profile", "reference", "--trials", "60", "--seed", "0"),
    *("--folds", "2", "--fold-trials", "20", "--keep-test-closed"),
)
"""Seeded, on the dev split alone: the same numbers each time."""


def commands(folder: Path) -> tuple[tuple[str, ...], ...]:
    """The commands, as they come after `toolsearch`.

    Args:
        folder: Where they put the run and the study.

    >>> [words[-1] for words in commands(Path("out"))]
    ['out/runs/shipped', 'out/studies/tune']
    """
    return (
        (*RUN, "--out", str(folder / "runs" / "shipped")),
        (*STUDY, "--folder", str(folder / "studies" / "tune")),
    )


def make(folder: Path) -> None:
    """Run them; takes about a minute.

    Raises:
        UsageError: One failed; with what it said.
    """
    for words in commands(folder):
        command = [sys.executable, "-m", "toolsearch_eval.cli.main", *words]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise UsageError(f"toolsearch {words[0]} failed with code {done.returncode}: {done.stderr[-2000:]}")
