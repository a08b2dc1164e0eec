"""Blocks that show what a command of the Makefile prints."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from toolsearch.errors import UsageError
from toolsearch_eval.figures.block import Block
from toolsearch_eval.figures.quality import COMMAND

LAST_LINES = {"test": 1}
"""Of a long output, so many last lines are shown; of all others everything."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")


class CommandFailed(Exception):
    """A command whose output was to be shown ended with another exit code than 0."""


def measure_output(target: str, folder: Path, *, today: str, environment: Mapping[str, str]) -> Block:
    """Run `make TARGET` with the environment that runs now, and keep what a terminal would show.

    Args:
        target: A target of the Makefile.
        folder: The repository.
        today: The date.
        environment: That of the process.

    Raises:
        UsageError: There is no Makefile or no make.
        CommandFailed: The command failed; its last lines are the message.
    """
    if not (folder / "Makefile").is_file():
        raise UsageError(f"{folder} has no Makefile; the output of `make {target}` is measured in the repository.")
    programs = Path(sys.executable).parent
    # The ready mark counts as old, so that nothing is installed: what runs now is what is shown.
    command = ["make", "--no-print-directory", "-o", ".venv/ready", f"BIN={programs}", target]
    kept = {name: value for name, value in environment.items() if name not in _OF_MAKE}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**kept, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "COLUMNS": "100"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except FileNotFoundError as error:
        raise UsageError("make is not installed, so its output can't be shown.") from error
    text = normalised(done.stdout, programs=programs, folder=folder)
    lines = text.split("\n")
    if done.returncode:
        raise CommandFailed(f"`make {target}` gave {done.returncode}:\n" + "\n".join(lines[-15:]))
    last = LAST_LINES.get(target)
    if last is not None and len(lines) > last + 1:
        lines = [lines[0], "…", *lines[-last:]]
    return Block(command=COMMAND, date=today, text="\n".join([f"$ make {target}", *lines]))


def normalised(text: str, *, programs: Path, folder: Path) -> str:
    """An output without colours, without blanks at line ends, and without the paths of this machine."""
    text = _COLOUR.sub("", text).replace(str(programs), ".venv/bin").replace(str(folder.resolve()), ".")
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))
