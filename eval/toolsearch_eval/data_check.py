"""What is wrong, or doubtful, with a labelled data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.names import name_fault, shown
from toolsearch.errors import Problem
from toolsearch_eval.conversation_check import check_conversation
from toolsearch_eval.data import DataSet
from toolsearch_eval.data_files import read_qrels
from toolsearch_eval.data_texts import copied_texts, repeated_texts
from toolsearch_eval.judgements import Judgement, derived_grades
from toolsearch_eval.measures import relevant
from toolsearch_eval.splitting import frozen_fault, group_splits
from toolsearch_eval.statistics import FEW_GROUPS


def check_data(data: DataSet) -> tuple[list[Problem], list[Problem]]:
    """Errors and warnings of a data set that could be loaded, each in file order.

    Errors: labels that can't hold (no such tool or query, always loaded, conflicting), groups and texts that stand in
    both splits, a `qrels.tsv` that does not follow from `judgements.jsonl`. Warnings: texts that come twice, leaks (a
    query and a description or search hint share six words or more as a whole, or a query equals a search hint),
    judges who disagree, unknown fields, slices of fewer than ten groups.
    """
    errors: list[Problem] = []
    warnings: list[Problem] = []
    _check_labels(data, errors)
    _check_texts(data, errors, warnings)
    _check_groups(data, errors)
    _check_judges(data, errors, warnings)
    _check_conversations(data, errors)
    path = str(Path(data.path) / "queries.jsonl")
    for query in data.queries:
        for name in sorted(query.extra):
            warnings.append(Problem(path, query.line, name, "is no field of a query; it is kept and has no effect"))
    groups: dict[str, set[str]] = {}
    for query in data.queries:
        groups.setdefault(query.slice, set()).add(query.group)
    for name, members in sorted(groups.items()):
        if len(members) < FEW_GROUPS:
            warnings.append(Problem(path, 0, "slice", f"{shown(name)} has {len(members)} groups: too few to tell"))
    return _in_file_order(errors), _in_file_order(warnings)


def _in_file_order(problems: list[Problem]) -> list[Problem]:
    return sorted(
        problems, key=lambda problem: (Path(problem.path).name != "queries.jsonl", problem.path, problem.line)
    )


def _check_labels(data: DataSet, errors: list[Problem]) -> None:
    tools = {tool.name: tool for tool in data.tools}
    path = str(Path(data.path) / "queries.jsonl")
    for query in data.queries:
        grades = data.judgements.get(query.query_id, {})
        needed = relevant(grades)

        def error(name: str, message: str, line: int = query.line) -> None:
            errors.append(Problem(path, line, name, message))

        if not query.text.strip():
            error("text", "is empty; write what is asked")
        if query.expect == "none" and needed:
            error("expect", f"is none, but there are answers with labels: {_listed(needed)}")
        if query.expect != "none" and not needed:
            error("query_id", f"{shown(query.query_id)} has no relevant label; label it or set expect to none")
        for name in sorted({*grades, *query.must_not}):
            which = f"{shown(name)} of query {shown(query.query_id)}"
            if name not in tools:
                error("tool", f"{which} is not in the catalog")
            elif name in needed and not is_deferred(tools[name]):
                error("tool", f"{which} is always loaded, so it is never searched")
            elif name in needed and (fault := name_fault(name)) is not None:
                error("tool", f"{which} is never shown, as its name {fault}; rename it")
        if needed & set(query.must_not):
            error("must_not", f"names tools that are labelled as answers: {_listed(needed & set(query.must_not))}")
    for name, count in sorted(Counter(tool.name for tool in data.tools).items()):
        if count > 1:
            message = f"is the name of {count} tools; give each its full id, so that labels tell them apart"
            errors.append(Problem(str(Path(data.path) / "catalog.jsonl"), 0, "name", f"{shown(name)} {message}"))
    unknown = dict.fromkeys(data.judgements)
    for query in data.queries:
        unknown.pop(query.query_id, None)
    lines = {label.query_id: label.line for label in reversed(data.labels)}
    path = str(Path(data.path) / ("judgements.jsonl" if data.labels else "qrels.tsv"))
    for query_id in unknown:
        message = f"{shown(query_id)} has labels and no row in queries.jsonl; add the query or remove the labels"
        errors.append(Problem(path, lines.get(query_id, 0), "query_id", message))


def _listed(names: Iterable[str]) -> str:
    known = sorted(names)
    return ", ".join(map(shown, known[:5])) + (f" and {len(known) - 5} more" if len(known) > 5 else "")


def _check_texts(data: DataSet, errors: list[Problem], warnings: list[Problem]) -> None:
    path = str(Path(data.path) / "queries.jsonl")
    for each in repeated_texts(data):
        query, other = each.query, each.first
        again = f"same text as query {shown(other.query_id)} on line {other.line}"
        if not each.same_split:
            errors.append(Problem(path, query.line, "split", f"{again}, which is in {other.split}; keep one"))
        if not each.same_answers:
            errors.append(Problem(path, query.line, "text", f"{again}, but the labels are conflicting"))
        elif each.same_split:
            warnings.append(Problem(path, query.line, "text", f"{again}; keep one, or give both one group"))
    for copy in copied_texts(data):
        message = f"is copied from the {copy.kind} of {shown(copy.tool)}, or it from this; write it anew"
        warnings.append(Problem(path, copy.query.line, "text", message))


def _check_groups(data: DataSet, errors: list[Problem]) -> None:
    path = str(Path(data.path) / "queries.jsonl")
    splits: dict[str, str] = {}
    for query in data.queries:
        if splits.setdefault(query.group, query.split) != query.split:
            message = f"{shown(query.group)} stands in dev and in test; a group belongs to one split"
            errors.append(Problem(path, query.line, "group", message))
    thawed = frozen_fault(data, group_splits(data.queries))
    if thawed is not None:
        errors.append(thawed)


def _check_judges(data: DataSet, errors: list[Problem], warnings: list[Problem]) -> None:
    if not data.labels:
        return
    path = Path(data.path) / "judgements.jsonl"
    settled = {(label.query_id, label.tool) for label in data.labels if label.settled}
    first: dict[tuple[object, ...], Judgement] = {}
    for label in data.labels:
        pair = label.query_id, label.tool
        same = first.setdefault((*pair, label.judge, label.turn, label.settled), label)
        if same.grade != label.grade:
            message = f"{_differs(label, same)}; one judge gives one grade in a pass: keep one"
            errors.append(Problem(str(path), label.line, "grade", message))
        elif same is not label:
            message = f"repeats line {same.line}; keep one"
            warnings.append(Problem(str(path), label.line, "", message))
        other = first.setdefault(pair, label)
        apart = other.judge != label.judge and other.turn == label.turn
        if apart and other.grade != label.grade and pair not in settled:
            message = f"{_differs(label, other)}; a label with settled: true decides"
            warnings.append(Problem(str(path), label.line, "grade", message))
    derived = path.with_name("qrels.tsv")
    if derived.is_file() and read_qrels(derived, errors) != derived_grades(data.labels):
        errors.append(Problem(str(derived), 0, "", "does not follow from judgements.jsonl; derive it anew"))


def _differs(label: Judgement, other: Judgement) -> str:
    which = f"{shown(label.tool)} of {shown(label.query_id)}"
    return f"{which} is {label.grade} here and {other.grade} on line {other.line}"


def _check_conversations(data: DataSet, errors: list[Problem]) -> None:
    for conversation in data.conversations:
        errors += check_conversation(conversation, data.tools)
        if conversation.catalog != data.name:
            message = f"is {shown(conversation.catalog)}, and the conversation lies in {shown(data.name)}; name that"
            errors.append(Problem(conversation.path, 1, "catalog", message))
