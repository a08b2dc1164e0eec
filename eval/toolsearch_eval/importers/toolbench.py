"""ToolBench (Qin et al., ICLR 2024) and StableToolBench (Guo et al., 2024): requests over APIs of a market place.

Sources: github, OpenBMB/ToolBench, looked at in the state of the commit b2384c2, and THUNLP-MT/StableToolBench, 99cd3b1
and 08ea700. Give one of the two forms:

- instructions (`G1_instruction.json` …, for instance the folder `solvable_queries/test_instruction`): entries with
  query, query_id, api_list (category_name, tool_name, api_name, api_description, required_parameters,
  optional_parameters) and `relevant APIs`, pairs of tool and API;
- the retriever's data (a folder such as `retriever/G1`): `corpus.tsv` (docid, document_content as JSON),
  `test.query.txt` and `train.query.txt`, `qrels.test.tsv` and `qrels.train.tsv`.

An API is named as the benchmark shows it to models: `<api>_for_<tool>`, in lower case. All relevant APIs are needed. In
the retriever's form, train is the split `dev`. Default values and answers of the APIs are left out: they are examples.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.data_files import is_grade_text, read_lines
from toolsearch_eval.importers.draft import Draft, Imported
from toolsearch_eval.importers.reading import (
    Place,
    find_file,
    find_files,
    json_objects,
    json_text,
    named_cells,
    text_of,
)
from toolsearch_eval.importers.schemas import object_schema

_NO_WORD = re.compile(r"[^0-9A-Za-z\u00c0-\uffff]+")
_LONGEST = 128


def read(sources: Sequence[Path], name: str) -> Imported:
    """Read the set.

    Raises:
        UsageError: There is no file of either form.
        DataError: Every fault of every file.
    """
    draft = Draft()
    corpus = find_file(sources, "corpus.tsv")
    needs: list[str] = []
    if corpus is not None:
        _retriever(corpus, sources, draft, needs)
        return draft.finish(name, loose=True, needs=needs)
    paths = find_files(sources, "*.json", suffixes=(".json",))
    if not paths:
        raise UsageError(f"there is neither corpus.tsv nor a file of instructions in {', '.join(map(str, sources))}.")
    for path in paths:
        for place, entry in json_objects(path, draft.problems):
            _instruction(entry, place, draft, needs)
    return draft.finish(name, loose=True, needs=needs)


def _instruction(entry: dict[str, Any], place: Place, draft: Draft, needs: list[str]) -> None:
    text = text_of(entry, "query", place, draft.problems)
    apis, right = entry.get("api_list"), entry.get("relevant APIs")
    if not isinstance(apis, list) or not isinstance(right, list):
        draft.fault(place, "api_list" if not isinstance(apis, list) else "relevant APIs", "must be a list")
        return
    names: dict[tuple[str, str], str] = {}
    for api in apis:
        found = _api(api, place, draft)
        if found is not None:
            names[found[0]] = draft.tool(found[1], place, merge=True)
    if text is None or not isinstance(entry.get("query_id"), int | str):
        if text is not None:
            draft.fault(place, "query_id", "must be a number or a text")
        return
    query_id = f"{place.path.stem}-{entry['query_id']}"
    draft.query(query_id, text, place, slice=place.path.stem, language="en")
    needs.append(query_id)
    for pair in right:
        is_pair = isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        if is_pair and tuple(pair) in names:
            draft.grade(query_id, names[pair[0], pair[1]], 2, place)
        else:
            draft.note("relevant APIs that the entry does not list are not taken", f"{pair} of {query_id}")


def _api(api: Any, place: Place, draft: Draft) -> tuple[tuple[str, str], Tool] | None:
    """The pair by which an API is named in labels, and the tool."""
    if not isinstance(api, Mapping):
        draft.fault(place, "api_list", "each API must be an object")
        return None
    tool, name = (text_of(dict(api), key, place, draft.problems) for key in ("tool_name", "api_name"))
    if tool is None or name is None:
        return None
    needed = _parameters(api, "required_parameters", place, draft)
    parameters = needed | _parameters(api, "optional_parameters", place, draft)
    description, category = api.get("api_description"), api.get("category_name")
    full = f"{_plain(name)}_for_{_plain(tool)}"
    return (tool, name), Tool(
        name=full[-_LONGEST:],
        description=description if isinstance(description, str) else None,
        input_schema=object_schema(parameters, needed),
        server=tool,
        meta={"category": category} if isinstance(category, str) else {},
    )


def _parameters(api: Mapping[str, Any], key: str, place: Place, draft: Draft) -> dict[str, dict[str, str]]:
    """Type and description of each parameter, by its name."""
    rows = [] if api.get(key) is None else api[key]
    if not isinstance(rows, list) or not all(
        isinstance(row, Mapping) and isinstance(row.get("name"), str) for row in rows
    ):
        draft.fault(place, key, "must be a list of objects with a name")
        return {}
    return {
        row["name"]: {key: row[key] for key in ("type", "description") if isinstance(row.get(key), str) and row[key]}
        for row in rows
    }


def _plain(name: str) -> str:
    return _NO_WORD.sub("_", name).strip("_").lower() or "api"


def _retriever(corpus: Path, sources: Sequence[Path], draft: Draft, needs: list[str]) -> None:
    names: dict[str, str] = {}
    for place, row in named_cells(corpus, draft.problems, needed=("docid", "document_content"), delimiter="\t"):
        content = json_text(_on_one_line(row["document_content"]), place, "document_content", draft.problems)
        found = _api(content, place, draft) if content is not None else None
        if found is not None:
            names[row["docid"]] = draft.tool(found[1], place, merge=True)
    for part, split in (("test", "test"), ("train", "dev")):
        queries, qrels = find_file(sources, f"{part}.query.txt"), find_file(sources, f"qrels.{part}.tsv")
        if queries is None or qrels is None:
            continue
        for place, columns in _columns(queries, 2, draft):
            query_id = f"{part}-{columns[0]}"
            if query_id not in draft.queries:  # the file has a line for each label
                draft.query(query_id, columns[1], place, slice=part, language="en", split=split)
                needs.append(query_id)
        for place, columns in _columns(qrels, 4, draft):
            if not is_grade_text(columns[3]):
                draft.fault(place, "", f"the grade is {columns[3][:40]!r}; it must be a whole number")
            elif int(columns[3]) > 0:
                draft.grade(f"{part}-{columns[0]}", names.get(columns[2], f"docid {columns[2]}"), 2, place)


def _on_one_line(document: str) -> str:
    """JSON whose texts hold line breaks as they are, which it may not, with their escapes."""
    return document.strip().replace("\n", "\\n").replace("\t", "\\t")


def _columns(path: Path, count: int, draft: Draft) -> Iterator[tuple[Place, list[str]]]:
    for number, line in read_lines(path, draft.problems):
        columns = line.split("\t", count - 1)
        if len(columns) == count:
            yield Place(path, number), columns
        else:
            draft.fault(Place(path, number), "", f"must hold {count} columns between tabs")
