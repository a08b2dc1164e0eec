"""LiveMCPBench (Mo et al., 2025): tasks that a person solved with the tools of many MCP servers.

Source: github, icip-cas/LiveMCPBench, looked at in the state of the commit 3c0aabc. Give files, or folders that hold
them:

- `tools.json` (`tools/LiveMCPTool/tools.json`): servers, each with `tools: {NAME: {server_name, tools: [{name,
  description, inputSchema}]}}`;
- `all_annotations.json` (in the annotated data; `example_queries.json` has the same form): tasks with task_id,
  Question, category and `Annotator Metadata.Tools`, a numbered list of names, one a line.

The list names a tool without its server. A name that one server alone has is grade 2; one that several have is grade 1
for each of them, since nothing says which was used. All tools of a task are needed, where each is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.tool import Tool, tool_id
from toolsearch_eval.importers.draft import Draft, Imported
from toolsearch_eval.importers.reading import Place, find_file, json_objects, text_of

_NUMBERED = re.compile(r"^\s*(?:\d+\s*[.):]\s*)?(.*?)\s*$")


def read(sources: Sequence[Path], name: str) -> Imported:
    """Read the set.

    Raises:
        UsageError: A file is not there.
        DataError: Every fault of every file.
    """
    draft = Draft()
    tools = find_file(
        sources, "tools.json", "LiveMCPTool/tools.json", "tools/LiveMCPTool/tools.json", needed="the tools"
    )
    tasks = find_file(
        sources,
        "all_annotations.json",
        "annotated_data/all_annotations.json",
        "example_queries.json",
        "baseline/data/example_queries.json",
        needed="the tasks",
    )
    owners: dict[str, dict[str, None]] = {}
    for place, entry in json_objects(tools, draft.problems) if tools else ():
        _server(entry, place, draft, owners)
    needs: list[str] = []
    for place, entry in json_objects(tasks, draft.problems) if tasks else ():
        _task(entry, place, draft, owners, needs)
    return draft.finish(name, loose=True, needs=needs)


def _server(entry: Mapping[str, Any], place: Place, draft: Draft, owners: dict[str, dict[str, None]]) -> None:
    parts = entry.get("tools")
    if not isinstance(parts, Mapping):
        draft.fault(place, "tools", "must be an object with an entry for each server")
        return
    for server, part in parts.items():
        rows = part.get("tools") if isinstance(part, Mapping) else None
        if not isinstance(rows, list):
            draft.fault(place, f"tools.{server}", "must hold a list of tools")
            continue
        for row in rows:
            if not isinstance(row, Mapping) or not isinstance(row.get("name"), str):
                draft.fault(place, f"tools.{server}", "each tool must be an object with a name")
                continue
            description, schema = row.get("description"), row.get("inputSchema")
            tool = Tool(
                name=tool_id(server, row["name"]),
                description=description if isinstance(description, str) else None,
                input_schema=schema if isinstance(schema, Mapping) else None,
                server=server,
            )
            owners.setdefault(row["name"], {})[draft.tool(tool, place, merge=True)] = None


def _task(
    entry: dict[str, Any],
    place: Place,
    draft: Draft,
    owners: Mapping[str, Mapping[str, None]],
    needs: list[str],
) -> None:
    query_id, text = (text_of(entry, key, place, draft.problems) for key in ("task_id", "Question"))
    made = entry.get("Annotator Metadata")
    listed = made.get("Tools") if isinstance(made, Mapping) else None
    if not isinstance(listed, str):
        draft.fault(place, "Annotator Metadata.Tools", "must be a text with a name a line")
        return
    if query_id is None or text is None:
        return
    category = entry.get("category")
    draft.query(query_id, text, place, slice=category if isinstance(category, str) else "", language="en")
    named = [match[1] for line in listed.splitlines() if (match := _NUMBERED.match(line)) and match[1]]
    sure = True
    for tool in dict.fromkeys(named):
        found = owners.get(tool, {})
        if not found:
            draft.note("tools that a task names and no server has are not taken for answers", f"{tool} of {query_id}")
        if len(found) > 1:
            draft.note("names that several servers have are grade 1 for each of them", tool)
        sure = sure and len(found) == 1
        for name in found:
            draft.grade(query_id, name, 2 if len(found) == 1 else 1, place)
    if sure:
        needs.append(query_id)
