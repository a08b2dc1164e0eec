"""ToolRet (Shi et al., Findings of ACL 2025): tool retrieval made of many other sets.

Source: github, mangopy/tool-retrieval-benchmark, looked at in the state of the commits 079acee (the form, in its
README) and 0a7061e (the program that reads it). The data itself is published as tables; export them as JSON lines and
give the folder or the files:

- every `*tools*.jsonl` (or .json): id and documentation (or doc), an object or its JSON text with name, description and
  parameters;
- every `*queries*.jsonl` (or .json): id, query and labels, a list or its JSON text with id and relevance.

A tool keeps its name; where several have one, the id is added (`search#apigen_tool_7`). Relevance is the grade; all
labelled tools are needed. The `instruction` of a query is left out: it says what kind of tool is looked for, and was
written from the answer.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.importers.draft import Draft, Imported
from toolsearch_eval.importers.reading import Place, find_files, json_objects, json_text, text_of
from toolsearch_eval.importers.schemas import object_schema

_NAMES = ("name", "api_name", "tool_name", "func_name", "title")
_DESCRIPTIONS = ("description", "api_description", "functionality", "func_description", "doc")


def read(sources: Sequence[Path], name: str) -> Imported:
    """Read the set.

    Raises:
        UsageError: There are no tools, or no queries.
        DataError: Every fault of every file.
    """
    draft = Draft()
    paths = [path for path in find_files(sources, "**/*.json*") if path.suffix in (".json", ".jsonl")]
    tools = [path for path in paths if "tools" in path.stem.casefold()]
    queries = [path for path in paths if "queries" in path.stem.casefold()]
    if not tools or not queries:
        what = "*tools*.jsonl" if not tools else "*queries*.jsonl"
        raise UsageError(f"there is no {what} in {', '.join(map(str, sources))}; export the tables as JSON lines.")
    names = _tools(tools, draft)
    needs: list[str] = []
    for path in queries:
        for place, row in json_objects(path, draft.problems):
            _query(row, place, draft, names, needs)
    return draft.finish(name, loose=True, needs=needs)


def _tools(paths: Sequence[Path], draft: Draft) -> dict[str, str]:
    """Take the tools; by id, the name in the catalog."""
    found: list[tuple[Place, str, Tool]] = []
    for path in paths:
        for place, row in json_objects(path, draft.problems):
            tool_id = text_of(row, "id", place, draft.problems)
            document = row.get("documentation", row.get("doc"))
            if tool_id is not None:
                found.append((place, tool_id, _tool(tool_id, _document(document))))
    counts = Counter(tool.name for _, _, tool in found)
    names: dict[str, str] = {}
    for place, tool_id, tool in found:
        if tool_id in names:
            draft.fault(place, "id", f"{tool_id[:80]!r} stands there twice")
            continue
        name = tool.name if counts[tool.name] == 1 else f"{tool.name}#{tool_id}"
        names[tool_id] = draft.tool(
            Tool(name=name, description=tool.description, input_schema=tool.input_schema), place
        )
    return names


def _document(document: Any) -> Any:
    """The object that a text writes down, as JSON or as Python's own values; the text itself where it is neither."""
    if not isinstance(document, str):
        return document
    problems: list[Any] = []
    value = json_text(document, Place(Path()), "", problems)
    if not problems:
        return value
    try:
        return ast.literal_eval(document)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return document


def _tool(tool_id: str, document: Any) -> Tool:
    if not isinstance(document, Mapping):
        return Tool(name=tool_id, description=document if isinstance(document, str) else None)

    def first(keys: Sequence[str]) -> str | None:
        return next(
            (document[key] for key in keys if isinstance(document.get(key), str) and document[key].strip()), None
        )

    parameters = document.get("parameters")
    schema = None
    if isinstance(parameters, Mapping):
        properties = parameters.get("properties")
        required = parameters.get("required")
        schema = object_schema(
            properties if isinstance(properties, Mapping) else {str(key): value for key, value in parameters.items()},
            map(str, required) if isinstance(required, list) else (),
        )
    return Tool(name=first(_NAMES) or tool_id, description=first(_DESCRIPTIONS), input_schema=schema)


def _query(row: dict[str, Any], place: Place, draft: Draft, names: Mapping[str, str], needs: list[str]) -> None:
    query_id, text = (text_of(row, key, place, draft.problems) for key in ("id", "query"))
    labels = row.get("labels")
    if isinstance(labels, str):
        labels = json_text(labels, place, "labels", draft.problems)
    if not isinstance(labels, list) or not all(isinstance(label, Mapping) for label in labels):
        draft.fault(place, "labels", "must be a list of objects with id and relevance, or its JSON text")
        return
    if query_id is None or text is None:
        return
    if isinstance(row.get("instruction"), str):
        draft.note("instructions are left out, as they were written from the answers", query_id)
    category = row.get("category")
    draft.query(query_id, text, place, slice=category if isinstance(category, str) else "", language="en")
    needs.append(query_id)
    for label in labels:
        tool_id, grade = label.get("id"), label.get("relevance")
        if isinstance(tool_id, str) and type(grade) is int:
            draft.grade(query_id, names.get(tool_id, tool_id), grade, place)
        else:
            draft.fault(place, "labels", "each label must have an id (a text) and a relevance (a whole number)")
