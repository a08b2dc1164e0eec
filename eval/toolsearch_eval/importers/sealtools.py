"""Seal-Tools (Wu et al., NLPCC 2024): self-made APIs and instructions that call one or several of them.

Source: github, fairyshine/Seal-Tools, looked at in the state of the commits 91b8ad1 (tools), 0ad3824 and 40a8f84
(queries, in two forms). Give the folder `Seal-Tools_Dataset`, or the files:

- `tool.jsonl`: an API a line with api_name, api_description, field, parameters, required;
- `dev.jsonl`, `test_in_domain.jsonl`, `test_out_domain.jsonl` (and `train.jsonl`): a line each, as
  `{"id", "query", "calling": [{"api", …}]}` or as `[[{"api", …}], "the query"]`.

All called APIs are needed. The file's name is the slice; dev and train are the split `dev`, the others `test`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.importers.draft import Draft, Imported
from toolsearch_eval.importers.reading import Place, find_file, find_files, json_line_values, json_objects, text_of
from toolsearch_eval.importers.schemas import object_schema


def read(sources: Sequence[Path], name: str) -> Imported:
    """Read the set.

    Raises:
        UsageError: A file is not there.
        DataError: Every fault of every file.
    """
    draft = Draft()
    described = find_file(sources, "tool.jsonl", needed="the APIs")
    for place, row in json_objects(described, draft.problems) if described else ():
        _tool(row, place, draft)
    paths = [
        path
        for path in find_files(sources, "*.jsonl", suffixes=(".jsonl", ".json"))
        if path != described and path.stem != "field"
    ]
    if not paths:
        raise UsageError(f"there is no file of queries, such as dev.jsonl, in {', '.join(map(str, sources))}.")
    needs: list[str] = []
    for path in paths:
        for place, value in json_line_values(path, draft.problems):
            _query(value, place, draft, needs)
    return draft.finish(name, loose=True, needs=needs)


def _tool(row: Mapping[str, Any], place: Place, draft: Draft) -> None:
    api = text_of(dict(row), "api_name", place, draft.problems)
    parameters, required = ({} if row.get("parameters") is None else row["parameters"]), row.get("required") or []
    if not isinstance(parameters, Mapping) or not isinstance(required, list):
        draft.fault(place, "parameters", "must be an object, and required a list")
    elif api is not None:
        description = row.get("api_description")
        field = row.get("field")
        draft.tool(
            Tool(
                name=api,
                description=description if isinstance(description, str) else None,
                input_schema=object_schema(parameters, map(str, required)),
                meta={"field": field} if isinstance(field, str) else {},
            ),
            place,
        )


def _query(value: Any, place: Place, draft: Draft, needs: list[str]) -> None:
    query_id = f"{place.path.stem}-{place.line}"
    if isinstance(value, Mapping):
        calls, text = value.get("calling"), value.get("query")
        query_id = value["id"] if isinstance(value.get("id"), str) else query_id
    elif isinstance(value, list) and len(value) == 2:
        calls, text = value
    else:
        calls, text = None, None
    if not isinstance(text, str) or not isinstance(calls, list):
        draft.fault(place, "", "must be an object with query and calling, or a list of calls and the query")
        return
    split = "dev" if place.path.stem in ("dev", "train") else "test"
    draft.query(query_id, text, place, slice=place.path.stem, language="en", split=split)
    needs.append(query_id)
    for call in calls:
        if isinstance(call, Mapping) and isinstance(call.get("api"), str):
            draft.grade(query_id, call["api"], 2, place)
        else:
            draft.fault(place, "calling", "each call must be an object with api, a name")
