"""Field reports as they are written: read, checked against the vocabulary, all faults at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolsearch.errors import DataError, Problem, near_names
from toolsearch_eval.fieldtest import vocabulary as words

_KEYS = ("id", "kind", "symptom", "setup", "action", "expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One field report.

    Attributes:
        id: Its name.
        kind: The kind of fault, as `rank.ties`.
        symptom: What a user saw.
        catalog: Rows of tools and fillers.
        config: Settings of the session.
        servers: States of servers by name.
        steps: What is done, in order.
        checks: What must hold afterwards.
        line: The 1-based line in the file.
    """

    id: str
    kind: str
    symptom: str
    catalog: tuple[Mapping[str, Any], ...]
    config: Mapping[str, Any]
    servers: Mapping[str, str]
    steps: tuple[Mapping[str, Any], ...]
    checks: tuple[Mapping[str, Any], ...]
    line: int


def read_cases(path: str | Path) -> tuple[Case, ...]:
    """The cases of a JSONL file, in file order; a byte-order mark and blank lines are fine.

    Raises:
        DataError: With every fault: no JSON, a missing or doubled id, words that are not in the vocabulary, values of
            the wrong kind, checks of steps that don't exist. A file without a case is a fault too.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError([Problem(str(path), 0, "", f"can't be read: {error}")]) from error
    problems: list[Problem] = []
    cases: dict[str, Case] = {}
    # Split at line feeds alone: a text may hold the other line ends that Python knows.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        reader = _Reader(str(path), number, problems)
        case = reader.case(line)
        if case is not None and case.id in cases:
            reader.fault("id", f"{case.id!r} stands in line {cases[case.id].line} already; give each case its own")
        elif case is not None:
            cases[case.id] = case
    if not cases and not problems:
        problems.append(Problem(str(path), 0, "", "holds no case; give a JSONL file with one case a line"))
    if problems:
        raise DataError(problems)
    return tuple(cases.values())


class _Reader:
    """Reads one line; every fault goes to the common list."""

    def __init__(self, path: str, line: int, problems: list[Problem]) -> None:
        self._path = path
        self._line = line
        self._problems = problems

    def fault(self, field: str, message: str) -> None:
        self._problems.append(Problem(self._path, self._line, field, message))

    def case(self, text: str) -> Case | None:
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            self.fault("", f"is no JSON: {error}")
            return None
        if not isinstance(row, dict):
            self.fault("", "must be a JSON object")
            return None
        before = len(self._problems)
        for key in sorted(set(row) - set(_KEYS)):
            self.fault(key, f"is no key of a case; known: {', '.join(_KEYS)}")
        case_id = row.get("id")
        if not isinstance(case_id, str) or not case_id:
            self.fault("id", "must be a text that is not empty")
        for key in ("kind", "symptom"):
            if not isinstance(row.get(key, ""), str):
                self.fault(key, "must be a text")
        setup = row.get("setup")
        self._form("setup", setup, words.SETUP)
        setup = setup if isinstance(setup, dict) else {}
        catalog = self._rows("setup.catalog", setup.get("catalog", []))
        for place, tool in enumerate(catalog):
            self._tool(f"setup.catalog[{place}]", tool)
        config = setup.get("config") or {}
        self._form("setup.config", config, words.CONFIG)
        servers = setup.get("servers") or {}
        self._states("setup.servers", servers)
        steps = self._rows("action", row.get("action"))
        for place, step in enumerate(steps):
            self._step(f"action[{place}]", step)
        checks = self._rows("expected", row.get("expected"))
        for place, check in enumerate(checks):
            self._check(f"expected[{place}]", check, len(steps))
        if isinstance(row.get("action"), list) and not steps:
            self.fault("action", "is empty; a case does something")
        if isinstance(row.get("expected"), list) and not checks:
            self.fault("expected", "is empty; a case that checks nothing can't fail")
        if len(self._problems) > before:
            return None
        return Case(
            id=str(case_id),
            kind=row.get("kind", ""),
            symptom=row.get("symptom", ""),
            catalog=tuple(catalog),
            config=config,
            servers=servers,
            steps=tuple(steps),
            checks=tuple(checks),
            line=self._line,
        )

    def _rows(self, field: str, value: Any) -> list[dict[str, Any]]:
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            self.fault(field, "must be a list of objects")
            return []
        return value

    def _form(self, field: str, value: Any, form: words.Form, ignored: tuple[str, ...] = ()) -> None:
        if not isinstance(value, dict):
            self.fault(field, "must be an object")
            return
        known = {**form.needed, **form.optional}
        for key, content in value.items():
            if key in ignored:
                continue
            if key not in known:
                self.fault(f"{field}.{key}", f"is not in the vocabulary{_hint(key, known)}")
            elif not words.fits(known[key], content):
                self.fault(f"{field}.{key}", f"must be {known[key]}")
        for key in form.needed:
            if key not in value:
                self.fault(f"{field}.{key}", "is missing")

    def _tool(self, field: str, value: Any) -> None:
        filler = isinstance(value, dict) and "filler" in value
        self._form(field, value, words.FILLER if filler else words.TOOL)
        if isinstance(value, dict) and value.get("permission", "allow") not in words.PERMISSIONS:
            self.fault(f"{field}.permission", f"must be one of {', '.join(words.PERMISSIONS)}")
        if filler and type(value["filler"]) is int and not 0 <= value["filler"] <= 1_000_000:
            self.fault(f"{field}.filler", "must lie in 0..1,000,000")

    def _states(self, field: str, value: Any) -> None:
        if not isinstance(value, dict) or not all(state in words.SERVER_STATES for state in value.values()):
            self.fault(field, f"must give each server one of {', '.join(words.SERVER_STATES)}")

    def _step(self, field: str, step: Any) -> None:
        name = step.get("op") if isinstance(step, dict) else None
        form = words.STEPS.get(name) if isinstance(name, str) else None
        if form is None:
            self.fault(f"{field}.op", f"{name!r} is no step{_hint(name, words.STEPS)}")
            return
        self._form(field, step, form, ("op",))
        if name in ("add_tools", "server_tools"):
            for place, tool in enumerate(self._rows(f"{field}.tools", step.get("tools", []))):
                self._tool(f"{field}.tools[{place}]", tool)
        if name == "replace_tool":
            self._tool(f"{field}.tool", step.get("tool"))
        if name == "server_state" and step.get("state") not in words.SERVER_STATES:
            self.fault(f"{field}.state", f"must be one of {', '.join(words.SERVER_STATES)}")
        if "servers" in step:
            self._states(f"{field}.servers", step["servers"])
        if isinstance(step.get("step"), dict):
            self._step(f"{field}.step", step["step"])
        if name in ("same_turn", "concurrent"):
            for place, inner in enumerate(self._rows(f"{field}.steps", step.get("steps", []))):
                self._step(f"{field}.steps[{place}]", inner)

    def _check(self, field: str, check: Any, steps: int) -> None:
        name = check.get("check")
        form = words.CHECKS.get(name) if isinstance(name, str) else None
        if form is None:
            self.fault(f"{field}.check", f"{name!r} is no check{_hint(name, words.CHECKS)}")
            return
        self._form(field, check, form, ("check", "tier"))
        if check.get("tier", "must") not in words.TIERS:
            self.fault(f"{field}.tier", f"must be one of {', '.join(words.TIERS)}")
        asked = [check["step"]] if "step" in check else check.get("steps", [])
        for step in asked if isinstance(asked, list) else []:
            if type(step) is not int or not 0 <= step < steps:
                self.fault(f"{field}.step", f"is {step!r}; the case has the steps 0 to {steps - 1}")


def _hint(word: object, known: Mapping[str, Any]) -> str:
    near = near_names(word, known) if isinstance(word, str) else ()
    return f"; did you mean {', '.join(map(repr, near))}?" if near else f"; known: {', '.join(sorted(known))}"
