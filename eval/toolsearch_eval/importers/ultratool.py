"""UltraTool (Huang et al., Findings of ACL 2024): requests of daily life with a plan whose steps call tools.

Source: github, JoeYing1019/UltraTool, looked at in the state of the commits 791547f (sets) and 06fa938 (examples).
Give `data/English-dataset` or `data/Chinese-dataset`, or files:

- `test.json` and `dev.json`: an object a line with question, plan (steps whose `tool` is a call such as
  `file_write(path=…)`), tools (name, description, arguments) and domain;
- objects of the single tasks that have toolset and reference instead of tools and plan are read as well.

The answers are the tools that the plan calls, all of them together; a tool that is described and not called is no
answer. Domains become slices; the file's name is the split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.importers.draft import Draft, Imported
from toolsearch_eval.importers.reading import Place, find_files, json_objects, text_of
from toolsearch_eval.importers.schemas import json_schema

_CALL = re.compile(r"\s*([^\s()（）]+)\s*[(（]")
_CHINESE = re.compile("[\u4e00-\u9fff]")


def read(sources: Sequence[Path], name: str) -> Imported:
    """Read the set.

    Raises:
        UsageError: There is no file of that form.
        DataError: Every fault of every file.
    """
    draft = Draft()
    paths = find_files(sources, "*.json", suffixes=(".json", ".jsonl"))
    if not paths:
        raise UsageError(f"there is no test.json or dev.json in {', '.join(map(str, sources))}.")
    needs: list[str] = []
    for path in paths:
        for number, (place, entry) in enumerate(json_objects(path, draft.problems)):
            query_id = f"{path.stem}-{number}"
            if _entry(entry, query_id, place, draft):
                needs.append(query_id)
    return draft.finish(name, loose=True, needs=needs)


def _entry(entry: dict[str, Any], query_id: str, place: Place, draft: Draft) -> bool:
    text = text_of(entry, "question", place, draft.problems)
    tools = entry.get("tools", entry.get("toolset"))
    steps = entry.get("plan", entry.get("reference"))
    if not isinstance(tools, list) or not isinstance(steps, list):
        draft.fault(place, "tools" if not isinstance(tools, list) else "plan", "must be a list")
        return False
    names: dict[str, str] = {}
    for tool in tools:
        if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str):
            draft.fault(place, "tools", "each tool must be an object with a name")
            continue
        schema = tool.get("arguments")
        described = Tool(
            name=tool["name"],
            description=tool.get("description") if isinstance(tool.get("description"), str) else None,
            input_schema=json_schema(schema) if isinstance(schema, Mapping) else None,
        )
        names[described.name] = draft.tool(described, place, merge=True)
    if text is None:
        return False
    domain = entry.get("domain")
    draft.query(
        query_id,
        text,
        place,
        slice=domain if isinstance(domain, str) else "",
        language="zh" if _CHINESE.search(text) else "en",
        split="dev" if place.path.stem == "dev" else "test",
    )
    for called in _called(steps):
        if called in names:
            draft.grade(query_id, names[called], 2, place)
        else:
            draft.note("calls of tools that the entry does not describe are not taken for answers", called)
    return True


def _called(steps: Sequence[Any]) -> Iterator[str]:
    """The names of the tools that steps call; a step without a tool says so in words."""
    for step in steps:
        tool = step.get("tool") if isinstance(step, Mapping) else None
        if not isinstance(tool, str):
            continue
        call = _CALL.match(tool)
        if call is not None:
            yield call[1]
        elif isinstance(step.get("param"), Mapping):
            yield tool.strip()
