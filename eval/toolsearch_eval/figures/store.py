"""Where blocks stand: between marks in the README, and as data in the file of results."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_eval.figures.block import Block, block_from_json, shown

_MARKED = re.compile(r"(<!-- figures:([a-z-]+) -->\n)(.*?)(<!-- /figures -->)", re.DOTALL)


def read_readme(path: Path) -> str:
    """The text of the README.

    Raises:
        UsageError: It can't be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read: {error}") from error


def marked_blocks(readme: str) -> list[str]:
    """The names of the marked blocks in their order."""
    return [match[2] for match in _MARKED.finditer(readme)]


def rewritten(readme: str, results: Mapping[str, Block]) -> str:
    """The README with every marked block made anew; a block without figures stays as it is."""

    def block(match: re.Match[str]) -> str:
        figures = results.get(match[2])
        return match[0] if figures is None else f"{match[1]}{shown(figures)}{match[4]}"

    return _MARKED.sub(block, readme)


def read_results(path: Path) -> dict[str, Block]:
    """The blocks that were measured last; empty where there is no file yet.

    Raises:
        DataError: The file has another form.
    """
    if not path.exists():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError([Problem(str(path), 0, "", f"can't be read as JSON: {error}")]) from error
    try:
        return {str(name): block_from_json(form) for name, form in value.items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = "must be an object of blocks as this command writes them; remove the file to measure anew"
        raise DataError([Problem(str(path), 0, "", message)]) from error


def write_results(path: Path, results: Mapping[str, Block]) -> None:
    """Write all blocks, whole or not at all.

    Raises:
        UsageError: The file can't be written.
    """
    form = {name: results[name].to_json() for name in sorted(results)}
    write_whole(path, json.dumps(form, ensure_ascii=False, indent=1) + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        UsageError: It can't be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror or error}.") from error
