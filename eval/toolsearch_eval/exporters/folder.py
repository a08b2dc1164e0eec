"""A new folder with files, written whole or not at all, and what every form of export has to refuse."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from toolsearch.catalog.names import shown
from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet
from toolsearch_eval.data_files import id_fault
from toolsearch_eval.data_write import write_data

_COMPANIONS = ("dataset.toml", "judgements.jsonl")


def refuse_unfit(data: DataSet) -> None:
    """Do nothing where the set can be written in a form that knows tools by their names alone, a label a line.

    Raises:
        UsageError: Tools share a name, or an id or a name can't stand in a line; every such one at once.
    """
    names = Counter(tool.name for tool in data.tools)
    faults = [f"{shown(name)} is the name of {count} tools" for name, count in names.items() if count > 1]
    judged = [name for grades in data.judgements.values() for name in grades]
    for name in dict.fromkeys((*names, *judged, *data.judgements)):
        if not name.strip() or set(name) & set("\t\r\n"):
            faults.append(f"{shown(name)} is empty or holds a tab or a line break")
    ids = Counter(query.query_id for query in data.queries)
    faults += [f"{shown(name)} is the id of {count} queries" for name, count in ids.items() if count > 1]
    faults += [f"the query id {shown(name)} {fault}" for name in ids if (fault := id_fault(name)) is not None]
    if faults:
        raise UsageError("this data set can't be exported:\n" + "\n".join(faults))


def companions(data: DataSet) -> dict[str, bytes]:
    """The files of our own form that hold what other forms have no place for: the card, and who judged when."""
    with tempfile.TemporaryDirectory() as beside:
        folder = write_data(data, Path(beside) / "set")
        return {name: (folder / name).read_bytes() for name in _COMPANIONS if (folder / name).is_file()}


def write_folder(folder: str | Path, files: Mapping[str, bytes]) -> Path:
    """Write files into a new folder.

    Args:
        folder: It may exist if it is empty.
        files: By path inside the folder.

    Raises:
        UsageError: There is something else, or it can't be written.
    """
    target = Path(folder)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise UsageError(f"{folder} is there already and is not empty; name a new folder.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name[:40]}.") as beside:
            fresh = Path(beside) / "new"
            fresh.mkdir()
            for name, content in files.items():
                path = fresh / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            os.replace(fresh, target)
    except OSError as error:
        raise UsageError(f"{folder} can't be written: {error}.") from error
    return target


def encoded(text: str, what: str) -> bytes:
    """The text in UTF-8.

    Raises:
        UsageError: It holds a lone surrogate; `what` says where.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} holds a lone surrogate, which no file in UTF-8 can hold; replace it.") from error
