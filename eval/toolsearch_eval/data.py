"""Labelled data sets: a folder with a catalog, queries and judgements."""

from __future__ import annotations

import hashlib
import importlib
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from toolsearch.catalog.formats import load_catalog, to_row
from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, Problem, UnknownNameError

NAMED_DATA = ("builtin", "tiny")
"""The data sets that ship."""
_LABELS = ("slice", "language", "split", "group", "origin")
_TEXTS = {"text", *_LABELS, "need", "expect"}
_KNOWN = {"query_id", "must_not", *_TEXTS}


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
        extra: Fields of the file's row that are not known here; kept for writing.
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
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One label as a judge gave it: a line of `judgements.jsonl`.

    Attributes:
        query_id: The query.
        tool: The tool.
        grade: 2 does the job, 1 acceptable or a part, 0 or below not.
        judge: Who, or "".
        turn: The labelling pass (`pass` in the file); a later one settles what earlier ones said.
        date: When, or "".
        extra: Fields of the file's row that are not known here; kept for writing.
        line: The 1-based line in the file.
    """

    query_id: str
    tool: str
    grade: int
    judge: str = ""
    turn: int = 1
    date: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
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
        fingerprint: What `fingerprint_of` gives for these tools, queries and judgements.
        labels: Every label as it was given; empty where there is only `qrels.tsv`.
        about: What `dataset.toml` says.
    """

    name: str
    path: str
    tools: tuple[Tool, ...]
    queries: tuple[Query, ...]
    judgements: Mapping[str, Mapping[str, int]]
    fingerprint: str
    labels: tuple[Judgement, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)


def load_data(name_or_folder: str | Path) -> DataSet:
    """Load a shipped data set by name, or a folder.

    Raises:
        UnknownNameError: It is neither a shipped set nor a folder.
        DataError: Files are missing or hold faults; every fault of every file at once.
    """
    folder = _folder(name_or_folder)
    problems: list[Problem] = []
    about = _about(folder / "dataset.toml", problems)
    tools: tuple[Tool, ...] = ()
    try:
        tools = load_catalog(folder / "catalog.jsonl")
    except DataError as error:
        problems += error.problems
    queries = _queries(folder / "queries.jsonl", problems)
    labels: tuple[Judgement, ...] = ()
    if (folder / "judgements.jsonl").is_file():
        labels = _labels(folder / "judgements.jsonl", problems)
        judgements = latest_grades(labels)
    else:
        judgements = read_qrels(folder / "qrels.tsv", problems)
    if problems:
        files = list(dict.fromkeys(problem.path for problem in problems))
        raise DataError(sorted(problems, key=lambda problem: (files.index(problem.path), problem.line)))
    return DataSet(
        name=str(about.get("name") or folder.resolve().name),
        path=str(folder),
        tools=tools,
        queries=queries,
        judgements=judgements,
        fingerprint=fingerprint_of(tools, queries, judgements),
        labels=labels,
        about=about,
    )


def fingerprint_of(tools: Sequence[Tool], queries: Sequence[Query], judgements: Mapping[str, Mapping[str, int]]) -> str:
    """SHA-256 (hexadecimal) over what is measured: tools and queries in their order, and the grades.

    How the files are written (line ends, order of keys, order of labels) changes nothing.
    """
    digest = hashlib.sha256()
    for part in (map(to_row, tools), map(query_row, queries), ({key: judgements[key]} for key in sorted(judgements))):
        for row in part:
            digest.update(json.dumps(row, sort_keys=True).encode("ascii") + b"\n")
        digest.update(b"\n")
    return digest.hexdigest()


def query_row(query: Query) -> dict[str, Any]:
    """The row of `queries.jsonl`: only what differs from the defaults, in the order of the layout.

    >>> query_row(Query(query_id="q1", text="mail", slice="exact", group="q1"))
    {'query_id': 'q1', 'text': 'mail', 'slice': 'exact', 'split': 'test', 'group': 'q1'}
    """
    row: dict[str, Any] = {"query_id": query.query_id, "text": query.text}
    row |= {key: value for key in _LABELS if (value := getattr(query, key))}
    if query.need == "all":
        row["need"] = query.need
    if query.expect == "none":
        row["expect"] = query.expect
    if query.must_not:
        row["must_not"] = list(query.must_not)
    return row | dict(query.extra)


def latest_grades(labels: Iterable[Judgement]) -> dict[str, dict[str, int]]:
    """The grade of each query and tool: of the latest pass, and there of the last line.

    >>> latest_grades([Judgement(query_id="q", tool="t", grade=2, turn=2), Judgement(query_id="q", tool="t", grade=0)])
    {'q': {'t': 2}}
    """
    latest: dict[tuple[str, str], Judgement] = {}
    for label in labels:
        before = latest.get((label.query_id, label.tool))
        if before is None or label.turn >= before.turn:
            latest[label.query_id, label.tool] = label
    grades: dict[str, dict[str, int]] = {}
    for (query_id, tool), label in latest.items():
        grades.setdefault(query_id, {})[tool] = label.grade
    return grades


def _folder(name_or_folder: str | Path) -> Path:
    if name_or_folder in NAMED_DATA:
        return Path(importlib.import_module("toolsearch_datasets").folder(str(name_or_folder)))
    folder = Path(name_or_folder)
    if not folder.is_dir():
        raise UnknownNameError("data set", str(name_or_folder), NAMED_DATA, "A path must be a data set's folder.")
    return folder


def _about(path: Path, problems: list[Problem]) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problems.append(Problem(str(path), 0, "", f"can't be read as TOML: {error}"))
        return {}


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
            extra = {key: value for key, value in row.items() if key not in _KNOWN}
            queries[query_id] = Query(query_id=query_id, must_not=tuple(must_not), extra=extra, line=number, **values)
    return tuple(queries.values())


def read_qrels(path: Path, problems: list[Problem]) -> dict[str, dict[str, int]]:
    """Grades by query and tool from our own form or TREC's; faults are added to `problems`."""
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


def _labels(path: Path, problems: list[Problem]) -> tuple[Judgement, ...]:
    labels: list[Judgement] = []
    for number, row in _rows(path, problems):
        values = {key: row.pop(key, None) for key in ("query_id", "tool", "grade", "judge", "pass", "date")}
        values = {key: value for key, value in values.items() if value is not None}
        turn = values.pop("pass", 1)
        texts = all(isinstance(values.get(key, ""), str) for key in ("query_id", "tool", "judge", "date"))
        whole = type(values.get("grade")) is int and type(turn) is int
        if texts and whole and "query_id" in values and "tool" in values:
            labels.append(Judgement(**values, turn=turn, extra=row, line=number))
        else:
            message = "needs query_id and tool (texts) and grade (whole); judge and date are texts, pass is whole"
            problems.append(Problem(str(path), number, "", message))
    return tuple(labels)
