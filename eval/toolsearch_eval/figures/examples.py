"""The examples of the README: commands and Python that are run in an empty folder, with the output shown under them.

- A fenced block ```` ```json file=tools.jsonl ```` is a file that lies in that folder.
- In a block `console`, each line that begins with `$ ` is a command; what follows is its output on stdout. Where
  nothing follows, it only has to work.
- A block `text` right after a block `python` is what that prints.
- A line that is `…` alone, at the beginning or the end of an output, stands for lines that are not shown.
- Commands that take minutes or need a network (`make`, `pip`, `toolsearch bench`, this module's own) are not run.

Outputs are compared to the letter but for times, and for the widths of columns, which follow them.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_FENCED = re.compile(r"^```(?P<kind>\w+)(?: file=(?P<file>\S+))?\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
_FIGURES = re.compile(r"<!-- figures:.*?<!-- /figures -->", re.DOTALL)
_SECONDS = 120
ELISION = "…"


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block.

    Attributes:
        kind: Its language.
        file: What it is to be saved as, or None.
        body: Its text.
        start: Where the text begins in the README.
    """

    kind: str
    file: str | None
    body: str
    start: int


@dataclass(frozen=True, slots=True)
class Example:
    """Something that the README shows and that can be run.

    Attributes:
        code: A command line, or a script in Python.
        is_python: Which of both.
        output: What is shown as its output, or None.
        start: Where the output begins in the README.
    """

    code: str
    is_python: bool
    output: str | None
    start: int

    @property
    def is_long(self) -> bool:
        """Whether it takes minutes or needs a network, so that it is read and not run."""
        if self.is_python:
            return False
        words = shlex.split(self.code)
        return words[0] in ("make", "pip", "python") or words[:2] == ["toolsearch", "bench"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave: the exit code, stdout and stderr."""

    code: int
    output: str
    errors: str


def fences(readme: str) -> list[Fence]:
    """The fenced blocks outside of the figures' marks, in their order."""
    inside = [match.span() for match in _FIGURES.finditer(readme)]
    return [
        Fence(match["kind"], match["file"], match["body"], match.start("body"))
        for match in _FENCED.finditer(readme)
        if not any(start <= match.start() < end for start, end in inside)
    ]


def examples(readme: str) -> list[Example]:
    r"""Every command and script, in their order.

    >>> [(example.code, example.output) for example in examples("```console\n$ a b\none\n$ c\n```\n")]
    [('a b', 'one\n'), ('c', None)]
    """
    found = []
    blocks = fences(readme)
    for number, block in enumerate(blocks):
        if block.kind == "console":
            found += list(_commands(block))
        elif block.kind == "python" and block.file is None:
            after = blocks[number + 1] if number + 1 < len(blocks) else None
            shown = after if after is not None and after.kind == "text" else None
            found.append(Example(block.body, True, shown.body if shown else None, shown.start if shown else 0))
    return found


def _commands(block: Fence) -> Iterator[Example]:
    for match in re.finditer(r"^\$ (?P<command>.*)\n(?P<output>(?:(?!\$ ).*\n)*)", block.body, re.MULTILINE):
        yield Example(match["command"], False, match["output"] or None, block.start + match.start("output"))


def run_example(example: Example, readme: str, environment: Mapping[str, str]) -> Outcome:
    """Run one in a new folder that holds the README's files and nothing else.

    Args:
        example: One that is not long.
        readme: For the files.
        environment: That of the process; only the search path for programs is kept.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for block in fences(readme):
            if block.file:
                (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
                (folder / block.file).write_text(block.body, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, *_arguments(example)],
            cwd=folder,
            # The new process finds the packages where this one does, installed or not.
            env={
                "PATH": environment.get("PATH", os.defpath),
                "HOME": name,
                "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=_SECONDS,
        )
    return Outcome(done.returncode, done.stdout, done.stderr)


def _arguments(example: Example) -> Sequence[str]:
    if example.is_python:
        return ["-c", example.code]
    program, *arguments = shlex.split(example.code)
    if program != "toolsearch":
        raise ValueError(f"{program!r} is no program that an example runs")
    return ["-m", "toolsearch_eval.cli.main", *arguments]


def agrees(printed: str, shown: str) -> bool:
    r"""Whether an output is the one that is shown, by the rule at the top of this file.

    >>> agrees("a  0.5\nb  0.25\n", "…\nb  0.25\n"), agrees("a  0.5\n", "a  0.6\n")
    (True, False)
    """
    return _compared(_cut(printed, shown)) == _compared(shown)


def _cut(printed: str, shown: str) -> str:
    """The lines of an output that stand where others are shown, with the same elisions."""
    wanted, lines = shown.rstrip("\n").split("\n"), printed.rstrip("\n").split("\n")
    count = len(wanted) - 1
    if wanted[0] == ELISION and len(lines) >= count:
        lines = [ELISION, *lines[len(lines) - count :]]
    elif wanted[-1] == ELISION and len(lines) >= count:
        lines = [*lines[:count], ELISION]
    return "\n".join(lines) + "\n"


def _compared(output: str) -> list[str]:
    lines: list[str] = []
    timed = False
    for line in output.rstrip("\n").split("\n"):
        # A table whose last column is a time ends with the next empty line.
        timed = line.rstrip().endswith(" ms") or (timed and bool(line.strip()))
        if timed:
            line = re.sub(r"\s\d+\.\d+$", " N", line.rstrip())
        lines.append(re.sub(r" +|-{2,}", " ", line).strip())
    return lines


def refreshed(
    readme: str, environment: Mapping[str, str], *, tell: Callable[[str], None] = lambda _: None
) -> tuple[str, list[str], list[str]]:
    """The README with the output of every example as it is now.

    Returns:
        The text; the examples whose output is another one than was shown; and those that failed, with what they said.
    """
    changed: list[str] = []
    failed: list[str] = []
    pieces: list[str] = []
    done = 0
    for example in examples(readme):
        if example.is_long:
            continue
        label = example.code.strip().split("\n")[0]
        tell(f"running {label}")
        outcome = run_example(example, readme, environment)
        if outcome.code:
            failed.append(f"{label}: gave {outcome.code}: {outcome.errors.strip()[-500:]}")
        elif example.output is not None and not agrees(outcome.output, example.output):
            changed.append(label)
            pieces += [readme[done : example.start], _cut(outcome.output, example.output)]
            done = example.start + len(example.output)
    return "".join([*pieces, readme[done:]]), changed, failed
