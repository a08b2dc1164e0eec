"""Labelled data sets: a folder with a catalog, queries and judgements."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import toolsearch_datasets
from toolsearch.catalog.formats import load_catalog, to_row
from toolsearch.catalog.json_source import MAX_DEPTH, too_deep
from toolsearch.catalog.names import shown
from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, Problem, UnknownNameError
from toolsearch_eval.conversation_files import read_conversations
from toolsearch_eval.conversations import Conversation
from toolsearch_eval.data_files import id_fault, kind_of, read_qrels, read_rows, read_text
from toolsearch_eval.judgements import Judgement as Judgement
from toolsearch_eval.judgements import derived_grades, read_judgements

latest_grades = derived_grades

_LABELS = ("slice", "language", "split", "group", "origin")
_TEXTS = {"text", *_LABELS, "need", "expect"}
_KNOWN = {"query_id", "must_not", *_TEXTS}
_ACCEPTED = {"split": ("dev", "test"), "need": ("any", "all"), "expect": ("answer", "none")}
_TOO_DEEP = f"nested too deeply; at most {MAX_DEPTH} levels are accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One labelled query.

    Attributes:
        query_id: Unique in the data set, of visible characters on one line.
        text: What is asked; any characters but lone surrogates.
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

    def __post_init__(self) -> None:
        """A query without a group is a group of its own."""
        if not self.group:
            object.__setattr__(self, "group", self.query_id)


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
        conversations: The scripted conversations by name; they take no part in the fingerprint.
        about: What `dataset.toml` says; holds at least the name.
    """

    name: str
    path: str
    tools: tuple[Tool, ...]
    queries: tuple[Query, ...]
    judgements: Mapping[str, Mapping[str, int]]
    fingerprint: str
    labels: tuple[Judgement, ...] = ()
    conversations: tuple[Conversation, ...] = ()
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
    given = folder / "judgements.jsonl"
    if given.is_file() and given.stat().st_size:
        labels = read_judgements(given, problems)
        judgements = derived_grades(labels)
    else:
        judgements = read_qrels(folder / "qrels.tsv", problems)
    conversations = read_conversations(folder, problems)
    if problems:
        files = list(dict.fromkeys(problem.path for problem in problems))
        raise DataError(sorted(problems, key=lambda problem: (files.index(problem.path), problem.line)))
    return DataSet(
        name=about["name"],
        path=str(folder),
        tools=tools,
        queries=queries,
        judgements=judgements,
        fingerprint=fingerprint_of(tools, queries, judgements),
        labels=labels,
        conversations=conversations,
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


def _folder(name_or_folder: str | Path) -> Path:
    shipped = toolsearch_datasets.names()
    if name_or_folder in shipped:
        return toolsearch_datasets.folder(str(name_or_folder))
    folder = Path(name_or_folder)
    if name_or_folder == "" or not os.path.isdir(folder):  # unlike the method it bears any text
        raise UnknownNameError("data set", str(name_or_folder), shipped, "A path must be a data set's folder.")
    return folder


def _about(path: Path, problems: list[Problem]) -> dict[str, Any]:
    """What `dataset.toml` says; the name of the folder where it says no name."""
    about: dict[str, Any] = {"name": path.parent.resolve().name}
    if not path.exists():
        return about
    text = read_text(path, problems)
    try:
        about |= tomllib.loads(text or "")
    except tomllib.TOMLDecodeError as error:
        problems.append(Problem(str(path), 0, "", f"is not valid TOML: {error}"))
    except ValueError:  # the interpreter's own bound, which keeps such a number from taking minutes
        problems.append(Problem(str(path), 0, "", "a whole number has thousands of digits; shorten it"))
    except RecursionError:
        problems.append(Problem(str(path), 0, "", _TOO_DEEP))
    if too_deep(about):
        problems.append(Problem(str(path), 0, "", _TOO_DEEP))
    if not isinstance(about["name"], str) or not about["name"].strip():
        problems.append(Problem(str(path), 0, "name", "must be a text that is not empty"))
    return about


def _queries(path: Path, problems: list[Problem]) -> tuple[Query, ...]:
    queries: dict[str, Query] = {}
    lines: dict[str, int] = {}
    for number, row in read_rows(path, problems):
        faults = list(_query_faults(row))
        query_id = row.get("query_id")
        if isinstance(query_id, str) and lines.setdefault(query_id, number) != number:
            faults.append(
                ("query_id", f"{shown(query_id)} stands on line {lines[query_id]} already; ids must be unique")
            )
        if faults:
            problems += [Problem(str(path), number, name, message) for name, message in faults]
            continue
        values = {key: row[key] for key in _TEXTS if row.get(key) is not None}
        must_not = tuple(row.get("must_not") or ())
        extra = {key: value for key, value in row.items() if key not in _KNOWN}
        query = Query(query_id=str(query_id), must_not=must_not, extra=extra, line=number, **values)
        queries[query.query_id] = query
    return tuple(queries.values())


def _query_faults(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    query_id = row.get("query_id")
    if not isinstance(query_id, str):
        yield "query_id", f"is {kind_of(query_id)}; every query needs an id, a text that is not empty"
    elif (fault := id_fault(query_id)) is not None:
        yield "query_id", f"{fault}; an id is a text of visible characters on one line"
    if row.get("text") is None:
        yield "text", "the query has no text; write what is asked"
    for key in sorted(_TEXTS):
        value = row.get(key)
        if value is not None and not isinstance(value, str):
            yield key, f"is {kind_of(value)}; it must be a text"
        elif value is not None and value not in _ACCEPTED.get(key, (value,)):
            yield key, f"is {value[:40]!r}; accepted: {', '.join(_ACCEPTED[key])}"
    must_not = row.get("must_not")
    if must_not is not None and not (isinstance(must_not, list) and all(isinstance(name, str) for name in must_not)):
        yield "must_not", "must be a list of tool names"
