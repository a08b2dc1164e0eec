"""Plain CSV, as a spreadsheet saves it: one's own tools, queries and labels.

Give the folder or the files, in UTF-8, with the names of the columns in the first row:

- `catalog.csv` (or `tools.csv`): name; where wanted description, server, search_hint and input_schema (JSON);
- `queries.csv`: text; where wanted query_id (else q1, q2 …), slice, language, split (dev or test), group, origin, need
  (any or all), expect (answer or none), must_not and `tools`, the names of the tools that answer it, between `|`;
- `labels.csv` (or `qrels.csv`), where there is one: query_id, tool and grade (2 does the job, 1 a part, 0 not).

Names in `tools` are grade 2. Another column is a fault, so that a slip of the pen is not lost. A search hint that holds
a query is not taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch_eval.data_files import is_grade_text
from toolsearch_eval.importers.draft import Draft, Imported
from toolsearch_eval.importers.reading import Place, find_file, json_text, named_cells

_TOOL_COLUMNS = ("name", "description", "server", "search_hint", "input_schema")
_LABELS = ("slice", "language", "group", "origin")
_ACCEPTED = {"split": ("", "dev", "test"), "need": ("", "any", "all"), "expect": ("", "answer", "none")}
_QUERY_COLUMNS = ("query_id", "text", "must_not", "tools", *_LABELS, *_ACCEPTED)


def read(sources: Sequence[Path], name: str) -> Imported:
    """Read the set.

    Raises:
        UsageError: A file is not there.
        DataError: Every fault of every file.
    """
    draft = Draft()
    tools = find_file(sources, "catalog.csv", "tools.csv", needed="the tools")
    queries = find_file(sources, "queries.csv", needed="the queries")
    labels = find_file(sources, "labels.csv", "qrels.csv")
    known: set[str] = set()
    for place, row in named_cells(tools, draft.problems, needed=("name",)) if tools else ():
        if _known_columns(row, _TOOL_COLUMNS, place, draft, known):
            _tool(row, place, draft)
    known = set()
    asked = named_cells(queries, draft.problems, needed=("text",)) if queries else ()
    for number, (place, row) in enumerate(asked, 1):
        if _known_columns(row, _QUERY_COLUMNS, place, draft, known):
            _query(row, row.get("query_id", "").strip() or f"q{number}", place, draft)
    for place, row in named_cells(labels, draft.problems, needed=("query_id", "tool", "grade")) if labels else ():
        query_id, tool, grade = (row[key].strip() for key in ("query_id", "tool", "grade"))
        if not is_grade_text(grade):
            draft.fault(place, "grade", f"is {grade[:40]!r}; a grade is a whole number from -100 to 100")
        elif query_id not in draft.queries:
            draft.fault(place, "query_id", f"{query_id[:80]!r} is no query; check the spelling")
        else:
            _grade(query_id, tool, int(grade), place, draft)
    return draft.finish(name)


def _known_columns(row: Mapping[str, str], accepted: Sequence[str], place: Place, draft: Draft, told: set[str]) -> bool:
    for column in row:
        if column not in accepted and column not in told:
            told.add(column)
            draft.fault(Place(place.path, 1), column, f"is no column here; accepted: {', '.join(accepted)}")
    return not told


def _tool(row: Mapping[str, str], place: Place, draft: Draft) -> None:
    schema: Any = None
    if row.get("input_schema", "").strip():
        schema = json_text(row["input_schema"], place, "input_schema", draft.problems)
        if schema is None:
            return
        if not isinstance(schema, dict):
            draft.fault(place, "input_schema", "must be a JSON object")
            return
    draft.tool(
        Tool(
            name=row["name"].strip(),
            description=row.get("description") or None,
            server=row.get("server", "").strip() or None,
            search_hint=row.get("search_hint") or None,
            input_schema=schema,
        ),
        place,
    )


def _query(row: Mapping[str, str], query_id: str, place: Place, draft: Draft) -> None:
    values = {key: row.get(key, "").strip() for key in _ACCEPTED}
    for key, value in values.items():
        if value not in _ACCEPTED[key]:
            draft.fault(place, key, f"is {value[:40]!r}; accepted: {', '.join(filter(None, _ACCEPTED[key]))}")
            return
    if not row["text"].strip():
        draft.fault(place, "text", "is empty; write what is asked")
        return
    draft.query(
        query_id,
        row["text"],
        place,
        split=values["split"] or "test",
        need="all" if values["need"] == "all" else "any",
        expect="none" if values["expect"] == "none" else "answer",
        must_not=_names(row.get("must_not", "")),
        slice=row.get("slice", "").strip(),
        language=row.get("language", "").strip(),
        group=row.get("group", "").strip(),
        origin=row.get("origin", "").strip(),
    )
    for tool in _names(row.get("tools", "")):
        _grade(query_id, tool, 2, place, draft)


def _grade(query_id: str, tool: str, grade: int, place: Place, draft: Draft) -> None:
    if draft.knows_tool(tool):
        draft.grade(query_id, tool, grade, place)
    else:
        draft.fault(place, "tool", f"{tool[:80]!r} is no tool of the catalog; check the spelling")


def _names(cell: str) -> list[str]:
    return [name.strip() for name in cell.split("|") if name.strip()]
