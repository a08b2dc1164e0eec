"""What our own exports keep beside the fields of another form, read back."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsearch.catalog.rows import read_row
from toolsearch.catalog.tool import Tool
from toolsearch_eval.data import Judgement, Query, latest_grades
from toolsearch_eval.data_files import MAX_GRADE, kind_of, read_text
from toolsearch_eval.importers.draft import Draft
from toolsearch_eval.importers.reading import Place, find_file, json_objects

KEY = "toolsearch"
"""The key of our own row among another form's metadata."""

_TEXTS = ("text", "slice", "language", "split", "group", "origin", "need", "expect")
_ACCEPTED = {"split": ("dev", "test"), "need": ("any", "all"), "expect": ("answer", "none")}


def tool_of(row: Any, place: Place, draft: Draft) -> Tool | None:
    """The tool of our own row; None where it is at fault, which is noted."""
    if not isinstance(row, dict):
        draft.fault(place, KEY, f"is {kind_of(row)}; it must be an object")
        return None
    return read_row(row, "jsonl", None, lambda field, message: draft.fault(place, f"{KEY}.{field}", message))


def query_of(row: Any, place: Place, draft: Draft) -> Query | None:
    """The query of our own row; None where it is at fault, which is noted."""
    if not isinstance(row, dict) or not isinstance(row.get("query_id"), str):
        draft.fault(place, KEY, "must be an object with a query_id, a text")
        return None
    wrong = [
        key
        for key in _TEXTS
        if key in row and (not isinstance(row[key], str) or row[key] not in _ACCEPTED.get(key, (row[key],)))
    ]
    must_not = row.get("must_not", [])
    if not isinstance(must_not, list) or not all(isinstance(name, str) for name in must_not):
        wrong.append("must_not")
    for key in wrong:
        accepted = ", ".join(_ACCEPTED.get(key, ("texts",)))
        draft.fault(place, f"{KEY}.{key}", f"is not accepted; accepted: {accepted}")
    if wrong:
        return None
    values = {key: row[key] for key in _TEXTS if key in row}
    extra = {key: value for key, value in row.items() if key not in (*_TEXTS, "query_id", "must_not")}
    values.setdefault("text", "")
    return Query(query_id=row["query_id"], must_not=tuple(must_not), extra=extra, **values)


def take_query(query: Query, place: Place, draft: Draft) -> None:
    """Put a query with all of its fields into the draft."""
    draft.query(
        query.query_id,
        query.text,
        place,
        slice=query.slice,
        language=query.language,
        split=query.split,
        group=query.group,
        origin=query.origin,
        need=query.need,
        expect=query.expect,
        must_not=query.must_not,
        extra=query.extra,
    )


def take_companions(sources: Sequence[Path], draft: Draft, grades: Mapping[str, Mapping[str, int]]) -> None:
    """Read what stands beside the form's files: `dataset.toml`, and `judgements.jsonl` where its grades are these."""
    card = find_file(sources, "dataset.toml")
    if card is not None:
        try:
            about = tomllib.loads(read_text(card, draft.problems) or "")
            if isinstance(about.get("name", "set"), str) and about.get("name", "set").strip():
                draft.about(about)
            else:
                draft.fault(Place(card), "name", "must be a text that is not empty")
        except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
            draft.fault(Place(card), "", f"is not valid TOML: {error}"[:300])
    path = find_file(sources, "judgements.jsonl")
    if path is None:
        return
    labels = [label for place, row in json_objects(path, draft.problems) if (label := _label(row, place, draft))]
    if latest_grades(labels) == {key: dict(value) for key, value in grades.items()}:
        draft.labels(labels)
    elif not draft.problems:
        draft.note(f"{path.name} gives other grades than the qrels and is not taken; the qrels count")


def _label(row: Mapping[str, Any], place: Place, draft: Draft) -> Judgement | None:
    texts = {key: row[key] for key in ("query_id", "tool", "judge", "date") if key in row}
    grade, turn, settled = row.get("grade"), row.get("pass", 1), row.get("settled", False)
    if (
        not all(isinstance(value, str) for value in texts.values())
        or not {"query_id", "tool"} <= set(texts)
        or type(grade) is not int
        or abs(grade) > MAX_GRADE
        or type(turn) is not int
        or turn < 1
        or type(settled) is not bool
    ):
        draft.fault(
            place,
            "",
            "must hold query_id and tool (texts), grade and pass (whole numbers), judge, date (texts)"
            + ", settled (true or false)" * (type(settled) is not bool),
        )
        return None
    extra = {key: value for key, value in row.items() if key not in (*texts, "grade", "pass", "settled")}
    return Judgement(**texts, grade=grade, turn=turn, settled=settled, extra=extra)
