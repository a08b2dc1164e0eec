"""What a form fills in, and what becomes of it: a data set, every fault at once, and every decision that was taken."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from toolsearch.catalog.names import name_fault, shown
from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, Problem
from toolsearch_eval.data import DataSet, Judgement, Query, fingerprint_of, latest_grades
from toolsearch_eval.data_files import MAX_GRADE, id_fault
from toolsearch_eval.importers.reading import Place
from toolsearch_eval.importers.same_tool import is_same, merged
from toolsearch_eval.measures import relevant

_LISTED = 5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Imported:
    """A data set, and what to know about how it came about.

    Attributes:
        data: The data set.
        warnings: Decisions that were taken, and what was left out, a line each.
    """

    data: DataSet
    warnings: tuple[str, ...]


class Draft:
    """Collects tools, queries and labels.

    Attributes:
        problems: Every fault so far.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self.problems: list[Problem] = []
        self._tools: dict[str, Tool] = {}
        self._tool_places: dict[str, Place] = {}
        self._queries: dict[str, Query] = {}
        self._places: dict[str, Place] = {}
        self._grades: dict[str, dict[str, int]] = {}
        self._grade_places: dict[tuple[str, str], Place] = {}
        self._notes: dict[str, list[str]] = {}
        self._labels: tuple[Judgement, ...] = ()
        self._about: dict[str, Any] = {}

    def note(self, what: str, name: str = "") -> None:
        """Remember a decision; the same one for several names becomes one warning that lists them."""
        names = self._notes.setdefault(what, [])
        if name:
            names.append(name)

    def fault(self, place: Place, field: str, message: str) -> None:
        """Remember a fault."""
        self.problems.append(place.problem(field, message))

    def tool(self, tool: Tool, place: Place, *, merge: bool = False, any_name: bool = False) -> str:
        """Take a tool, and give the name under which it stands in the catalog.

        Args:
            tool: The tool.
            place: Where it stands.
            merge: The set lists tools query by query, so one comes many times: a tool of a known name is taken for the
                known one where their descriptions share a fifth of their words or more (the longer description and the
                larger schema are kept), else it becomes `name#2` and so on. Without it a second tool of one name is a
                fault.
            any_name: Take names that no model would be shown, too.
        """
        if tool.server is not None and not tool.server.strip():
            tool = replace(tool, server=None)  # a file of ours would say so too
        fault = None if any_name else name_fault(tool.name)
        if fault is not None:
            self.fault(place, "name", f"a tool's name {fault}")
            return tool.name
        if not merge:
            if tool.name in self._tools:
                first = self._tool_places[tool.name]
                self.fault(
                    place, "name", f"{shown(tool.name)} stands on line {first.line} of {first.path.name} already"
                )
                return tool.name
            self._keep(tool, place)
            return tool.name
        number = 1
        while True:
            name = tool.name if number == 1 else f"{tool.name}#{number}"
            known = self._tools.get(name)
            if known is None:
                self._keep(tool if number == 1 else replace(tool, name=name, leaf=name), place)
                if number > 1:
                    self.note("several tools have one name and different descriptions, and are numbered", name)
                return name
            if is_same(known, tool):
                self._tools[name] = merged(known, tool)
                return name
            number += 1

    def _keep(self, tool: Tool, place: Place) -> None:
        self._tools[tool.name] = tool
        self._tool_places[tool.name] = place

    def knows_tool(self, name: str) -> bool:
        """Whether there is a tool of this name."""
        return name in self._tools

    def query(
        self,
        query_id: str,
        text: str,
        place: Place,
        *,
        slice: str = "",
        language: str = "",
        split: str = "test",
        group: str = "",
        origin: str = "",
        need: Literal["any", "all"] = "any",
        expect: Literal["answer", "none"] = "answer",
        must_not: Iterable[str] = (),
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Take a query; the fields are those of `Query`."""
        fault = id_fault(query_id)
        if fault is not None:
            self.fault(place, "query_id", f"{shown(query_id)} {fault}; an id is visible characters on one line")
            return
        if query_id in self._queries:
            first = self._places[query_id]
            self.fault(place, "query_id", f"{shown(query_id)} stands on line {first.line} of {first.path.name} already")
            return
        self._places[query_id] = place
        self._queries[query_id] = Query(
            query_id=query_id,
            text=text,
            slice=slice,
            language=language,
            split=split,
            group=group,
            origin=origin,
            need=need,
            expect=expect,
            must_not=tuple(must_not),
            extra=extra or {},
        )

    def change_query(self, query_id: str, **changes: Any) -> None:
        """Change fields of a query that was taken."""
        self._queries[query_id] = replace(self._queries[query_id], **changes)

    @property
    def queries(self) -> Mapping[str, Query]:
        """The queries so far, by id."""
        return self._queries

    def place_of(self, query_id: str) -> Place:
        """Where a query stands."""
        return self._places[query_id]

    def grade(self, query_id: str, tool: str, grade: int, place: Place) -> None:
        """Take a label; the same one twice is fine, and another grade for the same pair is a fault."""
        if abs(grade) > MAX_GRADE:
            self.fault(place, "grade", f"is {grade}; accepted: -{MAX_GRADE} to {MAX_GRADE}")
            return
        if not query_id.strip() or not tool.strip() or set(query_id + tool) & set("\t\r\n"):
            self.fault(place, "tool", f"{shown(tool)} of {shown(query_id)}: ids hold no tabs and line breaks")
            return
        known = self._grades.setdefault(query_id, {})
        if known.setdefault(tool, grade) != grade:
            first = self._grade_places[query_id, tool]
            self.fault(
                place,
                "grade",
                f"{shown(tool)} of {shown(query_id)} is {grade} here and {known[tool]} on line {first.line} of "
                f"{first.path.name}; keep one",
            )
        self._grade_places.setdefault((query_id, tool), place)

    def labels(self, labels: Sequence[Judgement]) -> None:
        """Take labels with judges and passes; their grades have to be those of the set."""
        self._labels = tuple(labels)

    def about(self, values: Mapping[str, Any]) -> None:
        """Take what `dataset.toml` is to say besides the name."""
        self._about = dict(values)

    def finish(
        self, name: str, *, loose: bool = False, needs: Collection[str] = (), check_hints: bool = True
    ) -> Imported:
        """The data set.

        Args:
            name: Its name, unless `about` was given one.
            loose: The set was made for another purpose: labels of tools that it doesn't describe are dropped, queries
                without a label are left out, and queries with the same text are made one. Each is counted and told.
                Otherwise all stays as it is.
            needs: Ids of queries for which every relevant tool is needed.
            check_hints: Take away search hints that hold a query.

        Raises:
            DataError: Every fault, in the order of the files.
        """
        if not self.problems and not self._queries:
            self.problems.append(Problem(name, 0, "", "holds no query; is it the form that was named?"))
        if not self.problems and not self._tools:
            self.problems.append(Problem(name, 0, "", "holds no tool; is it the form that was named?"))
        if self.problems:
            files = list(dict.fromkeys(problem.path for problem in self.problems))
            raise DataError(sorted(self.problems, key=lambda problem: (files.index(problem.path), problem.line)))
        for query_id in needs:
            if query_id in self._queries and len(relevant(self._grades.get(query_id, {}))) > 1:
                self.change_query(query_id, need="all")
        if loose:
            self._drop_strangers()
            self._unite_texts()
            if not self._queries:
                raise DataError([Problem(name, 0, "", "no query has a label for a tool that is described here")])
        if check_hints:
            self._drop_leaking_hints()
        self._tell_unanswered()
        return self._imported(name)

    def _imported(self, name: str) -> Imported:
        tools, queries = tuple(self._tools.values()), tuple(self._queries.values())
        grades = {query_id: grades for query_id, grades in self._grades.items() if grades}
        judgements = latest_grades(self._labels) if self._labels else grades
        warnings = [
            what
            + (
                f" ({len(names)}): {', '.join(names[:_LISTED])}" + (" …" if len(names) > _LISTED else "")
                if names
                else ""
            )
            for what, names in self._notes.items()
        ]
        about = {"name": name, **self._about}
        data = DataSet(
            name=about["name"],
            path="",
            tools=tools,
            queries=queries,
            judgements=judgements,
            fingerprint=fingerprint_of(tools, queries, judgements),
            labels=self._labels,
            about=about,
        )
        return Imported(data, tuple(warnings))

    def _drop_strangers(self) -> None:
        """Leave out labels of tools that are not described, and queries that then have no answer."""
        for query_id, grades in list(self._grades.items()):
            for tool in [tool for tool in grades if tool not in self._tools]:
                self.note("labels of tools that are not described here are dropped", f"{tool} of {query_id}")
                del grades[tool]
        for query_id, query in list(self._queries.items()):
            if query.expect == "none":
                continue
            if not query.text.strip():
                self._leave_out(query_id, "queries without a text are left out")
            elif not relevant(self._grades.get(query_id, {})):
                self._leave_out(query_id, "queries without a labelled tool are left out")

    def _leave_out(self, query_id: str, why: str) -> None:
        self.note(why, query_id)
        del self._queries[query_id]
        self._grades.pop(query_id, None)

    def _unite_texts(self) -> None:
        """Queries whose texts have the same words are one: their labels are united, the better grade counts."""
        first: dict[tuple[str, ...], str] = {}
        for query_id, query in list(self._queries.items()):
            words = tuple(_WORD.findall(query.text.casefold()))
            known = first.setdefault(words, query_id)
            if known == query_id or self._queries[known].expect != query.expect:
                continue
            mine, theirs = self._grades.get(query_id, {}), self._grades.setdefault(known, {})
            if set(mine) != set(theirs):
                # Either answer was right by itself, so not all of them are needed together.
                self.change_query(known, need="any")
            for tool, grade in mine.items():
                theirs[tool] = max(grade, theirs.get(tool, grade))
            self._leave_out(query_id, "queries with the text of an earlier one are united with it")

    def _drop_leaking_hints(self) -> None:
        """Hints that were written from the queries: indexing them would give a perfect score that means nothing."""
        queries = {" ".join(_WORD.findall(query.text.casefold())) for query in self._queries.values()} - {""}
        for name, tool in self._tools.items():
            hint = f" {' '.join(_WORD.findall((tool.search_hint or '').casefold()))} "
            if tool.search_hint and (hint.strip() in queries or any(f" {text} " in hint for text in queries)):
                self._tools[name] = replace(tool, search_hint=None)
                self.note("search hints that hold a query are not taken, as they would give the answer away", name)

    def _tell_unanswered(self) -> None:
        for query_id, query in self._queries.items():
            if query.expect != "none" and not relevant(self._grades.get(query_id, {})):
                self.note("queries have no relevant tool; label them, or say that they expect none", query_id)
