"""API-Bank (Li et al., EMNLP 2023): dialogues in which an assistant calls APIs.

Source: github, AlibabaResearch/DAMO-ConvAI, folder `api-bank`, looked at in the state of the commits a123628 and
8d447e2 (APIs), 5c38bb7 (evaluation and level 3). Give that folder, or:

- `apis/*.py`: classes with description and input_parameters; they are read, never run;
- `lv1-lv2-samples/*/*.jsonl`: a dialogue a file, with lines `{"role": "User", "text"}`, `{"role": "AI", …}` and
  `{"role": "API", "api_name", …}`;
- `json_test_data/level-3.json`: requirements with the APIs that were called; what its tool search gave describes them.

A query is all that the user says; the answers are all APIs that are called, together. The benchmark's own
`ToolSearcher` is no answer, as it is the search that is measured here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.data_files import read_text
from toolsearch_eval.importers.draft import Draft, Imported
from toolsearch_eval.importers.reading import Place, find_files, json_objects, text_of
from toolsearch_eval.importers.schemas import object_schema

_SEARCHER = "ToolSearcher"
_LEVEL_3 = "level-3.json"


def read(sources: Sequence[Path], name: str) -> Imported:
    """Read the set.

    Raises:
        UsageError: There is nothing of that form.
        DataError: Every fault of every file.
    """
    draft = Draft()
    for path in find_files(sources, "**/apis/*.py", suffixes=(".py",)):
        for tool in _classes(path, draft):
            draft.tool(tool, Place(path), merge=True)
    needs: list[str] = []
    dialogues = [
        path
        for path in find_files(sources, "**/lv1-lv2-samples/*/*.jsonl", suffixes=(".jsonl",))
        if path.parent.name != "apis"
    ]
    for path in dialogues:
        _dialogue(path, draft, needs)
    requirements = find_files(sources, f"**/{_LEVEL_3}", suffixes=(".json",))
    for path in requirements:
        for place, entry in json_objects(path, draft.problems):
            _requirement(entry, place, draft, needs)
    if not dialogues and not requirements:
        raise UsageError(
            f"there is neither a dialogue (lv1-lv2-samples/*/*.jsonl) nor {_LEVEL_3} in {', '.join(map(str, sources))}."
        )
    return draft.finish(name, loose=True, needs=needs)


def _classes(path: Path, draft: Draft) -> Iterator[Tool]:
    """The APIs of a module: its classes that say in plain values what they do and take."""
    text = read_text(path, draft.problems)
    try:
        tree = ast.parse(text or "")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        draft.fault(Place(path, getattr(error, "lineno", 0) or 0), "", f"is no Python: {error}"[:300])
        return
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name == _SEARCHER:
            continue
        values: dict[str, Any] = {}
        for line in node.body:
            if isinstance(line, ast.Assign) and len(line.targets) == 1 and isinstance(line.targets[0], ast.Name):
                try:
                    values[line.targets[0].id] = ast.literal_eval(line.value)
                except (ValueError, TypeError, RecursionError, MemoryError):
                    continue  # a value that is worked out says nothing here
        if isinstance(values.get("description"), str):
            yield _tool(node.name, values)


def _tool(name: str, values: Mapping[str, Any]) -> Tool:
    parameters = values.get("input_parameters")
    description = values.get("description")
    known = {str(key): value for key, value in parameters.items()} if isinstance(parameters, Mapping) else {}
    return Tool(
        name=name,
        description=description if isinstance(description, str) else None,
        input_schema=object_schema(known),
    )


def _dialogue(path: Path, draft: Draft, needs: list[str]) -> None:
    said: list[str] = []
    called: dict[str, Place] = {}
    first = Place(path, 1)
    for place, turn in json_objects(path, draft.problems):
        role = turn.get("role")
        if role == "User":
            text = text_of(turn, "text", place, draft.problems)
            said += [] if text is None else [text]
        elif role == "API":
            api = text_of(turn, "api_name", place, draft.problems)
            if api is not None and api != _SEARCHER:
                called.setdefault(api, place)
        elif role != "AI":
            draft.fault(place, "role", "must be User, AI or API")
    level = "level-2" if "level-2" in path.parent.name or "level-2" in path.stem else "level-1"
    draft.query(path.stem, "\n".join(said), first, slice=level, language="en")
    needs.append(path.stem)
    for api, place in called.items():
        draft.grade(path.stem, api, 2, place)


def _requirement(entry: dict[str, Any], place: Place, draft: Draft, needs: list[str]) -> None:
    text, calls = text_of(entry, "requirement", place, draft.problems), entry.get("apis")
    if not isinstance(calls, list) or not all(isinstance(call, Mapping) for call in calls):
        draft.fault(place, "apis", "must be a list of objects")
        return
    if text is None:
        return
    query_id = f"level-3-{place.line}"
    draft.query(query_id, text, place, slice="level-3", language="en")
    needs.append(query_id)
    for call in calls:
        name = call.get("api_name")
        if name == _SEARCHER:
            answer = call.get("output")
            described = answer.get("output") if isinstance(answer, Mapping) else None
            if isinstance(described, Mapping) and isinstance(described.get("name"), str):
                draft.tool(_tool(described["name"], described), place, merge=True)
        elif isinstance(name, str):
            draft.grade(query_id, name, 2, place)
        else:
            draft.fault(place, "apis", "each call must have an api_name")
