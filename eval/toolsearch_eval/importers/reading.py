"""Raw files, read so that each value knows its file and its line; every fault is noted, none ends the reading."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolsearch.catalog.json_source import (
    MAX_DEPTH,
    JsonFault,
    Lines,
    elements,
    read_value,
    skip_blank,
    surrogate_path,
    too_deep,
)
from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_eval.data_files import kind_of, read_lines, read_rows, read_text

_LONGEST_CELL = 10_000_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands.

    Attributes:
        path: The file.
        line: The 1-based line; 0 is the whole file.
    """

    path: Path
    line: int = 0

    def problem(self, field: str, message: str) -> Problem:
        """A fault here."""
        return Problem(str(self.path), self.line, field, message)


def sources_of(given: Sequence[str | Path]) -> list[Path]:
    """The files and folders that were named.

    Raises:
        DataError: One does not exist; every such one at once.
    """
    paths = [Path(each) for each in given]
    missing = [Problem(str(path), 0, "", "there is no such file or folder") for path in paths if not path.exists()]
    if missing:
        raise DataError(missing)
    return paths


def find_file(sources: Sequence[Path], *names: str, needed: str = "") -> Path | None:
    """The first file of one of these names that was named itself or stands in a folder that was.

    Args:
        sources: Files and folders, in the order in which they are looked through.
        names: Paths inside a folder, such as `data/queries.csv`; a file that was named is told by their last part.
        needed: Say in words what it is, and a missing file is an error; "" gives None then.

    Raises:
        UsageError: There is none and it is needed.
    """
    for name in names:
        for source in sources:
            if source.is_dir() and (source / name).is_file():
                return source / name
            if source.is_file() and source.name == Path(name).name:
                return source
    if needed:
        given = ", ".join(str(source) for source in sources)
        raise UsageError(f"there is no {' or '.join(names)} in {given}: {needed}.")
    return None


def find_files(sources: Sequence[Path], pattern: str, *, suffixes: tuple[str, ...] = ()) -> list[Path]:
    """Every file that was named (with one of the suffixes, if any are given), and those in folders that fit."""
    found: dict[Path, None] = {}
    for source in sources:
        if source.is_dir():
            found.update(dict.fromkeys(sorted(path for path in source.glob(pattern) if path.is_file())))
        elif not suffixes or source.suffix in suffixes:
            found[source] = None
    return list(found)


def json_objects(path: Path, problems: list[Problem]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """The objects of a file, each with its line: an array of them, one alone, or one a line."""
    text = read_text(path, problems)
    if text is None:
        return
    start = skip_blank(text, 0)
    lines = Lines(text)
    if text[start : start + 1] == "[":
        whole = _whole_value(path, text, lines, problems)
        for value, position, _ in elements(text, start) if isinstance(whole, list) else ():
            yield from _object(Place(path, lines.at(position)), value, problems)
        return
    try:
        _, end = read_value(text, start)
        alone = skip_blank(text, end) == len(text)
    except JsonFault:
        alone = False
    if alone and "\n" in text[start:].strip():
        whole = _whole_value(path, text, lines, problems)
        if whole is not None:
            yield from _object(Place(path, lines.at(start)), whole, problems)
        return
    yield from ((Place(path, number), row) for number, row in read_rows(path, problems))


def json_line_values(path: Path, problems: list[Problem]) -> Iterator[tuple[Place, Any]]:
    """The values of a file, one a line, of whatever kind."""
    for number, line in read_lines(path, problems):
        place, known = Place(path, number), len(problems)
        value = json_text(line, place, "", problems)
        if len(problems) == known:
            yield place, value


def json_value(path: Path, problems: list[Problem]) -> Any:
    """The one value of a file; None where it can't be had."""
    text = read_text(path, problems)
    return None if text is None else _whole_value(path, text, Lines(text), problems)


def json_text(text: str, place: Place, field: str, problems: list[Problem]) -> Any:
    """The value of JSON that stands as a text inside of something else; None where it is none."""
    try:
        value, end = read_value(text, 0)
    except JsonFault as error:
        problems.append(place.problem(field, str(error)))
        return None
    if skip_blank(text, end) != len(text):
        problems.append(place.problem(field, "more text follows the JSON value; keep one value"))
        return None
    return _fit(place, field, value, problems)


def cells(path: Path, problems: list[Problem], *, delimiter: str = ",") -> Iterator[tuple[Place, list[str]]]:
    """The rows of a table with quoted cells, each with the line on which it begins; blank rows are left out."""
    text = read_text(path, problems)
    if text is None:
        return
    limit = csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield Place(path, line), row
            line = reader.line_num + 1
    except csv.Error as error:
        problems.append(Problem(str(path), line, "", f"is no table of cells: {error}; check the quotation marks"))
    finally:
        csv.field_size_limit(limit)


def named_cells(
    path: Path, problems: list[Problem], *, needed: Iterable[str], delimiter: str = ","
) -> Iterator[tuple[Place, dict[str, str]]]:
    """The rows of a table whose first row names the columns; a row has as many cells as there are names."""
    rows = cells(path, problems, delimiter=delimiter)
    first = next(rows, None)
    if first is None:
        problems.append(Problem(str(path), 0, "", "is empty; the first row names the columns"))
        return
    place, header = first
    names = [name.strip() for name in header]
    missing = [name for name in needed if name not in names]
    if missing or len(set(names)) < len(names):
        what = f"has no column {', '.join(missing)}" if missing else "names a column twice"
        problems.append(place.problem("", f"{what}; the columns are {', '.join(names)}"[:400]))
        return
    for place, row in rows:
        if len(row) != len(names):
            problems.append(place.problem("", f"has {len(row)} cells and the header {len(names)}; write as many"))
            continue
        yield place, dict(zip(names, row, strict=True))


def text_of(row: dict[str, Any], name: str, place: Place, problems: list[Problem]) -> str | None:
    """The text of a field that has to be there; None where it is none, which is noted."""
    value = row.get(name)
    if isinstance(value, str):
        return value
    what = "is missing" if name not in row else f"is {kind_of(value)}"
    problems.append(place.problem(name, f"{what}; it must be a text"))
    return None


def _whole_value(path: Path, text: str, lines: Lines, problems: list[Problem]) -> Any:
    try:
        value, end = read_value(text, 0)
    except JsonFault as error:
        problems.append(Problem(str(path), lines.at(error.position), "", str(error)))
        return None
    rest = skip_blank(text, end)
    if rest != len(text):
        problems.append(Problem(str(path), lines.at(rest), "", "more text follows the JSON value; keep one value"))
        return None
    return _fit(Place(path, 1), "", value, problems)


def _object(place: Place, value: Any, problems: list[Problem]) -> Iterator[tuple[Place, dict[str, Any]]]:
    if isinstance(value, dict):
        yield place, value
    else:
        problems.append(place.problem("", f"is {kind_of(value)}; an object is needed"))


def _fit(place: Place, field: str, value: Any, problems: list[Problem]) -> Any:
    if too_deep(value):
        problems.append(place.problem(field, f"nested too deeply; at most {MAX_DEPTH} levels are accepted"))
        return None
    surrogate = surrogate_path(value)
    if surrogate is not None:
        problems.append(place.problem(surrogate or field, "holds a lone surrogate; replace it, for instance by U+FFFD"))
        return None
    return value
