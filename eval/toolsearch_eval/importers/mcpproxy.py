"""The golden set of mcpproxy: intents with graded tools of a few MCP servers.

Source: github, smart-mcp-proxy/mcpproxy-go, `specs/065-evaluation-foundation/datasets`, looked at in the state of
the commits 50db38a (corpus) and 4778afc (the program that reads the labels). Give that folder, or the files:

- `corpus_v1.tools.json` (or `corpus_v1.json`, or a corpus_v2 with schemas): `{"tools": [{tool_id, server, tool,
  description, …}]}`;
- `retrieval_golden_v1.json`: `{"queries": [{id, query, labels: [{tool_id, relevance}]}]}`; relevance 2 is the tool, 1 a
  related one, 0 one that looks like it and is not.

A query all of whose labels are 0 expects no answer. A tool is named `mcp__<server>__<tool>`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.tool import Tool, tool_id
from toolsearch_eval.importers.draft import Draft, Imported
from toolsearch_eval.importers.reading import Place, find_file, json_objects, text_of

_SCHEMAS = ("input_schema", "inputSchema", "schema")


def read(sources: Sequence[Path], name: str) -> Imported:
    """Read the set.

    Raises:
        UsageError: A file is not there.
        DataError: Every fault of every file.
    """
    draft = Draft()
    corpus = find_file(
        sources,
        "corpus_v2.tools.json",
        "corpus_v2.json",
        "corpus_v1.tools.json",
        "corpus_v1.json",
        needed="the tools",
    )
    golden = find_file(sources, "retrieval_golden_v2.json", "retrieval_golden_v1.json", needed="the labelled queries")
    names: dict[str, str] = {}
    for place, whole in json_objects(corpus, draft.problems) if corpus else ():
        for row in _list(whole, "tools", place, draft):
            _tool(row, place, draft, names)
    for place, whole in json_objects(golden, draft.problems) if golden else ():
        for row in _list(whole, "queries", place, draft):
            _query(row, place, draft, names)
    return draft.finish(name, loose=True)


def _list(whole: Mapping[str, Any], key: str, place: Place, draft: Draft) -> list[dict[str, Any]]:
    rows = whole.get(key)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        draft.fault(place, key, "must be a list of objects")
        return []
    return rows


def _tool(row: dict[str, Any], place: Place, draft: Draft, names: dict[str, str]) -> None:
    server, leaf = (text_of(row, key, place, draft.problems) for key in ("server", "tool"))
    if server is None or leaf is None:
        return
    schema = next((row[key] for key in _SCHEMAS if isinstance(row.get(key), Mapping)), None)
    description = row.get("description")
    tool = Tool(
        name=tool_id(server, leaf),
        description=description if isinstance(description, str) else None,
        input_schema=schema,
        server=server,
    )
    given = row.get("tool_id")
    names[given if isinstance(given, str) else f"{server}:{leaf}"] = draft.tool(tool, place)


def _query(row: dict[str, Any], place: Place, draft: Draft, names: Mapping[str, str]) -> None:
    query_id, text = (text_of(row, key, place, draft.problems) for key in ("id", "query"))
    labels = row.get("labels")
    if not isinstance(labels, list) or not all(isinstance(label, Mapping) for label in labels):
        draft.fault(place, "labels", "must be a list of objects with tool_id and relevance")
        return
    if query_id is None or text is None:
        return
    grades: dict[str, int] = {}
    for label in labels:
        tool, grade = label.get("tool_id"), label.get("relevance")
        if not isinstance(tool, str) or type(grade) is not int:
            draft.fault(place, "labels", f"{query_id}: tool_id must be a text and relevance a whole number")
            continue
        grades[names.get(tool, tool)] = grade
    draft.query(
        query_id,
        text,
        place,
        language="en",
        expect="none" if grades and max(grades.values()) < 1 else "answer",
    )
    for name, grade in grades.items():
        draft.grade(query_id, name, grade, place)
