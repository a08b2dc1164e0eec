"""BFCL, the Berkeley Function Calling Leaderboard (Patil et al., ICML 2025): single requests with a few functions each.

Source: github, ShishirPatil/gorilla, and its package `bfcl-eval`, looked at in version 2026.3.23. Give the folder
`bfcl_eval/data`, or `package:bfcl-eval` for the installed one, or single files of questions beside their
`possible_answer` folder:

- `BFCL_v*_NAME.json`: an entry a line with id, question (turns of messages) and function (name, description,
  parameters);
- `possible_answer/BFCL_v*_NAME.json`: id and ground_truth, a list of calls `{NAME: {…}}`.

All functions become one catalog; see `Draft.tool` for functions that come many times. The functions that the answer
calls are needed together. NAME becomes the slice.

Left out, and told: entries without such an answer (irrelevance and relevance: that no function of an entry's own short
list fits does not say that none of the whole catalog does), and conversations (multi-turn, memory, web search), whose
tools are given by class and not looked for.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.importers.draft import Draft, Imported
from toolsearch_eval.importers.reading import Place, find_files, json_objects, text_of
from toolsearch_eval.importers.schemas import json_schema

PACKAGE = "package:bfcl-eval"
"""A source that stands for the installed package; none of its code runs."""

_FILE = re.compile(r"BFCL_v\d+_(.+)")
_ANSWERS = "possible_answer"


def package_folder() -> Path:
    """The data of the installed package.

    Raises:
        UsageError: It is not installed.
    """
    found = importlib.util.find_spec("bfcl_eval")
    for place in (found.submodule_search_locations if found else None) or ():
        if (Path(place) / "data").is_dir():
            return Path(place) / "data"
    raise UsageError(f"{PACKAGE}: the package bfcl-eval is not installed here; `pip install bfcl-eval` brings it.")


def read(sources: Sequence[Path], name: str) -> Imported:
    """Read the set.

    Raises:
        UsageError: There is no file of that form.
        DataError: Every fault of every file.
    """
    draft = Draft()
    paths = [
        path
        for path in find_files(sources, "BFCL_v*.json", suffixes=(".json", ".jsonl"))
        if path.parent.name != _ANSWERS and _FILE.match(path.stem)
    ]
    if not paths:
        raise UsageError(f"there is no BFCL_v*_NAME.json in {', '.join(map(str, sources))}.")
    needs: list[str] = []
    for path in paths:
        answers = path.parent / _ANSWERS / path.name
        if not answers.is_file():
            draft.note("files without answers are left out", path.name)
            continue
        _file(path, answers, draft, needs)
    return draft.finish(name, loose=True, needs=needs)


def _file(path: Path, answers: Path, draft: Draft, needs: list[str]) -> None:
    match = _FILE.match(path.stem)
    called: dict[str, tuple[Place, list[str]]] = {}
    for place, entry in json_objects(answers, draft.problems):
        entry_id = text_of(entry, "id", place, draft.problems)
        truth = entry.get("ground_truth")
        if not isinstance(truth, list):
            draft.fault(place, "ground_truth", "must be a list of calls")
        elif entry_id is not None and all(isinstance(call, Mapping) for call in truth):
            called[entry_id] = place, [function for call in truth for function in call]
    for place, entry in json_objects(path, draft.problems):
        entry_id = text_of(entry, "id", place, draft.problems)
        if entry_id is None:
            continue
        if "function" not in entry or entry_id not in called:
            draft.note("conversations, and entries without an answer that calls functions, are left out", entry_id)
            continue
        names = _functions(entry["function"], place, draft)
        text = _text(entry.get("question"))
        if text is None:
            draft.fault(place, "question", "must be a list of turns, each a list of messages with role and content")
            continue
        draft.query(entry_id, text, place, slice=match[1] if match else "", language="")
        needs.append(entry_id)
        answer_place, functions = called[entry_id]
        for function in functions:
            if function in names:
                draft.grade(entry_id, names[function], 2, answer_place)
            else:
                draft.note("calls of functions that the entry does not list are not taken", f"{function} of {entry_id}")


def _functions(functions: Any, place: Place, draft: Draft) -> dict[str, str]:
    """The functions of an entry: by the name that they have there, the name in the catalog."""
    names: dict[str, str] = {}
    for function in functions if isinstance(functions, list) else [functions]:
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            draft.fault(place, "function", "each function must be an object with a name")
            continue
        description, parameters = function.get("description"), function.get("parameters")
        tool = Tool(
            name=function["name"],
            description=description if isinstance(description, str) else None,
            input_schema=json_schema(parameters) if isinstance(parameters, Mapping) else None,
        )
        names[tool.name] = draft.tool(tool, place, merge=True)
    return names


def _text(question: Any) -> str | None:
    """What the user says in the first turn."""
    turn = question[0] if isinstance(question, list) and question else None
    if not isinstance(turn, list) or not all(isinstance(message, Mapping) for message in turn):
        return None
    said = [message.get("content") for message in turn if message.get("role") == "user"]
    texts = [each for each in said if isinstance(each, str)]
    return "\n".join(texts) if len(texts) == len(said) else None
