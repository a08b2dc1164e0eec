"""Data files that were uploaded: read as the command line reads them, never run, and not kept on the disk."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Final

from toolsearch.catalog.formats import load_catalog
from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_app.text import line
from toolsearch_eval.data import DataSet, fingerprint_of, load_data
from toolsearch_eval.data_files import FILES

SUFFIXES: Final = ("jsonl", "json", "tsv", "toml")
_CATALOG: Final = ".json", ".jsonl"


def catalog_alone(path: Path, name: str) -> DataSet:
    """A catalog without any query, as a data set.

    Raises:
        DataError: It holds faults; all of them.
    """
    tools = load_catalog(path)
    return DataSet(
        name=name,
        path=str(path.parent),
        tools=tools,
        queries=(),
        judgements={},
        fingerprint=fingerprint_of(tools, (), {}),
        about={"name": name},
    )


def read_upload(files: Mapping[str, bytes]) -> DataSet:
    """A data set from the contents of its files, or from a catalog alone.

    Args:
        files: By name. The files of a data set have their usual names; a single file of another name that ends in
            `.json` or `.jsonl` is a catalog.

    Raises:
        UsageError: A file's name says nothing, or there is no catalog.
        DataError: Faults, all of them, each with the file's name and line, as the command line gives them.
    """
    unknown = sorted(name for name in files if name not in FILES)
    single = len(files) == 1 and bool(unknown) and PurePath(unknown[0]).suffix.lower() in _CATALOG
    if unknown and not single:
        raise UsageError(
            f"the file {line(unknown[0], 80)!r} has no place in a data set; accepted: {', '.join(FILES)}, or one "
            "catalog alone that ends in .json or .jsonl."
        )
    if not single and "catalog.jsonl" not in files:
        raise UsageError("there is no catalog.jsonl among the files; without its tools nothing can be searched.")
    with tempfile.TemporaryDirectory(prefix="toolsearch-upload-") as place:
        folder = Path(place)
        # A name from outside never becomes a path: it is one of ours, or is replaced by one.
        names = (
            {f"catalog{PurePath(unknown[0]).suffix.lower()}": unknown[0]}
            if single
            else dict(zip(files, files, strict=True))
        )
        for name, given in names.items():
            (folder / name).write_bytes(files[given])
        try:
            if set(names) - {"catalog.jsonl", "catalog.json"}:
                found = load_data(folder)
            else:
                found = catalog_alone(folder / next(iter(names)), "uploaded")
        except DataError as error:
            named = [
                Problem(names.get(Path(each.path).name, Path(each.path).name), each.line, each.field, each.message)
                for each in error.problems
            ]
            raise DataError(named) from error
    name = found.name if "dataset.toml" in names else "uploaded"
    return replace(found, path="", name=name, about={**found.about, "name": name})
