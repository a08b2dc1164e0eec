"""A data set in BEIR's form: `corpus.jsonl`, `queries.jsonl`, `qrels/dev.tsv` and `qrels/test.tsv`.

A tool is a document whose _id and title are its name and whose text is its description. All other fields of tools and
queries are under `metadata.toolsearch`, where BEIR's own programs leave them alone; the card and the labels with their
judges are beside, in `dataset.toml` and `judgements.jsonl`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolsearch.catalog.rows import to_row
from toolsearch.catalog.tool import Tool
from toolsearch_eval.data import DataSet, query_row
from toolsearch_eval.exporters.folder import companions, encoded, refuse_unfit, write_folder
from toolsearch_eval.importers.beir import HEADER, document_of
from toolsearch_eval.importers.own_rows import KEY


def write_beir(data: DataSet, folder: str | Path) -> Path:
    """Write the set into a new folder.

    Raises:
        UsageError: The form can't hold it (tools that share a name, ids with tabs or line breaks), or the folder can't
            be written.
    """
    refuse_unfit(data)
    files = companions(data)
    files["corpus.jsonl"] = _lines(map(_document, data.tools), "the catalog")
    files["queries.jsonl"] = _lines(
        ({"_id": query.query_id, "text": query.text, "metadata": {KEY: query_row(query)}} for query in data.queries),
        "a query",
    )
    splits = {query.query_id: query.split for query in data.queries}
    for split in ("dev", "test"):
        rows = [
            f"{query_id}\t{tool}\t{grade}"
            for query_id, grades in data.judgements.items()
            if splits.get(query_id, "test") == split
            for tool, grade in grades.items()
        ]
        files[f"qrels/{split}.tsv"] = encoded("\n".join(["\t".join(HEADER), *rows, ""]), "a label")
    return write_folder(folder, files)


def _document(tool: Tool) -> dict[str, Any]:
    """The document that a tool came from, where it came from one; else name and description."""
    source = document_of(tool)
    metadata = source.get("metadata")
    known = dict(metadata) if isinstance(metadata, Mapping) else {}
    return {
        "_id": tool.name,
        "title": source["title"],
        "text": source["text"],
        "metadata": {**known, KEY: to_row(tool)},
    }


def _lines(rows: Iterable[Mapping[str, Any]], what: str) -> bytes:
    return encoded("".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows), what)
