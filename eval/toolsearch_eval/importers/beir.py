"""BEIR (Thakur et al., NeurIPS 2021): the form in which most retrieval sets are passed on.

Give the folder: `corpus.jsonl` (_id, title, text, metadata), `queries.jsonl` (_id, text, metadata) and `qrels/*.tsv`
(a header, then query-id, corpus-id and score between tabs). The form is that of the `beir` package, version 2.

A document becomes a tool: its _id is the name, title and text are the description, and what else it says is kept in
`meta`. A query's split is that of the qrels file which has it; `train` counts as `dev`. What `toolsearch dataset export
beir` wrote comes back as it was: the rows under `metadata.toolsearch` hold the fields that BEIR has no place for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch_eval.data_files import is_grade_text, read_lines
from toolsearch_eval.importers.draft import Draft, Imported
from toolsearch_eval.importers.own_rows import KEY, query_of, take_companions, take_query, tool_of
from toolsearch_eval.importers.reading import Place, find_file, find_files, json_objects, text_of

HEADER = ("query-id", "corpus-id", "score")
META = "beir"
"""Where a tool keeps the document that it came from."""


def read(sources: Sequence[Path], name: str) -> Imported:
    """Read the set.

    Raises:
        UsageError: A file is not there.
        DataError: Every fault of every file.
    """
    draft = Draft()
    corpus = find_file(sources, "corpus.jsonl", needed="the documents")
    queries = find_file(sources, "queries.jsonl", needed="the queries")
    for place, row in json_objects(corpus, draft.problems) if corpus else ():
        tool = _tool(row, place, draft)
        if tool is not None:
            draft.tool(tool, place, any_name=True)
    complete: set[str] = set()
    for place, row in json_objects(queries, draft.problems) if queries else ():
        _query(row, place, draft, complete)
    splits: dict[str, Path] = {}
    grades: dict[str, dict[str, int]] = {}
    paths = find_files(sources, "qrels/*.tsv", suffixes=(".tsv",))
    if not paths and corpus is not None:
        draft.fault(Place(corpus.parent / "qrels"), "", "holds no .tsv with the labels")
    for path in paths:
        _qrels(path, draft, grades, splits, complete)
    take_companions(sources, draft, grades)
    return draft.finish(name, check_hints=False)


def _tool(row: dict[str, Any], place: Place, draft: Draft) -> Tool | None:
    name, text = (text_of(row, key, place, draft.problems) for key in ("_id", "text"))
    title, metadata = row.get("title", ""), row.get("metadata") or {}
    if not isinstance(title, str) or not isinstance(metadata, Mapping):
        draft.fault(
            place, "title" if not isinstance(title, str) else "metadata", "must be a text, and metadata an object"
        )
        return None
    if name is None or text is None:
        return None
    if KEY in metadata:
        tool = tool_of(metadata[KEY], place, draft)
        if tool is not None and (tool.name, document_of(tool)["text"]) != (name, text):
            draft.note("documents that changed after the export are taken as they are now", name)
            return _as_tool(name, title, text, {key: metadata[key] for key in metadata if key != KEY})
        return tool
    return _as_tool(name, title, text, metadata)


def document_of(tool: Tool) -> dict[str, Any]:
    """Title, text and metadata of the document that a tool came from; of any other tool, its name and description."""
    document = tool.meta.get(META)
    if isinstance(document, Mapping) and all(isinstance(document.get(key), str) for key in ("title", "text")):
        return dict(document)
    return {"title": tool.name, "text": tool.description or ""}


def _as_tool(name: str, title: str, text: str, metadata: Mapping[str, Any]) -> Tool:
    described = "\n".join(part for part in (title if title != name else "", text) if part)
    document = {"title": title, "text": text, **({"metadata": dict(metadata)} if metadata else {})}
    return Tool(name=name, description=described, meta={META: document})


def _query(row: dict[str, Any], place: Place, draft: Draft, complete: set[str]) -> None:
    query_id, text = (text_of(row, key, place, draft.problems) for key in ("_id", "text"))
    metadata = row.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        draft.fault(place, "metadata", "must be an object")
    elif query_id is not None and text is not None:
        query = query_of(metadata[KEY], place, draft) if KEY in metadata else None
        if query is not None and (query.query_id, query.text) == (query_id, text):
            take_query(query, place, draft)
            complete.add(query_id)
        elif KEY not in metadata or query is not None:
            if query is not None:
                draft.note("queries that changed after the export are taken as they are now", query_id)
            extra = {"metadata": dict(metadata)} if metadata and KEY not in metadata else {}
            draft.query(query_id, text, place, extra=extra)


def _qrels(
    path: Path,
    draft: Draft,
    grades: dict[str, dict[str, int]],
    splits: dict[str, Path],
    complete: set[str],
) -> None:
    split = "dev" if path.stem in ("dev", "train", "val", "validation") else "test"
    for order, (number, line) in enumerate(read_lines(path, draft.problems)):
        place, row = Place(path, number), line.split("\t")
        if order == 0 and [cell.strip() for cell in row] == list(HEADER):
            continue
        if len(row) != 3 or not is_grade_text(row[2].strip()):
            draft.fault(place, "", "must be query-id, corpus-id and score, a whole number, between tabs")
            continue
        query_id, tool, grade = row[0], row[1], int(row[2])
        if query_id not in complete:
            first = splits.setdefault(query_id, path)
            if first != path:
                draft.fault(place, "query-id", f"{query_id[:80]!r} is in {first.name} too; a query has one split here")
                continue
            if query_id in draft.queries:
                draft.change_query(query_id, split=split)
        if path.stem == "train":
            draft.note("the split train is taken for dev")
        draft.grade(query_id, tool, grade, place)
        grades.setdefault(query_id, {}).setdefault(tool, grade)
