"""TREC's form: topics, documents and qrels, as its tracks and their programs pass them on.

Give the folder or the files:

- `topics*` (`.txt`, `.trec`, `.tsv` …): `<top>` blocks with `<num>` and `<title>` (`<desc>` and `<narr>` are kept as
  further fields), or lines of id and text between a tab;
- `docs*` or `corpus*`: `<DOC>` blocks with `<DOCNO>` and text, or JSON lines with id (or docno) and contents (or text);
- `qrels*`: query, iteration, document and grade between blanks. `qrels.dev*` gives the split `dev`.

What `toolsearch dataset export trec` wrote comes back as it was: `toolsearch.jsonl` beside it holds the fields that
TREC has no place for, and the ids as they were before blanks in them were written as %20.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from toolsearch.catalog.json_source import Lines
from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.data import Query
from toolsearch_eval.data_files import is_grade_text, read_lines, read_text
from toolsearch_eval.importers.draft import Draft, Imported
from toolsearch_eval.importers.own_rows import query_of, take_companions, take_query, tool_of
from toolsearch_eval.importers.reading import Place, find_file, find_files, json_objects

SIDE = "toolsearch.jsonl"
_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_PART = re.compile(r"<(num|title|desc|narr)>(.*?)(?=<(?:num|title|desc|narr|/)|\Z)", re.DOTALL | re.IGNORECASE)
_LABELS = {"num": "Number:", "desc": "Description:", "narr": "Narrative:"}
"""What the tracks write before the content of a part."""

_DOC = re.compile(r"<DOC>(.*?)</DOC>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<DOCNO>(.*?)</DOCNO>", re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"<[^>]*>")
_DEV = re.compile(r"(?:^|[._-])(?:dev|train|val|validation)(?:[._-]|$)", re.IGNORECASE)
_BLANK = re.compile(r"[\s%]")


def trec_id(name: str) -> str:
    """A name as one word, as TREC's programs read ids: blanks and percent signs are written as %20 and %25.

    >>> trec_id("GET /albums/{id}"), trec_id("50%")
    ('GET%20/albums/{id}', '50%25')
    """
    return _BLANK.sub(lambda match: quote(match[0], safe=""), name)


def plain_text(text: str) -> str:
    """A text as it comes back from a block: on one line, without blanks around it."""
    return " ".join(text.split())


def read(sources: Sequence[Path], name: str) -> Imported:
    """Read the set.

    Raises:
        UsageError: A file is not there.
        DataError: Every fault of every file.
    """
    draft = Draft()
    side = _side(find_file(sources, SIDE), draft)
    topics, documents, qrels = (_parts(sources, *stems) for stems in (("topics",), ("docs", "corpus"), ("qrels",)))
    for paths, what in ((topics, "topics*"), (documents, "docs*"), (qrels, "qrels*")):
        if not paths:
            raise UsageError(f"there is no {what} in {', '.join(map(str, sources))}.")
    for path in documents:
        for place, docno, text in _documents(path, draft):
            tool = side.tools.get(docno)
            if tool is not None and plain_text(tool.description or "") != plain_text(text):
                draft.note("documents that changed after the export are taken as they are now", docno)
                tool = None
            draft.tool(tool or Tool(name=side.tool_names.get(docno, docno), description=text), place, any_name=True)
    complete: set[str] = set()
    for path in topics:
        for place, number, text, extra in _topics(path, draft):
            query = side.queries.get(number)
            if query is not None and plain_text(query.text) == plain_text(text):
                take_query(query, place, draft)
                complete.add(query.query_id)
                continue
            if query is not None:
                draft.note("topics that changed after the export are taken as they are now", number)
            draft.query(side.query_ids.get(number, number), text, place, extra=extra)
    grades: dict[str, dict[str, int]] = {}
    for path in qrels:
        split = "dev" if _DEV.search(path.name) else "test"
        for place, columns in _qrels(path, draft):
            query_id, tool_name = (
                side.query_ids.get(columns[0], columns[0]),
                side.tool_names.get(columns[2], columns[2]),
            )
            if query_id in draft.queries and query_id not in complete:
                draft.change_query(query_id, split=split)
            draft.grade(query_id, tool_name, int(columns[3]), place)
            grades.setdefault(query_id, {}).setdefault(tool_name, int(columns[3]))
    take_companions(sources, draft, grades)
    return draft.finish(name, check_hints=False)


def _parts(sources: Sequence[Path], *stems: str) -> list[Path]:
    found: dict[Path, None] = {}
    for stem in stems:
        found.update(dict.fromkeys(path for path in find_files(sources, f"{stem}*") if path.name.startswith(stem)))
    return list(found)


@dataclass(slots=True)
class _Side:
    """Our own rows and names, by the id that they have in the other files."""

    tools: dict[str, Tool] = field(default_factory=dict)
    queries: dict[str, Query] = field(default_factory=dict)
    tool_names: dict[str, str] = field(default_factory=dict)
    query_ids: dict[str, str] = field(default_factory=dict)


def _side(path: Path | None, draft: Draft) -> _Side:
    side = _Side()
    for place, row in json_objects(path, draft.problems) if path else ():
        if "tool" in row:
            tool = tool_of(row["tool"], place, draft)
            if tool is not None:
                side.tools[trec_id(tool.name)] = tool
                side.tool_names[trec_id(tool.name)] = tool.name
        elif "query" in row:
            query = query_of(row["query"], place, draft)
            if query is not None:
                side.queries[trec_id(query.query_id)] = query
                side.query_ids[trec_id(query.query_id)] = query.query_id
        elif isinstance(row.get("tool_name"), str):
            side.tool_names[trec_id(row["tool_name"])] = row["tool_name"]
        elif isinstance(row.get("query_id"), str):
            side.query_ids[trec_id(row["query_id"])] = row["query_id"]
        else:
            draft.fault(place, "", "must hold a tool, a query, a tool_name or a query_id")
    return side


def _blocks(path: Path, pattern: re.Pattern[str], text: str) -> Iterator[tuple[Place, str]]:
    lines = Lines(text)
    for match in pattern.finditer(text):
        yield Place(path, lines.at(match.start())), match[1]


def _topics(path: Path, draft: Draft) -> Iterator[tuple[Place, str, str, Mapping[str, str]]]:
    whole = read_text(path, draft.problems) or ""
    if "<top>" not in whole.casefold():
        for number, line in read_lines(path, draft.problems):
            query_id, tab, text = line.partition("\t")
            if tab:
                yield Place(path, number), query_id.strip(), text, {}
            else:
                draft.fault(Place(path, number), "", "must be a <top> block, or an id and a text between a tab")
        return
    for place, block in _blocks(path, _TOPIC, whole):
        parts = {
            match[1].casefold(): plain_text(
                html.unescape(match[2].strip().removeprefix(_LABELS.get(match[1].casefold(), "")))
            )
            for match in _PART.finditer(block)
        }
        if not parts.get("num") or "title" not in parts:
            draft.fault(place, "", "a topic needs <num> and <title>")
            continue
        yield place, parts["num"], parts["title"], {key: parts[key] for key in ("desc", "narr") if parts.get(key)}


def _documents(path: Path, draft: Draft) -> Iterator[tuple[Place, str, str]]:
    whole = read_text(path, draft.problems) or ""
    if "<doc>" not in whole.casefold():
        for place, row in json_objects(path, draft.problems):
            docno, text = (
                next((row[key] for key in keys if isinstance(row.get(key), str)), None)
                for keys in (("id", "docno", "_id"), ("contents", "text"))
            )
            if docno is None or text is None:
                draft.fault(place, "", "must hold id (or docno) and contents (or text)")
            else:
                yield place, docno, text
        return
    for place, block in _blocks(path, _DOC, whole):
        number = _NUMBER.search(block)
        if number is None or not number[1].strip():
            draft.fault(place, "DOCNO", "a document needs a <DOCNO>")
            continue
        yield place, html.unescape(number[1]).strip(), html.unescape(_MARK.sub(" ", _NUMBER.sub(" ", block))).strip()


def _qrels(path: Path, draft: Draft) -> Iterator[tuple[Place, list[str]]]:
    for number, line in read_lines(path, draft.problems):
        columns = line.split()
        if len(columns) == 4 and is_grade_text(columns[3]):
            yield Place(path, number), columns
        else:
            draft.fault(Place(path, number), "", "must be query, iteration, document and grade between blanks")
