"""Write a labelled data set: the whole folder or nothing, and nothing of it lost."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from toolsearch.catalog.formats import write_catalog
from toolsearch.errors import UsageError
from toolsearch_eval.conversations import conversation_rows
from toolsearch_eval.data import DataSet, query_row
from toolsearch_eval.data_files import FILES, MAX_GRADE, id_fault
from toolsearch_eval.judgements import derived_grades, judgement_row


def write_data(data: DataSet, folder: str | Path) -> Path:
    """Write a data set so that `load_data` gives an equal one back (but for its path and line numbers).

    With labels, `judgements.jsonl` is written and `qrels.tsv` is derived from it; each conversation is a file.
    What else stands in the folder stays; a new folder gets card and licence of the one that the data came from.

    Args:
        data: The data set.
        folder: A new folder, an empty one, or that of a data set, whose files are replaced.

    Returns:
        The folder.

    Raises:
        UsageError: The folder holds something else or can't be written; a value has no place in the files; or grades
            and labels say different things.
    """
    _check(data)
    target = Path(folder).resolve()
    if target.exists() and not (target.is_dir() and _replaceable(target)):
        raise UsageError(f"{folder} is there already and is no data set; name a new folder, or that of a data set.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name[:40]}.") as beside:
            fresh = Path(beside) / "new"
            if target.exists():
                shutil.copytree(target, fresh, ignore=partial(_replaced, target), symlinks=True)
            else:
                fresh.mkdir()
                _copy_companions(data, fresh)
            _write_files(data, fresh)
            _swap(fresh, target, Path(beside) / "old")
    except (OSError, TypeError, ValueError, RecursionError) as error:  # the last three: what no JSON or UTF-8 can hold
        raise UsageError(f"{folder} can't be written: {error}.") from error
    return target


def _replaceable(folder: Path) -> bool:
    return not any(folder.iterdir()) or (folder / "queries.jsonl").is_file()


def _replaced(target: Path, folder: str, names: list[str]) -> list[str]:
    """The files that are written anew; those of the same name deeper inside belong to someone else."""
    if Path(folder) == target / "conversations":
        return [name for name in names if name.endswith(".jsonl")]
    return [name for name in names if name in FILES] if Path(folder) == target else []


def _check(data: DataSet) -> None:
    if data.labels and derived_grades(data.labels) != {key: dict(grades) for key, grades in data.judgements.items()}:
        raise UsageError("the labels give other grades than the judgements; change the labels and derive the grades.")
    seen: set[str] = set()
    for query in data.queries:
        fault = id_fault(query.query_id) or ("comes twice" if query.query_id in seen else None)
        if fault:
            raise UsageError(f"the query id {query.query_id!r} can't be written: it {fault}.")
        seen.add(query.query_id)
    names = [conversation.name for conversation in data.conversations]
    for name in names:
        if names.count(name) > 1 or Path(name).name != name or not name or name.startswith("."):
            raise UsageError(f"the conversation {name!r} can't be written: its name must be unique and a file's name.")
    for query_id, grades in data.judgements.items():
        for name in (query_id, *grades):
            if not name.strip() or set(name) & set("\t\r\n"):
                raise UsageError(f"{name!r} can't stand in qrels.tsv: ids and names hold no tabs and line breaks.")
        for grade in grades.values():
            if abs(grade) > MAX_GRADE:
                raise UsageError(f"query {query_id!r} has grade {grade}; accepted: -{MAX_GRADE} to {MAX_GRADE}.")


def _copy_companions(data: DataSet, fresh: Path) -> None:
    source = Path(data.path)
    if not data.path or not source.is_dir():
        return
    card = data.about.get("card")
    # The card may be a text as well as a file's name; only a name inside of the folder is followed.
    names = {"LICENSE", *([card] if isinstance(card, str) and Path(card).name == card and len(card) < 100 else [])}
    for name in sorted(names - set(FILES)):
        path = source / name
        if path.is_file() and not path.is_symlink():  # a link may lead out of the folder
            shutil.copyfile(path, fresh / name)


def _write_files(data: DataSet, folder: Path) -> None:
    about = "".join(f"{_key(key)} = {_toml(value)}\n" for key, value in {**data.about, "name": data.name}.items())
    (folder / "dataset.toml").write_bytes(about.encode())
    write_catalog(data.tools, folder / "catalog.jsonl")
    (folder / "queries.jsonl").write_bytes(_json_lines(map(query_row, data.queries)))
    if data.labels:
        (folder / "judgements.jsonl").write_bytes(_json_lines(map(judgement_row, data.labels)))
    for conversation in data.conversations:
        (folder / "conversations").mkdir(exist_ok=True)
        rows = _json_lines(conversation_rows(conversation))
        (folder / "conversations" / f"{conversation.name}.jsonl").write_bytes(rows)
    (folder / "qrels.tsv").write_bytes(qrels_bytes(data.judgements))


def qrels_bytes(judgements: Mapping[str, Mapping[str, int]]) -> bytes:
    r"""The file `qrels.tsv` for these grades, in their order.

    >>> qrels_bytes({"q": {"t": 2}})
    b'query_id\ttool\tgrade\nq\tt\t2\n'
    """
    lines = [f"{query}\t{tool}\t{grade}" for query, grades in judgements.items() for tool, grade in grades.items()]
    return "\n".join(["query_id\ttool\tgrade", *lines, ""]).encode()


def _json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode()


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("_", "a").replace("-", "a").isalnum() else _toml(key)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(key))} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_toml, value)) + "]"
    raise UsageError(f"dataset.toml can't hold {type(value).__name__}; accepted: texts, numbers, dates, lists, tables.")


def _swap(fresh: Path, target: Path, old: Path) -> None:
    """Put the fresh folder in the target's place; on a fault the old one is put back."""
    if target.exists():
        os.replace(target, old)
    try:
        os.replace(fresh, target)
    except OSError:
        if old.exists():
            os.replace(old, target)
        raise
