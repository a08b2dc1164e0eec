"""Labelled data sets: a folder with a catalog, queries and judgements."""

from __future__ import annotations

import hashlib
import importlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from toolsearch.catalog.formats import load_catalog
from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, Problem, UnknownNameError

NAMED_DATA = ("builtin", "tiny")
"""The data sets that ship."""
_TEXTS = {"text", "slice", "language", "split", "group", "origin", "need", "expect"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One labelled query.

    Attributes:
        query_id: Unique in the data set.
        text: What is asked.
        slice: The kind of query it is.
        language: As the file says, or "".
        split: `dev` or `test`.
        group: All wordings of one intent share it; the query's own id where the file has none.
        origin: Where it comes from, or "".
        need: `all` when every relevant tool is needed, else `any`.
        expect: `none` when the catalog has no answer, else `answer`.
        must_not: Tools that must not come back.
        line: The 1-based line in the file.
    """

    query_id: str
    text: str
    slice: str = ""
    language: str = ""
    split: str = "test"
    group: str = ""
    origin: str = ""
    need: Literal["any", "all"] = "any"
    expect: Literal["answer", "none"] = "answer"
    must_not: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A data set in memory.

    Attributes:
        name: From `dataset.toml`, else the folder's name.
        path: The folder.
        tools: The catalog in file order.
        queries: In file order.
        judgements: Grade by query and tool.
        fingerprint: SHA-256 (hexadecimal) over the bytes of catalog, queries and labels.
    """

    name: str
    path: str
    tools: tuple[Tool, ...]
    queries: tuple[Query, ...]
    judgements: Mapping[str, Mapping[str, int]]
    fingerprint: str


def load_data(name_or_folder: str | Path) -> DataSet:
    """Load a shipped data set by name, or a folder.

    Raises:
        UnknownNameError: It is neither a shipped set nor a folder.
        DataError: Files are missing or hold faults; every fault of every file at once.
    """
    folder = _folder(name_or_folder)
    problems: list[Problem] = []
    name = _name(folder, problems)
    tools: tuple[Tool, ...] = ()
    try:
        tools = load_catalog(folder / "catalog.jsonl")
    except DataError as error:
        problems += error.problems
    queries = _queries(folder / "queries.jsonl", problems)
    has_judgements = (folder / "judgements.jsonl").is_file()
    labels = folder / ("judgements.jsonl" if has_judgements else "qrels.tsv")
    judgements = _judgements(labels, problems) if has_judgements else _qrels(labels, problems)
    if problems:
        files = list(dict.fromkeys(problem.path for problem in problems))
        raise DataError(sorted(problems, key=lambda problem: (files.index(problem.path), problem.line)))
    digest = hashlib.sha256()
    for part in (folder / "catalog.jsonl", folder / "queries.jsonl", labels):
        content = part.read_bytes()
        digest.update(f"{part.name}:{len(content)}:".encode() + content)
    return DataSet(
        name=name,
        path=str(folder),
        tools=tools,
        queries=queries,
        judgements=judgements,
        fingerprint=digest.hexdigest(),
    )


def _folder(name_or_folder: str | Path) -> Path:
    if name_or_folder in NAMED_DATA:
        return Path(importlib.import_module("toolsearch_datasets").folder(str(name_or_folder)))
    folder = Path(name_or_folder)
    if not folder.is_dir():
        raise UnknownNameError("data set", str(name_or_folder), NAMED_DATA, "A path must be a data set's folder.")
    return folder


def _name(folder: Path, problems: list[Problem]) -> str:
    card = folder / "dataset.toml"
    if not card.exists():
        return folder.resolve().name
    try:
        return str(tomllib.loads(card.read_text(encoding="utf-8")).get("name") or folder.resolve().name)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problems.append(Problem(str(card), 0, "", f"can't be read as TOML: {error}"))
        return folder.name


def _lines(path: Path, problems: list[Problem]) -> list[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        problems.append(Problem(str(path), 0, "", f"can't be read as UTF-8 text: {error}"))
        return []
    return [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _rows(path: Path, problems: list[Problem]) -> list[tuple[int, dict[str, Any]]]:
    rows: list[tuple[int, dict[str, Any]]] = []
    for number, line in _lines(path, problems):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.append(Problem(str(path), number, "", f"is not valid JSON: {error}"))
            continue
        if isinstance(row, dict):
            rows.append((number, row))
        else:
            problems.append(Problem(str(path), number, "", "must be a JSON object"))
    return rows


def _queries(path: Path, problems: list[Problem]) -> tuple[Query, ...]:
    queries: dict[str, Query] = {}
    for number, row in _rows(path, problems):
        before = len(problems)

        def fault(name: str, message: str, line: int = number) -> None:
            problems.append(Problem(str(path), line, name, message))

        query_id = row.get("query_id")
        if not isinstance(query_id, str) or not query_id:
            fault("query_id", "must be a text that is not empty")
            continue
        if query_id in queries:
            fault(
                "query_id",
                f"{query_id!r} stands on line {queries[query_id].line} already; ids must be unique",
            )
        values = {key: row[key] for key in _TEXTS if row.get(key) is not None}
        for key, value in sorted(values.items()):
            if not isinstance(value, str):
                fault(key, f"must be a text, not {value!r}")
        if not isinstance(row.get("text"), str):
            fault("text", "must be a text")
        for key, accepted in (
            ("split", ("dev", "test")),
            ("need", ("any", "all")),
            ("expect", ("answer", "none")),
        ):
            if key in values and values[key] not in accepted:
                fault(key, f"is {values[key]!r}; accepted: {', '.join(accepted)}")
        must_not = row.get("must_not") or []
        if not isinstance(must_not, list) or not all(isinstance(name, str) for name in must_not):
            fault("must_not", "must be a list of tool names")
        if len(problems) == before:
            values.setdefault("group", query_id)
            queries[query_id] = Query(query_id=query_id, must_not=tuple(must_not), line=number, **values)
    return tuple(queries.values())


def _qrels(path: Path, problems: list[Problem]) -> dict[str, dict[str, int]]:
    judgements: dict[str, dict[str, int]] = {}
    for place, (number, line) in enumerate(_lines(path, problems)):
        cells = line.rstrip("\r").split("\t")
        if place == 0 and cells == ["query_id", "tool", "grade"]:
            continue
        if len(cells) != 3:
            cells = line.split()
            if len(cells) == 4:
                del cells[1]
        if len(cells) != 3 or not _is_whole(cells[2]):
            message = "must be query_id, tool and a whole grade between tabs, or a TREC line (query 0 tool grade)"
            problems.append(Problem(str(path), number, "", message))
            continue
        query_id, tool, grade = cells
        known = judgements.setdefault(query_id, {})
        if known.get(tool, int(grade)) != int(grade):
            problems.append(Problem(str(path), number, "grade", f"{tool!r} has the grade {known[tool]} above"))
        known[tool] = int(grade)
    return judgements


def _is_whole(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdigit() and len(text) < 10


def _judgements(path: Path, problems: list[Problem]) -> dict[str, dict[str, int]]:
    latest: dict[tuple[str, str], tuple[int, int]] = {}
    for number, row in _rows(path, problems):
        query_id, tool, grade, turn = (row.get(key) for key in ("query_id", "tool", "grade", "pass"))
        turn = 1 if turn is None else turn
        if not (isinstance(query_id, str) and isinstance(tool, str) and type(grade) is int and type(turn) is int):
            problems.append(Problem(str(path), number, "", "needs query_id and tool (texts), grade and pass (whole)"))
            continue
        if turn >= latest.get((query_id, tool), (turn, 0))[0]:
            latest[query_id, tool] = (turn, grade)
    judgements: dict[str, dict[str, int]] = {}
    for (query_id, tool), (_, grade) in latest.items():
        judgements.setdefault(query_id, {})[tool] = grade
    return judgements
