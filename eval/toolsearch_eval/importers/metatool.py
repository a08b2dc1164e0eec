"""MetaTool (Huang et al., ICLR 2024): queries for plugins of a chat service, for one plugin or for two together.

Source: github, HowieHwong/MetaTool, looked at in the state of the commits e1029bc and 8b28c14. Give the folder
`dataset/`, or the files:

- `plugin_des.json` and, where it is there, `big_tool_des.json`: the description of each tool by its name;
- `data/all_clean_data.csv`: a query and its tool in each row (columns Query and Tool);
- `data/multi_tool_query_golden.json`: queries that need all of the tools that they name.

One of the two files of queries is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolsearch.catalog.tool import Tool
from toolsearch_eval.importers.draft import Draft, Imported
from toolsearch_eval.importers.reading import Place, find_file, json_objects, json_value, named_cells, text_of


def read(sources: Sequence[Path], name: str) -> Imported:
    """Read the set.

    Raises:
        UsageError: A file is not there.
        DataError: Every fault of every file.
    """
    draft = Draft()
    described = find_file(sources, "plugin_des.json", needed="the descriptions of the tools")
    for path in (described, find_file(sources, "big_tool_des.json")):
        if path is not None:
            _tools(path, draft)
    single = find_file(sources, "data/all_clean_data.csv")
    several = find_file(
        sources,
        "data/multi_tool_query_golden.json",
        needed="" if single else "queries; data/all_clean_data.csv would do as well",
    )
    if single is not None:
        for place, row in named_cells(single, draft.problems, needed=("Query", "Tool")):
            query_id = f"single-{place.line}"
            draft.query(query_id, row["Query"], place, slice="single", language="en")
            draft.grade(query_id, row["Tool"].strip(), 2, place)
    needs: list[str] = []
    for number, (place, entry) in enumerate(json_objects(several, draft.problems) if several else (), 1):
        text, tools = text_of(entry, "query", place, draft.problems), entry.get("tool")
        if not isinstance(tools, list) or not all(isinstance(tool, str) for tool in tools):
            draft.fault(place, "tool", "must be a list of names")
        elif text is not None:
            query_id = f"multi-{number}"
            draft.query(query_id, text, place, slice="multi", language="en")
            needs.append(query_id)
            for tool in tools:
                draft.grade(query_id, tool, 2, place)
    return draft.finish(name, loose=True, needs=needs)


def _tools(path: Path, draft: Draft) -> None:
    described = json_value(path, draft.problems)
    if described is None:
        return
    if not isinstance(described, dict):
        draft.fault(Place(path, 1), "", "must be an object with a description for each name")
        return
    for tool, description in described.items():
        if not isinstance(description, str):
            draft.fault(Place(path, 1), tool, "must be a text")
        else:
            draft.tool(Tool(name=tool, description=description), Place(path, 1), merge=True)
